//===- ResultTiles.cpp - who has a tile of a quantised result -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/ResultTiles.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Target.h"

using namespace mlir;
using namespace blockscale;

/// What a thread that brings sums together has of a row of D where its tiles
/// have few rows.
static constexpr int64_t kLeastExchanged = hw::kWarpSize,
                         kMostExchanged = 2 * hw::kWarpSize;

int64_t blockscale::exchangedColumns(const ResultTile &tile) {
  int64_t columns = std::clamp(tile.columns, kLeastExchanged, kMostExchanged);
  return tile.isPromoting ? columns : std::max(columns, tile.rows);
}

int64_t blockscale::warpColumns(const ResultTile &tile) {
  // A register of scales serves 32 columns. Sums of blocks of K beside those of
  // all of K leave no registers for more.
  if (tile.isPromoting)
    return kWarpColumns;
  int64_t columns =
      tile.columns <= kMostWarpColumns ? tile.columns : tile.blockColumns;
  return std::max(columns, kWarpColumns);
}

int64_t blockscale::warpsOfTile(ScheduleAttr schedule) {
  return kConsumerWarps / schedule.consumerGroups();
}

/// Columns of a warp that has rows of D. Of few warps each has a part of the
/// tile as square as may be: then they load least.
static int64_t columnsOfWarp(ScheduleAttr schedule, const ResultTile &tile) {
  int64_t columns = warpColumns(tile);
  if (schedule.consumerGroups() > 1)
    columns = std::max(columns, schedule.getTileN() / 2);
  return std::min(schedule.getTileN(), columns);
}

WarpTile blockscale::warpTile(ScheduleAttr schedule, ResultTile tile,
                              bool bringsRows) {
  int64_t tileM = schedule.getTileM(), tileN = schedule.getTileN();
  int64_t warps = warpsOfTile(schedule);
  if (bringsRows) {
    // What are columns of D are rows of the warp.
    int64_t rows = exchangedColumns({1, tile.columns});
    int64_t along = warps * rows / tileM;
    return {rows, tileN / along, along};
  }
  int64_t columns = columnsOfWarp(schedule, tile);
  int64_t along = tileN / columns;
  return {tileM / (warps / along), columns, along};
}

namespace {
/// Who has neighbouring rows or columns, from the nearest on.
struct Digit {
  enum class Of { Thread, Lane, Warp, Cta } of;
  int64_t count, distance;
};
using Digits = SmallVector<Digit, 4>;

/// Those of all rows and columns that a CTA, or a cluster, has at once.
struct Places {
  Digits rows, columns;
};
} // namespace

/// Where rows lie in lanes of tensor memory.
static Places placesOfLanes(ScheduleAttr schedule, ResultTile tile) {
  constexpr int64_t kQuarters = hw::kTmemLanes / hw::kWarpSize;
  int64_t own =
      tile.isPromoting ? promotedColumns(schedule.getTileN()) : tile.columns;
  int64_t groups = tile.isPromoting ? promotingGroups(schedule.getTileN()) : 1;
  return {
      {{Digit::Of::Lane, hw::kWarpSize, 1}, {Digit::Of::Warp, kQuarters, 1}},
      {{Digit::Of::Thread, own, 1}, {Digit::Of::Warp, groups, kQuarters}}};
}

/// Where columns do, which are brought to threads that have rows.
static Places placesOfRows(ScheduleAttr schedule, ResultTile tile) {
  constexpr int64_t kLanes = hw::kTmemLanes;
  constexpr int64_t kQuarters = kLanes / hw::kWarpSize;
  int64_t own = exchangedColumns(tile);
  int64_t ofGroup = tile.isPromoting ? promotedColumns(schedule.getTileN())
                                     : schedule.getTileN();
  int64_t atOnce = std::min(own, ofGroup);
  int64_t parts = own > hw::kWarpSize ? kLanes / own : 1;
  int64_t ofWarp = hw::kWarpSize / parts;
  Places places{{{Digit::Of::Lane, std::min(ofWarp, atOnce), parts}},
                {{Digit::Of::Thread, own, 1}}};
  // Of 32 columns a warp has other ones than the next.
  if (own > hw::kWarpSize) {
    places.rows.push_back(
        {Digit::Of::Warp, std::max<int64_t>(1, atOnce / ofWarp), 1});
    places.columns.push_back({Digit::Of::Lane, parts, 1});
    places.columns.push_back({Digit::Of::Cta, schedule.clusterM(), 1});
  }
  // Groups that promote sums have neighbouring rows.
  if (tile.isPromoting && atOnce == ofGroup)
    places.rows.push_back(
        {Digit::Of::Warp, promotingGroups(schedule.getTileN()), kQuarters});
  return places;
}

/// Where a lane has a row of 32 of what its warp had as fragments: `QuadBlocks`
/// brings them there.
static Places placesOfWarps(ScheduleAttr schedule, ResultTile tile, bool swap) {
  using Of = Digit::Of;
  WarpTile part = warpTile(schedule, tile, swap);
  int64_t above = warpsOfTile(schedule) / part.along;
  if (swap)
    return {{{Of::Lane, 2, 4},
             {Of::Lane, 4, 1},
             {Of::Lane, 4, 8},
             {Of::Thread, part.columns / hw::kWarpSize, 1},
             {Of::Warp, part.along, 1}},
            {{Of::Thread, part.rows, 1}, {Of::Warp, above, part.along}}};
  return {{{Of::Lane, 8, 4},
           {Of::Lane, 4, 1},
           {Of::Thread, part.rows / hw::kWarpSize, 1},
           {Of::Warp, above, part.along}},
          {{Of::Thread, part.columns, 1}, {Of::Warp, part.along, 1}}};
}

/// Hands `size` neighbours out; whether there are so many, and whole parts.
static bool handOut(ArrayRef<Digit> digits, int64_t size, int64_t &ofThread,
                    TileParts &parts) {
  for (const Digit &digit : digits) {
    int64_t count = std::min(digit.count, size);
    if (count <= 0 || size % count != 0)
      return false;
    size /= count;
    switch (digit.of) {
    case Digit::Of::Thread:
      ofThread *= count;
      break;
    case Digit::Of::Lane:
      for (int64_t i = 1; i < count; i *= 2)
        parts.lanes.push_back(i * digit.distance);
      break;
    case Digit::Of::Warp:
      if (count > 1)
        parts.warps.push_back({count, digit.distance});
      break;
    case Digit::Of::Cta:
      if (digit.count % count != 0)
        return false;
      parts.ctas = count;
      break;
    }
  }
  return size == 1;
}

std::optional<TileParts> blockscale::tileParts(ScheduleAttr schedule,
                                               ResultTile tile,
                                               hw::Target target) {
  bool swap =
      schedule.getSwapOperands() && schedule.getSwapOperands().getValue();
  Places places = !hw::hasTensorMemory(target)
                      ? placesOfWarps(schedule, tile, swap)
                  : swap ? placesOfRows(schedule, tile)
                         : placesOfLanes(schedule, tile);
  TileParts parts;
  if (!handOut(places.rows, tile.rows, parts.rowsOfThread, parts) ||
      !handOut(places.columns, tile.columns, parts.columnsOfThread, parts))
    return std::nullopt;
  return parts;
}
