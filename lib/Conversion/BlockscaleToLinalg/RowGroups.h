//===- RowGroups.h - groups of rows, one after another ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_ROWGROUPS_H
#define BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_ROWGROUPS_H

#include "Parts.h"

namespace blockscale {

/// A group's rows, and its rows of scales in groups of 128; all of index type.
struct GroupRows {
  mlir::Value first, count, firstAtom, atoms;
};

/// A loop over the groups that `offsets` separate, of `rows` rows in all, which
/// goes on with what `body` makes of the result so far. A group ends as in
/// kernels: not before it begins, nor behind the last row.
mlir::Value
forEachGroup(Emitter &e, mlir::Value offsets, mlir::Value rows,
             mlir::Value init,
             llvm::function_ref<mlir::Value(GroupRows rows, mlir::Value group,
                                            mlir::Value result)>
                 body);

/// The same over matrices of `rows` rows, of which `counts` says how many are
/// there; `first` is 0, and the rows of scales are null.
mlir::Value
forEachCount(Emitter &e, mlir::Value counts, mlir::Value rows, mlir::Value init,
             llvm::function_ref<mlir::Value(GroupRows rows, mlir::Value group,
                                            mlir::Value result)>
                 body);

/// `count` from `first` on of dimension `dimension`.
mlir::Value slice(Emitter &e, mlir::Value tensor, int64_t dimension,
                  mlir::Value first, mlir::Value count);

/// Entry `number` of the first dimension, which the result lacks; null for
/// null.
mlir::Value entryOf(Emitter &e, mlir::Value tensor, mlir::Value number);

/// Zero; of powers of two the smallest, whose code is 0.
mlir::Value zeroOf(Emitter &e, mlir::Type element);

/// The rows of scales of `rows` rows in as many groups as `offsets` has, at
/// most, each of which starts at a multiple of 128.
mlir::Value groupedScaleRows(Emitter &e, mlir::Value rows, mlir::Value offsets);

/// Writes a quantisation of groups of rows as one of all of them, whose scales
/// move to where those of their groups begin.
mlir::Value quantizeGroups(QuantizeOp op);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_ROWGROUPS_H
