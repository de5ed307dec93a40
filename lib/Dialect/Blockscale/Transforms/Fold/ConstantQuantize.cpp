//===- ConstantQuantize.cpp - quantize of constants -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantQuantize.h"
#include "ConstantNumbers.h"
#include "blockscale/Dialect/Blockscale/IR/Codebooks.h"
#include "blockscale/Dialect/Blockscale/IR/Quantize.h"
#include "blockscale/Formats/Quotient.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace blockscale;

static constexpr float kFloatMax = std::numeric_limits<float>::max();
/// Where integer zero points end, however far below the scale's reach numbers
/// are.
static constexpr float kMostSteps = 0x1p22f - 1;
/// A scale format that reaches this far has the exponents of f32.
static constexpr float kWideScale = 0x1p127f;

/// min(value, limit); a NaN stays.
static float atMost(float value, float limit) {
  return value > limit ? limit : value;
}

/// The larger one, or a NaN.
static float largerOf(float x, float y) {
  return std::isnan(x) || x > y ? x : y;
}

namespace {
class Quantizer {
public:
  Quantizer(QuantizeOp op, ArrayRef<float> values)
      : op(op), type(op.getType()), shape(type), parts(*getTensorParts(type)),
        meaning(meaningOfElements(type)), values(values) {}

  ConstantParts run(ArrayRef<float> tensorScale);

private:
  /// What the scale of a matrix does: `encode` multiplies data, `decode` is the
  /// value that is stored.
  struct Factors {
    float encode = 1, decode = 1;
  };

  std::vector<float> tileMaxima() const;
  void quantizeWithZeros();
  float inverseScale(uint64_t tile) const;
  Factors chosenFactors(float largest) const;
  void setFactors(ArrayRef<float> maxima, ArrayRef<float> tensorScale);
  uint32_t tileScale(float largest, std::optional<Factors> matrix,
                     ScaleRule rule, float target);
  void setScales(ArrayRef<float> maxima);
  std::vector<uint64_t> errorsUnder(ArrayRef<uint32_t> scales,
                                    ArrayRef<uint32_t> first);
  float errorUnit() const;
  float scaleOf(uint32_t code) const;
  float largestScale() const;
  float quotient(uint64_t at, float scale) const;
  uint32_t element(uint64_t at);
  NumberRounding roundingOf(uint64_t element);

  QuantizeOp op;
  ScaledTensorType type;
  TensorShape shape;
  TensorParts parts;
  IntegerMeaning meaning;
  ArrayRef<float> values;
  /// One for each matrix, if there is a tensor scale.
  std::vector<Factors> factors;
  ConstantParts result;
};
} // namespace

std::vector<float> Quantizer::tileMaxima() const {
  std::vector<float> maxima(shape.tiles(), 0.0f);
  for (uint64_t i = 0; i < values.size(); ++i) {
    float &largest = maxima[shape.tileOf(i)];
    largest = largerOf(std::fabs(values[i]), largest);
  }
  return maxima;
}

/// Brings the largest magnitude of a matrix to the largest element under the
/// largest tile scale.
Quantizer::Factors Quantizer::chosenFactors(float largest) const {
  float widest =
      largestNumber(parts.scales.getElementType(), IntegerMeaning::Fraction);
  if (widest >= kWideScale)
    return {};
  float product = largestNumber(type.getElementType(), meaning) * widest;
  float encode = atMost(product / largest, kFloatMax);
  if (!(encode > 0 && largest > 0))
    encode = 1;
  // Dividing twice must not carry the largest value past the end of f32.
  return {encode, atMost(1 / encode, quotientTowardsZero(kFloatMax, product))};
}

