//===- LaunchControl.h - tiles of clusters that did not start ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_LAUNCHCONTROL_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_LAUNCHCONTROL_H

#include "GroupedTiles.h"

namespace blockscale {

/// The grid has a cluster per tile, and one that runs takes over others that
/// have not started, by cluster launch control. Where rows are in groups it has
/// one for the most tiles that there may be, and some find none.
class LaunchControl : public TileSource {
public:
  explicit LaunchControl(KernelFrame &frame);

  llvm::SmallVector<mlir::Value> forEach(mlir::ValueRange carried,
                                         Body body) override;
  void emitRole() override;

private:
  /// What a response says: the next tile, if there is one.
  struct Response {
    mlir::Value tile, found;
  };

  /// Calls `body` with tile `number` of groups, if there is one, and gives back
  /// its results, or `carried`, behind the group that was found; the search
  /// begins with the group of `before`.
  llvm::SmallVector<mlir::Value> inGroup(mlir::Value number,
                                         mlir::ValueRange before,
                                         mlir::ValueRange carried, Body body);
  int64_t countReaders() const;
  Response read(RingPosition ring);
  void ask(RingPosition ring, mlir::Value isFirst);

  mlir::Value responses, full, empty;
  /// The barriers that readers signal: those of the first CTA.
  mlir::Value signalEmpty;
  /// Where rows are in groups.
  std::optional<GroupedTiles> groups;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_LAUNCHCONTROL_H
