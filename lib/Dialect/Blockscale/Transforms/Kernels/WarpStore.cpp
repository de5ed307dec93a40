//===- WarpStore.cpp - what becomes of sums in registers ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The epilogue of WarpLoop.

#include "WarpLoop.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

/// Neighbouring elements of a row that a lane has of a fragment.
static constexpr int64_t kPair = 2;
/// Fragments whose columns the lanes of a warp share out.
static constexpr int64_t kFragments = kLanesOfColumn / kPair;

Value WarpLoop::pairOf(Value sums, int64_t half) {
  return vector::ShuffleOp::create(b, sums, sums,
                                   ArrayRef<int64_t>{2 * half, 2 * half + 1});
}

bool WarpLoop::finishesInTurn() {
  // A pair's own beside what is loaded for it: ptxas works on several at once,
  // and keeps what columns have for all rows.
  constexpr unsigned kMostValues = 5;
  return EpilogueMath::mostValues(frame) +
             Epilogue(frame.op).valuesOfFunctions() >
         kMostValues;
}

SmallVector<Value> WarpLoop::finishedPair(TilePosition position, Value ofRow,
                                          Value inRow, Value pair) {
  auto lane = FragmentPositionOp::create(b);
  Value firstColumn = b.add(column, lane.getColumn());
  EpilogueFragment fragment =
      epilogue.fragmentAt(position, ofRow, b.add(firstColumn, inRow));
  Value value = epilogue.finish(pair, fragment);
  SmallVector<Value> numbers;
  for (int64_t i = 0; i < kPair / frame.sumsOfElement(); ++i)
    numbers.push_back(vector::ExtractOp::create(b, value, i));
  return numbers;
}

/// Through the loop the sums of a row move up, and what becomes of them comes
/// behind those that are left.
SmallVector<Value> WarpLoop::finishInTurn(TilePosition position, Value ofRow,
                                          ArrayRef<Value> pairs) {
  SmallVector<Value> sums;
  for (Value pair : pairs)
    for (int64_t i = 0; i < kPair; ++i)
      sums.push_back(vector::ExtractOp::create(b, pair, i));
  auto loop = scf::ForOp::create(b, b.constant(0), b.constant(columnTiles()),
                                 b.constant(1), sums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> carried(loop.getRegionIterArgs());
    Value pair = vector::FromElementsOp::create(
        b, VectorType::get({kPair}, b.getF32Type()),
        ArrayRef(carried).take_front(kPair));
    SmallVector<Value> numbers = finishedPair(
        position, ofRow, b.mul(loop.getInductionVar(), kColumns), pair);
    numbers.resize(kPair, numbers.front());
    carried.append(numbers);
    scf::YieldOp::create(b, ArrayRef(carried).drop_front(kPair));
  }
  SmallVector<Value> numbers;
  for (int64_t i = 0; i < int64_t(sums.size()); i += frame.sumsOfElement())
    numbers.push_back(loop.getResult(unsigned(i)));
  return numbers;
}

SmallVector<Value> WarpLoop::finishedRow(TilePosition position, ValueRange sums,
                                         int64_t number) {
  auto lane = FragmentPositionOp::create(b);
  Value ofRow =
      b.add(b.add(row, lane.getRow()), b.constant(number * kHalfRows));
  epilogue.prepareRow(position, ofRow);
  SmallVector<Value> pairs;
  for (int64_t j = 0; j < columnTiles(); ++j)
    pairs.push_back(pairOf(sums[number / 2 * columnTiles() + j], number % 2));
  if (finishesInTurn())
    return finishInTurn(position, ofRow, pairs);
  SmallVector<Value> numbers;
  for (auto [j, pair] : llvm::enumerate(pairs))
    numbers.append(
        finishedPair(position, ofRow, b.constant(int64_t(j) * kColumns), pair));
  return numbers;
}

QuantizedStore::Part WarpLoop::partOf(TilePosition position, const LaneRow &row,
                                      int64_t first) {
  int64_t fragments =
      quantized->partElements() * frame.sumsOfElement() / kColumns;
  int64_t perFragment = kPair / frame.sumsOfElement();
  QuantizedStore::Part part;
  for (int64_t j = first; j < first + fragments; ++j)
    for (const SmallVector<Value> &numbers : row.lanes)
      for (int64_t i = 0; i < perFragment; ++i)
        part.elements.push_back(numbers[j * perFragment + i]);
  part.fragment = epilogue.inResult(epilogue.fragmentAt(
      position, row.row, b.add(column, b.constant(first * kColumns))));
  return part;
}

void WarpLoop::storeBlocks(TilePosition position,
                           ArrayRef<LaneRow> rowsOfTile) {
  int64_t size = quantized->partElements();
  int64_t fragments = size * frame.sumsOfElement() / kColumns;
  auto type = VectorType::get({size}, b.getF32Type());
  for (int64_t first = 0; first < columnTiles(); first += fragments) {
    SmallVector<QuantizedStore::Part> parts;
    for (const LaneRow &each : rowsOfTile) {
      parts.push_back(partOf(position, each, first));
      QuantizedStore::Part &part = parts.back();
      Value all = vector::FromElementsOp::create(b, type, part.elements);
      if (rowsOfTile.size() == 1)
        quantized->store({all}, part.fragment, togetherBy(mates));
      else
        part.elements = quantized->narrowed(all);
    }
    if (rowsOfTile.size() > 1)
      quantized->storeParts(parts, togetherBy(mates));
  }
}

int64_t WarpLoop::rowsOfThread() {
  return mates ? mates->getParts().rowsOfThread : 1;
}

