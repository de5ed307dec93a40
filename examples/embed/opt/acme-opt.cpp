//===- acme-opt.cpp - mlir-opt with both dialects -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Acme.h"
#include "blockscale/InitAll.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  blockscale::registerAllDialects(registry);
  blockscale::registerAllPasses();
  blockscale::registerAllPipelines();
  registry.insert<acme::AcmeDialect>();
  acme::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "acme's optimizer\n", registry));
}
