//===- Modules.cpp - from images to kernels and variables -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Modules.h"
#include "Contexts.h"
#include "DeviceRuntime.h"
#include "Images.h"

#include <algorithm>
#include <fstream>
#include <iterator>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// What a module is called in messages.
std::string what(const CUmod_st &module) {
  return module.origin == ModuleOrigin::Registered
             ? "the program's fat binary"
             : module.asker + ": the image";
}

/// Parses the text and gives its variables memory.
cudaError_t readPtx(CUmod_st &module, const FatImage &image) {
  emulator::ParseResult parsed = emulator::parsePtx(image.ptx);
  for (const emulator::Diagnostic &error : parsed.errors)
    say("PTX for " + image.target + ":" + error.format());
  if (!parsed)
    return cudaErrorInvalidPtx;

  auto loaded = std::make_unique<LoadedModule>();
  loaded->module = std::move(*parsed.module);
  // The address decides what initial values hold, so the size comes first.
  emulator::ModuleVariables sizes = emulator::initialVariables(loaded->module);
  for (const emulator::Finding &finding : sizes.refusals)
    say("PTX for " + image.target + ": " + emulator::toString(finding));
  if (!sizes.refusals.empty())
    return cudaErrorInvalidPtx;
  // The host may access managed variables, and with them the module's others.
  for (const emulator::Variable &variable : loaded->module.variables)
    module.managed |= variable.isManaged;
  AddressSpace &memory = Core::get().memory;
  loaded->globals =
      memory.allocate(module.managed ? MemoryKind::Managed : MemoryKind::Device,
                      sizes.global.size());
  loaded->constants =
      memory.allocate(MemoryKind::Device, sizes.constant.size());
  if (!loaded->globals || !loaded->constants)
    return cudaErrorMemoryAllocation;
  loaded->variables =
      emulator::initialVariables(loaded->module, loaded->globals->address);
  const emulator::ModuleVariables &initial = loaded->variables;
  std::copy(initial.global.begin(), initial.global.end(),
            loaded->globals->data);
  std::copy(initial.constant.begin(), initial.constant.end(),
            loaded->constants->data);
  module.loaded = std::move(loaded);
  return cudaSuccess;
}

/// The PTX that the device runs best of a fat binary that messages call `name`.
cudaError_t chooseFrom(const FatBinary &binary, const std::string &name,
                       const FatImage *&image) {
  if (!binary.error.empty()) {
    say(name + " is corrupt: " + binary.error);
    return cudaErrorInvalidKernelImage;
  }
  std::string why;
  const hw::Device &device = Core::get().device;
  image = chooseImage(binary, device.chip().name, why);
  if (image)
    return cudaSuccess;
  say(name + " has no code for " + std::string(device.name) + ": " + why);
  return cudaErrorNoKernelImageForDevice;
}

/// Links the PTX of objects whose machine code nvcc has linked.
cudaError_t readObjects(CUmod_st &module,
                        const std::vector<const uint8_t *> &objects) {
  std::vector<emulator::PtxPiece> pieces;
  for (const uint8_t *object : objects) {
    std::string number = std::to_string(pieces.size() + 1);
    FatBinary binary = readFatBinary(object, readableBytes(object));
    const FatImage *image = nullptr;
    if (cudaError_t error =
            chooseFrom(binary,
                       what(module) + " of linked object " + number + " of " +
                           std::to_string(objects.size()),
                       image))
      return error;
    pieces.push_back({"object " + number, image->ptx});
  }
  // What is still missing is refused where a kernel uses it: nvlink has found
  // all that it wanted.
  emulator::PtxLinkResult linked = linkDeviceCode(std::move(pieces));
  for (const std::string &error : linked.errors)
    say(what(module) + " cannot be linked: " + error);
  return linked ? readPtx(module, ptxImage(*linked.text)) : cudaErrorInvalidPtx;
}

/// Fills `module.loaded` from the bytes of an image.
cudaError_t read(CUmod_st &module, const uint8_t *data, uint64_t available) {
  std::vector<const uint8_t *> objects = linkedObjects(data, available);
  if (!objects.empty())
    return readObjects(module, objects);
  FatBinary binary = readImages(data, available);
  const FatImage *image = nullptr;
  if (cudaError_t error = chooseFrom(binary, what(module), image))
    return error;
  return readPtx(module, *image);
}

cudaError_t readOnce(CUmod_st &module, const uint8_t *data,
                     uint64_t available) {
  if (!module.loaded && module.error == cudaSuccess) {
    module.error = read(module, data, available);
    // Of a module that it loads the program learns by itself.
    if (module.error != cudaSuccess &&
        module.origin == ModuleOrigin::Registered) {
      LaunchRecord record;
      record.findings.emplace_back("module", what(module) + " cannot be run");
      Core::get().records.add(record);
    }
  }
  return module.error;
}

CUmod_st *addModule(ModuleOrigin origin, const char *asker) {
  auto *module = new CUmod_st;
  module->origin = origin;
  module->asker = asker;
  // A library belongs to no context.
  if (origin == ModuleOrigin::Module)
    module->context = currentOwner();
  Core::get().modules.insert(module);
  return module;
}

