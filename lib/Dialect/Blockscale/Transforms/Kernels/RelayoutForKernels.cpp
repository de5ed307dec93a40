//===- RelayoutForKernels.cpp - elements along K for what converts --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Kernels that quantise and convert read and write elements along K. Where a
// whole function has one in the other order, and a kernel would do it but for
// that, `blockscale.relayout` changes the order around it by kernels, too.

#include "KernelNeighbours.h"
#include "QuantizeSource.h"
#include "RelayoutSource.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace blockscale {
#define GEN_PASS_DEF_RELAYOUTFORKERNELS
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct RelayoutForKernels
    : blockscale::impl::RelayoutForKernelsBase<RelayoutForKernels> {
  using RelayoutForKernelsBase::RelayoutForKernelsBase;
  void runOnOperation() override;
};
} // namespace

static ScaledTensorType alongK(ScaledTensorType type) {
  return ScaledTensorType::get(type.getShape(), type.getElementType(),
                               type.getSpec(), type.getLayout(),
                               DataOrder::KMajor);
}

static bool isAcross(Type type) {
  auto scaled = dyn_cast<ScaledTensorType>(type);
  return scaled && scaled.getOrder() == DataOrder::MNMajor;
}

/// `value` in the order of `type`; what another such op made of it is undone.
static Value relaid(OpBuilder &b, Location loc, ScaledTensorType type,
                    Value value) {
  auto source = value.getDefiningOp<RelayoutOp>();
  if (source && source.getInput().getType() == type)
    return source.getInput();
  return RelayoutOp::create(b, loc, type, value);
}

namespace {
/// An op on elements along K, in front of the given one, and what it reads and
/// makes in the order that they have.
struct Chain {
  explicit Chain(Operation *op);
  /// Whether kernels do all of it.
  bool isDone() const;
  void erase();

  Operation *inner;
  Value result;
  SmallVector<RelayoutOp> relayouts;
};
} // namespace

Chain::Chain(Operation *op) {
  OpBuilder b(op);
  IRMapping operands;
  auto relay = [&](ScaledTensorType type, Value value) {
    Value made = relaid(b, op->getLoc(), type, value);
    if (auto relayout = made.getDefiningOp<RelayoutOp>())
      if (relayout.getInput() == value)
        relayouts.push_back(relayout);
    return made;
  };
  Value read = op->getOperand(0);
  if (isAcross(read.getType()))
    operands.map(read,
                 relay(alongK(cast<ScaledTensorType>(read.getType())), read));
  inner = b.clone(*op, operands);
  result = inner->getResult(0);
  if (!isAcross(result.getType()))
    return;
  auto type = cast<ScaledTensorType>(result.getType());
  result.setType(alongK(type));
  result = relay(type, result);
}

bool Chain::isDone() const {
  auto quantizer = dyn_cast<QuantizeOp>(inner);
  bool isInner = quantizer ? isDoneByKernel(quantizer) : isConvertible(inner);
  return isInner && llvm::all_of(relayouts, [](RelayoutOp op) {
           return !whyNotKernel(op);
         });
}

void Chain::erase() {
  if (!relayouts.empty() &&
      relayouts.back().getInput().getDefiningOp() == inner)
    relayouts.pop_back_val().erase();
  inner->erase();
  for (RelayoutOp op : relayouts)
    op.erase();
}

/// Whether a kernel would do it if elements lay along K.
static bool isCandidate(Operation *op) {
  if (!isa<QuantizeOp, DequantizeOp, CompressOp, DensifyOp, TileSumsOp>(op) ||
      !(isAcross(op->getOperand(0).getType()) ||
        isAcross(op->getResult(0).getType())))
    return false;
  Chain chain(op);
  bool isDone = chain.isDone();
  chain.erase();
  return isDone;
}

/// Whether kernels make or read what is beside it, as `reads` says.
static bool isBesideKernels(Operation *op, IsReader reads) {
  auto quantizer = dyn_cast<QuantizeOp>(op);
  if (!quantizer)
    return isAmongKernels(op, reads);
  return isForKernels(quantizer, reads) ||
         quantizer.getInput().getDefiningOp<MatmulOp>();
}

void RelayoutForKernels::runOnOperation() {
  llvm::SetVector<Operation *> candidates;
  SmallVector<Operation *> ops;
  getOperation()->walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (isCandidate(op))
      candidates.insert(op);
  auto reads = [&](Operation *op) {
    return isReader(op) || candidates.contains(op);
  };
  SmallVector<Operation *> wanted;
  for (Operation *op : candidates)
    if (isKernelSource(op) || isBesideKernels(op, reads))
      wanted.push_back(op);
  for (Operation *op : wanted) {
    Value input = op->getOperand(0);
    op->getResult(0).replaceAllUsesWith(Chain(op).result);
    op->erase();
    // What changed the order for it alone.
    if (auto relayout = input.getDefiningOp<RelayoutOp>())
      if (relayout->use_empty())
        relayout.erase();
  }
}
