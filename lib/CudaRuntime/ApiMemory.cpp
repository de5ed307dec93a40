//===- ApiMemory.cpp - allocations and what is known of a pointer ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graphs.h"

#include <climits>

using namespace blockscale::cudart;

namespace {

/// Row alignment of cudaMallocPitch.
constexpr size_t kPitch = 512;

cudaError_t allocate(MemoryKind kind, void **pointer, size_t size,
                     unsigned flags = 0) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  if (runtime.sticky != cudaSuccess)
    return note(runtime.sticky);
  if (!pointer)
    return note(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (!size)
    return cudaSuccess;
  uint64_t left = runtime.device.memoryBytes - runtime.memory.deviceBytes();
  if (kind != MemoryKind::Pinned && size > left)
    return note(cudaErrorMemoryAllocation);
  const Allocation *one = runtime.memory.allocate(kind, size, flags);
  if (!one)
    return note(cudaErrorMemoryAllocation);
  *pointer = reinterpret_cast<void *>(one->address);
  return cudaSuccess;
}

/// Frees an allocation whose kind is one of two.
cudaError_t release(void *pointer, MemoryKind first, MemoryKind second) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  if (!pointer)
    return note(runtime.sticky);
  auto address = reinterpret_cast<uint64_t>(pointer);
  const Allocation *one = runtime.memory.find(address);
  if (!one || one->address != address ||
      (one->kind != first && one->kind != second))
    return note(cudaErrorInvalidValue);
  runtime.memory.release(address);
  return note(runtime.sticky);
}

const Allocation *find(const void *pointer) {
  return Runtime::get().memory.find(reinterpret_cast<uint64_t>(pointer));
}

} // namespace

BLOCKSCALE_API cudaError_t cudaMalloc(void **pointer, size_t size) {
  return allocate(MemoryKind::Device, pointer, size);
}

BLOCKSCALE_API cudaError_t cudaMallocAsync(void **pointer, size_t size,
                                           cudaStream_t) {
  return allocate(MemoryKind::Device, pointer, size);
}

BLOCKSCALE_API cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t size,
                                                   cudaMemPool_t,
                                                   cudaStream_t) {
  return allocate(MemoryKind::Device, pointer, size);
}

BLOCKSCALE_API cudaError_t cudaMallocManaged(void **pointer, size_t size,
                                             unsigned flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
    return note(cudaErrorInvalidValue);
  return allocate(MemoryKind::Managed, pointer, size, flags);
}

BLOCKSCALE_API cudaError_t cudaMallocHost(void **pointer, size_t size) {
  return allocate(MemoryKind::Pinned, pointer, size);
}

BLOCKSCALE_API cudaError_t cudaHostAlloc(void **pointer, size_t size,
                                         unsigned flags) {
  return allocate(MemoryKind::Pinned, pointer, size, flags);
}

BLOCKSCALE_API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch,
                                           size_t width, size_t height) {
  if (!pitch || width > SIZE_MAX / 2)
    return note(cudaErrorInvalidValue);
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  if (height && *pitch > SIZE_MAX / height)
    return note(cudaErrorMemoryAllocation);
  return allocate(MemoryKind::Device, pointer, *pitch * height);
}

BLOCKSCALE_API cudaError_t cudaFree(void *pointer) {
  return release(pointer, MemoryKind::Device, MemoryKind::Managed);
}

BLOCKSCALE_API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  // Every launch of a graph has its memory at the same place.
  return graphOf(stream) ? cudaSuccess : cudaFree(pointer);
}

BLOCKSCALE_API cudaError_t cudaFreeHost(void *pointer) {
  return release(pointer, MemoryKind::Pinned, MemoryKind::Pinned);
}

BLOCKSCALE_API cudaError_t cudaHostRegister(void *pointer, size_t size,
                                            unsigned flags) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  if (!pointer || !size)
    return note(cudaErrorInvalidValue);
  return note(runtime.memory.adopt(pointer, size, flags)
                  ? cudaSuccess
                  : cudaErrorHostMemoryAlreadyRegistered);
}

BLOCKSCALE_API cudaError_t cudaHostUnregister(void *pointer) {
  cudaError_t error =
      release(pointer, MemoryKind::Registered, MemoryKind::Registered);
  return error == cudaErrorInvalidValue ? note(cudaErrorHostMemoryNotRegistered)
                                        : error;
}

BLOCKSCALE_API cudaError_t cudaHostGetDevicePointer(void **pointer, void *host,
                                                    unsigned) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  const Allocation *one = find(host);
  if (!pointer || !one || one->kind == MemoryKind::Device)
    return note(cudaErrorInvalidValue);
  *pointer = host;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaHostGetFlags(unsigned *flags, void *host) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  const Allocation *one = find(host);
  if (!flags || !one || one->kind == MemoryKind::Device)
    return note(cudaErrorInvalidValue);
  *flags = one->flags;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  if (!free || !total)
    return note(cudaErrorInvalidValue);
  *total = runtime.device.memoryBytes;
  *free = *total - runtime.memory.deviceBytes();
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaPointerGetAttributes(
    cudaPointerAttributes *attributes, const void *pointer) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  if (!attributes)
    return note(cudaErrorInvalidValue);
  *attributes = {};
  const Allocation *one = find(pointer);
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
}

// Managed memory is in one place, so there is nothing to move.

BLOCKSCALE_API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t,
                                                cudaMemLocation, unsigned,
                                                cudaStream_t) {
  return note(find(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}

BLOCKSCALE_API cudaError_t cudaMemAdvise(const void *pointer, size_t,
                                         cudaMemoryAdvise, cudaMemLocation) {
  return note(find(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}

BLOCKSCALE_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *pointer,
                                                    size_t, unsigned) {
  return note(find(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}
