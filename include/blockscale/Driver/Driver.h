//===- Driver.h - the command line of blockscale ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_DRIVER_H
#define BLOCKSCALE_DRIVER_DRIVER_H

namespace blockscale::driver {

/// Exit codes of the program.
inline constexpr int kSuccess = 0;
/// The work could not be done; a diagnostic says why.
inline constexpr int kFailure = 1;
/// The question or the command line was not understood.
inline constexpr int kNotUnderstood = 2;
/// A program after --cuda could not be started.
inline constexpr int kProgramNotStarted = 127;

/// Runs `blockscale VERB ...` and returns the exit code.
int run(int argc, const char *const *argv);

/// The same with the verbs that need neither LLVM nor MLIR: check, emulate,
/// explain, pack.
int runWithoutCompiler(int argc, const char *const *argv);

} // namespace blockscale::driver

#endif // BLOCKSCALE_DRIVER_DRIVER_H
