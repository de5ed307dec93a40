//===- SerializeKernels.cpp - kernels as data of the host -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/PlanAttr.h"
#include "blockscale/Target/PTX/LaunchPlan.h"
#include "blockscale/Target/PTX/Passes.h"
#include "blockscale/Target/PTX/Ptxas.h"
#include "blockscale/Target/PTX/TranslateToPTX.h"
#include "blockscale/Upstream/NVVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace blockscale {
#define GEN_PASS_DEF_ATTACHPLAN
#define GEN_PASS_DEF_SERIALIZEKERNELS
#include "blockscale/Target/PTX/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// AttachPlan
//===----------------------------------------------------------------------===//

static bool holdsKernels(gpu::GPUModuleOp module) {
  return llvm::any_of(*module.getBody(), [](Operation &op) {
    return op.hasAttrOfType<KernelAttr>(KernelAttr::name);
  });
}

namespace {
struct AttachPlan : blockscale::impl::AttachPlanBase<AttachPlan> {
  void runOnOperation() override {
    for (auto kernels : getOperation().getOps<gpu::GPUModuleOp>()) {
      if (!holdsKernels(kernels) || kernels->hasAttr(kPlanAttrName))
        continue;
      FailureOr<plan::Plan> plan = planKernels(kernels);
      if (failed(plan))
        return signalPassFailure();
      kernels->setAttr(kPlanAttrName,
                       StringAttr::get(&getContext(), printPlan(*plan)));
    }
  }
};

//===----------------------------------------------------------------------===//
// SerializeKernels
//===----------------------------------------------------------------------===//

struct SerializeKernels
    : blockscale::impl::SerializeKernelsBase<SerializeKernels> {
  using SerializeKernelsBase::SerializeKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SerializeKernelsBase::getDependentDialects(registry);
    nvvm::registerDialect(registry);
    registerPTXTranslations(registry);
  }

  void runOnOperation() override {
    auto modules = getOperation().getOps<gpu::GPUModuleOp>();
    for (gpu::GPUModuleOp kernels : llvm::make_early_inc_range(modules))
      if (kernels->hasAttr(kPlanAttrName) && failed(serialize(kernels)))
        return signalPassFailure();
  }

private:
  /// PTX, or a cubin where there is an assembler.
  FailureOr<std::string> codeOf(gpu::GPUModuleOp kernels, StringRef chip);
  LogicalResult serialize(gpu::GPUModuleOp kernels);
};
} // namespace

FailureOr<std::string> SerializeKernels::codeOf(gpu::GPUModuleOp kernels,
                                                StringRef chip) {
  PTXOptions options;
  options.chip = chip.str();
  FailureOr<std::string> ptx = translateToPTX(kernels, options);
  if (failed(ptx) || ptxas.empty())
    return ptx;
  llvm::Expected<std::string> program =
      choosePtxas(ptxas, /*orAnother=*/false, *ptx);
  if (!program)
    return kernels.emitError() << llvm::toString(program.takeError());
  PtxasOptions assembler;
  assembler.program = *program;
  assembler.chip = options.chip;
  llvm::Expected<PtxasResult> assembled = runPtxas(*ptx, assembler);
  if (!assembled)
    return kernels.emitError() << llvm::toString(assembled.takeError());
  return std::move(assembled->cubin);
}

LogicalResult SerializeKernels::serialize(gpu::GPUModuleOp kernels) {
  std::string chip = hw::targetName(getTarget(kernels));
  FailureOr<std::string> code = codeOf(kernels, chip);
  if (failed(code))
    return failure();
  OpBuilder b(kernels);
  auto plan = kernels->getAttrOfType<StringAttr>(kPlanAttrName);
  Attribute target = nvvm::objectTarget(&getContext(), /*optLevel=*/3,
                                        "nvptx64-nvidia-cuda", chip);
  gpu::CompilationTarget format = ptxas.empty()
                                      ? gpu::CompilationTarget::Assembly
                                      : gpu::CompilationTarget::Binary;
  auto object = gpu::ObjectAttr::get(
      &getContext(), target, format, b.getStringAttr(*code),
      b.getDictionaryAttr(b.getNamedAttr(kPlanAttrName, plan)),
      /*kernels=*/nullptr);
  gpu::BinaryOp::create(b, kernels.getLoc(), kernels.getName(),
                        /*offloadingHandler=*/nullptr,
                        ArrayRef<Attribute>{object});
  kernels.erase();
  return success();
}
