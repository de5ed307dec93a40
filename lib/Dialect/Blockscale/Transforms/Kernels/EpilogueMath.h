//===- EpilogueMath.h - what becomes of the sums of a product ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_EPILOGUEMATH_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_EPILOGUEMATH_H

#include "KernelFrame.h"

namespace blockscale {

/// One thread's part of a tile: `count` elements from `column` on of `row`,
/// both in the whole product as the instruction sees it.
struct EpilogueFragment {
  mlir::Value row, column, count, batch;
};

/// Emits D = epilogue(alpha * sum, beta * C, bias) for vectors of `width` sums.
class EpilogueMath {
public:
  EpilogueMath(KernelFrame &frame, int64_t width);

  /// Loads what all sums of the kernel have in common, before its first tile.
  void prepareKernel();
  /// Loads what all sums of a tile have in common.
  void prepareTile(TilePosition tile);
  /// The place of `width` sums of a tile that start at `row` and `column` of
  /// it.
  EpilogueFragment fragmentAt(TilePosition position, mlir::Value row,
                              mlir::Value column);
  mlir::Value finish(mlir::Value sum, const EpilogueFragment &fragment);
  void store(mlir::Value value, const EpilogueFragment &fragment);

  /// The type of `width` sums in f32.
  mlir::VectorType getVectorType() const { return vectorType; }
  int64_t getWidth() const { return width; }

private:
  /// The factor of all sums of a batch: alpha and the tensor scales.
  void loadScale(mlir::Value batch);
  /// Batches have tensor scales of their own.
  bool hasOneBatch() { return b.known(frame.op.getBatch()) == 1; }
  /// Sums as numbers of f32 and with their factor.
  mlir::Value scaled(mlir::Value sum);
  /// C with its factor.
  mlir::Value loadC(const EpilogueFragment &fragment);
  mlir::Value loadBias(const EpilogueFragment &fragment);
  mlir::Value splat(mlir::Value scalar);
  mlir::Value widen(mlir::Value values);
  mlir::Value loadScalar(mlir::Value memory, mlir::Value index,
                         mlir::Value count);
  /// Offset of the fragment's first element in D or C, and the distance to the
  /// next one (null where it is 1).
  std::pair<mlir::Value, mlir::Value> place(const EpilogueFragment &fragment);

  KernelFrame &frame;
  KernelBuilder &b;
  int64_t width;
  mlir::VectorType vectorType;
  mlir::Value scale;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_EPILOGUEMATH_H
