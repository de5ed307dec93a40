//===- ClusterToNVVM.cpp - clusters and launches --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

namespace {
struct ClusterRankToNVVM : OpConversionPattern<ClusterRankOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ClusterRankOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, nvvm::clusterRank(b));
    return success();
  }
};

struct ClusterBarrierToNVVM : OpConversionPattern<ClusterBarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ClusterBarrierOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    nvvm::clusterBarrier(b);
    rewriter.eraseOp(op);
    return success();
  }
};

struct RemoteBarrierToNVVM : OpConversionPattern<RemoteBarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(RemoteBarrierOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op,
                       mapToRank(b, adaptor.getBarrier(), adaptor.getRank()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

struct TryCancelToNVVM : OpConversionPattern<TryCancelOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TryCancelOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value response = element(b, adaptor.getResponses(), adaptor.getIndex(),
                             op.getResponses().getType().getStageBytes());
    Value barrier = barrierPointer(b, adaptor.getSignal(), adaptor.getIndex());
    nvvm::tryCancel(b, op.getMulticast(),
                    pointer(b, response, AddressSpace::Shared), barrier);
    rewriter.eraseOp(op);
    return success();
  }
};

struct QueryCancelToNVVM : OpConversionPattern<QueryCancelOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(QueryCancelOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t bytes = op.getResponses().getType().getStageBytes();
    Value address =
        element(b, adaptor.getResponses(), adaptor.getIndex(), bytes);
    Value response = pointer(b, address, AddressSpace::Shared);
    Value found = nvvm::isCanceled(b, load(b, response));
    // A response that found nothing must not be asked for a CTA. LLVM takes the
    // question for a pure function and would ask before it branches, but for a
    // volatile load of its own.
    auto ask = [&](OpBuilder &builder, Location loc) {
      ImplicitLocOpBuilder inside(loc, builder);
      Value cta = nvvm::firstCta(inside, load(inside, response));
      scf::YieldOp::create(builder, loc, cta);
    };
    auto nothing = [&](OpBuilder &builder, Location loc) {
      Value zero =
          arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
      scf::YieldOp::create(builder, loc, zero);
    };
    Value cta = scf::IfOp::create(b, found, ask, nothing).getResult(0);
    // The next response is written through the async proxy.
    nvvm::fenceAsyncProxy(b, nvvm::Scope::Cta);
    rewriter.replaceOp(op, {cta, found});
    return success();
  }

private:
  static Value load(ImplicitLocOpBuilder &b, Value response) {
    constexpr unsigned kBytes = 16;
    return LLVM::LoadOp::create(b, b.getIntegerType(8 * kBytes), response,
                                kBytes, /*isVolatile=*/true);
  }
};

template <typename DialectOp, void (*act)(ImplicitLocOpBuilder &)>
struct GridDependencyToNVVM : OpConversionPattern<DialectOp> {
  using OpConversionPattern<DialectOp>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DialectOp op, typename DialectOp::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    act(b);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void blockscale::populateClusterPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  using AwaitToNVVM =
      GridDependencyToNVVM<AwaitDependenciesOp, nvvm::awaitDependencies>;
  using LaunchToNVVM =
      GridDependencyToNVVM<LaunchDependentsOp, nvvm::launchDependents>;
  patterns.add<ClusterRankToNVVM, ClusterBarrierToNVVM, RemoteBarrierToNVVM,
               TryCancelToNVVM, QueryCancelToNVVM, AwaitToNVVM, LaunchToNVVM>(
      converter, patterns.getContext());
}
