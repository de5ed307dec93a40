//===- NVVMConvert.cpp - conversions of numbers to narrow codes -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NVVMParts.h"
#include "blockscale/Upstream/NVVM.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <deque>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nvvm;

static Value constantWord(ImplicitLocOpBuilder &b, int64_t value) {
  return LLVM::ConstantOp::create(b, b.getI32Type(), value);
}

// As text, because LLVM takes the magnitudes by instructions of their own. In
// turns, so that few instructions wait for each other.
Value nvvm::largestMagnitude(ImplicitLocOpBuilder &b, ValueRange values) {
  constexpr size_t kTaken = 3;
  std::deque<Value> left(values.begin(), values.end());
  do {
    SmallVector<Value> taken(kTaken, left.front());
    for (Value &each : taken) {
      if (left.empty())
        break;
      each = left.front();
      left.pop_front();
    }
    AssemblyText assembly(/*results=*/1);
    assembly.constraints = ",=f";
    assembly.text = "max.NaN.abs.f32 $0";
    for (Value each : taken) {
      assembly.text += ", ";
      assembly.add(each, "f");
    }
    left.push_back(assemble(b, b.getF32Type(), assembly, /*hasEffects=*/false)
                       .getResult(0));
  } while (left.size() > 1);
  return left.front();
}

Value nvvm::encodePair(ImplicitLocOpBuilder &b, Value low, Value high,
                       Type format) {
  Value pair;
  if (isa<Float4E2M1FNType>(format))
    pair = NVVM::ConvertF32x2ToF4x2Op::create(b, b.getI8Type(), high, low,
                                              /*relu=*/false, format);
  else if (isa<Float6E2M3FNType, Float6E3M2FNType>(format))
    pair = NVVM::ConvertF32x2ToF6x2Op::create(b, b.getI16Type(), high, low,
                                              /*relu=*/false, format);
  else
    pair = NVVM::ConvertF32x2ToF8x2Op::create(
        b, b.getI16Type(), high, low, NVVM::FPRoundingMode::RN,
        NVVM::SaturationMode::SATFINITE, /*relu=*/false, format);
  return LLVM::ZExtOp::create(b, b.getI32Type(), pair);
}

// As text, because LLVM takes each byte into a register of its own.
Value nvvm::encodeWord(ImplicitLocOpBuilder &b, ValueRange values) {
  AssemblyText assembly(/*results=*/1);
  assembly.constraints = ",=r";
  std::string declared, joined;
  for (unsigned i = 0; i < values.size(); i += 2) {
    std::string byte = "%codes" + std::to_string(i / 2);
    declared += (i == 0 ? "" : ", ") + byte;
    joined += (i == 0 ? "" : ", ") + byte;
    assembly.text += "cvt.rn.satfinite.e2m1x2.f32 " + byte + ", ";
    assembly.add(values[i + 1], "f");
    assembly.text += ", ";
    assembly.add(values[i], "f");
    assembly.text += ";\n\t";
  }
  assembly.text = "{\n\t.reg .b8 " + declared + ";\n\t" + assembly.text +
                  "mov.b32 $0, {" + joined + "};\n\t}";
  return assemble(b, b.getI32Type(), assembly, /*hasEffects=*/false)
      .getResult(0);
}

/// The name of `format` in PTX.
static std::string ptxName(Type format) {
  return llvm::TypeSwitch<Type, std::string>(format)
      .Case<Float8E4M3FNType>([](Type) { return "e4m3"; })
      .Case<Float8E5M2Type>([](Type) { return "e5m2"; })
      .Case<Float6E2M3FNType>([](Type) { return "e2m3"; })
      .Case<Float6E3M2FNType>([](Type) { return "e3m2"; })
      .Case<Float4E2M1FNType>([](Type) { return "e2m1"; });
}

// As text, so that the halves of a word of 4-bit codes are joined as registers.
Value nvvm::encodeStochastic(ImplicitLocOpBuilder &b, ValueRange values,
                             ValueRange random, Type format) {
  constexpr size_t kGroup = 4;
  AssemblyText assembly(/*results=*/1);
  assembly.constraints = ",=r";
  bool areHalves = random.size() > 1;
  for (auto [i, bits] : llvm::enumerate(random)) {
    // The first of PTX's four has the highest code.
    SmallVector<Value> group(llvm::reverse(values.slice(i * kGroup, kGroup)));
    assembly.text += "cvt.rs.satfinite." + ptxName(format) + "x4.f32 " +
                     (areHalves ? "%codes" + std::to_string(i) : "$0") + ", ";
    assembly.add(group, "f");
    assembly.text += ", ";
    assembly.add(bits, "r");
    if (areHalves)
      assembly.text += ";\n\t";
  }
  if (areHalves)
    assembly.text = "{\n\t.reg .b16 %codes0, %codes1;\n\t" + assembly.text +
                    "mov.b32 $0, {%codes0, %codes1};\n\t}";
  return assemble(b, b.getI32Type(), assembly, /*hasEffects=*/false)
      .getResult(0);
}

