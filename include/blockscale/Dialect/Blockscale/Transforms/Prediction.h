//===- Prediction.h - the time by which schedules are chosen ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What blockscale-select-schedule expects of a schedule for tensor memory, so
// that others can hold it against what they find.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_PREDICTION_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_PREDICTION_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/GemmModel.h"

namespace blockscale {

/// Sizes of a product as the instruction sees it: `rows` go to the lanes.
struct ProblemSizes {
  int64_t rows, columns, k, batch;
  /// The most columns that there may be; 0 if nobody knows.
  int64_t mostColumns;
  /// Bytes of an element of D.
  double bytesD;
  /// Elements of K whose sums are multiplied by scales in registers, and
  /// columns that share such a scale; 0 without, and for all of them.
  int64_t promotionBlock = 0, columnsOfScale = 0;
};

/// The sizes of `op`, whose operands change sides if `swap`. Dynamic ones are
/// `expectedRows`; those of A's rows are at most `mostRows`, if that is not 0.
ProblemSizes problemSizes(MatmulOp op, bool swap, int64_t expectedRows,
                          int64_t mostRows = 0);

struct ProductPrediction {
  /// Of the whole product, launch included.
  double microseconds;
  /// What its waves of tiles wait for most.
  hw::GemmLimit limit;
  /// Of that, where parts of K meet in a workspace, from the last part to when
  /// one CTA has all sums: what a replay of one cluster does not show.
  double reduction = 0;
  /// Share of the time that the loads of all stages take, as many at once as
  /// there are stages, if nothing else holds them up.
  double loads = 0;
  /// Tiles that a CTA, or a pair, computes one after the other, and what the
  /// main loop of one takes.
  int64_t waves = 1;
  double mainLoopCycles = 0;
};

/// On the reference part of the target's chip at its boost clock, by
/// hw::predictGemm(). The schedule is complete and for tensor memory.
ProductPrediction predictProduct(const ProblemSizes &problem, MmaAttr mma,
                                 ScheduleAttr schedule, hw::Target target);

/// Whether a second warp on each quarter of the lanes makes the epilogue of
/// `op` shorter. The schedule is complete and for tensor memory, `predicted`
/// what is expected of it.
bool gainsByMoreWarps(MatmulOp op, MmaAttr mma, ScheduleAttr schedule,
                      const ProductPrediction &predicted, hw::Target target);

/// Microseconds of a product whose schedule has been chosen.
double predictMicroseconds(MatmulOp op, int64_t expectedRows);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_PREDICTION_H
