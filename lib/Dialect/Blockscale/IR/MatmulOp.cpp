//===- MatmulOp.cpp - the rules of a product ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"

using namespace mlir;
using namespace blockscale;

static LogicalResult verifyBias(MatmulOp op) {
  if (!op.getBias())
    return success();
  RankedTensorType type = op.getBias().getType();
  ArrayRef<int64_t> result = op.getResult().getType().getShape();
  bool perRow = op.getBiasKind() == BiasKind::Row;
  // A row of D is one of all groups of rows.
  if (op.hasGroups() && !(perRow && op.isGrouped())) {
    SmallVector<int64_t> expected{op.getSizes().batch, op.getSizes().n};
    if (!perRow && agree(type.getShape(), expected))
      return success();
    return op.emitOpError()
           << "expected a bias along the columns for each group, shape "
           << shapeText(expected) << ", found "
           << (perRow ? "a bias per row of shape " : "")
           << shapeText(type.getShape());
  }
  int64_t length = perRow ? result[result.size() - 2] : op.getSizes().n;
  if (type.getRank() == 1 && agree(type.getShape().front(), length))
    return success();
  return op.emitOpError() << "expected a bias per "
                          << stringifyBiasKind(op.getBiasKind()) << " of shape "
                          << shapeText(length) << ", found "
                          << shapeText(type.getShape());
}

/// A pair of columns makes one of the result.
static LogicalResult verifyPairs(MatmulOp op) {
  if (!op.getPairs())
    return success();
  int64_t n = op.getSizes().n;
  if (!ShapedType::isDynamic(n) && n % 2 != 0)
    return op.emitOpError() << "with 'pairs' expected an even N, the rows of "
                               "'b', found "
                            << n;
  if (op.isGroupedAlongK())
    return op.emitOpError() << "groups along K have no 'pairs': each of their "
                               "results has a column for each row of 'b'";
  if (op.getBias() && op.getBiasKind() != BiasKind::Column)
    return op.emitOpError() << "with 'pairs' expected a bias along the "
                               "columns, one element for each of the product";
  return success();
}

/// A result of i32 is the exact sum of products of integers, and that only.
static LogicalResult verifyIntegerResult(MatmulOp op) {
  if (!op.getResult().getType().getElementType().isInteger(32))
    return success();
  for (auto [name, operand] : {std::pair("a", op.getA()), {"b", op.getB()}}) {
    ScaledTensorType type = operand.getType();
    if (!type.getElementType().isInteger() ||
        !type.getSpec().getValue().isUnscaled())
      return op.emitOpError()
             << "a result of i32 is a product of integers without scales, but '"
             << name << "' is " << type;
  }
  if (op.getAlpha() || op.getBeta() || op.getC() || op.getBias() ||
      !op.getEpilogue().empty())
    return op.emitOpError() << "a result of i32 is the product as it is: it "
                               "takes no alpha, beta, c, bias or epilogue";
  return success();
}

/// Groups of rows of `a` have a matrix of `b` each.
static LogicalResult verifyGroups(MatmulOp op) {
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  if (!b.isBatched())
    return op.emitOpError()
           << "with 'groups' expected 'b' with a matrix for each group, found "
           << a.getRank() << " and " << b.getRank()
           << " dimensions of 'a' and 'b'";
  int64_t groups = op.getOffsets().getType().getDimSize(0);
  if (!agree(groups, b.getShape().front()))
    return op.emitOpError()
           << "expected an offset for each of the " << b.getShape().front()
           << " matrices of 'b', found " << groups;
  // Rows that are there or not change nothing else about a matrix.
  if (op.isMasked())
    return success();
  const ScaleSpec &spec = a.getSpec().getValue();
  if (spec.isSparse())
    return op.emitOpError()
           << "with 'groups' expected a dense 'a', found " << specName(a)
           << ": no layout pads metadata for each group";
  if (hasBlockScales(a, b) && a.getLayout() != ScaleLayout::Grouped128x4)
    return op.emitOpError()
           << "with 'groups' expected the scales of 'a' in layout "
              "'grouped_128x4', found '"
           << stringifyScaleLayout(a.getLayout()) << "'";
  if (a.getRowTile() > 1)
    return op.emitOpError() << "with 'groups' expected scales of 'a' of single "
                               "rows or of the whole matrix, found one for "
                            << a.getRowTile() << " rows";
  return verifyGathered(op);
}

LogicalResult MatmulOp::verify() {
  ScaledTensorType a = getA().getType(), b = getB().getType();
  if (isGathered() && !isGrouped())
    return emitOpError() << "'rows' are gathered for groups of rows; expected "
                            "'groups' and a 'b' with a matrix for each group";
  if (hasGroups() && !isGroupedAlongK() && failed(verifyGroups(*this)))
    return failure();
  if (!isGroupedAlongK() &&
      (b.hasScalesByGroups() || a.getLayout() == ScaleLayout::Grouped ||
       (a.hasScalesByGroups() && !isGrouped())))
    return verifyNotGrouped(*this);
  if (!isGrouped() && a.getRank() != b.getRank())
    return emitOpError() << "expected 'a' and 'b' of equal rank, found "
                         << a.getRank() << " and " << b.getRank();
  if (a.isBatched() && !agree(a.getShape().front(), b.getShape().front()))
    return emitOpError() << "expected equal batch sizes of 'a' and 'b', found "
                         << a.getShape().front() << " and "
                         << b.getShape().front();
  if (!agree(a.getK(), b.getK()))
    return emitOpError() << "contracts the last dimension, K, of 'a' and 'b', "
                            "but they have "
                         << a.getK() << " and " << b.getK();
  if (isGroupedAlongK() && failed(verifyGroupsAlongK(*this)))
    return failure();
  if (failed(verifyPairs(*this)))
    return failure();
  SmallVector<int64_t> expected(a.getShape().drop_back());
  if (isGroupedAlongK())
    expected.insert(expected.begin(), getSizes().batch);
  if (isGathered())
    expected.front() = getSizes().m;
  expected.push_back(getResultColumns());
  ArrayRef<int64_t> result = getResult().getType().getShape();
  if (!agree(expected, result))
    return emitOpError() << "expected a result of shape " << shapeText(expected)
                         << ", found " << shapeText(result);
  if (failed(verifyIntegerResult(*this)))
    return failure();
  if (getBeta() && !getC())
    return emitOpError() << "'beta' is given without 'c'";
  if (getC() && !agree(getC().getType().getShape(), result))
    return emitOpError() << "expected 'c' of the result's shape "
                         << shapeText(result) << ", found "
                         << shapeText(getC().getType().getShape());
  return verifyBias(*this);
}

LogicalResult MatmulOp::verifyRegions() {
  return Epilogue(*this).verify(*this);
}

/// Arguments of an epilogue have the names of what they are.
static void nameArguments(const Epilogue &epilogue, Region &region,
                          OpAsmSetValueNameFn setName) {
  for (auto [argument, input] :
       llvm::zip(region.getArguments(), epilogue.getInputs()))
    setName(argument, epilogueInputName(input));
}

void MatmulOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  nameArguments(Epilogue(*this), region, setName);
}

void KernelMatmulOp::getAsmBlockArgumentNames(Region &region,
                                              OpAsmSetValueNameFn setName) {
  nameArguments(Epilogue(*this), region, setName);
}
