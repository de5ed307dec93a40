//===- InitAll.cpp - all dialects, passes and pipelines -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/InitAll.h"
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h"
#include "blockscale/Conversion/BlockscaleToNVVM/Passes.h"
#include "blockscale/Conversion/BlockscaleToRuntime/Passes.h"
#include "blockscale/Conversion/ImportToBlockscale/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/Transforms/BufferizableOpInterfaceImpl.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Dialect/Blockscale/Transforms/ShardingInterfaceImpl.h"
#include "blockscale/Dialect/BlockscaleNKI/Transforms/Passes.h"
#include "blockscale/Pipelines/HostPipeline.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "blockscale/Target/PTX/Passes.h"
#include "blockscale/Upstream/NVVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

void blockscale::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<BlockscaleDialect, nki::BlockscaleNKIDialect,
                  mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::func::FuncDialect, mlir::gpu::GPUDialect,
                  mlir::linalg::LinalgDialect, mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::scf::SCFDialect,
                  mlir::tensor::TensorDialect, mlir::vector::VectorDialect>();
  nvvm::registerDialect(registry);
  // What functions around products are written in.
  registry.insert<mlir::affine::AffineDialect, mlir::index::IndexDialect,
                  mlir::memref::MemRefDialect, mlir::tosa::TosaDialect,
                  mlir::ub::UBDialect>();
  registerBufferizationDialect(registry);
  registerKernelSources(registry);
  registerShardingInterfaceExternalModels(registry);
}

void blockscale::registerAllDialects(mlir::DialectRegistry &registry) {
  registerDialects(registry);
  registerHostExtensions(registry);
}

void blockscale::registerAllPasses() {
  registerBlockscalePasses();
  nki::registerBlockscaleNKIPasses();
  registerBlockscaleToLinalgPasses();
  registerBlockscaleToNVVMPasses();
  registerBlockscaleToRuntimePasses();
  registerImportToBlockscalePasses();
  registerBlockscaleTargetPTXPasses();
}

void blockscale::registerAllPipelines() {
  registerPipelines();
  registerHostPipeline();
}
