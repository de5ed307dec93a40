//===- InferTypesTest.cpp - types that follow from operands ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/BlockscaleHost.h"
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKI.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <set>
#include <string>

using namespace mlir;
using namespace blockscale;

namespace {
struct InferTypesTest : testing::Test {
  InferTypesTest() : builder(&context) {
    context.loadDialect<BlockscaleDialect, nki::BlockscaleNKIDialect,
                        arith::ArithDialect, func::FuncDialect>();
  }

  /// The ops of a dialect that have results and do not say which.
  std::set<std::string> withoutInference(StringRef dialect) {
    std::set<std::string> names;
    for (RegisteredOperationName name : context.getRegisteredOperations())
      if (name.getDialectNamespace() == dialect &&
          !name.hasTrait<OpTrait::ZeroResults>() &&
          !name.hasInterface<InferTypeOpInterface>())
        names.insert(name.stripDialect().str());
    return names;
  }

  /// The function's ops of type `Op`, after parsing.
  template <typename Op> Op onlyOp(const char *text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    Op found;
    module->walk([&](Op op) { found = op; });
    EXPECT_TRUE(found);
    return found;
  }

  /// What the op infers of itself, without its results.
  std::string inferred(Operation *op) {
    SmallVector<Type> types;
    auto interface = cast<InferTypeOpInterface>(op);
    if (failed(interface.inferReturnTypes(
            &context, op->getLoc(), op->getOperands(),
            op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
            op->getRegions(), types)))
      return "failed";
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(types, stream);
    return text;
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};
} // namespace

// docs/rationale.md says of each of these why its type is written and does not
// follow.
TEST_F(InferTypesTest, OpsWhoseTypesAreWritten) {
  EXPECT_EQ(
      withoutInference("blockscale"),
      (std::set<std::string>{"assemble", "barrier_alloc", "compress", "densify",
                             "dequantize", "launch", "load_accumulator",
                             "load_row", "load_shared", "load_staged_row",
                             "matmul", "quantize", "receive_sums", "relayout",
                             "shared_alloc", "tile_sums", "tmem_view"}));
  EXPECT_EQ(withoutInference("blockscale_nki"),
            (std::set<std::string>{"access", "alloc", "reshape", "slice"}));
}

TEST_F(InferTypesTest, SliceOfRows) {
  auto op = onlyOp<SliceRowsOp>(R"(
    !x = !blockscale.tensor<8x?x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    func.func @f(%x: !x, %n: index) {
      %0 = blockscale.slice_rows %x[2, %n] [3, 128] : !x to
        !blockscale.tensor<3x128x512xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
      return
    })");
  EXPECT_EQ(inferred(op),
            "!blockscale.tensor<3x128x512xf8E4M3FN, \"e8m0_t32\", layout = "
            "tiled_128x4>");
  // Built without a type.
  builder.setInsertionPointAfter(op);
  Value n = op.getOffsets().front();
  auto dynamic = SliceRowsOp::create(
      builder, op.getLoc(), op.getInput(), n, ValueRange{n, n},
      {0, ShapedType::kDynamic}, {ShapedType::kDynamic, ShapedType::kDynamic});
  EXPECT_EQ(inferred(dynamic),
            "!blockscale.tensor<?x?x512xf8E4M3FN, \"e8m0_t32\", layout = "
            "tiled_128x4>");
}

TEST_F(InferTypesTest, Fragments) {
  auto op = onlyOp<FinishFragmentsOp>(R"(
    func.func @f(%c: vector<4xf32>) {
      %0:2 = blockscale.finish_fragments %c, %c : vector<4xf32>, vector<4xf32>
        -> vector<4xf32>, vector<4xf32>
      return
    })");
  EXPECT_EQ(inferred(op), "vector<4xf32>, vector<4xf32>");
}

TEST_F(InferTypesTest, Launches) {
  const char *onTensors = R"(
    func.func @f(%a: tensor<4x64xf8E4M3FN>, %d: tensor<?x32xf32>) {
      %0 = "blockscale.launch_into"(%a, %d)
        <{kernel = @kernels::@f, roles = ["a_data"],
          operandSegmentSizes = array<i32: 1, 1>}>
        : (tensor<4x64xf8E4M3FN>, tensor<?x32xf32>) -> tensor<?x32xf32>
      return
    })";
  ScopedDiagnosticHandler quiet(&context,
                                [](Diagnostic &) { return success(); });
  // There is no kernel; types do not follow from it.
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  module = parseSourceString<ModuleOp>(onTensors, config);
  ASSERT_TRUE(module);
  module->walk(
      [&](LaunchIntoOp op) { EXPECT_EQ(inferred(op), "tensor<?x32xf32>"); });
  module = parseSourceString<ModuleOp>(R"(
    func.func @f(%a: memref<4x64xf8E4M3FN>, %d: memref<4x32xf32>) {
      "blockscale.launch_into"(%a, %d)
        <{kernel = @kernels::@f, roles = ["a_data"],
          operandSegmentSizes = array<i32: 1, 1>}>
        : (memref<4x64xf8E4M3FN>, memref<4x32xf32>) -> ()
      return
    })",
                                       config);
  ASSERT_TRUE(module);
  module->walk([&](LaunchIntoOp op) { EXPECT_EQ(inferred(op), ""); });
}

TEST_F(InferTypesTest, ProductOfParts) {
  auto op = onlyOp<OnPartsOp>(R"(
    !x = !blockscale.tensor<64x96xf8E4M3FN>
    func.func @f(%d: tensor<64x96xf8E4M3FN>) {
      %0 = blockscale.on_parts(%d, %d) {
      ^bb0(%a: !x, %b: !x):
        %1 = blockscale.matmul %a, %b : !x, !x -> tensor<64x64xbf16>
        blockscale.return %1 : tensor<64x64xbf16>
      } : (tensor<64x96xf8E4M3FN>, tensor<64x96xf8E4M3FN>)
          -> tensor<64x64xbf16>
      return
    })");
  EXPECT_EQ(inferred(op), "tensor<64x64xbf16>");
  std::string message;
  ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  op.getBody().front().back().erase();
  EXPECT_EQ(inferred(op), "failed");
  EXPECT_EQ(message,
            "expected a body that ends in a 'blockscale.return' of one "
            "value");
}

// Inference is asked before anything was verified.
TEST_F(InferTypesTest, RefusesWhatCannotBe) {
  auto op = onlyOp<SliceRowsOp>(R"(
    !x = !blockscale.tensor<256x512xf8E4M3FN, "e8m0_t32">
    func.func @f(%x: !x) {
      %0 = blockscale.slice_rows %x[0] [128] : !x to
        !blockscale.tensor<128x512xf8E4M3FN, "e8m0_t32">
      return
    })");
  std::string message;
  ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  op.setStaticSizes({128, 128});
  EXPECT_EQ(inferred(op), "failed");
  EXPECT_EQ(message, "expected 1 of 'sizes', one per dimension but K, found 2");
  op.setStaticSizes({-128});
  EXPECT_EQ(inferred(op), "failed");
  EXPECT_EQ(message, "expected 'sizes' of at least 0, found -128");
  op->setOperand(
      0,
      module->getBodyRegion().front().front().getRegion(0).front().addArgument(
          builder.getIndexType(), op.getLoc()));
  EXPECT_EQ(inferred(op), "failed");
  EXPECT_EQ(message, "expected a scaled tensor");
}
