//===- Target.h - the chips we compile for ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target is a chip and how far the code may travel: an architecture-specific
// target ("sm_100a") runs on that chip only, a family target ("sm_100f") on the
// chips of the family, a plain one ("sm_100") on every later chip. Everything a
// client may ask about a chip is a row of a table in Target.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_TARGET_H
#define BLOCKSCALE_HW_TARGET_H

#include "blockscale/Formats/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::hw {

/// The chips, oldest number first. The enumerator's value is its row in the
/// table of chips.
enum class Chip : uint8_t { SM100, SM103, SM107, SM110, SM120, SM121 };

/// The letter after the number of a target name.
enum class TargetVariant : uint8_t {
  Plain,       ///< "sm_100": no block-scaled instruction is in this subset.
  Family,      ///< "sm_100f": what all chips of the family have.
  ArchSpecific ///< "sm_100a": everything this one chip has.
};

/// A chip and a variant; a small value, ordered by chip, then variant.
struct Target {
  Chip chip = Chip::SM100;
  TargetVariant variant = TargetVariant::ArchSpecific;

  friend constexpr bool operator==(Target a, Target b) {
    return a.chip == b.chip && a.variant == b.variant;
  }
  friend constexpr bool operator!=(Target a, Target b) { return !(a == b); }
  friend constexpr bool operator<(Target a, Target b) {
    return a.chip != b.chip ? a.chip < b.chip : a.variant < b.variant;
  }
};

/// The chip of programs that name none.
inline constexpr Target kDefaultTarget = {Chip::SM100,
                                          TargetVariant::ArchSpecific};

/// What one chip is. Sizes in bytes unless the name says otherwise; sources
/// stand beside the numbers in Target.cpp.
struct ChipInfo {
  Chip chip;
  /// "sm_100", without a letter.
  std::string_view name;
  /// Oldest PTX version that knows the "a" and "f" targets, times ten: 86 is
  /// PTX 8.6.
  unsigned minPtxArchSpecific;
  unsigned minPtxFamily;
  /// Tensor memory and the tcgen05 instructions; without it the matrix
  /// instructions are mma.sync, with operands and scales in registers.
  bool hasTensorMemory;
  /// Most dynamic shared memory a CTA may ask for.
  unsigned sharedMemoryPerCta;
  unsigned sharedMemoryPerSm;
  unsigned maxThreadsPerSm;
  /// Code for the "f" target of one chip of a family runs on the chips of that
  /// family with the same or a higher number: 100, 103, 107 are family 100.
  unsigned family;
  /// The same two where the launcher asks for the oversized mode of shared
  /// memory; 0 if the chip has none.
  unsigned oversizedSharedPerCta, oversizedSharedPerSm;
  /// Columns of tensor memory of an SM; 0 without.
  unsigned tensorMemoryColumns;
  unsigned maxCtasPerSm;
};

/// Limits that all chips share.
inline constexpr unsigned kRegistersPerSm = 65536;
inline constexpr unsigned kMaxRegistersPerThread = 255;
inline constexpr unsigned kMaxThreadsPerCta = 1024;
inline constexpr unsigned kWarpSize = 32;
inline constexpr unsigned kNamedBarriers = 16;
/// CTAs in a cluster: what every part takes, and what it takes when the kernel
/// opts in to non-portable cluster sizes.
inline constexpr unsigned kMaxPortableCluster = 8;
inline constexpr unsigned kMaxCluster = 16;
/// Bytes at the start of a CTA's shared memory that belong to the system; the
/// first byte of the kernel has this offset.
inline constexpr unsigned kReservedSharedMemory = 1024;
/// Register counts that setmaxnreg takes: 24, 32, ..., 256.
inline constexpr unsigned kMinSetMaxRegisters = 24;
inline constexpr unsigned kMaxSetMaxRegisters = 256;
inline constexpr unsigned kSetMaxRegistersStep = 8;
/// Newest PTX version, times ten, that we write (LLVM 22.1 up to 90: see
/// PtxVersion.h).
inline constexpr unsigned kMaxPtxVersion = 95;

/// The row of `chip`.
const ChipInfo &chipInfo(Chip chip);

/// All chips, in the order of the enum.
const std::vector<Chip> &allChips();

/// All "a" targets, then all "f" targets, then the plain ones.
const std::vector<Target> &allTargets();

/// "sm_100a" and so on.
std::string targetName(Target target);

/// Reads a target name, also a plain one such as "sm_100" (whyNotTarget()
/// refuses it). The reason why a name is none lists the known ones.
Result<Target> parseTarget(std::string_view name);

/// Why nothing can be compiled for `target`: plain targets have no block-scaled
/// instruction. Empty for "a" and "f" targets.
std::optional<Reason> whyNotTarget(Target target);

/// Oldest PTX version, times ten, that knows `target`. 0 for a plain target.
unsigned minPtxVersion(Target target);

/// Whether `target` has tensor memory and tcgen05.
bool hasTensorMemory(Target target);

/// Columns of tensor memory of the chip that has most.
unsigned mostTensorColumns();

/// Whether code for `target` runs on `chip`.
bool runsOn(Target target, Chip chip);

/// The "a" target of the same chip.
constexpr Target archSpecific(Target target) {
  return {target.chip, TargetVariant::ArchSpecific};
}

/// Why a cluster of `ctas` CTAs cannot be launched on `target`; empty if it
/// can. More than 8 needs `nonPortable`.
std::optional<Reason> whyNotCluster(Target target, unsigned ctas,
                                    bool nonPortable = false);

/// Most dynamic shared memory that a CTA of `chip` may have, in the oversized
/// mode if there is one.
unsigned mostSharedMemory(Chip chip);

/// Whether the launcher must ask for the oversized mode to give a CTA of `chip`
/// `bytes` of dynamic shared memory.
bool needsOversizedShared(Chip chip, uint64_t bytes);

/// "; ..." with the chips that give a CTA `bytes` of shared memory although
/// `target` does not; empty where none does.
std::string whereSharedMemory(Target target, uint64_t bytes);

/// Why a CTA cannot have `bytes` of dynamic shared memory on `target` in any
/// mode; empty if it can.
std::optional<Reason> whyNotSharedMemory(Target target, uint64_t bytes);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_TARGET_H