cudaError_t loadBytes(const uint8_t *data, uint64_t available,
                      ModuleOrigin origin, const char *asker,
                      CUmod_st *&result) {
  CUmod_st *module = addModule(origin, asker);
  cudaError_t error = readOnce(*module, data, available);
  if (error != cudaSuccess) {
    unloadModule(module);
    return error;
  }
  result = module;
  return cudaSuccess;
}

} // namespace

CUmod_st *cuda::registerModule(const void *wrapper) {
  CUmod_st *module = addModule(ModuleOrigin::Registered, "");
  module->image = wrapper;
  return module;
}

cudaError_t cuda::loadModule(const void *image, ModuleOrigin origin,
                             const char *asker, CUmod_st *&module) {
  if (!image)
    return cudaErrorInvalidValue;
  return loadBytes(static_cast<const uint8_t *>(image), readableBytes(image),
                   origin, asker, module);
}

cudaError_t cuda::loadModuleFile(const char *path, ModuleOrigin origin,
                                 const char *asker, CUmod_st *&module) {
  if (!path)
    return cudaErrorInvalidValue;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return cudaErrorFileNotFound;
  // A zero byte ends PTX.
  std::string bytes((std::istreambuf_iterator<char>(file)),
                    std::istreambuf_iterator<char>());
  return loadBytes(reinterpret_cast<const uint8_t *>(bytes.c_str()),
                   bytes.size() + 1, origin, asker, module);
}

void cuda::unloadModule(CUmod_st *module) {
  Core &core = Core::get();
  // Graphs may still name the kernels, so their entries stay, as stale handles.
  static auto *gone = new std::vector<std::unique_ptr<KernelEntry>>;
  for (auto &[name, entry] : module->kernels) {
    core.kernels.erase(entry.get());
    entry->kernel.reset();
    gone->push_back(std::move(entry));
  }
  if (module->loaded) {
    core.memory.release(module->loaded->globals->address);
    core.memory.release(module->loaded->constants->address);
  }
  core.modules.erase(module);
  delete module;
}

bool cuda::isModule(const CUmod_st *module, ModuleOrigin origin) {
  const auto &modules = Core::get().modules;
  auto it = modules.find(const_cast<CUmod_st *>(module));
  return it != modules.end() && (*it)->origin == origin;
}

cudaError_t cuda::load(CUmod_st &module) {
  return readOnce(module, static_cast<const uint8_t *>(module.image),
                  module.loaded ? 0 : readableBytes(module.image));
}

cudaError_t cuda::prepare(KernelEntry &entry) {
  if (cudaError_t error = load(*entry.module); error != cudaSuccess)
    return error;
  LoadedModule &loaded = *entry.module->loaded;
  if (!entry.kernel) {
    entry.kernel = std::make_unique<emulator::Kernel>(loaded.module, entry.name,
                                                      loaded.globals->address);
    LaunchRecord record;
    record.kernel = entry.name;
    for (const emulator::Finding &finding : entry.kernel->refusals()) {
      std::string text = emulator::toString(finding) + "\n" +
                         emulator::sourceNote(loaded.module, finding);
      text.pop_back();
      say("kernel '" + readableName(entry.name) + "' cannot be run: " + text);
      record.findings.emplace_back(emulator::name(finding.kind),
                                   std::move(text));
    }
    if (!record.findings.empty())
      Core::get().records.add(record);
  }
  if (!entry.kernel->function())
    return cudaErrorInvalidDeviceFunction;
  return entry.kernel->refusals().empty() ? cudaSuccess : cudaErrorNotSupported;
}

KernelEntry &cuda::kernelEntry(CUmod_st &module, const char *name) {
  std::unique_ptr<KernelEntry> &entry = module.kernels[name];
  if (!entry) {
    entry = std::make_unique<KernelEntry>();
    entry->module = &module;
    entry->name = name;
    Core::get().kernels.insert(entry.get());
  }
  return *entry;
}

KernelEntry *cuda::findKernel(CUmod_st &module, const char *name) {
  if (load(module) != cudaSuccess)
    return nullptr;
  for (const emulator::Function &function : module.loaded->module.functions)
    if (function.isEntry && function.name == name)
      return &kernelEntry(module, name);
  return nullptr;
}

KernelEntry *cuda::kernelOf(const void *handle) {
  if (!Core::get().kernels.count(handle))
    return nullptr;
  return static_cast<KernelEntry *>(const_cast<void *>(handle));
}

std::vector<std::string> cuda::kernelNames(const CUmod_st &module) {
  std::vector<std::string> names;
  for (const emulator::Function &function : module.loaded->module.functions)
    if (function.isEntry)
      names.push_back(function.name);
  return names;
}

cudaError_t cuda::locate(CUmod_st &module, const std::string &name,
                         uint64_t &address, uint64_t &size, bool *managed) {
  if (cudaError_t error = load(module); error != cudaSuccess)
    return error;
  const LoadedModule &loaded = *module.loaded;
  for (size_t i = 0; i != loaded.module.variables.size(); ++i) {
    const emulator::Variable &variable = loaded.module.variables[i];
    bool constant = variable.space == emulator::Space::Const;
    if (variable.name != name ||
        (!constant && variable.space != emulator::Space::Global))
      continue;
    const Allocation &home = constant ? *loaded.constants : *loaded.globals;
    address = home.address + loaded.variables.offsets[i];
    size = variable.size;
    if (managed)
      *managed = variable.isManaged;
    return cudaSuccess;
  }
  return cudaErrorInvalidSymbol;
}
