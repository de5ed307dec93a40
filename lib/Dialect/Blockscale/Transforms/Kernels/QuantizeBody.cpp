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

#include "QuantizeSource.h"
#include "blockscale/Dialect/Blockscale/IR/Numbers.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

namespace {

/// The widest access of one thread in bytes.
constexpr int64_t kAccessBytes = 16;

/// An f32 without its sign.
constexpr int64_t kMagnitudeMask = 0x7fffffff;

/// A block of the input, by i32 numbers.
struct Place {
  Value matrix, row, block;
};

/// What the scale of a block and a tensor scale give.
struct Scaling {
  /// i32.
  Value code;
  /// What elements are multiplied by.
  Value inverse;
};

class Body {
public:
  Body(QuantizeOp op, const QuantizedStorage &storage, ImplicitLocOpBuilder &b,
       const QuantizeArguments &arguments)
      : op(op), storage(storage), e(b.getLoc(), b), arguments(arguments),
        element(cast<FloatType>(op.getType().getElementType())),
        limit(largestElement(op.getType())) {}

  void build();

private:
  Value extentOf(AffineExpr expression, Type type);
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
  Place placeOf(Value number);
  Value isInside(const Place &place);
  /// The number of the first element of the block, i64.
  Value firstElement(const Place &place);
  SmallVector<Value> load(Value first);
  Value largestOf(ArrayRef<Value> values);
  Value tensorFactor(const Place &place);
  Scaling exponentScaling(Value largest, Value factor);
  Scaling floatScaling(Value largest, Value factor);
  Value inverseOf(Value scale, Value factor);
  SmallVector<Value> encode(ArrayRef<Value> values, Value inverse, Value first);
  Value withoutTie(Value value);
  void replaceNaN(SmallVector<Value> &words, Value inverse);
  Value stochasticCode(Value value, Value random);
  void storeData(const Place &place, ArrayRef<Value> words);
  void storeByte(Value memory, Value offset, Value byte);
  Value quantizeBlock(const Place &place);

  QuantizeOp op;
  const QuantizedStorage &storage;
  Emitter e;
  const QuantizeArguments &arguments;
  FloatType element;
  float limit;
};

} // namespace

/// A size or stride for the sizes of the launch. All are positive.
Value Body::extentOf(AffineExpr expression, Type type) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return arith::ConstantIntOp::create(e, type, constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression)) {
    Value sizes[] = {arguments.rows, Value(), arguments.k, arguments.batch};
    Value size = sizes[symbol.getPosition()];
    return type.isInteger(64) ? wide(size) : size;
  }
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Value x = extentOf(binary.getLHS(), type),
        y = extentOf(binary.getRHS(), type);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return add(x, y);
  case AffineExprKind::Mul:
    return mul(x, y);
  case AffineExprKind::FloorDiv:
    return arith::DivUIOp::create(e, x, y);
  case AffineExprKind::CeilDiv: {
    Value one = arith::ConstantIntOp::create(e, type, 1);
    Value last = arith::SubIOp::create(e, y, one);
    return arith::DivUIOp::create(e, add(x, last), y);
  }
  case AffineExprKind::Mod:
    return arith::RemUIOp::create(e, x, y);
  default:
    llvm_unreachable("covered switch");
  }
}

Value Body::threadNumber() {
  auto number = [&](Value index) -> Value {
    return arith::IndexCastUIOp::create(e, e.getI32Type(), index);
  };
  Value cta = number(gpu::BlockIdOp::create(e, gpu::Dimension::x));
  Value thread = number(gpu::ThreadIdOp::create(e, gpu::Dimension::x));
  return add(mul(cta, e.i32(kQuantizeThreads)), thread);
}

