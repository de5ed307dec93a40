//===- Launch.cpp - one grid: checks, arguments, findings -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "Device.h"
#include "Functions.h"
#include "GreenContexts.h"
#include "LaunchTimeline.h"
#include "Streams.h"
#include "blockscale/Emulator/Hazards.h"

#include <chrono>
#include <cstring>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// What later calls return after a finding of this kind, as far as a device
/// would notice.
cudaError_t errorFor(const emulator::Finding &finding) {
  auto isOf = [&](const char *word) {
    return finding.message.find(word) != std::string::npos;
  };
  switch (finding.kind) {
  case emulator::FindingKind::Launch:
    if (isOf("cluster"))
      return cudaErrorInvalidClusterSize;
    // What the driver calls a value the runtime calls a configuration.
    return isOf("threads") ? cudaErrorInvalidConfiguration
                           : cudaErrorInvalidValue;
  case emulator::FindingKind::OutOfBounds:
  case emulator::FindingKind::BadAddress:
  case emulator::FindingKind::ReadOnly:
    return cudaErrorIllegalAddress;
  case emulator::FindingKind::Misaligned:
    return cudaErrorMisalignedAddress;
  case emulator::FindingKind::Unsupported:
    return cudaErrorNotSupported;
  case emulator::FindingKind::Trap:
    return isOf(" Assertion `") ? cudaErrorAssert : cudaErrorLaunchFailure;
  default:
    return cudaErrorLaunchFailure;
  }
}

/// Whether the device takes the extents at all.
bool isWithin(const emulator::Dim3 &extents, const int (&limits)[3]) {
  return extents.x && extents.y && extents.z &&
         extents.x <= unsigned(limits[0]) && extents.y <= unsigned(limits[1]) &&
         extents.z <= unsigned(limits[2]);
}

std::string toString(const emulator::Dim3 &extents) {
  return "(" + std::to_string(extents.x) + ", " + std::to_string(extents.y) +
         ", " + std::to_string(extents.z) + ")";
}

unsigned smsFor(const LaunchRequest &request) {
  return request.sms ? request.sms : currentSms();
}

/// The shape of the launch, with clusters of the request or of the kernel.
void shape(const KernelEntry &entry, const LaunchRequest &request,
           emulator::Launch &launch) {
  std::array<uint32_t, 3> required = requiredCluster(entry);
  launch.grid = request.grid;
  launch.block = request.block;
  if (request.hasCluster)
    launch.cluster = request.cluster;
  else if (required[0])
    launch.cluster = {required[0], required[1], required[2]};
}

/// An error for extents that the device does not take.
cudaError_t checkExtents(const std::string &name,
                         const emulator::Launch &launch) {
  // Of more threads than a block may have the emulator itself says so.
  bool isBlock = launch.block.count() > hw::kMaxThreadsPerCta ||
                 isWithin(launch.block, kMaxBlock);
  if (isWithin(launch.grid, kMaxGrid) && isBlock)
    return cudaSuccess;
  say(name + " is launched with a grid of " + toString(launch.grid) +
      " and blocks of " + toString(launch.block) + ", " +
      std::string(Core::get().device.name) +
      " takes 1 to (2147483647, 65535, 65535) and 1 to (1024, 1024, 64)");
  return cudaErrorInvalidConfiguration;
}

/// An error for more shared memory than a CTA has, or the kernel was given.
cudaError_t checkShared(const std::string &name, const KernelEntry &entry,
                        const LaunchRequest &request,
                        emulator::Launch &launch) {
  const hw::Device &device = Core::get().device;
  uint64_t dynamic = request.sharedBytes;
  auto mode = SharedMemoryMode(
      request.sharedMemoryMode.value_or(entry.sharedMemoryMode));
  auto [capacity, ofSm, allowed] = sharedLimits(entry, mode);
  uint64_t total = dynamic + entry.kernel->staticSharedBytes();
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
  launch.dynamicSharedBytes = uint32_t(dynamic);
  launch.oversizedShared = capacity > device.chip().sharedMemoryPerCta;
  return cudaSuccess;
}

