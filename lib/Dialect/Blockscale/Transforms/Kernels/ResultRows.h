//===- ResultRows.h - what becomes of sums brought to rows ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_RESULTROWS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_RESULTROWS_H

#include "EpilogueMath.h"
#include "QuantizedStore.h"
#include "TileMates.h"

#include <functional>

namespace blockscale {

/// The place of a thread that has neighbouring columns of a row of D: both in
/// the tile, and whether the row is one of it. What a thread has that has none
/// is not stored.
struct RowPlace {
  mlir::Value row, column, isThere;
};

/// Finishes and stores sums of swapped operands that were brought to threads
/// that have rows of D, as those are of operands that are not swapped.
class ResultRows {
public:
  /// `columns` of a row that a thread has; `mates` where several threads choose
  /// a scale.
  ResultRows(KernelFrame &frame, int64_t columns,
             std::optional<TileMates> &mates);

  /// Loads what all sums of the kernel have in common, and those of a tile.
  void prepareKernel();
  void prepareTile(TilePosition tile);

  /// The sums of so many columns, from number `first` of the thread's on.
  using Load = llvm::function_ref<mlir::Value(int64_t first, int64_t count)>;

  /// Stores what becomes of a thread's sums. Where several threads choose a
  /// scale all that have others come.
  void store(TilePosition tile, const RowPlace &place, Load load);
  /// The same of several rows that a thread has of the same tiles of D.
  struct Row {
    RowPlace place;
    std::function<mlir::Value(int64_t first, int64_t count)> load;
  };
  void storeRows(TilePosition tile, llvm::ArrayRef<Row> rows);
  /// Stores the scales behind the tile's last row that no tile has: those of
  /// each `step`-th row from the thread's on, which counts from there.
  void storePadding(TilePosition tile, const RowPlace &place, int64_t step);

private:
  EpilogueFragment fragmentAt(TilePosition tile, const RowPlace &place,
                              int64_t first);
  mlir::Value startsInside(const Extent &rows, mlir::Value first);
  void storeBlocks(TilePosition tile, const RowPlace &place, Load load);
  /// Whether tiles end before the scales of their rows do.
  bool endsEarly() const;

  KernelFrame &frame;
  KernelBuilder &b;
  int64_t columns;
  std::optional<TileMates> &mates;
  EpilogueMath math;
  std::optional<QuantizedStore> quantized;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_RESULTROWS_H
