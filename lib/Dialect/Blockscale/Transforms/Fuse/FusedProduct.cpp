//===- FusedProduct.cpp - a product with what was behind it ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::fuse;

/// `source`, which has one element, as an f32.
static Value numberOf(ImplicitLocOpBuilder &b, Value source) {
  if (auto type = dyn_cast<RankedTensorType>(source.getType())) {
    Value zero =
        type.getRank() ? arith::ConstantIndexOp::create(b, 0) : Value();
    source = tensor::ExtractOp::create(
        b, source, SmallVector<Value>(size_t(type.getRank()), zero));
  }
  if (!source.getType().isF32())
    source = arith::ExtFOp::create(b, b.getF32Type(), source);
  return source;
}

Value Fusion::materializeC(ImplicitLocOpBuilder &at) {
  Value value = cSource;
  for (Operation *op : llvm::reverse(cShapes)) {
    auto before = cast<RankedTensorType>(op->getOperand(0).getType());
    auto type =
        before.clone(cast<RankedTensorType>(value.getType()).getElementType());
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      value = tensor::CollapseShapeOp::create(at, type, value,
                                              expand.getReassociationIndices());
    else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
      value = tensor::ExpandShapeOp::create(at, type, value,
                                            collapse.getReassociationIndices());
    else
      value = tensor::CastOp::create(at, type, value);
  }
  return value;
}

Value Fusion::materializeBias(ImplicitLocOpBuilder &at) {
  // Groups along K read one for each as it is.
  if (product.isGroupedAlongK())
    return biasSource;
  SmallVector<int64_t> shape{product.getType().getDimSize(1)};
  if (product.isGrouped())
    shape.insert(shape.begin(), product.getOffsets().getType().getDimSize(0));
  if (biasForm == BiasForm::Number)
    return tensor::SplatOp::create(
        at, numberOf(at, biasSource),
        RankedTensorType::get(shape, at.getF32Type()));
  auto type = cast<RankedTensorType>(biasSource.getType());
  Value columns = biasSource;
  if (type.getRank() != 1) {
    SmallVector<ReassociationIndices> group{
        llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))};
    columns = tensor::CollapseShapeOp::create(at, biasSource, group);
  }
  if (!product.isGrouped())
    return columns;
  // All groups have the same.
  Value each = tensor::EmptyOp::create(at, shape, type.getElementType());
  return linalg::BroadcastOp::create(at, columns, each, ArrayRef<int64_t>{0})
      ->getResult(0);
}

void Fusion::fillEpilogue(MatmulOp fused, Value result) {
  Block &block = region.front();
  // The result is rounded to its type behind the epilogue.
  if (auto extension = result.getDefiningOp<arith::ExtFOp>())
    if (auto narrow = extension.getIn().getDefiningOp<arith::TruncFOp>();
        narrow && narrow.getType() == fused.getType().getElementType())
      result = narrow.getIn();
  b.setInsertionPointToEnd(&block);
  YieldOp::create(b, result);
  SmallVector<Operation *> inside;
  for (Operation &op : block.without_terminator())
    inside.push_back(&op);
  for (Operation *op : llvm::reverse(inside))
    if (op->use_empty())
      op->erase();
  if (!fused.getBias())
    block.eraseArgument(kBiasAt);
  if (!fused.getC())
    block.eraseArgument(kCAt);
  fused.getEpilogue().takeBody(region);
  if (Epilogue(fused).isSum())
    fused.getEpilogue().front().erase();
}

static void noteSources(Operation *op,
                        llvm::SmallSetVector<Operation *, 16> &sources) {
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp())
      sources.insert(source);
}

void Fusion::finish(RewriterBase &rewriter) {
  Value exit = getExit();
  rewriter.setInsertionPoint(absorbed.back());
  ImplicitLocOpBuilder at(product.getLoc(), rewriter);
  Value alpha = alphaSource ? numberOf(at, alphaSource) : product.getAlpha();
  Value c = cSource ? materializeC(at) : Value(product.getC());
  Value bias = biasSource ? materializeBias(at) : Value(product.getBias());
  BiasKind kind = biasForm == BiasForm::Row    ? BiasKind::Row
                  : biasForm == BiasForm::None ? product.getBiasKind()
                                               : BiasKind::Column;
  Value left = product.getA(), right = product.getB();
  if (factors.ofRows)
    left = withFactors(at, left, factors.ofRows);
  if (factors.ofColumns)
    right = withFactors(at, right, factors.ofColumns);
  Type element = getElementTypeOrSelf(exit);
  auto fused = MatmulOp::create(
      at, cast<RankedTensorType>(product.getType().clone(element)), left, right,
      alpha, product.getBeta(), c, bias, product.getOffsets(),
      product.getRowNumbers(), kind, /*pairs=*/false,
      product.getLoweringAttr());
  fused->setDiscardableAttrs(product->getDiscardableAttrDictionary());
  fillEpilogue(fused, scalars.lookup(exit));
  Value value = fused;
  for (Operation *shape : shapes.lookup(exit)) {
    IRMapping map;
    map.map(shape->getOperand(0), value);
    Operation *copy = rewriter.clone(*shape, map);
    auto type = cast<RankedTensorType>(shape->getResult(0).getType());
    copy->getResult(0).setType(type.clone(element));
    value = copy->getResult(0);
  }
  rewriter.replaceAllUsesWith(exit, value);
  llvm::SmallSetVector<Operation *, 16> sources;
  for (Operation *op : llvm::reverse(absorbed)) {
    noteSources(op, sources);
    sources.remove(op);
    rewriter.eraseOp(op);
  }
  noteSources(product, sources);
  sources.remove(product);
  rewriter.eraseOp(product);
  // What was only there for them, such as broadcasts and tensors to fill.
  while (!sources.empty()) {
    Operation *op = sources.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    noteSources(op, sources);
    rewriter.eraseOp(op);
  }
}
