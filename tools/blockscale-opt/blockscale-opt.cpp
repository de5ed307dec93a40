//===- blockscale-opt.cpp - mlir-opt with the dialect -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h"
#include "blockscale/Conversion/BlockscaleToNVVM/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/TransformOps/DialectExtension.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry
      .insert<blockscale::BlockscaleDialect, mlir::arith::ArithDialect,
              mlir::func::FuncDialect, mlir::gpu::GPUDialect,
              mlir::linalg::LinalgDialect, mlir::LLVM::LLVMDialect,
              mlir::math::MathDialect, mlir::NVVM::NVVMDialect,
              mlir::scf::SCFDialect, mlir::tensor::TensorDialect,
              mlir::transform::TransformDialect, mlir::vector::VectorDialect>();
  mlir::linalg::registerTransformDialectExtension(registry);
  blockscale::registerBlockscalePasses();
  blockscale::registerBlockscaleToLinalg();
  blockscale::registerBlockscaleToNVVMPasses();
  blockscale::registerPipelines();
  mlir::registerSCFToControlFlowPass();
  mlir::transform::registerTransformPasses();
  mlir::registerTransformsPasses();
  mlir::memref::registerMemRefPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "block-scaled matrix product optimizer driver\n", registry));
}
