//===- CudaProgram.h - run a CUDA program on the emulator -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_CUDAPROGRAM_H
#define BLOCKSCALE_LIB_DRIVER_CUDAPROGRAM_H

#include "RunSummary.h"

#include <string>
#include <utility>
#include <vector>

namespace blockscale::driver {

/// A program, its arguments, and the variables of the environment that tell
/// the emulator's CUDA runtime what to do (docs/emulator.md lists them).
struct CudaProgram {
  /// The program and its arguments.
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> settings;
  /// Whether to keep a record of each launch, not of findings alone.
  bool recordAll = false;
};

/// How it ended.
struct ProgramEnd {
  /// Its exit status; 128 + the signal if one ended it.
  int status = 0;
  std::vector<LaunchRecord> launches;
};

/// Runs it with the emulator's CUDA libraries in place of the real ones; or
/// says why it cannot be run.
Result<ProgramEnd> runCudaProgram(const CudaProgram &program);

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_CUDAPROGRAM_H
