//===- ApiMemory.cpp - memory and pools -----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "HostMemory.h"

#include <optional>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

CUresult allocateAt(MemoryKind kind, CUdeviceptr *pointer, size_t size,
                    unsigned flags = 0) {
  return withContext([&]() -> CUresult {
    if (!pointer)
      return CUDA_ERROR_INVALID_VALUE;
    uint64_t address = 0;
    cudaError_t error = spoilCaptures();
    if (error == cudaSuccess)
      error = allocate(kind, size, address, flags);
    *pointer = address;
    return toDriver(error);
  });
}

CUresult allocateAsync(CUmemPoolHandle_st *pool, CUdeviceptr *pointer,
                       size_t size, CUstream stream) {
  if (!pointer)
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t address = 0;
  cudaError_t error = allocateInOrder(pool, size, stream, address);
  *pointer = address;
  return toDriver(error);
}

/// What memory at a place is called; nothing for a place that there is not.
std::optional<MemoryKind> kindOf(const CUmemLocation *location,
                                 CUmemAllocationType type) {
  if (!location)
    return std::nullopt;
  if (type == CU_MEM_ALLOCATION_TYPE_MANAGED)
    return MemoryKind::Managed;
  if (type != CU_MEM_ALLOCATION_TYPE_PINNED)
    return std::nullopt;
  switch (location->type) {
  case CU_MEM_LOCATION_TYPE_DEVICE:
    return isDevice(location->id) ? std::optional(MemoryKind::Device)
                                  : std::nullopt;
  case CU_MEM_LOCATION_TYPE_HOST:
  case CU_MEM_LOCATION_TYPE_HOST_NUMA:
  case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
    return MemoryKind::Pinned;
  default:
    return std::nullopt;
  }
}

