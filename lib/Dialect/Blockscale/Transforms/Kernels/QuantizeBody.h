//===- QuantizeBody.h - the body of a kernel that quantises -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEBODY_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEBODY_H

#include "BlockQuantizer.h"
#include "QuantizeSource.h"
#include "blockscale/HW/Memory.h"

namespace blockscale {

/// Threads of a CTA where all CTAs find tensor scales together, at the least.
inline constexpr int64_t kGridThreads = 512;

/// Threads of a CTA, which has whole tiles.
inline int64_t quantizeThreads(const QuantizedStorage &storage,
                               bool isTogether) {
  return std::max(isTogether ? kGridThreads : kElementwiseThreads,
                  storage.coversRow() ? threadsOfRow(storage)
                                      : storage.repetitions());
}

/// What a thread does: it owns one byte of the scales in memory, and quantises
/// the block that this is the scale of. Here blocks lie along rows of the
/// input.
class QuantizeBody {
public:
  QuantizeBody(QuantizationAttr what, const QuantizedStorage &storage,
               mlir::ImplicitLocOpBuilder &b,
               const QuantizeArguments &arguments);
  virtual ~QuantizeBody() = default;

  using Digit = hw::StorageLayout<mlir::AffineExpr>::Digit;

  void build();

  /// Lets a CTA of so many threads do what CTA `number`, i32, does of a grid
  /// for this alone.
  void standFor(mlir::Value number, int64_t threads) {
    cta = number;
    threadsOfCta = threads;
  }

protected:
  /// What all threads of a CTA do.
  virtual void buildCta();
  /// The digits of a thread's number in the grid, the fastest first.
  virtual llvm::SmallVector<Digit> digits() const;
  /// The same with the rows of an atom of scales first.
  static llvm::SmallVector<Digit> withRowsFirst(llvm::SmallVector<Digit> list);
  static Digit digit(hw::Dim source, int64_t divisor, mlir::AffineExpr extent);
  /// Digits by which the threads of a tile follow each other; the first four,
  /// as far as they are there, are those of an atom of scales where no tile is
  /// larger.
  llvm::SmallVector<Digit> tileDigits() const;
  /// What number `number` is the place of; the matrix is what is left.
  BlockPlace placeBy(llvm::ArrayRef<Digit> digits, mlir::Value number);
  virtual int64_t threads() const {
    return threadsOfCta ? threadsOfCta
                        : quantizeThreads(storage, bool(arguments.workspace));
  }
  /// Which threads have the blocks of a tile.
  virtual TileOrder order() const;
  /// Whether the threads of a CTA leave something in shared memory.
  virtual bool usesShared() const {
    return storage.repetitions() > hw::kWarpSize ||
           order() == TileOrder::BlocksFirst;
  }
  /// The elements of the block; `first` is the number of its first one in the
  /// op's input, i64.
  virtual llvm::SmallVector<mlir::Value> load(const BlockPlace &place,
                                              mlir::Value first);
  /// The same where memory holds the transpose: they lie below each other.
  llvm::SmallVector<mlir::Value> loadColumn(const BlockPlace &place);
  virtual void storeCodes(const BlockPlace &place,
                          llvm::ArrayRef<mlir::Value> words);
  /// All threads come, with 0 for the padding; `number` is that of the thread.
  virtual void storeScale(const BlockPlace &place, mlir::Value number,
                          mlir::Value code);

  /// The code of the scale of the block there, 0 in the padding. All threads
  /// come.
  mlir::Value quantize(const BlockPlace &place);
  /// The same of a block and the next one along K, which the thread has both: a
  /// byte each. `hasNext` says whether that is inside where the first one is,
  /// or is null if it always is.
  mlir::Value quantizeTwo(const BlockPlace &place, mlir::Value hasNext);
  /// What `quantizes` gives back of a block that is inside, an i32, else 0.
  mlir::Value ifInside(const BlockPlace &place,
                       llvm::function_ref<mlir::Value()> quantizes);

  /// A block of a thread that has several: the numbers in memory, and of its
  /// first element among all. `isThere` is null if it always is; else it was
  /// read as another one, and its scale is 0.
  struct LoadedBlock {
    llvm::SmallVector<mlir::Value> loaded;
    mlir::Value first, isThere;
  };
  /// The codes and scales of blocks, one after the other.
  struct QuantizedBlocks {
    llvm::SmallVector<llvm::SmallVector<mlir::Value>> words;
    /// A byte each.
    mlir::Value scales;
  };
  /// Of blocks of one matrix, of which `place` is the first one.
  QuantizedBlocks quantizeLoaded(const BlockPlace &place,
                                 llvm::ArrayRef<LoadedBlock> blocks);

  mlir::Value extentOf(mlir::AffineExpr expression, mlir::Type type) {
    return quantizer.extentOf(expression, type);
  }
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value below(mlir::Value x, mlir::Value y);
  mlir::Value wide(mlir::Value x);
  mlir::Value wide(int64_t x);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  /// Stores plain scale number `number`, i64, by its code.
  void storeNumber(mlir::Value number, mlir::Value code);
  /// Stores that of a tile, by the thread of its first block.
  void storePlain(const BlockPlace &place, mlir::Value code);
  mlir::Value i8(mlir::Value x);
  /// The number of a CTA or of a thread in its CTA, i32.
  mlir::Value number(mlir::Value index);
  bool isTiled() const { return storage.repetitions() > 1; }
  /// Whether the one scale of a matrix is.
  bool isScaleGiven() const {
    return storage.coversMatrix() && arguments.tensorScale;
  }
  mlir::Value isInside(const BlockPlace &place);
  mlir::Value ctaNumber();
  mlir::Value threadNumber();
  mlir::Value firstElement(const BlockPlace &place);
  llvm::SmallVector<mlir::Value> widened(llvm::ArrayRef<mlir::Value> loaded);
  /// Finds the tensor scale of a matrix, i32, of which all blocks are that the
  /// thread quantises, and what numbers are divided by under it.
  void findFactor(mlir::Value matrix);
  /// Whether a row of scales, padding included, reaches so far.
  mlir::Value isInMemory(const BlockPlace &place);

  const QuantizedStorage &storage;
  Emitter e;
  const QuantizeArguments &arguments;
  BlockQuantizer quantizer;
  /// What the last block was loaded as.
  llvm::SmallVector<mlir::Value> pieces;
  /// The tensor scale that `findFactor` has found; null if there is none, or
  /// blocks find theirs.
  mlir::Value factorOfAll;
  /// The number of the CTA that this one stands for; null for its own.
  mlir::Value cta;
  /// Its threads; 0 for those of a kernel that does nothing else.
  int64_t threadsOfCta = 0;

private:
  /// What is known of a block before its thread is alone; null or empty what is
  /// not. `loaded` are its numbers, `values` the same as f32.
  struct Known {
    llvm::SmallVector<mlir::Value> loaded, values;
    mlir::Value largest, factor;
    std::optional<BlockScaling> scaling;
  };

  bool followsBytes() const;
  mlir::Value isStored(const BlockPlace &place);
  BlockPlace nearestInside(const BlockPlace &place);
  mlir::Value loadFactor(mlir::Value matrix);
  Known findTogether(const BlockPlace &place);
  BlockScaling scalingOf(const BlockPlace &place, const Known &known,
                         llvm::ArrayRef<mlir::Value> loaded,
                         llvm::ArrayRef<mlir::Value> values,
                         mlir::Value factor);
  mlir::Value quantizeBlock(const BlockPlace &place, const Known &known);
  mlir::Value quantizeTwoInside(const BlockPlace &place, mlir::Value hasNext);
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEBODY_H
