//===- LaunchControl.h - tiles of clusters that did not start ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_LAUNCHCONTROL_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_LAUNCHCONTROL_H

#include "TileSource.h"

namespace blockscale {

/// The grid has a cluster per tile, and one that runs takes over others that
/// have not started, by cluster launch control.
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

  int64_t countReaders() const;
  Response read(RingPosition ring);
  void ask(RingPosition ring, mlir::Value isFirst);

  mlir::Value responses, full, empty;
  /// The barriers that readers signal: those of the first CTA.
  mlir::Value signalEmpty;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_LAUNCHCONTROL_H
