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
/// scales, which have no padding, and of tiles of several blocks a thread has a
/// whole tile, or a part of it. Under one scale for all of a matrix, which is
/// given, nothing is to be chosen, and whoever has its first block stores it.
class QuantizedStore {
public:
  /// `elements` of a row of D that a thread has side by side, at the least; all
  /// of a tile if not said.
  explicit QuantizedStore(KernelFrame &frame,
                          std::optional<int64_t> elements = std::nullopt);

  /// The largest, or the sum, of an i32 of each thread that has a part of the
  /// same tile.
  using Together = BlockQuantizer::Together;

  /// Loads the tensor scale of all of the kernel, and that of a tile.
  void prepareKernel();
  void prepareTile(TilePosition tile);
  /// Whether `count` blocks next to each other, the first of which has a number
  /// that is a multiple of that, are all in D if it is, and their scales in as
  /// many bytes behind each other.
  bool areTogether(int64_t count) const;
  /// Stores the block of f32 `values`, or several that are together, of which
  /// all or nothing lies in D; `fragment` is the place of the first. Where
  /// others have parts of its tile, all of them come, and `together` asks them.
  void store(llvm::ArrayRef<mlir::Value> values,
             const EpilogueFragment &fragment, Together together = nullptr);
  /// What a thread has of a row of a tile: numbers that are `narrowed`.
  struct Part {
    llvm::SmallVector<mlir::Value> elements;
    EpilogueFragment fragment;
  };
  /// The same of a part of a tile, or of those of several rows of one.
  void storeParts(llvm::ArrayRef<Part> parts, Together together = nullptr);
  /// Whether a thread that has a row of a tile has more numbers there than it
  /// keeps while their scale is chosen.
  static bool makesPartsAgain(KernelFrame &frame);
  /// The same of `count` parts of such a row, which `part` makes each time that
  /// one is read, in a loop over their numbers.
  void storePartsAgain(int64_t count,
                       llvm::function_ref<Part(mlir::Value)> part,
                       Together together = nullptr);
  /// The elements of f32 `value` as numbers that are quantised: half of the
  /// registers where these are of 16 bits.
  llvm::SmallVector<mlir::Value> narrowed(mlir::Value value);
  /// Whether a thread keeps all numbers of a part of a tile until its scale is
  /// chosen.
  bool keepsParts() const {
    return !storage.coversMatrix() &&
           (!storage.scale || storage.tileBlocks > 1);
  }
  /// Whether there are scales of rows behind those of D, or of a group.
  bool hasRowsOfPadding() const;
  /// Stores those of `count` blocks of each `step`-th row from that of
  /// `fragment` on, which is the place of the first.
  void storeRowsOfPadding(const EpilogueFragment &fragment, int64_t count,
                          int64_t step);
  /// Elements of a row of D that it stores at once, and blocks of so many.
  int64_t partElements() const { return part; }
  int64_t blocksOf(int64_t elements) const { return elements / storage.block; }

private:
  /// Bits of a scale beside others, and of a word.
  static constexpr int64_t kScaleBits = 8, kWordBits = 32;
  static mlir::Value multiply(Emitter &e, mlir::Value x, mlir::Value y);
  static mlir::Value sum(Emitter &e, mlir::Value x, mlir::Value y);
  static mlir::Value isBelow(Emitter &e, mlir::Value x, mlir::Value y);

  void loadFactor(mlir::Value matrix);
  /// Words of such numbers, i32, as these.
  llvm::SmallVector<mlir::Value> numbersOf(mlir::ValueRange words);
  /// `parts` taken out of their words once more where a thread has no registers
  /// for words and the numbers in them, as they were read before.
  llvm::SmallVector<Part> readAgain(llvm::ArrayRef<Part> parts);
  /// Whether D is one matrix: it is of groups of rows.
  bool hasOneBatch() {
    return frame.isGrouped() || b.known(frame.op.getBatch()) == 1;
  }
  /// Sizes of D by the symbols of its storage; null what is static.
  llvm::SmallVector<mlir::Value> sizes(Emitter &e);
  /// Blocks of a row of D, i32.
  mlir::Value blocksOfRow(Emitter &e);
  BlockQuantizer quantizerAt(Emitter &e, Together together = nullptr);
  /// The largest magnitude of a tile of which a thread has `parts`. All threads
  /// that have others come.
  mlir::Value largestOf(Emitter &e, llvm::ArrayRef<Part> parts,
                        Together together);
  /// Its scale for each part where the errors of all are compared.
  llvm::SmallVector<std::optional<BlockScaling>>
  comparedScalings(Emitter &e, llvm::ArrayRef<Part> parts, mlir::Value largest,
                   Together together);
  /// What is known of a tile of which a thread has a part: the largest
  /// magnitude, and its scale if that does not follow.
  struct Tile {
    mlir::Value largest;
    std::optional<BlockScaling> scaling;
  };
  llvm::SmallVector<BlockScaling>
  scalingsOf(BlockQuantizer &quantizer,
             llvm::ArrayRef<llvm::SmallVector<mlir::Value>> blocks,
             const Tile &tile);
  void storePart(Emitter &e, const Part &part, const Tile &tile);
  /// Carries `initial` through a loop over `count` parts; `e` is in its body.
  mlir::ValueRange
  forEachPart(Emitter &e, int64_t count, mlir::ValueRange initial,
              llvm::function_ref<llvm::SmallVector<mlir::Value>(
                  mlir::Value index, mlir::ValueRange carried)>
                  body);
  /// The scale of a tile whose parts are made again, where errors are compared.
  std::optional<BlockScaling>
  comparedScaling(Emitter &e, int64_t count,
                  llvm::function_ref<Part(mlir::Value)> part,
                  mlir::Value largest, Together together);
  /// The elements as the quantisation reads them, in f32.
  llvm::SmallVector<mlir::Value> elementsOf(Emitter &e, mlir::Value value);
  /// Quantises blocks and stores their codes; the codes of their scales, a byte
  /// each, or that of the `tile` which they are a part of: null where each
  /// block is one.
  mlir::Value storeBlocks(Emitter &e,
                          llvm::ArrayRef<llvm::SmallVector<mlir::Value>> blocks,
                          const Tile *tile, const BlockPlace &place);
  /// The same of blocks under the given scale, which it stores too.
  void storeUnderGiven(Emitter &e, llvm::ArrayRef<mlir::Value> values,
                       const EpilogueFragment &fragment);
  /// Stores the scales of blocks with `scalesOf` their place in D.
  void storeIfThere(Emitter &e, const EpilogueFragment &fragment, int64_t count,
                    llvm::function_ref<mlir::Value(const BlockPlace &)> codes,
                    bool areAlike);
  BlockPlace placeOf(Emitter &e, const EpilogueFragment &fragment);
  void storePlain(Emitter &e, const BlockPlace &place, mlir::Value bits);
  /// Whether the scales of so many blocks, the first of which has a number that
  /// is a multiple of that, lie in bytes behind each other.
  bool areNeighbours(int64_t count) const;
  /// Stores the one scale of `count` blocks.
  void storeRepeated(Emitter &e, const BlockPlace &first, int64_t count,
                     mlir::Value code);
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
  int64_t part;
  /// The group of the tile, if there are groups.
  RowGroup group;
  /// The magnitude of the tensor scale; null if there is none.
  mlir::Value factor;
  /// The one scale of a matrix, if that is given.
  std::optional<BlockScaling> given;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEDSTORE_H
