//===- SplitK.h - several CTAs for one output tile --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_SPLITK_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_SPLITK_H

#include "KernelFrame.h"

namespace blockscale {

/// The workspace of a kernel in elements of 32 bits:
///
///   a counter for each CTA of each cluster's tile, up to whole 128 bytes
///   the sums of each such CTA's parts, part by part
///
/// The sums of one part are those of one epilogue: for each instruction above
/// the others and each chunk of columns, `width` sums of thread 0, those of
/// thread 1 and so on. Nothing depends on the width but the order in that
/// block.
///
/// Where tiles are shared out there are counters of those tiles, and room for
/// two parts of each share: the one of its last tile, if another share ends
/// that, and the one before, of a tile that another share begins.
struct Workspace {
  /// Elements before the sums, and those that a CTA stores of one part.
  static constexpr int64_t kCounterMultiple = 32;
  static int64_t sumsOfPart(const TileGeometry &geometry);
  /// `blockscale.kernel`'s map: bytes of the counters, and of all, for `tiles`
  /// tiles of clusters; and the parts.
  static mlir::AffineMap sizes(mlir::AffineExpr tiles,
                               const TileGeometry &geometry, int64_t splits);
  /// The same where tiles are shared out.
  static mlir::AffineMap sizes(int64_t sharedTiles, int64_t shares,
                               const TileGeometry &geometry,
                               mlir::MLIRContext *context);
  /// Parts of a share that have room.
  static constexpr int64_t kPartsOfShare = 2;
};

/// The sums that the epilogue of a CTA keeps in the workspace, where several
/// clusters compute parts of a tile.
class PartialSums {
public:
  /// A thread keeps `width` sums at once.
  PartialSums(KernelFrame &frame, int64_t width)
      : frame(frame), b(frame.b), width(width) {}

  /// Where `width` sums belong: to the instruction `number` above the others,
  /// a thread of the epilogue, and columns from `column` on.
  struct Place {
    int64_t number;
    mlir::Value thread, column;
  };

  /// Stores the sums of the tile's part of K.
  void store(TilePosition tile, const Place &place, mlir::Value sums);
  /// Tells the other CTAs of the tile that this one's sums are stored; whether
  /// it was the last.
  mlir::Value arrive(TilePosition tile, mlir::Value thread);
  /// The sums of all parts added in the order of K, whoever came first.
  mlir::Value sum(TilePosition tile, const Place &place);
  /// Those of several places, which are loaded together.
  llvm::SmallVector<mlir::Value> sums(TilePosition tile,
                                      llvm::ArrayRef<Place> places);

private:
  /// The number of this CTA's part of a tile in the grid, i32.
  mlir::Value numberOf(TilePosition tile);
  /// Elements before the sums, and the number of the block, i64, that has those
  /// of a part.
  mlir::Value countersOf();
  mlir::Value blockOf(TilePosition tile, mlir::Value part);
  /// sums() where tiles are shared out.
  llvm::SmallVector<mlir::Value> sumsOfShares(TilePosition tile,
                                              llvm::ArrayRef<Place> places);
  mlir::Value load(TilePosition tile, mlir::Value part, const Place &place);
  /// `sums` and those of `count` parts from `first` on.
  llvm::SmallVector<mlir::Value> addParts(TilePosition tile,
                                          mlir::ValueRange sums,
                                          mlir::Value first, int64_t count,
                                          llvm::ArrayRef<Place> places);
  /// The element, i64, where sums of part number `part` lie.
  mlir::Value offset(TilePosition tile, mlir::Value part, const Place &place);

  KernelFrame &frame;
  KernelBuilder &b;
  int64_t width;
};

/// The sums of a tile whose parts of K are those of one cluster: each CTA sends
/// its sums, slice by slice of the columns, to the CTAs that own the slices,
/// and adds up those that come to it, in the order of K. All CTAs of a cluster
/// run at once, so that waiting for each other is no deadlock. Rounds follow
/// each other: one for each instruction of a tile.
class SumExchange {
public:
  /// Emits the shared memory and the barriers.
  explicit SumExchange(KernelFrame &frame);

  /// Waits until what was sent in the round before is read, and announces what
  /// comes in the one with `parity`.
  void begin(mlir::Value parity, mlir::Value thread);
  /// The chunk of `width` columns that is number `index` in the order of
  /// sending: those of this CTA's slice come first, so that no two CTAs send to
  /// the same one at once.
  mlir::Value orderOf(mlir::Value index, int64_t width);
  /// The first number in that order that is sent: an owner keeps its slice.
  mlir::Value firstSent(int64_t width);
  /// Sends the `sums` of a thread's row from `column` of the tile on to the
  /// owner.
  void send(mlir::Value column, mlir::Value thread, mlir::Value sums);
  /// Calls `body` where the CTA owns a slice, once its sums are there, with the
  /// slice's first column; then lets the others send again: not if `more` says
  /// that nothing follows, so that nothing arrives where nobody waits.
  void receive(mlir::Value parity, mlir::Value more,
               llvm::function_ref<void(mlir::Value)> body);
  /// The sums of all parts from `column` of the slice on, of which this CTA has
  /// its `own`.
  mlir::Value sum(mlir::Value column, mlir::Value thread, mlir::Value own);

  /// Whether this CTA owns columns, and the first one if it does.
  mlir::Value isOwner();
  mlir::Value firstOwned();

private:
  /// The row of the instruction's tile that a thread of the epilogue owns.
  mlir::Value rowOf(mlir::Value thread);

  KernelFrame &frame;
  KernelBuilder &b;
  mlir::Value inbox, full, empty;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_SPLITK_H
