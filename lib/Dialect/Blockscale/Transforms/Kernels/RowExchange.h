//===- RowExchange.h - rows of D out of columns of it -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ROWEXCHANGE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ROWEXCHANGE_H

#include "KernelFrame.h"

namespace blockscale {

/// Bytes of shared memory in which `groups` groups of four warps exchange
/// `rows` rows of D, of which a thread then has `columns` columns.
int64_t rowExchangeBytes(int64_t groups, int64_t rows, int64_t columns);

/// With swapped operands a thread of the epilogue has sums of one column of D.
/// Each group of four warps brings them through shared memory, a chunk of rows
/// after the other, to threads that have some neighbouring columns of a row:
/// 32, which lanes of one warp had, 64, of two warps, or 128, of all four.
class RowExchange {
public:
  /// Of a tile of which a thread has `most` sums.
  RowExchange(KernelFrame &frame, int64_t most);

  /// Rows of D that are exchanged at once.
  int64_t rowsOfChunk() const { return rows; }
  /// Columns of a row that a thread takes; the threads of a group can have as
  /// many rows.
  int64_t columnsOfThread() const { return columns; }

  /// Finds the place of `thread`.
  void locate(mlir::Value thread);
  /// Gives away the thread's sums of a chunk from row `first` of it on: of
  /// integers what they are in f32.
  void put(mlir::Value sums, int64_t first);
  /// All threads come when they have given theirs, and when they have taken.
  void awaitAll();
  void leave();
  /// The thread's sums of its row from column `first` of its own on.
  mlir::Value take(int64_t first, int64_t count);

  /// Of the thread: its row in a chunk, whether the chunk has that, and its
  /// first column in a tile.
  mlir::Value row, isThere, column;

private:
  bool isInWarp() const;
  void meet(int64_t parity);

  KernelBuilder &b;
  int64_t groups, rows, columns;
  mlir::Value sums, barriers;
  /// The group, and where it gives and takes.
  mlir::Value group, given, taken;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ROWEXCHANGE_H
