//===- TileChoices.h - the schedules to compare ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_TILECHOICES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_TILECHOICES_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/Transforms/Prediction.h"
#include "blockscale/HW/Target.h"

namespace blockscale {

/// What distinguishes the schedules that are compared; the rest follows.
struct TileChoice {
  bool swap;
  int64_t ctaGroup, clusterM, clusterN, mmaK, tileN, rowInstructions;
  int64_t splits = 1, clusterK = 1, shares = 1;
  /// Whether the tile is computed in halves, with an accumulator for each.
  bool inHalves = false;
};

/// The instruction of a choice; operands change sides with `swap`.
MmaAttr instructionOf(MmaAttr mma, const TileChoice &choice);

/// Whether the instruction with twice the ordinary K, if the target has it, is
/// one that we lower. No tensor map brings 6-bit elements packed.
bool isWideLowered(MmaAttr mma);

/// Everything that `wish` leaves free, the simplest kernels first: among equals
/// the first stays.
llvm::SmallVector<TileChoice> choicesOf(MmaAttr mma, ScheduleAttr wish,
                                        hw::Target target);

/// The numbers of parts of K to compare for a tile of `instruction` beside 1. A
/// cluster of several tiles that the user names stays as large as that, and a K
/// that only the host knows may be too short for parts. `problem` is that of
/// the choice, with its operands exchanged or not.
llvm::SmallVector<int64_t>
splitsOf(MatmulOp op, ScheduleAttr wish, const ProblemSizes &problem,
         MmaAttr instruction, const TileChoice &choice, hw::Target target);

/// The shares of tiles to compare for such a tile beside none, one for each
/// cluster that runs at once; 1 where they cannot pay.
int64_t sharesOf(MatmulOp op, ScheduleAttr wish, const ProblemSizes &problem,
                 MmaAttr instruction, const TileChoice &choice,
                 hw::Target target);

/// How many of the parts of K of `choice` a cluster computes: all of them,
/// which then exchange their sums, or one. With a workspace clusters that share
/// operands are for products that have tiles enough.
llvm::SmallVector<int64_t> clusterPartsOf(ScheduleAttr wish,
                                          const TileChoice &choice);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_TILECHOICES_H
