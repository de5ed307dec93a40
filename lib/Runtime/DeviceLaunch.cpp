//===- DeviceLaunch.cpp - one launch through the driver -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceLaunch.h"

#include <algorithm>
#include <limits>

using namespace blockscale;
using namespace blockscale::runtime;

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

Result<Context> runtime::enterContext(const Driver &driver) {
  Context context = nullptr;
  if (DriverCode result = driver.currentContext(&context))
    return Reason(driver.failure("cuCtxGetCurrent", result));
  if (context)
    return context;
  Device device = 0;
  if (DriverCode result = driver.deviceGet(&device, 0))
    return Reason(driver.failure("cuDeviceGet", result));
  if (DriverCode result = driver.retainPrimary(&context, device))
    return Reason(driver.failure("cuDevicePrimaryCtxRetain", result));
  if (DriverCode result = driver.setContext(context))
    return Reason(driver.failure("cuCtxSetCurrent", result));
  return context;
}

std::string runtime::computeCapability(const Driver &driver) {
  Device device = 0;
  int major = 0, minor = 0;
  bool isKnown =
      driver.contextDevice(&device) == kCudaSuccess &&
      driver.deviceAttribute(&major, DeviceAttribute::ComputeCapabilityMajor,
                             device) == kCudaSuccess &&
      driver.deviceAttribute(&minor, DeviceAttribute::ComputeCapabilityMinor,
                             device) == kCudaSuccess;
  return isKnown ? std::to_string(major) + "." + std::to_string(minor)
                 : "unknown";
}

std::string runtime::unloadIn(const Driver &driver, Context context,
                              Module module, const ResidentOperands &resident) {
  Context before = nullptr;
  if (DriverCode result = driver.currentContext(&before))
    return driver.failure("cuCtxGetCurrent", result);
  if (DriverCode result = driver.setContext(context))
    return driver.failure("cuCtxSetCurrent", result);
  std::string why;
  for (const auto &[key, address] : resident.copies)
    if (DriverCode result = driver.release(address, nullptr))
      why = driver.failure("cuMemFreeAsync", result);
  if (module)
    if (DriverCode result = driver.unloadModule(module))
      why = driver.failure("cuModuleUnload", result);
  std::string back =
      driver.failure("cuCtxSetCurrent", driver.setContext(before));
  return why.empty() ? back : why;
}

//===----------------------------------------------------------------------===//
// A launch
//===----------------------------------------------------------------------===//

DeviceLauncher::~DeviceLauncher() {
  for (const auto &[role, address] : owned)
    driver.release(address, stream);
}

/// Gets the function and asks for its shared memory and cluster.
std::string DeviceLauncher::getFunction(Module module) {
  if (DriverCode result =
          driver.getFunction(&function, module, kernel.name.c_str()))
    return check("cuModuleGetFunction", result);
  // Larger clusters may not find room on every part.
  constexpr int64_t kMaxPortableCluster = 8;
  if (plan::clusterCtas(kernel) > kMaxPortableCluster)
    if (DriverCode result = driver.setFunctionAttribute(
            function, FunctionAttribute::NonPortableClusterSizeAllowed, 1))
      return check("cuFuncSetAttribute", result);
  if (kernel.sharedMemoryBytes > uint64_t(std::numeric_limits<int>::max()))
    return "the plan asks for " + std::to_string(kernel.sharedMemoryBytes) +
           " bytes of shared memory";
  if (kernel.oversizedSharedMemory)
    return check("cuFuncSetAttribute",
                 driver.setFunctionAttribute(
                     function, FunctionAttribute::SharedMemoryMode,
                     kAllowOversizedSharedMemory));
  return check("cuFuncSetAttribute",
               driver.setFunctionAttribute(
                   function, FunctionAttribute::MaxDynamicSharedSizeBytes,
                   int(kernel.sharedMemoryBytes)));
}

static bool isExtent(int64_t value) {
  return value >= 1 && value <= std::numeric_limits<int32_t>::max();
}

