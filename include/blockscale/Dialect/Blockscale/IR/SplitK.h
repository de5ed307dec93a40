//===- SplitK.h - which parts of K there are --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SPLITK_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SPLITK_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Elements of K that are not divided further: a stage or, with instructions of
/// K = 96, a group of three.
int64_t splitUnit(MmaAttr mma);

/// Why a product with `k` elements along K (dynamic: ShapedType::kDynamic)
/// cannot be computed in `splits` parts; empty if it can.
std::optional<Reason> whyNotSplit(MmaAttr mma, int64_t k, int64_t splits);

/// Why no cluster of `schedule` computes all parts of a tile, whose CTAs would
/// exchange their sums; empty if one can, or if none is to.
std::optional<Reason> whyNotClusterK(ScheduleAttr schedule, hw::Target target);

/// Columns of a tile of `tileN` that one CTA adds up where a cluster computes
/// `parts` parts of K; they are all of them where it has one.
int64_t ownedColumns(int64_t tileN, int64_t parts);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SPLITK_H
