//===- QuantizedStore.cpp - D as codes and scales -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedStore.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

static QuantizedStorage storageOf(KernelMatmulOp op,
                                  std::optional<int64_t> elements) {
  Result<QuantizedStorage> storage = quantizedStorage(
      op.getQuantization()->getD(), getTarget(op), {}, readerOfResult(op));
  assert(storage && "the verifier asks first");
  if (storage->scale)
    return *storage;
  if (storage->coversMatrix()) {
    storage->block =
        std::min(storage->block, elements.value_or(storage->block));
    return *storage;
  }
  // Of a tile under a float a thread has one block.
  int64_t tile = storage->tileElements();
  storage->block = std::min(tile, elements.value_or(tile));
  storage->tileBlocks = tile / storage->block;
  return *storage;
}

QuantizedStore::QuantizedStore(KernelFrame &frame,
                               std::optional<int64_t> elements)
    : frame(frame), b(frame.b), what(*frame.op.getQuantization()),
      storage(storageOf(frame.op, elements)),
      part(std::min(storage.tileElements(),
                    elements.value_or(storage.tileElements()))) {
  part = std::max(part, storage.block);
}

BlockQuantizer QuantizedStore::quantizerAt(Emitter &e, Together together) {
  BlockQuantizer quantizer(e, what, storage, sizes(e), getTarget(frame.op));
  quantizer.setMates(together);
  return quantizer;
}

Value QuantizedStore::multiply(Emitter &e, Value x, Value y) {
  return arith::MulIOp::create(e, x, y);
}

Value QuantizedStore::sum(Emitter &e, Value x, Value y) {
  return arith::AddIOp::create(e, x, y);
}

Value QuantizedStore::isBelow(Emitter &e, Value x, Value y) {
  return arith::CmpIOp::create(e, arith::CmpIPredicate::slt, x, y);
}

