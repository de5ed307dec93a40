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
#include "BlockScales.h"

namespace blockscale {

/// What one thread does that has a whole block: chooses its scale, rounds its
/// elements and stores them, as `blockscale.quantize` says.
class BlockQuantizer : public BlockScales {
public:
  /// `sizes` of the launch by the symbols that `storage` has for them, i32.
  BlockQuantizer(Emitter &emitter, QuantizationAttr what,
                 const QuantizedStorage &storage,
                 llvm::ArrayRef<mlir::Value> sizes, hw::Target target);

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

private:
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

  BlockRandom random;
  /// Whether the chip rounds at random by an instruction, and it is to do so.
  bool roundsByInstruction;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_BLOCKQUANTIZER_H
