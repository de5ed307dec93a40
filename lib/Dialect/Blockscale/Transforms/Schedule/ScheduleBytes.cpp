//===- ScheduleBytes.cpp - shared memory besides the stages ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleBytes.h"
#include "../Kernels/AddendRing.h"
#include "../Kernels/LargestOfGroups.h"
#include "../Kernels/RowExchange.h"
#include "../Kernels/TileMates.h"
#include "../Kernels/TmaStore.h"
#include "blockscale/Dialect/Blockscale/IR/GivenScales.h"
#include "blockscale/Dialect/Blockscale/IR/Pairs.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/HW/TileColumns.h"

#include <algorithm>

using namespace mlir;
using namespace blockscale;

int64_t blockscale::bytesOfScaleChoice(MatmulOp op,
                                       const ScheduleAttr::Fields &fields,
                                       hw::Target target) {
  constexpr int64_t kQuarters = hw::kTmemLanes / hw::kWarpSize;
  QuantizeOp quantizer = quantizerOf(op);
  if (!quantizer)
    return 0;
  ResultTile tile = resultTile(op, quantizer, target);
  auto schedule = ScheduleAttr::get(op.getContext(), fields);
  std::optional<TileParts> parts = tileParts(schedule, tile, target);
  if (!parts || !parts->needMemory())
    return 0;
  bool swap = fields.swapOperands.getValue();
  int64_t groups = tile.isPromoting
                       ? promotingGroups(fields.tileN)
                       : std::max<int64_t>(1, fields.epilogueWarps / kQuarters);
  bool isOfGroups = tile.isPromoting && !swap && tile.rows == 1 &&
                    quantizer.getRule() != ScaleRule::MinError;
  return isOfGroups ? bytesOfGroups(groups)
                    : bytesOfMates(*parts, groups * hw::kTmemLanes);
}

int64_t blockscale::broughtColumns(MatmulOp op, bool swap) {
  int64_t ofResult = columnsOfResult(op), ofPair = op.getPairs() ? 2 : 0;
  return swap ? std::max(ofResult, ofPair) : 0;
}

int64_t blockscale::rowsOfTile(MatmulOp op) {
  QuantizeOp quantizer = quantizerOf(op);
  return quantizer ? rowsTogether(quantizer.getType()) : 1;
}

int64_t blockscale::bytesOfExchange(const TileGeometry &geometry,
                                    int64_t columns, int64_t rowsOfTile,
                                    const ScheduleAttr::Fields &fields,
                                    bool isPromoting) {
  constexpr int64_t kQuarters = hw::kTmemLanes / hw::kWarpSize;
  if (!columns)
    return 0;
  int64_t groups = isPromoting
                       ? promotingGroups(geometry.tileN)
                       : std::max<int64_t>(1, fields.epilogueWarps / kQuarters);
  int64_t rows =
      isPromoting ? promotedColumns(geometry.tileN) : geometry.broughtColumns();
  return rowExchangeBytes(
      groups, rows, exchangedColumns({rowsOfTile, columns, 1, isPromoting}));
}

int64_t blockscale::reservedBytes(const TileGeometry &geometry,
                                  const ScheduleAttr::Fields &fields,
                                  int64_t bytesD, int64_t bytesC,
                                  bool isPromoting) {
  int64_t bytes = kBarrierReserve + geometry.inboxBytes();
  constexpr int64_t kQuarters = hw::kTmemLanes / hw::kWarpSize;
  int64_t warps = std::max<int64_t>(kQuarters, fields.epilogueWarps);
  if (isPromoting)
    warps = kQuarters * promotingGroups(geometry.tileN);
  int64_t width = geometry.epilogueColumns(1);
  int64_t chunks = geometry.tileN / (width * (warps / kQuarters));
  if (fields.stores == Stores::Tma)
    bytes += storeRingBytes(warps, chunks, width, bytesD);
  if (fields.cLoads == Loads::Tma)
    bytes += addendRingBytes(warps, chunks, width, bytesC);
  return bytes;
}
