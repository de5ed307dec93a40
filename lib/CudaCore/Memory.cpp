//===- Memory.cpp - allocations and pools ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include "Contexts.h"
#include "Streams.h"

#include <algorithm>
#include <optional>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

std::unordered_set<const CUmemPoolHandle_st *> &pools() {
  static auto *all = new std::unordered_set<const CUmemPoolHandle_st *>;
  return *all;
}

/// Whether the attribute is an int: one of the three kinds of reuse.
bool isInt(int attribute) {
  return attribute == CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
         attribute == CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC ||
         attribute == CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

bool isHighWaterMark(int attribute) {
  return attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH ||
         attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH;
}

template <typename T> CUresult answer(void *value, T what) {
  *static_cast<T *>(value) = what;
  return CUDA_SUCCESS;
}

/// Of memory that is ours.
CUresult attributeOf(void *value, CUpointer_attribute attribute,
                     uint64_t address, const Allocation &one) {
  bool device = one.kind == MemoryKind::Device;
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    return answer(value, one.context ? one.context : primaryContext());
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return answer(value, unsigned(device || one.kind == MemoryKind::Managed
                                      ? CU_MEMORYTYPE_DEVICE
                                      : CU_MEMORYTYPE_HOST));
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    return answer(value, CUdeviceptr(address));
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    if (device)
      return CUDA_ERROR_INVALID_VALUE;
    return answer(value, reinterpret_cast<void *>(address));
  case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    return answer(value, static_cast<unsigned long long>(one.id));
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    return answer(value, unsigned(one.kind == MemoryKind::Managed));
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return answer(value, 0);
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    return answer(value, CUdeviceptr(one.address));
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    return answer(value, size_t(one.size));
  case CU_POINTER_ATTRIBUTE_MAPPED:
    return answer(value, 1);
  case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    return answer(value, one.pool);
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    return answer(value, unsigned(device || one.kind == MemoryKind::Managed));
  case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
  case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    return answer(value, 0);
  case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    return answer(value, 0ull);
  case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    return answer(value, one.writable
                             ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
                             : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ);
  default:
    return attribute > 0 && attribute <= kLastPointerAttribute
               ? CUDA_ERROR_NOT_SUPPORTED
               : CUDA_ERROR_INVALID_VALUE;
  }
}

bool isPoolAttribute(int attribute) {
  return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
         attribute <= CU_MEMPOOL_ATTR_USED_MEM_HIGH;
}

} // namespace

cudaError_t cuda::allocate(MemoryKind kind, uint64_t size, uint64_t &address,
                           unsigned flags) {
  Core &core = Core::get();
  if (core.sticky != cudaSuccess)
    return core.sticky;
  if (!size)
    return cudaErrorInvalidValue;
  if (kind != MemoryKind::Pinned && size > freeBytes())
    return cudaErrorMemoryAllocation;
  Allocation *one = core.memory.allocate(kind, size, flags);
  if (!one)
    return cudaErrorMemoryAllocation;
  one->context = currentOwner();
  address = one->address;
  return cudaSuccess;
}

cudaError_t cuda::allocateFrom(CUmemPoolHandle_st *pool, uint64_t size,
                               uint64_t &address) {
  if (!isPool(pool))
    return cudaErrorInvalidValue;
  if (cudaError_t error = allocate(pool->kind, size, address);
      error != cudaSuccess)
    return error;
  Core::get().memory.setPool(address, pool);
  pool->highest = std::max(pool->highest, pool->used += size);
  return cudaSuccess;
}

cudaError_t cuda::allocateInOrder(CUmemPoolHandle_st *pool, uint64_t size,
                                  CUstream_st *stream, uint64_t &address) {
  address = 0;
  if (cudaError_t error = checkStream(stream); error != cudaSuccess)
    return error;
  if (!size)
    return isPool(pool) ? cudaSuccess : cudaErrorInvalidValue;
  if (!captureOf(stream))
    return allocateFrom(pool, size, address);
  AllocWork work{};
  work.parameters.bytesize = size;
  work.parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  work.parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  if (cudaError_t error = allocateFor(work); error != cudaSuccess)
    return error;
  address = work.parameters.dptr;
  return keep(stream, CU_GRAPH_NODE_TYPE_MEM_ALLOC, work);
}