std::string DeviceLauncher::configure() {
  for (const std::vector<int64_t> *extents : {&kernel.block, &kernel.cluster})
    if (extents->size() != 3 ||
        !std::all_of(extents->begin(), extents->end(), isExtent))
      return "the plan's block and cluster are not three positive numbers each";
  configuration.blockX = unsigned(kernel.block[0]);
  configuration.blockY = unsigned(kernel.block[1]);
  configuration.blockZ = unsigned(kernel.block[2]);
  configuration.sharedBytes = unsigned(kernel.sharedMemoryBytes);
  configuration.stream = stream;
  configuration.attributes = attributes;
  LaunchAttribute &cluster = attributes[configuration.attributeCount++];
  cluster.id = LaunchAttributeId::ClusterDimension;
  cluster.value.clusterDimension = {unsigned(kernel.cluster[0]),
                                    unsigned(kernel.cluster[1]),
                                    unsigned(kernel.cluster[2])};
  if (kernel.cooperative) {
    LaunchAttribute &cooperative = attributes[configuration.attributeCount++];
    cooperative.id = LaunchAttributeId::Cooperative;
    cooperative.value.cooperative = 1;
  }
  if (!kernel.dependentLaunch)
    return "";
  LaunchAttribute &dependent = attributes[configuration.attributeCount++];
  dependent.id = LaunchAttributeId::ProgrammaticStreamSerialization;
  dependent.value.programmaticStreamSerializationAllowed = 1;
  return "";
}

/// SMs of the green context that the stream belongs to; 0 if it belongs to
/// none.
int DeviceLauncher::smsOfGreenContext() const {
  GreenContext green = nullptr;
  DeviceResource resource;
  bool isGreen = driver.greenContext && driver.greenResource &&
                 driver.greenContext(stream, &green) == kCudaSuccess && green &&
                 driver.greenResource(green, &resource, DeviceResource::kSms) ==
                     kCudaSuccess;
  return isGreen ? int(resource.smCount) : 0;
}

std::string DeviceLauncher::findResidency(plan::Residency &residency) {
  Device device = 0;
  if (DriverCode result = driver.contextDevice(&device))
    return check("cuCtxGetDevice", result);
  int count = 0;
  if (DriverCode result = driver.deviceAttribute(
          &count, DeviceAttribute::MultiprocessorCount, device))
    return check("cuDeviceGetAttribute", result);
  if (int sms = smsOfGreenContext())
    count = sms;
  residency = {count, count / plan::clusterCtas(kernel)};
  return "";
}

/// Where the grid depends on it, the clusters that run at once, as the driver
/// counts them.
std::string DeviceLauncher::countClusters(plan::Residency &residency) {
  bool asks = std::any_of(kernel.grid.begin(), kernel.grid.end(),
                          [](const std::string &extent) {
                            return extent.find("max_clusters") != extent.npos;
                          });
  if (!asks)
    return "";
  // The question wants a grid that is a multiple of the cluster.
  configuration.gridX = unsigned(kernel.cluster[0]);
  configuration.gridY = unsigned(kernel.cluster[1]);
  configuration.gridZ = unsigned(kernel.cluster[2]);
  int clusters = 0;
  if (DriverCode result =
          driver.maxActiveClusters(&clusters, function, &configuration))
    return check("cuOccupancyMaxActiveClusters", result);
  residency.maxClusters = clusters;
  return "";
}

/// A grid of clusters of one CTA starts its CTAs more slowly than one without
/// clusters does.
void DeviceLauncher::leaveSingleClusters() {
  if (plan::clusterCtas(kernel) > 1)
    return;
  ++configuration.attributes;
  --configuration.attributeCount;
}

/// Gives all names of the plan's formulas their numbers.
std::string DeviceLauncher::bind(const plan::Environment &given,
                                 const plan::Residency &residency) {
  Result<plan::Environment> bound = plan::bindSizes(kernel, given, residency);
  if (!bound)
    return bound.why().text;
  sizes = *std::move(bound);
  return setGrid();
}

std::string DeviceLauncher::setGrid() {
  unsigned *extents[] = {&configuration.gridX, &configuration.gridY,
                         &configuration.gridZ};
  if (kernel.grid.size() != 3)
    return "the plan's grid is not three formulas";
  for (size_t axis = 0; axis < 3; ++axis) {
    Result<uint64_t> extent = plan::evaluateSize(kernel.grid[axis], sizes);
    if (!extent)
      return extent.why().text;
    if (!isExtent(int64_t(*extent)))
      return "the grid would have " + std::to_string(*extent) +
             " CTAs along one axis";
    *extents[axis] = unsigned(*extent);
  }
  return "";
}