/// An error for clusters that the device does not take.
cudaError_t checkCluster(const std::string &name, const KernelEntry &entry,
                         const emulator::Launch &launch) {
  const hw::Device &device = Core::get().device;
  auto ctas = unsigned(launch.cluster.count());
  if (auto reason = hw::whyNotCluster(device, ctas, entry.nonPortableCluster)) {
    say(name + ": " + reason->text);
    return cudaErrorInvalidClusterSize;
  }
  if (hw::residentClusters(device, ctas))
    return cudaSuccess;
  say(name + ": " + std::string(device.name) + " takes no cluster of " +
      std::to_string(launch.cluster.count()) + " CTAs");
  return cudaErrorInvalidClusterSize;
}

/// An error for a cooperative launch of more CTAs than the device holds.
cudaError_t checkCooperative(const std::string &name, const KernelEntry &entry,
                             const LaunchRequest &request,
                             const emulator::Launch &launch) {
  uint64_t resident = uint64_t(ctasPerSm(entry, int(launch.block.count()),
                                         request.sharedBytes)) *
                      smsFor(request);
  if (!request.cooperative || launch.grid.count() <= resident)
    return cudaSuccess;
  say(name + ": " + std::to_string(launch.grid.count()) +
      " CTAs of a cooperative launch, " + std::string(Core::get().device.name) +
      " holds " + std::to_string(resident) + " at once");
  return cudaErrorCooperativeLaunchTooLarge;
}

/// The shape of the launch; an error for what the device does not take.
cudaError_t check(const KernelEntry &entry, const LaunchRequest &request,
                  emulator::Launch &launch) {
  shape(entry, request, launch);
  launch.cooperative = request.cooperative;
  if (cudaError_t error = checkPreferredCluster(entry, request);
      error != cudaSuccess)
    return error;
  if (entry.kernel->function()->launch.blocksareclusters) {
    launch.grid.x *= launch.cluster.x;
    launch.grid.y *= launch.cluster.y;
    launch.grid.z *= launch.cluster.z;
  }
  std::string name = "kernel '" + readableName(entry.name) + "'";
  if (cudaError_t error = checkExtents(name, launch); error != cudaSuccess)
    return error;
  if (cudaError_t error = checkShared(name, entry, request, launch);
      error != cudaSuccess)
    return error;
  if (cudaError_t error = checkCluster(name, entry, launch);
      error != cudaSuccess)
    return error;
  return checkCooperative(name, entry, request, launch);
}

/// Prints the findings and adds them to the record; what the launch and what
/// later calls return.
cudaError_t report(const KernelEntry &entry, const emulator::RunResult &result,
                   LaunchRecord &record) {
  Core &core = Core::get();
  cudaError_t now = cudaSuccess;
  std::string name = "kernel '" + readableName(entry.name) + "': ";
  const emulator::Module &module = entry.module->loaded->module;
  auto print = [&](const emulator::Finding &finding, const char *grade) {
    std::string source = emulator::sourceNote(module, finding);
    std::string text = emulator::toString(finding) + "\n" + source;
    text.pop_back();
    say(name + grade + text);
    const emulator::HazardInfo *info = emulator::hazardInfo(finding.hazard);
    if (info && core.explained.insert(finding.hazard).second)
      say("hazard " + std::to_string(finding.hazard) + ", " +
          std::string(info->name) + ": " + std::string(info->explanation));
    return text;
  };
  for (const emulator::Finding &finding : result.advice)
    print(finding, "advice: ");
  for (const emulator::Finding &finding : result.findings) {
    std::string text = print(finding, "");
    cudaError_t error = errorFor(finding);
    bool isLaunch = finding.kind == emulator::FindingKind::Launch;
    if (isLaunch || error == cudaErrorNotSupported)
      now = error;
    else
      core.sticky = error;
    // Of a wrong configuration the program learns at once, as on a device.
    if (!isLaunch)
      record.findings.emplace_back(emulator::name(finding.kind),
                                   std::move(text));
  }
  return now;
}

