//===- StablehloConvert.cpp - numbers from one type to another ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StablehloConvert.h"
#include "Stablehlo.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/Builders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

static constexpr unsigned kNarrowBits = 8;

Type importer::elementOf(Value value) { return getElementTypeOrSelf(value); }

static bool isNarrow(Type element) {
  return isa<FloatType>(element) &&
         element.getIntOrFloatBitWidth() <= kNarrowBits;
}

//===----------------------------------------------------------------------===//
// Numbers of one value
//===----------------------------------------------------------------------===//

Value importer::splatInt(ImplicitLocOpBuilder &b, Value like, Type element,
                         int64_t value) {
  auto type = cast<RankedTensorType>(like.getType()).clone(element);
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(cast<ShapedType>(type),
                                b.getIntegerAttr(element, value)));
}

Value importer::splatFloat(ImplicitLocOpBuilder &b, Value like, double value) {
  auto type = cast<RankedTensorType>(like.getType());
  TypedAttr number = b.getFloatAttr(type.getElementType(), value);
  if (type.hasStaticShape())
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, number));
  SmallVector<Value> unknown;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      unknown.push_back(tensor::DimOp::create(b, like, i));
  return tensor::SplatOp::create(b, arith::ConstantOp::create(b, number), type,
                                 unknown);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The shape of a matrix with as many elements.
static SmallVector<int64_t> matrixShape(RankedTensorType type) {
  if (type.getRank() == 0)
    return {1, 1};
  int64_t columns = type.getShape().back(), rows = 1;
  for (int64_t size : type.getShape().drop_back())
    rows *= size;
  return {rows, columns};
}

/// f32 to powers of two as XLA and ml_dtypes do it: to nearest, ties to the
/// larger one; all between the two least to the second; what is 0, negative or
/// too large is no number.
static Value toPowersOfTwo(ImplicitLocOpBuilder &b, Value value) {
  Type i32 = b.getI32Type();
  auto type = cast<RankedTensorType>(value.getType());
  auto number = [&](int64_t of) { return splatInt(b, value, i32, of); };
  auto compare = [&](arith::CmpIPredicate how, Value x, int64_t y) -> Value {
    return arith::CmpIOp::create(b, how, x, number(y));
  };
  constexpr int64_t kFraction = 23, kHalf = 0x400000, kLeastNormal = 0x800000,
                    kNaN = 0xff;
  Value bits = arith::BitcastOp::create(b, type.clone(i32), value);
  Value sum = arith::AddIOp::create(b, bits, number(kHalf));
  Value normal = arith::ShRUIOp::create(b, sum, number(kFraction));
  Value low = arith::ExtUIOp::create(
      b, type.clone(i32), compare(arith::CmpIPredicate::ugt, bits, kHalf));
  Value code = arith::SelectOp::create(
      b, compare(arith::CmpIPredicate::ult, bits, kLeastNormal), low, normal);
  // As a number without a sign a negative one is larger than all others.
  code = arith::MinUIOp::create(b, code, number(kNaN));
  code = arith::SelectOp::create(b, compare(arith::CmpIPredicate::eq, bits, 0),
                                 number(kNaN), code);
  Value byte = arith::TruncIOp::create(b, type.clone(b.getI8Type()), code);
  return arith::BitcastOp::create(
      b, type.clone(Float8E8M0FNUType::get(b.getContext())), byte);
}

/// Powers of two as f32, in which the least is subnormal. (Upstream's expansion
/// of arith.extf makes it 0.)
static Value fromPowersOfTwo(ImplicitLocOpBuilder &b, Value value) {
  Type i32 = b.getI32Type();
  auto type = cast<RankedTensorType>(value.getType());
  auto number = [&](int64_t of) { return splatInt(b, value, i32, of); };
  auto choose = [&](Value code, int64_t special, int64_t as, Value other) {
    Value is = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, code,
                                     number(special));
    return Value(arith::SelectOp::create(b, is, number(as), other));
  };
  constexpr int64_t kFraction = 23, kLeast = 0x400000, kNoNumber = 0xff,
                    kNaN = 0x7fc00000;
  Value byte = arith::BitcastOp::create(b, type.clone(b.getI8Type()), value);
  Value code = arith::ExtUIOp::create(b, type.clone(i32), byte);
  Value bits = arith::ShLIOp::create(b, code, number(kFraction));
  bits = choose(code, 0, kLeast, choose(code, kNoNumber, kNaN, bits));
  return arith::BitcastOp::create(b, type.clone(b.getF32Type()), bits);
}

