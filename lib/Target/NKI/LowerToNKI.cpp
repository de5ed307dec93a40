//===- LowerToNKI.cpp - the order of the passes ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/BlockscaleNKI/Transforms/Passes.h"
#include "blockscale/Target/NKI/TranslateToNKI.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace blockscale::nki;

LogicalResult blockscale::nki::lowerToNKI(ModuleOp module, StringRef target,
                                          Stage stage) {
  module.getContext()->getOrLoadDialect<BlockscaleNKIDialect>();
  PassManager pm(module.getContext());
  NKILegalizeOptions options;
  options.target = target.str();
  pm.addPass(createNKILegalize(options));
  if (stage != Stage::Tensor)
    pm.addPass(createNKIFormKernels());
  if (stage == Stage::Assigned)
    pm.nest<KernelOp>().addPass(createNKIAssignMemory());
  return pm.run(module);
}
