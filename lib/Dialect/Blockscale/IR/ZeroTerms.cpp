//===- ZeroTerms.cpp - zero points that an epilogue subtracts -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/ZeroTerms.h"
#include "blockscale/Dialect/Blockscale/IR/StoredElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

bool blockscale::hasRealZeros(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  return spec.zero && !spec.hasIntegerZero();
}

AffineExpr blockscale::zeroTerms(ScaledTensorType type, AffineExpr k) {
  if (!hasRealZeros(type))
    return getAffineConstantExpr(0, type.getContext());
  if (!type.getSpec().getValue().isTile())
    return getAffineConstantExpr(1, type.getContext());
  return k.ceilDiv(type.getKTile());
}

bool blockscale::hasZeroTerms(MatmulOp op) {
  return hasRealZeros(op.getA().getType()) || hasRealZeros(op.getB().getType());
}

Value blockscale::numZeroTerms(ImplicitLocOpBuilder &b, MatmulOp op, Value k) {
  if (!hasZeroTerms(op))
    return {};
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, b.getI32Type(), value);
  };
  Value terms;
  for (ScaledTensorType type : {op.getA().getType(), op.getB().getType()}) {
    if (!hasRealZeros(type))
      continue;
    Value own = constant(1);
    if (type.getSpec().getValue().isTile()) {
      Value last =
          b.createOrFold<arith::AddIOp>(k, constant(type.getKTile() - 1));
      own = b.createOrFold<arith::DivUIOp>(last, constant(type.getKTile()));
    }
    terms = terms ? b.createOrFold<arith::AddIOp>(terms, own) : own;
  }
  return terms;
}

std::optional<Reason> blockscale::whyNotZeroTerms(MatmulOp op) {
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  if (!hasZeroTerms(op))
    return std::nullopt;
  if (op.isGathered())
    return "zero points in real units beside 'rows' need the sums of the rows "
           "that are gathered, which whoever packs does not know; expected "
           "zero points that count in steps of the scale, such as 'int8'";
  if (op.isGroupedAlongK())
    return "zero points in real units beside groups along K need sums over "
           "each group, whose ends only the kernel reads; expected zero points "
           "that count in steps of the scale, such as 'int8'";
  // Those of floats are part of alpha, and sums are of what is stored.
  for (auto [type, other] : {std::pair(a, b), {b, a}})
    if (auto recoding = recodingOf(type, other);
        recoding && recoding->factor != 1 &&
        isa<CodebookType>(type.getElementType()))
      return "elements of '" + std::string(recoding->from) +
             "' are stored as others that the epilogue multiplies, which zero "
             "points in real units of the other operand must not be; expected "
             "elements that are stored as they are, such as f8E4M3FN";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Terms that kernels make
//===----------------------------------------------------------------------===//

LogicalResult blockscale::verifyGivenTerms(Operation *op, Attribute attribute) {
  auto names = dyn_cast<ArrayAttr>(attribute);
  auto isTerms = [](Attribute name) {
    auto text = dyn_cast<StringAttr>(name);
    return text && (text == stringifyParameterRole(ParameterRole::ATerms) ||
                    text == stringifyParameterRole(ParameterRole::BTerms));
  };
  if (names && llvm::all_of(names, isTerms) && op->hasAttr(ProductAttr::name))
    return success();
  return op->emitOpError() << "expected '" << kGivenTermsName
                           << "' to be a list of 'a_terms' and 'b_terms' on "
                              "the kernel of a product";
}

TileSumsOp blockscale::createTermsOf(OpBuilder &builder, MatmulOp op,
                                     bool isA) {
  auto own = isA ? op.getA() : op.getB();
  ScaledTensorType type = own.getType(),
                   other = (isA ? op.getB() : op.getA()).getType();
  bool isSparse = type.getSpec().getValue().isSparse();
  if (!hasRealZeros(other) || hasRealZeros(type) || isSparse ||
      recodingOf(type, other))
    return {};
  int64_t tile = other.getKTile(), tiles = 1;
  if (tile % TileSumsOp::kPiece != 0)
    return {};
  if (tile)
    tiles = type.isDynamicDim(type.getRank() - 1)
                ? ShapedType::kDynamic
                : int64_t(llvm::divideCeil(type.getK(), tile));
  SmallVector<int64_t> shape(type.getShape());
  shape.pop_back();
  shape.insert(shape.end() - 1, tiles);
  builder.setInsertionPoint(op);
  return TileSumsOp::create(
      builder, op.getLoc(), RankedTensorType::get(shape, builder.getF32Type()),
      own, tile ? builder.getI64IntegerAttr(tile) : IntegerAttr());
}
