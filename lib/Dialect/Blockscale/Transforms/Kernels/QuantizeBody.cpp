//===- QuantizeBody.cpp - the body of a kernel that quantises -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each thread owns one byte of the scales in memory, padding included, so that
// neighbours write neighbouring bytes, and whatever the layout is every byte is
// written once. The layout says which block of which row that is; the thread
// reads it, chooses the scale and writes the codes. The four blocks of a row
// that lie together in a tile of scales are those of four neighbouring threads,
// whose reads and writes join.
//
// Where a tile has several blocks they are neighbouring threads, of a warp or
// of several, which find its largest magnitude together, and each of them
// stores the scale. So that all of them come, a block of the padding reads the
// last one of its row and column, which belongs to the same tile or to none of
// the thread's. A tile of more than 128 rows or 4 blocks is in several atoms of
// scales, not all of which may be in memory.

#include "QuantizeBody.h"
#include "GridMaxima.h"
#include "PlainScales.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

QuantizeBody::QuantizeBody(QuantizationAttr what,
                           const QuantizedStorage &storage,
                           ImplicitLocOpBuilder &b,
                           const QuantizeArguments &arguments)
    : storage(storage), e(b.getLoc(), b), arguments(arguments),
      quantizer(e, what, storage,
                {arguments.rows, Value(), arguments.k, arguments.batch},
                getTarget(b.getInsertionBlock()->getParentOp())) {}

Value QuantizeBody::add(Value x, Value y) {
  return arith::AddIOp::create(e, x, y);
}

Value QuantizeBody::mul(Value x, Value y) {
  return arith::MulIOp::create(e, x, y);
}

Value QuantizeBody::sub(Value x, Value y) {
  return arith::SubIOp::create(e, x, y);
}

Value QuantizeBody::below(Value x, Value y) {
  return arith::CmpIOp::create(e, arith::CmpIPredicate::ult, x, y);
}

Value QuantizeBody::wide(Value x) {
  return arith::ExtUIOp::create(e, e.getI64Type(), x);
}

Value QuantizeBody::wide(int64_t x) {
  return arith::ConstantIntOp::create(e, e.getI64Type(), x);
}

Value QuantizeBody::i8(Value x) {
  return arith::TruncIOp::create(e, e.getI8Type(), x);
}

Value QuantizeBody::number(Value index) {
  return arith::IndexCastUIOp::create(e, e.getI32Type(), index);
}

Value QuantizeBody::ctaNumber() {
  return cta ? cta : number(gpu::BlockIdOp::create(e, gpu::Dimension::x));
}

Value QuantizeBody::threadNumber() {
  Value own = ctaNumber();
  Value thread = number(gpu::ThreadIdOp::create(e, gpu::Dimension::x));
  return add(mul(own, e.i32(threads())), thread);
}

/// Whether a thread has the number of its byte, which the four blocks of a row
/// do that lie together.
bool QuantizeBody::followsBytes() const {
  return storage.scale && storage.rowTile == 1 &&
         storage.tileBlocks <= hw::kAtomScales;
}

QuantizeBody::Digit QuantizeBody::digit(hw::Dim source, int64_t divisor,
                                        AffineExpr extent) {
  Digit digit;
  digit.term.source = source;
  digit.term.divisor = uint64_t(divisor);
  digit.extent = extent;
  return digit;
}

SmallVector<QuantizeBody::Digit> QuantizeBody::tileDigits() const {
  // What has a scale for all of a matrix is spread as if each block had one.
  int64_t rows = std::max<int64_t>(storage.rowTile, 1),
          blocks = std::max<int64_t>(storage.tileBlocks, 1);
  int64_t unitRows = std::max<int64_t>(rows, hw::kAtomRows);
  int64_t unitBlocks = std::max<int64_t>(blocks, hw::kAtomScales);
  MLIRContext *context = storage.k.getContext();
  SmallVector<Digit> list;
  for (auto [source, divisor, extent] :
       {std::tuple(hw::Dim::Block, int64_t(1), blocks),
        {hw::Dim::Row, 1, rows},
        {hw::Dim::Block, blocks, unitBlocks / blocks},
        {hw::Dim::Row, rows, unitRows / rows}})
    if (extent > 1)
      list.push_back(
          digit(source, divisor, getAffineConstantExpr(extent, context)));
  list.push_back(digit(hw::Dim::Block, unitBlocks,
                       storage.k.ceilDiv(storage.block * unitBlocks)));
  list.push_back(digit(hw::Dim::Row, unitRows, storage.rows.ceilDiv(unitRows)));
  return list;
}

