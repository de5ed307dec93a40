//===- BlockScales.h - the scales of blocks ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_BLOCKSCALES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_BLOCKSCALES_H

#include "ErrorSum.h"
#include "StorageAccess.h"
#include "TileReduction.h"
#include "blockscale/HW/Target.h"

#include <array>

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

/// How one thread that has a whole block chooses its scale, and the tensor
/// scale of a matrix, as `blockscale.quantize` says.
class BlockScales : public StorageAccess {
public:
  /// `sizes` of the launch by the symbols that `storage` has for them, i32.
  BlockScales(Emitter &emitter, QuantizationAttr what,
              const QuantizedStorage &storage,
              llvm::ArrayRef<mlir::Value> sizes, hw::Target target);

  /// Which threads have the blocks of a tile; if not said, neighbours.
  void setOrder(TileOrder which) { order = which; }
  /// Who else finds the largest, or the sum, of an i32 of each thread that has
  /// a part of a tile, in place of neighbours: null if a thread has all of it.
  using Together = llvm::function_ref<mlir::Value(
      Emitter &, mlir::Value own, mlir::gpu::AllReduceOperation how)>;
  void setMates(Together together) {
    mates = together;
    hasMates = true;
  }

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
  /// The errors of a tile, or of a part of it, under its two scales: i32.
  using Errors = std::array<mlir::Value, 2>;
  /// The scale of a tile of which a thread has a part at a time, where errors
  /// are compared: `addUp` asks for those of each part, f32, and adds them up.
  /// Keeps no codes.
  BlockScaling
  scalingOfParts(mlir::Value largest, mlir::Value factor,
                 llvm::function_ref<Errors(
                     llvm::function_ref<Errors(llvm::ArrayRef<mlir::Value>)>)>
                     addUp);
  /// The same of blocks of f32 next to each other, each of one row.
  llvm::SmallVector<BlockScaling>
  scalingsOf(llvm::ArrayRef<llvm::SmallVector<mlir::Value>> blocks,
             mlir::Value factor);
  /// That of a matrix whose scale is given, which is not negative.
  BlockScaling givenScaling(mlir::Value scale);
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

protected:
  QuantizationAttr what;
  mlir::Type element;
  float limit;
  hw::Target target;

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
  ErrorSum errorSum();
  /// The two scales that `min_error` chooses from, and what says their errors.
  struct Choice {
    BlockScaling first, second;
    ErrorSum::Candidate one, other;
  };
  Choice choiceOf(mlir::Value largest, mlir::Value factor);
  mlir::Value isSecondBetter(llvm::ArrayRef<mlir::Value> values,
                             mlir::Value counts, Choice &choice);
  BlockScaling takenOf(const Choice &choice, mlir::Value isBetter);

  /// That of scales, or another one that always says the same.
  ScaleRule rule;
  TileOrder order = TileOrder::Together;
  Together mates;
  bool hasMates = false;
  /// The last factor that was chosen or inverted, and what numbers are
  /// multiplied by then.
  mlir::Value chosen, inverseOfChosen;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_BLOCKSCALES_H
