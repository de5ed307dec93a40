//===- PlanLaunch.h - from a launch plan to an emulator launch --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Does for the emulator what a host does for the driver: evaluates the plan's
// formulas, describes tensor maps, and lines the arguments up.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_VERIFY_PLANLAUNCH_H
#define BLOCKSCALE_VERIFY_PLANLAUNCH_H

#include "blockscale/Emulator/Machine.h"
#include "blockscale/Formats/Result.h"
#include "blockscale/HW/Part.h"
#include "blockscale/Plan/Plan.h"
#include "blockscale/Plan/Sizes.h"

#include <map>

namespace blockscale::verify {

using plan::bindSizes;
using plan::evaluateSize;
using plan::memoryBytes;
using plan::Residency;

/// The residency on `part`, whose larger clusters leave some SMs idle.
Residency residencyOn(const hw::Part &part, const plan::Kernel &kernel);

/// The residency on `numSms` SMs of which any can share a cluster.
Residency residencyOn(int64_t numSms, const plan::Kernel &kernel);

/// The residency on the reference part of the chip that the plan names.
Result<Residency> residencyOn(const plan::Plan &plan,
                              const plan::Kernel &kernel);

/// How the parameters of `kernel` differ from those that `module` declares for
/// it: number, place, size and alignment. Empty if they agree.
std::optional<Reason> whyNotParameters(const plan::Kernel &kernel,
                                       const emulator::Module &module);

/// What the host holds for one launch, by the roles of the parameters.
struct HostData {
  std::map<std::string, std::vector<uint8_t>> memory;
  /// Bytes of a memory that lie before what its parameter points to; 0 for
  /// those that are not here. They belong to nobody.
  std::map<std::string, uint64_t> offsets;
  /// "alpha", "beta".
  std::map<std::string, float> scalars;
};

/// The launch of `kernel`. Its buffers borrow the memory of `data`, which must
/// outlive it and hold exactly the bytes that memoryBytes says, after those of
/// `offsets`; only "d", its parts and a workspace are writable. Sizes come from
/// `sizes`. For a kernel that waits for the grid before it itself, that grid
/// may have written all of the memory.
Result<emulator::Launch> buildLaunch(const plan::Kernel &kernel,
                                     const plan::Environment &sizes,
                                     HostData &data);

} // namespace blockscale::verify

#endif // BLOCKSCALE_VERIFY_PLANLAUNCH_H
