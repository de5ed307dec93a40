//===- Launch.h - one grid --------------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_LAUNCH_H
#define BLOCKSCALE_LIB_CUDACORE_LAUNCH_H

#include "Modules.h"

namespace blockscale::cuda {

/// Grid, block and so on of one launch.
struct LaunchRequest {
  emulator::Dim3 grid, block, cluster;
  bool hasCluster = false, cooperative = false;
  uint64_t sharedBytes = 0;
  /// SMs that it may use; 0 for those of the current context.
  unsigned sms = 0;
  /// One of SharedMemoryMode, in place of the function's.
  std::optional<int> sharedMemoryMode;
  /// Multiples of `cluster`, where the device has room for them.
  std::optional<emulator::Dim3> preferredCluster;
  /// One pointer for each parameter, as far as there are any.
  void **arguments = nullptr;
  /// To be recorded once the grid runs, or null.
  CUevent_st *event = nullptr;
};

/// A launch that comes later: its arguments are copied.
struct KernelWork {
  KernelEntry *entry = nullptr;
  LaunchRequest request;
  std::vector<std::vector<uint8_t>> arguments;
  /// As the program gave them.
  std::vector<CUlaunchAttribute> attributes;
  /// To `arguments`, for programs that ask.
  std::vector<void *> pointers;
};

/// Takes one attribute over: those that change what a kernel computes. The
/// others are hints to a device that runs several grids at once.
cudaError_t readAttribute(const CUlaunchAttribute &attribute,
                          LaunchRequest &request);

/// The same of all of a launch.
cudaError_t readAttributes(const CUlaunchAttribute *attributes, unsigned count,
                           LaunchRequest &request);

/// Pointers to the parameters in the buffer that `extra` describes (cuda.h,
/// CU_LAUNCH_PARAM_BUFFER_POINTER).
cudaError_t readExtra(KernelEntry &entry, void **extra,
                      std::vector<void *> &pointers);

cudaError_t launch(KernelEntry &entry, const LaunchRequest &request);
cudaError_t launch(const KernelWork &work);
/// Whether the device takes the launch that a node of a graph is to be.
cudaError_t checkLaunch(const KernelWork &work);
cudaError_t keepArguments(KernelEntry &entry, const LaunchRequest &request,
                          KernelWork &work);
/// Launches the kernel, or adds it to the graph that captures the stream.
cudaError_t launchOrKeep(CUstream_st *stream, KernelEntry &entry,
                         const LaunchRequest &request);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_LAUNCH_H
