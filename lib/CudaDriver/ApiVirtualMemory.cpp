//===- ApiVirtualMemory.cpp - memory mapped by the program ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// And that of other processes: by file descriptors of mapped memory, and by the
// older handles, which are refused.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Streams.h"
#include "VirtualMemory.h"

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

CUresult noSharing() {
  sayOnce("handles of events and memory for other processes (cuIpc...) are not "
          "supported");
  return CUDA_ERROR_NOT_SUPPORTED;
}

/// The one device; where memory lies that this driver can map.
bool isHere(const CUmemLocation &location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id == 0;
}

} // namespace

BLOCKSCALE_API CUresult cuMemGetAllocationGranularity(
    size_t *granularity, const CUmemAllocationProp *properties,
    CUmemAllocationGranularity_flags option) {
  return withDriver([&] {
    bool isKnown = option == CU_MEM_ALLOC_GRANULARITY_MINIMUM ||
                   option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED;
    return properties && isKnown
               ? give(granularity, size_t(kMappingGranularity))
               : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuMemAddressReserve(CUdeviceptr *pointer, size_t size,
                                            size_t alignment,
                                            CUdeviceptr /*wish*/,
                                            unsigned long long flags) {
  return withDriver([&]() -> CUresult {
    if (!pointer || flags)
      return CUDA_ERROR_INVALID_VALUE;
    uint64_t address = 0;
    CUresult result = reserveAddresses(size, alignment, address);
    if (result == CUDA_SUCCESS)
      *pointer = address;
    return result;
  });
}

BLOCKSCALE_API CUresult cuMemAddressFree(CUdeviceptr pointer, size_t size) {
  return withDriver([&] { return freeAddresses(pointer, size); });
}

BLOCKSCALE_API CUresult cuMemCreate(CUmemGenericAllocationHandle *handle,
                                    size_t size,
                                    const CUmemAllocationProp *properties,
                                    unsigned long long flags) {
  return withDriver([&]() -> CUresult {
    if (!handle || !properties || flags)
      return CUDA_ERROR_INVALID_VALUE;
    return createMemory(size, *properties, *handle);
  });
}

BLOCKSCALE_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return withDriver([&] { return releaseMemory(handle); });
}

BLOCKSCALE_API CUresult cuMemRetainAllocationHandle(
    CUmemGenericAllocationHandle *handle, void *pointer) {
  return withDriver([&]() -> CUresult {
    if (!handle)
      return CUDA_ERROR_INVALID_VALUE;
    return retainMemory(reinterpret_cast<uint64_t>(pointer), *handle);
  });
}

BLOCKSCALE_API CUresult cuMemGetAllocationPropertiesFromHandle(
    CUmemAllocationProp *properties, CUmemGenericAllocationHandle handle) {
  return withDriver([&]() -> CUresult {
    if (!properties)
      return CUDA_ERROR_INVALID_VALUE;
    return propertiesOf(handle, *properties);
  });
}

BLOCKSCALE_API CUresult cuMemExportToShareableHandle(
    void *handle, CUmemGenericAllocationHandle memory,
    CUmemAllocationHandleType type, unsigned long long flags) {
  return withDriver([&]() -> CUresult {
    if (!handle || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
      return CUDA_ERROR_INVALID_VALUE;
    return exportMemory(memory, *static_cast<int *>(handle));
  });
}

BLOCKSCALE_API CUresult
cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *memory,
                               void *handle, CUmemAllocationHandleType type) {
  return withDriver([&]() -> CUresult {
    if (!memory || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
      return CUDA_ERROR_INVALID_VALUE;
    return importMemory(int(reinterpret_cast<intptr_t>(handle)), *memory);
  });
}

BLOCKSCALE_API CUresult cuMemMap(CUdeviceptr pointer, size_t size,
                                 size_t offset,
                                 CUmemGenericAllocationHandle handle,
                                 unsigned long long flags) {
  // The offset has to be 0, as in the documentation.
  return withDriver([&]() -> CUresult {
    if (flags)
      return CUDA_ERROR_INVALID_VALUE;
    if (offset)
      return CUDA_ERROR_NOT_SUPPORTED;
    return mapMemory(pointer, size, handle);
  });
}

BLOCKSCALE_API CUresult cuMemUnmap(CUdeviceptr pointer, size_t size) {
  return withDriver([&] { return unmapMemory(pointer, size); });
}

BLOCKSCALE_API CUresult cuMemSetAccess(CUdeviceptr pointer, size_t size,
                                       const CUmemAccessDesc *accesses,
                                       size_t count) {
  return withDriver([&]() -> CUresult {
    if (!accesses || !count)
      return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i != count; ++i) {
      if (accesses[i].location.type == CU_MEM_LOCATION_TYPE_HOST)
        return CUDA_ERROR_NOT_SUPPORTED;
      if (!isHere(accesses[i].location))
        return CUDA_ERROR_INVALID_VALUE;
      if (CUresult result = setAccess(pointer, size, accesses[i].flags))
        return result;
    }
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuMemGetAccess(unsigned long long *flags,
                                       const CUmemLocation *location,
                                       CUdeviceptr pointer) {
  return withDriver([&]() -> CUresult {
    if (!flags || !location)
      return CUDA_ERROR_INVALID_VALUE;
    if (!isHere(*location))
      return CUDA_ERROR_INVALID_DEVICE;
    return accessOf(pointer, *flags);
  });
}

//===----------------------------------------------------------------------===//
// Other processes
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuIpcGetEventHandle(CUipcEventHandle *handle,
                                            CUevent event) {
  return withContext([&] {
    if (!isEvent(event))
      return CUDA_ERROR_INVALID_HANDLE;
    return handle ? noSharing() : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle) {
  return withContext(
      [&] { return event ? noSharing() : CUDA_ERROR_INVALID_VALUE; });
}

BLOCKSCALE_API CUresult cuIpcGetMemHandle(CUipcMemHandle *handle,
                                          CUdeviceptr pointer) {
  return withContext([&] {
    return handle && Core::get().memory.find(pointer)
               ? noSharing()
               : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuIpcOpenMemHandle(CUdeviceptr *pointer, CUipcMemHandle,
                                           unsigned) {
  return withContext(
      [&] { return pointer ? noSharing() : CUDA_ERROR_INVALID_VALUE; });
}

BLOCKSCALE_API CUresult cuIpcCloseMemHandle(CUdeviceptr) {
  // None was ever opened.
  return withContext([&] { return CUDA_ERROR_INVALID_VALUE; });
}
