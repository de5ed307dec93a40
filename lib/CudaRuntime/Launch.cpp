//===- Launch.cpp - one grid: checks, arguments, findings -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graphs.h"
#include "blockscale/Emulator/Hazards.h"

#include <cstring>
#include <cuda_runtime_api.h>

using namespace blockscale;
using namespace blockscale::cudart;

namespace {

/// Dynamic shared memory beyond which a kernel must ask first
/// (cudaFuncAttributeMaxDynamicSharedMemorySize).
constexpr uint64_t kDefaultShared = 48 << 10;

/// What later calls return after a finding of this kind, as far as a device
/// would notice.
cudaError_t errorFor(emulator::FindingKind kind) {
  switch (kind) {
  case emulator::FindingKind::Launch:
    return cudaErrorInvalidConfiguration;
  case emulator::FindingKind::Unsupported:
    return cudaErrorNotSupported;
  default:
    return cudaErrorLaunchFailure;
  }
}

} // namespace

cudaError_t Runtime::check(const KernelEntry &entry,
                           const LaunchRequest &request,
                           emulator::Launch &launch) const {
  const emulator::LaunchBounds &bounds = entry.kernel->function()->launch;
  launch.grid = request.grid;
  launch.block = request.block;
  if (request.hasCluster)
    launch.cluster = request.cluster;
  else if (bounds.reqnctapercluster[0])
    launch.cluster = {std::max(bounds.reqnctapercluster[0], 1u),
                      std::max(bounds.reqnctapercluster[1], 1u),
                      std::max(bounds.reqnctapercluster[2], 1u)};
  if (bounds.blocksareclusters) {
    launch.grid.x *= launch.cluster.x;
    launch.grid.y *= launch.cluster.y;
    launch.grid.z *= launch.cluster.z;
  }
  uint64_t dynamic = request.sharedBytes;
  uint64_t allowed =
      std::max<uint64_t>(kDefaultShared, uint64_t(entry.maxDynamicShared));
  uint64_t capacity = hw::chipInfo(device.chip()).sharedMemoryPerCta;
  uint64_t total = dynamic + entry.kernel->staticSharedBytes();
  std::string name = "kernel '" + readable(entry.name) + "'";
  if (total > capacity) {
    say(name + " needs " + std::to_string(total) +
        " bytes of shared memory, a CTA of " + std::string(device.name) +
        " has " + std::to_string(capacity));
    return cudaErrorInvalidValue;
  }
  if (dynamic > allowed) {
    say(name + " is launched with " + std::to_string(dynamic) +
        " bytes of dynamic shared memory, more than the " +
        std::to_string(allowed) +
        " that it may have: set "
        "cudaFuncAttributeMaxDynamicSharedMemorySize first");
    return cudaErrorInvalidValue;
  }
  if (auto reason = hw::whyNotCluster(
          {device.chip(), hw::TargetVariant::ArchSpecific},
          unsigned(launch.cluster.count()), entry.nonPortableCluster)) {
    say(name + ": " + *reason);
    return cudaErrorInvalidClusterSize;
  }
  uint64_t clusters =
      hw::residentClusters(device, unsigned(launch.cluster.count()));
  if (!clusters) {
    say(name + ": " + std::string(device.name) + " takes no cluster of " +
        std::to_string(launch.cluster.count()) + " CTAs");
    return cudaErrorInvalidClusterSize;
  }
  launch.dynamicSharedBytes = uint32_t(dynamic);
  launch.cooperative = request.cooperative;
  uint64_t resident =
      uint64_t(ctasPerSm(entry, int(launch.block.count()), dynamic)) *
      device.part().smCount;
  if (request.cooperative && launch.grid.count() > resident) {
    say(name + ": " + std::to_string(launch.grid.count()) +
        " CTAs of a cooperative launch, " + std::string(device.name) +
        " holds " + std::to_string(resident) + " at once");
    return cudaErrorCooperativeLaunchTooLarge;
  }
  return cudaSuccess;
}

