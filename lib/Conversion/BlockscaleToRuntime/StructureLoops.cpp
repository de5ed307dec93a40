//===- StructureLoops.cpp - loops of blocks as loops of scf ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Upstream's deallocation of buffers knows blocks without loops, and branches
// to at most two of them; of scf it knows everything.

#include "blockscale/Conversion/BlockscaleToRuntime/Passes.h"
#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/SCCIterator.h"

namespace blockscale {
#define GEN_PASS_DEF_STRUCTURELOOPS
#include "blockscale/Conversion/BlockscaleToRuntime/Passes.h.inc"
} // namespace blockscale

using namespace mlir;

/// Whether the blocks of `region` are more than deallocation follows. Others
/// stay: where blocks become ops of scf, values are passed on that were not.
static bool isNeeded(Region &region) {
  if (region.empty() || region.hasOneBlock())
    return false;
  for (auto blocks = llvm::scc_begin(&region); !blocks.isAtEnd(); ++blocks)
    if (blocks.hasCycle())
      return true;
  return llvm::any_of(region, [](Block &block) {
    Operation *last = block.getTerminator();
    return last->getNumSuccessors() > 1 && !isa<cf::CondBranchOp>(last);
  });
}

/// What stands for the values of paths that were not taken, of these and of
/// the input's own, as a tensor that can be stored: nobody reads it.
static void makeStorable(ub::PoisonOp poison) {
  auto type = dyn_cast<RankedTensorType>(poison.getType());
  if (!type)
    return;
  ImplicitLocOpBuilder b(poison.getLoc(), poison);
  SmallVector<Value> sizes;
  for (size_t i = 0; i < type.getNumDynamicDims(); ++i)
    sizes.push_back(arith::ConstantIndexOp::create(b, 0));
  poison.replaceAllUsesWith(
      tensor::EmptyOp::create(b, type, sizes).getResult());
  poison.erase();
}

namespace {
struct StructureLoops : blockscale::impl::StructureLoopsBase<StructureLoops> {
  void runOnOperation() override {
    SmallVector<Region *> regions;
    getOperation()->walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        if (isNeeded(region))
          regions.push_back(&region);
    });
    ControlFlowToSCFTransformation transformation;
    for (Region *region : regions)
      if (failed(transformCFGToSCF(*region, transformation,
                                   getAnalysis<DominanceInfo>())))
        return signalPassFailure();
    getOperation()->walk(makeStorable);
  }
};
} // namespace
