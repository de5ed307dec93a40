//===- HostMemory.h - memory of the host that the device sees ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime and the driver answer alike of pinned, registered and
// managed memory. Memory is in one place, so that there is nothing to move.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_HOSTMEMORY_H
#define BLOCKSCALE_LIB_CUDACORE_HOSTMEMORY_H

#include "Memory.h"
#include "Streams.h"

namespace blockscale::cuda {

/// Flags of cuMemHostAlloc that there are.
bool arePinnedFlags(unsigned flags);

/// Takes `size` bytes of the program's own in, with flags of
/// cuMemHostRegister.
cudaError_t registerHost(void *pointer, size_t size, unsigned flags);
cudaError_t unregisterHost(void *pointer);
/// Where kernels find pinned, registered or managed memory: at its address.
/// `flags` is 0.
cudaError_t deviceAddress(const void *host, unsigned flags, uint64_t &address);
/// The flags that it was made with; all of it is mapped.
cudaError_t hostFlags(const void *host, unsigned &flags);

/// Of a range of managed memory, which is as it is wherever it is wanted.
cudaError_t prefetch(uint64_t address, size_t size, CUmemLocation location,
                     unsigned flags, const CUstream_st *stream);
cudaError_t advise(uint64_t address, size_t size, CUmem_advise advice,
                   CUmemLocation location);
/// `size` is 0 for all of it.
cudaError_t attach(const CUstream_st *stream, uint64_t address, size_t size,
                   unsigned flags);
/// Whether all bytes are managed memory; a range has some.
bool isManaged(uint64_t address, size_t size);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_HOSTMEMORY_H
