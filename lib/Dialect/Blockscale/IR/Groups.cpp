//===- Groups.cpp - products of groups of rows ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "TensorVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/HW/ScaleLayout.h"

using namespace mlir;
using namespace blockscale;

std::optional<Reason> blockscale::whyNotMasked(int64_t splits) {
  if (splits > 1)
    return "products with groups do not split K; expected 'split_k' of 1, "
           "found " +
           std::to_string(splits);
  return std::nullopt;
}

std::optional<Reason> blockscale::whyNotGrouped(MmaAttr mma, bool isSwapped,
                                                int64_t splits) {
  // The other operand has a matrix for each group.
  if (mma.getSparse() && !isSwapped)
    return Reason("products with groups are not lowered with a sparse 'a'");
  BoolAttr isTogether = isSwapped ? mma.getBMnMajor() : mma.getAMnMajor();
  if (isTogether && isTogether.getValue())
    return Reason("tensor maps reach rows of 'a' in order 'mn_major' at "
                  "multiples of 16 bytes only, and groups of rows begin "
                  "anywhere; nearest legal: 'k_major'");
  return whyNotMasked(splits);
}

AffineExpr blockscale::groupedScaleRows(AffineExpr rows, AffineExpr groups) {
  // Each group adds 127 rows of padding at most, and what is padded is whole
  // groups of 128.
  int64_t unit = hw::kAtomRows;
  return (rows + groups * (unit - 1)).floorDiv(unit) * unit;
}

//===----------------------------------------------------------------------===//
// Rows by number
//===----------------------------------------------------------------------===//

LogicalResult blockscale::verifyGathered(MatmulOp op) {
  if (!op.isGathered())
    return success();
  ScaledTensorType a = op.getA().getType();
  // TMA gathers what lies together.
  if (a.getOrder() != DataOrder::KMajor)
    return op.emitOpError() << "with 'rows' expected 'a' in order 'k_major', "
                               "found '"
                            << stringifyDataOrder(a.getOrder()) << "'";
  // Zero points go with their rows, those of no row are zeros as its elements
  // are; the one of a whole matrix is not. whyNotZeroTerms() refuses others.
  const ScaleSpec &spec = a.getSpec().getValue();
  if (spec.zero && !(spec.hasIntegerZero() && hasRowFactors(op)))
    return op.emitOpError()
           << "with 'rows' expected 'a' without zero points, or with integers "
              "of single rows beside scales that instructions do not read, "
              "found "
           << specName(a);
  return success();
}

bool blockscale::hasRowFactors(MatmulOp op) {
  ScaledTensorType a = op.getA().getType();
  bool isRead = a.getSpec().getValue().coversK() ||
                hasPromotedScales(a, op.getB().getType());
  return isRead && a.getRowTile() != 0;
}

std::optional<Reason> blockscale::whyNotGathered(bool isSwapped,
                                                 bool hasRowFactors) {
  if (isSwapped && hasRowFactors)
    return Reason("threads read scales of rows of 'a' that are gathered for "
                  "rows of their own only; 'swap_operands' must be false");
  return std::nullopt;
}
