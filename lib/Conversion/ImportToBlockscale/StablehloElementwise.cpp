//===- StablehloElementwise.cpp - arithmetic around products --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Ops of arith and math on whole tensors. Floats narrower than f32 are computed
// in f32 and rounded behind each op, as XLA does on the CPU.

#include "Stablehlo.h"
#include "StablehloConvert.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// The word of `#stablehlo<comparison_direction GT>`.
static StringRef directionOf(Operation *op) {
  auto attribute = op->getAttr("comparison_direction");
  if (auto opaque = dyn_cast_or_null<OpaqueAttr>(attribute))
    return opaque.getAttrData().rsplit(' ').second;
  return "";
}

/// Whether floats are compared by sign and bits, so that zeros differ and what
/// is no number has a place.
static bool isTotalOrder(Operation *compare) {
  auto attribute = compare->getAttr("compare_type");
  auto opaque = dyn_cast_or_null<OpaqueAttr>(attribute);
  return opaque && opaque.getAttrData().rsplit(' ').second == "TOTALORDER";
}

std::optional<arith::CmpFPredicate>
importer::floatPredicate(Operation *compare) {
  using P = arith::CmpFPredicate;
  if (isTotalOrder(compare))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<P>>(directionOf(compare))
      .Case("EQ", P::OEQ)
      .Case("NE", P::UNE)
      .Case("GE", P::OGE)
      .Case("GT", P::OGT)
      .Case("LE", P::OLE)
      .Case("LT", P::OLT)
      .Default(std::nullopt);
}

std::optional<arith::CmpIPredicate>
importer::integerPredicate(Operation *compare, Type element) {
  using P = arith::CmpIPredicate;
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  return llvm::StringSwitch<std::optional<P>>(directionOf(compare))
      .Case("EQ", P::eq)
      .Case("NE", P::ne)
      .Case("GE", isUnsigned ? P::uge : P::sge)
      .Case("GT", isUnsigned ? P::ugt : P::sgt)
      .Case("LE", isUnsigned ? P::ule : P::sle)
      .Case("LT", isUnsigned ? P::ult : P::slt)
      .Default(std::nullopt);
}

Value importer::orderKeys(ImplicitLocOpBuilder &b, Value value, Type element) {
  if (!isa<FloatType>(element))
    return value;
  if (element.getIntOrFloatBitWidth() < kSingleBits)
    value = toSingle(b, value);
  unsigned width = elementOf(value).getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(width);
  Value bits = arith::BitcastOp::create(
      b, cast<RankedTensorType>(value.getType()).clone(integer), value);
  // The larger the bits of a negative number, the smaller it is.
  Value sign = arith::ShRSIOp::create(
      b, bits, splatInt(b, bits, integer, int64_t(width) - 1));
  Value magnitude =
      arith::ShRUIOp::create(b, sign, splatInt(b, bits, integer, 1));
  return arith::XOrIOp::create(b, bits, magnitude);
}

static FailureOr<Value> compare(ImplicitLocOpBuilder &b, Operation *op) {
  Type element = elementOf(op->getOperand(0));
  Value x = withoutSign(b, op->getOperand(0));
  Value y = withoutSign(b, op->getOperand(1));
  if (isa<FloatType>(element) && isTotalOrder(op)) {
    x = orderKeys(b, x, element);
    y = orderKeys(b, y, element);
    element = elementOf(x);
  }
  if (isa<FloatType>(element)) {
    auto predicate = floatPredicate(op);
    if (!predicate)
      return op->emitError("has no known comparison_direction");
    if (element.getIntOrFloatBitWidth() < kSingleBits) {
      x = toSingle(b, x);
      y = toSingle(b, y);
    }
    return Value(arith::CmpFOp::create(b, *predicate, x, y));
  }
  auto predicate = integerPredicate(op, element);
  if (!predicate)
    return op->emitError("has no known comparison_direction");
  return Value(arith::CmpIOp::create(b, *predicate, x, y));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// 1 / (1 + exp(-x)).
static Value logistic(ImplicitLocOpBuilder &b, Value x) {
  Value one = splatFloat(b, x, 1);
  Value power = math::ExpOp::create(b, arith::NegFOp::create(b, x));
  return arith::DivFOp::create(b, one, arith::AddFOp::create(b, one, power));
}

/// -1, 0 or 1; zeros and NaN as they are.
static Value sign(ImplicitLocOpBuilder &b, Value x) {
  Value zero = splatFloat(b, x, 0);
  Value one = math::CopySignOp::create(b, splatFloat(b, x, 1), x);
  Value isSome = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, x, zero);
  return arith::SelectOp::create(b, isSome, one, x);
}

