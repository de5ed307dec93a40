//===- Functions.h - attributes and occupancy of kernels --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers per thread are ptxas' choice, which PTX does not show: where a
// kernel does not limit them, occupancy is that of its threads and memory.
// Kernels are decoded (prepare) before.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_FUNCTIONS_H
#define BLOCKSCALE_LIB_CUDACORE_FUNCTIONS_H

#include "Launch.h"

#include <functional>

namespace blockscale::cuda {

/// What CUDA 13.4 has added, whose header we do not ask for: a mode of shared
/// memory as an attribute of functions and of launches, and the attribute of
/// devices with a CTA's memory in the oversized ones.
inline constexpr auto kFunctionSharedMode = CUfunction_attribute(17);
inline constexpr auto kLaunchSharedMode = CUlaunchAttributeID(18);
inline constexpr int kOversizedSharedAttribute = 150;
/// CUsharedMemoryMode.
enum class SharedMemoryMode : int {
  Default,
  RequirePortable,
  AllowNonPortable,
  AllowOversized,
  PreferOversized
};

/// The cluster that the kernel must have, by its code or because the program
/// set it; the first is 0 if it may have any.
std::array<uint32_t, 3> requiredCluster(const KernelEntry &entry);

/// Whether the grid is made of whole clusters, of the size that the kernel
/// requires.
cudaError_t checkClusterGrid(const KernelEntry &entry,
                             const LaunchRequest &request);

/// Whether clusters are preferred that are made of those that the launch or the
/// kernel has.
cudaError_t checkPreferredCluster(const KernelEntry &entry,
                                  const LaunchRequest &request);

/// Shared memory in bytes: most of a CTA and of an SM, and the most dynamic
/// part that a launch of `entry` in its mode may ask for.
struct SharedLimits {
  uint64_t ofCta, ofSm, allowed;
};
SharedLimits sharedLimits(const KernelEntry &entry, SharedMemoryMode mode);

/// CTAs of `threads` threads and `dynamic` bytes of dynamic shared memory that
/// one SM holds.
int ctasPerSm(const KernelEntry &entry, int threads, uint64_t dynamic);

cudaFuncAttributes attributesOf(const KernelEntry &entry);
cudaError_t attributeOf(const KernelEntry &entry,
                        CUfunction_attribute attribute, int &value);
cudaError_t setAttribute(KernelEntry &entry, CUfunction_attribute attribute,
                         int value);
/// Place of a parameter in the kernel's block of them.
cudaError_t parameterInfo(const KernelEntry &entry, size_t index,
                          size_t *offset, size_t *size);

/// Dynamic shared memory that each of `count` CTAs of an SM may have.
cudaError_t availableShared(const KernelEntry &entry, int count, int threads,
                            size_t &bytes);
/// CTAs of the largest cluster that such a launch may have, 0 if an SM has no
/// room for one.
cudaError_t maxClusterSize(const KernelEntry &entry,
                           const LaunchRequest &request, int &size);
/// Clusters that the device holds at once.
cudaError_t maxActiveClusters(const KernelEntry &entry,
                              const LaunchRequest &request, int &count);
/// The block with which most threads of an SM run, of at most `limit` threads
/// (0: as many as the kernel takes), and the smallest grid that fills the
/// device. `dynamic` gives the shared memory of a block.
void bestBlock(const KernelEntry &entry,
               const std::function<uint64_t(int)> &dynamic, int limit,
               int &grid, int &block);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_FUNCTIONS_H
