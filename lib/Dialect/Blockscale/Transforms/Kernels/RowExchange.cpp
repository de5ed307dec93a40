//===- RowExchange.cpp - rows of D out of columns of it -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A row of a chunk has a number of each of 128 lanes. Lanes give theirs side by
// side, and take four at once: rows lie so far apart, and so do halves of them
// which neighbouring lanes take, that eight lanes find all banks of shared
// memory.

#include "RowExchange.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/HW/GemmModel.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

/// Numbers that are taken at once.
static constexpr int64_t kTaken = 4;
/// What halves of rows lie apart beyond their length.
static constexpr int64_t kHalfPadding = 16;

/// Whether lanes of one warp have all columns of a thread.
static bool isInWarp(int64_t columns) { return columns <= hw::kWarpSize; }

/// Numbers from one row to the next.
static int64_t rowPitch(int64_t columns) {
  bool hasHalves = hw::kTmemLanes / columns == 2;
  return hw::kTmemLanes + kTaken + (hasHalves ? kHalfPadding : 0);
}

int64_t blockscale::rowExchangeBytes(int64_t groups, int64_t rows,
                                     int64_t columns) {
  return groups * std::min(rows, columns) * rowPitch(columns) * hw::kSumBytes;
}

RowExchange::RowExchange(KernelFrame &frame, int64_t most)
    : b(frame.b), groups(frame.warps.epilogue.threads() / hw::kTmemLanes),
      columns(exchangedColumns(resultTile(frame.op))) {
  rows = std::min(most, columns);
  int64_t numbers = rowExchangeBytes(groups, rows, columns) / hw::kSumBytes;
  sums = b.shared(SharedType::get(b.getContext(), {1, numbers}, b.getF32Type(),
                                  /*container=*/32, hw::Swizzle::None));
  constexpr int64_t kQuarters = hw::kTmemLanes / hw::kWarpSize;
  if (!isInWarp())
    barriers = b.barriers(groups, kQuarters);
}

bool RowExchange::isInWarp() const { return ::isInWarp(columns); }

void RowExchange::locate(Value thread) {
  Value lane = groups == 1 ? thread : b.rem(thread, hw::kTmemLanes);
  group = groups == 1 ? b.constant(0) : b.div(thread, hw::kTmemLanes);
  int64_t parts = hw::kTmemLanes / columns;
  row = isInWarp() ? b.rem(lane, columns) : b.div(lane, parts);
  Value part = isInWarp() ? b.div(lane, columns) : b.rem(lane, parts);
  column = b.mul(part, columns);
  isThere = b.compare(arith::CmpIPredicate::slt, row, b.constant(rows));
  Value first = b.mul(group, rows * rowPitch(columns));
  given = b.add(first, lane);
  taken =
      b.add(b.add(first, column), b.mul(b.rem(row, rows), rowPitch(columns)));
  if (isInWarp())
    return;
  given = b.add(given, b.mul(b.div(lane, columns), kHalfPadding));
  taken = b.add(taken, b.mul(part, kHalfPadding));
}

void RowExchange::put(Value values, int64_t first) {
  auto one = VectorType::get({1}, b.getF32Type());
  auto type = cast<VectorType>(values.getType());
  int64_t count = type.getDimSize(0);
  if (type.getElementType().isInteger())
    values = arith::SIToFPOp::create(b, type.clone(b.getF32Type()), values);
  for (int64_t i = 0; i < count; ++i) {
    Value number = vector::ExtractOp::create(b, values, i);
    int64_t distance = (first + i) * rowPitch(columns);
    StoreSharedOp::create(b, vector::FromElementsOp::create(b, one, number),
                          sums, b.add(given, b.constant(distance)));
  }
}

Value RowExchange::take(int64_t first, int64_t count) {
  auto words = VectorType::get({kTaken}, b.getF32Type());
  SmallVector<Value> numbers;
  for (int64_t i = 0; i < count; i += kTaken) {
    Value loaded = LoadSharedOp::create(b, words, sums,
                                        b.add(taken, b.constant(first + i)));
    for (int64_t k = 0; k < kTaken; ++k)
      numbers.push_back(vector::ExtractOp::create(b, loaded, k));
  }
  return vector::FromElementsOp::create(
      b, VectorType::get({count}, b.getF32Type()), numbers);
}

/// One lane arrives for all of its warp. Both phases of the barrier are those
/// of one chunk.
void RowExchange::meet(int64_t parity) {
  SyncWarpOp::create(b);
  if (isInWarp())
    return;
  b.onlyIf(ElectOp::create(b), [&] { ArriveOp::create(b, barriers, group); });
  WaitOp::create(b, barriers, group, b.constant(parity));
}

void RowExchange::awaitAll() { meet(0); }

void RowExchange::leave() { meet(1); }
