//===- Modules.h - device code, its kernels and variables -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_MODULES_H
#define BLOCKSCALE_LIB_CUDACORE_MODULES_H

#include "Core.h"

#include <map>

namespace blockscale::cuda {

/// A kernel of a module: what CUfunction, CUkernel and cudaKernel_t name.
struct KernelEntry {
  CUmod_st *module = nullptr;
  std::string name;
  /// Decoded at the first use.
  std::unique_ptr<emulator::Kernel> kernel;
  /// What the program set: cuFuncSetAttribute.
  /// Negative until it was set.
  int maxDynamicShared = -1;
  bool nonPortableCluster = false;
  /// One of SharedMemoryMode.
  int sharedMemoryMode = 0;
  int carveout = cudaSharedmemCarveoutDefault;
  int clusterPolicy = 0;
  /// Of a kernel that requires no cluster of its own.
  std::array<int, 3> requiredCluster = {0, 0, 0};
};

/// What a module became when it was first needed.
struct LoadedModule {
  emulator::Module module;
  emulator::ModuleVariables variables;
  const Allocation *globals = nullptr, *constants = nullptr;
};

enum class ModuleOrigin : uint8_t {
  Registered, ///< of a program, by nvcc's code before main
  Module,     ///< cuModuleLoad and its like
  Library,    ///< cuLibraryLoad and its like
};

} // namespace blockscale::cuda

/// A module or a library.
struct CUmod_st {
  blockscale::cuda::ModuleOrigin origin;
  /// Where the code is; of a registered module it is read at the first use.
  const void *image = nullptr;
  /// The function that loaded it, for messages.
  std::string asker;
  /// Whether the host may access its variables.
  bool managed = false;
  /// Of a module.
  CUctx_st *context = nullptr;
  std::unique_ptr<blockscale::cuda::LoadedModule> loaded;
  cudaError_t error = cudaSuccess;
  /// Those that were looked up.
  std::map<std::string, std::unique_ptr<blockscale::cuda::KernelEntry>,
           std::less<>>
      kernels;
};

namespace blockscale::cuda {

/// A module of the program whose fat binary is behind `wrapper`.
CUmod_st *registerModule(const void *wrapper);

/// Loads the code at `image` for the function `asker`.
cudaError_t loadModule(const void *image, ModuleOrigin origin,
                       const char *asker, CUmod_st *&module);
/// The same from a file.
cudaError_t loadModuleFile(const char *path, ModuleOrigin origin,
                           const char *asker, CUmod_st *&module);
/// Drops the module, its kernels and its variables.
void unloadModule(CUmod_st *module);
/// Whether the handle is a module of that origin.
bool isModule(const CUmod_st *module, ModuleOrigin origin);

/// Reads and decodes the module if that has not been done.
cudaError_t load(CUmod_st &module);
/// Decodes the kernel if that has not been done.
cudaError_t prepare(KernelEntry &entry);

/// The entry for a name, which the module need not have.
KernelEntry &kernelEntry(CUmod_st &module, const char *name);
/// The kernel of that name; null if the module has none.
KernelEntry *findKernel(CUmod_st &module, const char *name);
/// The kernel behind a handle; null if it is none.
KernelEntry *kernelOf(const void *handle);
/// Names of all kernels of a loaded module, in order.
std::vector<std::string> kernelNames(const CUmod_st &module);

/// Address and size of a variable.
cudaError_t locate(CUmod_st &module, const std::string &name, uint64_t &address,
                   uint64_t &size, bool *managed = nullptr);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_MODULES_H
