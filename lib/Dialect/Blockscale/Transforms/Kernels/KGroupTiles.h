//===- KGroupTiles.h - output tiles of groups along K -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KGROUPTILES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KGROUPTILES_H

#include "TileSource.h"

namespace blockscale {

/// Clusters take the tiles in turn, a matrix of D after another; where the K of
/// a matrix begins and ends memory says. Every role goes through the groups up
/// to that of its next tile; it never goes back.
class KGroupTiles : public TileSource {
public:
  explicit KGroupTiles(KernelFrame &frame) : TileSource(frame) {}

  llvm::SmallVector<mlir::Value> forEach(mlir::ValueRange carried,
                                         Body body) override;

private:
  /// A group, and the number of the one after it. With scales also the tiles
  /// along K of the groups before it.
  struct Group {
    mlir::Value next, first, end, firstTile;

    static Group from(mlir::ValueRange values);
    llvm::SmallVector<mlir::Value> values() const;
  };
  unsigned valuesOfGroup() { return frame.isScaled() ? 4 : 3; }

  /// From `group` on, which is not behind it, group `number`.
  Group find(mlir::Value number, Group group);
  /// Tiles along K of the scales of so many elements.
  mlir::Value scaleTiles(mlir::Value elements);
  /// What its tiles sum up.
  KGroup elementsOf(const Group &group);
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KGROUPTILES_H