Value nvvm::roundPair(ImplicitLocOpBuilder &b, Value low, Value high) {
  AssemblyText assembly(/*results=*/1);
  assembly.constraints = ",=r";
  assembly.text =
      "{\n\t.reg .b8 %codes;\n\tcvt.rn.satfinite.e2m1x2.f32 %codes, ";
  assembly.add(high, "f");
  assembly.text += ", ";
  assembly.add(low, "f");
  assembly.text += ";\n\tcvt.rn.f16x2.e2m1x2 $0, %codes;\n\t}";
  Value word =
      assemble(b, b.getI32Type(), assembly, /*hasEffects=*/false).getResult(0);
  return LLVM::BitcastOp::create(b, VectorType::get({2}, b.getF16Type()), word);
}

/// The intrinsic of NVVM with that name, of f32.
static Value call(ImplicitLocOpBuilder &b, StringRef name, ValueRange values) {
  return LLVM::CallIntrinsicOp::create(b, b.getF32Type(), b.getStringAttr(name),
                                       values)
      .getResult(0);
}

// Added to 2^(7 - F) times its binade, where numbers of the format have F bits
// of fraction, a number has 16 bits less than a step of the format in the low
// half of its word. There the random number is added and what is left dropped;
// a carry counts the step. What is taken away again is a bit less than what was
// added, so that a zero keeps the sign.
Value nvvm::dither(ImplicitLocOpBuilder &b, Value value, Value random,
                   FloatType format) {
  constexpr int kRandomBits = 16, kFractionBits = 23;
  constexpr int64_t kBinade = 0xff800000, kStep = 0xffff0000;
  const llvm::fltSemantics &semantics = format.getFloatSemantics();
  int fraction = int(llvm::APFloat::semanticsPrecision(semantics)) - 1;
  float factor = std::ldexp(1.0f, kFractionBits - kRandomBits - fraction);
  float less = std::nextafter(factor, 0.0f);
  llvm::APFloat limit = llvm::APFloat::getLargest(semantics);
  bool inexact;
  limit.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
                &inexact);
  Type i32 = b.getI32Type(), f32 = b.getF32Type();
  auto number = [&](float x) -> Value {
    return LLVM::ConstantOp::create(b, f32, b.getF32FloatAttr(x));
  };
  auto masked = [&](Value bits, int64_t mask) -> Value {
    Value kept = LLVM::AndOp::create(b, bits, constantWord(b, int32_t(mask)));
    return LLVM::BitcastOp::create(b, f32, kept);
  };
  // With the sign of the one that has one.
  Value bounded = call(b, "llvm.nvvm.fmin.xorsign.abs.f",
                       {value, number(limit.convertToFloat())});
  Value binade = masked(LLVM::BitcastOp::create(b, i32, bounded), kBinade);
  int smallest = llvm::APFloat::semanticsMinExponent(semantics);
  binade = call(b, "llvm.nvvm.fmax.xorsign.abs.f",
                {binade, number(std::ldexp(1.0f, smallest))});
  Value above =
      call(b, "llvm.nvvm.fma.rz.f", {binade, number(factor), bounded});
  Value sum =
      LLVM::AddOp::create(b, LLVM::BitcastOp::create(b, i32, above), random);
  return call(b, "llvm.nvvm.fma.rn.f",
              {binade, number(-less), masked(sum, kStep)});
}

Value nvvm::decodePair(ImplicitLocOpBuilder &b, Value codes, Type format) {
  auto f16x2 = VectorType::get({2}, b.getF16Type());
  if (isa<Float4E2M1FNType>(format)) {
    Value byte = LLVM::TruncOp::create(b, b.getI8Type(), codes);
    return NVVM::ConvertF4x2ToF16x2Op::create(b, f16x2, byte, /*relu=*/false,
                                              format);
  }
  Value both = LLVM::TruncOp::create(b, b.getI16Type(), codes);
  Value bytes =
      LLVM::BitcastOp::create(b, VectorType::get({2}, b.getI8Type()), both);
  if (isa<Float6E2M3FNType, Float6E3M2FNType>(format))
    return NVVM::ConvertF6x2ToF16x2Op::create(b, f16x2, bytes, /*relu=*/false,
                                              format);
  return NVVM::ConvertF8x2ToF16x2Op::create(b, f16x2, bytes, /*relu=*/false,
                                            format);
}

