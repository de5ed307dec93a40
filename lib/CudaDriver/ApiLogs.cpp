//===- ApiLogs.cpp - the driver's own log ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emulator says what is wrong on standard error, where it names kernel and
// line, so the driver's log stays empty: programs may ask for it, and nobody is
// called.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <cstdio>
#include <unordered_set>

using namespace blockscale;
using namespace blockscale::cuda;

struct CUlogsCallbackEntry_st {};

namespace {

std::unordered_set<const CUlogsCallbackEntry_st *> &entries() {
  static auto *all = new std::unordered_set<const CUlogsCallbackEntry_st *>;
  return *all;
}

} // namespace

BLOCKSCALE_API CUresult cuLogsRegisterCallback(CUlogsCallback callback, void *,
                                               CUlogsCallbackHandle *handle) {
  auto guard = locked();
  if (!callback)
    return CUDA_ERROR_INVALID_VALUE;
  auto *entry = new CUlogsCallbackEntry_st;
  entries().insert(entry);
  // The program may not want to end it.
  if (handle)
    *handle = entry;
  return CUDA_SUCCESS;
}

BLOCKSCALE_API CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  auto guard = locked();
  if (!entries().erase(handle))
    return CUDA_ERROR_INVALID_VALUE;
  delete handle;
  return CUDA_SUCCESS;
}

BLOCKSCALE_API CUresult cuLogsCurrent(CUlogIterator *iterator, unsigned flags) {
  return flags ? CUDA_ERROR_INVALID_VALUE : give(iterator, CUlogIterator());
}

BLOCKSCALE_API CUresult cuLogsDumpToFile(CUlogIterator *, const char *path,
                                         unsigned flags) {
  if (!path || flags)
    return CUDA_ERROR_INVALID_VALUE;
  std::FILE *file = std::fopen(path, "ae");
  if (!file)
    return CUDA_ERROR_INVALID_VALUE;
  std::fclose(file);
  return CUDA_SUCCESS;
}

BLOCKSCALE_API CUresult cuLogsDumpToMemory(CUlogIterator *, char *buffer,
                                           size_t *size, unsigned flags) {
  if (!buffer || !size || !*size || flags)
    return CUDA_ERROR_INVALID_VALUE;
  *buffer = 0;
  *size = 0;
  return CUDA_SUCCESS;
}