void WarpLoop::storeQuantized(TilePosition position, ValueRange sums) {
  auto lane = FragmentPositionOp::create(b);
  Value number = b.div(lane.getColumn(), kPair);
  int64_t rows = tile.rows / kHalfRows;
  std::vector<LaneRow> rowsOfTile;
  for (int64_t first = 0; first < rows; first += kQuad) {
    QuadNumbers ofRows;
    for (int64_t i = 0; i < kQuad; ++i)
      ofRows[i] = finishedRow(position, sums, first + i);
    QuadNumbers ofLanes = exchangeInQuad(b, ofRows, number);
    Value ofRow = b.add(b.add(row, lane.getRow()),
                        b.mul(b.add(number, b.constant(first)), kHalfRows));
    rowsOfTile.push_back({ofRow, ofLanes});
    if (int64_t(rowsOfTile.size()) < rowsOfThread())
      continue;
    storeBlocks(position, rowsOfTile);
    rowsOfTile.clear();
  }
}

ResultRows::Row WarpLoop::rowOfColumns(ValueRange sums, int64_t first) {
  auto lane = FragmentPositionOp::create(b);
  int64_t halves = tile.rows / kHalfRows;
  ColumnNumbers columns;
  for (int64_t j = first; j < first + kFragments; ++j)
    for (int64_t half = 0; half < halves; ++half) {
      Value pair = pairOf(sums[half / 2 * columnTiles() + j], half % 2);
      for (int64_t i = 0; i < kPair; ++i)
        columns[(j - first) * kPair + i].push_back(
            vector::ExtractOp::create(b, pair, i));
    }
  ColumnNumbers ofLanes =
      exchangeInColumn(b, std::move(columns), lane.getRow());
  // The lane has the column that has its number among those of its quads.
  Value fragment = b.add(b.div(lane.getRow(), kPair), b.constant(first));
  Value ofColumn = b.add(b.add(column, b.mul(fragment, kColumns)),
                         b.add(lane.getColumn(), b.rem(lane.getRow(), kPair)));
  auto load = [this, ofLanes](int64_t begin, int64_t count) -> Value {
    SmallVector<Value> numbers;
    for (int64_t n = begin; n < begin + count; ++n)
      numbers.push_back(ofLanes[n % kLanesOfColumn][n / kLanesOfColumn]);
    return vector::FromElementsOp::create(
        b, VectorType::get({count}, b.getF32Type()), numbers);
  };
  return {{ofColumn, row, b.always()}, load};
}

void WarpLoop::storeRows(TilePosition position, ValueRange sums) {
  std::vector<ResultRows::Row> rowsOfTile;
  for (int64_t first = 0; first < columnTiles(); first += kFragments) {
    rowsOfTile.push_back(rowOfColumns(sums, first));
    if (rowsOfThread() == 1)
      rows->store(position, rowsOfTile.front().place, rowsOfTile.front().load);
    else if (int64_t(rowsOfTile.size()) == rowsOfThread())
      rows->storeRows(position, rowsOfTile);
    else
      continue;
    rowsOfTile.clear();
  }
  Value warp = b.rem(b.div(thread, hw::kWarpSize), tile.along);
  Value first = b.add(b.mul(warp, hw::kWarpSize), b.rem(thread, hw::kWarpSize));
  rows->storePadding(position, {first, row, b.always()},
                     tile.along * hw::kWarpSize);
}

void WarpLoop::storeTile(TilePosition position, ValueRange accumulators) {
  SmallVector<Type> types(accumulators.getTypes());
  auto finished = FinishFragmentsOp::create(b, types, accumulators);
  if (frame.isSplit())
    return storePart(position, finished.getResults());
  if (!turns)
    return storeSums(position, finished.getResults());
  // Where a lane stores is found here and not before the main loop, which has
  // no registers for it.
  Value beforeRow = row, beforeColumn = column;
  SmallVector<Value> place = knownFromHere(b, {row, column});
  row = place[0];
  column = place[1];
  storeSums(position, finished.getResults());
  row = beforeRow;
  column = beforeColumn;
}

PartialSums::Place WarpLoop::placeOf(int64_t number) {
  int64_t columns =
      frame.warps.consumers.threads() * kFragment / frame.geometry.rowsPerCta();
  return {/*number=*/0, thread, b.constant(number * columns)};
}

void WarpLoop::storePart(TilePosition position, ValueRange sums) {
  SmallVector<PartialSums::Place> places;
  for (auto [i, fragment] : llvm::enumerate(sums)) {
    places.push_back(placeOf(int64_t(i)));
    partials.store(position, places.back(), fragment);
  }
  b.onlyIf(partials.arrive(position, thread),
           [&] { storeSums(position, partials.sums(position, places)); });
}

void WarpLoop::storeSums(TilePosition position, ValueRange sums) {
  if (rows)
    return storeRows(position, sums);
  if (quantized)
    return storeQuantized(position, sums);
  auto lane = FragmentPositionOp::create(b);
  Value firstRow = b.add(row, lane.getRow());
  Value firstColumn = b.add(column, lane.getColumn());
  for (int64_t i = 0; i < rowTiles(); ++i)
    for (int64_t half = 0; half < 2; ++half) {
      Value ofRow = b.add(firstRow, b.constant(i * kRows + half * kHalfRows));
      epilogue.prepareRow(position, ofRow);
      for (int64_t j = 0; j < columnTiles(); ++j) {
        Value pair = pairOf(sums[i * columnTiles() + j], half);
        EpilogueFragment fragment = epilogue.fragmentAt(
            position, ofRow, b.add(firstColumn, b.constant(j * kColumns)));
        epilogue.store(epilogue.finish(pair, fragment), fragment);
      }
    }
}