cudaError_t cuda::releaseAny(uint64_t address) {
  const Allocation *one = Core::get().memory.find(address);
  if (one && one->pool)
    return release(address, one->kind, one->kind);
  return release(address, MemoryKind::Device, MemoryKind::Managed);
}

cudaError_t cuda::release(uint64_t address, MemoryKind first,
                          MemoryKind second) {
  Core &core = Core::get();
  if (first == MemoryKind::Device)
    if (std::optional<cudaError_t> error = releaseGraphMemory(address))
      return *error;
  const Allocation *one = core.memory.find(address);
  if (!one || one->address != address || one->isMapped ||
      (one->kind != first && one->kind != second))
    return cudaErrorInvalidValue;
  core.memory.release(address);
  return core.sticky;
}

const Allocation *cuda::findAllocation(const void *pointer) {
  return Core::get().memory.find(reinterpret_cast<uint64_t>(pointer));
}

uint64_t cuda::freeBytes() {
  Core &core = Core::get();
  return core.device.memoryBytes - core.memory.deviceBytes();
}

CUmemPoolHandle_st *cuda::defaultPool(MemoryKind kind) {
  static auto *all = new std::map<MemoryKind, CUmemPoolHandle_st *>;
  CUmemPoolHandle_st *&one = (*all)[kind];
  if (!one)
    one = createPool(kind);
  return one;
}

CUmemPoolHandle_st *cuda::createPool(MemoryKind kind) {
  auto *pool = new CUmemPoolHandle_st;
  pool->kind = kind;
  pools().insert(pool);
  return pool;
}

cudaError_t cuda::destroyPool(CUmemPoolHandle_st *pool) {
  if (!isPool(pool) || pool == defaultPool(pool->kind))
    return cudaErrorInvalidValue;
  pools().erase(pool);
  if (currentPool(pool->kind) == pool)
    currentPool(pool->kind) = defaultPool(pool->kind);
  giveBack(pool, 0);
  return cudaSuccess;
}

void cuda::giveBack(CUmemPoolHandle_st *pool, uint64_t bytes) {
  pool->used -= bytes;
  // Memory of a pool may outlive it and still names it.
  if (!isPool(pool) && pool->used == 0)
    delete pool;
}

bool cuda::isPool(const CUmemPoolHandle_st *pool) {
  return pools().count(pool);
}

CUmemPoolHandle_st *&cuda::currentPool(MemoryKind kind) {
  static auto *all = new std::map<MemoryKind, CUmemPoolHandle_st *>;
  CUmemPoolHandle_st *&one = (*all)[kind];
  if (!one)
    one = defaultPool(kind);
  return one;
}

cudaError_t cuda::setPoolAttribute(CUmemPoolHandle_st *pool, int attribute,
                                   const void *value) {
  if (!isPool(pool) || !value)
    return cudaErrorInvalidValue;
  uint64_t wide = isInt(attribute) ? uint64_t(*static_cast<const int *>(value))
                                   : *static_cast<const uint64_t *>(value);
  // A high-water mark can be set back to 0.
  if (isHighWaterMark(attribute) && wide == 0) {
    pool->highest = pool->used;
    return cudaSuccess;
  }
  if (!isInt(attribute) && attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
    return cudaErrorInvalidValue;
  pool->attributes[attribute] = wide;
  return cudaSuccess;
}

cudaError_t cuda::getPoolAttribute(const CUmemPoolHandle_st *pool,
                                   int attribute, void *value) {
  if (!isPool(pool) || !value || !isPoolAttribute(attribute))
    return cudaErrorInvalidValue;
  // Reuse of all kinds is on unless it was switched off.
  auto it = pool->attributes.find(attribute);
  uint64_t now = it == pool->attributes.end() ? isInt(attribute) : it->second;
  // Nothing is reserved beyond what is in use.
  if (attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT ||
      attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
    now = pool->used;
  else if (isHighWaterMark(attribute))
    now = pool->highest;
  if (isInt(attribute))
    *static_cast<int *>(value) = int(now);
  else
    *static_cast<uint64_t *>(value) = now;
  return cudaSuccess;
}

CUresult cuda::pointerAttribute(void *value, CUpointer_attribute attribute,
                                uint64_t address) {
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  const Allocation *one = Core::get().memory.find(address);
  return one ? attributeOf(value, attribute, address, *one)
             : CUDA_ERROR_INVALID_VALUE;
}
