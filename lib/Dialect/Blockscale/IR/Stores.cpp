//===- Stores.cpp - how D gets to global memory ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
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
  return {op.getType().getElementType(), op.getResultColumns(), op.isGrouped(),
          isPromoting, op.getPairs()};
}

static Reason notLowered(StringRef with) {
  return Reason("'stores' of 'tma' are not lowered " + with.str() +
                "; nearest legal: 'direct'");
}

std::optional<Reason> blockscale::whyNotStores(ScheduleAttr schedule,
                                               const StoredResult &result,
                                               hw::Target target) {
  if (schedule.getStores() != Stores::Tma)
    return std::nullopt;
  if (!hw::hasTensorMemory(target))
    return notLowered("for " + hw::targetName(target) +
                      ", whose warps multiply and store in registers");
  if (schedule.getSwapOperands() && schedule.getSwapOperands().getValue())
    return notLowered("with 'swap_operands': rows of D are columns of tensor "
                      "memory");
  if (schedule.splits() > 1)
    return notLowered("with 'split_k', whose last CTA stores D");
  if (result.isGrouped)
    return notLowered("with groups of rows, which end inside a box");
  if (result.isPromoting)
    return notLowered("with scales that are applied in registers");
  if (result.hasPairs)
    return notLowered("with 'pairs', whose pieces of a row may be shorter than "
                      "TMA's 16 bytes");
  if (ShapedType::isDynamic(result.columns))
    return Reason("'stores' of 'tma' need rows of D of a static multiple of " +
                  std::to_string(storeAlignment()) +
                  " bytes (cuTensorMapEncodeTiled, globalStrides), found a "
                  "dynamic N; nearest legal: 'direct'");
  int64_t bytes = result.columns * result.element.getIntOrFloatBitWidth() / 8;
  if (bytes % storeAlignment() != 0)
    return Reason("'stores' of 'tma' need rows of D of a multiple of " +
                  std::to_string(storeAlignment()) +
                  " bytes (cuTensorMapEncodeTiled, globalStrides), found " +
                  std::to_string(bytes) + " bytes; nearest legal: 'direct'");
  return std::nullopt;
}
