//===- ApiErrors.cpp - errors of the runtime ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Runtime.h"

#include <utility>

using namespace blockscale;
using namespace blockscale::cuda;

cudaError_t &cuda::lastError() {
  static thread_local cudaError_t error = cudaSuccess;
  return error;
}

cudaError_t cuda::note(cudaError_t error) {
  if (error != cudaSuccess)
    lastError() = error;
  return error;
}

cudaError_t cuda::call(const std::function<cudaError_t()> &work) {
  auto guard = locked();
  useAnyContext();
  return note(work());
}

BLOCKSCALE_API const char *cudaGetErrorName(cudaError_t error) {
  const char *name = runtimeName(error);
  return name ? name : "unrecognized error code";
}

BLOCKSCALE_API const char *cudaGetErrorString(cudaError_t error) {
  const char *text = meaning(error);
  return text ? text : "unrecognized error code";
}

BLOCKSCALE_API cudaError_t cudaPeekAtLastError() { return lastError(); }

BLOCKSCALE_API cudaError_t cudaGetLastError() {
  // What a kernel did comes again with the next call that it makes fail.
  return std::exchange(lastError(), cudaSuccess);
}
