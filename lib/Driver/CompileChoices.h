//===- CompileChoices.h - options of verbs that compile ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_COMPILECHOICES_H
#define BLOCKSCALE_LIB_DRIVER_COMPILECHOICES_H

#include "CommandLine.h"
#include "blockscale/Compiler/Compiler.h"

namespace blockscale::driver {

/// What verbs that compile ask alike: of which modules, and what kernels are
/// chosen for.
struct CompileChoices {
  int64_t expectedRows = 4096;
  std::string dispatchRows;
  bool imports = false, denseFallback = false, quantizeOnDevice = false;

  /// Adds the options; `command` reads them into these fields.
  void addTo(CommandLine &command);
  /// Says so to the compiler; `imports` is for the reader of files.
  void apply(CompilerOptions &options) const;
};

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_COMPILECHOICES_H
