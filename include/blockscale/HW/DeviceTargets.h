//===- DeviceTargets.h - which devices run code for a target ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For those who compile for several targets, of which each device is to run the
// best that it can.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_DEVICETARGETS_H
#define BLOCKSCALE_HW_DEVICETARGETS_H

#include "blockscale/HW/Target.h"

namespace blockscale::hw {

/// Reads the names of one or several targets, "sm_100a,sm_107a", each of which
/// may be compiled for (whyNotTarget()) and stands there once. They come in the
/// order in which a device is to be offered their code: code for one chip
/// before that for a family, of newer chips first.
Result<std::vector<Target>> parseTargets(std::string_view names);

/// What devices with this chip call themselves: "10.7" of sm_107.
std::string computeCapability(Chip chip);

/// The compute capabilities of the devices that code for `target` runs on.
std::vector<std::string> devicesOf(Target target);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_DEVICETARGETS_H
