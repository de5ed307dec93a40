//===- EmulatedLaunch.h - a launch with its memory --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `emulate` runs of a PTX file: a launch that a plan describes, or one
// that the command line spells.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_EMULATEDLAUNCH_H
#define BLOCKSCALE_LIB_DRIVER_EMULATEDLAUNCH_H

#include "blockscale/Emulator/Machine.h"
#include "blockscale/Packing/Npy.h"
#include "blockscale/Verify/PlanLaunch.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace blockscale::driver {

/// A launch with the memory that its buffers borrow.
struct EmulatedLaunch {
  emulator::Launch launch;
  unsigned sms = 0; ///< of the device; 0 where nothing says
  /// Arrays of a launch from --arg, in the order of the buffers.
  std::vector<std::unique_ptr<packing::NpyArray>> arrays;
  /// Parameter index to array.
  std::map<unsigned, packing::NpyArray *> byParameter;
  /// Memory of a launch from --plan.
  verify::HostData data;
};

/// What the command line says of a launch by a plan: --plan, --in and --set.
/// The last two are lists of NAME=VALUE, which the caller has checked.
struct PlannedLaunch {
  std::string file;
  std::vector<std::string> inputs, settings;
};

/// What the command line says of a launch without a plan.
struct SpelledLaunch {
  std::string grid = "1", cluster = "1", block = "1";
  uint32_t shared = 0; ///< bytes of dynamic shared memory
  bool oversizedShared = false;
  std::vector<std::string> arguments; ///< of --arg
};

/// NAME=VALUE in two; nothing if a part is missing.
std::optional<std::pair<std::string, std::string>>
splitPair(std::string_view text);

/// Each fills `prepared`, or reports what is wrong and returns an exit code
/// other than 0. Without a name of a kernel it is the plan's first.
int prepareLaunch(const PlannedLaunch &planned, const std::string &kernel,
                  const emulator::Module &module, EmulatedLaunch &prepared);
int prepareLaunch(const SpelledLaunch &spelled, const std::string &kernel,
                  EmulatedLaunch &prepared);

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_EMULATEDLAUNCH_H