static Value isFinite(ImplicitLocOpBuilder &b, Value x) {
  Value infinity = splatFloat(b, x, std::numeric_limits<double>::infinity());
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                               math::AbsFOp::create(b, x), infinity);
}

Value importer::floatOp(ImplicitLocOpBuilder &b, StringRef name, ValueRange v) {
  auto unary = [&](auto tag) -> Value {
    return decltype(tag)::create(b, v[0]);
  };
  auto binary = [&](auto tag) -> Value {
    return decltype(tag)::create(b, v[0], v[1]);
  };
  if (v.size() == 2)
    return llvm::StringSwitch<std::function<Value()>>(name)
        .Case("add", [&] { return binary(arith::AddFOp()); })
        .Case("subtract", [&] { return binary(arith::SubFOp()); })
        .Case("multiply", [&] { return binary(arith::MulFOp()); })
        .Case("divide", [&] { return binary(arith::DivFOp()); })
        .Case("maximum", [&] { return binary(arith::MaximumFOp()); })
        .Case("minimum", [&] { return binary(arith::MinimumFOp()); })
        .Case("remainder", [&] { return binary(arith::RemFOp()); })
        .Case("power", [&] { return binary(math::PowFOp()); })
        .Case("atan2", [&] { return binary(math::Atan2Op()); })
        .Default([] { return Value(); })();
  if (v.size() != 1)
    return {};
  return llvm::StringSwitch<std::function<Value()>>(name)
      .Case("negate", [&] { return unary(arith::NegFOp()); })
      .Case("abs", [&] { return unary(math::AbsFOp()); })
      .Case("exponential", [&] { return unary(math::ExpOp()); })
      .Case("exponential_minus_one", [&] { return unary(math::ExpM1Op()); })
      .Case("log", [&] { return unary(math::LogOp()); })
      .Case("log_plus_one", [&] { return unary(math::Log1pOp()); })
      .Case("tanh", [&] { return unary(math::TanhOp()); })
      .Case("sqrt", [&] { return unary(math::SqrtOp()); })
      .Case("rsqrt", [&] { return unary(math::RsqrtOp()); })
      .Case("cbrt", [&] { return unary(math::CbrtOp()); })
      .Case("sine", [&] { return unary(math::SinOp()); })
      .Case("cosine", [&] { return unary(math::CosOp()); })
      .Case("tan", [&] { return unary(math::TanOp()); })
      .Case("floor", [&] { return unary(math::FloorOp()); })
      .Case("ceil", [&] { return unary(math::CeilOp()); })
      .Case("round_nearest_even", [&] { return unary(math::RoundEvenOp()); })
      .Case("round_nearest_afz", [&] { return unary(math::RoundOp()); })
      .Case("erf", [&] { return unary(math::ErfOp()); })
      .Case("erfc", [&] { return unary(math::ErfcOp()); })
      .Case("square",
            [&]() -> Value { return arith::MulFOp::create(b, v[0], v[0]); })
      .Case("logistic", [&] { return logistic(b, v[0]); })
      .Case("sign", [&] { return sign(b, v[0]); })
      .Case("is_finite", [&] { return isFinite(b, v[0]); })
      .Default([] { return Value(); })();
}

