//===- BlockQuantizer.h - a block of numbers as codes -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_BLOCKQUANTIZER_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_BLOCKQUANTIZER_H

#include "BlockRandom.h"
#include "ErrorSum.h"
#include "StorageAccess.h"
#include "TileReduction.h"

namespace blockscale {

/// What the scale of a block and a tensor scale give.
struct BlockScaling {
  /// i32, of f32 the bits.
  mlir::Value code;
  /// What elements are multiplied by.
  mlir::Value inverse;
  /// The scale itself; null for powers of two.
  mlir::Value scale;
  /// The codes to nearest even of two elements each, of 4 bits of eight, where
  /// choosing the scale has made them.
  llvm::SmallVector<mlir::Value> codes;
  /// The largest magnitude that it is for; null if it is given.
  mlir::Value largest = {};
  /// Whether it does not depend on the elements, so that a NaN has others
  /// beside it.
  bool isGiven = false;
};

/// What one thread does that has a whole block: chooses its scale, rounds its
/// elements and stores them, as `blockscale.quantize` says.
class BlockQuantizer : public StorageAccess {
public:
  /// `sizes` of the launch by the symbols that `storage` has for them, i32.
  BlockQuantizer(Emitter &emitter, QuantizationAttr what,
                 const QuantizedStorage &storage,
                 llvm::ArrayRef<mlir::Value> sizes, hw::Target target);

  /// Which threads have the blocks of a tile; if not said, neighbours.
  void setOrder(TileOrder which) { order = which; }

  /// The largest magnitude of numbers of f32, bf16 or f16, as f32; NaN if there
  /// is one.
  mlir::Value largestOf(llvm::ArrayRef<mlir::Value> values);
  /// The same over all threads of a tile, of which those come that
  /// `TileReduction` says.
  mlir::Value largestOfTile(mlir::Value largest);
  /// Whether the scale of a block depends on more than its largest magnitude.
  bool comparesErrors() const { return rule == ScaleRule::MinError; }
  /// The scale of a block of f32 with this largest magnitude; `factor` is the
  /// tensor's, or null. If errors are compared and tiles have several rows, all
  /// lanes of a warp come, and `counts` says whose values are part of the tile.
  BlockScaling scalingOf(llvm::ArrayRef<mlir::Value> values,
                         mlir::Value largest, mlir::Value factor,
                         mlir::Value counts = {});
  /// The same of blocks of f32 next to each other, each of one row.
  llvm::SmallVector<BlockScaling>
  scalingsOf(llvm::ArrayRef<llvm::SmallVector<mlir::Value>> blocks,
             mlir::Value factor);
  /// That of a matrix whose scale is given, which is not negative.
  BlockScaling givenScaling(mlir::Value scale);
  /// The codes as 32-bit words in the order of memory. `first` is the number of
  /// the first element in the whole input, i64.
  llvm::SmallVector<mlir::Value> encode(llvm::ArrayRef<mlir::Value> values,
                                        const BlockScaling &scaling,
                                        mlir::Value first);

  /// Bytes of the codes of a block, and of what a thread stores of it at once.
  int64_t blockBytes() const;
  int64_t dataAccess() const;
  /// The first byte of the codes of a block in memory, i64, and number `piece`
  /// of what is stored at once, as a vector of i8.
  mlir::Value dataOffset(const BlockPlace &place);
  mlir::Value dataPiece(llvm::ArrayRef<mlir::Value> words, int64_t piece);
  /// Stores the words of a block, or of several from that on.
  void storeData(mlir::Value memory, const BlockPlace &place,
                 llvm::ArrayRef<mlir::Value> words);

