//===- MatmulToLinalg.cpp - products of scaled tensors --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementValues.h"
#include "Patterns.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/Pairs.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;

namespace {

using MatmulAdaptor = OpConversionPattern<MatmulOp>::OneToNOpAdaptor;

/// value + x * y, of f32 or i32.
Value multiplyAdd(Emitter &e, Value value, Value x, Value y) {
  if (isa<IntegerType>(value.getType()))
    return arith::AddIOp::create(e, value, arith::MulIOp::create(e, x, y));
  return arith::AddFOp::create(e, value, arith::MulFOp::create(e, x, y));
}

/// sum_k a[m, k] * b[n, k] in the type of both, f32 or i32, for each product of
/// a batch.
Value contract(Emitter &e, Value a, Value b, ArrayRef<OpFoldResult> sizes) {
  auto batch = static_cast<unsigned>(sizes.size()) - 2;
  auto dims = [&](ArrayRef<unsigned> own) {
    SmallVector<AffineExpr> results;
    for (unsigned i = 0; i < batch; ++i)
      results.push_back(e.getAffineDimExpr(i));
    for (unsigned dimension : own)
      results.push_back(e.getAffineDimExpr(batch + dimension));
    return AffineMap::get(batch + 3, 0, results, e.getContext());
  };
  Type number = cast<RankedTensorType>(a.getType()).getElementType();
  Value zero = arith::ConstantOp::create(e, e.getZeroAttr(number));
  Value empty = tensor::EmptyOp::create(e, sizes, number);
  Value zeros = linalg::FillOp::create(e, zero, empty).getResult(0);
  SmallVector<utils::IteratorType> iterators(batch + 2,
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  auto op = linalg::GenericOp::create(
      e, zeros.getType(), ValueRange{a, b}, zeros,
      ArrayRef<AffineMap>{dims({0, 2}), dims({1, 2}), dims({0, 1})}, iterators,
      [](OpBuilder &builder, Location loc, ValueRange values) {
        Emitter body(loc, builder);
        linalg::YieldOp::create(
            body, multiplyAdd(body, values[2], values[0], values[1]));
      });
  return op.getResult(0);
}

/// Whether the scales of the operand are factors of the sum: each covers all of
/// K, and there is nothing to subtract behind them.
bool hasFactors(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  return spec.coversK() && (!spec.zero || spec.hasIntegerZero());
}

/// What is done to a sum before it is stored, with the tensors it reads.
class SumFinisher {
public:
  SumFinisher(Emitter &emitter, MatmulOp op, MatmulAdaptor adaptor,
              const Parts &a, const Parts &b)
      : e(emitter), op(op), alpha(one(adaptor.getAlpha())),
        beta(one(adaptor.getBeta())),
        rank(static_cast<unsigned>(a.type.getRank())) {
    addFactors(a, rank - 2);
    addFactors(b, rank - 1);
    if (op.getC())
      c = add(one(adaptor.getC()), e.getMultiDimIdentityMap(rank));
    if (!op.getBias())
      return;
    bias = add(one(adaptor.getBias()), biasMap(/*isUp=*/false));
    if (op.getPairs())
      upBias = add(one(adaptor.getBias()), biasMap(/*isUp=*/true));
  }

  /// Applies it to the sums; `sizes` are those of the result.
  Value apply(Value sums, ArrayRef<OpFoldResult> sizes) {
    Type element = op.getResult().getType().getElementType();
    Value init = tensor::EmptyOp::create(e, sizes, element);
    SmallVector<Value> inputs(operands);
    SmallVector<AffineMap> all(maps);
    for (bool isUp : {false, true}) {
      if (isUp && !op.getPairs())
        continue;
      inputs.push_back(sums);
      AffineMap identity = e.getMultiDimIdentityMap(rank);
      all.push_back(identity.replace(e.getAffineDimExpr(rank - 1),
                                     columnOfProduct(isUp), rank, 0));
    }
    all.push_back(e.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        e, init.getType(), inputs, init, all, iterators,
        [&](OpBuilder &builder, Location loc, ValueRange values) {
          Emitter body(loc, builder);
          Value result = compute(body, values);
          linalg::YieldOp::create(body, body.narrow(result, element));
        });
    return generic.getResult(0);
  }

private:
  static Value one(ValueRange range) {
    return range.empty() ? Value() : range.front();
  }
  static Type elementOf(Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getElementType();
  }
  unsigned add(Value operand, AffineMap map) {
    operands.push_back(operand);
    maps.push_back(map);
    return static_cast<unsigned>(operands.size()) - 1;
  }
  AffineMap batchMap() { return leadingDimensions(e, rank, rank - 2); }
  /// The column of the product that is the last dimension of the result, or one
  /// of the two that are.
  AffineExpr columnOfProduct(bool isUp) {
    AffineExpr column = e.getAffineDimExpr(rank - 1);
    return op.getPairs() ? column * 2 + int64_t(isUp) : column;
  }
  AffineMap biasMap(bool isUp) {
    bool perColumn = op.getBiasKind() == BiasKind::Column;
    return AffineMap::get(rank, 0,
                          perColumn ? columnOfProduct(isUp)
                                    : e.getAffineDimExpr(rank - 2));
  }

  /// The factors of one operand.
  struct Factors {
    /// Its tensor scale among `operands`.
    std::optional<std::pair<unsigned, Decoder>> tensorScale;
    /// Its scales, if each covers all of K, and the dimension of the result
    /// that counts its rows.
    std::optional<std::pair<Parts, Decoder>> scales;
    unsigned dimension;

    bool hasRowScales() const {
      return scales && !scales->first.type.getSpec().getValue().isTensor();
    }
  };

  void addFactors(const Parts &parts, unsigned dimension) {
    auto decoder = [&](Value tensor) {
      return Decoder(e, elementOf(tensor), /*useExtf=*/false);
    };
    Factors of{{}, {}, dimension};
    if (parts.tensorScale)
      of.tensorScale.emplace(add(parts.tensorScale, batchMap()),
                             decoder(parts.tensorScale));
    if (hasFactors(parts.type))
      of.scales.emplace(parts,
                        Decoder::ofScales(e, parts.type, parts.scales.getType(),
                                          /*useExtf=*/false));
    factors.push_back(std::move(of));
  }

  /// The scale of the operand's row.
  Value loadScale(Emitter &body, const Factors &of, bool isUp) {
    const auto &[parts, decoder] = *of.scales;
    SmallVector<Value> position;
    for (unsigned i = 0; i < rank - 2; ++i)
      position.push_back(linalg::IndexOp::create(body, i));
    Value row = linalg::IndexOp::create(body, of.dimension);
    if (op.getPairs() && of.dimension == rank - 1) {
      row = arith::MulIOp::create(body, row, body.index(2));
      row = arith::AddIOp::create(body, row, body.index(isUp));
    }
    position.push_back(row);
    position.push_back(body.index(0));
    Value code = tensor::ExtractOp::create(
        body, parts.scales, tilePosition(body, parts.type, position));
    return decoder.decode(body, code);
  }

  static Value product(Emitter &body, Value x, Value y) {
    if (!x || !y)
      return x ? x : y;
    return arith::MulFOp::create(body, x, y);
  }

  /// The sum as f32, with its factors: those of all sums of a matrix together
  /// with the row's, then the column's. With pairs there is a second one.
  Value scaled(Emitter &body, ValueRange values, bool isUp) {
    Value sum = values[operands.size() + size_t(isUp)];
    if (isa<IntegerType>(sum.getType()))
      sum = arith::SIToFPOp::create(body, body.getF32Type(), sum);
    Value factor = alpha, column;
    for (const Factors &of : factors) {
      if (of.tensorScale)
        factor = product(
            body, factor,
            of.tensorScale->second.decode(body, values[of.tensorScale->first]));
      if (of.scales && !of.hasRowScales())
        factor = product(body, factor, loadScale(body, of, isUp));
    }
    if (factors[0].hasRowScales())
      factor = product(body, factor, loadScale(body, factors[0], isUp));
    if (factors[1].hasRowScales())
      column = loadScale(body, factors[1], isUp);
    return product(body, product(body, sum, factor), column);
  }

  Value compute(Emitter &body, ValueRange values) {
    auto valueOf = [&](EpilogueInput input) -> Value {
      switch (input) {
      case EpilogueInput::Product:
      case EpilogueInput::Up:
        return scaled(body, values, input == EpilogueInput::Up);
      case EpilogueInput::C: {
        Value added = body.widen(values[*c]);
        return beta ? arith::MulFOp::create(body, added, beta) : added;
      }
      case EpilogueInput::Bias:
        return body.widen(values[*bias]);
      case EpilogueInput::UpBias:
        return body.widen(values[*upBias]);
      }
      llvm_unreachable("covered switch");
    };
    return Epilogue(op).inlineAt(body, valueOf);
  }

  Emitter &e;
  MatmulOp op;
  Value alpha, beta;
  unsigned rank;
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  /// Of a and b.
  SmallVector<Factors, 2> factors;
  std::optional<unsigned> c, bias, upBias;
};

/// Integers that mean their integer value under no scales but those that are
/// factors of the sum: their products are summed exactly.
bool isPlainInteger(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  return !spec.isTile() && spec.hasPlainIntegers() && !spec.zero &&
         isa<IntegerType>(type.getElementType());
}

struct MatmulToLinalg : ScaledPattern<MatmulOp> {
  using ScaledPattern::ScaledPattern;

  LogicalResult
  matchAndRewrite(MatmulOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Parts a(op.getA().getType(), adaptor.getA());
    Parts b(op.getB().getType(), adaptor.getB());
    SmallVector<OpFoldResult> sizes = logicalSizes(e, a);
    sizes.back() = logicalSizes(e, b)[sizes.size() - 2];
    bool ofIntegers = isPlainInteger(a.type) && isPlainInteger(b.type);
    auto valuesOf = [&](const Parts &parts) {
      if (ofIntegers)
        return integerValues(e, parts);
      return hasFactors(parts.type) ? elementValues(e, parts, useExtf)
                                    : tileScaledValues(e, parts, useExtf);
    };
    Value result = contract(e, valuesOf(a), valuesOf(b), sizes);
    if (op.getPairs())
      sizes.back() = halfOf(e, e.getLoc(), sizes.back());
    if (!op.getType().getElementType().isInteger())
      result = SumFinisher(e, op, adaptor, a, b).apply(result, sizes);
    rewriter.replaceOp(op, castTo(e, result, op.getType()));
    return success();
  }
};

} // namespace

void blockscale::populateMatmulPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns,
                                        bool useExtf) {
  patterns.add<MatmulToLinalg>(converter, patterns.getContext(), useExtf);
}
