//===- TileReasons.cpp - why a tile is none of a tensor core's ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileReasons.h"
#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/ScaleLayout.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

std::optional<Reason> blockscale::whyNotTileN(const ProblemSizes &problem,
                                              MmaAttr mma, int64_t tileN,
                                              int64_t clusterN) {
  int64_t most = problem.mostColumns;
  bool oneTile = most && most <= tileN && clusterN == 1;
  if (oneTile || !hw::isBlockScaled(mma.getKind()) ||
      tileN % hw::kSharedAtomStep == 0)
    return std::nullopt;
  return "several tiles along " +
         (most ? std::to_string(most) + " columns"
               : std::string("a dynamic number of columns")) +
         " need 'tile_n' to be a multiple of 64, because scales lie in "
         "groups of 128 rows; found " +
         std::to_string(tileN) + ", nearest legal is " +
         std::to_string(
             std::min<int64_t>(256, llvm::alignTo(tileN, hw::kSharedAtomStep)));
}

/// Why no tile has two instructions above each other that share B.
static std::optional<Reason>
whyNotSharedB(MmaAttr mma, const TileChoice &choice, hw::Target target) {
  if (choice.rowInstructions == 1)
    return std::nullopt;
  if (auto why = hw::whyNotFeature(hw::Feature::CollectorB, target))
    return Reason("'tile_m' of " +
                  std::to_string(2 * hw::kTmemLanes * choice.ctaGroup) +
                  " is two instructions that share B: " + why->text);
  if (mma.getSparse() || choice.mmaK == hw::kK96)
    return Reason(
        std::string("two instructions that share B are not lowered ") +
        (mma.getSparse() ? "with a sparse 'a'" : "with K = 96") +
        "; nearest legal: 'tile_m' of " +
        std::to_string(hw::kTmemLanes * choice.ctaGroup));
  return std::nullopt;
}

std::optional<Reason> blockscale::whyNotTileM(ScheduleAttr wish, MmaAttr mma,
                                              const TileChoice &choice,
                                              hw::Target target) {
  if (auto why = whyNotSharedB(mma, choice, target))
    return why;
  int64_t rows = hw::kTmemLanes * choice.ctaGroup;
  if (!wish.getTileM() || wish.getTileM() == rows * choice.rowInstructions)
    return std::nullopt;
  std::string tileM = "'tile_m' of " + std::to_string(wish.getTileM());
  std::string legal = "'tile_m' of " + std::to_string(rows);
  if (choice.ctaGroup == 1)
    return tileM +
           " takes a pair of CTAs; nearest legal: 'cta_group' of 2, or " +
           legal;
  if (wish.getTileM() > rows)
    return tileM + " is no whole number of instructions with M = " +
           std::to_string(rows) + "; nearest legal: " + legal;
  std::string why;
  if (hw::isBlockScaled(mma.getKind()))
    why = ", because no public document settles where its scales lie in tensor "
          "memory";
  return tileM + " over a pair of CTAs is not lowered" + why +
         "; nearest legal: " + legal + ", or 'cta_group' of 1";
}

std::optional<Reason> blockscale::whyNotColumns(const TileGeometry &geometry,
                                                hw::Target target) {
  int64_t there = hw::chipInfo(target.chip).tensorMemoryColumns;
  bool isAlone = geometry.rowInstructions == 1 && !geometry.columns.second;
  bool mayOverlap = geometry.columns.second && geometry.accumulators == 2 &&
                    geometry.hasRoomToOverlap();
  if (isAlone || mayOverlap || geometry.tensorColumns() <= there)
    return std::nullopt;
  bool isSingle = geometry.accumulators == geometry.rowInstructions;
  return Reason(std::to_string(geometry.accumulators) + " accumulators of " +
                std::to_string(geometry.tileN) +
                " columns and the scales need " +
                std::to_string(geometry.tensorColumns()) + " columns, " +
                hw::targetName(target) + " has " + std::to_string(there) +
                " (PTX ISA 9.4, tcgen05.alloc [T]); nearest legal: " +
                (isSingle ? "a smaller 'tile_n'" : "'accumulators' of 1"));
}
