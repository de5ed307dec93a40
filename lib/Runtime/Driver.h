//===- Driver.h - the CUDA driver, found at run time ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of libcuda.so.1 that launching takes, with declarations of our
// own for the few structures: a program that never meets a GPU needs nothing of
// CUDA. CudaAbiTest.cpp compares them with cuda.h.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_DRIVER_H
#define BLOCKSCALE_LIB_RUNTIME_DRIVER_H

#include "blockscale/Formats/Result.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace blockscale::runtime {

using DriverCode = int;
using Device = int;
using DevicePointer = unsigned long long;
using Context = struct CUctx_st *;
using GreenContext = struct CUgreenCtx_st *;
using Module = struct CUmod_st *;
using Function = struct CUfunc_st *;
using Stream = struct CUstream_st *;
using Event = struct CUevent_st *;

inline constexpr DriverCode kCudaSuccess = 0;

/// Numbers of cuda.h's enumerators.
enum class DeviceAttribute : int {
  MultiprocessorCount = 16,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76
};
enum class FunctionAttribute : int {
  MaxDynamicSharedSizeBytes = 8,
  NonPortableClusterSizeAllowed = 14,
  /// Of CUDA 13.4; with it MaxDynamicSharedSizeBytes is ignored.
  SharedMemoryMode = 17
};
/// A value of SharedMemoryMode.
inline constexpr int kAllowOversizedSharedMemory = 3;
enum class PointerAttribute : int { MemoryType = 2 };
inline constexpr unsigned kDeviceMemory = 2;
enum class LaunchAttributeId : int {
  Cooperative = 2,
  ClusterDimension = 4,
  ProgrammaticStreamSerialization = 6
};

struct alignas(128) TensorMapBytes {
  uint64_t words[16];
};

// The layout is CUDA's. NOLINTNEXTLINE(bugprone-tagged-union-member-count)
struct LaunchAttribute {
  LaunchAttributeId id;
  alignas(8) union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } clusterDimension;
    int programmaticStreamSerializationAllowed;
    int cooperative;
  } value;
};

struct LaunchConfiguration {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};

/// What a context has to give, as far as it is SMs (CUdevResource).
struct DeviceResource {
  static constexpr int kSms = 1;
  int type = 0;
  unsigned char padding[92] = {};
  unsigned smCount = 0, leastPart = 0, partStep = 0;
  unsigned char more[36] = {};
};

/// Every function as X(name in libcuda, member, parameters).
#define BLOCKSCALE_DRIVER_FUNCTIONS(X)                                         \
  X("cuInit", init, (unsigned))                                                \
  X("cuGetErrorName", errorName, (DriverCode, const char **))                  \
  X("cuGetErrorString", errorString, (DriverCode, const char **))              \
  X("cuDeviceGet", deviceGet, (Device *, int))                                 \
  X("cuDeviceGetAttribute", deviceAttribute, (int *, DeviceAttribute, Device)) \
  X("cuDevicePrimaryCtxRetain", retainPrimary, (Context *, Device))            \
  X("cuCtxGetCurrent", currentContext, (Context *))                            \
  X("cuCtxSetCurrent", setContext, (Context))                                  \
  X("cuCtxGetDevice", contextDevice, (Device *))                               \
  X("cuModuleLoadData", loadModule, (Module *, const void *))                  \
  X("cuModuleUnload", unloadModule, (Module))                                  \
  X("cuModuleGetFunction", getFunction, (Function *, Module, const char *))    \
  X("cuFuncSetAttribute", setFunctionAttribute,                                \
    (Function, FunctionAttribute, int))                                        \
  X("cuMemAllocAsync", allocate, (DevicePointer *, size_t, Stream))            \
  X("cuMemFreeAsync", release, (DevicePointer, Stream))                        \
  X("cuMemcpyHtoDAsync_v2", copyToDevice,                                      \
    (DevicePointer, const void *, size_t, Stream))                             \
  X("cuMemcpyDtoHAsync_v2", copyToHost,                                        \
    (void *, DevicePointer, size_t, Stream))                                   \
  X("cuMemGetAddressRange_v2", addressRange,                                   \
    (DevicePointer *, size_t *, DevicePointer))                                \
  X("cuPointerGetAttribute", pointerAttribute,                                 \
    (void *, PointerAttribute, DevicePointer))                                 \
  X("cuStreamSynchronize", waitForStream, (Stream))                            \
  X("cuTensorMapEncodeTiled", encodeTiled,                                     \
    (TensorMapBytes *, int, unsigned, void *, const uint64_t *,                \
     const uint64_t *, const uint32_t *, const uint32_t *, int, int, int,      \
     int))                                                                     \
  X("cuOccupancyMaxActiveClusters", maxActiveClusters,                         \
    (int *, Function, const LaunchConfiguration *))                            \
  X("cuLaunchKernelEx", launch,                                                \
    (const LaunchConfiguration *, Function, void **, void **))                 \
  X("cuCtxSynchronize", synchronize, (void))

