//===- ApiModules.cpp - code of the program and libraries -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code that nvcc adds to a program registers its kernels and variables before
// main. Libraries are what a program loads by itself.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"

#include <map>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// By addresses in the program; guarded by the core's lock.
struct Symbols {
  std::unordered_map<const void *, KernelEntry *> kernels;
  std::unordered_map<const void *, VariableEntry> variables;
  /// Pointers of the host to managed variables, by module.
  std::multimap<CUmod_st *, void **> managed;
};

Symbols &symbols() {
  static Symbols *all = new Symbols;
  return *all;
}

CUmod_st *moduleOf(void **handle) {
  return reinterpret_cast<CUmod_st *>(handle);
}

void addVariable(void **handle, const void *symbol, const char *name,
                 size_t size) {
  symbols().variables[symbol] = {moduleOf(handle), name, size};
}

} // namespace

KernelEntry *cuda::kernelFor(const void *symbol) {
  auto it = symbols().kernels.find(symbol);
  return it == symbols().kernels.end() ? kernelOf(symbol) : it->second;
}

const void *cuda::symbolOf(const KernelEntry *entry) {
  for (const auto &[symbol, kernel] : symbols().kernels)
    if (kernel == entry)
      return symbol;
  return entry;
}

cudaError_t cuda::preparedKernel(const void *symbol, KernelEntry *&entry) {
  entry = kernelFor(symbol);
  return entry ? prepare(*entry) : cudaErrorInvalidResourceHandle;
}

