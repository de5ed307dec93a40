//===- DequantizeBody.cpp - the body of a kernel that dequantises ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each thread owns some elements of one block, neighbouring threads the next
// ones of the row, so that the reads and writes of a warp join. A thread writes
// 16 bytes, where codes are no less than a word: each store of a warp has whole
// sectors of memory then. With two stores of half a sector each an H100 writes
// little more than half as fast (docs/hardware.md).
//
// A product of finite numbers stays finite: where it may not be, it is bounded,
// but for a factor that is infinite itself, and so does a difference.

#include "DequantizeSource.h"
#include "NarrowNumbers.h"
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace blockscale;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

class Body : StorageAccess {
public:
  Body(DequantizeOp op, const QuantizedStorage &storage, Emitter &emitter,
       const ScaledOperandArguments &arguments)
      : StorageAccess(emitter, storage,
                      {arguments.sizes.rows, Value(), arguments.sizes.k,
                       arguments.sizes.batch}),
        arguments(arguments), type(op.getInput().getType()),
        element(type.getElementType()), result(op.getType().getElementType()),
        count(elementsPerThread(storage, result)) {}

  void build();

private:
  /// The elements of one thread, in a row.
  struct Piece {
    BlockPlace place;
    /// Its number in the row, and that of its first element.
    Value number, first;
  };

  Piece pieceOf(Value number);
  SmallVector<Value> wordsOf(const Piece &piece);
  Value scaleOf(const Piece &piece);
  Value zeroOf(const Piece &piece);
  double largestProduct() const;
  Value isInfinite(Value x);
  Value boundUnless(Value number, Value bound);
  Value bounded(Value product, Value bound);
  SmallVector<Value> valuesOf(const Piece &piece);
  void store(const Piece &piece, ArrayRef<Value> values);

  int64_t bits() const { return storage.data->globalBits; }
  /// Infinite elements stay what they are.
  bool hasInfinity() const { return isa<Float8E5M2Type>(element); }

