//===- Stores.cpp - how C and D get from and to memory --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/ZeroTerms.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Target.h"
#include "blockscale/HW/TensorMap.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static hw::TensorMapDataType dataTypeOf(Type element) {
  if (element.isF32())
    return hw::TensorMapDataType::F32;
  if (element.isBF16())
    return hw::TensorMapDataType::BF16;
  return element.isF16() ? hw::TensorMapDataType::F16
                         : hw::TensorMapDataType::U32;
}

Type blockscale::resultElement(Type memory) {
  if (auto global = dyn_cast<GlobalType>(memory))
    return global.getElementType();
  Builder b(memory.getContext());
  hw::TensorMapDataType type = cast<TensorMapType>(memory).getDataType();
  for (Type element : {Type(b.getF32Type()), Type(b.getBF16Type()),
                       Type(b.getF16Type()), Type(b.getI32Type())})
    if (dataTypeOf(element) == type)
      return element;
  return b.getIntegerType(hw::tensorMapDataTypeInfo(type).globalBits);
}

unsigned blockscale::storeAlignment() {
  return hw::tensorMapDataTypeInfo(hw::TensorMapDataType::F32).alignment;
}

//===----------------------------------------------------------------------===//
// Maps and rings
//===----------------------------------------------------------------------===//

/// As wide as a row of a box, so that the rows of a warp take all banks in
/// turn.
static hw::Swizzle swizzleOf(int64_t rowBytes) {
  for (hw::Swizzle swizzle :
       {hw::Swizzle::B32, hw::Swizzle::B64, hw::Swizzle::B128})
    if (rowBytes == hw::swizzleWidth(swizzle))
      return swizzle;
  return hw::Swizzle::None;
}

TensorMapType blockscale::storeMap(Type element, int64_t width,
                                   ArrayRef<AffineExpr> sizes) {
  MLIRContext *context = element.getContext();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  AffineExpr rows = sizes[0], columns = sizes[1], matrices = sizes[2];
  constexpr unsigned kSymbols = 4;
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(0, kSymbols, results, context);
  };
  return TensorMapType::get(
      context, dataTypeOf(element), map({columns, rows, matrices}),
      map({columns * bytes, rows * columns * bytes}),
      {width, int64_t(hw::kWarpSize), 1}, swizzleOf(width * bytes));
}

