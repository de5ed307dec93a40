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
#include "blockscale/Dialect/Blockscale/IR/StoredElements.h"
#include "blockscale/HW/TensorMap.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace blockscale;

/// Refuses scales of `name` in another layout than `expected`; `what` says of
/// them why that is theirs.
static LogicalResult verifyLayout(MatmulOp op, StringRef name,
                                  ScaledTensorType type, ScaleLayout expected,
                                  StringRef what) {
  if (type.getLayout() == expected)
    return success();
  return op.emitOpError() << "with groups along K expected the scales of '"
                          << name << "'" << what << " in layout '"
                          << stringifyScaleLayout(expected) << "', found '"
                          << stringifyScaleLayout(type.getLayout()) << "'";
}

/// Where the scales of `name` lie: those that cover all of K are a matrix for
/// each group, or one for all; those by which sums are multiplied lie as the
/// elements do, of which each group has whole tiles; those that instructions
/// read are padded for each group.
static LogicalResult verifyScalesOfGroups(MatmulOp op, StringRef name,
                                          ScaledTensorType type,
                                          ScaledTensorType other) {
  const ScaleSpec &spec = type.getSpec().getValue();
  if (spec.isSparse() || (spec.coversK() && spec.zero))
    return op.emitOpError()
           << "with groups along K expected '" << name
           << "' without metadata, and without zero points beside scales of "
              "all of K, found "
           << specName(type);
  if (spec.coversK() && spec.isTensor())
    return success();
  if (spec.coversK())
    return verifyLayout(op, name, type, ScaleLayout::Grouped,
                        ", each of which covers a row of a group,");
  if (hasPromotedScales(type, other))
    return verifyLayout(op, name, type, ScaleLayout::Plain,
                        ", by which sums are multiplied in registers,");
  if (failed(verifyLayout(op, name, type, ScaleLayout::Grouped128x4, "")))
    return failure();
  if (ShapedType::isDynamic(type.getK()))
    return success();
  return op.emitOpError()
         << "the scales of '" << name
         << "' are padded for each group along K, as only the offsets say; "
            "expected a dynamic K, found "
         << type.getK();
}

LogicalResult blockscale::verifyGroupsAlongK(MatmulOp op) {
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  for (auto [name, type, other] :
       {std::tuple("a", a, b), std::tuple("b", b, a)})
    if (!type.getSpec().getText().empty() &&
        failed(verifyScalesOfGroups(op, name, type, other)))
      return failure();
  return success();
}

AffineExpr blockscale::groupedScaleTilesAlongK(AffineExpr k, AffineExpr groups,
                                               int64_t unit) {
  return (k + groups * (unit - 1)).floorDiv(unit);
}

/// Elements of an operand along K that tensor maps reach together: where some
/// of fewer bits are multiplied as bytes they are padded to such, and a box
/// begins at a multiple of 128 alone.
static int64_t reachedTogether(hw::OperandType operand, unsigned container) {
  auto dataType = hw::tensorMapDataType(operand, container);
  return dataType ? hw::tensorMapDataTypeInfo(*dataType).innerMultiple : 1;
}

static int64_t reachedTogether(MmaAttr mma, hw::OperandType operand) {
  return reachedTogether(operand, mma.getContainerBits(operand));
}

int64_t blockscale::stepAlongK(MmaAttr mma, int64_t aBlock, int64_t bBlock) {
  int64_t step = hw::instructionK(mma.getKind(), /*sparse=*/false);
  for (int64_t multiple : {reachedTogether(mma, mma.getA()),
                           reachedTogether(mma, mma.getB()), aBlock, bBlock})
    if (multiple)
      step = std::lcm(step, multiple);
  return step;
}

int64_t blockscale::stepAlongK(ScaledTensorType a, ScaledTensorType b,
                               MmaAttr mma) {
  return stepAlongK(mma, hasPromotedScales(a, b) ? a.getKTile() : 0,
                    hasPromotedScales(b, a) ? b.getKTile() : 0);
}

int64_t blockscale::stepAlongK(KernelMatmulOp op) {
  return stepAlongK(op.getMma(), int64_t(op.getRowBlock()),
                    int64_t(op.getColumnBlock()));
}

