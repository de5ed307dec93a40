//===- Geometry.cpp - the sizes that follow from instruction and schedule -===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Geometry.h"

#include "K96Plan.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/Dialect/Blockscale/IR/WideTiles.h"
#include "blockscale/HW/GemmModel.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

/// The most slices of equal size, one for a CTA, that `extent` rows of shared
/// memory fall into; a slice is whole repeats of the swizzle, 8 rows.
static int64_t mostSlices(int64_t extent, int64_t sharers) {
  constexpr int64_t kSwizzleRows = 8;
  int64_t slices = sharers;
  while (sharers % slices != 0 || extent % (slices * kSwizzleRows) != 0)
    --slices;
  return slices;
}

/// The part of an operand that a CTA holds: `rows` of it, which `sharers` CTAs
/// of its cluster have in common, in boxes of `rowsOfBox`. `tileK` counts
/// elements in memory.
static OperandGeometry operandGeometry(MmaAttr mma, hw::OperandType format,
                                       BoolAttr mnMajor, int64_t rows,
                                       int64_t rowsOfBox, int64_t tileK,
                                       int64_t sharers) {
  OperandGeometry operand;
  bool isMNMajor = mnMajor && mnMajor.getValue();
  unsigned bits = mma.getContainerBits(format);
  int64_t width = hw::swizzleWidth(hw::Swizzle::B128);
  int64_t rowBytes = tileK * bits / 8;
  operand.tile.major = isMNMajor ? hw::OperandMajor::MN : hw::OperandMajor::K;
  // A row of half the width, compressed or of packed elements beside wider ones
  // of the other operand, is swizzled over that width.
  operand.tile.swizzle =
      isMNMajor || rowBytes >= width ? hw::Swizzle::B128 : hw::Swizzle::B64;
  operand.tile.containerBits = bits;
  int64_t group = hw::swizzleElements(operand.tile);
  operand.tile.mn = isMNMajor ? llvm::alignTo(rows, group) : rows;
  operand.tile.k = tileK;
  operand.dataType = *hw::tensorMapDataType(format, bits);
  operand.boxes =
      isMNMajor ? operand.tile.mn / group : llvm::divideCeil(rowBytes, width);
  operand.rowBoxes = isMNMajor ? 1 : rows / rowsOfBox;
  operand.boxRows = isMNMajor ? group : rowsOfBox;
  operand.boxK = isMNMajor ? tileK : tileK / operand.boxes;
  operand.sharers = sharers;
  int64_t &sliced = isMNMajor ? operand.boxK : operand.boxRows;
  operand.slices = mostSlices(sliced, sharers);
  sliced /= operand.slices;
  operand.countedBytes =
      operand.tile.mn * tileK *
      hw::tensorMapDataTypeInfo(operand.dataType).countedBits / 8;
  return operand;
}

/// Instructions above each other: one has a row for each lane of tensor memory
/// of its CTAs. Warps that multiply share a tile in their own way.
static int64_t rowInstructionsOf(ScheduleAttr schedule) {
  int64_t rows = hw::kTmemLanes * schedule.ctaGroup();
  return std::max<int64_t>(1, schedule.getTileM() / rows);
}

TileGeometry::TileGeometry(MmaAttr mma, ScheduleAttr schedule, hw::Chip chip,
                           bool isRowPerLane)
    : tileM(schedule.getTileM()), tileN(schedule.getTileN()),
      rowInstructions(rowInstructionsOf(schedule)),
      columns(columnsOf(mma, schedule)),
      hasHalves(blockscale::hasHalves(mma, schedule)),
      tileK(schedule.getTileK()), stages(schedule.getStages()),
      accumulators(schedule.getAccumulators() * rowInstructions),
      scaleStages(schedule.scaleStages()), ctaGroup(schedule.ctaGroup()),
      clusterM(schedule.clusterM()), clusterN(schedule.clusterN()),
      clusterK(schedule.clusterK()), isRowPerLane(isRowPerLane) {
  tileM /= rowInstructions;
  a = operandGeometry(mma, mma.getA(), mma.getAMnMajor(), rowsPerCta(),
                      rowsPerCta(), mma.getStoredK(tileK), clusterN);
  // One map brings the parts of all instructions.
  int64_t rowsOfBox = hw::commonColumns(columns) / ctaGroup;
  for (unsigned i = 0; i < columns.instructions(); ++i)
    partsOfB.push_back(operandGeometry(mma, mma.getB(), mma.getBMnMajor(),
                                       columnsPerCta(i), rowsOfBox, tileK,
                                       clusterTilesM()));
  b = partsOfB.front();
  if (hw::isBlockScaled(mma.getKind()))
    setScales(mma);
  if (mma.getSparse()) {
    int64_t perByte =
        hw::elementsPerMetadataByte(hw::sparsePattern(mma.getKind()));
    metadataTiles = tileK / perByte / hw::kMetadataTileBytes;
    metadataColumns = hw::kRowPerLane.extent(
        hw::Dim::Column,
        {{hw::Dim::Block,
          static_cast<uint64_t>(metadataTiles * hw::kMetadataTileBytes)}});
  }
  int64_t there = hw::chipInfo(chip).tensorMemoryColumns;
  overlap = accumulators == 2 && rowInstructions == 1
                ? std::max<int64_t>(0, tensorColumns() - there)
                : 0;
  // Accumulators of instructions beside each other are found by number.
  if (columns.second)
    overlap = llvm::alignTo(overlap, hw::kWideTileStep);
}

