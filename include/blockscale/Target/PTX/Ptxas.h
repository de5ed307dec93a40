//===- Ptxas.h - assemble PTX with CUDA's ptxas -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds ptxas, runs it on PTX text and reads what it says about each kernel.
// Needs no MLIR. ptxas of CUDA 13.0 knows PTX up to 9.0 and the chips in it;
// what is newer needs the release that came with its PTX version.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TARGET_PTX_PTXAS_H
#define BLOCKSCALE_TARGET_PTX_PTXAS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace blockscale {

/// What `ptxas -v` says about one function. Sizes in bytes.
struct PtxasFunctionInfo {
  std::string name;
  /// Registers per thread.
  unsigned registers = 0;
  /// Named barriers.
  unsigned barriers = 0;
  uint64_t stackBytes = 0;
  uint64_t spillStoreBytes = 0;
  uint64_t spillLoadBytes = 0;
  /// Static shared memory; what the launch adds is not in it.
  uint64_t sharedBytes = 0;
};

struct PtxasResult {
  /// The cubin, byte for byte.
  std::string cubin;
  /// In the order of the output of ptxas.
  std::vector<PtxasFunctionInfo> functions;
};

struct PtxasOptions {
  /// The program, as `findPtxas` returns it.
  std::string program;
  /// The chip to assemble for: "sm_100a", ...
  std::string chip = "sm_100a";
  /// -O of ptxas, 0 to 3.
  unsigned optLevel = 3;
  /// Threads that ptxas may use for several kernels, at least 1. The code that
  /// it makes does not depend on it.
  unsigned threads = 1;
  /// ptxas is ended after so many seconds; 0 waits for ever.
  unsigned timeoutSeconds = 600;
};

/// Returns the path of ptxas. A `program` that is not empty is a path or a name
/// to look up, and nothing else is tried; otherwise the first of: ptxas on
/// PATH, $CUDA_HOME/bin, $CUDA_PATH/bin, /usr/local/cuda/bin. The error says
/// where it looked.
llvm::Expected<std::string> findPtxas(llvm::StringRef program = "");

/// The PTX version, times ten, that the header of `ptx` names; 0 if it has
/// none.
unsigned ptxVersionOf(llvm::StringRef ptx);

/// Returns a ptxas that knows the PTX version of `ptx`: `program`, as findPtxas
/// returns it, or with `orAnother` any that this machine has in the places
/// where findPtxas looks or in a /usr/local/cuda-*/bin. The error says which
/// release of CUDA is needed and which ones are there.
llvm::Expected<std::string> choosePtxas(llvm::StringRef program, bool orAnother,
                                        llvm::StringRef ptx);

/// Assembles `ptx`. The error holds what ptxas reported, each line with the
/// line of PTX that it names. Temporary files are removed in every case. May be
/// called from several threads.
llvm::Expected<PtxasResult> runPtxas(llvm::StringRef ptx,
                                     const PtxasOptions &options);

/// Reads the output of `ptxas -v`. Functions of which it says nothing have
/// zeros.
std::vector<PtxasFunctionInfo> parsePtxasLog(llvm::StringRef log);

} // namespace blockscale

#endif // BLOCKSCALE_TARGET_PTX_PTXAS_H