/// Functions that older drivers do not have, for which they are null.
#define BLOCKSCALE_DRIVER_LATER_FUNCTIONS(X)                                   \
  X("cuStreamGetGreenCtx", greenContext, (Stream, GreenContext *))             \
  X("cuGreenCtxGetDevResource", greenResource,                                 \
    (GreenContext, DeviceResource *, int))

/// What upstream's gpu dialect takes beyond them (GpuRuntime.cpp).
#define BLOCKSCALE_DRIVER_GPU_FUNCTIONS(X)                                     \
  X("cuMemAlloc_v2", allocateAtOnce, (DevicePointer *, size_t))                \
  X("cuMemFree_v2", releaseAtOnce, (DevicePointer))                            \
  X("cuMemAllocManaged", allocateManaged, (DevicePointer *, size_t, unsigned)) \
  X("cuMemcpyAsync", copyAsync,                                                \
    (DevicePointer, DevicePointer, size_t, Stream))                            \
  X("cuMemsetD16Async", set16,                                                 \
    (DevicePointer, unsigned short, size_t, Stream))                           \
  X("cuMemsetD32Async", set32, (DevicePointer, unsigned, size_t, Stream))      \
  X("cuStreamCreate", createStream, (Stream *, unsigned))                      \
  X("cuStreamDestroy_v2", destroyStream, (Stream))                             \
  X("cuStreamWaitEvent", letStreamWait, (Stream, Event, unsigned))             \
  X("cuEventCreate", createEvent, (Event *, unsigned))                         \
  X("cuEventDestroy_v2", destroyEvent, (Event))                                \
  X("cuEventSynchronize", waitForEvent, (Event))                               \
  X("cuEventRecord", recordEvent, (Event, Stream))

struct Driver {
#define BLOCKSCALE_DRIVER_MEMBER(name, member, parameters)                     \
  DriverCode(*member) parameters = nullptr;
  BLOCKSCALE_DRIVER_FUNCTIONS(BLOCKSCALE_DRIVER_MEMBER)
  BLOCKSCALE_DRIVER_LATER_FUNCTIONS(BLOCKSCALE_DRIVER_MEMBER)
  BLOCKSCALE_DRIVER_GPU_FUNCTIONS(BLOCKSCALE_DRIVER_MEMBER)
#undef BLOCKSCALE_DRIVER_MEMBER

  /// "cuLaunchKernelEx: CUDA_ERROR_INVALID_VALUE (invalid argument)"; empty for
  /// success.
  std::string failure(const char *function, DriverCode result) const;
};

/// The driver, loaded and initialised by the first call; or why there is none,
/// which later calls try again. Looked for as the dynamic loader looks for
/// libcuda.so.1.
Result<const Driver *> findDriver();

/// The same with the functions that the gpu dialect takes; without this call
/// they are null.
Result<const Driver *> findGpuDriver();

} // namespace blockscale::runtime

#endif // BLOCKSCALE_LIB_RUNTIME_DRIVER_H
