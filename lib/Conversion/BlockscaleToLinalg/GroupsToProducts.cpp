//===- GroupsToProducts.cpp - a grouped product as a loop of products -----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "RowGroups.h"
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/HW/Target.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace blockscale {
#define GEN_PASS_DEF_GROUPSTOPRODUCTS
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
/// Writes a grouped product as a loop over its groups, each the product of some
/// rows of A and a matrix of B. Rows behind the last group, or behind those
/// that are there, become 0.
class GroupSplitter {
public:
  explicit GroupSplitter(MatmulOp op)
      : builder(op), e(op.getLoc(), builder), op(op) {}

  Value split();

private:
  Value groupOf(GroupRows rows, Value group, Value result);
  /// The parts of A with the rows that numbers gather.
  void gatherA();
  Value gatherRows(Value part);
  Value rowsOfA(GroupRows rows);
  Value matrixOfB(Value group);
  /// Matrix `group` of an operand with these parts.
  Value matrixOf(ScaledTensorType type, ArrayRef<Value> parts, Value group);
  /// The same of a product that has a matrix of A for each group.
  Value matrixOfMasked(GroupRows rows, Value group, Value result);
  Value assemble(ScaledTensorType type, ArrayRef<Value> parts);

  OpBuilder builder;
  Emitter e;
  MatmulOp op;
  SmallVector<Value> a, b;
};
} // namespace

Value GroupSplitter::assemble(ScaledTensorType type, ArrayRef<Value> parts) {
  const ScaleSpec &spec = type.getSpec().getValue();
  auto next = [&](bool isThere) -> Value {
    if (!isThere)
      return {};
    Value value = parts.front();
    parts = parts.drop_front();
    return value;
  };
  Value data = next(true), scales = next(!spec.isUnscaled());
  Value zeros = next(spec.zero.has_value());
  Value tensorScale = next(spec.tensorScale.has_value());
  Value metadata = next(type.hasMetadata());
  return AssembleOp::create(e, type, data, scales, zeros, tensorScale,
                            metadata);
}

Value GroupSplitter::gatherRows(Value part) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(e, e.getLoc(), part);
  Value count = getValueOrCreateConstantIndexOp(e, e.getLoc(), sizes.front());
  sizes.front() =
      tensor::getMixedSize(e, e.getLoc(), op.getRowNumbers(), /*dim=*/0);
  Type element = cast<RankedTensorType>(part.getType()).getElementType();
  return generate(
      e, sizes, element, [&](Emitter &body, ValueRange position) -> Value {
        Value number = tensor::ExtractOp::create(body, op.getRowNumbers(),
                                                 position.front());
        Value row =
            arith::IndexCastOp::create(body, body.getIndexType(), number);
        // Numbers below 0 are large ones without a sign.
        Value isRow =
            arith::CmpIOp::create(body, arith::CmpIPredicate::ult, row, count);
        SmallVector<Value> from(position);
        from.front() = arith::SelectOp::create(body, isRow, row, body.index(0));
        Value value = tensor::ExtractOp::create(body, part, from);
        return arith::SelectOp::create(body, isRow, value,
                                       zeroOf(body, element));
      });
}

void GroupSplitter::gatherA() {
  if (!op.isGathered())
    return;
  a.front() = gatherRows(a.front());
  if (hasRowFactors(op))
    a[1] = gatherRows(a[1]);
  if (op.getA().getType().getSpec().getValue().zero)
    a[2] = gatherRows(a[2]);
  if (op.getA().getType().hasMetadata())
    a.back() = gatherRows(a.back());
}

Value GroupSplitter::rowsOfA(GroupRows rows) {
  ScaledTensorType type = op.getA().getType();
  const ScaleSpec &spec = type.getSpec().getValue();
  bool isTiled = type.getLayout() == ScaleLayout::Grouped128x4;
  SmallVector<Value> parts(a);
  bool rowsLast = type.getOrder() == DataOrder::MNMajor;
  parts[0] = slice(e, parts[0], rowsLast ? 1 : 0, rows.first, rows.count);
  if (isTiled)
    parts[1] = slice(e, parts[1], 0, rows.firstAtom, rows.atoms);
  else if (!spec.isUnscaled() && type.getRowTile() != 0)
    for (unsigned part = 1; part <= (spec.zero ? 2 : 1); ++part)
      parts[part] = slice(e, parts[part], 0, rows.first, rows.count);
  // Of a codebook, which rows that share no scale do not share either.
  if (type.hasMetadata())
    parts.back() = slice(e, parts.back(), 0, rows.first, rows.count);
  auto ofGroup = ScaledTensorType::get(
      {ShapedType::kDynamic, type.getK()}, type.getElementType(),
      type.getSpec(), isTiled ? ScaleLayout::Tiled128x4 : type.getLayout(),
      type.getOrder());
  return assemble(ofGroup, parts);
}

Value GroupSplitter::matrixOf(ScaledTensorType type, ArrayRef<Value> parts,
                              Value group) {
  SmallVector<Value> own;
  for (Value part : parts)
    own.push_back(entryOf(e, part, group));
  return assemble(ScaledTensorType::get(type.getShape().drop_front(),
                                        type.getElementType(), type.getSpec(),
                                        type.getLayout(), type.getOrder()),
                  own);
}

Value GroupSplitter::matrixOfB(Value group) {
  return matrixOf(op.getB().getType(), b, group);
}

