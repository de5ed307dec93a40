//===- blockscale-opt.cpp - mlir-opt with the dialect -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/InitAll.h"
#include "blockscale/Manual/OptManual.h"
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
  constexpr const char *kSummary =
      "block-scaled matrix product optimizer driver";
  blockscale::manual::Program program{
      "blockscale-opt", "blockscale " BLOCKSCALE_VERSION, kSummary};
  program.description = {
      "Reads a module, runs passes over it and prints it. Dialects and passes "
      "are those of blockscale and of MLIR.",
      "Options of a pass are written in braces: "
      "--blockscale-select-schedule='expected-rows=512'; --help lists them."};
  program.seeAlso = {"blockscale(1)", "mlir-opt(1)"};
  if (auto status =
          blockscale::manual::printOptManual(argc, argv, program, registry))
    return *status;
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, std::string(kSummary) + "\n", registry));
}
