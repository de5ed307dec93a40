//===- QuantizeToLinalg.cpp - between plain values and scaled ones --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementValues.h"
#include "Patterns.h"
#include "QuantizeParts.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Quantize.h"
#include "blockscale/Dialect/Blockscale/IR/ScaleCodes.h"
#include "blockscale/Formats/Quotient.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace blockscale;

namespace {

constexpr float kFloatMax = std::numeric_limits<float>::max();
/// A scale format whose largest number is not below has the exponents of f32.
constexpr float kWideScale = 0x1p127f;

Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// Dequantize
//===----------------------------------------------------------------------===//

struct DequantizeToLinalg : ScaledPattern<DequantizeOp> {
  using ScaledPattern::ScaledPattern;

  LogicalResult
  matchAndRewrite(DequantizeOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Parts parts(op.getInput().getType(), adaptor.getInput());
    Value values =
        tileScaledValues(e, parts, useExtf, /*saturateProducts=*/true);
    Type element = op.getType().getElementType();
    if (parts.tensorScale || !element.isF32())
      values = finish(e, parts, values, element);
    rewriter.replaceOp(op, castTo(e, values, op.getType()));
    return success();
  }

  /// Multiplies by the tensor scale and rounds.
  Value finish(Emitter &e, const Parts &parts, Value values,
               Type element) const {
    SmallVector<OpFoldResult> sizes = logicalSizes(e, parts);
    auto rank = static_cast<unsigned>(sizes.size());
    AffineMap identity = e.getMultiDimIdentityMap(rank);
    SmallVector<Value> inputs = {values};
    SmallVector<AffineMap> maps = {identity};
    std::optional<Decoder> decoder;
    if (parts.tensorScale) {
      decoder.emplace(e, elementOf(parts.tensorScale), useExtf);
      inputs.push_back(parts.tensorScale);
      maps.push_back(leadingDimensions(e, rank, rank - 2));
    }
    maps.push_back(identity);
    Value init = tensor::EmptyOp::create(e, sizes, element);
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        e, init.getType(), inputs, init, maps, iterators,
        [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          Emitter body(loc, builder);
          Value value = arguments[0];
          if (decoder)
            value = saturatedProduct(body, value,
                                     decoder->decode(body, arguments[1]));
          linalg::YieldOp::create(body, narrowSaturating(body, value, element));
        });
    return generic.getResult(0);
  }
};

//===----------------------------------------------------------------------===//
// Quantize
//===----------------------------------------------------------------------===//

/// The factors of a tensor scale as tensors of f32, one element per matrix:
/// `encode` multiplies the data, `decode` is its inverse. `stored` holds the
/// values of `decode` in the format of the spec.
struct TensorFactors {
  Value encode, decode, stored;
};

/// One quantization, step by step.
class Quantizer {
public:
  Quantizer(Emitter &emitter, QuantizeOp op, Value input, bool useExtf)
      : e(emitter), op(op), type(op.getResult().getType()), input(input),
        useExtf(useExtf), sizes(tensor::getMixedSizes(e, e.getLoc(), input)),
        counts(tileCounts(e, type, sizes)) {}

  SmallVector<Value> run(Value tensorScale) {
    TensorParts parts = *getTensorParts(type);
    if (!parts.scales) {
      Value data = unscaledCodes(parts.data.getElementType());
      if (type.getOrder() == DataOrder::MNMajor)
        data = transposeData(e, data);
      return {castTo(e, data, parts.data)};
    }
    SmallVector<Value> results(2);
    TensorFactors factors;
    Type element = parts.scales.getElementType();
    Value scales;
    if (givesScale(op)) {
      scales = givenScales(tensorScale, element);
    } else {
      Value largest = tileMaxima();
      if (parts.tensorScale) {
        Type stored = parts.tensorScale.getElementType();
        factors = tensorScale ? givenFactors(tensorScale, stored)
                              : chosenFactors(largest, stored);
        results.push_back(factors.stored);
      }
      scales = chosenScales(largest, factors, element);
    }
    Value data = codes(scales, factors);
    if (type.getOrder() == DataOrder::MNMajor)
      data = transposeData(e, data);
    scales = convertScales(e, scales, ScaleLayout::Plain, getScaleLayout(type),
                           counts);
    results[0] = castTo(e, data, parts.data);
    results[1] = castTo(e, scales, parts.scales);
    if (parts.tensorScale)
      results[2] = castTo(e, results[2], parts.tensorScale);
    return results;
  }

private:
  /// The position of the matrix that an element or tile belongs to.
  static SmallVector<Value> matrixOf(ValueRange position) {
    return SmallVector<Value>(position.drop_back(2));
  }

