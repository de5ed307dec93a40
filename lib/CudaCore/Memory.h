//===- Memory.h - allocations and pools -------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory comes straight from the device, so that a pool has nothing but its
// attributes and counters.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_MEMORY_H
#define BLOCKSCALE_LIB_CUDACORE_MEMORY_H

#include "Core.h"

#include <map>

struct CUmemPoolHandle_st {
  /// Of its memory: Device, Pinned or Managed.
  blockscale::cuda::MemoryKind kind = blockscale::cuda::MemoryKind::Device;
  /// 64 bits, or an int in them.
  std::map<int, uint64_t> attributes;
  uint64_t used = 0, highest = 0;
};

namespace blockscale::cuda {

/// Row alignment of pitched memory.
inline constexpr size_t kPitch = 512;

/// Of CUDA 13.
inline constexpr int kLastPointerAttribute =
    CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE;

/// Memory of the current context. A size of 0 is not legal.
cudaError_t allocate(MemoryKind kind, uint64_t size, uint64_t &address,
                     unsigned flags = 0);
/// Frees an allocation whose kind is one of two and that starts at `address`.
cudaError_t release(uint64_t address, MemoryKind first, MemoryKind second);
const Allocation *findAllocation(const void *pointer);
/// Bytes that are left on the device.
uint64_t freeBytes();

/// The device's pool for memory of that kind.
CUmemPoolHandle_st *defaultPool(MemoryKind kind = MemoryKind::Device);
/// The default one unless another was set.
CUmemPoolHandle_st *&currentPool(MemoryKind kind = MemoryKind::Device);
CUmemPoolHandle_st *createPool(MemoryKind kind = MemoryKind::Device);
cudaError_t destroyPool(CUmemPoolHandle_st *pool);
/// Tells a pool that some of its memory is free again. One that was destroyed
/// ends with the last of it.
void giveBack(CUmemPoolHandle_st *pool, uint64_t bytes);
bool isPool(const CUmemPoolHandle_st *pool);
/// Memory of the pool, in its kind.
cudaError_t allocateFrom(CUmemPoolHandle_st *pool, uint64_t size,
                         uint64_t &address);
/// The same in the order of a stream; nothing for a size of 0. A capture gets a
/// node for it.
cudaError_t allocateInOrder(CUmemPoolHandle_st *pool, uint64_t size,
                            CUstream_st *stream, uint64_t &address);
/// What a pool gave, of any kind, or memory of the device without one.
cudaError_t releaseAny(uint64_t address);
/// An int behind `value` for the three kinds of reuse, 64 bits for the others.
cudaError_t setPoolAttribute(CUmemPoolHandle_st *pool, int attribute,
                             const void *value);
cudaError_t getPoolAttribute(const CUmemPoolHandle_st *pool, int attribute,
                             void *value);

/// An attribute of a pointer, in the driver's terms.
CUresult pointerAttribute(void *value, CUpointer_attribute attribute,
                          uint64_t address);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_MEMORY_H
