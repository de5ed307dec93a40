//===- QuantizeToLinalg.cpp - between plain values and scaled ones --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

namespace {

constexpr float kFloatMax = std::numeric_limits<float>::max();

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
    Value values = tileScaledValues(e, parts, useExtf);
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
            value = arith::MulFOp::create(body, value,
                                          decoder->decode(body, arguments[1]));
          linalg::YieldOp::create(body, body.narrow(value, element));
        });
    return generic.getResult(0);
  }
};

//===----------------------------------------------------------------------===//
// Quantize
//===----------------------------------------------------------------------===//

/// The factors of a tensor scale as tensors of f32, one element per matrix:
/// `encode` multiplies the data, `decode` is its inverse and is stored.
struct TensorFactors {
  Value encode, decode;
};

/// One quantization, step by step.
class Quantizer {
public:
  Quantizer(Emitter &emitter, QuantizeOp op, Value input, bool useExtf)
      : e(emitter), op(op), type(op.getResult().getType()), input(input),
        useExtf(useExtf), sizes(tensor::getMixedSizes(e, e.getLoc(), input)),
        counts(tileCounts(e, type, sizes)) {}

  SmallVector<Value> run(Value tensorScale) {
    std::string reason;
    TensorParts parts = *getTensorParts(type, reason);
    if (!parts.scales) {
      Value data = unscaledCodes(parts.data.getElementType());
      if (type.getOrder() == DataOrder::MNMajor)
        data = transposeData(e, data);
      return {castTo(e, data, parts.data)};
    }
    Value largest = tileMaxima();
    SmallVector<Value> results(2);
    TensorFactors factors;
    if (parts.tensorScale) {
      factors =
          tensorScale ? givenFactors(tensorScale) : chosenFactors(largest);
      results.push_back(
          storeTensorScale(factors.decode, parts.tensorScale.getElementType()));
    }
    Value scales = tileScales(largest, factors, parts.scales.getElementType());
    Value data = codes(scales, factors);
    if (type.getOrder() == DataOrder::MNMajor)
      data = transposeData(e, data);
    scales =
        convertScales(e, scales, ScaleLayout::Plain, type.getLayout(), counts);
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
  TensorFactors givenFactors(Value tensorScale);
  TensorFactors chosenFactors(Value largest);
  Value storeTensorScale(Value decode, Type element);
  Value tileScales(Value largest, const TensorFactors &factors, Type element);
  Value codes(Value scales, const TensorFactors &factors);
  Value unscaledCodes(Type stored);

  Emitter &e;
  QuantizeOp op;
  ScaledTensorType type;
  Value input;
  bool useExtf;
  SmallVector<OpFoldResult> sizes, counts;
};

/// The largest magnitude in each tile; NaN if there is one. The window of a
/// reduction that would pass the end of a dimension stays at the last element.
Value Quantizer::tileMaxima() {
  auto rank = static_cast<unsigned>(sizes.size());
  SmallVector<int64_t> tiles = {type.getRowTile(), type.getKTile()};
  SmallVector<OpFoldResult> window;
  SmallVector<Value> last;
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    OpFoldResult size = sizes[rank - 2 + i];
    window.push_back(tile == 0 ? size : OpFoldResult(e.getIndexAttr(tile)));
    Value whole = getValueOrCreateConstantIndexOp(e, e.getLoc(), size);
    last.push_back(arith::SubIOp::create(e, whole, e.index(1)));
  }
  Value windowShape = tensor::EmptyOp::create(e, window, e.getF32Type());
  Value empty = tensor::EmptyOp::create(e, counts, e.getF32Type());
  Value zeros = linalg::FillOp::create(e, e.f32(0), empty).getResult(0);
  AffineMap identity = e.getMultiDimIdentityMap(rank + 2);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.append(2, utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      e, zeros.getType(), windowShape, zeros,
      ArrayRef<AffineMap>{identity.getMinorSubMap(2),
                          identity.getMajorSubMap(rank)},
      iterators, [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        Emitter body(loc, builder);
        SmallVector<Value> position;
        for (unsigned i = 0; i < rank; ++i)
          position.push_back(linalg::IndexOp::create(body, i));
        for (unsigned i = 0; i < 2; ++i) {
          Value &index = position[rank - 2 + i];
          Value inside = linalg::IndexOp::create(body, rank + i);
          if (tiles[i] != 0)
            inside = arith::AddIOp::create(
                body, inside,
                arith::MulIOp::create(body, index, body.index(tiles[i])));
          index = arith::MinUIOp::create(body, inside, last[i]);
        }
        Value value =
            body.widen(tensor::ExtractOp::create(body, input, position));
        Value magnitude = math::AbsFOp::create(body, value);
        Value larger =
            arith::MaximumFOp::create(body, arguments.back(), magnitude);
        linalg::YieldOp::create(body, larger);
      });
  return generic.getResult(0);
}

TensorFactors Quantizer::givenFactors(Value tensorScale) {
  SmallVector<OpFoldResult> batch(ArrayRef(sizes).drop_back(2));
  auto inverse = [&](Emitter &body, ValueRange position) -> Value {
    Value decode = tensor::ExtractOp::create(body, tensorScale, position);
    return arith::DivFOp::create(body, body.f32(1), decode);
  };
  return {generate(e, batch, e.getF32Type(), inverse), tensorScale};
}