/// The block whose scale is byte `number`; it may lie in the padding.
Place Body::placeOf(Value number) {
  Place place{number, e.i32(0), e.i32(0)};
  for (const auto &digit : llvm::reverse(storage.scales.digits)) {
    Value extent = extentOf(digit.extent, e.getI32Type());
    Value value = arith::RemUIOp::create(e, place.matrix, extent);
    place.matrix = arith::DivUIOp::create(e, place.matrix, extent);
    Value &source = digit.term.source == hw::Dim::Row ? place.row : place.block;
    source = add(source, mul(value, e.i32(int64_t(digit.term.divisor))));
  }
  return place;
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

/// The largest magnitude; NaN if there is one, as its bits are above the
/// others'.
Value Body::largestOf(ArrayRef<Value> values) {
  SmallVector<Value> bits;
  for (Value value : values)
    bits.push_back(
        arith::AndIOp::create(e, e.bits(value), e.i32(kMagnitudeMask)));
  // In pairs, so that no maximum waits for all before it.
  while (bits.size() > 1) {
    for (size_t i = 0; i < bits.size() / 2; ++i)
      bits[i] = arith::MaxUIOp::create(e, bits[2 * i], bits[2 * i + 1]);
    bits.resize(bits.size() / 2);
  }
  return e.fromBits(bits.front());
}

/// The tensor scale of the block's matrix, without a sign; null if there is
/// none. The thread with the first block writes it down.
Value Body::tensorFactor(const Place &place) {
  if (!arguments.tensorScale)
    return {};
  Value matrix = wide(place.matrix);
  auto one = VectorType::get({1}, e.getF32Type());
  Value loaded =
      LoadRowOp::create(e, one, arguments.tensorScale, matrix, e.i32(1),
                        /*stride=*/Value(), /*aligned=*/true);
  Value factor =
      math::AbsFOp::create(e, vector::ExtractOp::create(e, loaded, 0));
  Value isFirst = arith::CmpIOp::create(
      e, arith::CmpIPredicate::eq,
      arith::OrIOp::create(e, place.row, place.block), e.i32(0));
  auto condition = scf::IfOp::create(e, isFirst);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  StoreRowOp::create(e, vector::FromElementsOp::create(e, one, factor),
                     arguments.storedTensorScale, matrix, e.i32(1),
                     /*stride=*/Value(), /*aligned=*/true);
  return factor;
}

/// min(1 / (s * t), FLT_MAX), and 0 under a scale of 0.
Value Body::inverseOf(Value scale, Value factor) {
  Value step = scale;
  if (factor)
    step = arith::MinimumFOp::create(e, arith::MulFOp::create(e, scale, factor),
                                     e.f32(std::numeric_limits<float>::max()));
  Value isZero =
      arith::CmpFOp::create(e, arith::CmpFPredicate::OEQ, scale, e.f32(0));
  return select(e, isZero, e.f32(0), boundedInverse(e, step));
}

/// Of powers of two; `factor` is that of the tensor, or null.
Scaling Body::exponentScaling(Value largest, Value factor) {
  constexpr int64_t kNaN = 0x7fc00000, kSmallest = 0x00400000;
  if (factor)
    largest = arith::MulFOp::create(e, largest, boundedInverse(e, factor));
  Value code = exponentScaleBits(e, largest, op.getRule(), element);
  // 2^(code - 127), or the inverse of that, which is one too: 2^-127, the
  // smallest, is a subnormal f32.
  auto power = [&](Value exponent, int64_t smallest) {
    Value bits = arith::ShLIOp::create(e, exponent, e.i32(23));
    auto is = [&](int64_t value) -> Value {
      return arith::CmpIOp::create(e, arith::CmpIPredicate::eq, code,
                                   e.i32(value));
    };
    bits = select(e, is(smallest), e.i32(kSmallest), bits);
    return e.fromBits(select(e, is(255), e.i32(kNaN), bits));
  };
  if (factor)
    return {code, inverseOf(power(code, 0), factor)};
  return {code, power(arith::SubIOp::create(e, e.i32(254), code), 254)};
}

/// Of e4m3, in the order of operations that `blockscale.quantize` has.
Scaling Body::floatScaling(Value largest, Value factor) {
  auto format = Float8E4M3FNType::get(op.getContext());
  Value scale;
  if (factor)
    scale = arith::MulFOp::create(
        e, largest,
        arith::MulFOp::create(e, boundedInverse(e, factor),
                              e.f32(1.0f / limit)));
  else
    scale = arith::DivFOp::create(e, largest, e.f32(limit));
  scale =
      arith::MinimumFOp::create(e, scale, e.f32(largestScale(format, limit)));
  Value code = EncodePairOp::create(e, scale, e.f32(0), TypeAttr::get(format));
  // The bits of an e4m3 at the top of an f32's fraction and exponent are that
  // number times 2^-120, subnormals included; 0x7f is NaN.
  Value bits = arith::ShLIOp::create(e, code, e.i32(20));
  Value value = arith::MulFOp::create(e, e.fromBits(bits), e.f32(0x1p120f));
  Value isNaNCode =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, code, e.i32(0x7f));
  value = select(e, isNaNCode, e.f32(std::numeric_limits<float>::quiet_NaN()),
                 value);
  return {code, inverseOf(value, factor)};
}