CUdeviceptr toAddress(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

/// For calls that have nothing to do for memory of ours.
CUresult isOurs(CUdeviceptr pointer) {
  return withContext([&] {
    return Core::get().memory.find(pointer) ? CUDA_SUCCESS
                                            : CUDA_ERROR_INVALID_VALUE;
  });
}

/// Error for access to a pool that its own device cannot be given: it can
/// neither lose it nor only read.
cudaError_t checkAccess(const CUmemAccessDesc &access) {
  if (access.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return cudaSuccess;
  if (!isDevice(access.location.id))
    return cudaErrorInvalidDevice;
  switch (access.flags) {
  case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
    return cudaSuccess;
  case CU_MEM_ACCESS_FLAGS_PROT_NONE:
    return cudaErrorInvalidDevice;
  case CU_MEM_ACCESS_FLAGS_PROT_READ:
    return cudaErrorNotSupported;
  default:
    return cudaErrorInvalidValue;
  }
}

CUresult withPool(CUmemoryPool pool, const std::function<cudaError_t()> &work) {
  return withDriver(
      [&] { return isPool(pool) ? work() : cudaErrorInvalidValue; });
}

} // namespace

BLOCKSCALE_API CUresult cuMemGetInfo(size_t *free, size_t *total) {
  return withContext([&] {
    if (!free || !total)
      return CUDA_ERROR_INVALID_VALUE;
    *total = Core::get().device.memoryBytes;
    *free = freeBytes();
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuMemAlloc(CUdeviceptr *pointer, size_t size) {
  return allocateAt(MemoryKind::Device, pointer, size);
}

BLOCKSCALE_API CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t size,
                                          unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
    return CUDA_ERROR_INVALID_VALUE;
  return allocateAt(MemoryKind::Managed, pointer, size, flags);
}

BLOCKSCALE_API CUresult cuMemAllocPitch(CUdeviceptr *pointer, size_t *pitch,
                                        size_t width, size_t height,
                                        unsigned elementSize) {
  bool good = elementSize == 4 || elementSize == 8 || elementSize == 16;
  if (!pitch || !good || !width || !height || width > SIZE_MAX / 2)
    return CUDA_ERROR_INVALID_VALUE;
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  if (*pitch > SIZE_MAX / height)
    return CUDA_ERROR_OUT_OF_MEMORY;
  return allocateAt(MemoryKind::Device, pointer, *pitch * height);
}

BLOCKSCALE_API CUresult cuMemFree(CUdeviceptr pointer) {
  // Null is nothing to free, and anything else not the program's, without a
  // context too.
  if (!pointer)
    return withDriver([] { return Core::get().sticky; });
  if (isInitialised() && !currentContext())
    return CUDA_ERROR_INVALID_VALUE;
  return withContext([&] {
    if (cudaError_t error = spoilCaptures(); error != cudaSuccess)
      return error;
    return release(pointer, MemoryKind::Device, MemoryKind::Managed);
  });
}

BLOCKSCALE_API CUresult cuMemHostAlloc(void **pointer, size_t size,
                                       unsigned flags) {
  if (!arePinnedFlags(flags))
    return CUDA_ERROR_INVALID_VALUE;
  if (!size)
    return withContext([&] { return give<void *>(pointer, nullptr); });
  return allocateAt(MemoryKind::Pinned,
                    reinterpret_cast<CUdeviceptr *>(pointer), size, flags);
}

BLOCKSCALE_API CUresult cuMemAllocHost(void **pointer, size_t size) {
  return cuMemHostAlloc(pointer, size, 0);
}

BLOCKSCALE_API CUresult cuMemFreeHost(void *pointer) {
  return withContext([&] {
    return release(toAddress(pointer), MemoryKind::Pinned, MemoryKind::Pinned);
  });
}

BLOCKSCALE_API CUresult cuMemHostRegister(void *pointer, size_t size,
                                          unsigned flags) {
  return withContext([&] { return registerHost(pointer, size, flags); });
}

BLOCKSCALE_API CUresult cuMemHostUnregister(void *pointer) {
  return withContext([&] { return unregisterHost(pointer); });
}

BLOCKSCALE_API CUresult cuMemHostGetDevicePointer(CUdeviceptr *pointer,
                                                  void *host, unsigned flags) {
  return withContext([&] {
    uint64_t address = 0;
    cudaError_t error = deviceAddress(host, flags, address);
    return error == cudaSuccess ? give(pointer, CUdeviceptr(address))
                                : toDriver(error);
  });
}

BLOCKSCALE_API CUresult cuMemHostGetFlags(unsigned *flags, void *host) {
  return withContext(
      [&] { return flags ? hostFlags(host, *flags) : cudaErrorInvalidValue; });
}

BLOCKSCALE_API CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *size,
                                             CUdeviceptr pointer) {
  return withContext([&] {
    const Allocation *one = Core::get().memory.find(pointer);
    if (!one)
      return CUDA_ERROR_NOT_FOUND;
    if (base)
      *base = one->address;
    if (size)
      *size = one->size;
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuPointerGetAttribute(void *value,
                                              CUpointer_attribute attribute,
                                              CUdeviceptr pointer) {
  return withDriver(
      [&] { return pointerAttribute(value, attribute, pointer); });
}

BLOCKSCALE_API CUresult cuPointerGetAttributes(unsigned count,
                                               CUpointer_attribute *attributes,
                                               void **values,
                                               CUdeviceptr pointer) {
  return withDriver([&] {
    if (!attributes || !values || !count)
      return CUDA_ERROR_INVALID_VALUE;
    // What a pointer does not have is left at zero, and no error.
    bool known = Core::get().memory.find(pointer);
    for (unsigned i = 0; i != count; ++i) {
      if (known &&
          pointerAttribute(values[i], attributes[i], pointer) == CUDA_SUCCESS)
        continue;
      switch (attributes[i]) {
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int *>(values[i]) = -2;
        break;
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      case CU_POINTER_ATTRIBUTE_MAPPED:
        *static_cast<unsigned *>(values[i]) = 0;
        break;
      case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *static_cast<CUdeviceptr *>(values[i]) = known ? 0 : pointer;
        break;
      case CU_POINTER_ATTRIBUTE_CONTEXT:
      case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *static_cast<uint64_t *>(values[i]) = 0;
        break;
      default:
        return attributes[i] > 0 && attributes[i] <= kLastPointerAttribute
                   ? CUDA_ERROR_NOT_SUPPORTED
                   : CUDA_ERROR_INVALID_VALUE;
      }
    }
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuPointerSetAttribute(const void *,
                                              CUpointer_attribute attribute,
                                              CUdeviceptr pointer) {
  return attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
             ? isOurs(pointer)
             : CUDA_ERROR_INVALID_VALUE;
}

BLOCKSCALE_API CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t size,
                                              CUmemLocation location,
                                              unsigned flags, CUstream stream) {
  return withContext(
      [&] { return prefetch(pointer, size, location, flags, stream); });
}

namespace {

CUresult areManaged(const CUdeviceptr *pointers, const size_t *sizes,
                    size_t count, unsigned long long flags, CUstream stream) {
  return withContext([&] {
    if (!isStream(stream))
      return CUDA_ERROR_INVALID_HANDLE;
    if (!pointers || !sizes || !count || flags)
      return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i != count; ++i)
      if (!isManaged(pointers[i], sizes[i]))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
  });
}

} // namespace

BLOCKSCALE_API CUresult cuMemPrefetchBatchAsync(
    CUdeviceptr *pointers, size_t *sizes, size_t count, CUmemLocation *,
    size_t *, size_t, unsigned long long flags, CUstream stream) {
  return areManaged(pointers, sizes, count, flags, stream);
}

// What is discarded may stay as it is.

BLOCKSCALE_API CUresult cuMemDiscardBatchAsync(CUdeviceptr *pointers,
                                               size_t *sizes, size_t count,
                                               unsigned long long flags,
                                               CUstream stream) {
  return areManaged(pointers, sizes, count, flags, stream);
}

BLOCKSCALE_API CUresult cuMemDiscardAndPrefetchBatchAsync(
    CUdeviceptr *pointers, size_t *sizes, size_t count, CUmemLocation *,
    size_t *, size_t, unsigned long long flags, CUstream stream) {
  return areManaged(pointers, sizes, count, flags, stream);
}

BLOCKSCALE_API CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t size,
                                       CUmem_advise advice,
                                       CUmemLocation location) {
  return withContext([&] { return advise(pointer, size, advice, location); });
}

BLOCKSCALE_API CUresult cuStreamAttachMemAsync(CUstream stream,
                                               CUdeviceptr pointer, size_t size,
                                               unsigned flags) {
  return withContext([&] { return attach(stream, pointer, size, flags); });
}

//===----------------------------------------------------------------------===//
// In the order of a stream
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t size,
                                        CUstream stream) {
  return withContext(
      [&] { return allocateAsync(currentPool(), pointer, size, stream); });
}

BLOCKSCALE_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer,
                                                size_t size, CUmemoryPool pool,
                                                CUstream stream) {
  return withContext(
      [&] { return allocateAsync(pool, pointer, size, stream); });
}

BLOCKSCALE_API CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  return withContext([&] {
    if (cudaError_t error = checkStream(stream); error != cudaSuccess)
      return error;
    // Every launch of a graph has its memory at the same place.
    if (captureOf(stream))
      return keep(stream, CU_GRAPH_NODE_TYPE_MEM_FREE, FreeWork{pointer});
    return pointer ? releaseAny(pointer) : cudaSuccess;
  });
}

BLOCKSCALE_API CUresult cuMemPoolCreate(CUmemoryPool *pool,
                                        const CUmemPoolProps *properties) {
  return withDriver([&] {
    if (!pool || !properties)
      return CUDA_ERROR_INVALID_VALUE;
    if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
      return CUDA_ERROR_NOT_SUPPORTED;
    auto kind = kindOf(&properties->location, properties->allocType);
    return kind ? give(pool, createPool(*kind)) : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool,
                                               CUmemLocation *location,
                                               CUmemAllocationType type) {
  return withDriver([&] {
    auto kind = kindOf(location, type);
    return kind ? give(pool, defaultPool(*kind)) : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuMemGetMemPool(CUmemoryPool *pool,
                                        CUmemLocation *location,
                                        CUmemAllocationType type) {
  return withDriver([&] {
    auto kind = kindOf(location, type);
    return kind ? give(pool, currentPool(*kind)) : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuMemSetMemPool(CUmemLocation *location,
                                        CUmemAllocationType type,
                                        CUmemoryPool pool) {
  return withDriver([&] {
    auto kind = kindOf(location, type);
    if (!kind || !isPool(pool) || pool->kind != *kind)
      return CUDA_ERROR_INVALID_VALUE;
    currentPool(*kind) = pool;
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return withDriver([&] { return destroyPool(pool); });
}

BLOCKSCALE_API CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t) {
  return withPool(pool, [] { return cudaSuccess; });
}

BLOCKSCALE_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool,
                                              CUmemPool_attribute attribute,
                                              void *value) {
  return withPool(pool,
                  [&] { return setPoolAttribute(pool, attribute, value); });
}

BLOCKSCALE_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool,
                                              CUmemPool_attribute attribute,
                                              void *value) {
  return withPool(pool,
                  [&] { return getPoolAttribute(pool, attribute, value); });
}

BLOCKSCALE_API CUresult cuMemPoolSetAccess(CUmemoryPool pool,
                                           const CUmemAccessDesc *map,
                                           size_t count) {
  return withPool(pool, [&] {
    for (size_t i = 0; map && i != count; ++i)
      if (cudaError_t error = checkAccess(map[i]); error != cudaSuccess)
        return error;
    return map || !count ? cudaSuccess : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags,
                                           CUmemoryPool pool,
                                           CUmemLocation *location) {
  return withPool(pool, [&] {
    if (!flags || !location)
      return cudaErrorInvalidValue;
    bool here = location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (here && !isDevice(location->id))
      return cudaErrorInvalidValue;
    *flags = here ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                  : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return cudaSuccess;
  });
}
