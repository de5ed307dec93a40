//===- KernelSourceTest.cpp - kernels of ops that no pass knows -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace blockscale;

namespace {

/// What the passes asked for, in order.
std::string asked;

/// A kernel of 32 threads that writes what `blockscale.dequantize` makes.
struct DequantizeSource
    : KernelSourceOpInterface::ExternalModel<DequantizeSource, DequantizeOp> {
  LogicalResult legalize(Operation *, hw::Target target, bool fallback) const {
    asked += "legalize for " + hw::targetName(target) +
             (fallback ? " with fallback\n" : "\n");
    return success();
  }
  LogicalResult selectSchedule(Operation *, hw::Target target,
                               int64_t expectedRows) const {
    asked += "schedule for " + hw::targetName(target) + ", " +
             std::to_string(expectedRows) + " rows\n";
    return success();
  }
  LogicalResult checkReady(Operation *op) const {
    asked += "check\n";
    if (op->hasAttr("unready"))
      return op->emitOpError() << "is not ready";
    return success();
  }
  KernelOutline getOutline(Operation *op, StringRef source) const {
    asked += "outline in " + source.str() + "\n";
    MLIRContext *context = op->getContext();
    Type f32 = Float32Type::get(context), i32 = IntegerType::get(context, 32);
    AffineMap grid =
        AffineMap::get(0, 6, getAffineSymbolExpr(0, context).ceilDiv(4));
    KernelOutline outline;
    outline.parameters = {{GlobalType::get(context, f32), ParameterRole::D},
                          {i32, ParameterRole::SizeM}};
    outline.launch =
        KernelAttr::get(context, grid, /*block=*/32, 0, 0, 1, false,
                        /*workspace=*/AffineMap(), /*cooperative=*/false);
    return outline;
  }
  void buildBody(Operation *, ImplicitLocOpBuilder &b,
                 function_ref<Value(ParameterRole)> argument) const {
    EXPECT_TRUE(argument(ParameterRole::D));
    EXPECT_EQ(argument(ParameterRole::SizeM).getType(), b.getI32Type());
    EXPECT_FALSE(argument(ParameterRole::C));
    LaunchDependentsOp::create(b);
  }
};

/// Two barriers of a warp in the place of `blockscale.launch_dependents`.
struct DependentsBody
    : KernelBodyOpInterface::ExternalModel<DependentsBody, LaunchDependentsOp> {
  void expand(Operation *op) const {
    OpBuilder b(op);
    SyncWarpOp::create(b, op->getLoc());
    SyncWarpOp::create(b, op->getLoc());
    op->erase();
  }
};

class KernelSource : public ::testing::Test {
protected:
  KernelSource() {
    context
        .loadDialect<BlockscaleDialect, func::FuncDialect, gpu::GPUDialect>();
    DequantizeOp::attachInterface<DequantizeSource>(context);
    LaunchDependentsOp::attachInterface<DependentsBody>(context);
    asked.clear();
  }

  /// Runs all passes on a dequantization with `attributes`; the text behind.
  std::string compile(const std::string &attributes) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        R"(module attributes {blockscale.target = #blockscale.target<sm_103a>} {
             func.func @f(%q: !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32">) -> tensor<?x64xf32> {
               %0 = blockscale.dequantize %q )" +
            attributes +
            R"( : !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32"> to tensor<?x64xf32>
               return %0 : tensor<?x64xf32>
             }
           })",
        &context);
    if (!module)
      return "does not parse";
    PassManager pm(&context);
    pm.addPass(createLegalizeScales());
    pm.addPass(createSelectSchedule());
    pm.addPass(createFormKernels());
    pm.nest<gpu::GPUModuleOp>().addPass(createExpandKernels());
    if (failed(pm.run(*module)))
      return "failed";
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  }

  MLIRContext context;
};

TEST_F(KernelSource, PassesKnowItByItsInterface) {
  std::string text = compile("");
  EXPECT_EQ(asked, "legalize for sm_103a\nschedule for sm_103a, 4096 rows\n"
                   "check\noutline in f\n");
  auto has = [&](StringRef part) {
    EXPECT_NE(text.find(part.str()), std::string::npos) << part.str() << " in\n"
                                                        << text;
  };
  has("blockscale.launch @kernels::@f(%arg0)");
  has("gpu.func @f(%arg0: !blockscale.global<f32> {blockscale.parameter = "
      "#blockscale.parameter<d>}, %arg1: i32 {blockscale.parameter = "
      "#blockscale.parameter<size_m>}) kernel");
  has("(s0 ceildiv 4), block = 32>");
  has("blockscale.sync_warp\n      blockscale.sync_warp\n      gpu.return");
  EXPECT_EQ(text.find("dequantize"), std::string::npos) << text;
  EXPECT_EQ(text.find("launch_dependents"), std::string::npos) << text;
}

TEST_F(KernelSource, WhatIsNotReadyStopsThePass) {
  std::string said;
  context.getDiagEngine().registerHandler(
      [&](Diagnostic &diagnostic) { said += diagnostic.str(); });
  EXPECT_EQ(compile("{unready}"), "failed");
  EXPECT_EQ(said, "'blockscale.dequantize' op is not ready");
}

} // namespace
