//===- TileSumsToLinalg.cpp - sums over tiles along K ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Partial sums of each tile are the last dimension of a tensor, which is halved
// until one is left.

#include "ElementValues.h"
#include "Patterns.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleSums.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;

SmallVector<OpFoldResult> blockscale::tileSumSizes(Emitter &e,
                                                   ArrayRef<OpFoldResult> sizes,
                                                   int64_t tile) {
  OpFoldResult tiles = e.getIndexAttr(1);
  if (std::optional<int64_t> k = getConstantIntValue(sizes.back()); k && tile)
    tiles = e.getIndexAttr((*k + tile - 1) / tile);
  else if (tile)
    tiles = e.ceilQuotient(cast<Value>(sizes.back()), tile);
  SmallVector<OpFoldResult> shape(sizes.drop_back());
  shape.insert(shape.end() - 1, tiles);
  return shape;
}

namespace {
/// The sums of one op.
class Sums {
public:
  Sums(Emitter &emitter, TileSumsOp op, const Parts &parts, bool useExtf)
      : e(emitter), op(op), parts(parts), sizes(logicalSizes(emitter, parts)),
        elements(elementValues(emitter, parts, useExtf)) {
    if (parts.scales)
      scales =
          Decoder::ofScales(e, parts.type, parts.scales.getType(), useExtf);
    if (parts.tensorScale)
      tensorScales.emplace(e, elementOf(parts.tensorScale), useExtf);
  }

  Value compute();

private:
  static Type elementOf(Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getElementType();
  }
  /// An element along K of the row of `place`: batch, if there is one, tile and
  /// row.
  SmallVector<Value> elementAt(ValueRange place, Value k) const {
    SmallVector<Value> position(place.drop_back(2));
    position.append({place.back(), k});
    return position;
  }
  Value sumOfPiece(Emitter &body, ValueRange place, Value first);
  Value partialSum(Emitter &body, ValueRange place, Value number);
  Value halved(Value sums, ArrayRef<OpFoldResult> shape, int64_t count);

  static constexpr int64_t kPiece = TileSumsOp::kPiece;

  Emitter &e;
  TileSumsOp op;
  const Parts &parts;
  SmallVector<OpFoldResult> sizes;
  Value elements, k;
  std::optional<Decoder> scales, tensorScales;
};
} // namespace

Value Sums::sumOfPiece(Emitter &body, ValueRange place, Value first) {
  Value end = arith::MinUIOp::create(
      body, k, arith::AddIOp::create(body, first, body.index(kPiece)));
  auto valueAt = [&](Emitter &at, Value element) -> Value {
    return tensor::ExtractOp::create(at, elements, elementAt(place, element));
  };
  Value second = arith::AddIOp::create(body, first, body.index(1));
  auto loop = scf::ForOp::create(
      body, second, end, body.index(1), ValueRange(valueAt(body, first)),
      [&](OpBuilder &b, Location loc, Value element, ValueRange sum) {
        Emitter inner(loc, b);
        Value next =
            arith::AddFOp::create(inner, sum[0], valueAt(inner, element));
        scf::YieldOp::create(inner, next);
      });
  Value sum = loop.getResult(0);
  if (scales) {
    SmallVector<Value> tile =
        scalePosition(body, getScaleLayout(parts.type),
                      tilePosition(body, parts.type, elementAt(place, first)));
    Value code = tensor::ExtractOp::create(body, parts.scales, tile);
    sum = arith::MulFOp::create(body, sum, scales->decode(body, code));
  }
  if (tensorScales) {
    Value code =
        tensor::ExtractOp::create(body, parts.tensorScale, place.drop_back(2));
    sum = arith::MulFOp::create(body, sum, tensorScales->decode(body, code));
  }
  return sum;
}

/// The pieces `number`, `number` + n, ... of a tile, added up.
Value Sums::partialSum(Emitter &body, ValueRange place, Value number) {
  Value begin = body.index(0), end = k;
  if (std::optional<int64_t> tile = op.getTile()) {
    Value size = body.index(*tile);
    begin = arith::MulIOp::create(body, place[place.size() - 2], size);
    end = arith::MinUIOp::create(body, k,
                                 arith::AddIOp::create(body, begin, size));
  }
  Value first = arith::AddIOp::create(
      body, begin, arith::MulIOp::create(body, number, body.index(kPiece)));
  auto loop = scf::ForOp::create(
      body, first, end, body.index(kPiece * op.partialSums()),
      ValueRange(body.f32(0)),
      [&](OpBuilder &b, Location loc, Value piece, ValueRange sum) {
        Emitter inner(loc, b);
        Value next = arith::AddFOp::create(inner, sum[0],
                                           sumOfPiece(inner, place, piece));
        scf::YieldOp::create(inner, next);
      });
  return loop.getResult(0);
}

Value Sums::halved(Value sums, ArrayRef<OpFoldResult> shape, int64_t count) {
  SmallVector<OpFoldResult> half(shape);
  half.push_back(e.getIndexAttr(count));
  return generate(e, half, e.getF32Type(), [&](Emitter &body, ValueRange at) {
    SmallVector<Value> other(at);
    other.back() = arith::AddIOp::create(body, at.back(), body.index(count));
    return arith::AddFOp::create(
               body, tensor::ExtractOp::create(body, sums, at).getResult(),
               tensor::ExtractOp::create(body, sums, other).getResult())
        .getResult();
  });
}

Value Sums::compute() {
  k = getValueOrCreateConstantIndexOp(e, e.getLoc(), sizes.back());
  SmallVector<OpFoldResult> shape =
      tileSumSizes(e, sizes, int64_t(op.getTile().value_or(0)));
  SmallVector<OpFoldResult> partial(shape);
  int64_t count = op.partialSums();
  partial.push_back(e.getIndexAttr(count));
  Value sums =
      generate(e, partial, e.getF32Type(), [&](Emitter &body, ValueRange at) {
        return partialSum(body, at.drop_back(), at.back());
      });
  for (count /= 2; count > 0; count /= 2)
    sums = halved(sums, shape, count);
  return generate(e, shape, e.getF32Type(), [&](Emitter &body, ValueRange at) {
    SmallVector<Value> only(at);
    only.push_back(body.index(0));
    return tensor::ExtractOp::create(body, sums, only).getResult();
  });
}

namespace {
struct TileSumsToLinalg : ScaledPattern<TileSumsOp> {
  using ScaledPattern::ScaledPattern;

  LogicalResult
  matchAndRewrite(TileSumsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Parts parts(op.getInput().getType(), adaptor.getInput());
    Value sums = Sums(e, op, parts, useExtf).compute();
    rewriter.replaceOp(op, castTo(e, sums, op.getType()));
    return success();
  }
};
} // namespace

void blockscale::populateTileSumsPatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns,
                                          bool useExtf) {
  patterns.add<TileSumsToLinalg>(converter, patterns.getContext(), useExtf);
}
