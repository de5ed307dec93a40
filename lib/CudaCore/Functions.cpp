//===- Functions.cpp - attributes and occupancy of kernels ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Functions.h"
#include "Device.h"
#include "GreenContexts.h"

#include <algorithm>
#include <cstdlib>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// Shared memory is handed out in these steps.
constexpr uint64_t kSharedStep = 128;

uint32_t product(const std::array<uint32_t, 3> &extents) {
  return extents[0] * std::max(extents[1], 1u) * std::max(extents[2], 1u);
}

uint32_t maxThreads(const emulator::LaunchBounds &bounds) {
  if (bounds.reqntid[0])
    return product(bounds.reqntid);
  return bounds.maxntid[0] ? product(bounds.maxntid) : hw::kMaxThreadsPerCta;
}

/// What the kernel says of its registers; 0 if it says nothing.
uint32_t registersPerThread(const emulator::LaunchBounds &bounds) {
  if (bounds.maxnreg)
    return bounds.maxnreg;
  if (bounds.minnctapersm && (bounds.maxntid[0] || bounds.reqntid[0]))
    return std::min(hw::kRegistersPerSm /
                        (maxThreads(bounds) * bounds.minnctapersm) / 8 * 8,
                    hw::kMaxRegistersPerThread);
  return 0;
}

/// Shared memory that a CTA takes from its SM.
uint64_t sharedPerCta(const KernelEntry &entry, uint64_t dynamic) {
  uint64_t bytes =
      entry.kernel->staticSharedBytes() + dynamic + hw::kReservedSharedMemory;
  return (bytes + kSharedStep - 1) / kSharedStep * kSharedStep;
}

/// What an SM may have as shared memory (CUDA C++ Programming Guide, "Compute
/// Capabilities"), as far as this one has as much.
constexpr uint64_t kSharedCapacities[] = {
    0,         8 << 10,   16 << 10,  32 << 10,  64 << 10,
    100 << 10, 132 << 10, 164 << 10, 196 << 10, 228 << 10};

/// Of `most` bytes the part that a kernel prefers, in percent: enough for one
/// of its CTAs.
uint64_t preferredShared(uint64_t most, int carveout, uint64_t ofCta) {
  if (carveout < 0)
    return most;
  uint64_t wanted = std::max(most * uint64_t(carveout) / 100, ofCta);
  for (uint64_t capacity : kSharedCapacities)
    if (capacity >= wanted && capacity <= most)
      return capacity;
  return most;
}

} // namespace

std::array<uint32_t, 3> cuda::requiredCluster(const KernelEntry &entry) {
  std::array<uint32_t, 3> cluster =
      entry.kernel->function()->launch.reqnctapercluster;
  if (!cluster[0] && entry.requiredCluster != std::array<int, 3>{0, 0, 0})
    for (size_t i = 0; i != 3; ++i)
      cluster[i] = uint32_t(entry.requiredCluster[i]);
  if (cluster[0])
    for (uint32_t &extent : cluster)
      extent = std::max(extent, 1u);
  return cluster;
}

SharedLimits cuda::sharedLimits(const KernelEntry &entry,
                                SharedMemoryMode mode) {
  hw::DeviceChip chip = Core::get().device.chip();
  SharedLimits limits{chip.sharedMemoryPerCta, chip.sharedMemoryPerSm, 0};
  bool mayBeOversized = mode == SharedMemoryMode::AllowOversized ||
                        mode == SharedMemoryMode::PreferOversized;
  if (mayBeOversized && chip.oversizedSharedPerCta) {
    limits.ofCta = chip.oversizedSharedPerCta;
    limits.ofSm = chip.oversizedSharedPerSm;
  }
  limits.allowed = limits.ofCta;
  uint64_t portable = kSharedWithoutOptIn -
                      std::min<uint64_t>(kSharedWithoutOptIn,
                                         entry.kernel->staticSharedBytes());
  if (mode == SharedMemoryMode::RequirePortable)
    limits.allowed = portable;
  if (mode == SharedMemoryMode::Default)
    limits.allowed =
        std::max(portable, uint64_t(std::max(entry.maxDynamicShared, 0)));
  return limits;
}

