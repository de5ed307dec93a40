//===- Stores.h - how C and D get from and to memory ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_STORES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_STORES_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// The elements of D, or of C, behind `memory`, a pointer or a tensor map.
mlir::Type resultElement(mlir::Type memory);

/// What a product has that decides how it may be stored.
struct StoredResult {
  mlir::Type element;
  /// Elements of a row in memory.
  int64_t columns;
  bool isGrouped = false;
  /// Whether sums of blocks of K are added up in registers.
  bool isPromoting = false;
  /// Whether each element is made of two sums, so that a thread stores half as
  /// many as it loads.
  bool hasPairs = false;
  /// Values that a thread has beside each other of an element that it finishes.
  unsigned values = 1;
};

/// Those of `op`.
StoredResult storedResult(MatmulOp op);

/// Why a kernel with this schedule cannot store `result` as it says; empty if
/// it can, as it always can by threads.
std::optional<Reason> whyNotStores(ScheduleAttr schedule,
                                   const StoredResult &result,
                                   hw::Target target);

/// Why a kernel with this schedule cannot load C as it says, whose rows are
/// `addend`; empty if it can, as it always can by threads. Without a C, or
/// where the target alone says it, the element of `addend` is null.
std::optional<Reason> whyNotLoadsOfC(ScheduleAttr schedule,
                                     const StoredResult &addend,
                                     hw::Target target);

/// Why a kernel with this schedule has not as many warps in its epilogue as it
/// says; empty if it has. `isPromoting` as in StoredResult.
std::optional<Reason> whyNotEpilogueWarps(ScheduleAttr schedule,
                                          bool isPromoting, hw::Target target);

/// C of `op` in the terms of D.
StoredResult loadedAddend(MatmulOp op);

/// The tensor map of D, or of C, of `sizes` rows, columns and matrices, whose
/// boxes are the rows of a warp by `width` columns.
TensorMapType storeMap(mlir::Type element, int64_t width,
                       llvm::ArrayRef<mlir::AffineExpr> sizes);

/// The ring of `boxes` that such a map stores from, or loads to.
SharedType storeRing(TensorMapType map, int64_t boxes);

/// Bytes that a row of D, or of C, in memory and its address are a multiple of
/// where TMA stores it, or loads it.
unsigned storeAlignment();

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_STORES_H
