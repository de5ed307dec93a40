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
#include "blockscale/Formats/Parsed.h"
#include "blockscale/HW/Part.h"
#include "blockscale/Plan/Expression.h"
#include "blockscale/Plan/Plan.h"

#include <map>

namespace blockscale::verify {

/// What a device runs of a kernel at once.
struct Residency {
  /// SMs of the device; the kernels of plans take one to a CTA.
  int64_t numSms;
  /// Clusters of the kernel's size.
  int64_t maxClusters;
};

/// The residency on `part`, whose larger clusters leave some SMs idle.
Residency residencyOn(const hw::Part &part, const plan::Kernel &kernel);

/// The residency on `numSms` SMs of which any can share a cluster.
Residency residencyOn(int64_t numSms, const plan::Kernel &kernel);

/// The residency on the reference part of the chip that the plan names.
Parsed<Residency> residencyOn(const plan::Plan &plan,
                              const plan::Kernel &kernel);

/// Values of all names that the kernel's expressions may use: its static sizes,
/// `given` for the dynamic ones, and those of `residency`. Refused: a dynamic
/// size without value, a size below 1 or beyond its maximum, sizes beyond a
/// limit of the kernel, a given value that contradicts a static size, a name
/// that is no size, a plan without one of M, N, K and batch, and a device that
/// holds no cluster.
Parsed<plan::Environment> bindSizes(const plan::Kernel &kernel,
                                    const plan::Environment &given,
                                    const Residency &residency);

/// The value of an expression of the plan that must not be negative.
Parsed<uint64_t> evaluateSize(const std::string &expression,
                              const plan::Environment &sizes);

/// Bytes of global memory that a pointer or tensor-map parameter stands for;
/// 0 for a scalar.
Parsed<uint64_t> memoryBytes(const plan::Kernel &kernel,
                             const plan::Parameter &parameter,
                             const plan::Environment &sizes);

/// How the parameters of `kernel` differ from those that `module` declares for
/// it: number, place, size and alignment. Empty if they agree.
std::string whyNotParameters(const plan::Kernel &kernel,
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
/// `offsets`; only "d" is writable. Sizes come from `sizes`. For a kernel that
/// waits for the grid before it itself, that grid may have written all of the
/// memory.
Parsed<emulator::Launch> buildLaunch(const plan::Kernel &kernel,
                                     const plan::Environment &sizes,
                                     HostData &data);

} // namespace blockscale::verify

#endif // BLOCKSCALE_VERIFY_PLANLAUNCH_H
