//===- QuantizedStore.cpp - D as codes and scales -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedStore.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

static QuantizedStorage storageOf(KernelMatmulOp op,
                                  std::optional<int64_t> elements) {
  Result<QuantizedStorage> storage =
      quantizedStorage(op.getQuantization()->getD(), getTarget(op));
  assert(storage && "the verifier asks first");
  if (storage->scale)
    return *storage;
  // Of a tile under a float a thread has one block.
  int64_t tile = storage->tileElements();
  storage->block = std::min(tile, elements.value_or(tile));
  storage->tileBlocks = tile / storage->block;
  return *storage;
}

QuantizedStore::QuantizedStore(KernelFrame &frame,
                               std::optional<int64_t> elements)
    : frame(frame), b(frame.b), what(*frame.op.getQuantization()),
      storage(storageOf(frame.op, elements)) {}

static Value multiply(Emitter &e, Value x, Value y) {
  return arith::MulIOp::create(e, x, y);
}

static Value sum(Emitter &e, Value x, Value y) {
  return arith::AddIOp::create(e, x, y);
}

static Value wide(Emitter &e, Value x) {
  return arith::ExtUIOp::create(e, e.getI64Type(), x);
}

static Value isBelow(Emitter &e, Value x, Value y) {
  return arith::CmpIOp::create(e, arith::CmpIPredicate::slt, x, y);
}

/// Elements of a row of D are its K, and columns of the product, or pairs of
/// them.
SmallVector<Value> QuantizedStore::sizes(Emitter &e) {
  Value elements;
  if (isa<AffineSymbolExpr>(storage.k)) {
    elements = frame.op.getN();
    if (frame.op.getPairs())
      elements = arith::DivUIOp::create(e, elements, e.i32(2));
  }
  return {frame.op.getM(), Value(), elements, frame.op.getBatch()};
}

Value QuantizedStore::blocksOfRow(Emitter &e) {
  return BlockQuantizer(e, what, storage, sizes(e), getTarget(frame.op))
      .extentOf(storage.k.floorDiv(storage.block), e.getI32Type());
}

//===----------------------------------------------------------------------===//
// The tensor scale
//===----------------------------------------------------------------------===//

void QuantizedStore::loadFactor(Value matrix) {
  Value memory = frame.op.getDFactor();
  if (!memory)
    return;
  Emitter e(b.getLoc(), b);
  factor = BlockQuantizer(e, what, storage, sizes(e), getTarget(frame.op))
               .loadFactor(memory, b.toI64(matrix));
}

void QuantizedStore::prepareKernel() {
  if (hasOneBatch())
    loadFactor(b.constant(0));
}

void QuantizedStore::prepareTile(TilePosition tile) {
  group = tile.group;
  if (!hasOneBatch())
    loadFactor(tile.batch);
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

SmallVector<Value> QuantizedStore::elementsOf(Emitter &e, Value value) {
  auto type = cast<VectorType>(value.getType());
  if (Type element = what.getX(); !element.isF32()) {
    value = arith::TruncFOp::create(e, type.clone(element), value);
    value = arith::ExtFOp::create(e, type, value);
  }
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getDimSize(0); ++i)
    elements.push_back(vector::ExtractOp::create(e, value, i));
  return elements;
}