  const ScaledOperandArguments &arguments;
  ScaledTensorType type;
  Type element, result;
  int64_t count;
};

} // namespace

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Body::Piece Body::pieceOf(Value number) {
  Value pieces = extentOf(storage.k.floorDiv(count), e.getI32Type());
  Value piece = arith::RemUIOp::create(e, number, pieces);
  Value line = arith::DivUIOp::create(e, number, pieces);
  Value row = arith::RemUIOp::create(e, line, arguments.sizes.rows);
  Value matrix = arith::DivUIOp::create(e, line, arguments.sizes.rows);
  Value first = mul(piece, e.i32(count));
  Value block = arith::DivUIOp::create(e, first, e.i32(storage.block));
  return {{matrix, row, block}, piece, first};
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

SmallVector<Value> Body::wordsOf(const Piece &piece) {
  int64_t bytes = count * bits() / 8;
  Value offset =
      add(lineOffset(piece.place), wide(mul(piece.number, e.i32(bytes))));
  return loadWords(arguments.data, offset, bytes);
}

/// The scale of the block as f32.
Value Body::scaleOf(const Piece &piece) {
  if (storage.scale)
    return scaleOfByte(
        e,
        loadNumber(arguments.scales, scaleOffset(piece.place, e.getI64Type())),
        *storage.scale);
  Value scale = loadNumber(arguments.scales, floatNumber(piece.place));
  return storage.hasPowers() ? scaleOfByte(e, scale, ElementFormat::UE8M0)
                             : e.widen(scale);
}

Value Body::isInfinite(Value x) {
  Value magnitude = math::AbsFOp::create(e, x);
  return arith::CmpFOp::create(e, arith::CmpFPredicate::OEQ, magnitude,
                               e.f32(kInfinity));
}

/// `product` between -bound and bound; a NaN stays one.
Value Body::bounded(Value product, Value bound) {
  Value low = arith::NegFOp::create(e, bound);
  product = arith::MinimumFOp::create(e, product, bound);
  return arith::MaximumFOp::create(e, product, low);
}

/// The zero point of the block as f32.
Value Body::zeroOf(const Piece &piece) {
  Value zero = loadNumber(arguments.zeros, floatNumber(piece.place));
  if (isa<FloatType>(zero.getType()))
    return e.widen(zero);
  if (zero.getType().getIntOrFloatBitWidth() < 32)
    zero = arith::ExtSIOp::create(e, e.getI32Type(), zero);
  return arith::SIToFPOp::create(e, e.getF32Type(), zero);
}

/// The most that an element times its scale is.
double Body::largestProduct() const {
  double element = largestElement(type);
  const ScaleSpec &spec = type.getSpec().getValue();
  if (spec.hasIntegerZero())
    element += std::ldexp(1.0, int(spec.zero->bits()) - 1);
  return element * (storage.scale ? double(formatInfo(*storage.scale).largest)
                                  : double(largestValue(storage.plainScale)));
}

/// `bound`, or none where the number that it is a bound because of is infinite.
Value Body::boundUnless(Value number, Value bound) {
  return select(e, isInfinite(number), e.f32(kInfinity), bound);
}

/// q * s * t, each product rounded to f32, not yet to the result. Zero points
/// come off the element, or off its product with the scale.
SmallVector<Value> Body::valuesOf(const Piece &piece) {
  Value factor, zero, scale = scaleOf(piece);
  if (arguments.tensorScale)
    factor = loadNumber(arguments.tensorScale, wide(piece.place.matrix));
  if (arguments.zeros)
    zero = zeroOf(piece);
  bool isReal = zero && !type.getSpec().getValue().hasIntegerZero();
  double largest = largestProduct();
  double most = std::min<double>(largestValue(result), kLargest);
  Value bound = e.f32(float(most)), first = e.f32(kLargest);
  if (factor)
    bound = boundUnless(factor, bound);
  // Scales of other formats are no infinities.
  if (!storage.scale && !storage.hasPowers())
    bound = boundUnless(scale, bound);
  if (isReal) {
    first = boundUnless(scale, first);
    bound = boundUnless(zero, bound);
  }
  SmallVector<Value> values =
      decodeWords(e, wordsOf(piece), element, bits(), count);
  for (Value &value : values) {
    if (zero && !isReal)
      value = arith::SubFOp::create(e, value, zero);
    Value product = arith::MulFOp::create(e, value, scale), infinite;
    if (hasInfinity())
      infinite = isInfinite(value);
    auto keepInfinity = [&](Value finite) {
      return infinite ? select(e, infinite, product, finite) : finite;
    };
    if ((factor || isReal) && largest > kLargest)
      product = keepInfinity(bounded(product, first));
    if (factor)
      product = arith::MulFOp::create(e, product, factor);
    if (isReal)
      product = arith::SubFOp::create(e, product, zero);
    if (factor || isReal || largest > most)
      product = keepInfinity(bounded(product, bound));
    value = product;
  }
  return values;
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

void Body::store(const Piece &piece, ArrayRef<Value> values) {
  int64_t access = kAccessBytes * 8 / result.getIntOrFloatBitWidth();
  Value row = add(mul(wide(piece.place.matrix), wide(arguments.sizes.rows)),
                  wide(piece.place.row));
  Value first = add(mul(row, wide(arguments.sizes.k)), wide(piece.first));
  for (int64_t i = 0; i < count; i += access) {
    auto type = VectorType::get({access}, e.getF32Type());
    Value part =
        vector::FromElementsOp::create(e, type, values.slice(i, access));
    if (!result.isF32())
      part = arith::TruncFOp::create(e, type.clone(result), part);
    StoreRowOp::create(e, part, arguments.result, add(first, wide(i)),
                       e.i32(access), /*stride=*/Value(), /*aligned=*/true);
  }
}

void Body::build() {
  Piece piece = pieceOf(threadNumber(e));
  Value isInside = arith::CmpIOp::create(
      e, arith::CmpIPredicate::ult, piece.place.matrix, arguments.sizes.batch);
  auto condition = scf::IfOp::create(e, isInside);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  store(piece, valuesOf(piece));
}

void blockscale::buildDequantizeBody(DequantizeOp op,
                                     const QuantizedStorage &storage,
                                     ImplicitLocOpBuilder &b,
                                     const ScaledOperandArguments &arguments) {
  Emitter e(b.getLoc(), b);
  Body(op, storage, e, arguments).build();
}
