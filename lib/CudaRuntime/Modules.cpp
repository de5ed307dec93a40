//===- Modules.cpp - from fat binaries to kernels and variables -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FatBinary.h"
#include "Runtime.h"

#include <cstring>
#include <link.h>

using namespace blockscale;
using namespace blockscale::cudart;

namespace {

/// What nvcc passes to __cudaRegisterFatBinary.
struct Wrapper {
  uint32_t magic, version;
  const uint8_t *data;
  const void *unused;
};
constexpr uint32_t kWrapperMagic = 0x466243B1;

/// Bytes from `data` to the end of the loaded segment that holds it: what may
/// be read, whatever a header there claims.
uint64_t bytesBehind(const void *data) {
  struct Search {
    uint64_t address, bytes;
  } search{reinterpret_cast<uint64_t>(data), 0};
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *context) {
        auto &search = *static_cast<Search *>(context);
        for (unsigned i = 0; i != info->dlpi_phnum; ++i) {
          const ElfW(Phdr) &segment = info->dlpi_phdr[i];
          uint64_t start = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD &&
              search.address - start < segment.p_memsz) {
            search.bytes = start + segment.p_memsz - search.address;
            return 1;
          }
        }
        return 0;
      },
      &search);
  return search.bytes;
}

} // namespace

/// Fills `module.loaded`.
cudaError_t Runtime::read(FatModule &module) {
  const auto *wrapper = static_cast<const Wrapper *>(module.image);
  if (bytesBehind(wrapper) < sizeof(Wrapper) ||
      wrapper->magic != kWrapperMagic) {
    say("the program's fat binary is corrupt: it has no wrapper");
    return cudaErrorInvalidKernelImage;
  }
  FatBinary binary = readFatBinary(wrapper->data, bytesBehind(wrapper->data));
  if (!binary.error.empty()) {
    say("the program's fat binary is corrupt: " + binary.error);
    return cudaErrorInvalidKernelImage;
  }
  std::string why;
  const FatImage *image = chooseImage(binary, device.chip(), why);
  if (!image) {
    say("the program's fat binary has no code for " + std::string(device.name) +
        ": " + why);
    return cudaErrorNoKernelImageForDevice;
  }
  emulator::ParseResult parsed = emulator::parsePtx(image->ptx);
  for (const emulator::Diagnostic &error : parsed.errors)
    say("PTX for " + image->target + ":" + error.format());
  if (!parsed)
    return cudaErrorInvalidPtx;

  auto loaded = std::make_unique<LoadedModule>();
  loaded->module = std::move(*parsed.module);
  // The address decides what initial values hold, so the size comes first.
  emulator::ModuleVariables sizes = emulator::initialVariables(loaded->module);
  for (const emulator::Finding &finding : sizes.refusals)
    say("PTX for " + image->target + ": " + emulator::toString(finding));
  if (!sizes.refusals.empty())
    return cudaErrorInvalidPtx;
  // The host may access managed variables, and with them the module's others.
  bool managed = !module.managed.empty();
  loaded->globals = memory.allocate(
      managed ? MemoryKind::Managed : MemoryKind::Device, sizes.global.size());
  loaded->constants =
      memory.allocate(MemoryKind::Device, sizes.constant.size());
  if (!loaded->globals || !loaded->constants)
    return cudaErrorMemoryAllocation;
  loaded->variables =
      emulator::initialVariables(loaded->module, loaded->globals->address);
  std::memcpy(loaded->globals->data, loaded->variables.global.data(),
              loaded->variables.global.size());
  std::memcpy(loaded->constants->data, loaded->variables.constant.data(),
              loaded->variables.constant.size());
  module.loaded = std::move(loaded);
  return cudaSuccess;
}

cudaError_t Runtime::load(FatModule &module) {
  if (!module.loaded && module.error == cudaSuccess) {
    module.error = read(module);
    if (module.error != cudaSuccess)
      reportToParent();
  }
  return module.error;
}

KernelEntry *Runtime::findKernel(const void *symbol) {
  if (handles.count(symbol))
    return static_cast<KernelEntry *>(const_cast<void *>(symbol));
  auto it = kernels.find(symbol);
  return it == kernels.end() ? nullptr : &it->second;
}

VariableEntry *Runtime::findVariable(const void *symbol) {
  auto it = variables.find(symbol);
  return it == variables.end() ? nullptr : &it->second;
}

