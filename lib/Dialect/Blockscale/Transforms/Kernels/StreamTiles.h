//===- StreamTiles.h - tiles whose K is shared out --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STREAMTILES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STREAMTILES_H

#include "TileSource.h"

namespace blockscale {

/// Which shares have parts of which tiles, as code. Units of K count through
/// all tiles.
class Shares {
public:
  explicit Shares(KernelFrame &frame)
      : b(frame.b), tiles(frame.streamedTiles()) {}

  /// The first unit of a share, which is the end of the one before.
  mlir::Value begin(mlir::Value share);
  /// Whether all of a tile's K is one share's.
  mlir::Value isWhole(TilePosition tile);
  /// The shares that have parts of a tile, the first one and that behind the
  /// last one, and how many.
  mlir::Value firstOf(TilePosition tile);
  mlir::Value endOf(TilePosition tile);
  mlir::Value partsOf(TilePosition tile);
  /// The number of the place of a share's part of a tile among all such parts.
  mlir::Value placeOf(TilePosition tile, mlir::Value share);

private:
  /// The share that has a unit.
  mlir::Value shareOf(mlir::Value unit);

  KernelBuilder &b;
  const StreamedTiles tiles;
};

/// Clusters take shares in turn, and behind all of them whole tiles: the sums
/// of parts are stored and added up while those are multiplied. Which share has
/// which part of K does not depend on how many clusters there are.
class StreamTiles : public TileSource {
public:
  explicit StreamTiles(KernelFrame &frame)
      : TileSource(frame), tiles(frame.streamedTiles()) {}

  llvm::SmallVector<mlir::Value> forEach(mlir::ValueRange carried,
                                         Body body) override;
  TilePosition first() override;

private:
  /// Tile `number`, with what an item has of it.
  TilePosition partIn(mlir::Value item, Extent units, mlir::Value number);
  /// The units, counted through all tiles, of a share or of a whole tile.
  Extent unitsOf(mlir::Value item);
  /// Calls `body` with each tile of which the item has units.
  llvm::SmallVector<mlir::Value> forEachOf(mlir::Value item,
                                           mlir::ValueRange carried, Body body);

  const StreamedTiles tiles;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STREAMTILES_H