void Quantizer::setFactors(ArrayRef<float> maxima,
                           ArrayRef<float> tensorScale) {
  Type format = parts.tensorScale.getElementType();
  for (uint64_t matrix = 0; matrix < shape.matrices; ++matrix) {
    float largest = 0;
    for (uint64_t i = 0; i < shape.tilesOfMatrix(); ++i)
      largest = largerOf(maxima[matrix * shape.tilesOfMatrix() + i], largest);
    bool isGiven = !tensorScale.empty();
    Factors chosen = isGiven ? Factors{0, std::fabs(tensorScale[matrix])}
                             : chosenFactors(largest);
    uint32_t code = encodeNumberUpwards(format, chosen.decode);
    // All else follows from what is stored, as long as that was rounded.
    if (isGiven || !format.isF32()) {
      chosen.decode = decodeNumber(format, code, IntegerMeaning::Fraction);
      chosen.encode = atMost(1 / chosen.decode, kFloatMax);
    }
    factors.push_back(chosen);
    result.tensorScale.push_back(code);
  }
}

/// The largest tile scale whose product with the largest element is an f32.
float Quantizer::largestScale() const {
  Type format = parts.scales.getElementType();
  float bound = quotientTowardsZero(
      kFloatMax, largestNumber(type.getElementType(), meaning));
  bound = atMost(bound, largestNumber(format, IntegerMeaning::Fraction));
  auto real = dyn_cast<FloatType>(format);
  if (!real)
    return bound;
  APFloat rounded(bound);
  bool losesInfo = false;
  rounded.convert(real.getFloatSemantics(), APFloat::rmTowardZero, &losesInfo);
  rounded.convert(APFloat::IEEEsingle(), APFloat::rmTowardZero, &losesInfo);
  return rounded.convertToFloat();
}

/// By a rule of powers of two; other scales bring the largest magnitude to the
/// element `target`.
uint32_t Quantizer::tileScale(float largest, std::optional<Factors> matrix,
                              ScaleRule rule, float target) {
  if (type.getSpec().getValue().scale->kind == NumberKind::Exponent)
    return exponentScaleOf(rule, type.getElementType(),
                           matrix ? largest * matrix->encode : largest);
  // The order of operations is part of NVFP4's published rule.
  float scale =
      matrix ? largest * (matrix->encode * (1.0f / target)) : largest / target;
  return encodeNumber(parts.scales.getElementType(),
                      atMost(scale, largestScale()), IntegerMeaning::Fraction);
}

float Quantizer::scaleOf(uint32_t code) const {
  return decodeNumber(parts.scales.getElementType(), code,
                      IntegerMeaning::Fraction);
}

/// The least power of two that an element's error under the first scale does
/// not exceed.
float Quantizer::errorUnit() const {
  Type element = type.getElementType();
  if (isa<IntegerType>(element))
    return meaning == IntegerMeaning::Fraction
               ? largestNumber(element, IntegerMeaning::Fraction) /
                     largestNumber(element, IntegerMeaning::Symmetric)
               : 1;
  float largest = largestNumber(element, meaning), unit = 1;
  float next = std::exp2(std::floor(std::log2(largest)) + 1);
  while (unit < next - largest)
    unit *= 2;
  while (unit / 2 >= next - largest)
    unit /= 2;
  return unit;
}

/// What the rule 'min_error' compares, for each tile.
std::vector<uint64_t> Quantizer::errorsUnder(ArrayRef<uint32_t> scales,
                                             ArrayRef<uint32_t> first) {
  std::vector<uint64_t> errors(shape.tiles(), 0);
  Type element = type.getElementType();
  for (uint64_t i = 0; i < values.size(); ++i) {
    uint64_t tile = shape.tileOf(i);
    float scale = scaleOf(scales[tile]);
    float exact = std::fabs(quotient(i, scale));
    float rounded =
        decodeNumber(element, encodeNumber(element, exact, meaning), meaning);
    float error = std::fabs(exact - rounded) * (scale / scaleOf(first[tile])) /
                  errorUnit();
    // A NaN is as bad as can be.
    errors[tile] += static_cast<uint64_t>(
        std::floor(std::fmin(error * error, 1.0f) * float(1 << 20)));
  }
  return errors;
}