static bool isOf(const QuantizeBody::Digit &digit, hw::Dim source,
                 int64_t least) {
  auto extent = dyn_cast<AffineConstantExpr>(digit.extent);
  return digit.term.source == source && digit.term.divisor == 1 && extent &&
         extent.getValue() >= least;
}

/// Warps that have whole tiles of 8 to 32 rows read and write two sectors of
/// each row at a time, and bytes of scales that are far apart: an H100 took 1.6
/// times as long as for rows. So they have the four blocks of an atom, if the
/// layout puts these side by side.
TileOrder QuantizeBody::order() const {
  constexpr int64_t kRowsOfWarp = hw::kWarpSize / hw::kAtomScales;
  if (!storage.scale || storage.tileBlocks != 1 ||
      storage.rowTile < kRowsOfWarp || storage.rowTile > hw::kWarpSize)
    return TileOrder::Together;
  SmallVector<Digit> list(llvm::reverse(storage.scales.digits));
  bool fits = isOf(list.front(), hw::Dim::Block, hw::kAtomScales) &&
              !isOf(list.front(), hw::Dim::Block, hw::kAtomScales + 1) &&
              llvm::any_of(list, [](const Digit &digit) {
                return isOf(digit, hw::Dim::Row, hw::kWarpSize);
              });
  return fits ? TileOrder::BlocksFirst : TileOrder::Together;
}

/// Those of the byte, but before them neighbouring rows where tiles have
/// several: of an atom of scales, which are a CTA, where those of a warp are
/// not all.
SmallVector<QuantizeBody::Digit> QuantizeBody::digits() const {
  if (!storage.scale || storage.rowTile > hw::kAtomRows ||
      (storage.tileBlocks > 1 && !followsBytes()))
    return tileDigits();
  SmallVector<Digit> list(llvm::reverse(storage.scales.digits));
  if (storage.rowTile > hw::kWarpSize)
    return withRowsFirst(std::move(list));
  if (order() == TileOrder::BlocksFirst) {
    auto *row = llvm::find_if(list, [](const Digit &digit) {
      return isOf(digit, hw::Dim::Row, hw::kWarpSize);
    });
    std::rotate(list.begin() + 1, row, row + 1);
    return list;
  }
  if (storage.rowTile > 1)
    std::stable_partition(list.begin(), list.end(), [](const Digit &digit) {
      return digit.term.source == hw::Dim::Row && digit.term.divisor == 1;
    });
  return list;
}

SmallVector<QuantizeBody::Digit>
QuantizeBody::withRowsFirst(SmallVector<Digit> list) {
  auto inAtom = [](const Digit &digit) {
    return digit.term.source == hw::Dim::Row && digit.term.modulus;
  };
  auto end = std::stable_partition(list.begin(), list.end(), inAtom);
  std::sort(list.begin(), end, [](const Digit &x, const Digit &y) {
    return x.term.divisor < y.term.divisor;
  });
  return list;
}

BlockPlace QuantizeBody::placeBy(ArrayRef<Digit> digits, Value number) {
  BlockPlace place{number, e.i32(0), e.i32(0)};
  for (const Digit &digit : digits) {
    Value extent = extentOf(digit.extent, e.getI32Type());
    Value value = arith::RemUIOp::create(e, place.matrix, extent);
    place.matrix = arith::DivUIOp::create(e, place.matrix, extent);
    Value &source = digit.term.source == hw::Dim::Row ? place.row : place.block;
    source = add(source, mul(value, e.i32(int64_t(digit.term.divisor))));
  }
  return place;
}