/// An op of integers; null for what is none.
static Value intOp(ImplicitLocOpBuilder &b, StringRef name, ValueRange v,
                   bool isUnsigned, bool isBool) {
  auto make = [&](auto tag) -> Value {
    return decltype(tag)::create(b, v[0], v[1]);
  };
  if (v.size() == 2)
    return llvm::StringSwitch<std::function<Value()>>(name)
        .Case("add",
              [&] {
                return isBool ? make(arith::OrIOp()) : make(arith::AddIOp());
              })
        .Case("subtract", [&] { return make(arith::SubIOp()); })
        .Case("multiply",
              [&] {
                return isBool ? make(arith::AndIOp()) : make(arith::MulIOp());
              })
        .Case("maximum",
              [&] {
                return isUnsigned || isBool ? make(arith::MaxUIOp())
                                            : make(arith::MaxSIOp());
              })
        .Case("minimum",
              [&] {
                return isUnsigned || isBool ? make(arith::MinUIOp())
                                            : make(arith::MinSIOp());
              })
        .Case("and", [&] { return make(arith::AndIOp()); })
        .Case("or", [&] { return make(arith::OrIOp()); })
        .Case("xor", [&] { return make(arith::XOrIOp()); })
        .Default([] { return Value(); })();
  Type element = elementOf(v[0]);
  if (v.size() == 1 && name == "not")
    return arith::XOrIOp::create(b, v[0], splatInt(b, v[0], element, -1));
  if (v.size() == 1 && name == "negate")
    return arith::SubIOp::create(b, splatInt(b, v[0], element, 0), v[0]);
  if (v.size() == 1 && name == "abs")
    return math::AbsIOp::create(b, v[0]);
  if (v.size() == 1 && name == "sign" && !isUnsigned) {
    Value least =
        arith::MaxSIOp::create(b, v[0], splatInt(b, v[0], element, -1));
    return arith::MinSIOp::create(b, least, splatInt(b, v[0], element, 1));
  }
  return {};
}

/// Quotients towards zero and their rests. By 0 the quotient is all bits, the
/// rest the dividend; the least number by -1 overflows to itself.
static Value divided(ImplicitLocOpBuilder &b, StringRef name, Value x, Value y,
                     bool isUnsigned) {
  Type element = elementOf(x);
  unsigned width = element.getIntOrFloatBitWidth();
  auto equals = [&](Value value, int64_t number) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value,
                                 splatInt(b, value, element, number));
  };
  Value isZero = equals(y, 0), isUnsafe = isZero;
  if (!isUnsigned) {
    Value overflows = arith::AndIOp::create(
        b, equals(x, llvm::minIntN(int64_t(width))), equals(y, -1));
    isUnsafe = arith::OrIOp::create(b, isZero, overflows);
  }
  Value one = splatInt(b, y, element, 1);
  Value by = arith::SelectOp::create(b, isUnsafe, one, y);
  if (name == "divide") {
    Value ratio = isUnsigned ? Value(arith::DivUIOp::create(b, x, by))
                             : Value(arith::DivSIOp::create(b, x, by));
    return arith::SelectOp::create(b, isZero, splatInt(b, x, element, -1),
                                   ratio);
  }
  Value rest = isUnsigned ? Value(arith::RemUIOp::create(b, x, by))
                          : Value(arith::RemSIOp::create(b, x, by));
  return arith::SelectOp::create(b, isZero, x, rest);
}