  /// The magnitude, which alone counts, of the tensor scale of `matrix`, i64.
  mlir::Value loadFactor(mlir::Value memory, mlir::Value matrix);
  /// From here on it is known how to divide by `factor`.
  void invertFactor(mlir::Value factor);
  /// That of a matrix with the largest magnitude `largest`, where none is
  /// given. It is known from here on how to divide by it.
  mlir::Value chooseFactor(mlir::Value largest);
  /// Whether that is 1 whatever the matrix holds.
  bool needsNoFactor() const { return storage.scale == ElementFormat::UE8M0; }
  /// Whether a block is the first one of its matrix.
  mlir::Value isFirstBlock(const BlockPlace &place);
  /// Writes down what it was, by whoever has the first block of the matrix.
  void storeFactor(mlir::Value memory, const BlockPlace &place,
                   mlir::Value factor);

private:
  mlir::Value reduceTile(mlir::Value own, mlir::gpu::AllReduceOperation how);
  mlir::Value inverseOf(mlir::Value scale, mlir::Value factor);
  mlir::Value inverseOfFactor(mlir::Value factor);
  BlockScaling exponentScaling(ScaleRule rule, mlir::Value largest,
                               mlir::Value factor);
  BlockScaling powerScaling(mlir::Value code, mlir::Value factor);
  BlockScaling plainScaling(mlir::Value scale, mlir::Value rounded);
  BlockScaling plainScaling(float target, mlir::Value largest);
  mlir::Value scaleFor(float target, mlir::Value largest, mlir::Value factor);
  llvm::SmallVector<BlockScaling>
  roundedScalings(llvm::ArrayRef<mlir::Value> scales, mlir::Value factor);
  BlockScaling floatScaling(float target, mlir::Value largest,
                            mlir::Value factor);
  BlockScaling chosenScaling(llvm::ArrayRef<mlir::Value> values,
                             mlir::Value largest, mlir::Value factor,
                             mlir::Value counts);
  mlir::Value errorOf(llvm::ArrayRef<mlir::Value> values, BlockScaling &scaling,
                      const ErrorSum::Candidate &candidate, mlir::Value counts);
  BlockScaling lessErring(llvm::ArrayRef<mlir::Value> values,
                          mlir::Value largest, mlir::Value factor,
                          mlir::Value counts);
  mlir::Value withoutTie(mlir::Value value);
  bool isStochastic() const;
  NumberParts parts();
  mlir::Value countOf(mlir::Value value, const BlockScaling &scaling);
  mlir::Value joined(mlir::Value low, mlir::Value high);
  mlir::Value packed(mlir::Value codes);
  llvm::SmallVector<mlir::Value> quotientsOf(llvm::ArrayRef<mlir::Value> values,
                                             const BlockScaling &scaling,
                                             mlir::Value first);
  llvm::SmallVector<mlir::Value>
  encodeGroups(llvm::ArrayRef<mlir::Value> values, const BlockScaling &scaling,
               mlir::Value first);
  llvm::SmallVector<mlir::Value>
  integerGroups(llvm::ArrayRef<mlir::Value> values, const BlockScaling &scaling,
                mlir::Value first);
  mlir::Value encodeApart(llvm::ArrayRef<mlir::Value> products,
                          llvm::ArrayRef<mlir::Value> pairs);
  llvm::SmallVector<mlir::Value>
  encodeByInstruction(llvm::ArrayRef<mlir::Value> values, mlir::Value inverse,
                      mlir::Value first);
  bool hasStochasticConvert() const;
  /// Whether codes are counted to by random bits below those of a number.
  bool countsToCodes(const BlockScaling &scaling) const;
  void repairUnordered(llvm::SmallVector<mlir::Value> &words,
                       llvm::ArrayRef<mlir::Value> values,
                       const BlockScaling &scaling);
  void replaceNaN(llvm::SmallVector<mlir::Value> &words, mlir::Value inverse);

  QuantizationAttr what;
  mlir::Type element;
  float limit;
  /// That of scales, or another one that always says the same.
  ScaleRule rule;
  hw::Target target;
  BlockRandom random;
  /// Whether the chip rounds at random by an instruction, and it is to do so.
  bool roundsByInstruction;
  TileOrder order = TileOrder::Together;
  /// The last factor that was chosen or inverted, and what numbers are
  /// multiplied by then.
  mlir::Value chosen, inverseOfChosen;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_BLOCKQUANTIZER_H