void Quantizer::setScales(ArrayRef<float> maxima) {
  auto scalesBy = [&](ScaleRule rule, float target) {
    std::vector<uint32_t> scales;
    for (uint64_t i = 0; i < maxima.size(); ++i) {
      std::optional<Factors> matrix;
      if (!factors.empty())
        matrix = factors[i / shape.tilesOfMatrix()];
      scales.push_back(tileScale(maxima[i], matrix, rule, target));
    }
    return scales;
  };
  Type element = type.getElementType();
  float largest = largestNumber(element, meaning);
  if (op.getRule() != ScaleRule::MinError) {
    result.scales = scalesBy(op.getRule(), largest);
    return;
  }
  uint32_t second = encodeNumber(element, largest, meaning) - 1;
  std::vector<uint32_t> scales = scalesBy(ScaleRule::Floor, largest);
  std::vector<uint32_t> others =
      scalesBy(ScaleRule::FloorPlusOne, decodeNumber(element, second, meaning));
  std::vector<uint64_t> errors = errorsUnder(scales, scales);
  std::vector<uint64_t> otherErrors = errorsUnder(others, scales);
  for (uint64_t tile = 0; tile < scales.size(); ++tile)
    if (otherErrors[tile] < errors[tile] || scaleOf(scales[tile]) == 0)
      scales[tile] = others[tile];
  result.scales = std::move(scales);
}

NumberRounding Quantizer::roundingOf(uint64_t element) {
  NumberRounding rounding{op.getRounding()};
  if (rounding.mode == ElementRounding::Stochastic)
    rounding.random = randomOf(*op.getSeed(), element);
  if (rounding.mode == ElementRounding::StochasticRS)
    rounding = {ElementRounding::Stochastic,
                sharedRandomOf(*op.getSeed(), element,
                               type.getElementType().getIntOrFloatBitWidth())};
  return rounding;
}

/// A value in units of its scale.
float Quantizer::quotient(uint64_t at, float scale) const {
  float step = scale;
  if (!factors.empty())
    step = atMost(scale * factors[shape.matrixOf(at)].decode, kFloatMax);
  return values[at] * (scale == 0 ? 0.0f : atMost(1 / step, kFloatMax));
}

uint32_t Quantizer::element(uint64_t at) {
  float value = values[at];
  if (parts.scales)
    value = quotient(at, scaleOf(result.scales[shape.tileOf(at)]));
  return encodeNumber(type.getElementType(), value, meaning, roundingOf(at));
}

/// 1 / scale, 0 where that is 0.
float Quantizer::inverseScale(uint64_t tile) const {
  float scale = decodeNumber(parts.scales.getElementType(), result.scales[tile],
                             IntegerMeaning::Fraction);
  return scale == 0 ? 0.0f : atMost(1 / scale, kFloatMax);
}

void Quantizer::quantizeWithZeros() {
  std::vector<float> lows(shape.tiles(), 0.0f), highs(lows);
  for (uint64_t i = 0; i < values.size(); ++i) {
    float &low = lows[shape.tileOf(i)], &high = highs[shape.tileOf(i)];
    high = largerOf(values[i], high);
    low = -largerOf(-values[i], -low);
  }
  bool isInteger = type.getSpec().getValue().hasIntegerZero();
  Type scale = parts.scales.getElementType(),
       zero = parts.zeros.getElementType();
  float largest = largestNumber(type.getElementType(), meaning);
  for (uint64_t tile = 0; tile < lows.size(); ++tile) {
    float span = (highs[tile] - lows[tile]) / largest;
    result.scales.push_back(encodeNumber(scale, atMost(span, largestScale()),
                                         IntegerMeaning::Fraction));
    float shift = 0 - lows[tile];
    if (isInteger)
      shift = atMost(shift * inverseScale(tile), kMostSteps);
    result.zeros.push_back(encodeNumber(zero, shift, IntegerMeaning::Whole));
  }
  for (uint64_t i = 0; i < values.size(); ++i) {
    uint64_t tile = shape.tileOf(i);
    float z = decodeNumber(zero, result.zeros[tile], IntegerMeaning::Whole);
    float steps = (isInteger ? values[i] : values[i] + z) * inverseScale(tile);
    int64_t count = roundToInteger(steps, roundingOf(i));
    if (isInteger)
      count += static_cast<int64_t>(z);
    result.data.push_back(static_cast<uint32_t>(
        std::clamp<int64_t>(count, 0, static_cast<int64_t>(largest))));
  }
}