VariableEntry *cuda::variableFor(const void *symbol) {
  auto it = symbols().variables.find(symbol);
  return it == symbols().variables.end() ? nullptr : &it->second;
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

BLOCKSCALE_API void **__cudaRegisterFatBinary(void *image) {
  auto guard = locked();
  return reinterpret_cast<void **>(registerModule(image));
}

BLOCKSCALE_API void __cudaRegisterFatBinaryEnd(void **) {}

BLOCKSCALE_API void __cudaUnregisterFatBinary(void **handle) {
  auto guard = locked();
  CUmod_st *module = moduleOf(handle);
  if (!isModule(module, ModuleOrigin::Registered))
    return;
  auto &kernels = symbols().kernels;
  for (auto it = kernels.begin(); it != kernels.end();)
    it = it->second->module == module ? kernels.erase(it) : std::next(it);
  auto &variables = symbols().variables;
  for (auto it = variables.begin(); it != variables.end();)
    it = it->second.module == module ? variables.erase(it) : std::next(it);
  symbols().managed.erase(module);
  unloadModule(module);
}

BLOCKSCALE_API void __cudaRegisterFunction(void **handle,
                                           const char *hostFunction, char *,
                                           const char *deviceName, int, uint3 *,
                                           uint3 *, dim3 *, dim3 *, int *) {
  auto guard = locked();
  symbols().kernels[hostFunction] = &kernelEntry(*moduleOf(handle), deviceName);
}

BLOCKSCALE_API void __cudaRegisterVar(void **handle, char *hostVariable, char *,
                                      const char *deviceName, int, size_t size,
                                      int, int) {
  auto guard = locked();
  addVariable(handle, hostVariable, deviceName, size);
}

BLOCKSCALE_API void __cudaRegisterManagedVar(void **handle, void **hostPointer,
                                             char *, const char *deviceName,
                                             int, size_t size, int, int) {
  auto guard = locked();
  addVariable(handle, hostPointer, deviceName, size);
  symbols().managed.emplace(moduleOf(handle), hostPointer);
}

/// Called before the host reads its pointers to managed variables.
BLOCKSCALE_API char __cudaInitModule(void **handle) {
  auto guard = locked();
  if (load(*moduleOf(handle)) != cudaSuccess)
    return 0;
  auto [begin, end] = symbols().managed.equal_range(moduleOf(handle));
  for (auto it = begin; it != end; ++it) {
    const VariableEntry &variable = symbols().variables[it->second];
    uint64_t address = 0, size = 0;
    if (locate(*variable.module, variable.name, address, size) == cudaSuccess)
      *it->second = reinterpret_cast<void *>(address);
  }
  return 1;
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

namespace {

CUmod_st *moduleOf(cudaLibrary_t library) {
  return reinterpret_cast<CUmod_st *>(library);
}

bool isLibrary(cudaLibrary_t library) {
  return isModule(moduleOf(library), ModuleOrigin::Library);
}

cudaError_t
makeLibrary(cudaLibrary_t *library,
            const std::function<cudaError_t(CUmod_st *&module)> &load) {
  return call([&] {
    if (!library)
      return cudaErrorInvalidValue;
    CUmod_st *module = nullptr;
    cudaError_t error = load(module);
    *library = reinterpret_cast<cudaLibrary_t>(module);
    return error;
  });
}

cudaError_t findVariable(void **pointer, size_t *bytes, cudaLibrary_t library,
                         const char *name, bool wantManaged) {
  return call([&] {
    if (!isLibrary(library))
      return cudaErrorInvalidResourceHandle;
    if (!name)
      return cudaErrorInvalidValue;
    uint64_t address = 0, size = 0;
    bool managed = false;
    if (locate(*moduleOf(library), name, address, size, &managed) !=
            cudaSuccess ||
        (wantManaged && !managed))
      return cudaErrorSymbolNotFound;
    if (pointer)
      *pointer = reinterpret_cast<void *>(address);
    if (bytes)
      *bytes = size;
    return cudaSuccess;
  });
}

} // namespace

BLOCKSCALE_API cudaError_t cudaLibraryLoadData(cudaLibrary_t *library,
                                               const void *code,
                                               cudaJitOption *, void **,
                                               unsigned, cudaLibraryOption *,
                                               void **, unsigned) {
  return makeLibrary(library, [&](CUmod_st *&module) {
    return loadModule(code, ModuleOrigin::Library, "cudaLibraryLoadData",
                      module);
  });
}

BLOCKSCALE_API cudaError_t cudaLibraryLoadFromFile(
    cudaLibrary_t *library, const char *path, cudaJitOption *, void **,
    unsigned, cudaLibraryOption *, void **, unsigned) {
  return makeLibrary(library, [&](CUmod_st *&module) {
    return loadModuleFile(path, ModuleOrigin::Library,
                          "cudaLibraryLoadFromFile", module);
  });
}

BLOCKSCALE_API cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return call([&] {
    if (!isLibrary(library))
      return cudaErrorInvalidResourceHandle;
    unloadModule(moduleOf(library));
    return cudaSuccess;
  });
}

BLOCKSCALE_API cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel,
                                                cudaLibrary_t library,
                                                const char *name) {
  return call([&] {
    if (!isLibrary(library))
      return cudaErrorInvalidResourceHandle;
    if (!kernel || !name)
      return cudaErrorInvalidValue;
    KernelEntry *entry = findKernel(*moduleOf(library), name);
    *kernel = reinterpret_cast<cudaKernel_t>(entry);
    return entry ? cudaSuccess : cudaErrorSymbolNotFound;
  });
}

BLOCKSCALE_API cudaError_t cudaLibraryGetKernelCount(unsigned *count,
                                                     cudaLibrary_t library) {
  return call([&] {
    if (!isLibrary(library))
      return cudaErrorInvalidResourceHandle;
    if (!count)
      return cudaErrorInvalidValue;
    *count = unsigned(kernelNames(*moduleOf(library)).size());
    return cudaSuccess;
  });
}

BLOCKSCALE_API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels,
                                                       unsigned count,
                                                       cudaLibrary_t library) {
  return call([&] {
    if (!isLibrary(library))
      return cudaErrorInvalidResourceHandle;
    if (!kernels)
      return cudaErrorInvalidValue;
    for (const std::string &name : kernelNames(*moduleOf(library)))
      if (count) {
        *kernels++ = reinterpret_cast<cudaKernel_t>(
            &kernelEntry(*moduleOf(library), name.c_str()));
        --count;
      }
    return cudaSuccess;
  });
}

BLOCKSCALE_API cudaError_t cudaLibraryGetGlobal(void **pointer, size_t *bytes,
                                                cudaLibrary_t library,
                                                const char *name) {
  return findVariable(pointer, bytes, library, name, false);
}

BLOCKSCALE_API cudaError_t cudaLibraryGetManaged(void **pointer, size_t *bytes,
                                                 cudaLibrary_t library,
                                                 const char *name) {
  return findVariable(pointer, bytes, library, name, true);
}