SharedType blockscale::storeRing(TensorMapType map, int64_t boxes) {
  Type element = resultElement(map);
  return SharedType::get(map.getContext(),
                         {boxes, map.getBox()[1], map.getBox()[0]}, element,
                         element.getIntOrFloatBitWidth(), map.getSwizzle());
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

StoredResult blockscale::storedResult(MatmulOp op) {
  bool isPromoting =
      promotionBlock(op.getA().getType(), op.getB().getType()) > 0;
  bool hasFactorOfColumn = op.getB().getType().getSpec().getValue().coversK();
  unsigned values =
      Epilogue(op).mostValues() + hasFactorOfColumn + hasZeroTerms(op);
  return {op.getType().getElementType(),
          op.getResultColumns(),
          op.isGrouped() || op.isMasked(),
          isPromoting,
          op.getPairs(),
          values};
}

StoredResult blockscale::loadedAddend(MatmulOp op) {
  StoredResult addend = storedResult(op);
  addend.element = op.getC() ? op.getC().getType().getElementType() : Type();
  return addend;
}

namespace {
/// A field of the schedule that says how rows of a matrix move, and the matrix.
struct RowMoves {
  StringRef field, matrix;
};
} // namespace

static Reason notLowered(RowMoves moves, StringRef with) {
  return Reason("'" + moves.field.str() + "' of 'tma' are not lowered " +
                with.str() + "; nearest legal: 'direct'");
}

/// Why the rows are no boxes of TMA.
static std::optional<Reason> whyNotBoxes(RowMoves moves, ScheduleAttr schedule,
                                         const StoredResult &rows,
                                         hw::Target target) {
  std::string matrix = moves.matrix.str();
  if (!hw::hasTensorMemory(target))
    return notLowered(moves, "for " + hw::targetName(target) +
                                 ", whose warps multiply and store in "
                                 "registers");
  if (schedule.getSwapOperands() && schedule.getSwapOperands().getValue())
    return notLowered(moves, "with 'swap_operands': rows of " + matrix +
                                 " are columns of tensor memory");
  if (schedule.splits() > 1)
    return notLowered(moves, "with 'split_k', whose last CTA stores D");
  if (rows.isGrouped)
    return notLowered(moves, "with groups of rows, which end inside a box");
  if (rows.isPromoting && moves.matrix == "C")
    return notLowered(moves, "with scales that are applied in registers");
  // Beside the sums a thread has no registers for a whole row of a box of more.
  if (rows.isPromoting && rows.values > 1)
    return notLowered(moves, "with scales that are applied in registers where "
                             "D is made of more than the sums");
  int64_t tileN = schedule.getTileN();
  if (rows.isPromoting && tileN && promotedColumns(tileN) > kPromotedColumns)
    return notLowered(moves, "with scales that are applied in registers and a "
                             "'tile_n' of " +
                                 std::to_string(tileN) +
                                 ", of which a thread has more than " +
                                 std::to_string(kPromotedColumns) + " sums");
  if (rows.hasPairs)
    return notLowered(moves, "with 'pairs', whose pieces of a row may be "
                             "shorter than TMA's 16 bytes");
  std::string need =
      "'" + moves.field.str() + "' of 'tma' need rows of " + matrix + " of a ";
  std::string rule = std::to_string(storeAlignment()) +
                     " bytes (cuTensorMapEncodeTiled, globalStrides), found ";
  if (ShapedType::isDynamic(rows.columns))
    return Reason(need + "static multiple of " + rule +
                  "a dynamic N; nearest legal: 'direct'");
  int64_t bytes = rows.columns * rows.element.getIntOrFloatBitWidth() / 8;
  if (bytes % storeAlignment() != 0)
    return Reason(need + "multiple of " + rule + std::to_string(bytes) +
                  " bytes; nearest legal: 'direct'");
  return std::nullopt;
}

std::optional<Reason> blockscale::whyNotStores(ScheduleAttr schedule,
                                               const StoredResult &result,
                                               hw::Target target) {
  if (schedule.getStores() != Stores::Tma)
    return std::nullopt;
  return whyNotBoxes({"stores", "D"}, schedule, result, target);
}

std::optional<Reason> blockscale::whyNotLoadsOfC(ScheduleAttr schedule,
                                                 const StoredResult &addend,
                                                 hw::Target target) {
  if (schedule.getCLoads() != Loads::Tma)
    return std::nullopt;
  RowMoves moves{"c_loads", "C"};
  if (!addend.element && hw::hasTensorMemory(target))
    return notLowered(moves, "without a C");
  return whyNotBoxes(moves, schedule, addend, target);
}

std::optional<Reason> blockscale::whyNotEpilogueWarps(ScheduleAttr schedule,
                                                      bool isPromoting,
                                                      hw::Target target) {
  int64_t warps = schedule.getEpilogueWarps();
  if (!warps)
    return std::nullopt;
  std::string what = "'epilogue_warps' of " + std::to_string(warps);
  if (!hw::hasTensorMemory(target))
    return Reason(what + " are not lowered for " + hw::targetName(target) +
                  ", whose warps multiply and store in registers; nearest "
                  "legal: none");
  if (schedule.warpsOfQuarter() == 1)
    return std::nullopt;
  std::string legal = "; nearest legal: 4";
  if (schedule.splits() > 1)
    return Reason(what +
                  " are not lowered with 'split_k', where a thread has all "
                  "sums of its row" +
                  legal);
  if (schedule.shares() > 1)
    return Reason(what +
                  " are not lowered with 'stream_k', where a thread has all "
                  "sums of its row" +
                  legal);
  if (isPromoting)
    return Reason(what +
                  " are not lowered with scales that are applied in "
                  "registers, which take as many warps as they need" +
                  legal);
  // The most columns that a thread takes at once: both warps of a quarter have
  // as many chunks of them.
  constexpr int64_t kColumns = 32;
  int64_t least = schedule.warpsOfQuarter() * kColumns;
  if (schedule.getTileN() % least != 0)
    return Reason(
        what + " share the columns of a tile by " + std::to_string(kColumns) +
        ", so that 'tile_n' must be a multiple of " + std::to_string(least) +
        ", found " + std::to_string(schedule.getTileN()) + legal);
  return std::nullopt;
}
