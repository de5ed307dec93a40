//===- Runtime.h - the state behind the CUDA runtime API --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One device, one context, one lock. Work is done when it is asked for, so that
// streams are always idle and every order that a program may rely on holds.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDARUNTIME_RUNTIME_H
#define BLOCKSCALE_LIB_CUDARUNTIME_RUNTIME_H

#include "AddressSpace.h"
#include "blockscale/HW/Device.h"

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace blockscale::cudart {

struct FatModule;

/// A kernel of a program: what <<<>>> names by the address of its host stub.
struct KernelEntry {
  FatModule *module = nullptr;
  std::string name;
  /// Decoded at the first use.
  std::unique_ptr<emulator::Kernel> kernel;
  /// cudaFuncSetAttribute.
  int maxDynamicShared = 0;
  bool nonPortableCluster = false;
  int carveout = cudaSharedmemCarveoutDefault;
};

/// A variable of a program.
struct VariableEntry {
  FatModule *module = nullptr;
  std::string name;
  uint64_t size = 0;
  /// Of a managed variable: the host's pointer to it.
  void **hostPointer = nullptr;
};

/// What a module became when it was first needed.
struct LoadedModule {
  emulator::Module module;
  emulator::ModuleVariables variables;
  const Allocation *globals = nullptr, *constants = nullptr;
};

/// What __cudaRegisterFatBinary was given; read at the first use.
struct FatModule {
  const void *image = nullptr;
  std::vector<void **> managed;
  std::unique_ptr<LoadedModule> loaded;
  cudaError_t error = cudaSuccess;
};

/// Grid, block and so on of one launch.
struct LaunchRequest {
  emulator::Dim3 grid, block, cluster;
  bool hasCluster = false, cooperative = false;
  uint64_t sharedBytes = 0;
  void **arguments = nullptr;
};

/// Exit statuses of a program that cannot go on.
inline constexpr int kMissingEntryPointStatus = 99;
inline constexpr int kHostAccessStatus = 98;
/// Of a setting that is not understood.
inline constexpr int kBadSettingStatus = 97;

class Runtime {
public:
  /// The one of this process; never destroyed, since programs call us from
  /// their own destructors.
  static Runtime &get();

  std::recursive_mutex lock;
  const hw::Device &device;
  emulator::Options options;
  AddressSpace memory;

  /// Reads and decodes the module if that has not been done.
  cudaError_t load(FatModule &module);
  /// The entry of a host function or of a cudaKernel_t; null if there is none.
  KernelEntry *findKernel(const void *symbol);
  VariableEntry *findVariable(const void *symbol);
  /// Decodes the kernel if that has not been done.
  cudaError_t prepare(KernelEntry &entry);
  cudaError_t launch(KernelEntry &entry, const LaunchRequest &request);
  /// Address and storage of a variable.
  cudaError_t locate(VariableEntry &entry, const Allocation *&allocation,
                     uint64_t &offset);

  std::unordered_map<const void *, KernelEntry> kernels;
  std::unordered_map<const void *, VariableEntry> variables;
  /// Handles of kernels that were given out.
  std::unordered_set<const void *> handles;
  std::vector<std::unique_ptr<FatModule>> modules;

  /// The error that every later call returns, until cudaDeviceReset.
  cudaError_t sticky = cudaSuccess;
  unsigned deviceFlags = cudaDeviceScheduleAuto;

  /// Tells `blockscale emulate` that something was found.
  void reportToParent();

private:
  Runtime();
  cudaError_t read(FatModule &module);
  /// The shape of the launch; an error for what the device does not take.
  cudaError_t check(const KernelEntry &entry, const LaunchRequest &request,
                    emulator::Launch &launch) const;
  /// Prints the findings; what the launch and what later calls return.
  cudaError_t report(const KernelEntry &entry,
                     const emulator::RunResult &result);
  /// For barriers of a whole grid; made at the first cooperative launch.
  const Allocation *gridWorkspace = nullptr;
  int findingsPipe = -1;
  /// Rules of Hazards.h that were explained.
  std::set<unsigned> explained;
};

/// Remembers `error` for cudaGetLastError and passes it on.
cudaError_t note(cudaError_t error);
/// Of this thread.
cudaError_t &lastError();

/// Prints "blockscale: " and the message to the standard error output.
void say(const std::string &message);

/// CTAs of `threads` threads and `dynamic` bytes of dynamic shared memory that
/// one SM holds; the kernel is decoded.
int ctasPerSm(const KernelEntry &entry, int threads, uint64_t dynamic);

/// The kernel's name as its source spells it, or the beginning of a long one.
std::string readable(const std::string &mangled);

/// Watches for host code that accesses device memory.
void watchHostAccesses();

} // namespace blockscale::cudart

/// A function of the API that the program's linker sees.
#define BLOCKSCALE_API extern "C" __attribute__((visibility("default")))
/// A second name of one, for programs whose default stream is per thread.
#define BLOCKSCALE_ALIAS(name)                                                 \
  __attribute__((visibility("default"), alias(#name)))

#endif // BLOCKSCALE_LIB_CUDARUNTIME_RUNTIME_H
