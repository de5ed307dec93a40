//===- GridMaxima.h - what all CTAs of a grid find together -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor scale that nobody gives follows from the largest magnitude of a
// whole matrix. The CTAs of a cooperative grid read all matrices once, leave
// what they find in a workspace, and wait for each other; then they do what
// those of an ordinary grid do, each in place of several.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_GRIDMAXIMA_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_GRIDMAXIMA_H

#include "BlockQuantizer.h"
#include "QuantizeSource.h"

namespace blockscale {

/// The workspace has a counter of CTAs and a word for each matrix, which are
/// zero before and behind each launch.
class GridMaxima {
public:
  /// CTAs have so many `threads`.
  GridMaxima(Emitter &emitter, const QuantizeArguments &arguments,
             int64_t threads);

  /// Bytes of the workspace, as `KernelAttr` has them.
  static mlir::AffineMap workspaceFor(mlir::AffineExpr batch);

  /// Finds the maxima of all matrices. All threads of all CTAs come.
  void find(BlockQuantizer &quantizer);
  /// Emits `body` for each of `count` CTAs, i32, that this one stands for.
  /// Where they use shared memory, they do so one behind the other.
  void forEachCta(mlir::Value count, bool usesShared,
                  llvm::function_ref<void(mlir::Value)> body);
  /// Makes the workspace zero again. All threads of all CTAs come, behind the
  /// last time that they look at a maximum.
  void leave();

  /// That of `matrix`, i64, as f32.
  static mlir::Value largestOf(Emitter &emitter, mlir::Value workspace,
                               mlir::Value matrix);

private:
  mlir::Value largestOfThread(BlockQuantizer &quantizer, mlir::Value matrix);
  mlir::Value largestOfCta(mlir::Value own);
  void ifFirstThread(llvm::function_ref<void()> body);
  void forEachMatrix(llvm::function_ref<void(mlir::Value)> body);
  mlir::Value number(mlir::Value index);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value wide(mlir::Value x);
  mlir::Value wide(int64_t x);

  Emitter &e;
  const QuantizeArguments &arguments;
  int64_t threads;
  mlir::Value thread, cta, ctas, shared;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_GRIDMAXIMA_H