cudaError_t Runtime::prepare(KernelEntry &entry) {
  if (cudaError_t error = load(*entry.module); error != cudaSuccess)
    return error;
  LoadedModule &loaded = *entry.module->loaded;
  if (!entry.kernel) {
    entry.kernel = std::make_unique<emulator::Kernel>(loaded.module, entry.name,
                                                      loaded.globals->address);
    for (const emulator::Finding &finding : entry.kernel->refusals())
      say("kernel '" + readable(entry.name) +
          "' cannot be run: " + emulator::toString(finding));
    if (!entry.kernel->refusals().empty())
      reportToParent();
  }
  if (!entry.kernel->function())
    return cudaErrorInvalidDeviceFunction;
  return entry.kernel->refusals().empty() ? cudaSuccess : cudaErrorNotSupported;
}

cudaError_t Runtime::locate(VariableEntry &entry, const Allocation *&allocation,
                            uint64_t &offset) {
  if (cudaError_t error = load(*entry.module); error != cudaSuccess)
    return error;
  LoadedModule &loaded = *entry.module->loaded;
  for (size_t i = 0; i != loaded.module.variables.size(); ++i) {
    const emulator::Variable &variable = loaded.module.variables[i];
    if (variable.name != entry.name)
      continue;
    bool constant = variable.space == emulator::Space::Const;
    allocation = constant ? loaded.constants : loaded.globals;
    offset = loaded.variables.offsets[i];
    return cudaSuccess;
  }
  return cudaErrorInvalidSymbol;
}

//===----------------------------------------------------------------------===//
// Registration: called by code that nvcc adds to the program, before main
//===----------------------------------------------------------------------===//

BLOCKSCALE_API void **__cudaRegisterFatBinary(void *image) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  runtime.modules.push_back(std::make_unique<FatModule>());
  runtime.modules.back()->image = image;
  return reinterpret_cast<void **>(runtime.modules.back().get());
}

BLOCKSCALE_API void __cudaRegisterFatBinaryEnd(void **) {}

BLOCKSCALE_API void __cudaUnregisterFatBinary(void **handle) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  auto *module = reinterpret_cast<FatModule *>(handle);
  auto belongs = [&](const auto &entry) {
    return entry.second.module == module;
  };
  for (auto it = runtime.kernels.begin(); it != runtime.kernels.end();)
    if (belongs(*it)) {
      runtime.handles.erase(&it->second);
      it = runtime.kernels.erase(it);
    } else {
      ++it;
    }
  for (auto it = runtime.variables.begin(); it != runtime.variables.end();)
    it = belongs(*it) ? runtime.variables.erase(it) : std::next(it);
  if (module->loaded) {
    runtime.memory.release(module->loaded->globals->address);
    runtime.memory.release(module->loaded->constants->address);
  }
  for (auto it = runtime.modules.begin(); it != runtime.modules.end(); ++it)
    if (it->get() == module) {
      runtime.modules.erase(it);
      break;
    }
}

BLOCKSCALE_API void __cudaRegisterFunction(void **handle,
                                           const char *hostFunction, char *,
                                           const char *deviceName, int, uint3 *,
                                           uint3 *, dim3 *, dim3 *, int *) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  KernelEntry &entry = runtime.kernels[hostFunction];
  entry.module = reinterpret_cast<FatModule *>(handle);
  entry.name = deviceName;
}

BLOCKSCALE_API void __cudaRegisterVar(void **handle, char *hostVariable, char *,
                                      const char *deviceName, int, size_t size,
                                      int, int) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  VariableEntry &entry = runtime.variables[hostVariable];
  entry.module = reinterpret_cast<FatModule *>(handle);
  entry.name = deviceName;
  entry.size = size;
}

BLOCKSCALE_API void __cudaRegisterManagedVar(void **handle, void **hostPointer,
                                             char *, const char *deviceName,
                                             int, size_t size, int, int) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  VariableEntry &entry = runtime.variables[hostPointer];
  entry.module = reinterpret_cast<FatModule *>(handle);
  entry.name = deviceName;
  entry.size = size;
  entry.hostPointer = hostPointer;
  entry.module->managed.push_back(hostPointer);
}

/// Called before the host reads its pointers to managed variables.
BLOCKSCALE_API char __cudaInitModule(void **handle) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  auto *module = reinterpret_cast<FatModule *>(handle);
  if (runtime.load(*module) != cudaSuccess)
    return 0;
  for (void **hostPointer : module->managed) {
    const Allocation *allocation = nullptr;
    uint64_t offset = 0;
    if (runtime.locate(runtime.variables[hostPointer], allocation, offset) ==
        cudaSuccess)
      *hostPointer = allocation->data + offset;
  }
  return 1;
}