Value QuantizedStore::storeBlock(Emitter &e, ArrayRef<Value> elements,
                                 Value largest, const BlockPlace &place) {
  BlockQuantizer quantizer(e, what, storage, sizes(e), getTarget(frame.op));
  Type i64 = e.getI64Type();
  Value row =
      sum(e, multiply(e, wide(e, place.matrix), wide(e, frame.op.getM())),
          wide(e, place.row));
  Value first = multiply(e, row, quantizer.extentOf(storage.k, i64));
  first = sum(e, first,
              multiply(e, wide(e, place.block),
                       arith::ConstantIntOp::create(e, i64, storage.block)));
  if (factor)
    quantizer.storeFactor(frame.op.getDTensorScale(), place, factor);
  if (!largest)
    largest = quantizer.largestOf(elements);
  BlockScaling scaling = quantizer.scalingOf(elements, largest, factor);
  quantizer.storeData(frame.op.getD(), place,
                      quantizer.encode(elements, scaling, first));
  return scaling.code;
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// The extent of a source with padding: what its digit without end counts.
static AffineExpr paddedExtent(const QuantizedStorage &storage,
                               hw::Dim source) {
  for (const auto &digit : storage.scales.digits)
    if (digit.term.source == source && !digit.term.modulus)
      return digit.extent * int64_t(digit.term.divisor);
  llvm_unreachable("each source has a digit without end");
}

Value QuantizedStore::endOfScales(Emitter &e) {
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

void QuantizedStore::storeScale(Emitter &e, const BlockPlace &place,
                                Value code) {
  BlockQuantizer quantizer(e, what, storage, sizes(e), getTarget(frame.op));
  Type i8 = e.getI8Type();
  Value offset = quantizer.scaleOffset(place, e.getI64Type());
  quantizer.storeByte(frame.op.getDScales(), offset,
                      arith::TruncIOp::create(e, i8, code));
  AffineExpr padded = paddedExtent(storage, hw::Dim::Block);
  auto constant = dyn_cast<AffineConstantExpr>(padded);
  if (constant && constant.getValue() * storage.block == what.getD().getK())
    return;
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

/// Stores the float of a tile, by the thread of its first block.
void QuantizedStore::storeFloat(Emitter &e, const BlockPlace &place,
                                Value bits) {
  BlockQuantizer quantizer(e, what, storage, sizes(e), getTarget(frame.op));
  OpBuilder::InsertionGuard guard(e);
  if (storage.tileBlocks > 1) {
    Value number =
        arith::RemUIOp::create(e, place.block, e.i32(storage.tileBlocks));
    Value isFirst =
        arith::CmpIOp::create(e, arith::CmpIPredicate::eq, number, e.i32(0));
    auto condition = scf::IfOp::create(e, isFirst);
    e.setInsertionPointToStart(condition.thenBlock());
  }
  auto one = VectorType::get({1}, e.getF32Type());
  StoreRowOp::create(
      e, vector::FromElementsOp::create(e, one, e.fromBits(bits)),
      frame.op.getDScales(), quantizer.floatNumber(place), e.i32(1),
      /*stride=*/Value(), /*aligned=*/true);
}

BlockPlace QuantizedStore::placeOf(Emitter &e,
                                   const EpilogueFragment &fragment) {
  return {frame.isGrouped() ? e.i32(0) : fragment.batch, fragment.row,
          arith::DivUIOp::create(e, fragment.column, e.i32(storage.block))};
}

/// `value`, known from here on: what it is made of is not computed later, where
/// all of a tile would have to be kept.
static Value computedHere(KernelBuilder &b, Value value) {
  constexpr int64_t kFragment = 4, kWordBits = 32;
  auto type = cast<VectorType>(value.getType());
  int64_t words =
      type.getDimSize(0) * type.getElementTypeBitWidth() / kWordBits;
  if (words % kFragment != 0)
    return value;
  auto bits = VectorType::get({words}, b.getI32Type());
  value = vector::BitCastOp::create(b, bits, value);
  SmallVector<Value> fragments;
  for (int64_t first = 0; first < words; first += kFragment) {
    auto places = llvm::to_vector(llvm::seq(first, first + kFragment));
    fragments.push_back(vector::ShuffleOp::create(b, value, value, places));
  }
  auto finished = FinishFragmentsOp::create(
      b, SmallVector<Type>(ValueRange(fragments).getTypes()), fragments);
  SmallVector<Value> same;
  for (Value fragment : finished.getResults())
    for (int64_t i = 0; i < kFragment; ++i)
      same.push_back(vector::ExtractOp::create(b, fragment, i));
  return vector::BitCastOp::create(
      b, type, vector::FromElementsOp::create(b, bits, same));
}

SmallVector<Value> QuantizedStore::narrowed(Value value) {
  auto type = cast<VectorType>(value.getType());
  if (Type element = what.getX(); !element.isF32())
    value = arith::TruncFOp::create(b, type.clone(element), value);
  value = computedHere(b, value);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getDimSize(0); ++i)
    elements.push_back(vector::ExtractOp::create(b, value, i));
  return elements;
}

/// Plain scales have no padding, so that whoever is outside of D does nothing.
void QuantizedStore::storeTilePart(ArrayRef<Value> narrow,
                                   const EpilogueFragment &fragment,
                                   LargestOfParts largestOfParts) {
  Emitter e(b.getLoc(), b);
  BlockQuantizer quantizer(e, what, storage, sizes(e), getTarget(frame.op));
  Value largest = quantizer.largestOf(narrow);
  if (largestOfParts)
    largest = largestOfParts(e, largest);
  Value isInside = isBelow(e, e.i32(0), fragment.count);
  auto condition = scf::IfOp::create(e, isInside);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  BlockPlace place = placeOf(e, fragment);
  auto elements =
      llvm::map_to_vector(narrow, [&](Value one) { return e.widen(one); });
  storeFloat(e, place, storeBlock(e, elements, largest, place));
}

void QuantizedStore::store(Value value, const EpilogueFragment &fragment) {
  if (!storage.scale)
    return storeTilePart(narrowed(value), fragment);
  Emitter e(b.getLoc(), b);
  BlockPlace place = placeOf(e, fragment);
  Value end = endOfScales(e);
  Value hasScale = arith::AndIOp::create(
      e, isBelow(e, place.row, end), isBelow(e, place.block, blocksOfRow(e)));
  auto there = scf::IfOp::create(e, hasScale);
  e.setInsertionPointToStart(there.thenBlock());
  Value isInside = isBelow(e, e.i32(0), fragment.count);
  auto condition = scf::IfOp::create(e, TypeRange{e.getI32Type()}, isInside,
                                     /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(condition.thenBlock());
    SmallVector<Value> elements = elementsOf(e, value);
    scf::YieldOp::create(e, storeBlock(e, elements, Value(), place));
    e.setInsertionPointToStart(condition.elseBlock());
    scf::YieldOp::create(e, e.i32(0));
  }
  place.row = rowOfScales(e, place.row);
  storeScale(e, place, condition.getResult(0));
}
