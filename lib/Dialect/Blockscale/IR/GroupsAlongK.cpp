//===- GroupsAlongK.cpp - products of groups of columns -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/HW/TensorMap.h"

using namespace mlir;
using namespace blockscale;

/// Whether a group, which ends at a multiple of an instruction's K, has whole
/// scales of its own.
static bool hasScalesOfGroups(ScaledTensorType type, ScaledTensorType other) {
  constexpr int64_t kLongestTile = 32;
  const ScaleSpec &spec = type.getSpec().getValue();
  return hasBlockScales(type, other) && !spec.isSparse() &&
         type.getRowTile() == 1 && type.getKTile() <= kLongestTile;
}

/// Whether its scales cover all of K, and a group has them, or shares them with
/// all others.
static bool hasFactorsOfGroups(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  return spec.coversK() && !spec.isSparse() && !spec.zero;
}

/// The layout of scales that cover all of K: a matrix of them for each group,
/// or one scale for all.
static LogicalResult verifyFactorLayout(MatmulOp op, StringRef name,
                                        ScaledTensorType type) {
  bool isOfAll = type.getSpec().getValue().isTensor();
  if (isOfAll || type.getLayout() == ScaleLayout::Grouped)
    return success();
  return op.emitOpError() << "with groups along K expected the scales of '"
                          << name
                          << "', each of which covers a row of a group, in "
                             "layout 'grouped', found '"
                          << stringifyScaleLayout(type.getLayout()) << "'";
}

LogicalResult blockscale::verifyGroupsAlongK(MatmulOp op) {
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  for (auto [name, type, other] :
       {std::tuple("a", a, b), std::tuple("b", b, a)}) {
    if (type.getSpec().getText().empty())
      continue;
    if (hasFactorsOfGroups(type)) {
      if (failed(verifyFactorLayout(op, name, type)))
        return failure();
      continue;
    }
    if (!hasScalesOfGroups(type, other))
      return op.emitOpError()
             << "with groups along K expected '" << name
             << "' without scales and metadata, or with scales of at most 32 "
                "elements of a row or of all of K, found "
             << specName(type);
    if (type.getLayout() != ScaleLayout::Grouped128x4)
      return op.emitOpError() << "with groups along K expected the scales of '"
                              << name << "' in layout 'grouped_128x4', found '"
                              << stringifyScaleLayout(type.getLayout()) << "'";
    if (!ShapedType::isDynamic(type.getK()))
      return op.emitOpError()
             << "the scales of '" << name
             << "' are padded for each group along K, as only the offsets say; "
                "expected a dynamic K, found "
             << type.getK();
  }
  return success();
}

AffineExpr blockscale::groupedScaleTilesAlongK(AffineExpr k, AffineExpr groups,
                                               int64_t unit) {
  return (k + groups * (unit - 1)).floorDiv(unit);
}

/// Why tensor maps do not reach elements of so many bits where a group begins:
/// an instruction that also takes bytes has them padded to such.
static std::optional<Reason> whyNotReached(unsigned bits) {
  constexpr unsigned kByte = 8;
  if (bits >= kByte)
    return std::nullopt;
  return Reason(
      "tensor maps reach elements of 6 and 4 bits that are multiplied as bytes "
      "at multiples of 128 along K only, and groups along K begin anywhere; "
      "nearest legal: elements of 8 bits");
}

/// Why the epilogue does not read the scales of whole matrices, those that all
/// groups share before others.
static std::optional<Reason> whyNotShared(ScaledTensorType a,
                                          ScaledTensorType b) {
  bool isOfGroup = a.getSpec().getValue().isTensor() &&
                   a.getLayout() == ScaleLayout::Grouped;
  const ScaleSpec &ofB = b.getSpec().getValue();
  bool isOfAll = ofB.tensorScale.has_value() ||
                 (ofB.isTensor() && b.getLayout() != ScaleLayout::Grouped);
  if (!isOfGroup || !isOfAll)
    return std::nullopt;
  return Reason("kernels read scales of whole matrices that all groups share "
                "before those of each group, and 'a', whose come first, has "
                "one for each beside one of 'b' for all; nearest legal: layout "
                "'grouped' of both, or of 'b'");
}

std::optional<Reason> blockscale::whyNotGroupsAlongK(ScaledTensorType a,
                                                     ScaledTensorType b) {
  if (auto why = whyNotShared(a, b))
    return why;
  constexpr unsigned kFp4 = 4, kByte = 8;
  unsigned bitsOfA = a.getElementType().getIntOrFloatBitWidth(),
           bitsOfB = b.getElementType().getIntOrFloatBitWidth();
  // Others are held in bytes or in 16 bits.
  bool areFloats = isa<FloatType>(a.getElementType()) &&
                   isa<FloatType>(b.getElementType()) &&
                   std::max(bitsOfA, bitsOfB) <= kByte;
  bool arePacked = bitsOfA == kFp4 && bitsOfB == kFp4 && hasBlockScales(a, b);
  if (!areFloats || arePacked)
    return std::nullopt;
  return whyNotReached(std::min(bitsOfA, bitsOfB));
}

std::optional<Reason> blockscale::whyNotGroupedAlongK(MmaAttr mma,
                                                      Scheduler scheduler,
                                                      int64_t splits) {
  if (mma.getSparse())
    return Reason("products with groups are not lowered with a sparse 'a'");
  if (auto why = whyNotMasked(splits))
    return why;
  if (scheduler != Scheduler::Static)
    return Reason(
        "products with groups along K are lowered with 'scheduler' of "
        "'static' only");
  int64_t step = hw::instructionK(mma.getKind(), /*sparse=*/false);
  if (mma.getK() != step)
    return "groups along K end at multiples of an instruction's K of " +
           std::to_string(step) + "; expected 'mma_k' of that, found " +
           std::to_string(mma.getK());
  bool mixes = mma.getKind() == hw::MmaKind::F8F6F4 ||
               mma.getKind() == hw::MmaKind::MXF8F6F4;
  if (!mixes)
    return std::nullopt;
  return whyNotReached(std::min(mma.getA().bits(), mma.getB().bits()));
}
