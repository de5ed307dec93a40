//===- FuseEpilogues.cpp - what follows products into their kernels -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The ops behind a product are taken in their order, as long as an epilogue can
// hold them. Where all that others read of these is one value, the product can
// give that value instead; the last such place is where the epilogue ends.

#include "Fusion.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace blockscale {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct FuseEpilogues : blockscale::impl::FuseEpiloguesBase<FuseEpilogues> {
  using FuseEpiloguesBase::FuseEpiloguesBase;
  void runOnOperation() override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The tensor that has the size which `dim` asks for, one step nearer to where
/// sizes come from, or the size itself; null if there is no such step.
static Value sizeBefore(OpBuilder &builder, tensor::DimOp dim) {
  std::optional<int64_t> at = dim.getConstantIndex();
  auto result = dyn_cast<OpResult>(dim.getSource());
  if (!at || !result)
    return {};
  Operation *op = result.getOwner();
  auto asValue = [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(builder, dim.getLoc(), size);
  };
  if (auto product = dyn_cast<MatmulOp>(op)) {
    ReifiedRankedShapedTypeDims sizes;
    return succeeded(product.reifyResultShapes(builder, sizes))
               ? asValue(sizes.front()[size_t(*at)])
               : Value();
  }
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return asValue(empty.getMixedSizes()[size_t(*at)]);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return asValue(expand.getMixedOutputShape()[size_t(*at)]);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.getDpsInitOperand(int64_t(result.getResultNumber()))->get();
  if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
          op->getDialect()) &&
      OpTrait::hasElementwiseMappableTraits(op))
    for (Value operand : llvm::reverse(op->getOperands()))
      if (isa<RankedTensorType>(operand.getType()))
        return operand;
  return {};
}

/// Takes sizes from what products are made of, so that no op reads a product
/// for its size alone.
static void resolveSizes(Operation *root) {
  SmallVector<tensor::DimOp> dims;
  root->walk([&](tensor::DimOp dim) { dims.push_back(dim); });
  for (tensor::DimOp dim : dims) {
    OpBuilder builder(dim);
    while (Value before = sizeBefore(builder, dim)) {
      if (before.getType().isIndex()) {
        dim.replaceAllUsesWith(before);
        dim.erase();
        break;
      }
      dim.getSourceMutable().assign(before);
    }
  }
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// The ops that become part of the product; none if that would gain nothing.
static SmallVector<Operation *> partsOf(MatmulOp product) {
  fuse::Fusion trial(product);
  SmallVector<Operation *> taken;
  size_t best = 0;
  for (Operation *op = product->getNextNode(); op; op = op->getNextNode()) {
    bool isReader = llvm::any_of(op->getOperands(), [&](Value operand) {
      return trial.contains(operand);
    });
    if (!isReader)
      continue;
    if (trial.isTorn(op))
      break;
    if (!trial.absorb(op))
      continue;
    taken.push_back(op);
    if (trial.computes() && trial.getExit())
      best = taken.size();
  }
  taken.resize(best);
  return taken;
}

void FuseEpilogues::runOnOperation() {
  SmallVector<MatmulOp> products;
  getOperation()->walk([&](MatmulOp op) {
    // Pairs have an epilogue already.
    if (!op.getPairs())
      products.push_back(op);
  });
  if (products.empty())
    return;
  resolveSizes(getOperation());
  IRRewriter rewriter(&getContext());
  for (MatmulOp product : products) {
    SmallVector<Operation *> parts = partsOf(product);
    if (parts.empty())
      continue;
    fuse::Fusion fusion(product);
    for (Operation *op : parts)
      fusion.absorb(op);
    fusion.finish(rewriter);
    ++numFused;
  }
}