/// Whether the terms `terms`, of A or of B, follow from the operand: it is a
/// part of that, or the ends by which A's scales lie.
static bool isPartOfTerms(const plan::Kernel &kernel, const std::string &role,
                          std::string_view terms) {
  if (role == plan::kOffsetsRole && terms == plan::kTermsOfA)
    return std::any_of(kernel.scales.begin(), kernel.scales.end(),
                       [](const auto &each) { return each.operand == "a"; });
  return role.compare(0, 2, terms, 0, 2) == 0;
}

/// A copy on the device has the plan's order, whatever that on the host.
static void makeContiguous(HostOperand &operand) {
  operand.isOnDevice = true;
  int64_t step = 1;
  for (size_t i = operand.sizes.size(); i-- > 0;) {
    operand.strides[i] = step;
    step *= operand.sizes[i];
  }
}

/// Asks the driver where the operand's memory is.
void DeviceLauncher::findOnDevice(HostOperand &operand) {
  if (operand.sizes.empty())
    return;
  unsigned type = 0;
  auto address = reinterpret_cast<DevicePointer>(operand.data);
  // Memory that the driver never saw is the host's.
  DriverCode result =
      driver.pointerAttribute(&type, PointerAttribute::MemoryType, address);
  operand.isOnDevice = result == kCudaSuccess && type == kDeviceMemory;
  if (operand.isOnDevice)
    memory[operand.role] = address;
}

/// Whether the memory that an operand has on the device is large enough.
std::string DeviceLauncher::checkRoom(const std::string &role, uint64_t bytes) {
  DevicePointer base = 0, address = memory.at(role);
  size_t size = 0;
  if (DriverCode result = driver.addressRange(&base, &size, address))
    return "'" + role + "': " + check("cuMemGetAddressRange", result);
  uint64_t room = base + size - address;
  if (bytes <= room)
    return "";
  return "operand '" + role + "' has " + std::to_string(room) +
         " bytes on the device; expected " + std::to_string(bytes) +
         ", as the launch plan packs it";
}

/// What tells a copy on the device from all others of these kernels.
std::string DeviceLauncher::residentKey(const HostOperand &operand) const {
  // Variants of a kernel read what it reads.
  std::string key = kernel.variantOf.value_or(kernel.name) + " " +
                    operand.role + " " +
                    std::to_string(reinterpret_cast<uintptr_t>(operand.data));
  for (const std::vector<int64_t> *list : {&operand.sizes, &operand.strides})
    for (int64_t value : *list)
      key += " " + std::to_string(value);
  // A size of the product may pad what does not show it.
  for (const auto &[name, value] : sizes)
    key += " " + std::to_string(value);
  return key;
}

/// How many bytes of a parameter's memory the kernel finds there: it writes all
/// of D, and what it reads of a workspace but the counters.
size_t DeviceLauncher::bytesToUpload(const std::string &role,
                                     size_t bytes) const {
  if (isResult(kernel, role))
    return 0;
  if (role != plan::kWorkspaceRole || !kernel.workspace)
    return bytes;
  Result<uint64_t> zeros =
      plan::evaluateSize(kernel.workspace->zeroBytes, sizes);
  return zeros ? std::min<size_t>(*zeros, bytes) : bytes;
}

std::string DeviceLauncher::upload(const DeviceData &data) {
  for (const auto &[role, bytes] : data.memory) {
    DevicePointer address = 0;
    if (DriverCode result = driver.allocate(&address, bytes.size(), stream))
      return "'" + role + "' of " + std::to_string(bytes.size()) +
             " bytes: " + check("cuMemAllocAsync", result);
    memory[role] = owned[role] = address;
    size_t count = bytesToUpload(role, bytes.size());
    if (count == 0)
      continue;
    if (DriverCode result =
            driver.copyToDevice(address, bytes.data(), count, stream))
      return "'" + role + "': " + check("cuMemcpyHtoDAsync", result);
  }
  return "";
}

