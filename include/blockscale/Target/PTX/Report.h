//===- Report.h - what a compiled kernel uses -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The report of a compilation, as data, as JSON and as text. The compiler fills
// it from the schedule and the memory assignment, ptxas adds what it measured.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TARGET_PTX_REPORT_H
#define BLOCKSCALE_TARGET_PTX_REPORT_H

#include "blockscale/Target/PTX/Ptxas.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace blockscale {

/// A named part of a memory. Bytes in shared memory, columns in tensor memory.
struct MemoryRegion {
  std::string name;
  uint64_t offset = 0;
  uint64_t size = 0;
  /// Equal parts of it, stages of a ring or accumulators, and how far apart
  /// they begin. They overlap where that is less than the size of one.
  unsigned copies = 1;
  uint64_t stride = 0;

  uint64_t copySize() const { return size - (copies - 1) * stride; }
};

/// How a kernel with instructions of K = 96 covers what K leaves over behind
/// whole K tiles of 768 elements.
struct KTail {
  /// K is known at launch only; the numbers are 0.
  bool atLaunch = false;
  /// Instructions of K = 96, and of the kind's ordinary K behind them.
  unsigned longMmas = 0, shortMmas = 0;
  /// Elements behind the end of K that they multiply as zeros.
  unsigned zeroFill = 0;
};

/// In place of an MMA kind: the kernel quantises or converts and has no main
/// loop, so that what tells of one is 0.
inline constexpr const char *kQuantizeKind = "quantize";
inline constexpr const char *kDequantizeKind = "dequantize";
inline constexpr const char *kRelayoutKind = "relayout";
inline constexpr const char *kPruneKind = "prune";
inline constexpr const char *kCompressKind = "compress";
inline constexpr const char *kDensifyKind = "densify";
inline constexpr const char *kTileSumsKind = "tile_sums";

struct KernelReport {
  /// The name of the entry in the PTX.
  std::string name;
  /// The MMA kind as PTX spells it: "mxf4nvf4", ...; or one of those above.
  std::string kind;
  /// Of a kernel that changes layouts and orders the parts that it moves:
  /// "elements, metadata, scales".
  std::string moved;
  /// The tile of one CTA, in elements.
  unsigned tileM = 0, tileN = 0, tileK = 0;
  /// K of one instruction of the main loop, the CTAs that work together in it,
  /// the number of PTX's `.blockN` (0 without scales), and whether A is sparse.
  unsigned mmaK = 0, ctaGroup = 1, block = 0;
  bool sparse = false;
  /// Empty without instructions of K = 96 or without a tail.
  std::optional<KTail> kTail;
  /// Tensor-core instructions, and copies of scales into tensor memory, of one
  /// CTA for one K tile.
  unsigned mmasPerKTile = 0, copiesPerKTile = 0;
  /// Depth of the ring of K tiles in shared memory.
  unsigned stages = 0;
  /// Accumulators in tensor memory.
  unsigned accumulators = 0;
  /// Dynamic shared memory of one CTA, how much the chip would give, in bytes,
  /// and how it is divided.
  uint64_t sharedMemoryBytes = 0, sharedMemoryLimitBytes = 0;
  /// Columns of tensor memory of the chip; 0 without.
  unsigned tensorMemoryLimitColumns = 0;
  std::vector<MemoryRegion> sharedMemory;
  /// Columns of tensor memory that one CTA allocates, and how they are divided.
  unsigned tensorMemoryColumns = 0;
  std::vector<MemoryRegion> tensorMemory;
  /// Floating-point operations per byte that one CTA moves between global
  /// memory and itself in one K tile.
  double flopsPerByte = 0;
  /// Predicted cycles of the tensor core, and of fetching the operands from
  /// L2, of one CTA for one K tile. The longer one bounds the main loop.
  double mmaCyclesPerKTile = 0, loadCyclesPerKTile = 0;
  /// What ptxas says; empty when the kernel was not assembled.
  std::optional<PtxasFunctionInfo> resources;
};

struct Report {
  /// The chip: "sm_100a", ...
  std::string target;
  std::vector<KernelReport> kernels;
};

/// Gives each kernel of `report` what ptxas said about the function of its
/// name.
void addResources(Report &report,
                  const std::vector<PtxasFunctionInfo> &functions);

/// The report as JSON, schema version 1: an object with "version", "target"
/// and "kernels". Keys are the names of the members above in snake_case; what
/// ptxas would have said is null when it did not run.
std::string printReportJSON(const Report &report);

/// The report as text for people, one block of lines per kernel.
std::string printReportText(const Report &report);

} // namespace blockscale

#endif // BLOCKSCALE_TARGET_PTX_REPORT_H
