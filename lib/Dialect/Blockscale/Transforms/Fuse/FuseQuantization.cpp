//===- FuseQuantization.cpp - quantisations into products' kernels --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Marks products whose kernels quantise what they compute: the schedule and the
// kernel follow from the mark, and both ops stay as they are until then.

#include "../Kernels/QuantizeSource.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"

namespace blockscale {
#define GEN_PASS_DEF_FUSEQUANTIZATION
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct FuseQuantization
    : blockscale::impl::FuseQuantizationBase<FuseQuantization> {
  using FuseQuantizationBase::FuseQuantizationBase;
  void runOnOperation() override;

private:
  std::optional<Reason> whyNot(MatmulOp product, QuantizeOp op) const;
};
} // namespace

std::optional<Reason> FuseQuantization::whyNot(MatmulOp product,
                                               QuantizeOp op) const {
  if (auto why = whyNotQuantized(product, op, getTarget(product)))
    return why;
  if (wholeFunctions && repeatsScales(op))
    return Reason("a kernel stores a scale of the result for each row and "
                  "block of a tile, of which whole functions have one");
  return std::nullopt;
}

void FuseQuantization::runOnOperation() {
  getOperation()->walk([&](QuantizeOp op) {
    auto product = op.getInput().getDefiningOp<MatmulOp>();
    if (!product || product->hasAttr(kQuantizedAttrName))
      return;
    if (auto why = whyNot(product, op))
      op.emitRemark() << "stays an op of its own: " << why->text;
    else
      product->setAttr(kQuantizedAttrName, UnitAttr::get(&getContext()));
  });
}