  Value tileMaxima();
  Value givenScales(Value given, Type element);
  Value chosenScales(Value largest, const TensorFactors &factors, Type element);
  TensorFactors givenFactors(Value tensorScale, Type element);
  TensorFactors chosenFactors(Value largest, Type element);
  TensorFactors storedFactors(Value decode, Type element);
  Value matrixMaxima(Value largest);
  Value tileScales(Value largest, const TensorFactors &factors, Type element,
                   ScaleRule rule, float target);
  Value lessErringScales(Value largest, const TensorFactors &factors,
                         Type element);
  Value errorsUnder(Value scales, Value first, const TensorFactors &factors);
  Value inverseAt(Emitter &body, Value scale, const TensorFactors &factors,
                  ValueRange position);
  Value codes(Value scales, const TensorFactors &factors);
  Value unscaledCodes(Type stored);

  Emitter &e;
  QuantizeOp op;
  ScaledTensorType type;
  Value input;
  bool useExtf;
  SmallVector<OpFoldResult> sizes, counts;
};

/// The largest magnitude in each tile; NaN if there is one.
Value Quantizer::tileMaxima() {
  return reduceTiles(e, type, input, [](Emitter &body, Value most, Value x) {
    Value magnitude = math::AbsFOp::create(body, x);
    return arith::MaximumFOp::create(body, most, magnitude).getResult();
  });
}

/// The one scale of each matrix, of which the magnitude counts.
Value Quantizer::givenScales(Value given, Type element) {
  return generate(e, counts, element, [&](Emitter &body, ValueRange tile) {
    Value scale = tensor::ExtractOp::create(body, given, matrixOf(tile));
    return encodeUpwards(body, math::AbsFOp::create(body, scale), element);
  });
}

Value Quantizer::chosenScales(Value largest, const TensorFactors &factors,
                              Type element) {
  if (op.getRule() == ScaleRule::MinError)
    return lessErringScales(largest, factors, element);
  return tileScales(largest, factors, element, op.getRule(),
                    largestElement(type));
}

/// The factors that belong to `decode` after it was rounded to the format of
/// the spec, which is what a reader of the result multiplies by.
TensorFactors Quantizer::storedFactors(Value decode, Type element) {
  ArrayRef<OpFoldResult> batch = ArrayRef(sizes).drop_back(2);
  TensorFactors factors{{}, decode, decode};
  if (!element.isF32()) {
    factors.stored =
        generate(e, batch, element, [&](Emitter &body, ValueRange position) {
          Value factor = tensor::ExtractOp::create(body, decode, position);
          return encodeUpwards(body, factor, element);
        });
    Decoder decoder(e, element, useExtf);
    factors.decode = generate(
        e, batch, e.getF32Type(), [&](Emitter &body, ValueRange position) {
          return decoder.decode(
              body, tensor::ExtractOp::create(body, factors.stored, position));
        });
  }
  factors.encode = generate(
      e, batch, e.getF32Type(), [&](Emitter &body, ValueRange position) {
        Value factor =
            tensor::ExtractOp::create(body, factors.decode, position);
        return boundedInverse(body, factor);
      });
  return factors;
}

/// Tile scales carry no sign, so that of a given tensor scale does not count.
TensorFactors Quantizer::givenFactors(Value tensorScale, Type element) {
  ArrayRef<OpFoldResult> batch = ArrayRef(sizes).drop_back(2);
  auto magnitude = [&](Emitter &body, ValueRange position) -> Value {
    Value given = tensor::ExtractOp::create(body, tensorScale, position);
    return math::AbsFOp::create(body, given);
  };
  return storedFactors(generate(e, batch, e.getF32Type(), magnitude), element);
}

/// The largest magnitude of each matrix.
Value Quantizer::matrixMaxima(Value largest) {
  ArrayRef<OpFoldResult> batch = ArrayRef(sizes).drop_back(2);
  auto rank = static_cast<unsigned>(sizes.size());
  AffineMap identity = e.getMultiDimIdentityMap(rank);
  Value empty = tensor::EmptyOp::create(e, batch, e.getF32Type());
  Value zeros = linalg::FillOp::create(e, e.f32(0), empty).getResult(0);
  SmallVector<utils::IteratorType> iterators(rank - 2,
                                             utils::IteratorType::parallel);
  iterators.append(2, utils::IteratorType::reduction);
  auto maxima = linalg::GenericOp::create(
      e, zeros.getType(), largest, zeros,
      ArrayRef<AffineMap>{identity, leadingDimensions(e, rank, rank - 2)},
      iterators, [](OpBuilder &builder, Location loc, ValueRange arguments) {
        Value larger =
            arith::MaximumFOp::create(builder, loc, arguments[0], arguments[1]);
        linalg::YieldOp::create(builder, loc, larger);
      });
  return maxima.getResult(0);
}

