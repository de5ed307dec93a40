//===- blockscale-opt.cpp - mlir-opt with the dialect -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/InitAll.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  blockscale::registerAllDialects(registry);
  blockscale::registerAllPasses();
  blockscale::registerAllPipelines();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "block-scaled matrix product optimizer driver\n", registry));
}
