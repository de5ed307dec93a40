//===- Import.cpp - modules of other compilers ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Conversion/ImportToBlockscale/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace blockscale;

/// Whether an attribute is one that a dialect which is not here has put there.
static bool isForeign(NamedAttribute attribute) {
  return attribute.getName().strref().contains('.') &&
         !attribute.getNameDialect();
}

/// Removes what a producer noted for itself of modules and functions.
static void dropForeignAttributes(ModuleOp module) {
  module.walk([](Operation *op) {
    for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
      if (isForeign(attribute))
        op->removeDiscardableAttr(attribute.getName());
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function)
      return;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      for (NamedAttribute attribute : function.getArgAttrs(i))
        if (isForeign(attribute))
          function.removeArgAttr(i, attribute.getName());
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      for (NamedAttribute attribute : function.getResultAttrs(i))
        if (isForeign(attribute))
          function.removeResultAttr(i, attribute.getName());
  });
}

/// Names each op that is of no dialect here.
static LogicalResult refuseUnknown(ModuleOp module) {
  bool isAnyUnknown = false;
  module.walk([&](Operation *op) {
    if (op->isRegistered())
      return;
    isAnyUnknown = true;
    op->emitError() << "'" << op->getName()
                    << "' is of no dialect that is known here and no part of a "
                       "block-scaled product; nothing lowers it";
  });
  return failure(isAnyUnknown);
}

LogicalResult blockscale::importProducts(ModuleOp module,
                                         const CompilerOptions &options) {
  PassManager pm(module.getContext());
  AttachTargetOptions attach;
  // Operands lie alike for all chips of one vendor.
  std::vector<std::string> targets = targetsOf(options);
  attach.target = targets.front();
  bool isForeignTarget =
      targets.size() > 1 && !module->hasAttr(TargetAttr::name);
  pm.addPass(createAttachTarget(attach));
  pm.addPass(createImport());
  pm.addPass(createFuseEpilogues());
  if (failed(pm.run(module)))
    return failure();
  if (isForeignTarget)
    module->removeAttr(TargetAttr::name);
  dropForeignAttributes(module);
  return refuseUnknown(module);
}
