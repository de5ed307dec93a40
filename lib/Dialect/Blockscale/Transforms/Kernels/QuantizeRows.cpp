//===- QuantizeRows.cpp - quantising whole rows ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Where K is known, a row has as many threads as blocks, up to a bound, and
// each keeps what it reads. Where it is not, or is longer, the row is read
// twice, for the largest magnitude and for the codes, the second time from the
// caches as far as they hold the rows of all threads. Threads that follow each
// other have neighbouring blocks.

#include "QuantizeRows.h"
#include "TileReduction.h"
#include "blockscale/HW/Target.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

Value QuantizeRows::forBlocks(
    const BlockPlace &row, int64_t step, Value start,
    function_ref<Value(const BlockPlace &, Value)> body) {
  auto loop = scf::ForOp::create(e, row.block, blocksOfRow(), e.i32(step),
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

bool QuantizeRows::readsOnce() const {
  auto k = dyn_cast<AffineConstantExpr>(storage.k);
  return k && k.getValue() / storage.block <= threadsOfRow(storage);
}

void QuantizeRows::inCase(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(e, condition);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(branch.thenBlock());
  body();
}

void QuantizeRows::quantizeRow(Value number, Value lane, Value stores) {
  BlockPlace row{arith::DivUIOp::create(e, number, arguments.rows),
                 arith::RemUIOp::create(e, number, arguments.rows), lane};
  SmallVector<Value> loaded;
  Value most;
  if (readsOnce()) {
    // Threads without a block read the last one.
    BlockPlace nearest = row;
    nearest.block = arith::MinUIOp::create(
        e, lane, arith::SubIOp::create(e, blocksOfRow(), e.i32(1)));
    loaded = load(nearest, firstElement(nearest));
    most = e.bits(quantizer.largestOf(loaded));
  } else {
    most = largestOfBlocks(row, threadsOfRow(storage));
  }
  most = TileReduction(e, storage)
             .ofThreads(most, threadsOfRow(storage),
                        gpu::AllReduceOperation::MAXUI);
  BlockScaling scaling =
      quantizer.scalingOf({}, e.fromBits(most), /*factor=*/Value());
  auto store = [&] {
    if (loaded.empty())
      encodeBlocks(row, threadsOfRow(storage), scaling);
    else
      inCase(below(lane, blocksOfRow()), [&] {
        storeCodes(
            row, quantizer.encode(widened(loaded), scaling, firstElement(row)));
      });
    Value isFirst =
        arith::CmpIOp::create(e, arith::CmpIPredicate::eq, lane, e.i32(0));
    inCase(isFirst, [&] { storeNumber(wide(number), scaling.code); });
  };
  if (stores)
    inCase(stores, store);
  else
    store();
}

void QuantizeRows::build() {
  Value thread = threadNumber();
  Value size = e.i32(threadsOfRow(storage));
  Value number = arith::DivUIOp::create(e, thread, size);
  Value lane = arith::RemUIOp::create(e, thread, size);
  Value rows = mul(arguments.rows, arguments.batch);
  Value isInside = below(number, rows);
  // All lanes of a warp have one row.
  if (threadsOfRow(storage) == hw::kWarpSize)
    return inCase(isInside, [&] { quantizeRow(number, lane, Value()); });
  // All threads of a CTA meet, those behind the last row with it.
  Value last = arith::SubIOp::create(e, rows, e.i32(1));
  quantizeRow(arith::MinUIOp::create(e, number, last), lane, isInside);
}
