//===- TileGeometry.cpp - the sizes that follow from instruction and schedule ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileGeometry.h"

#include "blockscale/HW/ScaleLayout.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

/// mxf4 and mxf4nvf4 read packed nibbles, mxf8f6f4 one element per byte.
static unsigned containerBits(MmaAttr mma) {
  return mma.getKind() == hw::MmaKind::MXF8F6F4 ? 8 : 4;
}

int64_t blockscale::defaultTileK(MmaAttr mma) {
  return hw::swizzleWidth(hw::Swizzle::B128) * 8 / containerBits(mma);
}

static OperandGeometry operandGeometry(MmaAttr mma, ElementFormat format,
                                       BoolAttr mnMajor, int64_t rows,
                                       int64_t tileK) {
  OperandGeometry operand;
  bool isMNMajor = mnMajor && mnMajor.getValue();
  int64_t width = hw::swizzleWidth(hw::Swizzle::B128);
  operand.tile.major = isMNMajor ? hw::OperandMajor::MN : hw::OperandMajor::K;
  operand.tile.swizzle = hw::Swizzle::B128;
  operand.tile.containerBits = containerBits(mma);
  operand.tile.mn = isMNMajor ? llvm::alignTo(rows, width) : rows;
  operand.tile.k = tileK;
  operand.dataType = *hw::tensorMapDataType(format, containerBits(mma));
  operand.boxes = isMNMajor ? operand.tile.mn / width : 1;
  operand.boxRows = operand.tile.mn / operand.boxes;
  operand.boxK = tileK;
  operand.countedBytes =
      operand.tile.mn * tileK *
      hw::tensorMapDataTypeInfo(operand.dataType).countedBits / 8;
  operand.scaleGroups = llvm::divideCeil(rows, hw::kAtomRows);
  return operand;
}

TileGeometry::TileGeometry(MmaAttr mma, ScheduleAttr schedule)
    : tileM(schedule.getTileM()), tileN(schedule.getTileN()),
      tileK(schedule.getTileK()), stages(schedule.getStages()),
      accumulators(schedule.getAccumulators()) {
  a = operandGeometry(mma, mma.getA(), mma.getAMnMajor(), tileM, tileK);
  b = operandGeometry(mma, mma.getB(), mma.getBMnMajor(), tileN, tileK);
  scalesPerRow = tileK / mma.getBlock();
  scaleWords = llvm::divideCeil(scalesPerRow, hw::kAtomScales);
  sfaColumns = hw::scaleColumns(a.scaleGroups * hw::kAtomRows, scalesPerRow);
  sfbColumns = hw::scaleColumns(b.scaleGroups * hw::kAtomRows, scalesPerRow);
  int64_t wanted = accumulators * tileN + sfaColumns + sfbColumns;
  overlap = accumulators == 2
                ? std::max<int64_t>(0, wanted - hw::kTmemColumns)
                : 0;
}

int64_t TileGeometry::stageBytes() const {
  int64_t scales =
      (a.scaleGroups + b.scaleGroups) * scaleWords * hw::kAtomBytes;
  return hw::tileBytes(a.tile) + hw::tileBytes(b.tile) + scales;
}

int64_t TileGeometry::countedBytes() const {
  int64_t scales =
      (a.scaleGroups + b.scaleGroups) * scaleWords * hw::kAtomBytes;
  return a.countedBytes + b.countedBytes + scales;
}

int64_t TileGeometry::epilogueColumns() const {
  constexpr int64_t kMostColumns = 32;
  return std::min(kMostColumns, tileN & -tileN);
}
