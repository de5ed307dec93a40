//===- Core.h - the state behind the CUDA runtime and driver ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One device, one lock. libcudart.so.13 and libcuda.so.1 are thin over what is
// here, so that a program may use both. Work is done when it is asked for:
// streams are always idle and every order that a program may rely on holds.
//
// Functions of these headers want the core locked, unless they say otherwise,
// and speak of errors in the runtime's codes, which are the finer ones.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_CORE_H
#define BLOCKSCALE_LIB_CUDACORE_CORE_H

#include "AddressSpace.h"
#include "Records.h"
#include "blockscale/Emulator/SourceLines.h"
#include "blockscale/Formats/ProgressLine.h"
#include "blockscale/HW/Device.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace blockscale::cuda {

/// Exit statuses of a program that cannot go on.
inline constexpr int kMissingEntryPointStatus = 99;
inline constexpr int kHostAccessStatus = 98;
/// Of a setting that is not understood.
inline constexpr int kBadSettingStatus = 97;

/// Dynamic shared memory beyond which a kernel must ask first.
inline constexpr int kSharedWithoutOptIn = 48 << 10;

class Core {
public:
  /// The one of this process; never destroyed, since programs call us from
  /// their own destructors.
  static Core &get();

  std::recursive_mutex lock;
  const hw::Device device;
  emulator::Options options;
  AddressSpace memory;

  /// All modules, and the kernels in them that were looked up.
  std::unordered_set<CUmod_st *> modules;
  std::unordered_set<const void *> kernels;

  /// The error that every later call returns, until the device is reset.
  cudaError_t sticky = cudaSuccess;
  unsigned deviceFlags = cudaDeviceScheduleAuto;

  /// Of each launch, for `blockscale emulate`.
  Records records;
  /// Whether to print an estimate of each launch, and the folder where traces
  /// of them go; empty for none.
  bool report = false;
  std::string timelineFolder;
  /// How far the launch is that runs.
  ProgressLine progress;

  /// For barriers of a whole grid; made at the first cooperative launch.
  const Allocation *gridWorkspace = nullptr;
  /// Rules of Hazards.h that were explained.
  std::set<unsigned> explained;

private:
  Core();
};

/// Locks the core for as long as the result lives.
std::lock_guard<std::recursive_mutex> locked();

/// Prints "blockscale: " and the message to the standard error output.
void say(const std::string &message);

/// The same, unless that has been said before.
void sayOnce(const std::string &message);

/// The name as its source spells it, or the beginning of a long one.
using emulator::readableName;

/// Watches for host code that accesses device memory.
void watchHostAccesses();

/// The driver's code for an error of the core.
CUresult toDriver(cudaError_t error);
inline CUresult toDriver(CUresult error) { return error; }

/// Name and meaning of an error; null for a number that is none.
const char *runtimeName(cudaError_t error);
const char *driverName(CUresult error);
const char *meaning(cudaError_t error);

} // namespace blockscale::cuda

/// A function of the API that the program's linker sees.
#define BLOCKSCALE_API extern "C" __attribute__((visibility("default")))

#endif // BLOCKSCALE_LIB_CUDACORE_CORE_H
