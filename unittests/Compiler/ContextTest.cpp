//===- ContextTest.cpp - contexts of other programs -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace blockscale;

static constexpr const char *kProduct = R"(
!x = !blockscale.tensor<128x256xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @f(%x: !x) -> tensor<128x128xf32> {
  %y = blockscale.matmul %x, %x : !x, !x -> tensor<128x128xf32>
  return %y : tensor<128x128xf32>
}
)";

/// A program that loads the dialects of its IR and registers nothing.
TEST(Contexts, ThatOnlyLoadedTheirDialectsCompile) {
  for (unsigned threads : {1, 2}) {
    mlir::MLIRContext context;
    context.loadDialect<BlockscaleDialect, mlir::func::FuncDialect>();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(kProduct, &context);
    ASSERT_TRUE(module);
    CompilerOptions options;
    options.threads = threads;
    auto compiled = compile(*module, options);
    ASSERT_TRUE(mlir::succeeded(compiled));
    ASSERT_EQ(compiled->size(), 1u);
    EXPECT_NE(compiled->front().ptx.find(".entry f("), std::string::npos);
  }
  mlir::MLIRContext context;
  context.loadDialect<BlockscaleDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kProduct, &context);
  ASSERT_TRUE(module);
  EXPECT_TRUE(mlir::succeeded(lowerTo(*module, Stage::LLVM, {})));
}
