//===- ExpandFP4.cpp - rounding to f4E2M1FN -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace blockscale {
#define GEN_PASS_DEF_EXPANDFP4
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct RoundToFP4 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<Float4E2M1FNType>(op.getType()) ||
        op.getIn().getType().getIntOrFloatBitWidth() > 32)
      return rewriter.notifyMatchFailure(op, "is another conversion");
    Emitter e(op.getLoc(), rewriter);
    rewriter.replaceOp(op, encode(e, e.widen(op.getIn()), op.getType()));
    return success();
  }
};

struct ExpandFP4 : blockscale::impl::ExpandFP4Base<ExpandFP4> {
  using ExpandFP4Base::ExpandFP4Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RoundToFP4>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
