//===- blockscale-opt.cpp - mlir-opt with the dialect -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/InitAll.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Linalg/TransformOps/DialectExtension.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Transforms/Passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  blockscale::registerAllDialects(registry);
  registry.insert<mlir::transform::TransformDialect>();
  mlir::linalg::registerTransformDialectExtension(registry);
  blockscale::registerAllPasses();
  blockscale::registerAllPipelines();
  mlir::registerSCFToControlFlowPass();
  mlir::transform::registerTransformPasses();
  mlir::registerTransformsPasses();
  mlir::memref::registerMemRefPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "block-scaled matrix product optimizer driver\n", registry));
}
