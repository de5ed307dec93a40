//===- StreamK.h - tiles whose K is shared out ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_STREAMK_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_STREAMK_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// How the K of some tiles is shared out. Tiles are those of clusters, and all
/// of their K in a row, tile by tile, is cut into shares that are as long as
/// each other but for one unit. All of it follows from the schedule, so that
/// the parts of a tile are the same however many clusters run.
struct StreamedTiles {
  /// All tiles of the product, units of K (`splitUnit`) of each, and shares.
  int64_t tiles, units, shares;

  /// Those of `schedule`, which is complete, for a product of static sizes.
  static StreamedTiles of(MmaAttr mma, ScheduleAttr schedule,
                          const ProductSizes &sizes);

  /// How many tiles are shared out, the first ones: those that whole rounds of
  /// as many tiles as shares leave over, and one more round where a tile would
  /// otherwise have many parts.
  int64_t sharedTiles() const;
  /// Units of a share; the first `longerShares()` have one more.
  int64_t unitsOfShare() const { return sharedTiles() * units / shares; }
  int64_t longerShares() const { return sharedTiles() * units % shares; }
  /// The most shares that have a part of one tile.
  int64_t mostParts() const;
  /// The most tiles that so many shares are made of, whatever tiles there are.
  static int64_t mostSharedTiles(int64_t shares) { return 2 * shares - 1; }
};

/// What runs of a product's rows, or of its K, have their own tiles for.
enum class TileGroups { None, Rows, K };
TileGroups tileGroupsOf(MatmulOp op);

/// Why the tiles of a product are not shared out as `schedule`, which is
/// complete, asks for; empty if they can be, or if none are to be. How many
/// tiles groups of rows have, and so which of them, is found at launch.
std::optional<Reason> whyNotStreamed(MmaAttr mma, ScheduleAttr schedule,
                                     const ProductSizes &sizes,
                                     TileGroups groups, hw::Target target);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_STREAMK_H
