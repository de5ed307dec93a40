//===- QuantizedStore.cpp - D as codes and scales -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedStore.h"
#include "PlainScales.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

/// Bits of a scale beside others.
static constexpr int64_t kScaleBits = 8;
static constexpr int64_t kWordBits = 32;

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

//===----------------------------------------------------------------------===//
// Parts of tiles
//===----------------------------------------------------------------------===//

/// Rows that D does not have do not count.
Value QuantizedStore::largestOf(Emitter &e, ArrayRef<Part> parts,
                                Together together) {
  BlockQuantizer quantizer = quantizerAt(e);
  Value largest;
  for (const Part &each : parts) {
    Value own = quantizer.largestOf(each.elements);
    if (storage.rowTile > 1)
      own = arith::SelectOp::create(
          e, isBelow(e, e.i32(0), each.fragment.count), own, e.f32(0));
    if (largest)
      own = e.fromBits(arith::MaxUIOp::create(e, e.bits(largest), e.bits(own)));
    largest = own;
  }
  if (!together)
    return largest;
  return e.fromBits(
      together(e, e.bits(largest), gpu::AllReduceOperation::MAXUI));
}

SmallVector<std::optional<BlockScaling>>
QuantizedStore::comparedScalings(Emitter &e, ArrayRef<Part> parts,
                                 Value largest, Together together) {
  SmallVector<std::optional<BlockScaling>> scalings(parts.size());
  BlockQuantizer quantizer = quantizerAt(e, together);
  bool areAlone = !together && parts.size() == 1;
  if (areAlone || !quantizer.comparesErrors())
    return scalings;
  // What does not count has no error: a 0 is exact under any scale but a NaN.
  SmallVector<Value> elements;
  for (const Part &each : parts) {
    Value isInside = isBelow(e, e.i32(0), each.fragment.count);
    for (Value element : each.elements)
      elements.push_back(
          arith::SelectOp::create(e, isInside, e.widen(element), e.f32(0)));
  }
  BlockScaling all = quantizer.scalingOf(elements, largest, factor, b.always());
  size_t count = all.codes.size() / parts.size();
  for (auto [i, scaling] : llvm::enumerate(scalings)) {
    scaling = all;
    scaling->codes =
        SmallVector<Value>(ArrayRef(all.codes).slice(i * count, count));
  }
  return scalings;
}

/// Plain scales have no padding, so that whoever is outside of D does nothing.
void QuantizedStore::storePart(Emitter &e, const Part &each, const Tile &tile) {
  auto blocksOfPart = [&] {
    auto elements = llvm::map_to_vector(
        each.elements, [&](Value one) { return e.widen(one); });
    SmallVector<SmallVector<Value>> blocks;
    for (ArrayRef<Value> rest = elements; !rest.empty();
         rest = rest.drop_front(storage.block))
      blocks.emplace_back(rest.take_front(storage.block));
    return blocks;
  };
  if (storage.scale)
    return storeIfThere(
        e, each.fragment, blocksOf(int64_t(each.elements.size())),
        [&](const BlockPlace &place) {
          return storeBlocks(e, blocksOfPart(), &tile, place);
        },
        /*areAlike=*/true);
  Value isInside = isBelow(e, e.i32(0), each.fragment.count);
  auto condition = scf::IfOp::create(e, isInside);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  BlockPlace place = placeOf(e, each.fragment);
  storePlain(e, place, storeBlocks(e, blocksOfPart(), &tile, place));
}

SmallVector<QuantizedStore::Part>
QuantizedStore::readAgain(ArrayRef<Part> parts) {
  // What is left is for addresses, and for what makes codes.
  constexpr int64_t kOthers = 40;
  int64_t ofWord = kWordBits / what.getX().getIntOrFloatBitWidth(), numbers = 0;
  for (const Part &each : parts)
    numbers += int64_t(each.elements.size());
  SmallVector<Part> again(parts);
  if (ofWord == 1 ||
      numbers + numbers / ofWord <= frame.registersOfStorer() - kOthers)
    return again;
  for (Part &each : again) {
    auto type = VectorType::get({int64_t(each.elements.size())}, what.getX());
    each.elements = numbersOf(wordsKnownFromHere(
        b, vector::FromElementsOp::create(b, type, each.elements)));
  }
  return again;
}

