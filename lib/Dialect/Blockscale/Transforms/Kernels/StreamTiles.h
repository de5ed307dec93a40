//===- StreamTiles.h - tiles whose K is shared out --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STREAMTILES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STREAMTILES_H

#include "GroupedTiles.h"

namespace blockscale {

/// Which shares have parts of which tiles, as code. Units of K count through
/// all tiles.
class Shares {
public:
  explicit Shares(KernelFrame &frame)
      : b(frame.b), tiles(frame.sharedTiles()), units(frame.unitsOfTile()) {}

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
  const SharedTiles tiles;
  const int64_t units;
};

/// Clusters take shares in turn, and behind all of them whole tiles: the sums
/// of parts are stored and added up while those are multiplied. Which share has
/// which part of K does not depend on how many clusters there are.
class StreamTiles : public TileSource {
public:
  explicit StreamTiles(KernelFrame &frame) : TileSource(frame) {}

  llvm::SmallVector<mlir::Value> forEach(mlir::ValueRange carried,
                                         Body body) override;
  TilePosition first() override;

protected:
  /// A share or, behind all of them, a whole tile, by its number, and its units
  /// counted through all tiles.
  struct Item {
    mlir::Value number;
    Extent units;
  };
  /// Calls `body` with tile `number`, of which the item has units.
  virtual llvm::SmallVector<mlir::Value>
  inTile(Item item, mlir::Value number, mlir::ValueRange carried, Body body);
  /// The tiles of which the item has units.
  virtual Extent tilesOf(Item item);
  /// `tile`, which is number `number`, with what the item has of it.
  TilePosition partIn(TilePosition tile, Item item, mlir::Value number);
  Item itemOf(mlir::Value number);
  /// Whether the item is a share, and the tile that it is otherwise.
  mlir::Value isShare(mlir::Value item);
  mlir::Value wholeTile(mlir::Value item);

private:
  /// Calls `body` with each tile of which the item has units.
  llvm::SmallVector<mlir::Value> forEachOf(Item item, mlir::ValueRange carried,
                                           Body body);
};

/// The same of the tiles of one group after another, which every role counts
/// before the first: only the offsets in memory say how many there are.
class GroupedStreamTiles : public StreamTiles {
public:
  explicit GroupedStreamTiles(KernelFrame &frame)
      : StreamTiles(frame), groups(frame) {}

  void prepare() override;
  llvm::SmallVector<mlir::Value> forEach(mlir::ValueRange carried,
                                         Body body) override;

private:
  llvm::SmallVector<mlir::Value> inTile(Item item, mlir::Value number,
                                        mlir::ValueRange carried,
                                        Body body) override;
  Extent tilesOf(Item item) override;

  GroupedTiles groups;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STREAMTILES_H