int cuda::ctasPerSm(const KernelEntry &entry, int threads, uint64_t dynamic) {
  const hw::Device &device = Core::get().device;
  hw::DeviceChip chip = device.chip();
  SharedLimits shared =
      sharedLimits(entry, SharedMemoryMode(entry.sharedMemoryMode));
  const emulator::LaunchBounds &bounds = entry.kernel->function()->launch;
  if (uint32_t(threads) > maxThreads(bounds) ||
      entry.kernel->staticSharedBytes() + dynamic > shared.ofCta ||
      dynamic > shared.allowed)
    return 0;
  uint32_t rounded =
      (uint32_t(threads) + hw::kWarpSize - 1) / hw::kWarpSize * hw::kWarpSize;
  uint64_t fit =
      std::min<uint64_t>(device.maxCtasPerSm, chip.maxThreadsPerSm / rounded);
  uint64_t ofCta = sharedPerCta(entry, dynamic);
  fit = std::min(fit,
                 preferredShared(shared.ofSm, entry.carveout, ofCta) / ofCta);
  if (uint32_t registers = registersPerThread(bounds))
    fit = std::min<uint64_t>(fit, hw::kRegistersPerSm / (registers * rounded));
  return int(fit);
}

cudaFuncAttributes cuda::attributesOf(const KernelEntry &entry) {
  const hw::Device &device = Core::get().device;
  const emulator::LaunchBounds &bounds = entry.kernel->function()->launch;
  const LoadedModule &loaded = *entry.module->loaded;
  cudaFuncAttributes attributes{};
  attributes.sharedSizeBytes = entry.kernel->staticSharedBytes();
  attributes.constSizeBytes = loaded.variables.constant.size();
  attributes.localSizeBytes = entry.kernel->localBytes();
  attributes.maxThreadsPerBlock = int(maxThreads(bounds));
  attributes.numRegs = int(registersPerThread(bounds));
  // Of the virtual architecture; CUB takes its tuning by it.
  attributes.ptxVersion = std::atoi(loaded.module.target.c_str() + 3);
  attributes.binaryVersion =
      int(device.capabilityMajor() * 10 + device.capabilityMinor());
  attributes.maxDynamicSharedSizeBytes =
      entry.maxDynamicShared >= 0
          ? entry.maxDynamicShared
          : kSharedWithoutOptIn - int(entry.kernel->staticSharedBytes());
  attributes.preferredShmemCarveout = entry.carveout;
  attributes.clusterDimMustBeSet =
      bounds.explicitcluster && !bounds.reqnctapercluster[0];
  std::array<uint32_t, 3> cluster = requiredCluster(entry);
  attributes.requiredClusterWidth = int(cluster[0]);
  attributes.requiredClusterHeight = int(cluster[1]);
  attributes.requiredClusterDepth = int(cluster[2]);
  attributes.clusterSchedulingPolicyPreference = entry.clusterPolicy;
  attributes.nonPortableClusterSizeAllowed = entry.nonPortableCluster;
  return attributes;
}

cudaError_t cuda::attributeOf(const KernelEntry &entry,
                              CUfunction_attribute attribute, int &value) {
  cudaFuncAttributes all = attributesOf(entry);
  const std::pair<CUfunction_attribute, int> values[] = {
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, int(all.maxThreadsPerBlock)},
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, int(all.sharedSizeBytes)},
      {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, int(all.constSizeBytes)},
      {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, int(all.localSizeBytes)},
      {CU_FUNC_ATTRIBUTE_NUM_REGS, int(all.numRegs)},
      {CU_FUNC_ATTRIBUTE_PTX_VERSION, int(all.ptxVersion)},
      {CU_FUNC_ATTRIBUTE_BINARY_VERSION, int(all.binaryVersion)},
      {CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, int(all.cacheModeCA)},
      {CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
       int(all.clusterDimMustBeSet)},
      {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, int(all.requiredClusterWidth)},
      {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
       int(all.requiredClusterHeight)},
      {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, int(all.requiredClusterDepth)},
      {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
       int(all.nonPortableClusterSizeAllowed)},
      {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
       int(all.clusterSchedulingPolicyPreference)},
      {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
       int(all.maxDynamicSharedSizeBytes)},
      {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
       int(all.preferredShmemCarveout)},
      {kFunctionSharedMode, entry.sharedMemoryMode},
  };
  for (const auto &[name, number] : values)
    if (name == attribute) {
      value = number;
      return cudaSuccess;
    }
  return cudaErrorInvalidValue;
}