/// What is shifted by all bits and more is 0, or all sign.
static Value shift(ImplicitLocOpBuilder &b, StringRef name, Value x, Value by) {
  Type element = elementOf(x);
  unsigned width = element.getIntOrFloatBitWidth();
  Value isAll = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, by,
                                      splatInt(b, x, element, width));
  if (name == "shift_right_arithmetic") {
    Value most = splatInt(b, x, element, width - 1);
    return arith::ShRSIOp::create(b, x,
                                  arith::SelectOp::create(b, isAll, most, by));
  }
  Value zero = splatInt(b, x, element, 0);
  Value least = arith::SelectOp::create(b, isAll, zero, by);
  Value shifted = name == "shift_left"
                      ? Value(arith::ShLIOp::create(b, x, least))
                      : Value(arith::ShRUIOp::create(b, x, least));
  return arith::SelectOp::create(b, isAll, zero, shifted);
}

/// Floats narrower than f32 in f32, rounded back.
static FailureOr<Value> inSingle(ImplicitLocOpBuilder &b, Operation *op,
                                 StringRef name, ValueRange values) {
  SmallVector<Value> wide(values);
  Type element = elementOf(values[0]);
  if (element.getIntOrFloatBitWidth() < kSingleBits)
    for (Value &value : wide)
      value = toSingle(b, value);
  Value result = floatOp(b, name, wide);
  if (!result || !isa<FloatType>(elementOf(result)))
    return result;
  return floatToFloat(b, op, result, cast<FloatType>(element));
}

/// The predicate of a select or the bounds of a clamp may be one number.
static Value stretched(ImplicitLocOpBuilder &b, Value value, Value like) {
  auto type = cast<RankedTensorType>(value.getType());
  auto wanted = cast<RankedTensorType>(like.getType());
  if (type.getRank() == wanted.getRank())
    return value;
  Value number = tensor::ExtractOp::create(b, value, ValueRange{});
  return tensor::SplatOp::create(b, number,
                                 wanted.clone(type.getElementType()));
}

static FailureOr<Value> clamp(ImplicitLocOpBuilder &b, Operation *op,
                              ArrayRef<Value> v, bool isUnsigned) {
  Value low = stretched(b, v[0], v[1]), high = stretched(b, v[2], v[1]);
  if (!isa<FloatType>(elementOf(v[1]))) {
    Value raised = intOp(b, "maximum", {low, v[1]}, isUnsigned, false);
    return intOp(b, "minimum", {raised, high}, isUnsigned, false);
  }
  FailureOr<Value> raised = inSingle(b, op, "maximum", {low, v[1]});
  if (failed(raised))
    return failure();
  return inSingle(b, op, "minimum", {*raised, high});
}

FailureOr<Value> importer::elementwiseOf(ImplicitLocOpBuilder &b,
                                         Operation *op) {
  StringRef name = stablehloName(op);
  size_t count = op->getNumOperands();
  if (count == 0)
    return Value();
  if (name == "convert" && count == 1)
    return convert(b, op);
  if (name == "compare" && count == 2)
    return compare(b, op);
  SmallVector<Value> values;
  for (Value operand : op->getOperands())
    values.push_back(withoutSign(b, operand));
  if (name == "bitcast_convert" && count == 1) {
    RankedTensorType type = withoutSign(op->getResult(0).getType());
    if (type.getShape() !=
        cast<RankedTensorType>(values[0].getType()).getShape())
      return op->emitError("between elements of different sizes is not taken");
    return values[0].getType() == type
               ? values[0]
               : Value(arith::BitcastOp::create(b, type, values[0]));
  }
  Type element = elementOf(op->getOperands().back());
  bool isUnsigned = element.isUnsignedInteger();
  if (name == "select" && count == 3)
    return Value(arith::SelectOp::create(b, stretched(b, values[0], values[1]),
                                         values[1], values[2]));
  if (name == "clamp" && count == 3)
    return clamp(b, op, values, isUnsigned);
  if (isa<FloatType>(element))
    return inSingle(b, op, name, values);
  if (name.starts_with("shift_") && count == 2)
    return shift(b, name, values[0], values[1]);
  if ((name == "divide" || name == "remainder") && count == 2)
    return divided(b, name, values[0], values[1], isUnsigned);
  return intOp(b, name, values, isUnsigned, element.isInteger(1));
}