/// Elements of 8 bits and less as f32.
static Value widenNarrow(ImplicitLocOpBuilder &b, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  if (isa<Float8E8M0FNUType>(element))
    return fromPowersOfTwo(b, value);
  SmallVector<int64_t> shape = matrixShape(type);
  Value matrix = reshape(b, value, shape);
  auto scaled =
      getScaledTensorType([&] { return emitError(b.getLoc()); }, shape, element,
                          "", ScaleLayout::Plain, DataOrder::KMajor);
  Value assembled =
      AssembleOp::create(b, scaled, matrix, Value(), Value(), Value(), Value());
  Value wide = DequantizeOp::create(
      b, RankedTensorType::get(shape, b.getF32Type()), assembled);
  return reshape(b, wide, type.getShape());
}

/// The magnitude from which on a format with a NaN, and no infinity, has none
/// of these; the largest but half a step on.
static std::optional<double> overflowOf(FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  if (!APFloat::semanticsHasNaN(semantics) ||
      APFloat::semanticsHasInf(semantics))
    return std::nullopt;
  APFloat largest = APFloat::getLargest(semantics), below = largest;
  below.next(/*nextDown=*/true);
  return largest.convertToDouble() +
         (largest.convertToDouble() - below.convertToDouble()) / 2;
}

/// `data`, which saturates, of f8E5M2 with infinities for what `value` has
/// beyond the largest element: from half a step on, which is a tie.
static Value withInfinities(ImplicitLocOpBuilder &b, Value data, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  constexpr double kOverflow = 61440;
  constexpr int64_t kInfinity = 0x7c;
  Type i8 = b.getI8Type();
  Value isLarge = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE,
                                        math::AbsFOp::create(b, value),
                                        splatFloat(b, value, kOverflow));
  Value bits = arith::BitcastOp::create(b, type.clone(i8), data);
  Value sign = arith::AndIOp::create(b, bits, splatInt(b, bits, i8, -128));
  Value infinity =
      arith::OrIOp::create(b, sign, splatInt(b, bits, i8, kInfinity));
  bits = arith::SelectOp::create(b, isLarge, infinity, bits);
  return arith::BitcastOp::create(b, data.getType(), bits);
}

/// f32 to elements of 8 bits and less, to nearest, ties to even.
static FailureOr<Value> narrowTo(ImplicitLocOpBuilder &b, Operation *op,
                                 Value value, FloatType element) {
  if (isa<Float8E8M0FNUType>(element))
    return toPowersOfTwo(b, value);
  auto type = cast<RankedTensorType>(value.getType());
  bool hasInfinity = APFloat::semanticsHasInf(element.getFloatSemantics());
  if (hasInfinity && !isa<Float8E5M2Type>(element))
    return op->emitError() << "a conversion to " << element
                           << ", which has infinities, is not taken";
  Value given = value;
  // What is too large is no number in a format that has such; others saturate.
  if (std::optional<double> overflow = overflowOf(element)) {
    Value magnitude = math::AbsFOp::create(b, value);
    Value isTooLarge =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, magnitude,
                              splatFloat(b, value, *overflow));
    Value nan = splatFloat(b, value, std::numeric_limits<double>::quiet_NaN());
    value = arith::SelectOp::create(b, isTooLarge, nan, value);
  }
  SmallVector<int64_t> shape = matrixShape(type);
  auto scaled =
      getScaledTensorType([&] { return emitError(b.getLoc()); }, shape, element,
                          "", ScaleLayout::Plain, DataOrder::KMajor);
  Value matrix = reshape(b, value, shape);
  Value rounded = QuantizeOp::create(
      b, scaled, matrix, /*tensor_scale=*/Value(), /*offsets=*/Value(),
      ScaleRule::Floor, ElementRounding::Even, /*seed=*/IntegerAttr());
  auto plain = RankedTensorType::get(shape, element);
  Value data = DisassembleOp::create(b, TypeRange{plain}, rounded).getResult(0);
  data = reshape(b, data, type.getShape());
  return hasInfinity ? withInfinities(b, data, given) : data;
}

