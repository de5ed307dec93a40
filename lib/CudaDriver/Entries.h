//===- Entries.h - declarations of what is exported -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cuda.h declares the newest version of each function; this header declares all
// versions that there are here, with the types that cudaTypedefs.h gives them.
// A definition of another type does not compile.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDADRIVER_ENTRIES_H
#define BLOCKSCALE_LIB_CUDADRIVER_ENTRIES_H

// All names as they are exported, none replaced by a newer version's.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#undef __CUDA_API_VERSION_INTERNAL
#include <cudaTypedefs.h>

#include <type_traits>

// In a header of its own, which not every CUDA comes with.
using PFN_cuProfilerStart_v4000 = CUresult (*)();
using PFN_cuProfilerStop_v4000 = CUresult (*)();
// Declared for NVIDIA's own use only.
using PFN_cuDevicePrimaryCtxRelease_v7000 = CUresult (*)(CUdevice);
using PFN_cuDevicePrimaryCtxReset_v7000 = CUresult (*)(CUdevice);
using PFN_cuDevicePrimaryCtxSetFlags_v7000 = CUresult (*)(CUdevice, unsigned);
using PFN_cuGraphInstantiate_v11000 = CUresult (*)(CUgraphExec *, CUgraph,
                                                   CUgraphNode *, char *,
                                                   size_t);

#define ENTRY(name, version, symbol)                                           \
  extern "C" std::remove_pointer_t<PFN_##name##_v##version> symbol;
#include "Entries.def"
#undef ENTRY

#endif // BLOCKSCALE_LIB_CUDADRIVER_ENTRIES_H
