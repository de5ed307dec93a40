//===- DeviceTargets.cpp - which devices run code for a target ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/DeviceTargets.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::hw;

Result<std::vector<Target>>
blockscale::hw::parseTargets(std::string_view names) {
  std::vector<Target> targets;
  for (size_t begin = 0; begin <= names.size();) {
    size_t end = std::min(names.find(',', begin), names.size());
    Result<Target> target = parseTarget(names.substr(begin, end - begin));
    if (!target)
      return target.why();
    if (std::optional<Reason> why = whyNotTarget(*target))
      return *why;
    if (std::find(targets.begin(), targets.end(), *target) != targets.end())
      return Reason("target '" + targetName(*target) + "'" + " is named twice");
    targets.push_back(*target);
    begin = end + 1;
  }
  std::sort(targets.begin(), targets.end(), [](Target a, Target b) {
    return a.variant != b.variant ? a.variant > b.variant : a.chip > b.chip;
  });
  return targets;
}

std::string blockscale::hw::computeCapability(Chip chip) {
  // "sm_107": the last digit is the minor number.
  std::string_view digits = chipInfo(chip).name;
  digits.remove_prefix(digits.find('_') + 1);
  return std::string(digits.substr(0, digits.size() - 1)) + "." + digits.back();
}

std::vector<std::string> blockscale::hw::devicesOf(Target target) {
  std::vector<std::string> devices;
  for (Chip chip : allChips())
    if (runsOn(target, chip))
      devices.push_back(computeCapability(chip));
  return devices;
}