BlockPlace QuantizeBody::nearestInside(const BlockPlace &place) {
  Value blocks = extentOf(storage.k.floorDiv(storage.block), e.getI32Type());
  auto bounded = [&](Value x, Value count) -> Value {
    return arith::MinUIOp::create(e, x, add(count, e.i32(-1)));
  };
  return {place.matrix, bounded(place.row, arguments.rows),
          bounded(place.block, blocks)};
}

Value QuantizeBody::isInside(const BlockPlace &place) {
  Value blocks = extentOf(storage.k.floorDiv(storage.block), e.getI32Type());
  return arith::AndIOp::create(e, below(place.row, arguments.rows),
                               below(place.block, blocks));
}

Value QuantizeBody::isInMemory(const BlockPlace &place) {
  constexpr int64_t kTogether = hw::kAtomScales;
  AffineExpr blocks = storage.k.floorDiv(storage.block);
  return below(place.block,
               extentOf(blocks.ceilDiv(kTogether) * kTogether, e.getI32Type()));
}

/// Whether memory has a byte for the scale; null if it has one for each thread.
Value QuantizeBody::isStored(const BlockPlace &place) {
  Value rows, blocks;
  if (storage.rowTile > hw::kAtomRows)
    rows =
        below(place.row, extentOf(storage.rows.ceilDiv(int64_t(hw::kAtomRows)) *
                                      int64_t(hw::kAtomRows),
                                  e.getI32Type()));
  if (storage.tileBlocks > hw::kAtomScales)
    blocks = isInMemory(place);
  if (!rows || !blocks)
    return rows ? rows : blocks;
  return arith::AndIOp::create(e, rows, blocks);
}

Value QuantizeBody::firstElement(const BlockPlace &place) {
  Value row =
      add(mul(wide(place.matrix), wide(arguments.rows)), wide(place.row));
  return add(mul(row, wide(arguments.k)),
             mul(wide(place.block), wide(storage.block)));
}

SmallVector<Value> QuantizeBody::load(const BlockPlace &, Value first) {
  Type type = cast<GlobalType>(arguments.x.getType()).getElementType();
  int64_t count = kAccessBytes * 8 / type.getIntOrFloatBitWidth();
  SmallVector<Value> values;
  pieces.clear();
  for (int64_t i = 0; i < storage.block; i += count) {
    Value loaded = LoadRowOp::create(
        e, VectorType::get({count}, type), arguments.x, add(first, wide(i)),
        e.i32(count), /*stride=*/Value(), /*aligned=*/true);
    pieces.push_back(loaded);
    for (int64_t k = 0; k < count; ++k)
      values.push_back(vector::ExtractOp::create(e, loaded, k));
  }
  return values;
}

SmallVector<Value> QuantizeBody::loadColumn(const BlockPlace &place) {
  Type type = cast<GlobalType>(arguments.x.getType()).getElementType();
  Value pitch = wide(arguments.rows);
  Value row = add(mul(wide(place.matrix), wide(arguments.k)),
                  mul(wide(place.block), wide(storage.block)));
  Value loaded = LoadRowOp::create(
      e, VectorType::get({storage.block}, type), arguments.x,
      add(mul(row, pitch), wide(place.row)), e.i32(storage.block), pitch,
      /*aligned=*/true);
  SmallVector<Value> values;
  for (int64_t i = 0; i < storage.block; ++i)
    values.push_back(vector::ExtractOp::create(e, loaded, i));
  return values;
}

/// The tensor scale of a matrix, without a sign; null if there is none.
Value QuantizeBody::loadFactor(Value matrix) {
  if (factorOfAll)
    return factorOfAll;
  if (arguments.findsTensorScale()) {
    bool isFixed = quantizer.needsNoFactor();
    return quantizer.chooseFactor(
        isFixed ? Value()
                : GridMaxima::largestOf(e, arguments.workspace, wide(matrix)));
  }
  if (!arguments.tensorScale || isScaleGiven())
    return {};
  return quantizer.loadFactor(arguments.tensorScale, wide(matrix));
}