cudaError_t Runtime::report(const KernelEntry &entry,
                            const emulator::RunResult &result) {
  cudaError_t now = cudaSuccess;
  std::string name = "kernel '" + readable(entry.name) + "': ";
  auto print = [&](const emulator::Finding &finding, const char *grade) {
    say(name + grade + emulator::toString(finding));
    const emulator::HazardInfo *info = emulator::hazardInfo(finding.hazard);
    if (info && explained.insert(finding.hazard).second)
      say("hazard " + std::to_string(finding.hazard) + ", " +
          std::string(info->name) + ": " + std::string(info->explanation));
  };
  for (const emulator::Finding &finding : result.advice)
    print(finding, "advice: ");
  for (const emulator::Finding &finding : result.findings) {
    print(finding, "");
    cudaError_t error = errorFor(finding.kind);
    if (error == cudaErrorLaunchFailure)
      sticky = error;
    else
      now = error;
    // Of a wrong configuration the program learns at once, as on a device.
    if (error != cudaErrorInvalidConfiguration)
      reportToParent();
  }
  return now;
}

cudaError_t Runtime::launch(KernelEntry &entry, const LaunchRequest &request) {
  if (sticky != cudaSuccess)
    return sticky;
  if (cudaError_t error = prepare(entry); error != cudaSuccess)
    return error;
  emulator::Launch launch;
  if (cudaError_t error = check(entry, request, launch); error != cudaSuccess)
    return error;
  const LoadedModule &loaded = *entry.module->loaded;
  const emulator::Function &function = *entry.kernel->function();
  if (!request.arguments && !function.parameters.empty())
    return cudaErrorInvalidValue;
  for (size_t i = 0; i != function.parameters.size(); ++i) {
    const auto *bytes = static_cast<const uint8_t *>(request.arguments[i]);
    launch.arguments.emplace_back(
        std::vector<uint8_t>(bytes, bytes + function.parameters[i].size));
  }
  if (request.cooperative) {
    if (!gridWorkspace)
      gridWorkspace = memory.allocate(MemoryKind::Device, 2 * sizeof(uint32_t));
    if (!gridWorkspace)
      return cudaErrorMemoryAllocation;
    std::memset(gridWorkspace->data, 0, gridWorkspace->size);
    launch.gridWorkspace = gridWorkspace->address;
  }
  // The module's variables come as their own storage, the rest as buffers.
  for (const emulator::Buffer &buffer : memory.buffers())
    if (buffer.address != loaded.globals->address)
      launch.buffers.push_back(buffer);
  launch.globals = loaded.globals->data;
  launch.constants = loaded.constants->data;
  return report(entry, emulator::run(*entry.kernel, launch, options));
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

namespace {

emulator::Dim3 toDim3(dim3 value) { return {value.x, value.y, value.z}; }

/// What <<<>>> keeps between its two calls.
struct Configuration {
  dim3 grid, block;
  size_t sharedBytes;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

/// A launch that comes later: the arguments are copied.
cudaError_t keepLaunch(CUgraph_st &graph, KernelEntry &entry,
                       LaunchRequest request) {
  if (cudaError_t error = Runtime::get().prepare(entry); error != cudaSuccess)
    return error;
  std::vector<std::vector<uint8_t>> copies;
  const auto &parameters = entry.kernel->function()->parameters;
  if (!request.arguments && !parameters.empty())
    return cudaErrorInvalidValue;
  for (size_t i = 0; i != parameters.size(); ++i) {
    const auto *bytes = static_cast<const uint8_t *>(request.arguments[i]);
    copies.emplace_back(bytes, bytes + parameters[i].size);
  }
  graph.work.push_back([&entry, request, copies]() mutable {
    std::vector<void *> arguments;
    for (auto &copy : copies)
      arguments.push_back(copy.data());
    request.arguments = arguments.data();
    return Runtime::get().launch(entry, request);
  });
  return cudaSuccess;
}

cudaError_t launchKernel(const void *symbol, const LaunchRequest &request,
                         cudaStream_t stream) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  KernelEntry *entry = runtime.findKernel(symbol);
  if (!entry)
    return note(cudaErrorInvalidDeviceFunction);
  if (CUgraph_st *graph = graphOf(stream))
    return note(keepLaunch(*graph, *entry, request));
  return note(runtime.launch(*entry, request));
}

/// Attributes that change what a kernel computes; the others are hints to a
/// device that runs several grids at once.
cudaError_t readAttribute(const cudaLaunchAttribute &attribute,
                          LaunchRequest &request) {
  switch (attribute.id) {
  case cudaLaunchAttributeClusterDimension:
    request.hasCluster = true;
    request.cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y,
                       attribute.val.clusterDim.z};
    return cudaSuccess;
  case cudaLaunchAttributeCooperative:
    request.cooperative = attribute.val.cooperative;
    return cudaSuccess;
  case cudaLaunchAttributeIgnore:
  case cudaLaunchAttributeAccessPolicyWindow:
  case cudaLaunchAttributeSynchronizationPolicy:
  case cudaLaunchAttributeClusterSchedulingPolicyPreference:
  case cudaLaunchAttributeProgrammaticStreamSerialization:
  case cudaLaunchAttributePriority:
  case cudaLaunchAttributeMemSyncDomainMap:
  case cudaLaunchAttributeMemSyncDomain:
  case cudaLaunchAttributePreferredClusterDimension:
  case cudaLaunchAttributePreferredSharedMemoryCarveout:
    return cudaSuccess;
  default:
    say("launch attribute " + std::to_string(int(attribute.id)) +
        " is not supported");
    return cudaErrorNotSupported;
  }
}

} // namespace