/// Two f16 less two f32, each by an instruction that takes half of a register.
/// As text, because LLVM would take the halves into registers of their own.
static SmallVector<Value> mixedDifferences(ImplicitLocOpBuilder &b,
                                           Value nearest, ValueRange values) {
  AssemblyText assembly(/*results=*/2);
  // Results are written before all numbers are read.
  assembly.constraints = ",=&f,=&f";
  Value word = LLVM::BitcastOp::create(b, b.getI32Type(), nearest);
  assembly.text = "{\n\t.reg .b16 %low, %high;\n\tmov.b32 {%low, %high}, ";
  assembly.add(word, "r");
  assembly.text += ";\n\tsub.f32.f16 $0, %low, ";
  assembly.add(values[0], "f");
  assembly.text += ";\n\tsub.f32.f16 $1, %high, ";
  assembly.add(values[1], "f");
  assembly.text += ";\n\t}";
  SmallVector<Type> types(2, b.getF32Type());
  auto both = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  Value found = assemble(b, both, assembly, /*hasEffects=*/false).getResult(0);
  SmallVector<Value> results;
  for (int64_t i : {0, 1})
    results.push_back(
        LLVM::ExtractValueOp::create(b, found, ArrayRef<int64_t>(i)));
  return results;
}

/// The same, `isMixed` or each f16 widened first.
static SmallVector<Value> differences(ImplicitLocOpBuilder &b, Value nearest,
                                      ValueRange values, bool isMixed) {
  if (isMixed)
    return mixedDifferences(b, nearest, values);
  SmallVector<Value> results;
  for (auto [i, value] : llvm::enumerate(values)) {
    Value half =
        LLVM::ExtractElementOp::create(b, nearest, constantWord(b, int64_t(i)));
    Value wide = LLVM::FPExtOp::create(b, b.getF32Type(), half);
    results.push_back(LLVM::FSubOp::create(b, wide, value));
  }
  return results;
}

/// The word of the codes of eight numbers, and those of the values of two codes
/// each, two f16. As text, for the reason of encodeWord().
static SmallVector<Value> roundWord(ImplicitLocOpBuilder &b,
                                    ValueRange values) {
  size_t pairs = values.size() / 2;
  AssemblyText assembly(/*results=*/pairs + 1);
  // Results are written before all numbers are read.
  for (size_t i = 0; i <= pairs; ++i)
    assembly.constraints += ",=&r";
  std::string declared, joined, decoded;
  for (size_t i = 0; i < pairs; ++i) {
    std::string byte = "%codes" + std::to_string(i);
    declared += (i == 0 ? "" : ", ") + byte;
    joined += (i == 0 ? "" : ", ") + byte;
    assembly.text += "cvt.rn.satfinite.e2m1x2.f32 " + byte + ", ";
    assembly.add(values[2 * i + 1], "f");
    assembly.text += ", ";
    assembly.add(values[2 * i], "f");
    assembly.text += ";\n\t";
    decoded +=
        "cvt.rn.f16x2.e2m1x2 $" + std::to_string(i + 1) + ", " + byte + ";\n\t";
  }
  assembly.text = "{\n\t.reg .b8 " + declared + ";\n\t" + assembly.text +
                  "mov.b32 $0, {" + joined + "};\n\t" + decoded + "}";
  SmallVector<Type> types(pairs + 1, b.getI32Type());
  auto all = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  Value found = assemble(b, all, assembly, /*hasEffects=*/false).getResult(0);
  SmallVector<Value> words;
  for (size_t i = 0; i <= pairs; ++i)
    words.push_back(
        LLVM::ExtractValueOp::create(b, found, ArrayRef<int64_t>(i)));
  return words;
}

RoundingErrors nvvm::roundingErrors(ImplicitLocOpBuilder &b, ValueRange values,
                                    Type format, bool isMixed) {
  auto f16x2 = VectorType::get({2}, b.getF16Type());
  RoundingErrors result;
  SmallVector<Value> rounded, errors;
  if (isa<Float4E2M1FNType>(format)) {
    SmallVector<Value> words = roundWord(b, values);
    result.codes = words.front();
    for (Value word : ArrayRef(words).drop_front())
      rounded.push_back(LLVM::BitcastOp::create(b, f16x2, word));
  } else {
    result.codes = encodePair(b, values[0], values[1], format);
    rounded.push_back(decodePair(b, result.codes, format));
  }
  auto type = VectorType::get({int64_t(values.size())}, b.getF32Type());
  result.errors = LLVM::PoisonOp::create(b, type);
  for (size_t i = 0; i < values.size(); ++i) {
    if (i % 2 == 0)
      errors.append(
          differences(b, rounded[i / 2], values.slice(i, 2), isMixed));
    result.errors = LLVM::InsertElementOp::create(b, result.errors, errors[i],
                                                  constantWord(b, int64_t(i)));
  }
  return result;
}

