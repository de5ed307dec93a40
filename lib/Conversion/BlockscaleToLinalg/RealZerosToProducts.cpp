//===- RealZerosToProducts.cpp - real zero points as more of K ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sum a (q s - z) = sum a q s + sum a 1 (-z): a product of twice the K, whose
// second half has elements of 1 under scales of -z.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace blockscale {
#define GEN_PASS_DEF_REALZEROSTOPRODUCTS
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

static bool hasRealZeros(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  return spec.zero && !spec.hasIntegerZero();
}

/// The longest tile along K that scales of the type are repeated for; 0 if none
/// divides K, or kernels have none as short.
static int64_t tileAlongK(ScaledTensorType type) {
  constexpr int64_t kLongest = 256, kShortest = 16;
  if (int64_t tile = type.getKTile())
    return tile >= kShortest ? tile : 0;
  for (int64_t tile = kLongest; tile >= kShortest; tile /= 2)
    if (type.getK() % tile == 0)
      return tile;
  return 0;
}

/// Whether twice the K can be said of an operand by repeating it.
static bool isRepeatable(ScaledTensorType type) {
  return !type.hasMetadata() && !ShapedType::isDynamic(type.getK()) &&
         type.getOrder() == DataOrder::KMajor &&
         type.getLayout() == ScaleLayout::Plain;
}

/// The shape with twice the K.
static SmallVector<int64_t> twice(ScaledTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  shape.back() *= 2;
  return shape;
}

namespace {
/// Parts of an operand with twice the K.
class Doubler {
public:
  Doubler(Emitter &emitter, Value operand)
      : e(emitter), type(cast<ScaledTensorType>(operand.getType())),
        parts(type, DisassembleOp::create(e, operand).getResults()) {}

  /// The operand, and behind it the same again.
  Value repeated();
  /// The operand with zero points of 0, and behind it ones under the negatives
  /// of its own.
  Value withoutZeros();

private:
  /// The sizes of a part with `columns` in the last dimension.
  SmallVector<OpFoldResult> sizesOf(Value part, int64_t columns) {
    auto sizes = tensor::getMixedSizes(e, e.getLoc(), part);
    sizes.back() = e.getIndexAttr(columns);
    return sizes;
  }
  /// A part twice in a row.
  Value repeatedPart(Value part);
  Value ofZeros(int64_t blocks, int64_t repeat);
  Value assemble(ArrayRef<int64_t> shape, const ScaleSpec &spec, Value data,
                 Value scales, Value zeros);

  Emitter &e;
  ScaledTensorType type;
  Parts parts;
};
} // namespace

static Type elementOf(Value part) {
  return cast<RankedTensorType>(part.getType()).getElementType();
}

static int64_t columnsOf(Value part) {
  return cast<RankedTensorType>(part.getType()).getShape().back();
}

Value Doubler::assemble(ArrayRef<int64_t> shape, const ScaleSpec &spec,
                        Value data, Value scales, Value zeros) {
  auto result = ScaledTensorType::get(shape, type.getElementType(),
                                      ScaleSpecAttr::get(e.getContext(), spec));
  TensorParts types = *getTensorParts(result);
  auto as = [&](Value part, RankedTensorType partType) {
    return part ? castTo(e, part, partType) : Value();
  };
  return AssembleOp::create(e, result, as(data, types.data),
                            as(scales, types.scales), as(zeros, types.zeros),
                            parts.tensorScale, /*metadata=*/Value());
}

Value Doubler::repeatedPart(Value part) {
  int64_t columns = columnsOf(part);
  return generate(e, sizesOf(part, 2 * columns), elementOf(part),
                  [&](Emitter &body, ValueRange at) {
                    SmallVector<Value> place(at);
                    place.back() = body.remainder(place.back(), columns);
                    return tensor::ExtractOp::create(body, part, place);
                  });
}

Value Doubler::repeated() {
  const ScaleSpec &spec = type.getSpec().getValue();
  Value scales = parts.scales, zeros = parts.zeros;
  if (spec.isTile())
    scales = repeatedPart(scales);
  if (spec.isTile() && zeros)
    zeros = repeatedPart(zeros);
  return assemble(twice(type), spec, repeatedPart(parts.data), scales, zeros);
}

