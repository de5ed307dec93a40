//===- CompleteSchedule.h - all of the schedule of a tile -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_COMPLETESCHEDULE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_COMPLETESCHEDULE_H

#include "../Kernels/MatmulSource.h"
#include "TileChoices.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/ScalesOfOne.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/Transforms/Prediction.h"
#include "blockscale/Dialect/Blockscale/Transforms/ScheduleChoices.h"

#include <optional>

namespace blockscale {

/// What is asked for, and what the rules ask of the product whatever the
/// choice.
struct ScheduleRequest {
  ScheduleRequest(MatmulOp op, ScheduleAttr wish, hw::Target target,
                  int64_t expectedRows, int64_t mostRows)
      : op(op), wish(wish), target(target), expectedRows(expectedRows),
        mostRows(mostRows), stored(storedResult(op)), addend(loadedAddend(op)),
        isRowPerLane(hasRowPerLaneScales(op)),
        problem(problemSizes(op, /*swap=*/false, expectedRows, mostRows)),
        swapped(problemSizes(op, /*swap=*/true, expectedRows, mostRows)) {
    ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
    block = promotionBlock(a, b);
    hasScalesOfOne = hasBlockScales(a, b) != hasBlockScales(b, a);
  }
  MatmulOp op;
  ScheduleAttr wish;
  hw::Target target;
  int64_t expectedRows, mostRows;
  StoredResult stored, addend;
  bool isRowPerLane, hasScalesOfOne;
  /// The product as it is, and with its operands exchanged.
  ProblemSizes problem, swapped;
  /// Elements along K whose sums are promoted together, or 0.
  int64_t block;

  const ProblemSizes &problemOf(const TileChoice &choice) const {
    return choice.swap ? swapped : problem;
  }

  /// Why the target has no such instruction. Choices one behind the other have
  /// the same one.
  const std::optional<Reason> &whyNotLegal(MmaAttr mma) const {
    if (mma != lastAsked) {
      lastAsked = mma;
      lastReason = hw::whyNot(legalityQuery(mma, target));
    }
    return lastReason;
  }

  /// The instruction of `choice`. Choices that differ in their clusters and
  /// parts of K have the same one.
  MmaAttr instruction(const TileChoice &choice) const {
    if (!lastChoice || !haveSameTile(*lastChoice, choice)) {
      lastChoice = choice;
      lastInstruction = instructionOf(getMma(op), choice);
    }
    return lastInstruction;
  }

private:
  static bool haveSameTile(const TileChoice &x, const TileChoice &y) {
    return x.swap == y.swap && x.ctaGroup == y.ctaGroup && x.mmaK == y.mmaK &&
           x.tileN == y.tileN && x.inHalves == y.inHalves;
  }

  mutable MmaAttr lastAsked, lastInstruction;
  mutable std::optional<Reason> lastReason;
  mutable std::optional<TileChoice> lastChoice;
};

/// Completes the wish with this choice, or says why it cannot be.
Result<ScheduleChoice> completeSchedule(const ScheduleRequest &asked,
                                        const TileChoice &choice);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_COMPLETESCHEDULE_H