/// What the intrinsic `name` makes of the numbers of two vectors, each by
/// itself.
static Value callForEach(ImplicitLocOpBuilder &b, StringRef name, Value lhs,
                         Value rhs) {
  Type type = lhs.getType();
  Value result = LLVM::PoisonOp::create(b, type);
  for (int64_t i = 0; i < cast<VectorType>(type).getNumElements(); ++i) {
    Value at = constantWord(b, i);
    Value left = LLVM::ExtractElementOp::create(b, lhs, at);
    Value right = LLVM::ExtractElementOp::create(b, rhs, at);
    Value one = call(b, name, {left, right});
    result = LLVM::InsertElementOp::create(b, result, one, at);
  }
  return result;
}

/// With one result of `name` for each pair of numbers, or for the one there is;
/// null if pairs are to be computed at once.
static Value roundedOneByOne(ImplicitLocOpBuilder &b, StringLiteral name,
                             Value lhs, Value rhs, bool isPacked) {
  if (!isa<VectorType>(lhs.getType()))
    return call(b, name, {lhs, rhs});
  return isPacked ? Value() : callForEach(b, name, lhs, rhs);
}

/// Both pairs of floats as operands of the text, 64 bits each.
static void addPairs(ImplicitLocOpBuilder &b, AssemblyText &assembly, Value lhs,
                     Value rhs) {
  Value left = LLVM::BitcastOp::create(b, b.getI64Type(), lhs);
  Value right = LLVM::BitcastOp::create(b, b.getI64Type(), rhs);
  assembly.add(left, "l");
  assembly.text += ", ";
  assembly.add(right, "l");
}

Value nvvm::addTowardsZero(ImplicitLocOpBuilder &b, Value lhs, Value rhs,
                           bool isPacked) {
  if (Value sums = roundedOneByOne(b, "llvm.nvvm.add.rz.f", lhs, rhs, isPacked))
    return sums;
  AssemblyText assembly(/*results=*/1);
  assembly.constraints = ",=l";
  assembly.text = "add.rz.f32x2 $0, ";
  addPairs(b, assembly, lhs, rhs);
  Value sum =
      assemble(b, b.getI64Type(), assembly, /*hasEffects=*/false).getResult(0);
  return LLVM::BitcastOp::create(b, lhs.getType(), sum);
}

// The text takes the halves of the product apart, which LLVM would do to one of
// them by a conversion to 32 bits.
Value nvvm::multiplyTowardsZero(ImplicitLocOpBuilder &b, Value lhs, Value rhs,
                                bool isPacked) {
  if (Value products =
          roundedOneByOne(b, "llvm.nvvm.mul.rz.f", lhs, rhs, isPacked))
    return products;
  AssemblyText assembly(/*results=*/2);
  assembly.constraints = ",=f,=f";
  assembly.text = "{\n\t.reg .b64 %product;\n\tmul.rz.f32x2 %product, ";
  addPairs(b, assembly, lhs, rhs);
  assembly.text += ";\n\tmov.b64 {$0, $1}, %product;\n\t}";
  SmallVector<Type> types(2, b.getF32Type());
  auto both = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  Value found = assemble(b, both, assembly, /*hasEffects=*/false).getResult(0);
  Value result = LLVM::PoisonOp::create(b, lhs.getType());
  for (int64_t i : {0, 1})
    result = LLVM::InsertElementOp::create(
        b, result, LLVM::ExtractValueOp::create(b, found, ArrayRef<int64_t>(i)),
        constantWord(b, i));
  return result;
}

// As text, because LLVM takes the bytes into a register.
Value nvvm::addHalf(ImplicitLocOpBuilder &b, Value addend, int64_t factor,
                    Value word, bool isUpper) {
  constexpr int64_t kByteBits = 8;
  AssemblyText assembly(/*results=*/1);
  assembly.constraints = ",=r";
  assembly.text = "dp2a.lo.u32.u32 $0, ";
  assembly.add(word, "r");
  assembly.text +=
      ", " + std::to_string(isUpper ? factor << kByteBits : factor) + ", ";
  assembly.add(addend, "r");
  return assemble(b, b.getI32Type(), assembly, /*hasEffects=*/false)
      .getResult(0);
}
