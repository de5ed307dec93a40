//===- BuildersTest.cpp - products from C++ -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace blockscale;

namespace {

class Builders : public ::testing::Test {
protected:
  Builders() {
    context.loadDialect<BlockscaleDialect>();
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &diagnostic) { said += diagnostic.str(); });
  }

  ScaledTensorType make(ArrayRef<int64_t> shape, Type element, StringRef spec,
                        ScaleLayout layout = ScaleLayout::Plain) {
    return getScaledTensorType([&] { return emitError(loc); }, shape, element,
                               spec, layout);
  }

  std::string print(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  MLIRContext context;
  Location loc = UnknownLoc::get(&context);
  Type e4m3 = Float8E4M3FNType::get(&context);
  std::string said;
};

TEST_F(Builders, TypesPrintAsTheyAreWritten) {
  EXPECT_EQ(print(make({ShapedType::kDynamic, 4096}, e4m3, "e8m0_t32",
                       ScaleLayout::Tiled128x4)),
            "!blockscale.tensor<?x4096xf8E4M3FN, \"e8m0_t32\", layout = "
            "tiled_128x4>");
  EXPECT_EQ(print(make({64, 128}, Float16Type::get(&context), "")),
            "!blockscale.tensor<64x128xf16>");
  EXPECT_EQ(said, "");
}

TEST_F(Builders, WrongTypesAreErrors) {
  EXPECT_FALSE(make({64, 128}, e4m3, "e8m0_q32"));
  EXPECT_NE(said.find("illegal scale spec 'e8m0_q32'"), std::string::npos)
      << said;
  said.clear();
  // 100 is no multiple of the 32 elements that share a scale.
  EXPECT_FALSE(make({64, 100}, e4m3, "e8m0_t32"));
  EXPECT_NE(said.find("100"), std::string::npos) << said;
  said.clear();
  EXPECT_FALSE(make({64, 128}, Type(), "e8m0_t32"));
  EXPECT_EQ(said, "expected an element type, found none");
  said.clear();
  // What MLIR once wrote for a dynamic size.
  EXPECT_FALSE(make({-1, 128}, e4m3, "e8m0_t32"));
  EXPECT_EQ(said, "expected sizes of at least 0, or 'ShapedType::kDynamic' for "
                  "a dynamic one, found -1");
}

TEST_F(Builders, ProductsHaveTheShapeThatFollows) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  Type a = make({3, ShapedType::kDynamic, 256}, e4m3, "e8m0_t32");
  Type b = make({3, 512, 256}, e4m3, "e8m0_t32");
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto cast = UnrealizedConversionCastOp::create(builder, loc, {a, b}, {});
  MatmulOp product =
      createMatmul(builder, loc, cast.getResult(0), cast.getResult(1),
                   BFloat16Type::get(&context));
  EXPECT_TRUE(succeeded(verify(product)));
  EXPECT_EQ(print(product.getType()), "tensor<3x?x512xbf16>");
}

} // namespace
