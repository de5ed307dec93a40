//===- Memory.cpp - shared and tensor memory geometry===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Memory.h"

namespace blockscale::hw {

//===----------------------------------------------------------------------===//
// Swizzles
//===----------------------------------------------------------------------===//

namespace {
/// Address bits `to` .. are XORed with the bits `from` .. under `mask`.
struct SwizzleRow {
  Swizzle swizzle;
  std::string_view name;
  unsigned width, alignment;
  unsigned from, to;
  std::uint64_t mask;
};

constexpr std::array kSwizzles{
    SwizzleRow{Swizzle::None, "none", 16, 16, 0, 0, 0},
    SwizzleRow{Swizzle::B128Atom32, "128B_32B_atoms", 128, 1024, 7, 5, 3},
    SwizzleRow{Swizzle::B128, "128B", 128, 1024, 7, 4, 7},
    SwizzleRow{Swizzle::B64, "64B", 64, 512, 7, 4, 3},
    SwizzleRow{Swizzle::B32, "32B", 32, 256, 7, 4, 1},
};

const SwizzleRow &row(Swizzle swizzle) {
  for (const SwizzleRow &entry : kSwizzles)
    if (entry.swizzle == swizzle)
      return entry;
  return kSwizzles[0];
}
} // namespace

unsigned swizzleWidth(Swizzle swizzle) { return row(swizzle).width; }

unsigned swizzleAlignment(Swizzle swizzle) { return row(swizzle).alignment; }

std::uint64_t swizzled(Swizzle swizzle, std::uint64_t address) {
  const SwizzleRow &entry = row(swizzle);
  return address ^ (((address >> entry.from) & entry.mask) << entry.to);
}

SwizzleBits swizzleBits(Swizzle swizzle) {
  const SwizzleRow &entry = row(swizzle);
  return {entry.from, entry.to, entry.mask};
}

std::string_view swizzleName(Swizzle swizzle) { return row(swizzle).name; }

std::optional<Swizzle> parseSwizzle(std::string_view name) {
  for (const SwizzleRow &entry : kSwizzles)
    if (entry.name == name)
      return entry.swizzle;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Operand tiles in shared memory
//===----------------------------------------------------------------------===//

unsigned swizzleElements(const OperandTile &tile) {
  return 8 * swizzleWidth(tile.swizzle) / tile.containerBits;
}

std::optional<Reason> whyNot(const OperandTile &tile) {
  unsigned width = swizzleWidth(tile.swizzle);
  std::string swizzle = "'" + std::string(swizzleName(tile.swizzle)) + "'";
  if (tile.containerBits != 4 && tile.containerBits != 8 &&
      tile.containerBits != 16 && tile.containerBits != 32)
    return "elements are stored in 4, 8, 16 or 32 bits, found " +
           std::to_string(tile.containerBits);
  if (tile.mn == 0 || tile.k == 0 || tile.mn > 1u << 16 || tile.k > 1u << 16)
    return "tile of " + std::to_string(tile.mn) + " x " +
           std::to_string(tile.k) + " elements, extents are 1 to 65536";
  if (tile.major == OperandMajor::K) {
    if (tile.mn % 8 != 0)
      return "a K-major tile has a multiple of 8 rows, found " +
             std::to_string(tile.mn);
    if (std::uint64_t(tile.k) * tile.containerBits % (8 * width) != 0)
      return "a row of " + std::to_string(tile.k) + " elements of " +
             std::to_string(tile.containerBits) +
             " bits is not a multiple of the " + std::to_string(width) +
             " bytes of swizzle " + swizzle;
    return std::nullopt;
  }
  if (tile.containerBits != 8 && tile.containerBits != 16)
    return "only operands of 8 and 16 bits may be MN-major";
  if (tile.swizzle == Swizzle::B128Atom32)
    return "MN-major operands of 8 and 16 bits cannot use swizzle " + swizzle;
  if (tile.mn % swizzleElements(tile) != 0)
    return "an MN extent of " + std::to_string(tile.mn) + " elements of " +
           std::to_string(tile.containerBits) +
           " bits is not a multiple of the " + std::to_string(width) +
           " bytes of swizzle " + swizzle;
  if (tile.k % 8 != 0)
    return "an MN-major tile has a multiple of 8 in K, found " +
           std::to_string(tile.k);
  return std::nullopt;
}

std::uint64_t tileBytes(const OperandTile &tile) {
  return std::uint64_t(tile.mn) * tile.k * tile.containerBits / 8;
}

static std::string outside(const OperandTile &tile, unsigned mn, unsigned k) {
  return "element (" + std::to_string(mn) + ", " + std::to_string(k) +
         ") lies outside the tile of " + std::to_string(tile.mn) + " x " +
         std::to_string(tile.k);
}

Result<std::uint64_t> tileOffset(const OperandTile &tile, unsigned mn,
                                 unsigned k) {
  if (auto why = whyNot(tile))
    return *why;
  if (mn >= tile.mn || k >= tile.k)
    return Reason(outside(tile, mn, k));
  std::uint64_t width = swizzleWidth(tile.swizzle);
  if (tile.major == OperandMajor::K) {
    std::uint64_t kByte = std::uint64_t(k) * tile.containerBits / 8;
    return kByte / width * (tile.mn * width) + mn * width + kByte % width;
  }
  unsigned elements = swizzleElements(tile);
  std::uint64_t inRow = mn % elements * tile.containerBits / 8;
  return mn / elements * (tile.k / 8) * (8 * width) + k / 8 * (8 * width) +
         k % 8 * width + inRow;
}

Result<std::uint64_t> elementOffset(const OperandTile &tile, unsigned mn,
                                    unsigned k) {
  Result<std::uint64_t> offset = tileOffset(tile, mn, k);
  if (!offset)
    return offset;
  // A byte holds a part of an element, or several.
  std::uint64_t inByte = tile.major == OperandMajor::K
                             ? std::uint64_t(k) * tile.containerBits % 8
                             : 0;
  return (swizzled(tile.swizzle, *offset) * 8 + inByte) / tile.containerBits;
}

Result<std::pair<unsigned, unsigned>> elementAt(const OperandTile &tile,
                                                std::uint64_t offset) {
  if (auto why = whyNot(tile))
    return *why;
  if (offset >= std::uint64_t(tile.mn) * tile.k)
    return Reason("offset " + std::to_string(offset) +
                  " lies outside the tile");
  std::uint64_t bit = offset * tile.containerBits;
  std::uint64_t a = swizzled(tile.swizzle, bit / 8);
  std::uint64_t width = swizzleWidth(tile.swizzle);
  std::uint64_t mn, k;
  if (tile.major == OperandMajor::K) {
    std::uint64_t column = a / (tile.mn * width), rest = a % (tile.mn * width);
    mn = rest / width;
    k = ((column * width + rest % width) * 8 + bit % 8) / tile.containerBits;
  } else {
    std::uint64_t group = a / (tile.k * width), rest = a % (tile.k * width);
    mn = group * swizzleElements(tile) + rest % width * 8 / tile.containerBits;
    k = rest / width;
  }
  return std::pair{static_cast<unsigned>(mn), static_cast<unsigned>(k)};
}

Result<StepAddress> stepAddress(const OperandTile &tile,
                                const OperandStep &step) {
  if (step.mmaMn == 0 || step.mmaK == 0 || step.mmaMn > tile.mn ||
      step.mmaK > tile.k || step.mnIndex >= tile.mn / step.mmaMn ||
      step.kIndex >= tile.k / step.mmaK)
    return Reason("step (" + std::to_string(step.mnIndex) + ", " +
                  std::to_string(step.kIndex) + ") of " +
                  std::to_string(step.mmaMn) + " x " +
                  std::to_string(step.mmaK) +
                  " elements lies outside the tile of " +
                  std::to_string(tile.mn) + " x " + std::to_string(tile.k));
  if (std::uint64_t(step.mmaK) * tile.containerBits % 128 != 0)
    return Reason("a step of " + std::to_string(step.mmaK) +
                  " elements in K is not a multiple of 16 bytes");
  Result<std::uint64_t> start =
      tileOffset(tile, step.mnIndex * step.mmaMn, step.kIndex * step.mmaK);
  if (!start)
    return start.why();
  std::uint32_t width = swizzleWidth(tile.swizzle);
  bool plain = tile.swizzle == Swizzle::None;
  if (tile.major == OperandMajor::K) {
    std::uint64_t kStart =
        std::uint64_t(step.kIndex) * step.mmaK * tile.containerBits / 8;
    std::uint64_t kBytes = std::uint64_t(step.mmaK) * tile.containerBits / 8;
    if (!plain && kStart / width != (kStart + kBytes - 1) / width)
      return Reason("the step crosses from one " + std::to_string(width) +
                    "-byte swizzle column to the next");
    return StepAddress{*start, plain ? 16 * tile.mn : 16, 8 * width};
  }
  std::uint32_t groupStride =
      step.mmaMn > swizzleElements(tile) ? tile.k * width : 0;
  std::uint32_t kStride = step.mmaK > 8 ? 8 * width : 0;
  return plain ? StepAddress{*start, kStride, groupStride}
               : StepAddress{*start, groupStride, kStride};
}

Result<SmemDescriptor> stepDescriptor(const OperandTile &tile,
                                      const OperandStep &step,
                                      std::uint32_t base,
                                      unsigned addressBits) {
  Result<StepAddress> address = stepAddress(tile, step);
  if (!address)
    return address.why();
  std::uint64_t start = base + address->startOffset;
  if (base % 16 != 0 || start >= 1u << addressBits ||
      address->lbo >= 1u << addressBits ||
      address->sbo >= 1u << kSmemAddressBits)
    return Reason("start address " + std::to_string(start) + " of a tile at " +
                  std::to_string(base) +
                  "; addresses and offsets are multiples of 16 bytes "
                  "below " +
                  std::to_string(1u << addressBits));
  SmemDescriptor descriptor;
  descriptor.start = static_cast<std::uint32_t>(start);
  descriptor.lbo = address->lbo;
  descriptor.sbo = address->sbo;
  descriptor.swizzle = tile.swizzle;
  if (tile.swizzle != Swizzle::None) {
    if (base % 128 != 0)
      return Reason("a swizzled tile starts at a multiple of 128 "
                    "bytes, found " +
                    std::to_string(base));
    unsigned pattern = base % swizzleAlignment(tile.swizzle);
    descriptor.baseOffset = pattern == 0 ? 0 : (base >> 7) & 7;
  }
  return descriptor;
}

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

TmemPlan placeRegions(const std::vector<TmemRegion> &regions) {
  TmemPlan plan;
  for (const TmemRegion &region : regions) {
    if (region.isCopied)
      plan.end = static_cast<unsigned>(ceilDiv(plan.end, kCopyColumnStep)) *
                 kCopyColumnStep;
    plan.first.push_back(plan.end);
    plan.end += region.columns;
  }
  return plan;
}

Result<unsigned> allocationColumns(unsigned columns) {
  if (columns == 0 || columns > kTmemColumns)
    return Reason("tensor memory has 512 columns, " + std::to_string(columns) +
                  " are asked for");
  unsigned rounded = 32;
  while (rounded < columns)
    rounded *= 2;
  return rounded;
}

Result<TmemAllocation> allocationOn(Chip chip, unsigned columns) {
  unsigned most = chipInfo(chip).tensorMemoryColumns;
  if (most <= kTmemColumns || columns <= kTmemColumns) {
    Result<unsigned> plain = allocationColumns(columns);
    if (!plain)
      return plain.why();
    return TmemAllocation{*plain, false};
  }
  if (columns > most)
    return Reason("tensor memory of " + std::string(chipInfo(chip).name) +
                  " has " + std::to_string(most) + " columns, " +
                  std::to_string(columns) +
                  " are asked for (PTX ISA 9.4, tcgen05.alloc [T]; ptxas takes "
                  "more [P])");
  unsigned rounded = static_cast<unsigned>(
      ceilDiv(columns, kExclusiveColumnStep) * kExclusiveColumnStep);
  return TmemAllocation{rounded, true};
}

Result<AccumulatorLayout> accumulatorLayout(unsigned ctaGroup, unsigned m,
                                            bool sparse) {
  if (ctaGroup == 1 && m == 128)
    return AccumulatorLayout::D;
  if (ctaGroup == 1 && m == 64)
    return AccumulatorLayout::F;
  if (ctaGroup == 2 && m == 256)
    return AccumulatorLayout::A;
  if (ctaGroup == 2 && m == 128 && !sparse)
    return AccumulatorLayout::B;
  return Reason(
      "no accumulator layout for cta_group " + std::to_string(ctaGroup) +
      " with m " + std::to_string(m) + (sparse ? ", sparse" : ", dense") +
      "; cta_group 1 has m 128 (or 64 without scales), cta_group 2 has m 256, "
      "or 128 when dense");
}

namespace {
struct LayoutExtent {
  unsigned rows, ctas;
};
LayoutExtent extentOf(AccumulatorLayout layout) {
  switch (layout) {
  case AccumulatorLayout::A:
    return {256, 2};
  case AccumulatorLayout::B:
    return {128, 2};
  case AccumulatorLayout::D:
    return {128, 1};
  case AccumulatorLayout::F:
    break;
  }
  return {64, 1};
}

std::optional<Reason> whyNotColumns(AccumulatorLayout layout,
                                    unsigned nExtent) {
  unsigned step = extentOf(layout).ctas == 2 ? 16 : 8;
  if (nExtent >= step && nExtent <= 256 && nExtent % step == 0)
    return std::nullopt;
  return "n is " + std::to_string(nExtent) + ", this layout has multiples of " +
         std::to_string(step) + " up to 256";
}
} // namespace

Layout accumulatorPlaces(AccumulatorLayout layout, unsigned nExtent) {
  const Term column{Dim::ColumnOfD, 1, 0, Dim::Column};
  switch (layout) {
  case AccumulatorLayout::A:
    return {
        {Dim::Row, 128, 0, Dim::Cta}, {Dim::Row, 1, 128, Dim::Lane}, column};
  case AccumulatorLayout::B: {
    // Each half of the columns in one half of the lanes.
    unsigned half = nExtent / 2;
    return {{Dim::Row, 64, 0, Dim::Cta},
            {Dim::Row, 1, 64, Dim::Lane},
            {Dim::ColumnOfD, half, 0, Dim::Lane, 64},
            {Dim::ColumnOfD, 1, half, Dim::Column}};
  }
  case AccumulatorLayout::D:
    return {{Dim::Row, 1, 0, Dim::Lane}, column};
  case AccumulatorLayout::F:
    break;
  }
  return {
      {Dim::Row, 16, 0, Dim::Lane, 32}, {Dim::Row, 1, 16, Dim::Lane}, column};
}

Result<TmemPosition> accumulatorPosition(AccumulatorLayout layout,
                                         unsigned nExtent, unsigned m,
                                         unsigned n) {
  if (auto why = whyNotColumns(layout, nExtent))
    return *why;
  LayoutExtent extent = extentOf(layout);
  if (m >= extent.rows || n >= nExtent)
    return Reason("element (" + std::to_string(m) + ", " + std::to_string(n) +
                  ") lies outside the " + std::to_string(extent.rows) + " x " +
                  std::to_string(nExtent) + " accumulator");
  Coordinates at = accumulatorPlaces(layout, nExtent)
                       .at({{Dim::Row, m}, {Dim::ColumnOfD, n}});
  return TmemPosition{static_cast<unsigned>(at[Dim::Cta]),
                      static_cast<unsigned>(at[Dim::Lane]),
                      static_cast<unsigned>(at[Dim::Column])};
}

Result<std::pair<unsigned, unsigned>>
accumulatorElement(AccumulatorLayout layout, unsigned nExtent,
                   TmemPosition position) {
  if (auto why = whyNotColumns(layout, nExtent))
    return *why;
  LayoutExtent extent = extentOf(layout);
  auto [cta, lane, column] = position;
  if (cta >= extent.ctas || lane >= kTmemLanes ||
      column >= accumulatorColumns(layout, nExtent))
    return Reason("lane " + std::to_string(lane) + ", column " +
                  std::to_string(column) + " is not part of the accumulator");
  std::optional<Coordinates> source =
      accumulatorPlaces(layout, nExtent)
          .sourceAt(
              {{Dim::Cta, cta}, {Dim::Lane, lane}, {Dim::Column, column}});
  if (!source)
    return Reason("lane " + std::to_string(lane) + " is not used with m 64");
  return std::pair{static_cast<unsigned>((*source)[Dim::Row]),
                   static_cast<unsigned>((*source)[Dim::ColumnOfD])};
}

unsigned accumulatorColumns(AccumulatorLayout layout, unsigned nExtent) {
  return layout == AccumulatorLayout::B ? nExtent / 2 : nExtent;
}

} // namespace blockscale::hw
