//===- ApiModules.cpp - modules, libraries and kernels by name ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Functions.h"

#include <cstring>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

// A library and its module are one thing here, a kernel and its function too.
CUmod_st *moduleOf(CUlibrary library) {
  return reinterpret_cast<CUmod_st *>(library);
}
KernelEntry *entryOf(CUkernel kernel) {
  return kernelOf(reinterpret_cast<const void *>(kernel));
}
KernelEntry *entryOf(CUfunction function) {
  return kernelOf(reinterpret_cast<const void *>(function));
}
CUfunction toFunction(KernelEntry *entry) {
  return reinterpret_cast<CUfunction>(entry);
}
CUkernel toKernel(KernelEntry *entry) {
  return reinterpret_cast<CUkernel>(entry);
}

/// Handles of modules: those of libraries can be asked, but not unloaded.
bool isAnyModule(CUmodule module) {
  return isModule(module, ModuleOrigin::Module) ||
         isModule(module, ModuleOrigin::Library);
}

/// JIT options that ask for text get none: there is nothing to say.
void answerOptions(unsigned count, const CUjit_option *options, void **values) {
  for (unsigned i = 0; options && values && i != count; ++i) {
    bool isSize = options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES ||
                  options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
    bool isBuffer = options[i] == CU_JIT_INFO_LOG_BUFFER ||
                    options[i] == CU_JIT_ERROR_LOG_BUFFER;
    if (isBuffer && values[i])
      *static_cast<char *>(values[i]) = '\0';
    if (isSize || options[i] == CU_JIT_WALL_TIME)
      values[i] = nullptr;
  }
}

bool areJitOptions(unsigned count, const CUjit_option *options) {
  return !options || std::all_of(options, options + count, [](auto option) {
    return unsigned(option) < CU_JIT_NUM_OPTIONS;
  });
}

bool areLibraryOptions(unsigned count, const CUlibraryOption *options) {
  return !options || std::all_of(options, options + count, [](auto option) {
    return unsigned(option) < CU_LIBRARY_NUM_OPTIONS;
  });
}

CUresult loadData(CUmodule *module, const void *image, const char *asker) {
  return withContext([&] {
    return module ? loadModule(image, ModuleOrigin::Module, asker, *module)
                  : cudaErrorInvalidValue;
  });
}

CUresult findVariable(CUmod_st *module, ModuleOrigin origin,
                      CUdeviceptr *pointer, size_t *bytes, const char *name,
                      bool wantManaged) {
  bool known = origin == ModuleOrigin::Module ? isAnyModule(module)
                                              : isModule(module, origin);
  if (!known)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!name || (!pointer && !bytes))
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t address = 0, size = 0;
  bool managed = false;
  if (locate(*module, name, address, size, &managed) != cudaSuccess)
    return findKernel(*module, name) ? CUDA_ERROR_INVALID_VALUE
                                     : CUDA_ERROR_NOT_FOUND;
  if (wantManaged && !managed)
    return CUDA_ERROR_NOT_FOUND;
  if (pointer)
    *pointer = address;
  if (bytes)
    *bytes = size;
  return CUDA_SUCCESS;
}

