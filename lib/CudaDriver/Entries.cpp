//===- Entries.cpp - functions by name and version ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// First: its declarations differ from those of a plain cuda.h.
#include "Entries.h"

#include "Driver.h"

#include <cstring>
#include <dlfcn.h>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

struct Entry {
  const char *name;
  int version;
  void *address;
};

const Entry kEntries[] = {
#define ENTRY(name, version, symbol)                                           \
  {#name, version, reinterpret_cast<void *>(symbol)},
#include "Entries.def"
#undef ENTRY
};

/// The newest entry that a program built for `version` knows. `isNewer` says
/// that there is one for newer programs.
void *find(const char *name, int version, bool &isNewer) {
  const Entry *best = nullptr;
  isNewer = false;
  for (const Entry &entry : kEntries) {
    if (std::strcmp(entry.name, name) != 0)
      continue;
    // A negative version is newer than any.
    if (unsigned(entry.version) > unsigned(version))
      isNewer = true;
    else if (!best || entry.version > best->version)
      best = &entry;
  }
  if (best)
    return best->address;
  // The first forms of old functions are among those that are not here.
  constexpr int kFirstVersion = 2000;
  return unsigned(version) < kFirstVersion ? nullptr : findMissing(name);
}

} // namespace

BLOCKSCALE_API CUresult
cuGetProcAddress_v2(const char *name, void **address, int version,
                    cuuint64_t flags, CUdriverProcAddressQueryResult *status) {
  constexpr cuuint64_t kKnown = CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                                CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (!name || !address || flags & ~kKnown)
    return CUDA_ERROR_INVALID_VALUE;
  bool isNewer = false;
  *address = find(name, version, isNewer);
  if (status)
    *status = *address  ? CU_GET_PROC_ADDRESS_SUCCESS
              : isNewer ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                        : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  // The status says it, also where nobody asks for it.
  return CUDA_SUCCESS;
}

BLOCKSCALE_API CUresult cuGetProcAddress(const char *name, void **address,
                                         int version, cuuint64_t flags) {
  CUresult result = cuGetProcAddress_v2(name, address, version, flags, nullptr);
  return result == CUDA_SUCCESS && !*address ? CUDA_ERROR_NOT_FOUND : result;
}

BLOCKSCALE_API CUresult cuGetExportTable(const void **table, const CUuuid *id) {
  if (!table || !id)
    return CUDA_ERROR_INVALID_VALUE;
  *table = nullptr;
  // NVRTC and nvJitLink ask as well, and go on without.
  Dl_info caller;
  if (dladdr(__builtin_return_address(0), &caller) && caller.dli_fname &&
      (std::strstr(caller.dli_fname, "libnvrtc") ||
       std::strstr(caller.dli_fname, "libnvJitLink")))
    return CUDA_ERROR_INVALID_VALUE;
  sayOnce(
      "the program asks the driver for tables that NVIDIA does not document, "
      "as a statically linked CUDA runtime does: one in the program itself "
      "is replaced if 'blockscale emulate --cuda' starts it and it still "
      "has its symbols, one in a library (such as cuda.bindings.runtime) "
      "is not; link with 'nvcc -cudart shared', or use the driver");
  return CUDA_ERROR_INVALID_VALUE;
}