std::string DeviceLauncher::addTensorMap(const plan::Parameter &parameter,
                                         DevicePointer address) {
  const plan::TensorMap &map = *parameter.tensorMap;
  constexpr size_t kMaxRank = 5;
  size_t rank = map.globalDim.size();
  if (rank < 1 || rank > kMaxRank || map.globalStrides.size() + 1 != rank ||
      map.boxDim.size() != rank || map.elementStrides.size() != rank)
    return "the tensor map of '" + parameter.role +
           "' does not have one rank of 1 to 5";
  uint64_t extents[kMaxRank] = {}, strides[kMaxRank] = {};
  uint32_t box[kMaxRank] = {}, steps[kMaxRank] = {};
  for (size_t i = 0; i < rank; ++i) {
    Result<uint64_t> extent = plan::evaluateSize(map.globalDim[i], sizes);
    Result<uint64_t> stride =
        i + 1 < rank ? plan::evaluateSize(map.globalStrides[i], sizes)
                     : uint64_t(0);
    if (!extent || !stride)
      return (extent ? stride : extent).why().text;
    extents[i] = *extent;
    strides[i] = *stride;
    box[i] = uint32_t(map.boxDim[i]);
    steps[i] = uint32_t(map.elementStrides[i]);
  }
  maps.emplace_back();
  parameters.push_back(&maps.back());
  DriverCode result = driver.encodeTiled(
      &maps.back(), int(map.dataType.code), unsigned(rank),
      reinterpret_cast<void *>(address), extents, strides, box, steps,
      int(map.interleave.code), int(map.swizzle.code),
      int(map.l2Promotion.code), int(map.oobFill.code));
  if (result == kCudaSuccess)
    return "";
  return "'" + parameter.role + "': " + check("cuTensorMapEncodeTiled", result);
}

std::string DeviceLauncher::addParameter(const plan::Parameter &parameter,
                                         const DeviceData &data) {
  if (parameter.kind == plan::ParameterKind::TensorMap)
    return addTensorMap(parameter, memory.at(parameter.role));
  if (parameter.kind == plan::ParameterKind::Pointer) {
    pointers.push_back(memory.at(parameter.role));
    parameters.push_back(&pointers.back());
    return "";
  }
  auto size = sizes.find(parameter.operand);
  if (parameter.type == "i32" && size != sizes.end()) {
    integers.push_back(int32_t(size->second));
    parameters.push_back(&integers.back());
    return "";
  }
  auto number = data.scalars.find(parameter.role);
  if (number == data.scalars.end())
    return "no value for parameter '" + parameter.role + "'";
  numbers.push_back(number->second);
  parameters.push_back(&numbers.back());
  return "";
}

/// Finds the terms of zero points that an earlier launch made of an operand
/// whose values never change.
void DeviceLauncher::findTerms(const std::string &role, HostOperands &operands,
                               const ResidentOperands &resident) {
  // Or the launch gives them.
  if (operands.count(role))
    return;
  std::string key = role;
  for (const auto &[name, operand] : operands) {
    if (!isPartOfTerms(kernel, name, role))
      continue;
    if (!operand.isResident || operand.isOnDevice)
      return;
    key += " of " + residentKey(operand);
  }
  auto found = resident.copies.find(key);
  if (found == resident.copies.end()) {
    toKeep[role] = key;
    return;
  }
  memory[role] = found->second;
  operands[role].role = role;
  operands[role].isOnDevice = true;
}

/// Whether the host reads the operand once more, for terms of zero points that
/// are not on the device.
bool DeviceLauncher::isForTerms(const std::string &role) const {
  for (std::string_view terms : {plan::kTermsOfA, plan::kTermsOfB})
    if (!kernel.zeroTerms.empty() && isPartOfTerms(kernel, role, terms))
      return !memory.count(std::string(terms));
  return false;
}

/// Finds what is on the device already.
void DeviceLauncher::findResident(HostOperands &operands,
                                  ResidentOperands &resident) {
  for (auto &[role, operand] : operands)
    findOnDevice(operand);
  std::lock_guard<std::mutex> lock(resident.mutex);
  if (!kernel.zeroTerms.empty())
    for (std::string_view role : {plan::kTermsOfA, plan::kTermsOfB})
      findTerms(std::string(role), operands, resident);
  for (auto &[role, operand] : operands) {
    if (!operand.isResident || operand.isOnDevice || operand.sizes.empty() ||
        isResult(kernel, role) || isZeros(kernel, role))
      continue;
    std::string key = residentKey(operand);
    // What is packed depends on both.
    auto zeros = operands.find(zerosRole(kernel, role));
    if (zeros != operands.end() && !zeros->second.isResident)
      continue;
    if (zeros != operands.end())
      key += " less " + residentKey(zeros->second);
    auto found = resident.copies.find(key);
    if (found == resident.copies.end() || isForTerms(role)) {
      toKeep[role] = key;
      continue;
    }
    memory[role] = found->second;
    makeContiguous(operand);
  }
}

