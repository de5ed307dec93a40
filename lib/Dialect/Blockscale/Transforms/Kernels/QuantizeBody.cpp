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
// Where a tile has several rows they are neighbouring lanes of a warp, which
// find its largest magnitude together, and each of them stores the scale. So
// that all lanes come, a row of the padding reads the last row, which belongs
// to the same tile or to none of the lane's.

#include "BlockQuantizer.h"
#include "QuantizeSource.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

namespace {

/// The widest access of one thread in bytes.
constexpr int64_t kAccessBytes = 16;

using Place = BlockPlace;
using Digit = hw::StorageLayout<AffineExpr>::Digit;

/// What is known of a block before its thread is alone; null or empty what is
/// not.
struct Known {
  SmallVector<Value> values;
  Value largest, factor;
  std::optional<BlockScaling> scaling;
};

class Body {
public:
  Body(QuantizeOp op, const QuantizedStorage &storage, ImplicitLocOpBuilder &b,
       const QuantizeArguments &arguments)
      : storage(storage), e(b.getLoc(), b), arguments(arguments),
        quantizer(e, quantizationOf(op, /*source=*/""), storage,
                  {arguments.rows, Value(), arguments.k, arguments.batch}) {}

  void build();

private:
  Value extentOf(AffineExpr expression, Type type) {
    return quantizer.extentOf(expression, type);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(e, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(e, x, y); }
  Value below(Value x, Value y) {
    return arith::CmpIOp::create(e, arith::CmpIPredicate::ult, x, y);
  }
  Value wide(Value x) { return arith::ExtUIOp::create(e, e.getI64Type(), x); }
  Value wide(int64_t x) {
    return arith::ConstantIntOp::create(e, e.getI64Type(), x);
  }
  Value i8(Value x) { return arith::TruncIOp::create(e, e.getI8Type(), x); }

  Value threadNumber();
  bool isTiled() const { return storage.rowTile > 1; }
  SmallVector<Digit> digits() const;
  Place placeOf(Value number);
  Place nearestInside(const Place &place);
  Value isInside(const Place &place);
  /// The number of the first element of the block, i64.
  Value firstElement(const Place &place);
  SmallVector<Value> load(Value first);
  Value loadFactor(const Place &place);
  Known findTogether(const Place &place);
  Value quantizeBlock(const Place &place, const Known &known);

  const QuantizedStorage &storage;
  Emitter e;
  const QuantizeArguments &arguments;
  BlockQuantizer quantizer;
};

} // namespace

Value Body::threadNumber() {
  auto number = [&](Value index) -> Value {
    return arith::IndexCastUIOp::create(e, e.getI32Type(), index);
  };
  Value cta = number(gpu::BlockIdOp::create(e, gpu::Dimension::x));
  Value thread = number(gpu::ThreadIdOp::create(e, gpu::Dimension::x));
  return add(mul(cta, e.i32(kQuantizeThreads)), thread);
}

/// The digits of a thread's number, the fastest first: those of the byte, but
/// before them neighbouring rows where tiles have several.
SmallVector<Digit> Body::digits() const {
  SmallVector<Digit> list(llvm::reverse(storage.scales.digits));
  if (isTiled())
    std::stable_partition(list.begin(), list.end(), [](const Digit &digit) {
      return digit.term.source == hw::Dim::Row && digit.term.divisor == 1;
    });
  return list;
}

/// The block of thread `number`; it may lie in the padding.
Place Body::placeOf(Value number) {
  Place place{number, e.i32(0), e.i32(0)};
  for (const Digit &digit : digits()) {
    Value extent = extentOf(digit.extent, e.getI32Type());
    Value value = arith::RemUIOp::create(e, place.matrix, extent);
    place.matrix = arith::DivUIOp::create(e, place.matrix, extent);
    Value &source = digit.term.source == hw::Dim::Row ? place.row : place.block;
    source = add(source, mul(value, e.i32(int64_t(digit.term.divisor))));
  }
  return place;
}

Place Body::nearestInside(const Place &place) {
  Value blocks = extentOf(storage.k.floorDiv(storage.block), e.getI32Type());
  auto bounded = [&](Value x, Value count) -> Value {
    return arith::MinUIOp::create(e, x, add(count, e.i32(-1)));
  };
  return {place.matrix, bounded(place.row, arguments.rows),
          bounded(place.block, blocks)};
}

Value Body::isInside(const Place &place) {
  Value blocks = extentOf(storage.k.floorDiv(storage.block), e.getI32Type());
  return arith::AndIOp::create(e, below(place.row, arguments.rows),
                               below(place.block, blocks));
}

Value Body::firstElement(const Place &place) {
  Value row =
      add(mul(wide(place.matrix), wide(arguments.rows)), wide(place.row));
  return add(mul(row, wide(arguments.k)),
             mul(wide(place.block), wide(storage.block)));
}

/// The elements of a block as f32.
SmallVector<Value> Body::load(Value first) {
  Type type = cast<GlobalType>(arguments.x.getType()).getElementType();
  int64_t count = kAccessBytes * 8 / type.getIntOrFloatBitWidth();
  SmallVector<Value> values;
  for (int64_t i = 0; i < storage.block; i += count) {
    Value loaded = LoadRowOp::create(
        e, VectorType::get({count}, type), arguments.x, add(first, wide(i)),
        e.i32(count), /*stride=*/Value(), /*aligned=*/true);
    for (int64_t k = 0; k < count; ++k)
      values.push_back(e.widen(vector::ExtractOp::create(e, loaded, k)));
  }
  return values;
}

/// The tensor scale of the block's matrix, without a sign; null if there is
/// none.
Value Body::loadFactor(const Place &place) {
  if (!arguments.tensorScale)
    return {};
  return quantizer.loadFactor(arguments.tensorScale, wide(place.matrix));
}

/// What all lanes of a warp have to find out together.
Known Body::findTogether(const Place &place) {
  Known known;
  if (!isTiled())
    return known;
  known.values = load(firstElement(nearestInside(place)));
  known.largest = quantizer.largestOfTile(quantizer.largestOf(known.values));
  if (!quantizer.comparesErrors())
    return known;
  known.factor = loadFactor(place);
  known.scaling = quantizer.scalingOf(known.values, known.largest, known.factor,
                                      isInside(place));
  return known;
}

/// The code of its scale. What is not known yet is found out here. The thread
/// with the first block of a matrix writes the tensor scale down.
Value Body::quantizeBlock(const Place &place, const Known &known) {
  Value first = firstElement(place);
  SmallVector<Value> values(known.values);
  if (values.empty())
    values = load(first);
  Value factor = known.factor ? known.factor : loadFactor(place);
  if (factor)
    quantizer.storeFactor(arguments.storedTensorScale, place, factor);
  BlockScaling scaling =
      known.scaling
          ? *known.scaling
          : quantizer.scalingOf(values,
                                known.largest ? known.largest
                                              : quantizer.largestOf(values),
                                factor);
  quantizer.storeData(arguments.data, place,
                      quantizer.encode(values, scaling.inverse, first));
  return scaling.code;
}

void Body::build() {
  Value number = threadNumber();
  Place place = placeOf(number);
  Known known = findTogether(place);
  auto condition = scf::IfOp::create(e, TypeRange{e.getI32Type()},
                                     isInside(place), /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(condition.thenBlock());
    scf::YieldOp::create(e, quantizeBlock(place, known));
    e.setInsertionPointToStart(condition.elseBlock());
    scf::YieldOp::create(e, e.i32(0));
  }
  // Threads, of which each byte has one, are counted in 32 bits.
  Value byte =
      isTiled() ? quantizer.scaleOffset(place, e.getI32Type()) : number;
  quantizer.storeByte(arguments.scales, wide(byte), i8(condition.getResult(0)));
}

void blockscale::buildQuantizeBody(QuantizeOp op,
                                   const QuantizedStorage &storage,
                                   ImplicitLocOpBuilder &b,
                                   const QuantizeArguments &arguments) {
  Body(op, storage, b, arguments).build();
}