/// Elements of K that an instruction for such operands adds up: 32 bytes.
static int64_t instructionStep(ScaledTensorType a, ScaledTensorType b) {
  constexpr int64_t kInstructionBits = 256;
  auto ofA = storedElements(a, b), ofB = storedElements(b, a);
  if (!ofA || !ofB)
    return 1;
  return kInstructionBits / int64_t(std::max(ofA->bits(), ofB->bits()));
}

/// As reachedTogether() for the instruction that multiplies both: elements of
/// fewer bits than a byte stay as they are where all have four, under scales of
/// blocks.
static int64_t expectedReach(ScaledTensorType a, ScaledTensorType b) {
  auto ofA = storedElements(a, b), ofB = storedElements(b, a);
  if (!ofA || !ofB)
    return 1;
  constexpr unsigned kFp4 = 4, kByte = 8;
  unsigned most = std::max(ofA->bits(), ofB->bits());
  bool arePacked = most == kFp4 && hasBlockScales(a, b);
  unsigned container = arePacked ? kFp4 : std::max(most, kByte);
  return std::lcm(reachedTogether(*ofA, container),
                  reachedTogether(*ofB, container));
}

int64_t blockscale::expectedStepAlongK(MatmulOp op) {
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  int64_t step = std::lcm(instructionStep(a, b), expectedReach(a, b));
  for (auto [type, other] : {std::pair(a, b), {b, a}})
    if (hasPromotedScales(type, other))
      step = std::lcm(step, int64_t(type.getKTile()));
  return step;
}

DenseIntElementsAttr blockscale::knownEnds(Value offsets) {
  if (auto cast = offsets.getDefiningOp<tensor::CastOp>())
    offsets = cast.getSource();
  DenseIntElementsAttr ends;
  return matchPattern(offsets, m_Constant(&ends)) ? ends
                                                  : DenseIntElementsAttr();
}

std::optional<Reason> blockscale::whyNotEndsAlongK(MatmulOp op, int64_t step,
                                                   int64_t ofInstruction) {
  DenseIntElementsAttr ends = knownEnds(op.getOffsets());
  if (!ends)
    return std::nullopt;
  for (auto [group, value] : llvm::enumerate(ends.getValues<APInt>())) {
    int64_t end = value.getSExtValue();
    bool isLast = end == op.getSizes().k && step == ofInstruction;
    if (end % step != 0 && !isLast)
      return "group " + std::to_string(group) + " along K ends at element " +
             std::to_string(end) +
             ", and a kernel with these operands lets groups end at multiples "
             "of " +
             std::to_string(step) +
             "; expected zeros behind its elements, up to the next one";
  }
  return std::nullopt;
}

std::optional<Reason> blockscale::whyNotEndsAlongK(MatmulOp op) {
  return whyNotEndsAlongK(
      op, expectedStepAlongK(op),
      instructionStep(op.getA().getType(), op.getB().getType()));
}

std::optional<Reason> blockscale::whyNotGroupsAlongK(ScaledTensorType a,
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

std::optional<Reason> blockscale::whyNotRepeatedAlongK(ScaledTensorType a,
                                                       ScaledTensorType b) {
  constexpr int64_t kShort = 16, kLong = 32;
  bool haveBoth = hasBlockScales(a, b) && hasBlockScales(b, a);
  bool isRepeated = haveBoth && a.getKTile() != b.getKTile();
  for (auto [type, other] : {std::pair(a, b), {b, a}}) {
    if (!hasBlockScales(type, other))
      continue;
    // Some instructions read those with a fraction for tiles of 16 alone.
    const ScaleSpec &spec = type.getSpec().getValue();
    bool isPower = scaleFormat(*spec.scale) == ElementFormat::UE8M0;
    isRepeated |=
        type.getRowTile() > 1 || type.getKTile() > (isPower ? kLong : kShort);
  }
  if (!isRepeated)
    return std::nullopt;
  return Reason("kernels read scales of single rows and of tiles that an "
                "instruction has, and longer ones are not repeated for each "
                "group along K here");
}

std::optional<Reason> blockscale::whyNotGroupedAlongK(MmaAttr mma, int64_t step,
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
  if (step % mma.getK() != 0)
    return "groups along K end at multiples of " + std::to_string(step) +
           " elements; expected 'mma_k' of " +
           std::to_string(hw::instructionK(mma.getKind(), /*sparse=*/false)) +
           ", found " + std::to_string(mma.getK());
  return std::nullopt;
}