/// From the largest magnitude `g` of each matrix: `min(P / g, FLT_MAX)` and
/// its inverse, where P is the largest element times the largest scale; 1 for
/// a matrix that is all zeros or not finite. Also 1 for all where the tile
/// scales end where f32 ends: they need no help, and P may be beyond f32.
TensorFactors Quantizer::chosenFactors(Value largest, Type element) {
  ArrayRef<OpFoldResult> batch = ArrayRef(sizes).drop_back(2);
  Type scale = getTensorParts(type)->scales.getElementType();
  float product = largestElement(type) * largestValue(scale);
  if (largestValue(scale) >= kWideScale) {
    auto one = [](Emitter &body, ValueRange) { return body.f32(1); };
    return storedFactors(generate(e, batch, e.getF32Type(), one), element);
  }
  Value maxima = matrixMaxima(largest);
  Value encode = generate(
      e, batch, e.getF32Type(), [&](Emitter &body, ValueRange position) {
        Value g = tensor::ExtractOp::create(body, maxima, position);
        Value factor = arith::DivFOp::create(body, body.f32(product), g);
        factor = arith::MinimumFOp::create(body, factor, body.f32(kFloatMax));
        // 0 from infinity; a NaN compares false. g = 0 gives FLT_MAX, or NaN.
        Value usable = arith::AndIOp::create(
            body,
            arith::CmpFOp::create(body, arith::CmpFPredicate::OGT, factor,
                                  body.f32(0)),
            arith::CmpFOp::create(body, arith::CmpFPredicate::OGT, g,
                                  body.f32(0)));
        return arith::SelectOp::create(body, usable, factor, body.f32(1))
            .getResult();
      });
  // Rounding twice must not carry the largest value past the end of f32.
  float bound = quotientTowardsZero(kFloatMax, product);
  Value decode = generate(
      e, batch, e.getF32Type(), [&](Emitter &body, ValueRange position) {
        Value factor = tensor::ExtractOp::create(body, encode, position);
        Value inverse = arith::DivFOp::create(body, body.f32(1), factor);
        return arith::MinimumFOp::create(body, inverse, body.f32(bound))
            .getResult();
      });
  if (!element.isF32())
    return storedFactors(decode, element);
  return {encode, decode, decode};
}

/// Plain scales; the largest magnitude becomes the element `target` by those
/// that are no powers of two.
Value Quantizer::tileScales(Value largest, const TensorFactors &factors,
                            Type element, ScaleRule rule, float target) {
  bool exponent = type.getSpec().getValue().scale->kind == NumberKind::Exponent;
  auto powerOfTwo = [&](Emitter &body, Value m, Value factor) -> Value {
    if (factor)
      m = arith::MulFOp::create(body, m, factor);
    return exponentScale(body, m, rule, type.getElementType());
  };
  float bound = exponent ? 0 : largestScale(element, largestElement(type));
  auto nearest = [&](Emitter &body, Value m, Value factor) -> Value {
    // The order of operations is part of NVFP4's published rule.
    Value scale;
    if (factor)
      scale = arith::MulFOp::create(
          body, m,
          arith::MulFOp::create(body, factor, body.f32(1.0f / target)));
    else
      scale = arith::DivFOp::create(body, m, body.f32(target));
    scale = arith::MinimumFOp::create(body, scale, body.f32(bound));
    return encode(body, scale, element);
  };
  return generate(e, counts, element, [&](Emitter &body, ValueRange tile) {
    Value m = tensor::ExtractOp::create(body, largest, tile), factor;
    if (factors.encode)
      factor = tensor::ExtractOp::create(body, factors.encode, matrixOf(tile));
    return exponent ? powerOfTwo(body, m, factor) : nearest(body, m, factor);
  });
}

/// What `min_error` compares, for each tile.
Value Quantizer::errorsUnder(Value scales, Value first,
                             const TensorFactors &factors) {
  Decoder decoder(e, elementOf(scales), useExtf);
  return sumErrors(
      e, type, input, [&](Emitter &body, ValueRange position, ValueRange tile) {
        auto scaleOf = [&](Value all) {
          return decoder.decode(body,
                                tensor::ExtractOp::create(body, all, tile));
        };
        Value scale = scaleOf(scales), ratio = body.f32(1);
        if (scales != first)
          ratio = arith::DivFOp::create(body, scale, scaleOf(first));
        Value x = body.widen(tensor::ExtractOp::create(body, input, position));
        Value quotient = arith::MulFOp::create(
            body, x, inverseAt(body, scale, factors, position));
        return squaredError(body, math::AbsFOp::create(body, quotient), ratio,
                            type);
      });
}

