//===- ResultRows.cpp - what becomes of sums brought to rows --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultRows.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
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

ResultRows::ResultRows(KernelFrame &frame, int64_t columns)
    : frame(frame), b(frame.b), columns(columns),
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
  math.prepareRow(tile, place.row);
  if (quantized && quantized->isUnderFloats())
    return storeFloats(tile, place, load);
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
  SmallVector<Value> values;
  for (int64_t first = 0; first < columns; first += width) {
    EpilogueFragment fragment = fragmentAt(tile, place, first);
    values.push_back(math.finish(load(first, width), fragment));
    if (areTogether)
      continue;
    quantized->store(values, math.inResult(fragment));
    values.clear();
  }
  if (areTogether)
    quantized->store(values, math.inResult(fragmentAt(tile, place, 0)));
}

void ResultRows::storeFloats(TilePosition tile, const RowPlace &place,
                             Load load) {
  int64_t width = math.getWidth();
  int64_t block = quantized->blockElements() * frame.sumsOfElement();
  bool areParts = block < frame.columnsOfBlock();
  auto largestOfParts = [&](Emitter &e, Value own) {
    Value bits = e.bits(own);
    Value other =
        gpu::ShuffleOp::create(b, bits, /*offset=*/1, int32_t(hw::kWarpSize),
                               gpu::ShuffleMode::XOR)
            .getShuffleResult();
    return e.fromBits(arith::MaxUIOp::create(b, bits, other));
  };
  for (int64_t begin = 0; begin < columns; begin += block) {
    SmallVector<Value> elements;
    for (int64_t first = begin; first < begin + block; first += width) {
      EpilogueFragment fragment = fragmentAt(tile, place, first);
      elements.append(
          quantized->narrowed(math.finish(load(first, width), fragment)));
    }
    EpilogueFragment fragment = math.inResult(fragmentAt(tile, place, begin));
    if (areParts)
      quantized->storeTilePart(elements, fragment, largestOfParts);
    else
      quantized->storeTilePart(elements, fragment);
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
    quantized->storeRowsOfPadding(math.inResult(fragment),
                                  columns / frame.columnsOfBlock(), step);
  });
}
