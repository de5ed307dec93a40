//===- DeviceLaunch.h - one launch through the driver -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_DEVICELAUNCH_H
#define BLOCKSCALE_LIB_RUNTIME_DEVICELAUNCH_H

#include "Driver.h"
#include "blockscale/Runtime/HostOperands.h"

#include <list>
#include <mutex>

namespace blockscale::runtime {

/// The calling thread's context; where it has none, the primary context of
/// device 0 becomes it.
Result<Context> enterContext(const Driver &driver);

/// "10.0", of the device of the calling thread's context.
std::string computeCapability(const Driver &driver);

/// Copies of operands that stay on the device of one context, by what
/// `residentKey` says of them. Only what has arrived is listed.
struct ResidentOperands {
  std::mutex mutex;
  std::map<std::string, DevicePointer> copies;
};

/// Frees what was kept in `context`, unloads `module`, if there is one, and
/// leaves the thread's context as it was. Returns what went wrong.
std::string unloadIn(const Driver &driver, Context context, Module module,
                     const ResidentOperands &resident);

/// One launch of a kernel with its operands on the device. Each step returns
/// what went wrong. `kernel` and `resident` must outlive it, and the operands
/// be the kernel's.
class DeviceLauncher {
public:
  DeviceLauncher(const Driver &driver, const plan::Kernel &kernel,
                 Stream stream)
      : driver(driver), kernel(kernel), stream(stream) {}
  ~DeviceLauncher();
  DeviceLauncher(const DeviceLauncher &) = delete;
  DeviceLauncher &operator=(const DeviceLauncher &) = delete;

  /// Launches the kernel of `module`.
  std::string launch(Module module, const plan::Environment &given,
                     HostOperands operands, ResidentOperands &resident);
  /// Everything up to the launch, which somebody else does on any stream.
  std::string prepare(const plan::Environment &given, HostOperands operands,
                      ResidentOperands &resident);
  /// If anything of the result is for the host, waits for the kernel and stores
  /// it.
  std::string finish();
  /// Waits for the kernel, whoever launched it, and finishes.
  std::string finishPrepared();

  /// After `prepare`: CTAs along an axis, and the values of the parameters.
  unsigned grid(unsigned axis) const;
  const std::vector<void *> &values() const { return parameters; }

private:
  std::string getFunction(Module module);
  std::string configure();
  int smsOfGreenContext() const;
  std::string findResidency(plan::Residency &residency);
  std::string countClusters(plan::Residency &residency);
  void leaveSingleClusters();
  std::string bind(const plan::Environment &given,
                   const plan::Residency &residency);
  std::string setGrid();
  std::string gather(HostOperands &operands, ResidentOperands &resident);
  void findResident(HostOperands &operands, ResidentOperands &resident);
  void findTerms(const std::string &role, HostOperands &operands,
                 const ResidentOperands &resident);
  bool isForTerms(const std::string &role) const;
  std::string keepResident(ResidentOperands &resident);
  void findOnDevice(HostOperand &operand);
  std::string checkRoom(const std::string &role, uint64_t bytes);
  std::string residentKey(const HostOperand &operand) const;
  size_t bytesToUpload(const std::string &role, size_t bytes) const;
  std::string upload(const DeviceData &data);
  std::string addParameter(const plan::Parameter &parameter,
                           const DeviceData &data);
  std::string addTensorMap(const plan::Parameter &parameter,
                           DevicePointer address);
  std::string check(const char *function, DriverCode result) const {
    return driver.failure(function, result);
  }
  /// The sentence with the kernel's name in front.
  std::string named(std::string why) const;

  const Driver &driver;
  const plan::Kernel &kernel;
  Stream stream;
  Function function = nullptr;
  LaunchAttribute attributes[3] = {};
  LaunchConfiguration configuration = {};
  plan::Environment sizes;
  /// Where the operands are, and what of it goes with the launch.
  std::map<std::string, DevicePointer> memory;
  std::map<std::string, DevicePointer> owned;
  /// Keys of what is to stay, by role.
  std::map<std::string, std::string> toKeep;
  /// The values behind `parameters`; lists do not move what they hold.
  std::list<TensorMapBytes> maps;
  std::list<DevicePointer> pointers;
  std::list<int32_t> integers;
  std::list<float> numbers;
  std::vector<void *> parameters;
  /// What goes to the host of D or its parts: where, and as the kernel wrote
  /// it.
  std::vector<std::pair<HostOperand, std::vector<uint8_t>>> results;
};

} // namespace blockscale::runtime

#endif // BLOCKSCALE_LIB_RUNTIME_DEVICELAUNCH_H