ConstantParts Quantizer::run(ArrayRef<float> tensorScale) {
  if (parts.zeros) {
    quantizeWithZeros();
    return std::move(result);
  }
  if (parts.scales) {
    std::vector<float> maxima = tileMaxima();
    if (parts.tensorScale)
      setFactors(maxima, tensorScale);
    if (givesScale(op))
      for (float given : tensorScale)
        result.scales.push_back(encodeNumberUpwards(
            parts.scales.getElementType(), std::fabs(given)));
    else
      setScales(maxima);
  }
  for (uint64_t i = 0; i < values.size(); ++i)
    result.data.push_back(element(i));
  return std::move(result);
}

ConstantParts blockscale::quantizeConstant(QuantizeOp op,
                                           ArrayRef<float> values,
                                           ArrayRef<float> tensorScale) {
  return Quantizer(op, values).run(tensorScale);
}

namespace {
/// The elements of a tensor as numbers, without scales.
class ElementReader {
public:
  ElementReader(ScaledTensorType type, const ConstantParts &parts)
      : type(type), parts(parts), meaning(meaningOfElements(type)), shape(type),
        numbers(tableNumbers(type)) {
    if (numbers)
      values = codebookValues(*getNumberSpec(type.getElementType()));
  }

  float operator()(uint64_t element) const {
    uint32_t code = parts.data[element];
    if (!numbers)
      return decodeNumber(type.getElementType(), code, meaning);
    return values[tableOf(element) << numbers->indexBits | code];
  }

private:
  /// The number of the table that an element takes.
  uint32_t tableOf(uint64_t element) const {
    uint64_t rows = numbers->rows ? numbers->rows : shape.rows;
    uint64_t groups = hw::ceilDiv(shape.rows, rows);
    uint64_t bytes = hw::ceilDiv(shape.k, numbers->columnsOfByte());
    uint64_t row = element / shape.k % shape.rows, column = element % shape.k;
    uint64_t line = shape.matrixOf(element) * groups + row / rows;
    uint64_t number = column / numbers->columns;
    uint32_t byte = parts.metadata[line * bytes + number / numbers->perByte()];
    return byte >> number % numbers->perByte() * numbers->bits &
           ((1u << numbers->bits) - 1);
  }

  ScaledTensorType type;
  const ConstantParts &parts;
  IntegerMeaning meaning;
  TensorShape shape;
  std::optional<TableNumbers> numbers;
  std::vector<float> values;
};
} // namespace

std::vector<uint32_t> blockscale::dequantizeConstant(ScaledTensorType type,
                                                     const ConstantParts &parts,
                                                     Type result) {
  TensorShape shape(type);
  TensorParts types = *getTensorParts(type);
  ElementReader elements(type, parts);
  auto factorOf = [](RankedTensorType part, ArrayRef<uint32_t> codes,
                     uint64_t at) {
    return decodeNumber(part.getElementType(), codes[at],
                        IntegerMeaning::Fraction);
  };
  std::vector<uint32_t> codes;
  for (uint64_t i = 0; i < shape.elements(); ++i) {
    float value = elements(i);
    float zero = 0;
    // None is subtracted from what was pruned, which is 0.
    if (types.zeros && (parts.kept.empty() || parts.kept[i]))
      zero = decodeNumber(types.zeros.getElementType(),
                          parts.zeros[shape.tileOf(i)], IntegerMeaning::Whole);
    bool isInteger = type.getSpec().getValue().hasIntegerZero();
    if (isInteger)
      value -= zero;
    if (types.scales)
      value = finiteProduct(
          value, factorOf(types.scales, parts.scales, shape.tileOf(i)));
    if (types.zeros && !isInteger)
      value = finiteDifference(value, zero);
    if (types.tensorScale)
      value =
          finiteProduct(value, factorOf(types.tensorScale, parts.tensorScale,
                                        shape.matrixOf(i)));
    codes.push_back(encodeFinite(result, value));
  }
  return codes;
}