BLOCKSCALE_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                                    size_t sharedBytes,
                                                    CUstream_st *stream) {
  configurations.push_back({grid, block, sharedBytes, stream});
  return 0;
}

BLOCKSCALE_API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
                                                      size_t *sharedBytes,
                                                      void *stream) {
  if (configurations.empty())
    return note(cudaErrorMissingConfiguration);
  const Configuration &last = configurations.back();
  *grid = last.grid;
  *block = last.block;
  *sharedBytes = last.sharedBytes;
  *static_cast<cudaStream_t *>(stream) = last.stream;
  configurations.pop_back();
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaLaunchKernel(const void *symbol, dim3 grid,
                                            dim3 block, void **arguments,
                                            size_t sharedBytes,
                                            cudaStream_t stream) {
  LaunchRequest request;
  request.grid = toDim3(grid);
  request.block = toDim3(block);
  request.sharedBytes = sharedBytes;
  request.arguments = arguments;
  return launchKernel(symbol, request, stream);
}

BLOCKSCALE_API cudaError_t __cudaGetKernel(cudaKernel_t *kernel,
                                           const void *symbol) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  KernelEntry *entry = runtime.findKernel(symbol);
  if (!entry)
    return note(cudaErrorInvalidDeviceFunction);
  runtime.handles.insert(entry);
  *kernel = reinterpret_cast<cudaKernel_t>(entry);
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaGetKernel(cudaKernel_t *kernel,
                                         const void *symbol) {
  return __cudaGetKernel(kernel, symbol);
}

BLOCKSCALE_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid,
                                              dim3 block, void **arguments,
                                              size_t sharedBytes,
                                              cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, sharedBytes, stream);
}

BLOCKSCALE_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                               const void *symbol,
                                               void **arguments) {
  if (!config)
    return note(cudaErrorInvalidValue);
  LaunchRequest request;
  request.grid = toDim3(config->gridDim);
  request.block = toDim3(config->blockDim);
  request.sharedBytes = config->dynamicSmemBytes;
  request.arguments = arguments;
  for (unsigned i = 0; i != config->numAttrs; ++i)
    if (cudaError_t error = readAttribute(config->attrs[i], request);
        error != cudaSuccess)
      return note(error);
  return launchKernel(symbol, request, config->stream);
}

BLOCKSCALE_API cudaError_t cudaLaunchCooperativeKernel(const void *symbol,
                                                       dim3 grid, dim3 block,
                                                       void **arguments,
                                                       size_t sharedBytes,
                                                       cudaStream_t stream) {
  LaunchRequest request;
  request.grid = toDim3(grid);
  request.block = toDim3(block);
  request.sharedBytes = sharedBytes;
  request.arguments = arguments;
  request.cooperative = true;
  return launchKernel(symbol, request, stream);
}

BLOCKSCALE_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream,
                                              cudaHostFn_t function,
                                              void *data) {
  if (!function)
    return note(cudaErrorInvalidValue);
  return doOrKeep(stream, [=] {
    function(data);
    return cudaSuccess;
  });
}

BLOCKSCALE_API cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                                 cudaStreamCallback_t callback,
                                                 void *data, unsigned) {
  if (!callback)
    return note(cudaErrorInvalidValue);
  callback(stream, Runtime::get().sticky, data);
  return cudaSuccess;
}
