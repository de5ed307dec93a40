//===- ExpandKernels.cpp - whole kernels into warp roles and loops --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Upstream/NVVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace blockscale {
#define GEN_PASS_DEF_EXPANDKERNELS
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct ExpandKernels : blockscale::impl::ExpandKernelsBase<ExpandKernels> {
  using ExpandKernelsBase::ExpandKernelsBase;
  void runOnOperation() override;
  void getDependentDialects(DialectRegistry &registry) const override {
    ExpandKernelsBase::getDependentDialects(registry);
    registerKernelSources(registry);
    // The halves of a barrier of the cluster are upstream's.
    nvvm::registerDialect(registry);
  }
};
} // namespace

void ExpandKernels::runOnOperation() {
  SmallVector<KernelBodyOpInterface> bodies;
  getOperation()->walk([&](KernelBodyOpInterface op) { bodies.push_back(op); });
  for (KernelBodyOpInterface op : bodies)
    op.expand();
}
