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

  std::string write(std::optional<uint64_t> version) {
    auto module = parseSourceString<ModuleOp>(
        "%q = \"test.make\"() : () -> !blockscale.tensor<64x128xf16>\n"
        "%x = blockscale.dequantize %q : !blockscale.tensor<64x128xf16> to "
        "tensor<64x128xf32>",
        &context);
    EXPECT_TRUE(bool(module));
    BytecodeWriterConfig config;
    if (version)
      config.setDialectVersion<BlockscaleDialect>(
          std::make_unique<BytecodeVersion>(*version));
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    EXPECT_TRUE(succeeded(writeBytecodeToFile(*module, stream, config)));
    return bytes;
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

TEST_F(Bytecode, OfANewerVersionIsRefused) {
  EXPECT_FALSE(reads(write(kBytecodeVersion + 1)));
  EXPECT_NE(said.find("bytecode of dialect 'blockscale' has version 2; this "
                      "blockscale reads 1 to 1"),
            std::string::npos)
      << said;
  said.clear();
  EXPECT_FALSE(reads(write(0)));
  EXPECT_NE(said.find("has version 0"), std::string::npos) << said;
}

} // namespace