/// Fills at most `count` handles.
template <typename T>
CUresult enumerate(CUmod_st &module, T *handles, unsigned count) {
  if (!handles)
    return CUDA_ERROR_INVALID_VALUE;
  for (const std::string &name : kernelNames(module)) {
    if (!count)
      break;
    *handles++ = reinterpret_cast<T>(&kernelEntry(module, name.c_str()));
    --count;
  }
  return CUDA_SUCCESS;
}

} // namespace

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuModuleLoad(CUmodule *module, const char *path) {
  return withContext([&] {
    return module ? loadModuleFile(path, ModuleOrigin::Module, "cuModuleLoad",
                                   *module)
                  : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return loadData(module, image, "cuModuleLoadData");
}

BLOCKSCALE_API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
                                           unsigned count,
                                           CUjit_option *options,
                                           void **values) {
  if (!areJitOptions(count, options))
    return CUDA_ERROR_INVALID_VALUE;
  answerOptions(count, options, values);
  return loadData(module, image, "cuModuleLoadDataEx");
}

BLOCKSCALE_API CUresult cuModuleLoadFatBinary(CUmodule *module,
                                              const void *image) {
  return loadData(module, image, "cuModuleLoadFatBinary");
}

BLOCKSCALE_API CUresult cuModuleUnload(CUmodule module) {
  return withContext([&] {
    if (isModule(module, ModuleOrigin::Library))
      return CUDA_ERROR_NOT_PERMITTED;
    if (!isModule(module, ModuleOrigin::Module))
      return CUDA_ERROR_INVALID_HANDLE;
    unloadModule(module);
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
  // A module is read when it is first used.
  return withDriver([&] { return give(mode, CU_MODULE_LAZY_LOADING); });
}

BLOCKSCALE_API CUresult cuModuleGetFunction(CUfunction *function,
                                            CUmodule module, const char *name) {
  return withContext([&] {
    if (!function || !name || !*name)
      return CUDA_ERROR_INVALID_VALUE;
    if (!isAnyModule(module))
      return CUDA_ERROR_INVALID_HANDLE;
    *function = toFunction(findKernel(*module, name));
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  });
}

BLOCKSCALE_API CUresult cuModuleGetFunctionCount(unsigned *count,
                                                 CUmodule module) {
  return withContext([&] {
    return isAnyModule(module)
               ? give(count, unsigned(kernelNames(*module).size()))
               : CUDA_ERROR_INVALID_HANDLE;
  });
}

BLOCKSCALE_API CUresult cuModuleEnumerateFunctions(CUfunction *functions,
                                                   unsigned count,
                                                   CUmodule module) {
  return withContext([&] {
    return isAnyModule(module) ? enumerate(*module, functions, count)
                               : CUDA_ERROR_INVALID_HANDLE;
  });
}

BLOCKSCALE_API CUresult cuModuleGetGlobal(CUdeviceptr *pointer, size_t *bytes,
                                          CUmodule module, const char *name) {
  return withContext([&] {
    return findVariable(module, ModuleOrigin::Module, pointer, bytes, name,
                        false);
  });
}

//===----------------------------------------------------------------------===//
// Libraries, which need no context
//===----------------------------------------------------------------------===//

/// Has `load` make the module of `library` of what `source` points to, for the
/// function `name` of the driver, if the options are ones there are.
template <typename Source>
static CUresult loadLibrary(CUlibrary *library, unsigned count,
                            CUjit_option *options, void **values,
                            unsigned libraryCount,
                            CUlibraryOption *libraryOptions,
                            cudaError_t (*load)(const Source *, ModuleOrigin,
                                                const char *, CUmod_st *&),
                            const Source *source, const char *name) {
  if (!areJitOptions(count, options) ||
      !areLibraryOptions(libraryCount, libraryOptions))
    return CUDA_ERROR_INVALID_VALUE;
  answerOptions(count, options, values);
  return withDriver([&] {
    return library ? load(source, ModuleOrigin::Library, name,
                          *reinterpret_cast<CUmod_st **>(library))
                   : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API CUresult cuLibraryLoadData(CUlibrary *library, const void *code,
                                          CUjit_option *options, void **values,
                                          unsigned count,
                                          CUlibraryOption *libraryOptions,
                                          void **, unsigned libraryCount) {
  return loadLibrary(library, count, options, values, libraryCount,
                     libraryOptions, loadModule, code, "cuLibraryLoadData");
}

BLOCKSCALE_API CUresult cuLibraryLoadFromFile(CUlibrary *library,
                                              const char *path,
                                              CUjit_option *options,
                                              void **values, unsigned count,
                                              CUlibraryOption *libraryOptions,
                                              void **, unsigned libraryCount) {
  return loadLibrary(library, count, options, values, libraryCount,
                     libraryOptions, loadModuleFile, path,
                     "cuLibraryLoadFromFile");
}

BLOCKSCALE_API CUresult cuLibraryUnload(CUlibrary library) {
  return withDriver([&] {
    if (!isModule(moduleOf(library), ModuleOrigin::Library))
      return CUDA_ERROR_INVALID_HANDLE;
    unloadModule(moduleOf(library));
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library,
                                           const char *name) {
  return withDriver([&] {
    if (!kernel || !name)
      return CUDA_ERROR_INVALID_VALUE;
    if (!isModule(moduleOf(library), ModuleOrigin::Library))
      return CUDA_ERROR_INVALID_HANDLE;
    *kernel = toKernel(findKernel(*moduleOf(library), name));
    return *kernel ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  });
}

BLOCKSCALE_API CUresult cuLibraryGetKernelCount(unsigned *count,
                                                CUlibrary library) {
  return withDriver([&] {
    return isModule(moduleOf(library), ModuleOrigin::Library)
               ? give(count, unsigned(kernelNames(*moduleOf(library)).size()))
               : CUDA_ERROR_INVALID_HANDLE;
  });
}

BLOCKSCALE_API CUresult cuLibraryEnumerateKernels(CUkernel *kernels,
                                                  unsigned count,
                                                  CUlibrary library) {
  return withDriver([&] {
    return isModule(moduleOf(library), ModuleOrigin::Library)
               ? enumerate(*moduleOf(library), kernels, count)
               : CUDA_ERROR_INVALID_HANDLE;
  });
}

BLOCKSCALE_API CUresult cuLibraryGetModule(CUmodule *module,
                                           CUlibrary library) {
  return withContext([&] {
    return isModule(moduleOf(library), ModuleOrigin::Library)
               ? give(module, moduleOf(library))
               : CUDA_ERROR_INVALID_HANDLE;
  });
}

BLOCKSCALE_API CUresult cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *bytes,
                                           CUlibrary library,
                                           const char *name) {
  return withContext([&] {
    return findVariable(moduleOf(library), ModuleOrigin::Library, pointer,
                        bytes, name, false);
  });
}

BLOCKSCALE_API CUresult cuLibraryGetManaged(CUdeviceptr *pointer, size_t *bytes,
                                            CUlibrary library,
                                            const char *name) {
  return withDriver([&] {
    return findVariable(moduleOf(library), ModuleOrigin::Library, pointer,
                        bytes, name, true);
  });
}

BLOCKSCALE_API CUresult cuKernelGetFunction(CUfunction *function,
                                            CUkernel kernel) {
  return withContext([&] {
    return entryOf(kernel) ? give(function, toFunction(entryOf(kernel)))
                           : CUDA_ERROR_INVALID_HANDLE;
  });
}

BLOCKSCALE_API CUresult cuKernelGetLibrary(CUlibrary *library,
                                           CUkernel kernel) {
  return withDriver([&] {
    KernelEntry *entry = entryOf(kernel);
    return entry ? give(library, reinterpret_cast<CUlibrary>(entry->module))
                 : CUDA_ERROR_INVALID_HANDLE;
  });
}

BLOCKSCALE_API CUresult cuKernelGetName(const char **name, CUkernel kernel) {
  return withDriver([&] {
    KernelEntry *entry = entryOf(kernel);
    return entry ? give(name, entry->name.c_str()) : CUDA_ERROR_INVALID_HANDLE;
  });
}

BLOCKSCALE_API CUresult cuFuncGetName(const char **name, CUfunction function) {
  return cuKernelGetName(name, reinterpret_cast<CUkernel>(function));
}

BLOCKSCALE_API CUresult cuFuncGetModule(CUmodule *module, CUfunction function) {
  return withContext([&] {
    KernelEntry *entry = entryOf(function);
    return entry ? give(module, entry->module) : CUDA_ERROR_INVALID_HANDLE;
  });
}

BLOCKSCALE_API CUresult cuFuncIsLoaded(CUfunctionLoadingState *state,
                                       CUfunction function) {
  return withContext([&] {
    return entryOf(function) ? give(state, CU_FUNCTION_LOADING_STATE_LOADED)
                             : CUDA_ERROR_INVALID_HANDLE;
  });
}

BLOCKSCALE_API CUresult cuFuncLoad(CUfunction function) {
  return withContext([&] {
    return entryOf(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}
