//===- WideTiles.h - tiles wider than an instruction ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WIDETILES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WIDETILES_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/TileColumns.h"

namespace blockscale {

/// Whether a tile of so many columns has more than an instruction can.
bool isWideTile(int64_t tileN);

/// Columns of a tile that is computed in halves, and accumulators of half a
/// tile: while the epilogue reads one, the main loop fills the other two.
inline constexpr int64_t kHalvedColumns = 256, kHalfAccumulators = 3;

/// Columns of a half that a thread of the epilogue loads at once: two warps of
/// the same lanes have all of it.
inline constexpr int64_t kColumnsOfHalfChunk = kHalvedColumns / 2 / 2;

/// Whether `mma` computes half of the tile's columns, although one instruction
/// could have all: then the halves are complete at different times, and each
/// has an accumulator of its own.
bool hasHalves(MmaAttr mma, ScheduleAttr schedule);

/// The columns of the instructions that compute a tile, from left to right.
hw::TileColumns columnsOf(MmaAttr mma, ScheduleAttr schedule);

/// Whether `mma` is the first of those.
bool isTileN(MmaAttr mma, ScheduleAttr schedule);

/// Why no tile of the product `op` is computed in halves by two instructions
/// like `mma` with `schedule`; empty if it can.
std::optional<Reason> whyNotHalves(MatmulOp op, MmaAttr mma,
                                   ScheduleAttr schedule);

/// Whether some instructions like `mma` take their last scales from the next
/// word, which the hardware finds as far behind the first as its own columns
/// take.
bool readsNextWord(MmaAttr mma);

/// Why a tile of `tileN` columns, more than an instruction has, and `tileM`
/// rows cannot be that of two instructions beside each other like `mma`; empty
/// if it can, or if it is that of one.
std::optional<Reason> whyNotWideTile(MmaAttr mma, int64_t tileM, int64_t tileN);

/// The same of a product whose rows are gathered.
std::optional<Reason> whyNotGatheredWide(int64_t tileN);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WIDETILES_H