/// `value`, which to nearest even becomes what the op's rounding to nearest
/// makes of it. A tie of narrow numbers ends in zeros: with its last bit set it
/// lies above the tie, one less below. Nothing else crosses a tie so, since
/// what ends in a one stays as it is.
Value Body::withoutTie(Value value) {
  Value one = e.i32(1);
  if (op.getRounding() == ElementRounding::Even)
    return value;
  if (op.getRounding() == ElementRounding::Away) {
    // An infinity would become a NaN.
    value = arith::MaximumFOp::create(e, value, e.f32(-limit));
    value = arith::MinimumFOp::create(e, value, e.f32(limit));
    return e.fromBits(arith::OrIOp::create(e, e.bits(value), one));
  }
  Value raw = e.bits(value);
  Value magnitude = arith::AndIOp::create(e, raw, e.i32(kMagnitudeMask));
  // There is nothing below 0.
  Value less = arith::MinUIOp::create(e, magnitude, one);
  raw = arith::SubIOp::create(e, raw, less);
  return e.fromBits(arith::OrIOp::create(e, raw, one));
}

/// The code of `value`, which is no NaN, as i32; `random` is an i32 of 24 bits.
/// In units of 2^-24 of the step between two codes a magnitude X is rounded up
/// where its fraction exceeds the random number R, to floor((ceil(X) - 1 - R) /
/// 2^24) + 1, all in integers.
Value Body::stochasticCode(Value value, Value random) {
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  constexpr int64_t kFractionBits = 23, kBias = 127, kRandomBits = 24;
  int64_t fraction = APFloat::semanticsPrecision(semantics) - 1;
  int64_t smallest = APFloat::semanticsMinExponent(semantics) + kBias;
  int64_t binade = kRandomBits + fraction;
  auto sub = [&](Value x, Value y) -> Value {
    return arith::SubIOp::create(e, x, y);
  };
  Value raw = e.bits(value);
  Value magnitude = arith::AndIOp::create(e, raw, e.i32(kMagnitudeMask));
  int64_t bound = llvm::bit_cast<uint32_t>(limit);
  magnitude = arith::MinUIOp::create(e, magnitude, e.i32(bound));
  Value own = arith::ShRUIOp::create(e, magnitude, e.i32(kFractionBits));
  Value exponent = arith::MaxUIOp::create(e, own, e.i32(smallest));
  // What is so small that the shift ends at 31 is below one unit.
  Value shift = arith::MinUIOp::create(e, sub(exponent, own), e.i32(31));
  Value hidden = mul(arith::MinUIOp::create(e, magnitude, e.i32(1)),
                     e.i32(int64_t(1) << kFractionBits));
  Value significand = arith::OrIOp::create(
      e, arith::AndIOp::create(e, magnitude, e.i32((1 << kFractionBits) - 1)),
      hidden);
  Value units = mul(significand, e.i32(int64_t(1) << (fraction + 1)));
  units = arith::ShRSIOp::create(e, add(units, e.i32(-1)), shift);
  // The exponent counts above the code, which has all of the step's bits.
  int64_t base = (int64_t(1) << kRandomBits) - (smallest << binade);
  Value sum = add(mul(exponent, e.i32(int64_t(1) << binade)),
                  sub(e.i32(int32_t(base)), random));
  Value code = arith::ShRUIOp::create(e, add(sum, units), e.i32(kRandomBits));
  int64_t width = element.getWidth();
  Value sign = arith::AndIOp::create(
      e, arith::ShRUIOp::create(e, raw, e.i32(32 - width)),
      e.i32(int64_t(1) << (width - 1)));
  return arith::OrIOp::create(e, code, sign);
}

/// Under a scale that is NaN all elements are, and under no other: an infinity
/// has a scale whose inverse is not 0.
void Body::replaceNaN(SmallVector<Value> &words, Value inverse) {
  auto bits = unsigned(storage.data->globalBits);
  uint64_t code = formatInfo(storage.element).nanCode;
  if (!APFloat::semanticsHasNaN(element.getFloatSemantics()))
    code = APFloat::getLargest(element.getFloatSemantics())
               .bitcastToAPInt()
               .getZExtValue();
  Value isNaNBlock = isNaN(e, inverse);
  for (size_t i = 0; i < words.size(); ++i) {
    uint32_t word = 0;
    for (unsigned bit = 0; bit < 32; ++bit)
      word |= uint32_t(code >> ((i * 32 + bit) % bits) & 1) << bit;
    words[i] = select(e, isNaNBlock, e.i32(int32_t(word)), words[i]);
  }
}

