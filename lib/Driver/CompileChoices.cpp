//===- CompileChoices.cpp - options of verbs that compile -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileChoices.h"

using namespace blockscale;
using namespace blockscale::driver;

void CompileChoices::addTo(CommandLine &command) {
  command.number("expected-rows", expectedRows,
                 "Rows to optimise for where their number is dynamic (default "
                 "4096)");
  command.text("dispatch-rows", dispatchRows, "ROWS",
               "Kernels of their own for up to so many rows where their number "
               "is dynamic, such as 16,512; auto for what the model of time "
               "finds");
  command.flag("import", imports,
               "Find block-scaled products in what other compilers write: "
               "tosa, linalg, StableHLO in the generic form");
  command.flag("dense-fallback", denseFallback,
               "Multiply sparse operands that no instruction takes as dense "
               "ones");
  command.flag("quantize-on-device", quantizeOnDevice,
               "Let whole functions run kernels for what quantises operands of "
               "products, where there are such, and not host code");
}

void CompileChoices::apply(CompilerOptions &options) const {
  options.expectedRows = expectedRows;
  options.dispatchRows = dispatchRows;
  options.denseFallback = denseFallback;
  options.quantizeOnDevice = quantizeOnDevice;
}