static Value wide(Emitter &e, Value x) {
  return arith::ExtUIOp::create(e, e.getI64Type(), x);
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
// What is given
//===----------------------------------------------------------------------===//

void QuantizedStore::loadFactor(Value matrix) {
  Value memory = frame.op.getDFactor();
  if (!memory)
    return;
  Emitter e(b.getLoc(), b);
  BlockQuantizer quantizer = quantizerAt(e);
  Value number = quantizer.loadFactor(memory, b.toI64(matrix));
  if (storage.coversMatrix())
    given = quantizer.givenScaling(number);
  else
    factor = number;
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

/// Two f32 that are rounded to `type`, in one instruction: a word whose halves
/// are bf16 is two f32 without their lower bits.
static SmallVector<Value> roundPair(Emitter &e, Value pair, Type type) {
  constexpr int64_t kHalf = 16, kUpper = int32_t(0xffff0000);
  auto f32 = cast<VectorType>(pair.getType());
  Value rounded = arith::TruncFOp::create(e, f32.clone(type), pair);
  if (!type.isBF16()) {
    rounded = arith::ExtFOp::create(e, f32, rounded);
    return {vector::ExtractOp::create(e, rounded, 0),
            vector::ExtractOp::create(e, rounded, 1)};
  }
  auto words = VectorType::get({1}, e.getI32Type());
  Value word = vector::ExtractOp::create(
      e, vector::BitCastOp::create(e, words, rounded), 0);
  return {e.fromBits(arith::ShLIOp::create(e, word, e.i32(kHalf))),
          e.fromBits(arith::AndIOp::create(e, word, e.i32(kUpper)))};
}

SmallVector<Value> QuantizedStore::elementsOf(Emitter &e, Value value) {
  constexpr int64_t kPair = 2;
  auto type = cast<VectorType>(value.getType());
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getDimSize(0); i += kPair) {
    Value pair =
        vector::ShuffleOp::create(e, value, value, ArrayRef<int64_t>{i, i + 1});
    if (!what.getX().isF32())
      llvm::append_range(elements, roundPair(e, pair, what.getX()));
    else
      for (int64_t k = 0; k < kPair; ++k)
        elements.push_back(vector::ExtractOp::create(e, pair, k));
  }
  return elements;
}

SmallVector<BlockScaling>
QuantizedStore::scalingsOf(BlockQuantizer &quantizer,
                           ArrayRef<SmallVector<Value>> blocks,
                           const Tile &tile) {
  BlockScaling all;
  if (tile.scaling) {
    all = *tile.scaling;
  } else {
    SmallVector<Value> elements;
    for (const SmallVector<Value> &block : blocks)
      llvm::append_range(elements, block);
    all = quantizer.scalingOf(elements, tile.largest, factor);
  }
  // Each block has its own codes where choosing the scale has made them.
  SmallVector<BlockScaling> scalings(blocks.size(), all);
  size_t count = all.codes.size() / blocks.size();
  for (auto [i, scaling] : llvm::enumerate(scalings))
    scaling.codes =
        SmallVector<Value>(ArrayRef(all.codes).slice(i * count, count));
  return scalings;
}

Value QuantizedStore::storeBlocks(Emitter &e,
                                  ArrayRef<SmallVector<Value>> blocks,
                                  const Tile *tile, const BlockPlace &place) {
  BlockQuantizer quantizer = quantizerAt(e);
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
  SmallVector<BlockScaling> scalings =
      given  ? SmallVector<BlockScaling>(blocks.size(), *given)
      : tile ? scalingsOf(quantizer, blocks, *tile)
             : quantizer.scalingsOf(blocks, factor);
  SmallVector<Value> words;
  Value codes;
  for (auto [i, scaling] : llvm::enumerate(scalings)) {
    auto index = int64_t(i);
    Value number = sum(
        e, first, arith::ConstantIntOp::create(e, i64, index * storage.block));
    llvm::append_range(words, quantizer.encode(blocks[i], scaling, number));
    if (tile || given) {
      codes = scaling.code;
      continue;
    }
    Value code = scaling.code;
    if (index)
      code = arith::OrIOp::create(
          e, codes, arith::ShLIOp::create(e, code, e.i32(index * kScaleBits)));
    codes = code;
  }
  quantizer.storeData(frame.op.getD(), place, words);
  return codes;
}

BlockPlace QuantizedStore::placeOf(Emitter &e,
                                   const EpilogueFragment &fragment) {
  return {frame.isGrouped() ? e.i32(0) : fragment.batch, fragment.row,
          arith::DivUIOp::create(e, fragment.column, e.i32(storage.block))};
}

SmallVector<Value> QuantizedStore::narrowed(Value value) {
  auto type = cast<VectorType>(value.getType());
  if (Type element = what.getX(); !element.isF32())
    value = arith::TruncFOp::create(b, type.clone(element), value);
  return numbersOf(wordsKnownFromHere(b, value));
}

SmallVector<Value> QuantizedStore::numbersOf(ValueRange words) {
  SmallVector<Value> elements;
  // Two of 16 bits out of their word alone: LLVM would have them out of a
  // register of 64 bits whose other half nothing has written.
  int64_t ofWord = kWordBits / what.getX().getIntOrFloatBitWidth();
  for (Value word : words) {
    Value part = vector::BitCastOp::create(
        b, VectorType::get({ofWord}, what.getX()),
        vector::FromElementsOp::create(b, VectorType::get({1}, b.getI32Type()),
                                       word));
    for (int64_t i = 0; i < ofWord; ++i)
      elements.push_back(vector::ExtractOp::create(b, part, i));
  }
  return elements;
}

void QuantizedStore::storeIfThere(Emitter &e, const EpilogueFragment &fragment,
                                  int64_t count,
                                  function_ref<Value(const BlockPlace &)> codes,
                                  bool areAlike) {
  OpBuilder::InsertionGuard outside(e);
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
    scf::YieldOp::create(e, codes(place));
    e.setInsertionPointToStart(condition.elseBlock());
    scf::YieldOp::create(e, e.i32(0));
  }
  place.row = rowOfScales(e, place.row);
  if (areAlike)
    storeRepeated(e, place, count, condition.getResult(0));
  else
    storeScales(e, place, count, condition.getResult(0));
}

/// All of them are in D, or nothing is.
void QuantizedStore::storeUnderGiven(Emitter &e, ArrayRef<Value> values,
                                     const EpilogueFragment &fragment) {
  Value isInside = isBelow(e, e.i32(0), fragment.count);
  auto condition = scf::IfOp::create(e, isInside);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  BlockPlace place = placeOf(e, fragment);
  auto blocks = llvm::map_to_vector(
      values, [&](Value value) { return elementsOf(e, value); });
  storePlain(e, place, storeBlocks(e, blocks, /*tile=*/nullptr, place));
}

void QuantizedStore::store(ArrayRef<Value> values,
                           const EpilogueFragment &fragment,
                           Together together) {
  auto count = int64_t(values.size());
  if (keepsParts()) {
    assert(count == 1 && "a thread has one part at once");
    return storeParts({{narrowed(values.front()), fragment}}, together);
  }
  Emitter e(b.getLoc(), b);
  if (given)
    return storeUnderGiven(e, values, fragment);
  if (storage.rowTile > 1)
    return storeParts({{elementsOf(e, values.front()), fragment}}, together);
  storeIfThere(
      e, fragment, count,
      [&](const BlockPlace &place) {
        auto blocks = llvm::map_to_vector(
            values, [&](Value value) { return elementsOf(e, value); });
        return storeBlocks(e, blocks, /*tile=*/nullptr, place);
      },
      /*areAlike=*/false);
}
