//===- Promotion.cpp - tile scales applied in registers -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/HW/Memory.h"

using namespace mlir;
using namespace blockscale;

/// Sums that a thread keeps over all of K: at most half of its 255 registers,
/// so that what it loads and the epilogue find room beside them. Where there
/// are several groups of warps it is a quarter of that: while one group
/// multiplies others load, so that the port to tensor memory is never idle.
static constexpr int64_t kMostSums = 128, kSharedSums = 32;
/// Columns of a tile: more groups of warps would have too few registers.
static constexpr int64_t kMostColumns = 128;
/// The same where columns have factors of their own, which take registers too.
static constexpr int64_t kFewColumns = 64;

/// Accumulators of kernels that promote nothing.
static constexpr int64_t kAccumulators = 2;

bool blockscale::hasPromotedScales(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  return spec.isTile() && !scaleFormat(*spec.scale);
}

int64_t blockscale::promotionBlock(int64_t aBlock, int64_t bBlock) {
  return aBlock && bBlock ? std::min(aBlock, bBlock) : std::max(aBlock, bBlock);
}

int64_t blockscale::promotionBlock(ScaledTensorType a, ScaledTensorType b) {
  auto blockOf = [](ScaledTensorType type) {
    return hasPromotedScales(type) ? type.getKTile() : 0;
  };
  return promotionBlock(blockOf(a), blockOf(b));
}

int64_t blockscale::columnsOfScale(ScaledTensorType a, ScaledTensorType b,
                                   bool swap) {
  ScaledTensorType along = swap ? a : b;
  return hasPromotedScales(along) ? along.getRowTile() : 0;
}

int64_t blockscale::promotingGroups(int64_t tileN) {
  return tileN % kSharedSums == 0 ? tileN / kSharedSums : 1;
}

std::optional<Reason>
blockscale::whyNotPromotion(MmaAttr mma, ScheduleAttr schedule, int64_t block,
                            int64_t columnsOfScale, hw::Target target) {
  if (!block && schedule.getAccumulators() <= kAccumulators)
    return std::nullopt;
  if (!block)
    return Reason("'accumulators' of " +
                  std::to_string(schedule.getAccumulators()) +
                  ": more than 2 are for scales of tiles along K that are "
                  "applied in registers; nearest legal: 2");
  std::string what = "scales of tiles along K that are applied in registers ";
  if (!hw::hasTensorMemory(target) || mma.getKind() != hw::MmaKind::F8F6F4 ||
      mma.getSparse())
    return Reason(what + "belong to dense products of kind 'f8f6f4' in tensor "
                         "memory");
  if (schedule.splits() > 1)
    return Reason(what + "keep the sums of all of K in one CTA; 'split_k' of " +
                  std::to_string(schedule.splits()) +
                  " is not lowered with them, nearest legal: 1");
  if (schedule.getTileM() > mma.getM())
    return Reason(what + "take one instruction's rows at once; 'tile_m' of " +
                  std::to_string(schedule.getTileM()) +
                  " is not lowered with them, nearest legal: " +
                  std::to_string(mma.getM()));
  int64_t columns = schedule.getTileN();
  if (columns / promotingGroups(columns) > kMostSums || columns > kMostColumns)
    return Reason(what +
                  "keep the sums of a row in registers of a thread, or "
                  "of one for every " +
                  std::to_string(kSharedSums) + " columns; 'tile_n' of " +
                  std::to_string(columns) + " is not, nearest legal: " +
                  std::to_string(std::min(columns, kMostColumns) / kSharedSums *
                                 kSharedSums));
  if (columnsOfScale && columnsOfScale < kSharedSums && columns > kFewColumns)
    return Reason(
        what + "take a register for each column where fewer than " +
        std::to_string(kSharedSums) + " share one; 'tile_n' of " +
        std::to_string(columns) +
        " is too many then, nearest legal: " + std::to_string(kFewColumns));
  if (block % mma.getTileK() != 0)
    return Reason(what + "are applied after whole stages; a stage is " +
                  std::to_string(mma.getTileK()) +
                  " elements along K, and a tile " + std::to_string(block));
  return std::nullopt;
}
