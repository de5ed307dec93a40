//===- VirtualMemory.h - memory that the program maps itself ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses and memory apart: cuMemAddressReserve, cuMemCreate, cuMemMap,
// cuMemSetAccess. Neighbouring mappings are one piece of memory to a kernel,
// and memory that is mapped twice is the same at both places.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_VIRTUALMEMORY_H
#define BLOCKSCALE_LIB_CUDACORE_VIRTUALMEMORY_H

#include "Core.h"

namespace blockscale::cuda {

/// Sizes and addresses are multiples of it.
inline constexpr uint64_t kMappingGranularity = 2 << 20;

/// Reserves addresses. `alignment` is 0 or a power of two.
CUresult reserveAddresses(uint64_t size, uint64_t alignment, uint64_t &address);
/// Gives a whole reservation back, in which nothing is mapped.
CUresult freeAddresses(uint64_t address, uint64_t size);

/// Memory of the device; its handle counts its uses, and so do mappings.
CUresult createMemory(uint64_t size, const CUmemAllocationProp &properties,
                      CUmemGenericAllocationHandle &handle);
CUresult releaseMemory(CUmemGenericAllocationHandle handle);
/// One more use of the memory that is mapped at `address`.
CUresult retainMemory(uint64_t address, CUmemGenericAllocationHandle &handle);
CUresult propertiesOf(CUmemGenericAllocationHandle handle,
                      CUmemAllocationProp &properties);

/// A file that stands for the memory, for other processes; the program closes
/// it. Only of memory that was made for it.
CUresult exportMemory(CUmemGenericAllocationHandle handle, int &file);
/// The memory behind such a file.
CUresult importMemory(int file, CUmemGenericAllocationHandle &handle);

/// Maps the first `size` bytes of the memory; nobody has access yet.
CUresult mapMemory(uint64_t address, uint64_t size,
                   CUmemGenericAllocationHandle handle);
/// Takes away whole mappings.
CUresult unmapMemory(uint64_t address, uint64_t size);
CUresult setAccess(uint64_t address, uint64_t size, CUmemAccess_flags access);
CUresult accessOf(uint64_t address, unsigned long long &access);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_VIRTUALMEMORY_H
