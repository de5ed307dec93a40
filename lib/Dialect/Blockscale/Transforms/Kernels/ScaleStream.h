//===- ScaleStream.h - scales of blocks of K, loaded ahead ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_SCALESTREAM_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_SCALESTREAM_H

#include "EpilogueMath.h"

#include <utility>

namespace blockscale {

/// The scales of blocks that follow each other along K, of which a thread needs
/// one with each block. It has those of several blocks in registers, a window,
/// and those of the next window are under way: a load takes longer than the
/// sums of a block, and waits for accumulators may empty the L1 cache, so that
/// a sector is loaded once with all that it has. Of scales that all lanes of a
/// warp need each lane has one.
class ScaleStream {
public:
  using TileScales = EpilogueMath::TileScales;
  /// Registers: the scales of blocks to come, and what memory has of the window
  /// behind them.
  struct Window {
    llvm::SmallVector<mlir::Value, 8> scales, codes;
    void appendTo(llvm::SmallVectorImpl<mlir::Value> &values) const;
    /// Takes as many values as it has from the first ones; returns the others.
    mlir::ValueRange takeFrom(mlir::ValueRange values);
  };

  /// Scales of a thread's row, so many in a window.
  ScaleStream(KernelBuilder &b, EpilogueMath &math, const TileScales &scales,
              int64_t window);
  /// Those of the columns of a warp, whose lanes these are.
  ScaleStream(KernelBuilder &b, EpilogueMath &math, const TileScales &scales,
              mlir::Value lane);

  /// What memory has of the first window; nothing is loaded unless `isThere`.
  llvm::SmallVector<mlir::Value> loadFirst(mlir::Value isThere);
  /// How many values these are.
  int64_t codesOfWindow() const { return window; }
  /// A window of no scales yet, before `codes`.
  Window before(mlir::ValueRange codes);
  /// Blocks of K after which a window is used up.
  int64_t blocksOfWindow() const { return length() * scales.blocks; }
  /// Before `block`, a multiple of `step`: if the window is used up there, what
  /// was loaded takes its place, and the window behind that is loaded. The one
  /// behind a tile's last one is the first one of the next tile, if `next`
  /// knows that and whether there is one.
  using Next = llvm::function_ref<std::pair<TileScales, mlir::Value>()>;
  void begin(Window &window, mlir::Value block, int64_t step, Next next);
  /// Takes the scale of `block` from those of a window, whose blocks come one
  /// after the other.
  mlir::Value take(llvm::MutableArrayRef<mlir::Value> window,
                   mlir::Value block);

private:
  /// A place in memory, and how many scales are there.
  using Place = std::pair<mlir::Value, mlir::Value>;
  /// That of scale number `number` and what follows it along K.
  Place placeAt(const TileScales &scales, mlir::Value number,
                mlir::Value isThere);
  llvm::SmallVector<mlir::Value> load(const Place &place);
  void moveOn(Window &window, mlir::Value block, Next next);
  /// Where the window behind that of scale `number` lies.
  Place placeBehind(mlir::Value number, Next next);
  /// How many scales a window has.
  int64_t length() const;

  KernelBuilder &b;
  EpilogueMath &math;
  TileScales scales;
  /// Scales of a window in registers of a thread.
  int64_t window;
  /// Null unless lanes have one scale each.
  mlir::Value lane;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_SCALESTREAM_H
