//===- BytecodeTest.cpp - the dialects' version in bytecode ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Bytecode.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace blockscale;

namespace {

class Bytecode : public ::testing::Test {
protected:
  Bytecode() {
    context.loadDialect<BlockscaleDialect>();
    context.allowUnregisteredDialects();
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &diagnostic) { said += diagnostic.str() + "\n"; });
  }

  OwningOpRef<ModuleOp> module() {
    auto module = parseSourceString<ModuleOp>(
        R"(
%q = "test.make"() : () -> !blockscale.tensor<64x128xf16>
%x = blockscale.dequantize %q : !blockscale.tensor<64x128xf16> to tensor<64x128xf32>
%p = blockscale.prune %x keep 4 of 8 pairs : tensor<64x128xf32>
%s = blockscale.quantize %p rule(round_up) : tensor<64x128xf32> to !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32">
%r = blockscale.slice_rows %s[16] [32] : !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32"> to !blockscale.tensor<32x128xf8E4M3FN, "e8m0_t32">
%d, %c = blockscale.disassemble %r : !blockscale.tensor<32x128xf8E4M3FN, "e8m0_t32">
%a = blockscale.assemble %d, %c : tensor<32x128xf8E4M3FN>, tensor<32x4xf8E8M0FNU> to !blockscale.tensor<32x128xf8E4M3FN, "e8m0_t32">
%n = blockscale.dim %a, 1 : !blockscale.tensor<32x128xf8E4M3FN, "e8m0_t32">
%v = "test.make"() : () -> tensor<32xf32>
%y = blockscale.matmul %a, %s bias(%v) row schedule(#blockscale.schedule<stages = 3>) : !blockscale.tensor<32x128xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<64x128xf8E4M3FN, "e8m0_t32">, tensor<32xf32> -> tensor<32x64xf32>
)",
        &context);
    EXPECT_TRUE(bool(module)) << said;
    return module;
  }

  std::string write(ModuleOp module, std::optional<uint64_t> version) {
    BytecodeWriterConfig config;
    if (version)
      config.setDialectVersion<BlockscaleDialect>(
          std::make_unique<BytecodeVersion>(*version));
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    EXPECT_TRUE(succeeded(writeBytecodeToFile(module, stream, config)));
    return bytes;
  }
  std::string write(std::optional<uint64_t> version) {
    return write(*module(), version);
  }

  /// The text of what was read.
  std::string textOf(const std::string &bytes) {
    auto read = parseSourceString<ModuleOp>(bytes, &context);
    EXPECT_TRUE(bool(read)) << said;
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (read)
      read->print(stream);
    return text;
  }

  bool reads(const std::string &bytes) {
    return bool(parseSourceString<ModuleOp>(bytes, &context));
  }

  MLIRContext context;
  std::string said;
};

TEST_F(Bytecode, OfThisVersionIsRead) {
  EXPECT_TRUE(reads(write(std::nullopt))) << said;
  EXPECT_TRUE(reads(write(1))) << said;
  EXPECT_EQ(write(std::nullopt), write(kBytecodeVersion));
}

TEST_F(Bytecode, VersionsMeanTheSame) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module()->print(stream);
  EXPECT_NE(text.find("rule(round_up)"), std::string::npos);
  EXPECT_EQ(textOf(write(1)), text);
  EXPECT_EQ(textOf(write(2)), text);
  EXPECT_NE(write(1), write(2));
}

// Whoever did not know the attribute did not write it.
TEST_F(Bytecode, AnAttributeThatIsMissingHasItsDefault) {
  auto older = module();
  older->walk([](QuantizeOp op) { op.getProperties().rule = {}; });
  for (uint64_t version : {1, 2}) {
    std::string text = textOf(write(*older, version));
    EXPECT_NE(text.find("blockscale.quantize"), std::string::npos);
    EXPECT_EQ(text.find("rule("), std::string::npos) << text;
  }
}

TEST_F(Bytecode, AnAttributeOfALaterVersionIsRefused) {
  std::string bytes = write(std::nullopt);
  const std::string known = "static_sizes", later = "static_times";
  size_t at = bytes.find(known);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, later.size(), later);
  EXPECT_FALSE(reads(bytes));
  EXPECT_NE(said.find("'blockscale.slice_rows' has the attribute "
                      "\"static_times\", which this blockscale does not know"),
            std::string::npos)
      << said;
}

TEST_F(Bytecode, OfANewerVersionIsRefused) {
  EXPECT_FALSE(reads(write(kBytecodeVersion + 1)));
  EXPECT_NE(said.find("bytecode of dialect 'blockscale' has version 3; this "
                      "blockscale reads 1 to 2"),
            std::string::npos)
      << said;
  said.clear();
  EXPECT_FALSE(reads(write(0)));
  EXPECT_NE(said.find("has version 0"), std::string::npos) << said;
}

} // namespace
