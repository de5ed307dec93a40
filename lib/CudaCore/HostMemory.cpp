//===- HostMemory.cpp - memory of the host that the device sees -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostMemory.h"

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// Memory that the host may access too; null if that is none.
const Allocation *findMapped(const void *host) {
  const Allocation *one = findAllocation(host);
  return one && one->kind != MemoryKind::Device ? one : nullptr;
}

/// Error for a place where memory cannot be.
cudaError_t checkPlace(CUmemLocation location, cudaError_t otherDevice) {
  switch (location.type) {
  case CU_MEM_LOCATION_TYPE_DEVICE:
    return location.id == 0 ? cudaSuccess : otherDevice;
  case CU_MEM_LOCATION_TYPE_HOST:
  case CU_MEM_LOCATION_TYPE_HOST_NUMA:
  case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
    return cudaSuccess;
  default:
    return cudaErrorInvalidValue;
  }
}

/// Whether the advice is about a place.
bool namesPlace(CUmem_advise advice) {
  return advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
         advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
         advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

} // namespace

bool cuda::arePinnedFlags(unsigned flags) {
  constexpr unsigned kKnown = CU_MEMHOSTALLOC_PORTABLE |
                              CU_MEMHOSTALLOC_DEVICEMAP |
                              CU_MEMHOSTALLOC_WRITECOMBINED;
  return !(flags & ~kKnown);
}

cudaError_t cuda::registerHost(void *pointer, size_t size, unsigned flags) {
  constexpr unsigned kKnown =
      CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
      CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
  AddressSpace &memory = Core::get().memory;
  if (!pointer || !size || flags & ~kKnown ||
      memory.isReserved(reinterpret_cast<uint64_t>(pointer)))
    return cudaErrorInvalidValue;
  return memory.adopt(pointer, size, flags)
             ? cudaSuccess
             : cudaErrorHostMemoryAlreadyRegistered;
}

cudaError_t cuda::unregisterHost(void *pointer) {
  if (!findAllocation(pointer))
    return cudaErrorHostMemoryNotRegistered;
  return release(reinterpret_cast<uint64_t>(pointer), MemoryKind::Registered,
                 MemoryKind::Registered);
}

cudaError_t cuda::deviceAddress(const void *host, unsigned flags,
                                uint64_t &address) {
  if (flags || !findMapped(host))
    return cudaErrorInvalidValue;
  address = reinterpret_cast<uint64_t>(host);
  return cudaSuccess;
}

cudaError_t cuda::hostFlags(const void *host, unsigned &flags) {
  const Allocation *one = findMapped(host);
  if (!one)
    return cudaErrorInvalidValue;
  flags = one->flags | CU_MEMHOSTALLOC_DEVICEMAP;
  return cudaSuccess;
}

bool cuda::isManaged(uint64_t address, size_t size) {
  const Allocation *one = Core::get().memory.find(address);
  return one && one->kind == MemoryKind::Managed && size &&
         size <= one->size - (address - one->address);
}

cudaError_t cuda::prefetch(uint64_t address, size_t size,
                           CUmemLocation location, unsigned flags,
                           const CUstream_st *stream) {
  if (!isStream(stream))
    return cudaErrorInvalidResourceHandle;
  if (flags || !isManaged(address, size))
    return cudaErrorInvalidValue;
  return checkPlace(location, cudaErrorInvalidDevice);
}

cudaError_t cuda::advise(uint64_t address, size_t size, CUmem_advise advice,
                         CUmemLocation location) {
  if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY ||
      advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY || !isManaged(address, size))
    return cudaErrorInvalidValue;
  return namesPlace(advice) ? checkPlace(location, cudaErrorInvalidValue)
                            : cudaSuccess;
}

cudaError_t cuda::attach(const CUstream_st *stream, uint64_t address,
                         size_t size, unsigned flags) {
  if (!isStream(stream))
    return cudaErrorInvalidResourceHandle;
  const Allocation *one = Core::get().memory.find(address);
  bool isWhole = one && one->kind == MemoryKind::Managed &&
                 one->address == address && (!size || size == one->size);
  bool isOne = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST ||
               flags == CU_MEM_ATTACH_SINGLE;
  // A stream of the program's own can have memory for itself.
  bool isOwn = stream && stream != CU_STREAM_LEGACY;
  return isWhole && isOne && (flags != CU_MEM_ATTACH_SINGLE || isOwn)
             ? cudaSuccess
             : cudaErrorInvalidValue;
}
