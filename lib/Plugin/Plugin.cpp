//===- Plugin.cpp - blockscale in mlir-opt and its like -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two functions that MLIR's tools look for in a plugin. A tool loads the
// file once for the dialects and once for the passes, and calls each function
// once.
//
//===----------------------------------------------------------------------===//

#include "blockscale/InitAll.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

static constexpr const char *kName = "blockscale";

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kName, BLOCKSCALE_VERSION,
          [](mlir::DialectRegistry *registry) {
            blockscale::registerAllDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kName, BLOCKSCALE_VERSION, [] {
            blockscale::registerAllPasses();
            blockscale::registerAllPipelines();
          }};
}
