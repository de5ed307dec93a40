//===- QuantizeWithZeros.cpp - quantize to unsigned elements --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizeParts.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/ScaleCodes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;

namespace {
/// One quantization to unsigned integers under float scales.
class ZeroQuantizer {
public:
  ZeroQuantizer(Emitter &emitter, QuantizeOp op, Value input, bool useExtf)
      : e(emitter), op(op), type(op.getType()), parts(*getTensorParts(type)),
        input(input), useExtf(useExtf),
        sizes(tensor::getMixedSizes(e, e.getLoc(), input)),
        counts(tileCounts(e, type, sizes)) {}

  SmallVector<Value> run() {
    Value lows = reduceTiles(e, type, input, [](Emitter &b, Value y, Value x) {
      return arith::MinimumFOp::create(b, y, x).getResult();
    });
    Value highs = reduceTiles(e, type, input, [](Emitter &b, Value y, Value x) {
      return arith::MaximumFOp::create(b, y, x).getResult();
    });
    Value scales = tileScales(lows, highs), zeros = tileZeros(lows, scales);
    Value data = codes(scales, zeros);
    if (type.getOrder() == DataOrder::MNMajor)
      data = transposeData(e, data);
    auto stored = [&](Value plain, Type part) {
      Value converted = convertScales(e, plain, ScaleLayout::Plain,
                                      getScaleLayout(type), counts);
      return castTo(e, converted, part);
    };
    return {castTo(e, data, parts.data), stored(scales, parts.scales),
            stored(zeros, parts.zeros)};
  }

private:
  bool isInteger() const { return type.getSpec().getValue().hasIntegerZero(); }

  /// (high - low) / the largest code.
  Value tileScales(Value lows, Value highs) {
    Type format = parts.scales.getElementType();
    float largest = largestElement(type);
    return generate(e, counts, format, [&](Emitter &body, ValueRange tile) {
      Value span = arith::SubFOp::create(
          body, tensor::ExtractOp::create(body, highs, tile),
          tensor::ExtractOp::create(body, lows, tile));
      Value scale = arith::DivFOp::create(body, span, body.f32(largest));
      scale = arith::MinimumFOp::create(
          body, scale, body.f32(largestScale(format, largest)));
      return encode(body, scale, format);
    });
  }

  /// 1 / scale, 0 where that is 0.
  Value inverseAt(Emitter &body, const Decoder &decoder, Value scales,
                  ValueRange tile) {
    Value scale =
        decoder.decode(body, tensor::ExtractOp::create(body, scales, tile));
    Value isZero = arith::CmpFOp::create(body, arith::CmpFPredicate::OEQ, scale,
                                         body.f32(0));
    return arith::SelectOp::create(body, isZero, body.f32(0),
                                   boundedInverse(body, scale));
  }

  Value tileZeros(Value lows, Value scales) {
    Type format = parts.zeros.getElementType();
    Decoder decoder(e, parts.scales.getElementType(), useExtf);
    return generate(
        e, counts, format, [&](Emitter &body, ValueRange tile) -> Value {
          Value low = tensor::ExtractOp::create(body, lows, tile);
          // Not -low, which is -0 where all is positive.
          Value shift = arith::SubFOp::create(body, body.f32(0), low);
          if (!isInteger())
            return encode(body, shift, format);
          Value steps = arith::MulFOp::create(
              body, shift, inverseAt(body, decoder, scales, tile));
          return encodeUnscaled(body, steps, format);
        });
  }

  Value codes(Value scales, Value zeros) {
    Decoder decoder(e, parts.scales.getElementType(), useExtf);
    Decoder zeroDecoder = Decoder::ofZeros(e, parts.zeros, useExtf);
    Type element = parts.data.getElementType();
    auto largest = static_cast<int64_t>(largestElement(type));
    return generate(e, sizes, element, [&](Emitter &body, ValueRange at) {
      SmallVector<Value> tile = tilePosition(body, type, at);
      Value x = body.widen(tensor::ExtractOp::create(body, input, at));
      Value zero = zeroDecoder.decode(
          body, tensor::ExtractOp::create(body, zeros, tile));
      if (!isInteger())
        x = arith::AddFOp::create(body, x, zero);
      Value steps = arith::MulFOp::create(
          body, x, inverseAt(body, decoder, scales, tile));
      Value count = roundToInteger(body, steps, rounderAt(body, op, sizes, at));
      if (isInteger())
        count = arith::AddIOp::create(
            body, count,
            arith::FPToSIOp::create(body, body.getI32Type(), zero));
      count = arith::MaxSIOp::create(body, count, body.i32(0));
      count = arith::MinSIOp::create(body, count, body.i32(largest));
      return arith::TruncIOp::create(body, element, count).getResult();
    });
  }

  Emitter &e;
  QuantizeOp op;
  ScaledTensorType type;
  TensorParts parts;
  Value input;
  bool useExtf;
  SmallVector<OpFoldResult> sizes, counts;
};
} // namespace

SmallVector<Value> blockscale::quantizeWithZeros(Emitter &e, QuantizeOp op,
                                                 Value input, bool useExtf) {
  return ZeroQuantizer(e, op, input, useExtf).run();
}
