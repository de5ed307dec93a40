//===- QuantizedStore.h - D as codes and scales -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEDSTORE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEDSTORE_H

#include "BlockQuantizer.h"
#include "EpilogueMath.h"

namespace blockscale {

/// Quantises what becomes of a thread's sums, a block of a row of D at a time,
/// and stores codes and scales as the next product reads them. The padding of
/// scales is 0: that below D, or below a group of its rows, is written by the
/// threads that own those rows, or where tiles end before it by those of the
/// last one, the one behind the last block of a row together
/// with that block's scale; rows that are not there have none. Under float
/// scales, which have no padding, a thread has a whole tile, or a part of it
/// that is a block.
class QuantizedStore {
public:
  /// `elements` of a row of D that a thread has side by side, at the least; all
  /// of a tile if not said.
  explicit QuantizedStore(KernelFrame &frame,
                          std::optional<int64_t> elements = std::nullopt);

  /// The largest magnitude of a tile of which the thread's part has `own`, an
  /// f32.
  using LargestOfParts =
      llvm::function_ref<mlir::Value(Emitter &, mlir::Value own)>;

  /// Loads the tensor scale of all of the kernel, and that of a tile.
  void prepareKernel();
  void prepareTile(TilePosition tile);
  /// Whether `count` blocks next to each other, the first of which has a number
  /// that is a multiple of that, are all in D if it is, and their scales in as
  /// many bytes behind each other.
  bool areTogether(int64_t count) const;
  /// Stores the block of f32 `values`, or several that are together, of which
  /// all or nothing lies in D; `fragment` is the place of the first.
  void store(llvm::ArrayRef<mlir::Value> values,
             const EpilogueFragment &fragment);
  /// The same of a block under a float, of numbers that are `narrowed`. Where
  /// it is a part of a tile, `largestOfParts` asks the threads of the others,
  /// which all come.
  void storeTilePart(llvm::ArrayRef<mlir::Value> narrow,
                     const EpilogueFragment &fragment,
                     LargestOfParts largestOfParts = nullptr);
  /// The elements of f32 `value` as numbers that are quantised: half of the
  /// registers where these are of 16 bits.
  llvm::SmallVector<mlir::Value> narrowed(mlir::Value value);
  bool isUnderFloats() const { return !storage.scale; }
  /// Whether there are scales of rows behind those of D, or of a group.
  bool hasRowsOfPadding() const;
  /// Stores those of `count` blocks of each `step`-th row from that of
  /// `fragment` on, which is the place of the first.
  void storeRowsOfPadding(const EpilogueFragment &fragment, int64_t count,
                          int64_t step);
  /// Elements of a row of D that it stores at once.
  int64_t blockElements() const { return storage.block; }

private:
  void loadFactor(mlir::Value matrix);
  /// Whether D is one matrix: it is of groups of rows.
  bool hasOneBatch() {
    return frame.isGrouped() || b.known(frame.op.getBatch()) == 1;
  }
  /// Sizes of D by the symbols of its storage; null what is static.
  llvm::SmallVector<mlir::Value> sizes(Emitter &e);
  /// Blocks of a row of D, i32.
  mlir::Value blocksOfRow(Emitter &e);
  /// The largest magnitude of the rows that share the scale of a block, of
  /// which a thread has the `elements` of one if it `isInside` of D. All lanes
  /// of a warp come.
  mlir::Value largestOfRows(Emitter &e, llvm::ArrayRef<mlir::Value> elements,
                            mlir::Value isInside);
  /// The elements as the quantisation reads them, in f32.
  llvm::SmallVector<mlir::Value> elementsOf(Emitter &e, mlir::Value value);
  /// Quantises blocks and stores their codes; the codes of their scales, a byte
  /// each. `largest` is the largest magnitude of the tile that one block is a
  /// part of, null where each block is one.
  mlir::Value storeBlocks(Emitter &e,
                          llvm::ArrayRef<llvm::SmallVector<mlir::Value>> blocks,
                          mlir::Value largest, const BlockPlace &place);
  BlockPlace placeOf(Emitter &e, const EpilogueFragment &fragment);
  void storeFloat(Emitter &e, const BlockPlace &place, mlir::Value bits);
  void storeScales(Emitter &e, const BlockPlace &first, int64_t count,
                   mlir::Value codes);
  void storePadding(Emitter &e, const BlockPlace &last);
  /// The row behind those of D, or of the group, that have scales, padding
  /// included.
  mlir::Value endOfScales(Emitter &e);
  /// The row of scales of a row of D.
  mlir::Value rowOfScales(Emitter &e, mlir::Value row);

  KernelFrame &frame;
  KernelBuilder &b;
  QuantizationAttr what;
  QuantizedStorage storage;
  /// The group of the tile, if there are groups.
  RowGroup group;
  /// The magnitude of the tensor scale; null if there is none.
  mlir::Value factor;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEDSTORE_H
