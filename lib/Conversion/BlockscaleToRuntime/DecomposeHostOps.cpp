//===- DecomposeHostOps.cpp - what is to be bufferized --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/BlockscaleToRuntime/Passes.h"
#include "blockscale/Dialect/Blockscale/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace blockscale {
#define GEN_PASS_DEF_DECOMPOSEHOSTOPS
#define GEN_PASS_DEF_REQUIREBUFFERIZABLE
#include "blockscale/Conversion/BlockscaleToRuntime/Passes.h.inc"
} // namespace blockscale

using namespace mlir;

namespace {
/// Softmax and its like.
struct DecomposeAggregate
    : OpInterfaceRewritePattern<linalg::AggregatedOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::AggregatedOpInterface op,
                                PatternRewriter &rewriter) const override {
    FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
    if (failed(results))
      return rewriter.notifyMatchFailure(op, "does not decompose");
    rewriter.replaceOp(op, *results);
    return success();
  }
};

struct LowerPack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::PackOp op,
                                PatternRewriter &rewriter) const override {
    return linalg::lowerPack(rewriter, op);
  }
};

struct LowerUnPack : OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::UnPackOp op,
                                PatternRewriter &rewriter) const override {
    return linalg::lowerUnPack(rewriter, op);
  }
};

/// A switch of tensors as one scf.if in another. MLIR 22's bufferization takes
/// what a switch yields for new memory, even where it is a tensor from outside,
/// so that later ops would write over what others still read.
struct SwitchToIfs : OpRewritePattern<scf::IndexSwitchOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::IndexSwitchOp op,
                                PatternRewriter &rewriter) const override {
    if (llvm::none_of(op.getResultTypes(), llvm::IsaPred<TensorType>))
      return failure();
    Location loc = op.getLoc();
    OpBuilder::InsertionGuard guard(rewriter);
    scf::IfOp outermost;
    for (auto [value, region] :
         llvm::zip_equal(op.getCases(), op.getCaseRegions())) {
      Value number = arith::ConstantIndexOp::create(rewriter, loc, value);
      Value isIt = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::eq, op.getArg(), number);
      auto choice = scf::IfOp::create(rewriter, loc, op.getResultTypes(), isIt,
                                      /*withElseRegion=*/true);
      if (outermost)
        scf::YieldOp::create(rewriter, loc, choice.getResults());
      else
        outermost = choice;
      rewriter.inlineBlockBefore(&region.front(), choice.thenBlock(),
                                 choice.thenBlock()->end());
      rewriter.setInsertionPointToStart(choice.elseBlock());
    }
    Block *otherwise = &op.getDefaultRegion().front();
    Operation *yield = otherwise->getTerminator();
    SmallVector<Value> results(yield->getOperands());
    rewriter.inlineBlockBefore(otherwise, rewriter.getInsertionBlock(),
                               rewriter.getInsertionPoint());
    if (outermost)
      results = outermost.getResults();
    else
      rewriter.eraseOp(yield);
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct DecomposeHostOps
    : blockscale::impl::DecomposeHostOpsBase<DecomposeHostOps> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DecomposeAggregate, LowerPack, LowerUnPack, SwitchToIfs>(
        &getContext());
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

struct RequireBufferizable
    : blockscale::impl::RequireBufferizableBase<RequireBufferizable> {
  void runOnOperation() override {
    bool isRefused = false;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      auto onTensors = [](TypeRange types) {
        return llvm::any_of(types, llvm::IsaPred<TensorType>);
      };
      bool isKnown =
          !onTensors(op->getOperandTypes()) && !onTensors(op->getResultTypes());
      if (isKnown || blockscale::isBufferizable(op))
        return WalkResult::advance();
      op->emitError() << "'" << op->getName()
                      << "' has no lowering to host code";
      isRefused = true;
      return WalkResult::advance();
    });
    if (isRefused)
      signalPassFailure();
  }
};
} // namespace
