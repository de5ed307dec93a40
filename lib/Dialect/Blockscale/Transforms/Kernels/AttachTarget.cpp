//===- AttachTarget.cpp - say which chip a module is compiled for ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"

namespace blockscale {
#define GEN_PASS_DEF_ATTACHTARGET
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct AttachTarget : blockscale::impl::AttachTargetBase<AttachTarget> {
  using AttachTargetBase::AttachTargetBase;
  void runOnOperation() override;
};
} // namespace

void AttachTarget::runOnOperation() {
  if (target.empty())
    return;
  ModuleOp module = getOperation();
  Result<hw::Target> wanted = hw::parseTarget(target);
  if (!wanted) {
    module.emitError() << wanted.why().text;
    return signalPassFailure();
  }
  std::optional<hw::Target> named = findTarget(module);
  if (named && *named != *wanted) {
    module.emitError() << "names '" << hw::targetName(*named)
                       << "' as its target, which contradicts '"
                       << hw::targetName(*wanted) << "'";
    return signalPassFailure();
  }
  module->setAttr(TargetAttr::name, TargetAttr::get(&getContext(), *wanted));
}