void QuantizeBody::findFactor(Value matrix) {
  factorOfAll = loadFactor(matrix);
  if (factorOfAll)
    quantizer.invertFactor(factorOfAll);
}

SmallVector<Value> QuantizeBody::widened(ArrayRef<Value> loaded) {
  return llvm::map_to_vector(loaded,
                             [&](Value number) { return e.widen(number); });
}

/// What all lanes of a warp have to find out together.
QuantizeBody::Known QuantizeBody::findTogether(const BlockPlace &place) {
  Known known;
  if (storage.coversMatrix() && !isScaleGiven())
    known.largest =
        GridMaxima::largestOf(e, arguments.workspace, wide(place.matrix));
  if (!isTiled())
    return known;
  BlockPlace nearest = nearestInside(place);
  known.loaded = load(nearest, firstElement(nearest));
  known.largest = quantizer.largestOfTile(quantizer.largestOf(known.loaded));
  if (!quantizer.comparesErrors())
    return known;
  known.values = widened(known.loaded);
  known.factor = loadFactor(place.matrix);
  known.scaling = quantizer.scalingOf(known.values, known.largest, known.factor,
                                      isInside(place));
  return known;
}

BlockScaling QuantizeBody::scalingOf(const BlockPlace &place,
                                     const Known &known, ArrayRef<Value> loaded,
                                     ArrayRef<Value> values, Value factor) {
  if (known.scaling)
    return *known.scaling;
  if (isScaleGiven())
    return quantizer.givenScaling(
        quantizer.loadFactor(arguments.tensorScale, wide(place.matrix)));
  Value largest = known.largest ? known.largest : quantizer.largestOf(loaded);
  return quantizer.scalingOf(values, largest, factor);
}

/// The code of its scale. What is not known yet is found out here. The thread
/// with the first block of a matrix writes the tensor scale down.
Value QuantizeBody::quantizeBlock(const BlockPlace &place, const Known &known) {
  Value first = firstElement(place);
  SmallVector<Value> loaded(known.loaded), values(known.values);
  if (loaded.empty())
    loaded = load(place, first);
  if (values.empty())
    values = widened(loaded);
  Value factor = known.factor ? known.factor : loadFactor(place.matrix);
  if (factor)
    quantizer.storeFactor(arguments.storedTensorScale, place, factor);
  BlockScaling scaling = scalingOf(place, known, loaded, values, factor);
  storeCodes(place, quantizer.encode(values, scaling, first));
  return scaling.code;
}

void QuantizeBody::storeCodes(const BlockPlace &place, ArrayRef<Value> words) {
  quantizer.storeData(arguments.data, place, words);
}

void QuantizeBody::storeNumber(Value number, Value code) {
  StoreRowOp::create(e, plainScaleOf(e, arguments.scales, code),
                     arguments.scales, number, e.i32(1), /*stride=*/Value(),
                     /*aligned=*/true);
}

void QuantizeBody::storePlain(const BlockPlace &place, Value code) {
  if (storage.coversMatrix()) {
    auto condition = scf::IfOp::create(e, quantizer.isFirstBlock(place));
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(condition.thenBlock());
    return storeNumber(quantizer.floatNumber(place), code);
  }
  auto isFirst = [&](Value x, int64_t extent) -> Value {
    return arith::CmpIOp::create(e, arith::CmpIPredicate::eq,
                                 arith::RemUIOp::create(e, x, e.i32(extent)),
                                 e.i32(0));
  };
  Value stores = isInside(place);
  if (storage.rowTile > 1)
    stores =
        arith::AndIOp::create(e, stores, isFirst(place.row, storage.rowTile));
  if (storage.tileBlocks > 1)
    stores = arith::AndIOp::create(e, stores,
                                   isFirst(place.block, storage.tileBlocks));
  auto condition = scf::IfOp::create(e, stores);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  storeNumber(quantizer.floatNumber(place), code);
}

