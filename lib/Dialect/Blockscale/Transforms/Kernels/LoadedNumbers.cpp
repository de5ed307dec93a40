//===- LoadedNumbers.cpp - numbers of a kernel's memory as f32 ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedNumbers.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace blockscale;

/// The same word of 32 bits in each element.
static Value splat(KernelBuilder &b, VectorType type, uint32_t word) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, APInt(32, word)));
}

/// Of codes of ue8m0.
static Value decodeExponents(KernelBuilder &b, Value codes) {
  auto bits = cast<VectorType>(codes.getType()).clone(b.getI32Type());
  auto all = [&](uint32_t value) { return splat(b, bits, value); };
  // The byte is the exponent of an f32, but for 0, which is 2^-127, a
  // subnormal one, and for the NaN.
  constexpr uint32_t kFractionBits = 23, kNaNCode = 255;
  constexpr uint32_t kSmallest = 0x00400000, kNaN = 0x7fc00000;
  Value wide = arith::ExtUIOp::create(b, bits, codes);
  Value number = arith::ShLIOp::create(b, wide, all(kFractionBits));
  for (auto [code, value] :
       {std::pair<uint32_t, uint32_t>{0, kSmallest}, {kNaNCode, kNaN}}) {
    Value isCode =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, wide, all(code));
    number = arith::SelectOp::create(b, isCode, all(value), number);
  }
  return arith::BitcastOp::create(b, bits.clone(b.getF32Type()), number);
}

static Value decodeE4M3(KernelBuilder &b, Value numbers) {
  auto bits = cast<VectorType>(numbers.getType()).clone(b.getI32Type());
  auto floats = bits.clone(b.getF32Type());
  auto all = [&](uint32_t value) { return splat(b, bits, value); };
  // The fields of an f32 whose exponent counts from -7, not from -127.
  constexpr uint32_t kMagnitude = 0x7f, kFractionBits = 20, kSign = 0x80,
                     kSignBits = 24, kNaN = 0x7fc00000;
  Value codes = arith::BitcastOp::create(b, bits.clone(b.getI8Type()), numbers);
  codes = arith::ExtUIOp::create(b, bits, codes);
  Value magnitude = arith::AndIOp::create(b, codes, all(kMagnitude));
  Value sign = arith::ShLIOp::create(
      b, arith::AndIOp::create(b, codes, all(kSign)), all(kSignBits));
  Value fields = arith::OrIOp::create(
      b, arith::ShLIOp::create(b, magnitude, all(kFractionBits)), sign);
  Value value = arith::MulFOp::create(
      b, arith::BitcastOp::create(b, floats, fields),
      arith::ConstantOp::create(b, DenseElementsAttr::get(floats, 0x1p120f)));
  Value isNaN = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, magnitude,
                                      all(kMagnitude));
  return arith::SelectOp::create(
      b, isNaN, arith::BitcastOp::create(b, floats, all(kNaN)), value);
}

static Value decodeE5M2(KernelBuilder &b, Value numbers) {
  // The high byte of a float16.
  auto type = cast<VectorType>(numbers.getType());
  auto bits = type.clone(b.getI16Type());
  Value eight = arith::ConstantOp::create(
      b, DenseElementsAttr::get(bits, b.getI16IntegerAttr(8)));
  Value codes = arith::BitcastOp::create(b, type.clone(b.getI8Type()), numbers);
  Value shifted =
      arith::ShLIOp::create(b, arith::ExtUIOp::create(b, bits, codes), eight);
  Value halves =
      arith::BitcastOp::create(b, type.clone(b.getF16Type()), shifted);
  return arith::ExtFOp::create(b, type.clone(b.getF32Type()), halves);
}