/// From the largest magnitude `g` of each matrix: `min(P / g, FLT_MAX)` and
/// its inverse, where P is the largest element times the largest scale; 1 for
/// a matrix that is all zeros or not finite.
TensorFactors Quantizer::chosenFactors(Value largest) {
  SmallVector<OpFoldResult> batch(ArrayRef(sizes).drop_back(2));
  auto rank = static_cast<unsigned>(sizes.size());
  AffineMap identity = e.getMultiDimIdentityMap(rank);
  Value empty = tensor::EmptyOp::create(e, batch, e.getF32Type());
  Value zeros = linalg::FillOp::create(e, e.f32(0), empty).getResult(0);
  SmallVector<utils::IteratorType> iterators(rank - 2,
                                             utils::IteratorType::parallel);
  iterators.append(2, utils::IteratorType::reduction);
  Value maxima =
      linalg::GenericOp::create(
          e, zeros.getType(), largest, zeros,
          ArrayRef<AffineMap>{identity, leadingDimensions(e, rank, rank - 2)},
          iterators,
          [](OpBuilder &builder, Location loc, ValueRange arguments) {
            Value larger = arith::MaximumFOp::create(builder, loc, arguments[0],
                                                     arguments[1]);
            linalg::YieldOp::create(builder, loc, larger);
          })
          .getResult(0);
  std::string reason;
  Type scale = getTensorParts(type, reason)->scales.getElementType();
  float product = largestValue(type.getElementType()) * largestValue(scale);
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
  Value decode = generate(
      e, batch, e.getF32Type(), [&](Emitter &body, ValueRange position) {
        Value factor = tensor::ExtractOp::create(body, encode, position);
        return arith::DivFOp::create(body, body.f32(1), factor).getResult();
      });
  return {encode, decode};
}

Value Quantizer::storeTensorScale(Value decode, Type element) {
  if (element.isF32())
    return decode;
  SmallVector<OpFoldResult> batch(ArrayRef(sizes).drop_back(2));
  return generate(e, batch, element, [&](Emitter &body, ValueRange position) {
    return encode(body, tensor::ExtractOp::create(body, decode, position),
                  element);
  });
}

/// Plain scales.
Value Quantizer::tileScales(Value largest, const TensorFactors &factors,
                            Type element) {
  bool exponent = type.getSpec().getValue().scale->kind == NumberKind::Exponent;
  float limit = largestValue(type.getElementType());
  return generate(e, counts, element, [&](Emitter &body, ValueRange tile) {
    Value m = tensor::ExtractOp::create(body, largest, tile);
    if (factors.encode) {
      Value factor =
          tensor::ExtractOp::create(body, factors.encode, matrixOf(tile));
      if (exponent)
        m = arith::MulFOp::create(body, m, factor);
      else
        return encode(
            body,
            arith::MulFOp::create(
                body, m,
                arith::MulFOp::create(body, factor, body.f32(1.0f / limit))),
            element);
    }
    if (exponent)
      return exponentScale(body, m, op.getRule(), type.getElementType());
    return encode(body, arith::DivFOp::create(body, m, body.f32(limit)),
                  element);
  });
}

/// The codes in logical order: `x * (1 / (s * t))`, 0 where the scale is 0.
Value Quantizer::codes(Value scales, const TensorFactors &factors) {
  Decoder decoder(e, elementOf(scales), useExtf);
  return generate(
      e, sizes, type.getElementType(), [&](Emitter &body, ValueRange position) {
        Value x = body.widen(tensor::ExtractOp::create(body, input, position));
        Value scale = decoder.decode(
            body, tensor::ExtractOp::create(
                      body, scales, tilePosition(body, type, position)));
        Value step = scale;
        if (factors.decode)
          step = arith::MulFOp::create(
              body, scale,
              tensor::ExtractOp::create(body, factors.decode,
                                        matrixOf(position)));
        Value inverse = arith::DivFOp::create(body, body.f32(1), step);
        inverse = arith::MinimumFOp::create(body, inverse, body.f32(kFloatMax));
        Value isZero = arith::CmpFOp::create(body, arith::CmpFPredicate::OEQ,
                                             scale, body.f32(0));
        inverse = arith::SelectOp::create(body, isZero, body.f32(0), inverse);
        return encode(body, arith::MulFOp::create(body, x, inverse),
                      type.getElementType());
      });
}

/// The elements rounded, as they are stored.
Value Quantizer::unscaledCodes(Type stored) {
  return generate(e, sizes, stored, [&](Emitter &body, ValueRange position) {
    Value x = body.widen(tensor::ExtractOp::create(body, input, position));
    return encodeUnscaled(body, x, type.getElementType());
  });
}

/// Prunes first, then quantizes what is left and compresses it.
struct ExpandSparseQuantize : OpConversionPattern<QuantizeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(QuantizeOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ScaledTensorType type = op.getType();
    const ScaleSpec &spec = type.getSpec().getValue();
    if (!spec.isSparse())
      return rewriter.notifyMatchFailure(op, "the spec is dense");
    bool pairs = sparsePattern(type) == hw::SparsePattern::PairsFourOfEight;
    Value pruned =
        PruneOp::create(rewriter, op.getLoc(), op.getInput().getType(),
                        op.getInput(), spec.keepN, spec.ofM, pairs);
    auto dense = ScaledTensorType::get(
        type.getShape(), type.getElementType(),
        ScaleSpecAttr::get(op.getContext(), denseForm(spec)),
        spec.isUnscaled() ? ScaleLayout::Plain : type.getLayout(),
        type.getOrder());
    Value quantized = QuantizeOp::create(rewriter, op.getLoc(), dense, pruned,
                                         op.getTensorScale(), op.getRule());
    rewriter.replaceOpWithNewOp<CompressOp>(op, type, quantized);
    return success();
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