Value GroupSplitter::matrixOfMasked(GroupRows rows, Value group, Value result) {
  RankedTensorType type = op.getType();
  auto ofGroup = RankedTensorType::get(type.getShape().drop_front(),
                                       type.getElementType());
  Value c = entryOf(e, op.getC(), group);
  Value bias = entryOf(e, op.getBias(), group);
  auto product = MatmulOp::create(
      e, ofGroup, matrixOf(op.getA().getType(), a, group), matrixOfB(group),
      op.getAlpha(), op.getBeta(), c, bias, /*offsets=*/Value(),
      /*row_numbers=*/Value(), op.getBiasKindAttr(), op.getPairsAttr(),
      LoweringAttr());
  IRMapping mapping;
  op.getEpilogue().cloneInto(&product.getEpilogue(), mapping);
  // No row depends on those that are not there.
  Value there = slice(e, product, 0, e.index(0), rows.count);
  SmallVector<OpFoldResult> sizes{
      e.getIndexAttr(1), rows.count,
      tensor::getMixedSize(e, e.getLoc(), result, 2)};
  SmallVector<OpFoldResult> starts{group, e.getIndexAttr(0), e.getIndexAttr(0)};
  SmallVector<OpFoldResult> strides(3, e.getIndexAttr(1));
  return tensor::InsertSliceOp::create(e, there, result, starts, sizes,
                                       strides);
}

Value GroupSplitter::groupOf(GroupRows rows, Value group, Value result) {
  RankedTensorType type = op.getType();
  auto ofGroup = RankedTensorType::get(
      {ShapedType::kDynamic, type.getDimSize(1)}, type.getElementType());
  Value c =
      op.getC() ? slice(e, op.getC(), 0, rows.first, rows.count) : Value();
  Value bias = op.getBias();
  if (bias)
    bias = op.getBiasKind() == BiasKind::Row
               ? slice(e, bias, 0, rows.first, rows.count)
               : entryOf(e, bias, group);
  auto product =
      MatmulOp::create(e, ofGroup, rowsOfA(rows), matrixOfB(group),
                       op.getAlpha(), op.getBeta(), c, bias,
                       /*offsets=*/Value(), /*row_numbers=*/Value(),
                       op.getBiasKindAttr(), op.getPairsAttr(), LoweringAttr());
  IRMapping mapping;
  op.getEpilogue().cloneInto(&product.getEpilogue(), mapping);
  SmallVector<OpFoldResult> sizes{
      rows.count, tensor::getMixedSize(e, e.getLoc(), result, 1)};
  SmallVector<OpFoldResult> starts{rows.first, e.getIndexAttr(0)};
  SmallVector<OpFoldResult> strides(2, e.getIndexAttr(1));
  return tensor::InsertSliceOp::create(e, product, result, starts, sizes,
                                       strides);
}

Value GroupSplitter::split() {
  a = llvm::to_vector_of<Value>(
      DisassembleOp::create(e, op.getA())->getResults());
  b = llvm::to_vector_of<Value>(
      DisassembleOp::create(e, op.getB())->getResults());
  gatherA();
  RankedTensorType type = op.getType();
  ReifiedRankedShapedTypeDims shape;
  (void)op.reifyResultShapes(builder, shape);
  Value empty =
      tensor::EmptyOp::create(e, shape.front(), type.getElementType());
  Value nothing =
      arith::ConstantOp::create(e, e.getZeroAttr(type.getElementType()));
  Value init =
      castTo(e, linalg::FillOp::create(e, nothing, empty).getResult(0), type);
  if (op.isMasked())
    return forEachCount(e, op.getOffsets(), tensor::DimOp::create(e, init, 1),
                        init, [&](GroupRows rows, Value group, Value result) {
                          return matrixOfMasked(rows, group, result);
                        });
  bool rowsLast = op.getA().getType().getOrder() == DataOrder::MNMajor;
  Value rows = tensor::DimOp::create(e, a.front(), rowsLast ? 1 : 0);
  return forEachGroup(e, op.getOffsets(), rows, init,
                      [&](GroupRows rows, Value group, Value result) {
                        return groupOf(rows, group, result);
                      });
}

static void splitGroups(Operation *root, function_ref<bool(MatmulOp)> isSplit) {
  SmallVector<MatmulOp> products;
  root->walk([&](MatmulOp op) {
    if (op.hasGroups() && isSplit(op))
      products.push_back(op);
  });
  for (MatmulOp op : products) {
    Value result = op.isGroupedAlongK() ? splitGroupsAlongK(op)
                                        : GroupSplitter(op).split();
    op.replaceAllUsesWith(result);
    op.erase();
  }
}

void blockscale::splitGroups(Operation *root) {
  ::splitGroups(root, [](MatmulOp) { return true; });
  SmallVector<QuantizeOp> quantizers;
  root->walk([&](QuantizeOp op) {
    if (op.getOffsets())
      quantizers.push_back(op);
  });
  for (QuantizeOp op : quantizers) {
    op.replaceAllUsesWith(quantizeGroups(op));
    op.erase();
  }
}

namespace {
struct GroupsToProducts
    : blockscale::impl::GroupsToProductsBase<GroupsToProducts> {
  void runOnOperation() override {
    ::splitGroups(getOperation(), [](MatmulOp op) {
      // Whoever writes a schedule means a kernel.
      hw::Target target = getTarget(op);
      if (op.getLoweringAttr() || hw::whyNotTarget(target) ||
          !op.isGroupedAlongK())
        return false;
      ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
      auto why = whyNotGroupsAlongK(a, b);
      if (!why)
        why = whyNotRepeatedAlongK(a, b);
      if (!why)
        why = whyNotEndsAlongK(op);
      if (why)
        op->emitRemark() << "becomes a loop with a product for each group: "
                         << why->text;
      return why.has_value();
    });
  }
};
} // namespace
