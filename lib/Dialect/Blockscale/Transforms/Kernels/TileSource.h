//===- TileSource.h - how roles find their next output tile -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILESOURCE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILESOURCE_H

#include "KernelFrame.h"

#include <memory>

namespace blockscale {

/// The list of output tiles of a CTA, which every role walks.
class TileSource {
public:
  virtual ~TileSource() = default;

  /// Emits the source that the schedule names, with the storage that it needs.
  static std::unique_ptr<TileSource> create(KernelFrame &frame);

  /// Calls `body` with each tile and the carried values, of which it returns
  /// the next ones. Returns the last ones. A tile may lie outside D.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      TilePosition, mlir::ValueRange)>;
  virtual llvm::SmallVector<mlir::Value> forEach(mlir::ValueRange carried,
                                                 Body body) = 0;

  /// Emits the role that finds tiles, if it takes one.
  virtual void emitRole() {}

protected:
  explicit TileSource(KernelFrame &frame) : frame(frame), b(frame.b) {}

  /// The output tile of this CTA when its cluster computes number `tile`.
  TilePosition position(mlir::Value tile);

  KernelFrame &frame;
  KernelBuilder &b;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILESOURCE_H
