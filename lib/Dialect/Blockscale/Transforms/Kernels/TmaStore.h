//===- TmaStore.h - D through shared memory ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TMASTORE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TMASTORE_H

#include "KernelFrame.h"

namespace blockscale {

/// A ring of boxes for each warp of the epilogue: what becomes of a chunk of
/// columns goes there, and TMA stores it while the warp works on the next one.
/// No warp waits for another.
class TmaStore {
public:
  /// Emits the ring, for `chunks` chunks of columns that a warp has of a tile.
  TmaStore(KernelFrame &frame, int64_t chunks);

  /// Stores the rows that the lanes of a warp have in `value`, those of chunk
  /// number `chunk` in the order in which it stores them; `column` is the
  /// first column of it in the product. `thread` is the thread's number.
  void store(TilePosition tile, mlir::Value thread, mlir::Value chunk,
             mlir::Value column, mlir::Value value);
  /// Waits until shared memory may go.
  void drain();

private:
  KernelFrame &frame;
  KernelBuilder &b;
  /// Boxes of a warp.
  int64_t depth;
  mlir::Value ring;
};

/// Bytes of shared memory of the rings of `warps` warps where a thread stores
/// `width` columns of `elementBytes` at once, `chunks` of a tile.
int64_t storeRingBytes(int64_t warps, int64_t chunks, int64_t width,
                       int64_t elementBytes);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TMASTORE_H
