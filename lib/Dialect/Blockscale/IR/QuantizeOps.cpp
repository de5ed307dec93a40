//===- QuantizeOps.cpp - verifiers and steps of quantize ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/GivenScales.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Quantize.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace blockscale;

/// The search for the smaller error compares scales.
static LogicalResult verifySearch(QuantizeOp op) {
  ScaledTensorType type = op.getResult().getType();
  const ScaleSpec &spec = type.getSpec().getValue();
  if (spec.isUnscaled())
    return op.emitOpError() << "rule 'min_error' compares scales, but "
                            << specName(type) << " has none";
  if (spec.zero)
    return op.emitOpError() << "rule 'min_error' compares scales without zero "
                               "points, which '"
                            << type.getSpec().getText() << "' has";
  return success();
}

bool blockscale::givesScale(QuantizeOp op) {
  return op.getTensorScale() && hasOneScale(op.getType());
}

/// The other rules are for powers of two, and those by fractions for floats.
static LogicalResult verifyRule(QuantizeOp op) {
  ScaleRule rule = op.getRule();
  if (rule == ScaleRule::Floor)
    return success();
  if (givesScale(op))
    return op.emitOpError() << "rule '" << stringifyScaleRule(rule)
                            << "' chooses a scale, but 'tensor_scale' gives "
                               "that of the matrix; 'floor' chooses nothing";
  if (rule == ScaleRule::MinError)
    return verifySearch(op);
  ScaledTensorType type = op.getResult().getType();
  const ScaleSpec &spec = type.getSpec().getValue();
  if (spec.isUnscaled())
    return op.emitOpError() << "rule '" << stringifyScaleRule(rule)
                            << "' is for power-of-two scales, but "
                            << specName(type) << " has no scales";
  if (spec.scale->kind != NumberKind::Exponent)
    return op.emitOpError()
           << "rule '" << stringifyScaleRule(rule)
           << "' is for power-of-two scales, but the scales of '"
           << type.getSpec().getText() << "' are not";
  bool isForAll = rule == ScaleRule::RoundUp || rule == ScaleRule::FloorPlusOne;
  if (isa<IntegerType>(type.getElementType()) && !isForAll)
    return op.emitOpError()
           << "rule '" << stringifyScaleRule(rule)
           << "' looks at the fraction of a float, but elements are "
           << type.getElementType()
           << "; integers know floor, round_up, floor_plus_one and min_error";
  return success();
}

/// A seed is for what is random; other roundings than to even are for codes,
/// and that of an instruction for those of its formats.
static LogicalResult verifyRounding(QuantizeOp op) {
  ElementRounding rounding = op.getRounding();
  StringRef name = stringifyElementRounding(rounding);
  bool isByInstruction = rounding == ElementRounding::StochasticRS;
  bool isStochastic =
      isByInstruction || rounding == ElementRounding::Stochastic;
  if (isStochastic && !op.getSeed())
    return op.emitOpError()
           << "rounding '" << name << "' needs a seed, as in 'rounding(" << name
           << ", seed = 7)'";
  if (!isStochastic && op.getSeed())
    return op.emitOpError() << "a seed is for the roundings 'stochastic' and "
                               "'stochastic_rs', but this one is '"
                            << name << "'";
  Type element = op.getResult().getType().getElementType();
  if (isByInstruction &&
      !isa<Float8E4M3FNType, Float8E5M2Type, Float6E2M3FNType, Float6E3M2FNType,
           Float4E2M1FNType>(element))
    return op.emitOpError()
           << "rounding '" << name << "' is that of 'cvt.rs', which makes "
           << "f8E4M3FN, f8E5M2, f6E2M3FN, f6E3M2FN and f4E2M1FN, but elements "
           << "are " << element
           << "; 'stochastic' is for all of at most 8 bits";
  if (rounding != ElementRounding::Even && element.getIntOrFloatBitWidth() > 8)
    return op.emitOpError()
           << "rounding '" << stringifyElementRounding(rounding)
           << "' is for elements of at most 8 bits, but they are " << element;
  return success();
}