void QuantizedStore::storeParts(ArrayRef<Part> parts, Together together) {
  Emitter e(b.getLoc(), b);
  Value largest = largestOf(e, parts, together);
  SmallVector<std::optional<BlockScaling>> scalings =
      comparedScalings(e, parts, largest, together);
  for (auto [each, scaling] : llvm::zip_equal(readAgain(parts), scalings))
    storePart(e, each, {largest, scaling});
}

/// Numbers take registers, those of C that are loaded ahead beside them, and
/// where errors are compared these and codes under two scales.
bool QuantizedStore::makesPartsAgain(KernelFrame &frame) {
  constexpr int64_t kMostKept = 128, kMostBesideOthers = 64;
  if (!frame.keepsTiles() || frame.bringsRows())
    return false;
  QuantizationAttr what = *frame.op.getQuantization();
  bool compares =
      what.getRule() == ScaleRule::MinError && !largestDecides(what.getD());
  bool hasOthers = compares || frame.op.getC();
  return what.getD().getKTile() > (hasOthers ? kMostBesideOthers : kMostKept);
}

ValueRange QuantizedStore::forEachPart(
    Emitter &e, int64_t count, ValueRange initial,
    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, b.constant(0), b.constant(count),
                                 b.constant(1), initial);
  OpBuilder::InsertionGuard guard(b), inside(e);
  b.setInsertionPointToStart(loop.getBody());
  e.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!initial.empty())
    scf::YieldOp::create(b, next);
  return loop.getResults();
}

std::optional<BlockScaling>
QuantizedStore::comparedScaling(Emitter &e, int64_t count,
                                function_ref<Part(Value)> part, Value largest,
                                Together together) {
  using Errors = BlockQuantizer::Errors;
  BlockQuantizer quantizer = quantizerAt(e, together);
  if (!quantizer.comparesErrors())
    return std::nullopt;
  return quantizer.scalingOfParts(
      largest, factor, [&](function_ref<Errors(ArrayRef<Value>)> errorsOf) {
        ValueRange sums = forEachPart(
            e, count, {e.i32(0), e.i32(0)},
            [&](Value index, ValueRange carried) -> SmallVector<Value> {
              Part each = part(index);
              Value isInside = isBelow(e, e.i32(0), each.fragment.count);
              Errors found = errorsOf(llvm::map_to_vector(
                  each.elements, [&](Value one) { return e.widen(one); }));
              for (auto [error, before] : llvm::zip_equal(found, carried))
                error =
                    sum(e, before,
                        arith::SelectOp::create(e, isInside, error, e.i32(0)));
              return {found[0], found[1]};
            });
        return Errors{sums[0], sums[1]};
      });
}

void QuantizedStore::storePartsAgain(int64_t count,
                                     function_ref<Part(Value)> part,
                                     Together together) {
  Emitter e(b.getLoc(), b);
  Value largest = forEachPart(
      e, count, e.i32(0),
      [&](Value index, ValueRange carried) -> SmallVector<Value> {
        Value own = largestOf(e, part(index), /*together=*/nullptr);
        return {arith::MaxUIOp::create(e, carried.front(), e.bits(own))};
      })[0];
  if (together)
    largest = together(e, largest, gpu::AllReduceOperation::MAXUI);
  Tile tile{e.fromBits(largest), std::nullopt};
  tile.scaling = comparedScaling(e, count, part, tile.largest, together);
  if (!tile.scaling)
    tile.scaling = quantizerAt(e).scalingOf({}, tile.largest, factor);
  forEachPart(e, count, {}, [&](Value index, ValueRange) {
    storePart(e, part(index), tile);
    return SmallVector<Value>();
  });
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