int64_t TileGeometry::tensorColumns() const {
  auto region = [](int64_t columns, bool isCopied) {
    return hw::TmemRegion{static_cast<unsigned>(columns), isCopied};
  };
  // As blockscale-assign-memory places them.
  std::vector<hw::TmemRegion> regions{
      region(accumulators * accumulatorColumns(), false)};
  regions.insert(regions.end(), rowInstructions, region(sfaColumns, true));
  regions.push_back(region(sfbColumns, true));
  regions.push_back(region(metadataColumns, true));
  return hw::placeRegions(regions).end;
}

void TileGeometry::setScales(MmaAttr mma) {
  // The scales of B are those of all columns in both CTAs of a pair.
  a.scaleGroups = llvm::divideCeil(rowsPerCta(), hw::kAtomRows);
  b.scaleGroups = llvm::divideCeil(tileN, hw::kAtomRows);
  a.groupsOfScaleBox = a.scaleGroups;
  b.groupsOfScaleBox = b.scaleGroups;
  scaleGroupsOfB = {b.scaleGroups};
  if (columns.second && (readsNextWord(mma) || hasHalves)) {
    // Tiles of whole groups are cut between them.
    scaleGroupsOfB = {columns.first / hw::kAtomRows,
                      columns.second / hw::kAtomRows};
    b.groupsOfScaleBox = 1;
  }
  scalesPerRow = tileK / mma.getScaleSpan();
  scaleWords = llvm::divideCeil(scalesPerRow, hw::kAtomScales);
  // A stage has 4 words or 2. Two periods of 3 hold it beside the last word of
  // the stage before, which the instruction that crosses into it reads too.
  scaleRegionWords = isK96(mma) ? 2 * hw::kK96PeriodWords : scaleWords;
  int64_t heldScales = scaleRegionWords * hw::kAtomScales;
  sfaColumns = isRowPerLane ? scaleWords
                            : hw::scaleColumns(a.scaleGroups * hw::kAtomRows,
                                               heldScales);
  for (int64_t groups : scaleGroupsOfB)
    sfbColumns += hw::tileScaleColumns(groups * hw::kAtomRows, heldScales);
}

int64_t TileGeometry::stageBytes() const {
  int64_t bytes = rowInstructions * hw::tileBytes(a.tile) + sideBytes();
  for (const OperandGeometry &part : partsOfB)
    bytes += hw::tileBytes(part.tile);
  return bytes;
}

int64_t TileGeometry::countedBytesOfB() const {
  int64_t bytes = 0;
  for (const OperandGeometry &part : partsOfB)
    bytes += part.countedBytes;
  return bytes;
}

int64_t TileGeometry::countedBytes() const {
  return ctaGroup * (countedBytesOfA() + countedBytesOfB() + sideBytes());
}

int64_t TileGeometry::scaleBytes() const {
  int64_t groups = (a.loadsScales ? rowInstructions * a.scaleGroups : 0) +
                   (b.loadsScales ? b.scaleGroups : 0);
  return groups * scaleWords * hw::kAtomBytes;
}

int64_t TileGeometry::sideBytes() const {
  return scaleBytes() +
         metadataTiles * hw::kMetadataTileRows * hw::kMetadataTileBytes;
}

int64_t TileGeometry::ownedColumns() const {
  return blockscale::ownedColumns(tileN, clusterK);
}

int64_t TileGeometry::inboxBytes() const {
  if (clusterK == 1)
    return 0;
  return (clusterK - 1) * ownedColumns() * rowsPerCta() * hw::kSumBytes;
}

int64_t TileGeometry::epilogueColumns(unsigned values) const {
  // A thread has 255 registers; what functions need for themselves is besides.
  constexpr int64_t kLeastColumns = 8, kMostColumns = 32, kRegisters = 160;
  int64_t owned = ownedColumns();
  int64_t columns = std::min(kMostColumns, owned & -owned);
  // Where parts of K are added up those of all parts may be there at once.
  int64_t most = std::max<int64_t>(values, clusterK);
  while (columns > kLeastColumns && columns * most > kRegisters)
    columns /= 2;
  return columns;
}

bool blockscale::isRowTileMap(TensorMapType map) {
  constexpr size_t kRank = 5;
  return map.getBox().size() == kRank;
}
