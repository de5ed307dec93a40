//===- WideTiles.cpp - tiles of two instructions beside each other --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/WideTiles.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/ResultTiles.h"
#include "blockscale/HW/TileColumns.h"

using namespace mlir;
using namespace blockscale;

bool blockscale::isWideTile(int64_t tileN) {
  return tileN > int64_t(hw::kInstructionColumns);
}

bool blockscale::readsNextWord(MmaAttr mma) {
  return mma.getK() == hw::kK96 ||
         hw::scalesPerMma(mma.getKind(), mma.getBlock(), mma.getK(),
                          mma.getSparse()) > hw::kAtomScales;
}

bool blockscale::hasHalves(MmaAttr mma, ScheduleAttr schedule) {
  return schedule.getAccumulators() == kHalfAccumulators &&
         schedule.getTileN() == kHalvedColumns &&
         mma.getN() == kHalvedColumns / 2;
}

hw::TileColumns blockscale::columnsOf(MmaAttr mma, ScheduleAttr schedule) {
  auto columns = unsigned(schedule.getTileN());
  return hasHalves(mma, schedule) ? hw::halvesOf(columns)
                                  : hw::tileColumns(columns);
}

bool blockscale::isTileN(MmaAttr mma, ScheduleAttr schedule) {
  return mma.getN() == columnsOf(mma, schedule).first;
}

static Reason notLowered(int64_t tileN, const std::string &with) {
  return Reason("'tile_n' of " + std::to_string(tileN) +
                " is two instructions beside each other that share A, which "
                "are not lowered " +
                with +
                "; nearest legal: " + std::to_string(hw::kInstructionColumns));
}

std::optional<Reason> blockscale::whyNotWideTile(MmaAttr mma, int64_t tileM,
                                                 int64_t tileN) {
  if (!isWideTile(tileN))
    return std::nullopt;
  if (!hw::isBlockScaled(mma.getKind()))
    return notLowered(tileN, "without scales of blocks");
  if (mma.getSparse())
    return notLowered(tileN, "with a sparse 'a'");
  if (mma.getCtaGroup() != 2)
    return notLowered(tileN, "in one CTA; 'cta_group' of 2 has them");
  if (tileM > mma.getM())
    return notLowered(tileN, "with 'tile_m' of " + std::to_string(tileM) +
                                 ", two instructions above each other");
  if (mma.getBMnMajor() && mma.getBMnMajor().getValue())
    return notLowered(tileN, "with a B whose columns lie together in memory");
  if (readsNextWord(mma) && tileN % hw::kAtomRows != 0)
    return Reason("'tile_n' of " + std::to_string(tileN) +
                  " would begin in the middle of 128 rows of scales, and "
                  "instructions of K = " +
                  std::to_string(mma.getK()) +
                  " read words that lie as far apart as their own rows take; "
                  "nearest legal: 384");
  return std::nullopt;
}

/// Rows of D that all warps of the epilogue bring together where operands are
/// swapped, 0 if rows are not brought: each warp takes chunks of an
/// accumulator.
static int64_t rowsBroughtAtOnce(MatmulOp op, ScheduleAttr schedule) {
  BoolAttr swap = schedule.getSwapOperands();
  QuantizeOp quantizer = quantizerOf(op);
  if (!swap || !swap.getValue() || (!quantizer && !op.getPairs()))
    return 0;
  ResultTile tile = resultTile(op, quantizer, getTarget(op));
  return exchangedColumns(tile) * schedule.warpsOfQuarter();
}

std::optional<Reason> blockscale::whyNotHalves(MatmulOp op, MmaAttr mma,
                                               ScheduleAttr schedule) {
  if (!hasHalves(mma, schedule))
    return std::nullopt;
  auto notLowered = [](const std::string &with) {
    return Reason("'accumulators' of 3 are of half a tile each, which are not "
                  "lowered " +
                  with + "; nearest legal: 2");
  };
  if (!hw::isBlockScaled(mma.getKind()))
    return notLowered("without scales of blocks");
  if (mma.getSparse())
    return notLowered("with a sparse 'a'");
  if (mma.getCtaGroup() != 2)
    return notLowered("in one CTA; 'cta_group' of 2 has them");
  if (schedule.getTileM() > mma.getM())
    return notLowered("with 'tile_m' of " +
                      std::to_string(schedule.getTileM()) +
                      ", two instructions above each other");
  if (mma.getBMnMajor() && mma.getBMnMajor().getValue())
    return notLowered("with a B whose columns lie together in memory");
  if (readsNextWord(mma))
    return notLowered("with K = " + std::to_string(mma.getK()) +
                      ", which reads words of scales that lie as far apart as "
                      "its own rows take");
  if (op.isGathered())
    return notLowered("with rows that are gathered");
  if (op.isGroupedAlongK())
    return notLowered("with groups along K");
  if (schedule.splits() > 1)
    return notLowered("with 'split_k'");
  if (schedule.getStores() == Stores::Tma)
    return notLowered("with 'stores' of 'tma'");
  if (schedule.getCLoads() == Loads::Tma)
    return notLowered("with 'c_loads' of 'tma'");
  int64_t blockColumns = columnsOfResult(op);
  if (blockColumns && kColumnsOfHalfChunk % blockColumns != 0)
    return notLowered("with a result in blocks of " +
                      std::to_string(blockColumns) + " columns");
  if (int64_t rows = rowsBroughtAtOnce(op, schedule);
      rows && kHalvedColumns / 2 % rows != 0)
    return notLowered("with 'swap_operands' and sums that are brought to rows "
                      "of D " +
                      std::to_string(rows) + " at once");
  bool hasTwo = (!schedule.getStages() || schedule.getStages() > 1) &&
                schedule.getScaleStages() != 1;
  if (!hasTwo)
    return Reason("'accumulators' of 3 are of half a tile each, of which the "
                  "first instructions read two stages; found one; nearest "
                  "legal: 2 'stages', and 2 of scales");
  return std::nullopt;
}

std::optional<Reason> blockscale::whyNotGatheredWide(int64_t tileN) {
  if (!isWideTile(tileN))
    return std::nullopt;
  return notLowered(tileN, "with rows that are gathered");
}
