//===- Memory.h - shared and tensor memory geometry -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where operand tiles lie in shared memory (swizzles, canonical layouts, the
// offsets a descriptor needs) and where accumulators lie in tensor memory.
// PTX ISA 9.7.16.4 (shared memory), 9.7.16.1 and 9.7.16.10 (tensor memory).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_MEMORY_H
#define BLOCKSCALE_HW_MEMORY_H

#include "blockscale/Formats/Result.h"
#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/Layout.h"

#include <vector>

namespace blockscale::hw {

//===----------------------------------------------------------------------===//
// Swizzles
//===----------------------------------------------------------------------===//

/// Bytes of one row of the swizzle pattern: 128, 64, 32, or 16 without swizzle
/// (the width of a column of core matrices).
unsigned swizzleWidth(Swizzle swizzle);

/// Natural alignment of the pattern in bytes: 1024, 512, 256; 16 without
/// swizzle.
unsigned swizzleAlignment(Swizzle swizzle);

/// The physical byte address of logical byte address `address`. The function
/// is its own inverse; it works on absolute shared-memory addresses.
std::uint64_t swizzled(Swizzle swizzle, std::uint64_t address);

/// The bits that a swizzle moves: address ^ ((address >> from & mask) << to).
struct SwizzleBits {
  unsigned from, to;
  std::uint64_t mask;
};
SwizzleBits swizzleBits(Swizzle swizzle);

/// "128B", "128B_32B_atoms", "64B", "32B", "none".
std::string_view swizzleName(Swizzle swizzle);
std::optional<Swizzle> parseSwizzle(std::string_view name);

//===----------------------------------------------------------------------===//
// Operand tiles in shared memory
//===----------------------------------------------------------------------===//

/// A tile of A (mn = m) or B (mn = n) in the canonical layout. K-major tiles
/// put all rows of one swizzle-wide column of K first, then the next column;
/// MN-major tiles put all K of one swizzle-wide group of MN first.
struct OperandTile {
  OperandMajor major = OperandMajor::K;
  Swizzle swizzle = Swizzle::B128;
  /// Bits of an element as stored: 4 (packed), 8 (also padded 4/6-bit), 16 or
  /// 32.
  unsigned containerBits = 8;
  /// Elements. mn a multiple of 8; a row of the major index a multiple of
  /// the swizzle width.
  unsigned mn = 0, k = 0;
};

/// Elements in a row of the swizzle pattern.
unsigned swizzleElements(const OperandTile &tile);

/// Why the tile has no canonical layout, empty if it has.
std::optional<Reason> whyNot(const OperandTile &tile);

/// Bytes of the whole tile.
std::uint64_t tileBytes(const OperandTile &tile);

/// Byte offset of element (mn, k) before the swizzle; for 4-bit containers
/// the byte that holds it. The element must lie in the tile.
Result<std::uint64_t> tileOffset(const OperandTile &tile, unsigned mn,
                                 unsigned k);

/// Offset of element (mn, k) after the swizzle, in elements (nibbles for 4-bit
/// containers), in a tile at a natural boundary.
Result<std::uint64_t> elementOffset(const OperandTile &tile, unsigned mn,
                                    unsigned k);

/// The inverse of `elementOffset`: the (mn, k) stored there.
Result<std::pair<unsigned, unsigned>> elementAt(const OperandTile &tile,
                                                std::uint64_t elementOffset);

/// The part of a tile that one MMA reads.
struct OperandStep {
  /// Extent of one MMA in elements.
  unsigned mmaMn = 0, mmaK = 0;
  /// Which of them.
  unsigned mnIndex = 0, kIndex = 0;
};

/// What the descriptor of one step needs, in bytes.
struct StepAddress {
  std::uint64_t startOffset;
  /// As the descriptor encodes them: 16 for the unused LBO of swizzled
  /// K-major tiles; 0 in MN-major tiles for a stride that is never taken.
  std::uint32_t lbo, sbo;
};
Result<StepAddress> stepAddress(const OperandTile &tile,
                                const OperandStep &step);

/// The descriptor of the step of a tile at shared-memory byte address `base`.
/// A tile off the natural boundary of its swizzle gets a base offset.
Result<SmemDescriptor> stepDescriptor(const OperandTile &tile,
                                      const OperandStep &step,
                                      std::uint32_t base,
                                      unsigned addressBits = kSmemAddressBits);

/// Bytes of an mbarrier, which is also their alignment.
inline constexpr unsigned kBarrierBytes = 8;

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

/// Tensor memory of one CTA: columns that a plain allocation may have; see
/// ChipInfo for those that there are.
inline constexpr unsigned kTmemLanes = 128;
inline constexpr unsigned kTmemColumns = 512;
/// Step of the columns of an exclusive allocation.
inline constexpr unsigned kExclusiveColumnStep = 32;
/// Bytes of a column in one lane.
inline constexpr unsigned kTmemColumnBytes = 4;

/// Bytes of rows, each row in its lane, running on in the columns: sparsity
/// metadata of A, and on sm_107 its scales.
inline constexpr Layout kRowPerLane{
    {Dim::Row, 1, 0, Dim::Lane},
    {Dim::Block, kTmemColumnBytes, 0, Dim::Column},
    {Dim::Block, 1, kTmemColumnBytes, Dim::Byte}};

/// A 32-bit tensor-memory address: lane in the high, column in the low half.
constexpr std::uint32_t tmemAddress(unsigned lane, unsigned column) {
  return lane << 16 | column;
}

/// tcgen05.cp writes from columns that are a multiple of this.
inline constexpr unsigned kCopyColumnStep = 4;

/// A region of tensor memory.
struct TmemRegion {
  unsigned columns;
  /// Whether tcgen05.cp fills it.
  bool isCopied;
};

/// First columns of regions that lie one behind the other, and the end of the
/// last.
struct TmemPlan {
  std::vector<unsigned> first;
  unsigned end = 0;
};
TmemPlan placeRegions(const std::vector<TmemRegion> &regions);

/// Smallest legal allocation (power of two, 32 .. 512 columns) that holds
/// `columns` columns; refuses 0 and more than 512.
Result<unsigned> allocationColumns(unsigned columns);

/// An allocation, and whether it is `.exclusive`: then any multiple of 32, and
/// no other lives on the SM beside it.
struct TmemAllocation {
  unsigned columns;
  bool isExclusive;
};
/// The smallest allocation of `chip` that holds `columns` columns, a plain one
/// if there is one; refuses 0 and more than the chip has.
Result<TmemAllocation> allocationOn(Chip chip, unsigned columns);

/// Accumulator layouts under the names of the PTX ISA.
enum class AccumulatorLayout {
  /// cta_group::2, M=256.
  A,
  /// cta_group::2, M=128, dense.
  B,
  /// cta_group::1, M=128.
  D,
  /// cta_group::1, M=64 (kinds without scales).
  F
};

/// The layout of an instruction, or why it has none here.
Result<AccumulatorLayout> accumulatorLayout(unsigned ctaGroup, unsigned m,
                                            bool sparse);

/// Where a 32-bit accumulator element lies.
struct TmemPosition {
  /// Rank of the CTA in its pair.
  unsigned cta;
  unsigned lane, column;
};

/// The accumulator of an instruction with `nExtent` columns as a layout from
/// row and column of D to CTA, lane and column.
Layout accumulatorPlaces(AccumulatorLayout layout, unsigned nExtent);

/// Position of element (m, n) of an instruction with `nExtent` columns,
/// relative to the accumulator's first column. 8 <= nExtent <= 256 in steps of
/// 8 (16 for pairs).
Result<TmemPosition> accumulatorPosition(AccumulatorLayout layout,
                                         unsigned nExtent, unsigned m,
                                         unsigned n);

/// The inverse: the (m, n) at a position; refuses unused places.
Result<std::pair<unsigned, unsigned>>
accumulatorElement(AccumulatorLayout layout, unsigned nExtent,
                   TmemPosition position);

/// Columns of one accumulator: nExtent, or half of it in layout B.
unsigned accumulatorColumns(AccumulatorLayout layout, unsigned nExtent);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_MEMORY_H
