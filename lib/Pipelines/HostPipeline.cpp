//===- HostPipeline.cpp - whole functions to host code --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Pipelines/HostPipeline.h"
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h"
#include "blockscale/Conversion/BlockscaleToRuntime/Passes.h"
#include "blockscale/Dialect/Blockscale/Transforms/BufferizableOpInterfaceImpl.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "blockscale/Target/PTX/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace blockscale;

void blockscale::registerHostExtensions(DialectRegistry &registry) {
  arith::registerBufferDeallocationOpInterfaceExternalModels(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  cf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  vector::registerBufferizableOpInterfaceExternalModels(registry);
  blockscale::registerBufferizableOpInterfaceExternalModels(registry);
}

static void addCleanup(OpPassManager &pm) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
}

/// What other dialects say around products, in linalg and arith.
static void addFrontEnds(OpPassManager &pm) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(tosa::createTosaMakeBroadcastablePass());
  functions.addPass(tosa::createTosaToLinalgNamed());
  functions.addPass(tosa::createTosaToLinalg());
  functions.addPass(createTosaToTensorPass());
  functions.addPass(createTosaToArithPass());
  functions.addPass(createTosaToSCFPass());
}

/// From kernels with all addresses on, if there are any.
static void addToLinalg(OpPassManager &pm, const HostPipelineOptions &options) {
  if (!options.onHost)
    pm.addPass(createAttachPlan());
  addFrontEnds(pm);
  pm.addPass(createBlockscaleToLinalg());
  addCleanup(pm);
}

static void addToMemRef(OpPassManager &pm, const HostPipelineOptions &options) {
  if (!options.onHost) {
    buildPipelineBetween(pm, Stage::Assigned, Stage::LLVM);
    SerializeKernelsOptions serialize;
    serialize.ptxas = options.ptxas.getValue();
    pm.addPass(createSerializeKernels(serialize));
  }
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createStructureLoops());
  functions.addPass(createDecomposeHostOps());
  // Arithmetic on whole tensors has no buffers to work on.
  functions.addPass(createConvertElementwiseToLinalgPass());
  pm.addPass(createRequireBufferizable());
  addBufferization(pm);
  addCleanup(pm);
}

static void addToLLVM(OpPassManager &pm, const HostPipelineOptions &options) {
  ConvertBlockscaleToRuntimeOptions convert;
  convert.gpuLaunch = options.gpuLaunch.getValue();
  pm.addPass(createConvertBlockscaleToRuntime(convert));
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createExpandCopies());
  functions.addPass(createConvertLinalgToLoopsPass());
  functions.addPass(createConvertVectorToSCFPass());
  functions.addPass(LLVM::createLLVMRequestCWrappersPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  // The few functions that narrow floats take are in no library.
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16",       "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ",
                            "f8E5M2FNUZ", "f8E4M3",   "f8E3M4", "f6E2M3FN",
                            "f6E3M2FN",   "f4E2M1FN"};
  emulate.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  math::MathExtendToSupportedTypesOptions extend;
  extend.extraTypeStrs = {"bf16", "f16"};
  pm.addPass(math::createMathExtendToSupportedTypes(extend));
  pm.addPass(createExpandFP4());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  expand.includeF8E8M0 = true;
  expand.includeF4E2M1 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  if (options.gpuLaunch)
    pm.addPass(createGpuToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createRequireLLVM());
}

static void addHostStages(OpPassManager &pm,
                          const HostPipelineOptions &options) {
  addToLinalg(pm, options);
  if (options.stage >= HostStage::MemRef)
    addToMemRef(pm, options);
  if (options.stage == HostStage::LLVM)
    addToLLVM(pm, options);
}

void blockscale::buildHostPipelineFrom(OpPassManager &pm,
                                       const HostPipelineOptions &options,
                                       Stage from) {
  buildPipelineBetween(pm, from, Stage::Assigned);
  addHostStages(pm, options);
}

void blockscale::buildHostPipeline(OpPassManager &pm,
                                   const HostPipelineOptions &options) {
  // Weights that are constants are quantized once, not in each call.
  pm.addPass(createFoldConstants());
  if (!options.onHost) {
    PipelineOptions kernels;
    kernels.target = options.target.getValue();
    kernels.expectedRows = options.expectedRows.getValue();
    kernels.dispatchRows = options.dispatchRows.getValue();
    kernels.denseFallback = options.denseFallback.getValue();
    kernels.splitGroups = true;
    // Upstream's way runs them where the data are.
    kernels.quantize = false;
    kernels.quantizeOperands = options.quantizeOperands.getValue();
    buildPipelineTo(pm, kernels, Stage::Assigned);
  }
  addHostStages(pm, options);
}

void blockscale::registerHostPipeline() {
  PassPipelineRegistration<HostPipelineOptions>(
      "blockscale-to-host",
      "Compile functions around products, and the products as kernels that "
      "they launch, to host code in the LLVM dialect",
      buildHostPipeline);
}