/// Scales for `blocks` tiles, of which `repeat` take each of the operand's,
/// then as many of the negatives of its zero points.
Value Doubler::ofZeros(int64_t blocks, int64_t repeat) {
  auto decoder = [&](Value part) {
    return Decoder(e, elementOf(part), /*useExtf=*/false);
  };
  Decoder scales = decoder(parts.scales), zeros = decoder(parts.zeros);
  return generate(
      e, sizesOf(parts.scales, 2 * blocks), e.getF32Type(),
      [&](Emitter &body, ValueRange at) -> Value {
        SmallVector<Value> place(at);
        Value isFirst = arith::CmpIOp::create(body, arith::CmpIPredicate::ult,
                                              place.back(), body.index(blocks));
        place.back() =
            body.quotient(body.remainder(place.back(), blocks), repeat);
        Value scale = scales.decode(
            body, tensor::ExtractOp::create(body, parts.scales, place));
        Value zero = zeros.decode(
            body, tensor::ExtractOp::create(body, parts.zeros, place));
        return arith::SelectOp::create(body, isFirst, scale,
                                       arith::NegFOp::create(body, zero));
      });
}

Value Doubler::withoutZeros() {
  int64_t k = type.getK(), tile = tileAlongK(type);
  ScaleSpec spec = type.getSpec().getValue();
  // One scale for all of K and of rows becomes one for each tile of those.
  if (spec.isTensor())
    spec.rows = TileSpec();
  unsigned size = static_cast<unsigned>(tile);
  spec.columns = TileSpec{size, size};
  spec.scale = *parseNumberSpec("float32");
  spec.zero = *parseNumberSpec("int8");
  int64_t blocks = k / tile, repeat = blocks / columnsOf(parts.scales);
  Value data = generate(
      e, sizesOf(parts.data, 2 * k), elementOf(parts.data),
      [&](Emitter &body, ValueRange at) -> Value {
        SmallVector<Value> place(at);
        Value isFirst = arith::CmpIOp::create(body, arith::CmpIPredicate::ult,
                                              place.back(), body.index(k));
        place.back() = body.remainder(place.back(), k);
        Value code = tensor::ExtractOp::create(body, parts.data, place);
        Value one = arith::ConstantIntOp::create(body, code.getType(), 1);
        return arith::SelectOp::create(body, isFirst, code, one);
      });
  Value zeros =
      generate(e, sizesOf(parts.scales, 2 * blocks), e.getI8Type(),
               [&](Emitter &body, ValueRange) -> Value {
                 return arith::ConstantIntOp::create(body, body.getI8Type(), 0);
               });
  return assemble(twice(type), spec, data, ofZeros(blocks, repeat), zeros);
}

/// Whether the zero points of `type` become more of K beside `other`.
static bool isExpanded(ScaledTensorType type, ScaledTensorType other) {
  return hasRealZeros(type) && isRepeatable(type) && isRepeatable(other) &&
         tileAlongK(type) != 0;
}

static void expand(MatmulOp op, OpOperand &operand, OpOperand &other) {
  OpBuilder builder(op);
  Emitter e(op.getLoc(), builder);
  Value doubled = Doubler(e, operand.get()).withoutZeros();
  Value repeated = Doubler(e, other.get()).repeated();
  operand.set(doubled);
  other.set(repeated);
}

namespace {
struct RealZerosToProducts
    : blockscale::impl::RealZerosToProductsBase<RealZerosToProducts> {
  void runOnOperation() override {
    getOperation()->walk(
        [&](MatmulOp op) {
          // Whoever writes a schedule means a kernel.
          if (op.getLoweringAttr() || op.isGroupedAlongK())
            return;
          OpOperand &a = op.getAMutable(), &b = op.getBMutable();
          auto typeOf = [](OpOperand &operand) {
            return cast<ScaledTensorType>(operand.get().getType());
          };
          bool expandsB = isExpanded(typeOf(b), typeOf(a));
          if (expandsB)
            expand(op, b, a);
          bool expandsA = isExpanded(typeOf(a), typeOf(b));
          if (expandsA)
            expand(op, a, b);
          if (expandsA || expandsB)
            op->emitRemark()
                << "becomes a product of " << (expandsA && expandsB ? 4 : 2)
                << " times the K: zero points in real units are multiplied as "
                   "elements of their own";
        });
  }
};
} // namespace