/// Runs the grid; what the launch returns.
cudaError_t execute(const KernelEntry &entry, const emulator::Launch &launch,
                    unsigned sms) {
  Core &core = Core::get();
  LaunchRecord record;
  record.kernel = entry.name;
  record.shape =
      "grid " + toString(launch.grid) + ", block " + toString(launch.block);
  emulator::Options options = core.options;
  options.sms = sms;
  LaunchTimeline timeline(launch, options);
  if (!core.progress.isSilent()) {
    core.progress.begin(readableName(entry.name), "clusters");
    options.progress = [&](uint64_t ended, uint64_t total) {
      core.progress.report(ended, total);
    };
  }
  auto start = std::chrono::steady_clock::now();
  emulator::RunResult result = emulator::run(*entry.kernel, launch, options);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  core.progress.finish();
  record.seconds = seconds.count();
  record.instructions = result.counters.instructions;
  record.advice = result.advice.size();
  cudaError_t error = report(entry, result, record);
  core.records.add(record);
  // What was refused took no time.
  if (error == cudaSuccess)
    timeline.finish(entry.name);
  return error;
}

} // namespace

cudaError_t cuda::launch(KernelEntry &entry, const LaunchRequest &request) {
  Core &core = Core::get();
  if (core.sticky != cudaSuccess)
    return core.sticky;
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
    if (!core.gridWorkspace)
      core.gridWorkspace =
          core.memory.allocate(MemoryKind::Device, 2 * sizeof(uint32_t));
    if (!core.gridWorkspace)
      return cudaErrorMemoryAllocation;
    std::memset(core.gridWorkspace->data, 0, core.gridWorkspace->size);
    launch.gridWorkspace = core.gridWorkspace->address;
  }
  // The module's variables come as their own storage, the rest as buffers.
  for (const emulator::Buffer &buffer : core.memory.buffers())
    if (buffer.address != loaded.globals->address)
      launch.buffers.push_back(buffer);
  launch.globals = loaded.globals->data;
  launch.constants = loaded.constants->data;
  cudaError_t error = execute(entry, launch, smsFor(request));
  if (error == cudaSuccess && request.event)
    return recordEvent(request.event);
  return error;
}

cudaError_t cuda::checkLaunch(const KernelWork &work) {
  if (!kernelOf(work.entry))
    return cudaErrorInvalidResourceHandle;
  if (cudaError_t error = prepare(*work.entry); error != cudaSuccess)
    return error;
  if (work.request.block.count() > hw::kMaxThreadsPerCta)
    return cudaErrorInvalidConfiguration;
  emulator::Launch launch;
  if (cudaError_t error = check(*work.entry, work.request, launch);
      error != cudaSuccess)
    return error;
  return work.entry->kernel->function()->launch.blocksareclusters
             ? cudaSuccess
             : checkClusterGrid(*work.entry, work.request);
}

cudaError_t cuda::launch(const KernelWork &work) {
  if (!kernelOf(work.entry))
    return cudaErrorInvalidResourceHandle;
  std::vector<void *> arguments;
  for (const std::vector<uint8_t> &one : work.arguments)
    arguments.push_back(const_cast<uint8_t *>(one.data()));
  LaunchRequest request = work.request;
  request.arguments = arguments.data();
  return launch(*work.entry, request);
}

cudaError_t cuda::keepArguments(KernelEntry &entry,
                                const LaunchRequest &request,
                                KernelWork &work) {
  if (cudaError_t error = prepare(entry); error != cudaSuccess)
    return error;
  const auto &parameters = entry.kernel->function()->parameters;
  if (!request.arguments && !parameters.empty())
    return cudaErrorInvalidValue;
  work.entry = &entry;
  work.request = request;
  work.arguments.clear();
  for (size_t i = 0; i != parameters.size(); ++i) {
    const auto *bytes = static_cast<const uint8_t *>(request.arguments[i]);
    work.arguments.emplace_back(bytes, bytes + parameters[i].size);
  }
  return cudaSuccess;
}

cudaError_t cuda::launchOrKeep(CUstream_st *stream, KernelEntry &entry,
                               const LaunchRequest &request) {
  if (cudaError_t error = checkStream(stream); error != cudaSuccess)
    return error;
  LaunchRequest own = request;
  own.sms = smsOf(stream);
  if (!captureOf(stream))
    return launch(entry, own);
  KernelWork work;
  if (cudaError_t error = keepArguments(entry, own, work); error != cudaSuccess)
    return error;
  return keep(stream, CU_GRAPH_NODE_TYPE_KERNEL, std::move(work));
}

