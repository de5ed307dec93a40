//===- TileMates.h - threads that choose a scale together -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILEMATES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILEMATES_H

#include "KernelFrame.h"
#include "blockscale/Dialect/Blockscale/IR/Numbers.h"
#include "blockscale/Dialect/Blockscale/IR/ResultTiles.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace blockscale {

/// Bytes of shared memory through which `threads` choose scales of tiles that
/// have these parts.
int64_t bytesOfMates(const TileParts &parts, int64_t threads);

/// What the threads find together that have parts of one tile of D: those of a
/// warp by shuffles, of several warps through shared memory, and of several
/// CTAs through that of a cluster.
class TileMates {
public:
  /// Of the kernel's tiles, if its result is quantised and a thread has no
  /// whole ones.
  static std::optional<TileMates> create(KernelFrame &frame);

  /// Of the role that stores, before it asks.
  void locate();

  /// The largest or the sum of an i32 of each thread. All threads that store
  /// come, as often as each other.
  mlir::Value operator()(Emitter &e, mlir::Value own,
                         mlir::gpu::AllReduceOperation how);

  const TileParts &getParts() const { return parts; }

private:
  TileMates(KernelFrame &frame, TileParts parts);

  mlir::Value ofWarp(Emitter &e, mlir::Value own,
                     mlir::gpu::AllReduceOperation how);
  mlir::Value ofWarps(Emitter &e, mlir::Value own,
                      mlir::gpu::AllReduceOperation how);
  mlir::Value ofCluster(Emitter &e, mlir::Value own,
                        mlir::gpu::AllReduceOperation how);
  void meet(int64_t parity);
  void keep(mlir::Value memory, mlir::Value number);
  mlir::Value kept(mlir::Value memory, mlir::Value place);

  KernelFrame &frame;
  KernelBuilder &b;
  TileParts parts;
  /// Warps that store, and those of a team that meet.
  int64_t warps, team;
  /// A number of each thread, and the barriers of teams.
  mlir::Value numbers, barriers;
  /// What the other CTAs have sent, and the parity of each thread's next
  /// exchange.
  mlir::Value inbox, parities, full, empty;
  mlir::Value thread;
};

/// What asks them; null if there are none.
llvm::function_ref<mlir::Value(Emitter &, mlir::Value,
                               mlir::gpu::AllReduceOperation)>
togetherBy(std::optional<TileMates> &mates);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILEMATES_H
