//===- DequantizeBody.cpp - the body of a kernel that dequantises ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each thread owns some elements of one block, neighbouring threads the next
// ones of the row, so that the reads and writes of a warp join. A thread writes
// a whole sector of memory or more.
//
// A product of finite numbers stays finite: where it may not be, it is bounded,
// but for a factor that is infinite itself.

#include "DequantizeSource.h"
#include "NarrowNumbers.h"
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

class Body : StorageAccess {
public:
  Body(DequantizeOp op, const QuantizedStorage &storage, Emitter &emitter,
       const DequantizeArguments &arguments)
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
  Value isInfinite(Value x);
  Value bounded(Value product, Value bound);
  SmallVector<Value> valuesOf(const Piece &piece);
  void store(const Piece &piece, ArrayRef<Value> values);

  int64_t bits() const { return storage.data->globalBits; }
  /// Infinite elements stay what they are.
  bool hasInfinity() const { return isa<Float8E5M2Type>(element); }

  const DequantizeArguments &arguments;
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
  if (!storage.scale)
    return loadNumber(arguments.scales, floatNumber(piece.place));
  Value byte =
      loadNumber(arguments.scales, scaleOffset(piece.place, e.getI64Type()));
  return scaleOfByte(e, byte, *storage.scale);
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

/// q * s * t, each product rounded to f32, not yet to the result.
SmallVector<Value> Body::valuesOf(const Piece &piece) {
  Value factor, scale = scaleOf(piece);
  if (arguments.tensorScale)
    factor = loadNumber(arguments.tensorScale, wide(piece.place.matrix));
  double largest =
      double(largestElement(type)) *
      (storage.scale ? double(formatInfo(*storage.scale).largest) : kLargest);
  double most = std::min<double>(largestValue(result), kLargest);
  Value bound = e.f32(float(most));
  if (factor)
    bound = select(e, isInfinite(factor), e.f32(kInfinity), bound);
  // Scales of other formats are no infinities.
  if (!storage.scale)
    bound = select(e, isInfinite(scale), e.f32(kInfinity), bound);
  SmallVector<Value> values =
      decodeWords(e, wordsOf(piece), element, bits(), count);
  for (Value &value : values) {
    Value product = arith::MulFOp::create(e, value, scale), infinite;
    if (hasInfinity())
      infinite = isInfinite(value);
    auto keepInfinity = [&](Value finite) {
      return infinite ? select(e, infinite, product, finite) : finite;
    };
    if (factor) {
      if (largest > kLargest)
        product = keepInfinity(bounded(product, e.f32(kLargest)));
      product = arith::MulFOp::create(e, product, factor);
    }
    if (factor || largest > most)
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
                                     const DequantizeArguments &arguments) {
  Emitter e(b.getLoc(), b);
  Body(op, storage, e, arguments).build();
}