cudaError_t cuda::readAttribute(const CUlaunchAttribute &attribute,
                                LaunchRequest &request) {
  switch (int(attribute.id)) { // some are newer than the header
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
    const auto &extents = attribute.value.clusterDim;
    // All zero is as if it was not there.
    request.hasCluster = extents.x || extents.y || extents.z;
    request.cluster = {1, 1, 1};
    if (request.hasCluster)
      request.cluster = {extents.x, extents.y, extents.z};
    return !request.hasCluster || (extents.x && extents.y && extents.z)
               ? cudaSuccess
               : cudaErrorInvalidClusterSize;
  }
  case kLaunchSharedMode: {
    int mode = 0;
    std::memcpy(&mode, &attribute.value, sizeof mode);
    if (mode < 0 || mode > int(SharedMemoryMode::PreferOversized))
      return cudaErrorInvalidValue;
    // The default is the function's.
    if (mode)
      request.sharedMemoryMode = mode;
    return cudaSuccess;
  }
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION: {
    const auto &extents = attribute.value.preferredClusterDim;
    request.preferredCluster = {extents.x, extents.y, extents.z};
    return cudaSuccess;
  }
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    return unsigned(attribute.value.clusterSchedulingPolicyPreference) <=
                   CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING
               ? cudaSuccess
               : cudaErrorInvalidValue;
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    return attribute.value.sharedMemCarveout <= CU_SHAREDMEM_CARVEOUT_MAX_SHARED
               ? cudaSuccess
               : cudaErrorInvalidValue;
  case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    // Of streams only.
    return cudaErrorInvalidValue;
  case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    request.cooperative = attribute.value.cooperative;
    return cudaSuccess;
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    request.event = attribute.value.programmaticEvent.event;
    return isEvent(request.event) ? cudaSuccess
                                  : cudaErrorInvalidResourceHandle;
  case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
    request.event = attribute.value.launchCompletionEvent.event;
    return isEvent(request.event) ? cudaSuccess
                                  : cudaErrorInvalidResourceHandle;
  case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    sayOnce("kernel nodes that a kernel updates are not supported");
    return cudaErrorNotSupported;
  default:
    // The last one that is known: how much of an SM is shared memory.
    if (unsigned(attribute.id) <= 18)
      return cudaSuccess;
    say("launch attribute " + std::to_string(int(attribute.id)) +
        " does not exist");
    return cudaErrorInvalidValue;
  }
}

cudaError_t cuda::readAttributes(const CUlaunchAttribute *attributes,
                                 unsigned count, LaunchRequest &request) {
  if (count && !attributes)
    return cudaErrorInvalidValue;
  for (unsigned i = 0; i != count; ++i)
    if (cudaError_t error = readAttribute(attributes[i], request);
        error != cudaSuccess)
      return error;
  return cudaSuccess;
}

cudaError_t cuda::readExtra(KernelEntry &entry, void **extra,
                            std::vector<void *> &pointers) {
  if (cudaError_t error = prepare(entry); error != cudaSuccess)
    return error;
  uint8_t *buffer = nullptr;
  const size_t *size = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = static_cast<uint8_t *>(extra[1]);
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = static_cast<const size_t *>(extra[1]);
    else
      return cudaErrorInvalidValue;
  }
  const emulator::Function &function = *entry.kernel->function();
  if (function.parameters.empty())
    return cudaSuccess;
  const emulator::Parameter &last = function.parameters.back();
  size_t wanted = last.offset + last.size;
  if (!buffer || !size || *size != wanted) {
    size_t passed = buffer && size ? *size : 0;
    say("kernel '" + readableName(entry.name) + "' has " +
        std::to_string(wanted) + " bytes of parameters, the launch passes " +
        std::to_string(passed));
    return passed > wanted ? cudaErrorLaunchOutOfResources
                           : cudaErrorInvalidValue;
  }
  for (const emulator::Parameter &parameter : function.parameters)
    pointers.push_back(buffer + parameter.offset);
  return cudaSuccess;
}