/// Of codes of a format that no instruction converts.
static Value decodeByFields(KernelBuilder &b, Value codes, Type format) {
  auto bits = cast<VectorType>(codes.getType()).clone(b.getI32Type());
  auto floats = bits.clone(b.getF32Type());
  auto all = [&](uint32_t value) { return splat(b, bits, value); };
  auto select = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, condition, x, y);
  };
  constexpr uint32_t kMagnitude = 0x7f, kSign = 0x80, kSignBits = 24,
                     kNaN = 0x7fc00000, kInfinity = 0x7f800000;
  constexpr int kFractionOfF32 = 23, kBiasOfF32 = 127;
  NumberSpec spec = *getNumberSpec(format);
  codes = arith::ExtUIOp::create(b, bits, codes);
  Value magnitude = arith::AndIOp::create(b, codes, all(kMagnitude));
  Value sign = arith::ShLIOp::create(
      b, arith::AndIOp::create(b, codes, all(kSign)), all(kSignBits));
  // The fields of an f32 whose exponent counts from the format's bias.
  Value fields = arith::OrIOp::create(
      b,
      arith::ShLIOp::create(b, magnitude,
                            all(kFractionOfF32 - spec.mantissaBits)),
      sign);
  float unit = std::ldexp(1.0f, kBiasOfF32 - spec.bias);
  Value value = arith::MulFOp::create(
      b, arith::BitcastOp::create(b, floats, fields),
      arith::ConstantOp::create(b, DenseElementsAttr::get(floats, unit)));
  auto is = [&](arith::CmpIPredicate predicate, Value x, uint32_t y) -> Value {
    return arith::CmpIOp::create(b, predicate, x, all(y));
  };
  auto number = [&](Value fieldsOf) -> Value {
    return arith::BitcastOp::create(b, floats, fieldsOf);
  };
  if (spec.specials == NumberSpecials::Fnuz)
    return select(is(arith::CmpIPredicate::eq, codes, kSign), number(all(kNaN)),
                  value);
  // The top exponent has infinities, and NaN above them.
  uint32_t top = kMagnitude >> spec.mantissaBits << spec.mantissaBits;
  Value infinity = number(arith::OrIOp::create(b, all(kInfinity), sign));
  value = select(is(arith::CmpIPredicate::eq, magnitude, top), infinity, value);
  return select(is(arith::CmpIPredicate::ugt, magnitude, top),
                number(all(kNaN)), value);
}

static Value decodeE5M3(KernelBuilder &b, Value codes) {
  auto bits = cast<VectorType>(codes.getType()).clone(b.getI32Type());
  auto floats = bits.clone(b.getF32Type());
  auto all = [&](uint32_t value) { return splat(b, bits, value); };
  // The fields of an f32 whose exponent counts from -15, not from -127.
  constexpr uint32_t kFractionBits = 20, kNaNCode = 0xff, kNaN = 0x7fc00000;
  codes = arith::ExtUIOp::create(b, bits, codes);
  Value fields = arith::ShLIOp::create(b, codes, all(kFractionBits));
  Value value = arith::MulFOp::create(
      b, arith::BitcastOp::create(b, floats, fields),
      arith::ConstantOp::create(b, DenseElementsAttr::get(floats, 0x1p112f)));
  Value isNaN =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, codes, all(kNaNCode));
  return arith::SelectOp::create(
      b, isNaN, arith::BitcastOp::create(b, floats, all(kNaN)), value);
}

Value blockscale::widenNumbers(KernelBuilder &b, Value values) {
  auto type = cast<VectorType>(values.getType());
  if (type.getElementType().isF32())
    return values;
  if (type.getElementType().isInteger())
    return decodeExponents(b, values);
  if (isa<Float8E4M3FNType>(type.getElementType()))
    return decodeE4M3(b, values);
  if (isa<Float8E5M2Type>(type.getElementType()))
    return decodeE5M2(b, values);
  return arith::ExtFOp::create(b, type.clone(b.getF32Type()), values);
}

Value blockscale::loadCodes(KernelBuilder &b, Value memory, int64_t size,
                            Value index, Value count, Value stride) {
  Type element = cast<GlobalType>(memory.getType()).getElementType();
  if (element.isUnsignedInteger() || isDecodedFactor(element))
    element = b.getI8Type();
  return LoadRowOp::create(b, VectorType::get({size}, element), memory, index,
                           count, stride);
}

Value blockscale::numbersOfCodes(KernelBuilder &b, Value memory, Value codes) {
  Type element = cast<GlobalType>(memory.getType()).getElementType();
  if (isDecodedFactor(element))
    return decodeByFields(b, codes, element);
  return element.isUnsignedInteger() ? decodeE5M3(b, codes)
                                     : widenNumbers(b, codes);
}

Value blockscale::loadNumbers(KernelBuilder &b, Value memory, int64_t size,
                              Value index, Value count, Value stride) {
  return numbersOfCodes(b, memory,
                        loadCodes(b, memory, size, index, count, stride));
}
