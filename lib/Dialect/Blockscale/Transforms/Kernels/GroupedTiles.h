//===- GroupedTiles.h - output tiles of groups of rows ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_GROUPEDTILES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_GROUPEDTILES_H

#include "TileSource.h"

namespace blockscale {

/// Clusters take the tiles of one group after another in turn. How many a group
/// has only its offset in memory says, so every role goes through the groups up
/// to that of its next tile; it never goes back.
class GroupedTiles : public TileSource {
public:
  explicit GroupedTiles(KernelFrame &frame) : TileSource(frame) {}

  llvm::SmallVector<mlir::Value> forEach(mlir::ValueRange carried,
                                         Body body) override;

  /// A group and what lies before it: tiles, rows, and rows of scales.
  struct Group {
    mlir::Value number, firstTile, firstRow, firstScaleRow;
    /// The row after its last one.
    mlir::Value end;

    static constexpr unsigned kBefore = 4;
    static Group from(mlir::ValueRange values);
    llvm::SmallVector<mlir::Value> before() const {
      return {number, firstTile, firstRow, firstScaleRow};
    }
  };

  /// The first group from `group` on that ends behind `tile`; behind the last
  /// one there is none with its number.
  Group find(mlir::Value tile, Group group);
  /// `group`, or the first one where `tile` lies before it.
  Group from(mlir::Value tile, Group group);
  /// Whether `group` is one, not what is behind the last.
  mlir::Value isThere(const Group &group);
  TilePosition positionIn(const Group &group, mlir::Value tile);

private:
  /// Tiles, or clusters of them, along the rows that the group has.
  mlir::Value tilesAlong(const Group &group);
  /// And along what all groups share.
  mlir::Value tilesAcross();
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_GROUPEDTILES_H
