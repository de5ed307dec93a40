//===- Pipelines.cpp - named pipelines ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Pipelines/Pipelines.h"
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h"
#include "blockscale/Conversion/BlockscaleToNVVM/Passes.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace blockscale;

void blockscale::buildLegalization(OpPassManager &pm,
                                   const PipelineOptions &options) {
  AttachTargetOptions attach;
  attach.target = options.target;
  pm.addPass(createAttachTarget(attach));
  pm.addPass(createPartsToProducts());
  // What only host code can do before a product.
  if (options.splitGroups)
    pm.addPass(createGroupsToProducts());
  LegalizeScalesOptions legalize;
  legalize.denseFallback = options.denseFallback;
  pm.addPass(createLegalizeScales(legalize));
  if (options.quantizeOperands)
    pm.addPass(createRelayoutForKernels());
  if (options.quantize || options.quantizeOperands) {
    FuseQuantizationOptions fuse;
    fuse.wholeFunctions = !options.quantize;
    pm.addPass(createFuseQuantization(fuse));
  }
}

static void addToTensor(OpPassManager &pm, const PipelineOptions &options) {
  buildLegalization(pm, options);
  if (!options.dispatchRows.empty()) {
    DispatchRowsOptions dispatch;
    dispatch.rows = options.dispatchRows;
    dispatch.expectedRows = options.expectedRows;
    pm.addPass(createDispatchRows(dispatch));
  }
  SelectScheduleOptions select;
  select.expectedRows = options.expectedRows;
  pm.addPass(createSelectSchedule(select));
}

static void addFormation(OpPassManager &pm, bool quantize,
                         bool quantizeOperands) {
  FormKernelsOptions form;
  form.quantize = quantize;
  form.quantizeOperands = quantizeOperands;
  pm.addPass(createFormKernels(form));
}

void blockscale::buildKernelFormation(OpPassManager &pm,
                                      const PipelineOptions &options) {
  addToTensor(pm, options);
  addFormation(pm, options.quantize, options.quantizeOperands);
}

static void addToKernel(OpPassManager &pm, bool quantize,
                        bool quantizeOperands) {
  addFormation(pm, quantize, quantizeOperands);
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createExpandKernels());
  // Sizes are often constants: fold what follows from them.
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
}

static void addToAssigned(OpPassManager &pm) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createAssignMemory());
  kernels.addPass(createAssignSteps());
}

static void addToNVVM(OpPassManager &pm) {
  pm.nest<gpu::GPUModuleOp>().addPass(createConvertBlockscaleToNVVM());
}

static void addToLLVM(OpPassManager &pm) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertKernelsToLLVM());
}

void blockscale::buildPipelineBetween(OpPassManager &pm, Stage from, Stage to,
                                      bool quantize, bool quantizeOperands) {
  auto passes = [&](Stage stage) { return from < stage && stage <= to; };
  if (passes(Stage::Kernel))
    addToKernel(pm, quantize, quantizeOperands);
  if (passes(Stage::Assigned))
    addToAssigned(pm);
  if (passes(Stage::NVVM))
    addToNVVM(pm);
  if (passes(Stage::LLVM))
    addToLLVM(pm);
}

void blockscale::buildPipelineTo(OpPassManager &pm,
                                 const PipelineOptions &options, Stage stage) {
  addToTensor(pm, options);
  buildPipelineBetween(pm, Stage::Tensor, stage, options.quantize,
                       options.quantizeOperands);
}

void blockscale::buildPipeline(OpPassManager &pm,
                               const PipelineOptions &options) {
  buildPipelineTo(pm, options, Stage::LLVM);
}

void blockscale::registerPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "blockscale-pipeline",
      "Compile block-scaled matmuls to kernels in the LLVM dialect",
      buildPipeline);
}