cudaError_t cuda::setAttribute(KernelEntry &entry,
                               CUfunction_attribute attribute, int value) {
  const hw::Device &device = Core::get().device;
  int capacity = int(device.chip().sharedMemoryPerCta);
  switch (int(attribute)) { // some are newer than the header
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    if (value < 0 ||
        value > capacity - int(entry.kernel->staticSharedBytes())) {
      say("kernel '" + readableName(entry.name) + "' cannot have " +
          std::to_string(value) + " bytes of dynamic shared memory: a CTA of " +
          std::string(device.name) + " has " + std::to_string(capacity) +
          ", the kernel declares " +
          std::to_string(entry.kernel->staticSharedBytes()));
      return cudaErrorInvalidValue;
    }
    entry.maxDynamicShared = value;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    if (value < -1 || value > 100)
      return cudaErrorInvalidValue;
    entry.carveout = value;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    entry.nonPortableCluster = value;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    if (value < CU_CLUSTER_SCHEDULING_POLICY_DEFAULT ||
        value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING)
      return cudaErrorInvalidValue;
    entry.clusterPolicy = value;
    return cudaSuccess;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    // What the code says cannot be changed.
    if (value < 0 || entry.kernel->function()->launch.reqnctapercluster[0])
      return cudaErrorInvalidValue;
    entry.requiredCluster[size_t(attribute) -
                          CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = value;
    return cudaSuccess;
  case kFunctionSharedMode:
    if (value < 0 || value > int(SharedMemoryMode::PreferOversized))
      return cudaErrorInvalidValue;
    entry.sharedMemoryMode = value;
    return cudaSuccess;
  default:
    return cudaErrorInvalidValue;
  }
}

cudaError_t cuda::parameterInfo(const KernelEntry &entry, size_t index,
                                size_t *offset, size_t *size) {
  const auto &parameters = entry.kernel->function()->parameters;
  if (index >= parameters.size())
    return cudaErrorInvalidValue;
  if (offset)
    *offset = parameters[index].offset;
  if (size)
    *size = parameters[index].size;
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Occupancy
//===----------------------------------------------------------------------===//

cudaError_t cuda::availableShared(const KernelEntry &entry, int count,
                                  int threads, size_t &bytes) {
  const hw::Device &device = Core::get().device;
  if (count <= 0 || threads <= 0 || threads > int(hw::kMaxThreadsPerCta) ||
      count > int(device.maxCtasPerSm) ||
      count > int(device.chip().maxThreadsPerSm) / threads)
    return cudaErrorInvalidValue;
  SharedLimits limits =
      sharedLimits(entry, SharedMemoryMode(entry.sharedMemoryMode));
  uint64_t share = preferredShared(limits.ofSm, entry.carveout, /*ofCta=*/0) /
                   uint64_t(count) / kSharedStep * kSharedStep;
  // As a driver answers, which forgets what the system has of each CTA.
  uint64_t taken = entry.kernel->staticSharedBytes();
  bytes = std::min(share > taken ? share - taken : 0, limits.allowed);
  return cudaSuccess;
}

cudaError_t cuda::checkClusterGrid(const KernelEntry &entry,
                                   const LaunchRequest &request) {
  std::array<uint32_t, 3> required = requiredCluster(entry);
  emulator::Dim3 cluster = request.cluster;
  if (required[0]) {
    emulator::Dim3 own{required[0], required[1], required[2]};
    if (request.hasCluster &&
        (own.x != cluster.x || own.y != cluster.y || own.z != cluster.z))
      return cudaErrorInvalidClusterSize;
    cluster = own;
  }
  bool isWhole = request.grid.x % cluster.x == 0 &&
                 request.grid.y % cluster.y == 0 &&
                 request.grid.z % cluster.z == 0;
  return isWhole ? cudaSuccess : cudaErrorInvalidClusterSize;
}

cudaError_t cuda::checkPreferredCluster(const KernelEntry &entry,
                                        const LaunchRequest &request) {
  const std::optional<emulator::Dim3> &preferred = request.preferredCluster;
  if (!preferred)
    return cudaSuccess;
  std::array<uint32_t, 3> required = requiredCluster(entry);
  emulator::Dim3 least = request.cluster;
  if (!request.hasCluster)
    least = {required[0], required[1], required[2]};
  bool isMultiple = least.count() && preferred->count() &&
                    preferred->x % least.x == 0 &&
                    preferred->y % least.y == 0 && preferred->z % least.z == 0;
  return isMultiple ? cudaSuccess : cudaErrorInvalidClusterSize;
}

cudaError_t cuda::maxActiveClusters(const KernelEntry &entry,
                                    const LaunchRequest &request, int &count) {
  const hw::Device &device = Core::get().device;
  if (cudaError_t error = checkPreferredCluster(entry, request);
      error != cudaSuccess)
    return error;
  std::array<uint32_t, 3> required = requiredCluster(entry);
  uint64_t size = request.hasCluster ? request.cluster.count()
                  : required[0]      ? product(required)
                                     : 1;
  if (hw::whyNotCluster(device, unsigned(std::min<uint64_t>(size, UINT32_MAX)),
                        entry.nonPortableCluster))
    return cudaErrorInvalidClusterSize;
  uint64_t threads = request.block.count();
  if (!request.grid.count() || !threads ||
      request.grid.x > unsigned(kMaxGrid[0]) ||
      request.grid.y > unsigned(kMaxGrid[1]) ||
      request.grid.z > unsigned(kMaxGrid[2]))
    return cudaErrorInvalidValue;
  count = 0;
  // Clusters of one CTA are told of only where they are asked for.
  if (!(request.hasCluster || required[0]) || threads > hw::kMaxThreadsPerCta)
    return cudaSuccess;
  if (cudaError_t error = checkClusterGrid(entry, request);
      error != cudaSuccess)
    return error;
  unsigned sms = request.sms ? request.sms : currentSms();
  int perSm = ctasPerSm(entry, int(threads), request.sharedBytes);
  unsigned here = sms / unsigned(size) *
                  std::min(unsigned(perSm), hw::kMaxClusterCtasPerSm);
  unsigned clusters =
      hw::activeClusters(device, unsigned(size), unsigned(perSm));
  // Of the whole device, whose SMs need not be a multiple of a cluster.
  count =
      int(sms == device.chip().smCount ? clusters : std::min(clusters, here));
  return cudaSuccess;
}

cudaError_t cuda::maxClusterSize(const KernelEntry &entry,
                                 const LaunchRequest &request, int &size) {
  // Asked with a launch that the device does not take, it says why.
  int count = 0;
  if (cudaError_t error = maxActiveClusters(entry, request, count);
      error != cudaSuccess)
    return error;
  bool fits = ctasPerSm(entry, int(request.block.count()), request.sharedBytes);
  bool large = entry.nonPortableCluster &&
               hw::residentClusters(Core::get().device, hw::kMaxCluster);
  size = !fits ? 0 : int(large ? hw::kMaxCluster : hw::kMaxPortableCluster);
  return cudaSuccess;
}

void cuda::bestBlock(const KernelEntry &entry,
                     const std::function<uint64_t(int)> &dynamic, int limit,
                     int &grid, int &block) {
  int most = int(maxThreads(entry.kernel->function()->launch));
  if (limit > 0)
    most = std::min(most, limit);
  int bestThreads = 0, bestCtas = 0;
  // Of equal ones the largest block.
  for (int threads = most; threads > 0;
       threads = (threads - 1) / int(hw::kWarpSize) * int(hw::kWarpSize)) {
    int ctas = ctasPerSm(entry, threads, dynamic(threads));
    if (ctas * threads > bestThreads * bestCtas) {
      bestThreads = threads;
      bestCtas = ctas;
    }
  }
  block = bestThreads;
  grid = bestCtas * int(currentSms());
}