/// Zero points reach the largest code.
static LogicalResult verifyZeros(QuantizeOp op) {
  ScaledTensorType type = op.getResult().getType();
  const ScaleSpec &spec = type.getSpec().getValue();
  if (!spec.zero)
    return success();
  if (spec.tensorScale)
    return op.emitOpError() << "there is no rule for both a tensor scale and "
                               "zero points, which '"
                            << type.getSpec().getText() << "' has";
  if (spec.isSparse() && !spec.hasIntegerZero())
    return op.emitOpError()
           << "keeps elements that are not 0, which no code is under a zero "
              "point in real units, as those of '"
           << type.getSpec().getText()
           << "' are; expected zero points that count in steps of the scale, "
              "such as 'int16'";
  int64_t largest =
      (int64_t(1) << type.getElementType().getIntOrFloatBitWidth()) - 1;
  if (spec.hasIntegerZero() && spec.zero->maxInt() < largest) {
    ScaleSpec wide = spec, real = spec;
    wide.zero = *parseNumberSpec("int16");
    real.zero = *parseNumberSpec("float32");
    return op.emitOpError()
           << "zero points of " << type.getElementType() << " reach " << largest
           << ", but '" << print(*spec.zero) << "' ends at "
           << spec.zero->maxInt()
           << "; a wider integer or a float holds them; nearest legal: '"
           << print(wide) << "' or '" << print(real) << "'";
  }
  return success();
}

/// Groups of rows have scales of single rows, each group in tiles of its own.
static LogicalResult verifyGroups(QuantizeOp op) {
  if (!op.getOffsets())
    return verifyNotGrouped(op);
  ScaledTensorType type = op.getResult().getType();
  if (type.getLayout() != ScaleLayout::Grouped128x4)
    return op.emitOpError()
           << "with 'groups' expected scales in layout 'grouped_128x4', found '"
           << stringifyScaleLayout(type.getLayout()) << "'";
  if (type.getRowTile() != 1)
    return op.emitOpError()
           << "with 'groups' expected scales of single rows, found one for "
           << type.getRowTile() << " rows";
  return success();
}

LogicalResult QuantizeOp::verify() {
  if (failed(verifyGroups(*this)))
    return failure();
  ScaledTensorType type = getResult().getType();
  if (isa<CodebookType>(type.getElementType()))
    return emitOpError() << "has elements of " << type.getElementType()
                         << "; there is no rule that chooses the tables of "
                            "codebooks, so they are only read";
  if (failed(verifySameShape(*this, getInput().getType(), type)) ||
      failed(verifyRule(*this)) || failed(verifyRounding(*this)) ||
      failed(verifyZeros(*this)))
    return failure();
  const ScaleSpec &spec = type.getSpec().getValue();
  if (!getTensorScale())
    return success();
  if (!spec.tensorScale && !hasOneScale(type))
    return emitOpError() << "'tensor_scale' is given, but " << specName(type)
                         << " has none";
  ArrayRef<int64_t> found = getTensorScale().getType().getShape();
  ArrayRef<int64_t> expected = batchShape(type.getShape());
  if (!agree(expected, found))
    return emitOpError() << "expected one tensor scale per matrix, shape "
                         << shapeText(expected) << ", found "
                         << shapeText(found);
  return success();
}

LogicalResult blockscale::expandSparseQuantize(RewriterBase &rewriter,
                                               QuantizeOp op) {
  ScaledTensorType type = op.getType();
  const ScaleSpec &spec = type.getSpec().getValue();
  if (!spec.isSparse())
    return rewriter.notifyMatchFailure(op, "the spec is dense");
  bool pairs = keepsPairs(type);
  Value pruned = PruneOp::create(rewriter, op.getLoc(), op.getInput().getType(),
                                 op.getInput(), spec.keepN, spec.ofM, pairs);
  auto dense = ScaledTensorType::get(
      type.getShape(), type.getElementType(),
      ScaleSpecAttr::get(op.getContext(), denseForm(spec)),
      spec.isUnscaled() ? ScaleLayout::Plain : getScaleLayout(type),
      type.getOrder());
  Value quantized = QuantizeOp::create(
      rewriter, op.getLoc(), dense, pruned, op.getTensorScale(),
      op.getOffsets(), op.getRule(), op.getRounding(), op.getSeedAttr());
  rewriter.replaceOpWithNewOp<CompressOp>(op, type, quantized);
  return success();
}