Value importer::toSingle(ImplicitLocOpBuilder &b, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto single = type.clone(b.getF32Type());
  if (isNarrow(type.getElementType()))
    return widenNarrow(b, value);
  if (type.getElementTypeBitWidth() < kSingleBits)
    return arith::ExtFOp::create(b, single, value);
  if (type.getElementTypeBitWidth() > kSingleBits)
    return arith::TruncFOp::create(b, single, value);
  return value;
}

FailureOr<Value> importer::floatToFloat(ImplicitLocOpBuilder &b, Operation *op,
                                        Value value, FloatType element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  bool isWide = type.getElementTypeBitWidth() > kSingleBits;
  if (isWide && element.getWidth() < kSingleBits)
    return op->emitError("a conversion of f64 to less than f32 is not taken");
  if (isWide && element.isF32())
    return Value(arith::TruncFOp::create(b, type.clone(element), value));
  Value single = toSingle(b, value);
  if (element.isF32())
    return single;
  if (isNarrow(element))
    return narrowTo(b, op, single, element);
  if (element.getWidth() > kSingleBits)
    return Value(arith::ExtFOp::create(b, type.clone(element), single));
  return Value(arith::TruncFOp::create(b, type.clone(element), single));
}

static Value intToInt(ImplicitLocOpBuilder &b, Value value, Type from,
                      Type element) {
  auto type = cast<RankedTensorType>(value.getType()).clone(element);
  unsigned width = from.getIntOrFloatBitWidth();
  if (width == element.getIntOrFloatBitWidth())
    return value;
  if (width > element.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(b, type, value);
  if (from.isUnsignedInteger() || from.isInteger(1))
    return arith::ExtUIOp::create(b, type, value);
  return arith::ExtSIOp::create(b, type, value);
}

FailureOr<Value> importer::convert(ImplicitLocOpBuilder &b, Operation *op) {
  Type from = elementOf(op->getOperand(0)), to = elementOf(op->getResult(0));
  Value value = withoutSign(b, op->getOperand(0));
  RankedTensorType type = withoutSign(op->getResult(0).getType());
  Type element = type.getElementType();
  auto real = dyn_cast<FloatType>(element);
  if (real && isa<FloatType>(from))
    return floatToFloat(b, op, value, real);
  if (to.isInteger(1)) {
    if (!isa<FloatType>(from))
      return Value(
          arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value,
                                splatInt(b, value, elementOf(value), 0)));
    Value single = toSingle(b, value);
    return Value(arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, single,
                                       splatFloat(b, single, 0)));
  }
  if (!real && !isa<FloatType>(from))
    return intToInt(b, value, from, element);
  if (!real) {
    Value single =
        from.getIntOrFloatBitWidth() > kSingleBits ? value : toSingle(b, value);
    return to.isUnsignedInteger()
               ? Value(arith::FPToUIOp::create(b, type, single))
               : Value(arith::FPToSIOp::create(b, type, single));
  }
  bool isDouble = real.getWidth() > kSingleBits;
  auto wide = type.clone(isDouble ? element : Type(b.getF32Type()));
  Value number = from.isUnsignedInteger() || from.isInteger(1)
                     ? Value(arith::UIToFPOp::create(b, wide, value))
                     : Value(arith::SIToFPOp::create(b, wide, value));
  return floatToFloat(b, op, number, real);
}
