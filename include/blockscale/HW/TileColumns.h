//===- TileColumns.h - columns of a tile and of instructions ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile may have more columns than an instruction: then two instructions
// beside each other compute it, which share A and its scales. The scales of B
// of all its columns lie in one region of tensor memory, in which both
// instructions find theirs.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_TILECOLUMNS_H
#define BLOCKSCALE_HW_TILECOLUMNS_H

#include "blockscale/HW/ScaleLayout.h"

namespace blockscale::hw {

/// The columns of the widest instruction, and of the widest tile: no chip holds
/// the sums of more beside their scales.
inline constexpr unsigned kInstructionColumns = 256;
inline constexpr unsigned kTileColumns = 512;

/// Wider tiles are multiples of this, and so are the columns of both
/// instructions: the scales of the second one begin in a column of tensor
/// memory that an instruction may read from.
inline constexpr unsigned kWideTileStep = kSharedAtomStep;

/// Columns of a tile that each of its instructions computes, the left one
/// first; `second` is 0 where it has one.
struct TileColumns {
  unsigned first = 0, second = 0;

  unsigned instructions() const { return second ? 2 : 1; }
  /// Of instruction `number`: its columns, and those of the tile before it.
  unsigned columnsOf(unsigned number) const { return number ? second : first; }
  unsigned begin(unsigned number) const { return number ? first : 0; }
};

/// The columns of a tile of `columns`, shared out as evenly as the steps allow,
/// the larger part first. Tiles that consist of whole groups of 128 rows of
/// scales are cut between two of them.
TileColumns tileColumns(unsigned columns);

/// The columns of a tile in halves: two instructions, although one could have
/// all of them.
TileColumns halvesOf(unsigned columns);

/// Columns that both instructions consist of: as many as boxes of B may have
/// that serve both.
unsigned commonColumns(const TileColumns &tile);

/// The region of the scales of `rows` rows of B, which instructions beside each
/// other read. Up to 256 rows it is that of an instruction; more lie as those
/// do, with words further apart.
ScaleRegion tileScaleRegion(unsigned rows);

/// Columns of tensor memory that `scales` scales of each of them take.
unsigned tileScaleColumns(unsigned rows, unsigned scales);

/// Columns of tensor memory between the scales of the first column of a tile
/// and those of the first one of instruction `number`.
unsigned scaleColumnOf(const TileColumns &tile, unsigned number);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_TILECOLUMNS_H