void QuantizeBody::storeScale(const BlockPlace &place, Value number,
                              Value code) {
  if (!storage.scale)
    return storePlain(place, code);
  OpBuilder::InsertionGuard guard(e);
  if (Value stored = isStored(place)) {
    auto condition = scf::IfOp::create(e, stored);
    e.setInsertionPointToStart(condition.thenBlock());
  }
  // Bytes are counted in 32 bits, as threads are, of which each has one.
  Value byte =
      followsBytes() ? number : quantizer.scaleOffset(place, e.getI32Type());
  quantizer.storeByte(arguments.scales, wide(byte), i8(code));
}

Value QuantizeBody::ifInside(const BlockPlace &place,
                             function_ref<Value()> quantizes) {
  auto condition = scf::IfOp::create(e, TypeRange{e.getI32Type()},
                                     isInside(place), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  scf::YieldOp::create(e, quantizes());
  e.setInsertionPointToStart(condition.elseBlock());
  scf::YieldOp::create(e, e.i32(0));
  return condition.getResult(0);
}

Value QuantizeBody::quantize(const BlockPlace &place) {
  Known known = findTogether(place);
  return ifInside(place, [&] { return quantizeBlock(place, known); });
}

QuantizeBody::QuantizedBlocks
QuantizeBody::quantizeLoaded(const BlockPlace &place,
                             ArrayRef<LoadedBlock> blocks) {
  constexpr int64_t kScaleBits = 8;
  Value factor = loadFactor(place.matrix);
  if (factor)
    quantizer.storeFactor(arguments.storedTensorScale, place, factor);
  QuantizedBlocks result;
  SmallVector<Value> codes;
  for (const LoadedBlock &block : blocks) {
    SmallVector<Value> values = widened(block.loaded);
    BlockScaling scaling =
        quantizer.scalingOf(values, quantizer.largestOf(block.loaded), factor);
    result.words.push_back(quantizer.encode(values, scaling, block.first));
    codes.push_back(scaling.code);
  }
  for (auto [i, block] : llvm::enumerate(blocks)) {
    Value code = codes[i];
    if (block.isThere)
      code = select(e, block.isThere, code, e.i32(0));
    result.scales =
        i == 0
            ? code
            : arith::OrIOp::create(e, result.scales,
                                   arith::ShLIOp::create(
                                       e, code, e.i32(int64_t(i) * kScaleBits)))
                  .getResult();
  }
  return result;
}

Value QuantizeBody::quantizeTwoInside(const BlockPlace &place, Value hasNext) {
  BlockPlace next = place;
  next.block = add(place.block, e.i32(1));
  // What is outside is read as the first one, and not stored.
  if (hasNext)
    next.block = select(e, hasNext, next.block, place.block);
  Value first = firstElement(place);
  Value second = add(first, wide(storage.block));
  LoadedBlock one{load(place, first), first, Value()};
  SmallVector<Value> both = pieces;
  LoadedBlock other{load(next, second), second, hasNext};
  both.append(pieces);
  pieces = both;
  QuantizedBlocks quantized = quantizeLoaded(place, {one, other});
  SmallVector<Value> words = quantized.words[0];
  words.append(quantized.words[1]);
  storeCodes(place, words);
  return quantized.scales;
}

Value QuantizeBody::quantizeTwo(const BlockPlace &place, Value hasNext) {
  return ifInside(place, [&] { return quantizeTwoInside(place, hasNext); });
}

void QuantizeBody::build() {
  quantizer.setOrder(order());
  if (!arguments.workspace)
    return buildCta();
  GridMaxima maxima(e, arguments, threads());
  maxima.find(quantizer);
  AffineExpr all = threadsToQuantize(storage);
  maxima.forEachCta(extentOf(all.ceilDiv(threads()), e.getI32Type()),
                    usesShared(), [&](Value number) {
                      cta = number;
                      buildCta();
                    });
  maxima.leave();
}

void QuantizeBody::buildCta() {
  Value number = threadNumber();
  // It may lie in the padding.
  BlockPlace place = placeBy(digits(), number);
  storeScale(place, number, quantize(place));
}