/// The codes as 32-bit words in the order of memory.
SmallVector<Value> Body::encode(ArrayRef<Value> values, Value inverse,
                                Value first) {
  auto bits = int64_t(storage.data->globalBits);
  bool isStochastic = op.getRounding() == ElementRounding::Stochastic;
  auto shifted = [&](Value code, int64_t distance) -> Value {
    if (distance == 0)
      return code;
    return distance > 0
               ? arith::ShLIOp::create(e, code, e.i32(distance)).getResult()
               : arith::ShRUIOp::create(e, code, e.i32(-distance)).getResult();
  };
  auto product = [&](size_t i) -> Value {
    return arith::MulFOp::create(e, values[i], inverse);
  };
  auto rounded = [&](size_t i) {
    Value random =
        randomBits(e, uint64_t(*op.getSeed()), add(first, wide(int64_t(i))));
    random = arith::TruncIOp::create(e, e.getI32Type(), random);
    return stochasticCode(product(i), random);
  };
  // A pair of codes, together.
  auto pairAt = [&](size_t i) -> Value {
    if (isStochastic)
      return arith::OrIOp::create(e, rounded(i), shifted(rounded(i + 1), bits));
    Value pair = EncodePairOp::create(e, withoutTie(product(i)),
                                      withoutTie(product(i + 1)),
                                      TypeAttr::get(element));
    if (bits != 6)
      return pair;
    // 6-bit codes come in bytes of their own.
    Value low = arith::AndIOp::create(e, pair, e.i32(0x3f));
    Value high = arith::AndIOp::create(e, shifted(pair, -2), e.i32(0x3f << 6));
    return arith::OrIOp::create(e, low, high);
  };
  SmallVector<Value> words(storage.block * bits / 32);
  auto put = [&](int64_t word, Value part) {
    words[word] = words[word]
                      ? arith::OrIOp::create(e, words[word], part).getResult()
                      : part;
  };
  for (int64_t i = 0; i < storage.block; i += 2) {
    Value pair = pairAt(i);
    int64_t word = i * bits / 32, bit = i * bits % 32;
    put(word, shifted(pair, bit));
    if (bit + 2 * bits > 32)
      put(word + 1, shifted(pair, bit - 32));
  }
  if (isStochastic)
    replaceNaN(words, inverse);
  return words;
}

void Body::storeData(const Place &place, ArrayRef<Value> words) {
  Type i64 = e.getI64Type(), i8 = e.getI8Type();
  int64_t bytes = int64_t(words.size()) * 4;
  Value offset = add(mul(wide(place.matrix), extentOf(storage.batchPitch, i64)),
                     mul(wide(place.row), extentOf(storage.linePitch, i64)));
  offset = add(offset, mul(wide(place.block), wide(bytes)));
  int64_t access = std::min(kAccessBytes, bytes & -bytes);
  for (int64_t i = 0; i < bytes; i += access) {
    auto type = VectorType::get({access / 4}, e.getI32Type());
    Value value =
        vector::FromElementsOp::create(e, type, words.slice(i / 4, access / 4));
    value = vector::BitCastOp::create(e, VectorType::get({access}, i8), value);
    StoreRowOp::create(e, value, arguments.data, add(offset, wide(i)),
                       e.i32(access), /*stride=*/Value(), /*aligned=*/true);
  }
}

void Body::storeByte(Value memory, Value offset, Value byte) {
  Value value = vector::FromElementsOp::create(
      e, VectorType::get({1}, e.getI8Type()), byte);
  StoreRowOp::create(e, value, memory, offset, e.i32(1), /*stride=*/Value(),
                     /*aligned=*/true);
}

/// The code of its scale.
Value Body::quantizeBlock(const Place &place) {
  Value first = firstElement(place);
  SmallVector<Value> values = load(first);
  Value factor = tensorFactor(place);
  Value largest = largestOf(values);
  Scaling scaling = storage.scale == ElementFormat::UE8M0
                        ? exponentScaling(largest, factor)
                        : floatScaling(largest, factor);
  storeData(place, encode(values, scaling.inverse, first));
  return scaling.code;
}

void Body::build() {
  Value number = threadNumber();
  Place place = placeOf(number);
  auto condition = scf::IfOp::create(e, TypeRange{e.getI32Type()},
                                     isInside(place), /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(condition.thenBlock());
    scf::YieldOp::create(e, quantizeBlock(place));
    e.setInsertionPointToStart(condition.elseBlock());
    scf::YieldOp::create(e, e.i32(0));
  }
  storeByte(arguments.scales, wide(number), i8(condition.getResult(0)));
}

void blockscale::buildQuantizeBody(QuantizeOp op,
                                   const QuantizedStorage &storage,
                                   ImplicitLocOpBuilder &b,
                                   const QuantizeArguments &arguments) {
  Body(op, storage, b, arguments).build();
}
