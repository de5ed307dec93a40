//===- Target.h - NeuronCores and revisions of NKI --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target of this half is a chip of AWS and a revision of the public
// documentation of NKI, its kernel language: limits and parameters of
// `nc_matmul_mx` changed from one to the next. Everything that differs is a
// field of a row in Target.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_NKI_TARGET_H
#define BLOCKSCALE_NKI_TARGET_H

#include "blockscale/Formats/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace blockscale::nki {

/// The chips, oldest first; the value is the row of the table.
enum class Chip : uint8_t { Trn1, Inf2, Trn2, Trn3 };

/// What one chip's NeuronCore is. Sizes in bytes.
struct ChipInfo {
  Chip chip;
  /// "trn3".
  std::string_view name;
  /// "NeuronCore-v4".
  std::string_view core;
  /// Whether it has nc_matmul_mx and quantize_mx.
  bool hasMX;
};

/// Revisions of the API documentation, oldest first, by the time of the first
/// document that says so.
enum class Revision : uint8_t { Dec2025, LateDec2025, Apr2026, Jul2026 };

/// How the instruction is told whether to overwrite or to add.
enum class AccumulateControl : uint8_t {
  /// `psum_accumulate_flag`, three bits.
  Flag,
  /// Not at all: the first write to a PSUM tile overwrites, later ones add.
  Inferred,
  /// `accumulate`, True or False; None is Inferred.
  Argument
};

/// What one revision documents.
struct RevisionInfo {
  Revision revision;
  /// "2026-07".
  std::string_view name;
  AccumulateControl control;
  /// Most columns of the moving tile for a result in float32 and in bfloat16.
  unsigned maxMovingF32, maxMovingBF16;
  /// Whether scale tiles may be float8_e8m0fnu besides uint8.
  bool hasE8M0Scales;
  /// Whether nc_matmul_mx reads operands through an index.
  bool hasIndirection;
  /// Whether nl.ndarray takes `address`.
  bool hasAddresses;
  /// Whether the chip is named in the decorator, nki.jit(platform_target=...).
  bool namesPlatform;
};

struct Target {
  Chip chip = Chip::Trn3;
  Revision revision = Revision::Jul2026;

  friend constexpr bool operator==(Target a, Target b) {
    return a.chip == b.chip && a.revision == b.revision;
  }
  friend constexpr bool operator!=(Target a, Target b) { return !(a == b); }
};

const ChipInfo &chipInfo(Chip chip);
const RevisionInfo &revisionInfo(Revision revision);

/// "trn3" with the newest revision, "trn3@2026-04" with another.
std::string targetName(Target target);

/// Whether `name` means a chip of this half, known or not: "trn..." and
/// "inf...". Such names are never those of an NVIDIA chip.
bool isTargetName(std::string_view name);

/// Reads a target, also one without the instructions (whyNotTarget() refuses
/// it). The reason why a name is none lists the known ones.
Result<Target> parseTarget(std::string_view name);

/// Why there is nothing to compile for `target`; empty for NeuronCore-v4.
std::optional<Reason> whyNotTarget(Target target);

// Sizes of NeuronCore-v4's memories, from the Trainium3 architecture guide.
/// Partitions of SBUF and PSUM, and rows and columns of the tensor engine.
inline constexpr unsigned kPartitions = 128;
/// SBUF is 32 MiB.
inline constexpr unsigned kSbufBytesPerPartition = 32 * 1024 * 1024 / 128;
/// PSUM is 2 MiB: 8 banks of 2 KiB in each partition.
inline constexpr unsigned kPsumBanks = 8;
inline constexpr unsigned kPsumBankBytes = 2048;
/// Partitions of a quadrant of SBUF.
inline constexpr unsigned kQuadrant = 32;

} // namespace blockscale::nki

#endif // BLOCKSCALE_NKI_TARGET_H
