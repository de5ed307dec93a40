//===- StreamK.cpp - tiles whose K is shared out --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/StreamK.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/HW/Target.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

StreamedTiles StreamedTiles::of(MmaAttr mma, ScheduleAttr schedule,
                                const ProductSizes &sizes) {
  bool swap = schedule.getSwapOperands().getValue();
  int64_t rows = swap ? sizes.n : sizes.m, columns = swap ? sizes.m : sizes.n;
  int64_t tilesAbove = schedule.clusterM() / schedule.ctaGroup();
  int64_t tiles =
      llvm::divideCeil(rows, schedule.getTileM() * tilesAbove) *
      llvm::divideCeil(columns, schedule.getTileN() * schedule.clusterN()) *
      sizes.batch;
  return {tiles, int64_t(llvm::divideCeil(sizes.k, splitUnit(mma))),
          schedule.shares()};
}

int64_t StreamedTiles::sharedTiles() const {
  int64_t left = tiles % shares, rounds = tiles / shares;
  // A share of less than half of a tile makes more than three parts of it. With
  // another round a share has more than a tile, and a tile at most two parts;
  // but what adds them up is hidden only if whole tiles follow.
  bool isEnough = rounds == 0 || (rounds == 1 && 2 * left >= shares);
  return left == 0 || isEnough ? left : left + shares;
}

int64_t StreamedTiles::mostParts() const {
  // Behind the last unit of one share at least so many fill the rest.
  return llvm::divideCeil(units - 1, std::max<int64_t>(1, unitsOfShare())) + 1;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static std::optional<Reason> whyNotSizes(const ProductSizes &sizes,
                                         TileGroups groups,
                                         const std::string &found) {
  SmallVector<std::pair<StringRef, int64_t>> needed{{"K", sizes.k}};
  if (groups == TileGroups::None)
    needed = {
        {"M", sizes.m}, {"N", sizes.n}, {"K", sizes.k}, {"batch", sizes.batch}};
  for (auto [name, size] : needed)
    if (ShapedType::isDynamic(size))
      return Reason(found +
                    " needs static sizes, from which the shares follow, "
                    "found a dynamic " +
                    name.str() + "; nearest legal: 1");
  return std::nullopt;
}

// Kernels count units in 32 bits.
static constexpr int64_t kMostUnits = std::numeric_limits<int32_t>::max();

/// The same of groups, whose tiles the kernel counts: of a K that long.
static std::optional<Reason> whyNotUnits(int64_t units, int64_t shares,
                                         const std::string &found) {
  int64_t most = kMostUnits / StreamedTiles::mostSharedTiles(shares);
  if (units <= most)
    return std::nullopt;
  return Reason(found +
                " counts the units of K of tiles that are shared out, "
                "of which each has " +
                std::to_string(units) + ", at most " + std::to_string(most) +
                " are counted; nearest legal: 1");
}

/// Why the shares of such tiles are none.
static std::optional<Reason> whyNotShares(const StreamedTiles &tiles,
                                          const std::string &found) {
  auto text = [](int64_t number) { return std::to_string(number); };
  if (tiles.tiles % tiles.shares == 0)
    return Reason(found + " leaves nothing to share out: " + text(tiles.tiles) +
                  " tiles are whole rounds of " + text(tiles.shares) +
                  "; nearest legal: 1");
  if (tiles.unitsOfShare() == 0)
    return Reason(found + " leaves shares empty: " + text(tiles.sharedTiles()) +
                  " tiles of " + text(tiles.units) +
                  " units of K are shared out; nearest legal: " +
                  text(tiles.sharedTiles() * tiles.units));
  if (tiles.tiles > kMostUnits / tiles.units)
    return Reason(found + " counts the units of K of all tiles, of which " +
                  text(tiles.tiles) + " tiles of " + text(tiles.units) +
                  " have more than " + text(kMostUnits) + "; nearest legal: 1");
  return std::nullopt;
}

TileGroups blockscale::tileGroupsOf(MatmulOp op) {
  if (!op.hasGroups())
    return TileGroups::None;
  return op.isGroupedAlongK() ? TileGroups::K : TileGroups::Rows;
}

std::optional<Reason> blockscale::whyNotStreamed(MmaAttr mma,
                                                 ScheduleAttr schedule,
                                                 const ProductSizes &sizes,
                                                 TileGroups groups,
                                                 hw::Target target) {
  if (schedule.shares() == 1)
    return std::nullopt;
  std::string found = "'stream_k' of " + std::to_string(schedule.shares());
  std::string legal = "; nearest legal: 1";
  if (!hw::hasTensorMemory(target))
    return Reason(found + " is not lowered for " + hw::targetName(target) +
                  ", whose warps multiply and store in registers" + legal);
  if (schedule.splits() > 1)
    return Reason(found + " shares out tiles, and 'split_k' of " +
                  std::to_string(schedule.splits()) +
                  " splits all of them alike; expected one of the two");
  if (schedule.getScheduler() == Scheduler::Dynamic)
    return Reason(found + " is not lowered with the dynamic scheduler, which "
                          "hands out tiles; nearest legal: 'static'");
  if (groups == TileGroups::K)
    return Reason(found +
                  " is not lowered with groups along K, each of which has a K "
                  "of its own that only the launch knows" +
                  legal);
  if (auto why = whyNotSizes(sizes, groups, found))
    return why;
  if (groups == TileGroups::Rows)
    return whyNotUnits(llvm::divideCeil(sizes.k, splitUnit(mma)),
                       schedule.shares(), found);
  return whyNotShares(StreamedTiles::of(mma, schedule, sizes), found);
}
