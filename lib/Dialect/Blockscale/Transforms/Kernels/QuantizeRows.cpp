//===- QuantizeRows.cpp - quantising whole rows ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A warp reads its row twice, for the largest magnitude and for the codes; the
// second time it is in the caches. Lanes have neighbouring blocks.

#include "QuantizeRows.h"
#include "blockscale/HW/Target.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

Value QuantizeRows::forBlocks(
    const BlockPlace &row, int64_t step, Value start,
    function_ref<Value(const BlockPlace &, Value)> body) {
  Value blocks = extentOf(storage.k.floorDiv(storage.block), e.getI32Type());
  auto loop = scf::ForOp::create(e, row.block, blocks, e.i32(step),
                                 start ? ValueRange(start) : ValueRange());
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(loop.getBody());
  BlockPlace place{row.matrix, row.row, loop.getInductionVar()};
  Value next = body(place, start ? loop.getRegionIterArg(0) : Value());
  if (!start)
    return {};
  scf::YieldOp::create(e, next);
  return loop.getResult(0);
}

Value QuantizeRows::largestOfBlocks(const BlockPlace &first, int64_t step) {
  return forBlocks(first, step, e.i32(0),
                   [&](const BlockPlace &place, Value sofar) -> Value {
                     Value largest =
                         quantizer.largestOf(load(place, firstElement(place)));
                     return arith::MaxUIOp::create(e, sofar, e.bits(largest));
                   });
}

void QuantizeRows::encodeBlocks(const BlockPlace &first, int64_t step,
                                const BlockScaling &scaling) {
  forBlocks(first, step, Value(), [&](const BlockPlace &place, Value) -> Value {
    Value element = firstElement(place);
    SmallVector<Value> values = widened(load(place, element));
    storeCodes(place, quantizer.encode(values, scaling, element));
    return {};
  });
}

void QuantizeRows::quantizeRow(Value number, Value lane) {
  BlockPlace row{arith::DivUIOp::create(e, number, arguments.rows),
                 arith::RemUIOp::create(e, number, arguments.rows), lane};
  Value most = largestOfBlocks(row, hw::kWarpSize);
  most = gpu::SubgroupReduceOp::create(e, most, gpu::AllReduceOperation::MAXUI,
                                       /*uniform=*/true,
                                       std::optional<uint32_t>(hw::kWarpSize));
  BlockScaling scaling =
      quantizer.scalingOf({}, e.fromBits(most), /*factor=*/Value());
  encodeBlocks(row, hw::kWarpSize, scaling);
  Value isFirst =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, lane, e.i32(0));
  auto condition = scf::IfOp::create(e, isFirst);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  storeNumber(wide(number), scaling.code);
}

void QuantizeRows::build() {
  Value thread = threadNumber();
  Value size = e.i32(hw::kWarpSize);
  Value number = arith::DivUIOp::create(e, thread, size);
  Value lane = arith::RemUIOp::create(e, thread, size);
  // All lanes of a warp have one row.
  auto condition =
      scf::IfOp::create(e, below(number, mul(arguments.rows, arguments.batch)));
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  quantizeRow(number, lane);
}
