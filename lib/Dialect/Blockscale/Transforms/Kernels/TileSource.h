//===- TileSource.h - how roles find their next output tile -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILESOURCE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILESOURCE_H

#include "KernelFrame.h"

#include <memory>

namespace blockscale {

/// The list of output tiles of a CTA, which every role walks.
class TileSource {
public:
  virtual ~TileSource() = default;

  /// Emits the source that the schedule names, with the storage that it needs.
  static std::unique_ptr<TileSource> create(KernelFrame &frame);

  /// Calls `body` with each tile and the carried values, of which it returns
  /// the next ones. Returns the last ones. A tile may lie outside D.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      TilePosition, mlir::ValueRange)>;
  virtual llvm::SmallVector<mlir::Value> forEach(mlir::ValueRange carried,
                                                 Body body) = 0;

  /// The first tile of this CTA, where rows and K are not in groups; it may lie
  /// outside D.
  virtual TilePosition first() { return position(frame.place.number); }

  /// Of tiles that clusters take in turn: whether there is any, and whether
  /// `tile` is not the last one, i1.
  mlir::Value hasFirst();
  mlir::Value hasNext(TilePosition tile);

  /// Whether the tile behind another one is known before it is taken.
  virtual bool knowsNext() { return false; }
  /// That tile where it is known; it may lie behind the last one.
  TilePosition next(TilePosition tile);

  /// Before all roles, behind the end of the grid before: emits what they all
  /// know of the tiles.
  virtual void prepare() {}

  /// Emits the role that finds tiles, if it takes one.
  virtual void emitRole() {}

protected:
  explicit TileSource(KernelFrame &frame) : frame(frame), b(frame.b) {}

  /// The output tile of this CTA when its cluster does piece number `piece` of
  /// the work: a tile or, where K is split, a part of one. The parts of a tile
  /// follow each other, so that they run at the same time.
  TilePosition position(mlir::Value piece);
  /// That of its cluster's tile number `tile` of so many rows and columns of
  /// them.
  TilePosition tileAt(mlir::Value tile, mlir::Value rowTiles,
                      mlir::Value columnTiles);
  mlir::Value pieces();
  /// The end of group `number`, which memory holds, whatever it says neither
  /// before the group's `first` nor behind `last`; not loaded unless `isThere`,
  /// an i32 of 0 or 1. A wrong offset must not let the kernel go elsewhere.
  mlir::Value loadEnd(mlir::Value memory, mlir::Value number,
                      mlir::Value isThere, mlir::Value first, mlir::Value last);

  KernelFrame &frame;
  KernelBuilder &b;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILESOURCE_H