/// Lets what was uploaded stay, unless another thread was faster.
std::string DeviceLauncher::keepResident(ResidentOperands &resident) {
  if (toKeep.empty())
    return "";
  // Launches on other streams do not wait for this one.
  if (DriverCode result = driver.waitForStream(stream))
    return check("cuStreamSynchronize", result);
  std::lock_guard<std::mutex> lock(resident.mutex);
  for (const auto &[role, key] : toKeep)
    if (resident.copies.emplace(key, owned.at(role)).second)
      owned.erase(role);
  return "";
}

/// Packs and uploads what is not on the device, and lines the parameters up.
std::string DeviceLauncher::gather(HostOperands &operands,
                                   ResidentOperands &resident) {
  findResident(operands, resident);
  Result<DeviceData> data = packOperands(kernel, sizes, operands);
  if (!data)
    return data.why().text;
  for (const auto &[role, bytes] : data->bytesOnDevice)
    if (std::string why = checkRoom(role, bytes); !why.empty())
      return why;
  if (std::string why = upload(*data); !why.empty())
    return why;
  if (std::string why = keepResident(resident); !why.empty())
    return why;
  for (const plan::Parameter &parameter : kernel.parameters)
    if (std::string why = addParameter(parameter, *data); !why.empty())
      return why;
  for (const auto &[role, operand] : operands)
    if (isResult(kernel, role) && !operand.isOnDevice)
      results.push_back({operand, std::move(data->memory.at(role))});
  return "";
}

std::string DeviceLauncher::named(std::string why) const {
  const std::string name = "kernel '" + kernel.name + "'";
  bool isNamed = why.empty() || why.compare(0, name.size(), name) == 0;
  return isNamed ? why : name + ": " + why;
}

std::string DeviceLauncher::prepare(const plan::Environment &given,
                                    HostOperands operands,
                                    ResidentOperands &resident) {
  plan::Residency residency{};
  std::string why = configure();
  if (why.empty())
    why = findResidency(residency);
  if (why.empty())
    why = bind(given, residency);
  if (why.empty())
    why = gather(operands, resident);
  // The launch may be on a stream that does not wait for this one.
  if (why.empty())
    why = check("cuStreamSynchronize", driver.waitForStream(stream));
  return named(why);
}

std::string DeviceLauncher::launch(Module module,
                                   const plan::Environment &given,
                                   HostOperands operands,
                                   ResidentOperands &resident) {
  plan::Residency residency{};
  std::string why = configure();
  if (why.empty())
    why = getFunction(module);
  if (why.empty())
    why = findResidency(residency);
  if (why.empty())
    why = countClusters(residency);
  if (why.empty())
    why = bind(given, residency);
  if (why.empty())
    why = gather(operands, resident);
  leaveSingleClusters();
  if (why.empty())
    why = check("cuLaunchKernelEx", driver.launch(&configuration, function,
                                                  parameters.data(), nullptr));
  return named(why);
}

std::string DeviceLauncher::finish() {
  if (results.empty())
    return "";
  // What a kernel does wrong is reported when it is waited for.
  for (auto &[operand, bytes] : results)
    if (DriverCode code = driver.copyToHost(
            bytes.data(), memory.at(operand.role), bytes.size(), stream))
      return named(check("cuMemcpyDtoHAsync", code));
  if (DriverCode code = driver.waitForStream(stream))
    return named(check("cuStreamSynchronize", code));
  for (const auto &[operand, bytes] : results)
    storeResult(kernel, sizes, bytes, operand);
  return "";
}

std::string DeviceLauncher::finishPrepared() {
  if (DriverCode code = driver.synchronize())
    return named(check("cuCtxSynchronize", code));
  return finish();
}

unsigned DeviceLauncher::grid(unsigned axis) const {
  const unsigned extents[] = {configuration.gridX, configuration.gridY,
                              configuration.gridZ};
  return extents[axis];
}
