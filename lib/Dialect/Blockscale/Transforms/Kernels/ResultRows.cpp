//===- ResultRows.cpp - what becomes of sums brought to rows --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultRows.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

/// Columns that are finished at once.
static int64_t widthOf(KernelFrame &frame, int64_t columns) {
  int64_t width = std::min(EpilogueMath::widthOf(frame), columns);
  return frame.quantizes() ? std::min(width, frame.columnsOfBlock()) : width;
}

ResultRows::ResultRows(KernelFrame &frame, int64_t columns,
                       std::optional<TileMates> &mates)
    : frame(frame), b(frame.b), columns(columns), mates(mates),
      math(frame, ::widthOf(frame, columns), SumRows::OfResult) {
  if (frame.quantizes())
    quantized.emplace(frame, columns / frame.sumsOfElement());
}

void ResultRows::prepareKernel() {
  math.prepareKernel();
  if (quantized)
    quantized->prepareKernel();
}

void ResultRows::prepareTile(TilePosition tile) {
  math.prepareTile(tile);
  if (quantized)
    quantized->prepareTile(tile);
}

bool ResultRows::endsEarly() const {
  return quantized && quantized->hasRowsOfPadding() &&
         frame.geometry.tileN % hw::kAtomRows != 0;
}

EpilogueFragment ResultRows::fragmentAt(TilePosition tile,
                                        const RowPlace &place, int64_t first) {
  EpilogueFragment fragment =
      math.fragmentAt(tile, place.row, b.add(place.column, b.constant(first)));
  Value isThere = place.isThere;
  // Rows of padding belong to the last tile that has others.
  if (endsEarly() && frame.geometry.clusterN > 1)
    isThere = b.createOrFold<arith::AndIOp>(
        isThere,
        startsInside(frame.columnsAround(tile), frame.firstColumn(tile)));
  constexpr int64_t kNowhere = std::numeric_limits<int32_t>::max();
  fragment.row = b.select(isThere, fragment.row, b.constant(kNowhere));
  fragment.count = b.select(isThere, fragment.count, b.constant(0));
  return fragment;
}

/// Whether row number `first` of `rows` is one.
Value ResultRows::startsInside(const Extent &rows, Value first) {
  return b.compare(arith::CmpIPredicate::slt, frame.within(rows, first),
                   rows.end);
}

void ResultRows::store(TilePosition tile, const RowPlace &place, Load load) {
  if (quantized && quantized->keepsParts())
    return storeRows(tile, {{place, load}});
  math.prepareRow(tile, place.row);
  if (quantized)
    return storeBlocks(tile, place, load);
  int64_t width = math.getWidth();
  for (int64_t first = 0; first < columns; first += width) {
    EpilogueFragment fragment = fragmentAt(tile, place, first);
    math.store(math.finish(load(first, width), fragment), fragment);
  }
}

void ResultRows::storeBlocks(TilePosition tile, const RowPlace &place,
                             Load load) {
  int64_t width = math.getWidth();
  bool areTogether = quantized->areTogether(columns / width);
  int64_t kept = (areTogether ? columns : width) / frame.sumsOfElement();
  SmallVector<Value> values;
  for (int64_t first = 0; first < columns; first += width) {
    EpilogueFragment fragment = fragmentAt(tile, place, first);
    auto loadBehind = [&](int64_t distance, int64_t count) {
      return load(first + distance, count);
    };
    values.push_back(math.finishPieces(loadBehind, fragment, kept));
    if (areTogether)
      continue;
    quantized->store(values, math.inResult(fragment), togetherBy(mates));
    values.clear();
  }
  if (areTogether)
    quantized->store(values, math.inResult(fragmentAt(tile, place, 0)));
}

void ResultRows::storeRows(TilePosition tile, ArrayRef<Row> rows) {
  int64_t width = math.getWidth();
  int64_t part = quantized->partElements() * frame.sumsOfElement();
  for (int64_t begin = 0; begin < columns; begin += part) {
    SmallVector<QuantizedStore::Part> parts;
    for (const Row &row : rows) {
      math.prepareRow(tile, row.place.row);
      SmallVector<Value> elements;
      for (int64_t first = begin; first < begin + part; first += width) {
        EpilogueFragment fragment = fragmentAt(tile, row.place, first);
        elements.append(
            quantized->narrowed(math.finish(row.load(first, width), fragment)));
      }
      parts.push_back({std::move(elements),
                       math.inResult(fragmentAt(tile, row.place, begin))});
    }
    quantized->storeParts(parts, togetherBy(mates));
  }
}

void ResultRows::storePadding(TilePosition tile, const RowPlace &place,
                              int64_t step) {
  if (!endsEarly())
    return;
  Extent rows = frame.columnsAround(tile);
  Value first = frame.firstColumn(tile);
  Value end = b.add(first, b.constant(frame.geometry.tileN));
  Value isLast = arith::XOrIOp::create(b, startsInside(rows, end), b.always());
  isLast = arith::AndIOp::create(b, isLast, startsInside(rows, first));
  b.onlyIf(isLast, [&] {
    EpilogueFragment fragment = math.fragmentAt(
        tile, b.add(b.constant(frame.geometry.tileN), place.row), place.column);
    quantized->storeRowsOfPadding(
        math.inResult(fragment),
        quantized->blocksOf(columns / frame.sumsOfElement()), step);
  });
}