/// The scales that `min_error` takes.
Value Quantizer::lessErringScales(Value largest, const TensorFactors &factors,
                                  Type element) {
  Value first = tileScales(largest, factors, element, ScaleRule::Floor,
                           largestElement(type));
  Value second = tileScales(largest, factors, element, ScaleRule::FloorPlusOne,
                            secondLargestElement(type));
  Value errors = errorsUnder(first, first, factors),
        others = errorsUnder(second, first, factors);
  Decoder decoder(e, element, useExtf);
  return generate(e, counts, element, [&](Emitter &body, ValueRange tile) {
    auto at = [&](Value all) -> Value {
      return tensor::ExtractOp::create(body, all, tile);
    };
    Value isLess = arith::CmpIOp::create(body, arith::CmpIPredicate::ult,
                                         at(others), at(errors));
    Value isZero =
        arith::CmpFOp::create(body, arith::CmpFPredicate::OEQ,
                              decoder.decode(body, at(first)), body.f32(0));
    Value isBetter = arith::OrIOp::create(body, isLess, isZero);
    return select(body, isBetter, at(second), at(first));
  });
}

/// What elements of a tile are multiplied by: `1 / (s * t)`, 0 where the scale
/// is 0.
Value Quantizer::inverseAt(Emitter &body, Value scale,
                           const TensorFactors &factors, ValueRange position) {
  Value step = scale;
  if (factors.decode) {
    step = arith::MulFOp::create(
        body, scale,
        tensor::ExtractOp::create(body, factors.decode, matrixOf(position)));
    step = arith::MinimumFOp::create(body, step, body.f32(kFloatMax));
  }
  Value isZero = arith::CmpFOp::create(body, arith::CmpFPredicate::OEQ, scale,
                                       body.f32(0));
  return select(body, isZero, body.f32(0), boundedInverse(body, step));
}

/// The codes in logical order.
Value Quantizer::codes(Value scales, const TensorFactors &factors) {
  Decoder decoder(e, elementOf(scales), useExtf);
  return generate(
      e, sizes, type.getElementType(), [&](Emitter &body, ValueRange position) {
        Value x = body.widen(tensor::ExtractOp::create(body, input, position));
        Value scale = decoder.decode(
            body, tensor::ExtractOp::create(
                      body, scales, tilePosition(body, type, position)));
        Value inverse = inverseAt(body, scale, factors, position);
        return encodeElement(body, arith::MulFOp::create(body, x, inverse),
                             type, rounderAt(body, op, sizes, position));
      });
}

/// The elements rounded, as they are stored.
Value Quantizer::unscaledCodes(Type stored) {
  return generate(e, sizes, stored, [&](Emitter &body, ValueRange position) {
    Value x = body.widen(tensor::ExtractOp::create(body, input, position));
    return encodeUnscaled(body, x, type.getElementType(),
                          rounderAt(body, op, sizes, position));
  });
}

/// Prunes first, then quantizes what is left and compresses it.
struct ExpandSparseQuantize : OpConversionPattern<QuantizeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(QuantizeOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return expandSparseQuantize(rewriter, op);
  }
};

struct QuantizeToLinalg : ScaledPattern<QuantizeOp> {
  using ScaledPattern::ScaledPattern;

  LogicalResult
  matchAndRewrite(QuantizeOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getType().getSpec().getValue().isSparse())
      return rewriter.notifyMatchFailure(op, "sparse specs are expanded first");
    Emitter e(op.getLoc(), rewriter);
    ValueRange given = adaptor.getTensorScale();
    if (op.getType().getSpec().getValue().zero) {
      SmallVector<Value> parts =
          quantizeWithZeros(e, op, adaptor.getInput().front(), useExtf);
      rewriter.replaceOpWithMultiple(op, {ValueRange(parts)});
      return success();
    }
    Quantizer quantizer(e, op, adaptor.getInput().front(), useExtf);
    SmallVector<Value> parts =
        quantizer.run(given.empty() ? Value() : given.front());
    rewriter.replaceOpWithMultiple(op, {ValueRange(parts)});
    return success();
  }
};

} // namespace

void blockscale::populateQuantizePatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns,
                                          bool useExtf) {
  patterns.add<DequantizeToLinalg, QuantizeToLinalg>(
      converter, patterns.getContext(), useExtf);
  patterns.add<ExpandSparseQuantize>(converter, patterns.getContext());
}
