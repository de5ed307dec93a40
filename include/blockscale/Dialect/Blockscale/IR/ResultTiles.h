//===- ResultTiles.h - who has a tile of a quantised result -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

/// \file
/// Where the parts of a tile of D lie that share a scale: among the numbers of
/// a thread, the lanes of a warp, the warps and the CTAs of a cluster that
/// store it. Threads that have parts of one tile choose its scale together.

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_RESULTTILES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_RESULTTILES_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// A tile of D under one scale: rows, columns of the product, those of a block
/// whose scale an instruction reads, how the kernel adds up, and whether the
/// errors of its elements are added up under two scales.
struct ResultTile {
  int64_t rows = 1, columns = 1, blockColumns = 1;
  bool isPromoting = false, comparesErrors = false;
};

/// A warp's part of a tile without tensor memory: rows, columns, and warps
/// beside each other.
struct WarpTile {
  int64_t rows, columns, along;
};

/// Warps that multiply and store where there is no tensor memory, and the
/// columns that each has unless a block of D is longer; of such a block one
/// has all if it is of at most `kMostWarpColumns`, or else several have parts.
inline constexpr int64_t kConsumerWarps = 8, kWarpColumns = 32,
                         kMostWarpColumns = 64;

/// Warps that have a tile together: all of them, or those of a group where
/// these take tiles in turns.
int64_t warpsOfTile(ScheduleAttr schedule);

/// The columns of a warp, and its part of the tile of `schedule`; of a result
/// that is not quantised `tile` is one element.
int64_t warpColumns(const ResultTile &tile);
WarpTile warpTile(ScheduleAttr schedule, ResultTile tile, bool bringsRows);

/// Columns that a thread has together when sums of swapped operands are brought
/// to threads that have rows of D: at most so many rows of D are brought at
/// once, too. Warps that promote sums have no registers for more than 64.
int64_t exchangedColumns(const ResultTile &tile);

/// Who has the rows, or the columns, of a tile of D.
struct TileParts {
  /// So many parts, whose holders are `distance` apart.
  struct Digit {
    int64_t count, distance;
  };
  /// Rows of the tile that a thread has one after the other, and columns.
  int64_t rowsOfThread = 1, columnsOfThread = 1;
  /// Lanes whose numbers differ in these bits.
  llvm::SmallVector<int64_t> lanes;
  llvm::SmallVector<Digit, 2> warps;
  /// CTAs that follow each other along the columns of D.
  int64_t ctas = 1;

  /// Whether several threads choose a scale, and whether through memory.
  bool areSeveral() const { return !lanes.empty() || needMemory(); }
  bool needMemory() const { return !warps.empty() || ctas > 1; }
};

/// The parts of `tile` in kernels of `schedule`; none where they have no whole
/// tiles.
std::optional<TileParts> tileParts(ScheduleAttr schedule, ResultTile tile,
                                   hw::Target target);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_RESULTTILES_H
