//===- Runtime.h - what the runtime adds to the core ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime keeps the last error of each thread, and knows kernels and
// variables by addresses in the program.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDARUNTIME_RUNTIME_H
#define BLOCKSCALE_LIB_CUDARUNTIME_RUNTIME_H

#include "Modules.h"

#include <functional>

namespace blockscale::cuda {

/// Remembers `error` for cudaGetLastError and passes it on.
cudaError_t note(cudaError_t error);
/// Of this thread.
cudaError_t &lastError();

/// Does the work of an entry point, locked, and notes its error.
cudaError_t call(const std::function<cudaError_t()> &work);

/// A variable of a program.
struct VariableEntry {
  CUmod_st *module = nullptr;
  std::string name;
  uint64_t size = 0;
};

/// The kernel of a host stub or of a handle; null if there is none.
KernelEntry *kernelFor(const void *symbol);
/// The host stub of a kernel, or its handle where it has none: what a program
/// compares with its kernels.
const void *symbolOf(const KernelEntry *entry);
/// The kernel of a host stub or of a handle, decoded.
cudaError_t preparedKernel(const void *symbol, KernelEntry *&entry);
/// Null if there is none.
VariableEntry *variableFor(const void *symbol);

/// The driver's form of a launch attribute, which has the same bytes.
inline const CUlaunchAttribute &toDriver(const cudaLaunchAttribute &attribute) {
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  return reinterpret_cast<const CUlaunchAttribute &>(attribute);
}
inline const CUlaunchAttribute *
toDriver(const cudaLaunchAttribute *attributes) {
  return attributes ? &toDriver(*attributes) : nullptr;
}

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDARUNTIME_RUNTIME_H
