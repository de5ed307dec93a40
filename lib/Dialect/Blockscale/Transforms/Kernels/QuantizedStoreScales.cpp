//===- QuantizedStoreScales.cpp - scales of D and their padding ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlainScales.h"
#include "QuantizedStore.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

/// The extent of a source with padding: what its digit without end counts.
static AffineExpr paddedExtent(const QuantizedStorage &storage,
                               hw::Dim source) {
  for (const auto &digit : storage.scales.digits)
    if (digit.term.source == source && !digit.term.modulus)
      return digit.extent * int64_t(digit.term.divisor);
  llvm_unreachable("each source has a digit without end");
}

Value QuantizedStore::endOfScales(Emitter &e) {
  // Whoever counts rows reads none behind them.
  if (frame.isMasked())
    return group.end;
  if (!frame.isGrouped())
    return BlockQuantizer(e, what, storage, sizes(e), getTarget(frame.op))
        .extentOf(paddedExtent(storage, hw::Dim::Row), e.getI32Type());
  Value rows = arith::SubIOp::create(e, group.end, group.firstRow);
  Value last = sum(e, rows, e.i32(hw::kAtomRows - 1));
  Value padded = arith::AndIOp::create(e, last, e.i32(-int64_t(hw::kAtomRows)));
  return sum(e, group.firstRow, padded);
}

Value QuantizedStore::rowOfScales(Emitter &e, Value row) {
  if (!frame.isGrouped())
    return row;
  Value inGroup = arith::SubIOp::create(e, row, group.firstRow);
  return sum(e, group.firstScaleRow, inGroup);
}

void QuantizedStore::storeScales(Emitter &e, const BlockPlace &first,
                                 int64_t count, Value codes) {
  BlockQuantizer quantizer(e, what, storage, sizes(e), getTarget(frame.op));
  Value offset = quantizer.scaleOffset(first, e.getI64Type());
  quantizer.storeBytes(frame.op.getDScales(), offset, codes, count);
  AffineExpr padded = paddedExtent(storage, hw::Dim::Block);
  auto constant = dyn_cast<AffineConstantExpr>(padded);
  if (constant && constant.getValue() * storage.block == what.getD().getK())
    return;
  BlockPlace place = first;
  if (count > 1)
    place.block = sum(e, first.block, e.i32(count - 1));
  Value last = sum(e, blocksOfRow(e), e.i32(-1));
  Value isLast =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, place.block, last);
  auto condition = scf::IfOp::create(e, isLast);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  storePadding(e, place);
}

/// Zeros behind the last block of a row, up to the next whole group of scales.
void QuantizedStore::storePadding(Emitter &e, const BlockPlace &last) {
  BlockQuantizer quantizer(e, what, storage, sizes(e), getTarget(frame.op));
  AffineExpr padded = paddedExtent(storage, hw::Dim::Block);
  AffineExpr blocks = storage.k.floorDiv(storage.block);
  auto constant = dyn_cast<AffineConstantExpr>(padded - blocks);
  int64_t most = constant ? constant.getValue() : hw::kAtomScales - 1;
  for (int64_t i = 1; i <= most; ++i) {
    OpBuilder::InsertionGuard guard(e);
    BlockPlace behind{last.matrix, last.row, sum(e, last.block, e.i32(i))};
    if (!constant) {
      Value end = quantizer.extentOf(padded, e.getI32Type());
      auto condition = scf::IfOp::create(e, isBelow(e, behind.block, end));
      e.setInsertionPointToStart(condition.thenBlock());
    }
    quantizer.storeByte(frame.op.getDScales(),
                        quantizer.scaleOffset(behind, e.getI64Type()),
                        arith::ConstantIntOp::create(e, e.getI8Type(), 0));
  }
}

/// Stores the plain scale of a tile, by the thread of its first block and row.
void QuantizedStore::storePlain(Emitter &e, const BlockPlace &place,
                                Value bits) {
  BlockQuantizer quantizer = quantizerAt(e);
  OpBuilder::InsertionGuard guard(e);
  Value number;
  if (storage.coversMatrix())
    number = arith::OrIOp::create(e, place.row, place.block);
  if (storage.tileBlocks > 1)
    number = arith::RemUIOp::create(e, place.block, e.i32(storage.tileBlocks));
  if (storage.rowTile > 1) {
    Value row = arith::RemUIOp::create(e, place.row, e.i32(storage.rowTile));
    number = number ? arith::OrIOp::create(e, number, row).getResult() : row;
  }
  if (number) {
    Value isFirst =
        arith::CmpIOp::create(e, arith::CmpIPredicate::eq, number, e.i32(0));
    auto condition = scf::IfOp::create(e, isFirst);
    e.setInsertionPointToStart(condition.thenBlock());
  }
  Value memory = frame.op.getDScales(), scale = plainScaleOf(e, memory, bits);
  StoreRowOp::create(e, scale, memory, quantizer.floatNumber(place), e.i32(1),
                     /*stride=*/Value(), /*aligned=*/true);
}

bool QuantizedStore::hasRowsOfPadding() const {
  return storage.scale && !frame.isMasked();
}

void QuantizedStore::storeRowsOfPadding(const EpilogueFragment &fragment,
                                        int64_t count, int64_t step) {
  Emitter e(b.getLoc(), b);
  BlockPlace place = placeOf(e, fragment);
  auto loop =
      scf::ForOp::create(b, place.row, endOfScales(e), b.constant(step));
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(loop.getBody());
  place.row = rowOfScales(e, loop.getInductionVar());
  Value first = place.block, end = blocksOfRow(e);
  for (int64_t i = 0; i < count; ++i) {
    place.block = i ? sum(e, first, e.i32(i)) : first;
    auto there = scf::IfOp::create(e, isBelow(e, place.block, end));
    OpBuilder::InsertionGuard inside(e);
    e.setInsertionPointToStart(there.thenBlock());
    storeScales(e, place, /*count=*/1, e.i32(0));
  }
}

bool QuantizedStore::areNeighbours(int64_t count) const {
  auto divides = [&](AffineExpr expression, int64_t divisor) {
    return expression.getLargestKnownDivisor() % divisor == 0;
  };
  bool haveNeighbours = false, areAligned = true;
  for (const auto &digit : storage.scales.digits) {
    bool isLowest = digit.term.source == hw::Dim::Block &&
                    digit.term.divisor == 1 && digit.term.modulus &&
                    digit.term.modulus % count == 0;
    haveNeighbours |= isLowest && digit.stride == 1;
    areAligned &= isLowest || divides(digit.stride, count);
  }
  return haveNeighbours && areAligned &&
         divides(storage.scales.matrixBytes, count) &&
         divides(storage.k, count * storage.block);
}

bool QuantizedStore::areTogether(int64_t count) const {
  if (storage.coversMatrix())
    return storage.k.getLargestKnownDivisor() % (count * storage.block) == 0;
  return !keepsParts() && storage.rowTile == 1 && areNeighbours(count);
}

void QuantizedStore::storeRepeated(Emitter &e, const BlockPlace &first,
                                   int64_t count, Value code) {
  int64_t together = hw::kAtomScales;
  while (together > 1 && (count % together != 0 || !areNeighbours(together)))
    together /= 2;
  int64_t ones = 0;
  for (int64_t i = 0; i < together; ++i)
    ones |= int64_t(1) << (i * kScaleBits);
  Value codes = multiply(e, code, e.i32(ones));
  for (int64_t i = 0; i < count; i += together) {
    BlockPlace place = first;
    place.block = sum(e, first.block, e.i32(i));
    storeScales(e, place, together, codes);
  }
}
