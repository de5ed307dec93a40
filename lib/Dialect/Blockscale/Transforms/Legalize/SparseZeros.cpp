//===- SparseZeros.cpp - zero points of what is kept ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseZeros.h"
#include "blockscale/Dialect/Blockscale/IR/ZeroTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace blockscale;

static bool hasSparseRealZeros(ScaledTensorType type) {
  return type.getSpec().getValue().isSparse() && hasRealZeros(type);
}

bool blockscale::hasSparseRealZeros(MatmulOp op) {
  return ::hasSparseRealZeros(op.getA().getType()) ||
         ::hasSparseRealZeros(op.getB().getType());
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Up to 16 e4m3 has all whole numbers.
static constexpr unsigned kWholeInE4M3 = 4;

/// Whether something has to make the operand dense, which needs elements of
/// which one is 0.
static bool needsFloats(ScaledTensorType type) {
  return sparseForm(type).isMask;
}

/// Whether the region, if there is one, reads c only to add it to the product.
static bool addsC(MatmulOp op) {
  if (op.getEpilogue().empty())
    return true;
  Block &block = op.getEpilogue().front();
  BlockArgument x = block.getArgument(0), c = block.getArgument(1);
  if (!x.hasOneUse() || !c.hasOneUse())
    return false;
  auto sum = dyn_cast<arith::AddFOp>(*x.getUsers().begin());
  return sum && *c.getUsers().begin() == sum;
}

std::optional<Reason> blockscale::whyNotSplit(MatmulOp op) {
  if (op.getPairs())
    return Reason(
        "zero points in real units of a sparse operand are subtracted "
        "by a product of their own, which one of 'pairs' has no 'c' "
        "for; expected zero points that count in steps of the scale, "
        "such as 'int8'");
  if (op.getC() && !addsC(op))
    return Reason(
        "zero points in real units of a sparse operand are subtracted "
        "by a product of their own, which is 'c' of this one, but its "
        "region does more with 'c' than to add it; expected zero "
        "points that count in steps of the scale, such as 'int8'");
  for (ScaledTensorType type : {op.getA().getType(), op.getB().getType()}) {
    const ScaleSpec &spec = type.getSpec().getValue();
    if (::hasSparseRealZeros(type) && needsFloats(type) && spec.keepN <= 2)
      return "what '" + std::string(type.getSpec().getText()) +
             "' keeps is stored without room beside it, as no code is 0, and "
             "elements without its zero points are stored with it; expected 2 "
             "of 4 or 1 of 2, or zero points that count in steps of the scale, "
             "such as 'int8'";
    unsigned bits = type.getElementType().getIntOrFloatBitWidth();
    if (::hasSparseRealZeros(type) && needsFloats(type) && bits > kWholeInE4M3)
      return "what '" + std::string(type.getSpec().getText()) +
             "' keeps is made dense, as no instruction skips its pattern, in "
             "floats that have a 0, but elements of " +
             std::to_string(bits) +
             " bits are none; expected ones of 4 bits and fewer, or 2 of 4";
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A tensor of the shape of `like`, all elements of which are `value`.
static Value splat(ImplicitLocOpBuilder &b, Value like, TypedAttr value) {
  auto type = cast<RankedTensorType>(like.getType()).clone(value.getType());
  if (type.hasStaticShape())
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, value));
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(unsigned(i)))
      sizes.push_back(tensor::DimOp::create(b, like, i));
  Value element = arith::ConstantOp::create(b, value);
  return tensor::SplatOp::create(b, element, type, sizes);
}

namespace {
/// The parts of an operand, and operands with other elements at its places.
class Places {
public:
  Places(ImplicitLocOpBuilder &b, Value operand)
      : b(b), type(cast<ScaledTensorType>(operand.getType())) {
    auto parts = DisassembleOp::create(b, operand);
    data = parts.getParts()[0];
    scales = parts.getParts()[1];
    zeros = parts.getParts()[2];
    metadata = parts.getParts().back();
  }

  /// Its elements under its scales, less nothing.
  Value elements() {
    Value codes = data;
    if (needsFloats(type))
      codes = arith::UIToFPOp::create(
          b,
          cast<RankedTensorType>(data.getType())
              .clone(Float8E4M3FNType::get(b.getContext())),
          data);
    return assemble(codes, scales, *type.getSpec().getValue().scale);
  }

  /// Ones under its zero points, whose sign is the other one.
  Value ones() {
    Type element = cast<RankedTensorType>(data.getType()).getElementType();
    TypedAttr one = b.getIntegerAttr(element, 1);
    if (needsFloats(type))
      one = b.getFloatAttr(Float8E4M3FNType::get(b.getContext()), 1.0);
    return assemble(splat(b, data, one), arith::NegFOp::create(b, zeros),
                    *type.getSpec().getValue().zero);
  }

private:
  /// Integers have zero points, which are 0.
  Value assemble(Value codes, Value factors, const NumberSpec &scale) {
    ScaleSpec spec = type.getSpec().getValue();
    spec.scale = scale;
    spec.zero = std::nullopt;
    Type element = type.getElementType();
    Value none;
    if (needsFloats(type)) {
      element = Float8E4M3FNType::get(b.getContext());
    } else {
      spec.zero = *parseNumberSpec("int8");
      none = splat(b, zeros, b.getI8IntegerAttr(0));
    }
    auto result = ScaledTensorType::get(
        type.getShape(), element, ScaleSpecAttr::get(b.getContext(), spec),
        type.getLayout(), type.getOrder());
    return AssembleOp::create(b, result, codes, factors, none,
                              /*tensor_scale=*/Value(), metadata);
  }

  ImplicitLocOpBuilder &b;
  ScaledTensorType type;
  Value data, scales, zeros, metadata;
};
} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Gives a region that knows no c one more argument, which it adds to the
/// product.
static void addArgument(MatmulOp op) {
  if (op.getEpilogue().empty() || op.getC())
    return;
  Block &block = op.getEpilogue().front();
  BlockArgument x = block.getArgument(0);
  BlockArgument c = block.insertArgument(1u, x.getType(), op.getLoc());
  auto b = OpBuilder::atBlockBegin(&block);
  auto sum = arith::AddFOp::create(b, op.getLoc(), x, c);
  x.replaceAllUsesExcept(sum, sum);
}

MatmulOp blockscale::splitZeros(MatmulOp op) {
  bool isA = ::hasSparseRealZeros(op.getA().getType());
  OpOperand &operand = isA ? op.getAMutable() : op.getBMutable();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Places places(b, operand.get());
  Value ones = places.ones();
  auto first = MatmulOp::create(
      b, cast<RankedTensorType>(op.getType().clone(b.getF32Type())),
      isA ? ones : op.getA(), isA ? op.getB() : ones, op.getAlpha(),
      op.getBeta(), op.getC(), /*bias=*/Value(), op.getOffsets(),
      op.getRowNumbers(), BiasKind::Column, /*pairs=*/false,
      /*lowering=*/LoweringAttr());
  first->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  operand.set(places.elements());
  addArgument(op);
  op.getBetaMutable().clear();
  op.getCMutable().assign(first.getResult());
  return first;
}
