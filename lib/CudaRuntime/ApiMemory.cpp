//===- ApiMemory.cpp - allocations and what is known of a pointer ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostMemory.h"
#include "Runtime.h"

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// Nothing is allocated for a size of 0.
cudaError_t allocateAt(MemoryKind kind, void **pointer, size_t size,
                       unsigned flags = 0) {
  return call([&] {
    if (Core::get().sticky != cudaSuccess)
      return Core::get().sticky;
    if (!pointer)
      return cudaErrorInvalidValue;
    *pointer = nullptr;
    uint64_t address = 0;
    if (!size)
      return cudaSuccess;
    if (cudaError_t error = spoilCaptures(); error != cudaSuccess)
      return error;
    cudaError_t error = allocate(kind, size, address, flags);
    *pointer = reinterpret_cast<void *>(address);
    return error;
  });
}

cudaError_t releaseAt(void *pointer, MemoryKind first, MemoryKind second) {
  if (!pointer)
    return Core::get().sticky;
  if (cudaError_t error = spoilCaptures(); error != cudaSuccess)
    return error;
  return release(reinterpret_cast<uint64_t>(pointer), first, second);
}

uint64_t toAddress(const void *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

CUmemLocation toDriver(cudaMemLocation location) {
  CUmemLocation result{};
  result.type = CUmemLocationType(location.type);
  result.id = location.id;
  return result;
}

} // namespace

BLOCKSCALE_API cudaError_t cudaMalloc(void **pointer, size_t size) {
  return allocateAt(MemoryKind::Device, pointer, size);
}

BLOCKSCALE_API cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t size,
                                                   cudaMemPool_t pool,
                                                   cudaStream_t stream) {
  return call([&] {
    uint64_t address = 0;
    if (!pointer)
      return cudaErrorInvalidValue;
    cudaError_t error = allocateInOrder(pool, size, stream, address);
    *pointer = reinterpret_cast<void *>(address);
    return error;
  });
}

BLOCKSCALE_API cudaError_t cudaMallocAsync(void **pointer, size_t size,
                                           cudaStream_t stream) {
  auto guard = locked();
  return cudaMallocFromPoolAsync(pointer, size, currentPool(), stream);
}

BLOCKSCALE_API cudaError_t cudaMallocManaged(void **pointer, size_t size,
                                             unsigned flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
    return note(cudaErrorInvalidValue);
  return allocateAt(MemoryKind::Managed, pointer, size, flags);
}

BLOCKSCALE_API cudaError_t cudaMallocHost(void **pointer, size_t size) {
  return allocateAt(MemoryKind::Pinned, pointer, size);
}

BLOCKSCALE_API cudaError_t cudaHostAlloc(void **pointer, size_t size,
                                         unsigned flags) {
  if (!arePinnedFlags(flags))
    return note(cudaErrorInvalidValue);
  return allocateAt(MemoryKind::Pinned, pointer, size, flags);
}

BLOCKSCALE_API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch,
                                           size_t width, size_t height) {
  if (!pitch || width > SIZE_MAX / 2)
    return note(cudaErrorInvalidValue);
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  if (height && *pitch > SIZE_MAX / height)
    return note(cudaErrorMemoryAllocation);
  return allocateAt(MemoryKind::Device, pointer, *pitch * height);
}

BLOCKSCALE_API cudaError_t cudaFree(void *pointer) {
  return call([&] {
    return releaseAt(pointer, MemoryKind::Device, MemoryKind::Managed);
  });
}

BLOCKSCALE_API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
  return call([&] {
    // Every launch of a graph has its memory at the same place.
    if (captureOf(stream))
      return cudaSuccess;
    return pointer ? releaseAny(reinterpret_cast<uint64_t>(pointer))
                   : Core::get().sticky;
  });
}

BLOCKSCALE_API cudaError_t cudaFreeHost(void *pointer) {
  return call([&] {
    return releaseAt(pointer, MemoryKind::Pinned, MemoryKind::Pinned);
  });
}

BLOCKSCALE_API cudaError_t cudaHostRegister(void *pointer, size_t size,
                                            unsigned flags) {
  return call([&] { return registerHost(pointer, size, flags); });
}

BLOCKSCALE_API cudaError_t cudaHostUnregister(void *pointer) {
  return call([&] { return unregisterHost(pointer); });
}

BLOCKSCALE_API cudaError_t cudaHostGetDevicePointer(void **pointer, void *host,
                                                    unsigned flags) {
  return call([&] {
    uint64_t address = 0;
    cudaError_t error =
        pointer ? deviceAddress(host, flags, address) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
      *pointer = host;
    return error;
  });
}

BLOCKSCALE_API cudaError_t cudaHostGetFlags(unsigned *flags, void *host) {
  return call(
      [&] { return flags ? hostFlags(host, *flags) : cudaErrorInvalidValue; });
}

BLOCKSCALE_API cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  return call([&] {
    if (!free || !total)
      return cudaErrorInvalidValue;
    *total = Core::get().device.memoryBytes;
    *free = freeBytes();
    return Core::get().sticky;
  });
}

BLOCKSCALE_API cudaError_t cudaPointerGetAttributes(
    cudaPointerAttributes *attributes, const void *pointer) {
  return call([&] {
    if (!attributes)
      return cudaErrorInvalidValue;
    *attributes = {};
    const Allocation *one = findAllocation(pointer);
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = one ? 0 : cudaInvalidDeviceId;
    attributes->hostPointer = const_cast<void *>(pointer);
    if (!one)
      return cudaSuccess;
    attributes->devicePointer = const_cast<void *>(pointer);
    switch (one->kind) {
    case MemoryKind::Device:
      attributes->type = cudaMemoryTypeDevice;
      attributes->hostPointer = nullptr;
      break;
    case MemoryKind::Managed:
      attributes->type = cudaMemoryTypeManaged;
      break;
    case MemoryKind::Pinned:
    case MemoryKind::Registered:
      attributes->type = cudaMemoryTypeHost;
      break;
    }
    return cudaSuccess;
  });
}

BLOCKSCALE_API cudaError_t cudaMemPrefetchAsync(const void *pointer,
                                                size_t size,
                                                cudaMemLocation location,
                                                unsigned flags,
                                                cudaStream_t stream) {
  return call([&] {
    return prefetch(toAddress(pointer), size, toDriver(location), flags,
                    stream);
  });
}

BLOCKSCALE_API cudaError_t cudaMemAdvise(const void *pointer, size_t size,
                                         cudaMemoryAdvise advice,
                                         cudaMemLocation location) {
  return call([&] {
    return advise(toAddress(pointer), size, CUmem_advise(advice),
                  toDriver(location));
  });
}

BLOCKSCALE_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream,
                                                    void *pointer, size_t size,
                                                    unsigned flags) {
  return call([&] { return attach(stream, toAddress(pointer), size, flags); });
}
