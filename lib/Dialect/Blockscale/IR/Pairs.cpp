//===- Pairs.cpp - pairs of columns that make one of D --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Pairs.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace blockscale;

std::optional<Reason> blockscale::whyNotPairs(ScheduleAttr schedule,
                                              hw::Target target) {
  constexpr int64_t kPair = 2;
  if (schedule.getSwapOperands() && schedule.getSwapOperands().getValue())
    return whyNotExchanged(schedule, {1, kPair}, target);
  return std::nullopt;
}

OpFoldResult blockscale::halfOf(OpBuilder &builder, Location loc,
                                OpFoldResult size) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return builder.getIndexAttr(*known / 2);
  Value two = arith::ConstantIndexOp::create(builder, loc, 2);
  return arith::DivUIOp::create(builder, loc, cast<Value>(size), two)
      .getResult();
}
