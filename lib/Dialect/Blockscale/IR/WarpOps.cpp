//===- WarpOps.cpp - verifiers of the ops of warp-level kernels -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/WarpSchedules.h"
#include "blockscale/HW/Fragments.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"

using namespace mlir;
using namespace blockscale;

/// Bytes along K that one instruction reads of each row.
static constexpr int64_t kStepBytes = 32;
/// Bytes of metadata of one row for one instruction.
static constexpr int64_t kWarpMetadataBytes = 8;
/// Rows that one load brings.
static constexpr int64_t kPieceRows = 16;

std::optional<Reason> blockscale::whyNotWarpTile(MmaAttr mma, int64_t tileM,
                                                 int64_t tileN, int64_t tileK) {
  std::string kind(hw::kindName(mma.getKind()));
  if (!hw::isBlockScaled(mma.getKind()) && mma.getSparse())
    return "a sparse 'a' of kind '" + kind +
           "' is lowered to tensor memory only; without it the block-scaled "
           "kinds are";
  if (mma.getKind() == hw::MmaKind::F8F6F4)
    return "kind '" + kind +
           "' is lowered to tensor memory only; without it 'mxf8f6f4' "
           "multiplies its elements, twice as fast, by scales of 1";
  bool legal = tileM == 128 && tileK == mma.getTileK() && tileN >= 16 &&
               tileN <= 128 && llvm::isPowerOf2_64(tileN);
  if (legal)
    return std::nullopt;
  auto text = [](int64_t value) { return std::to_string(value); };
  return "a tile of " + text(tileM) + "x" + text(tileN) + "x" + text(tileK) +
         " is not one that warps multiply; legal are 128 rows, 16, 32, 64 or "
         "128 columns and " +
         text(mma.getTileK()) + " along K";
}

std::optional<Reason> blockscale::whyNotWarpSchedule(ScheduleAttr schedule,
                                                     hw::Target target) {
  if (hw::hasTensorMemory(target))
    return std::nullopt;
  auto text = [](int64_t value) { return std::to_string(value); };
  std::string chip = hw::targetName(target);
  if (schedule.clusterSize() > 1)
    return "clusters share loads into tensor-core kernels of chips with tensor "
           "memory; on " +
           chip + " the legal cluster is 1x1, found " +
           text(schedule.clusterM()) + "x" + text(schedule.clusterN()) +
           (schedule.clusterK() > 1
                ? " and 'cluster_k' of " + text(schedule.clusterK())
                : "");
  if (schedule.getAccumulators() > 1)
    return chip +
           " keeps accumulators in registers; the legal number of "
           "'accumulators' is 1, found " +
           text(schedule.getAccumulators());
  return std::nullopt;
}

std::optional<Reason> blockscale::whyNotConsumerGroups(ScheduleAttr schedule,
                                                       Type element,
                                                       hw::Target target) {
  if (schedule.consumerGroups() == 1)
    return std::nullopt;
  std::string what =
      "'consumer_groups' of " + std::to_string(schedule.consumerGroups());
  std::string legal = "; nearest legal: 1";
  if (hw::hasTensorMemory(target))
    return Reason(what + " are not lowered for " + hw::targetName(target) +
                  ", whose epilogue stores a tile out of tensor memory while "
                  "the next one is multiplied" +
                  legal);
  if (schedule.splits() > 1)
    return Reason(what +
                  " are not lowered with 'split_k', where all warps of a CTA "
                  "add up the parts of a tile together" +
                  legal);
  // Pairs of f32 that are stored as they are take registers of their own.
  constexpr int64_t kMostFloats = 64;
  if (element && element.isF32() && schedule.getTileN() > kMostFloats)
    return Reason(what + " have registers to store f32 of tiles of " +
                  std::to_string(kMostFloats) + " columns, found 'tile_n' of " +
                  std::to_string(schedule.getTileN()) +
                  "; nearest legal: " + std::to_string(kMostFloats));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Moving data into registers
//===----------------------------------------------------------------------===//

/// A piece of 16 rows x 32 bytes must lie in a stage.
static LogicalResult verifyPiece(Operation *op, SharedType ring, int64_t tile,
                                 int64_t step) {
  ArrayRef<int64_t> shape = ring.getShape();
  // What leaves memory transposed has 16 bits.
  constexpr int64_t kHalf = 16;
  bool isMNMajor = shape.size() == 4 && ring.getContainer() == kHalf;
  if (shape.size() != 3 && !isMNMajor)
    return op->emitOpError() << "expected a ring of stages x rows x K or, of "
                                "16 bits, of stages x "
                                "row groups x K x rows, found "
                             << ring;
  int64_t rows = isMNMajor ? shape[1] * shape[3] : shape[1];
  int64_t rowBytes = shape[2] * ring.getContainer() / 8;
  if (step < 0 || step >= rowBytes / kStepBytes)
    return op->emitOpError()
           << "expected step 0 to " << rowBytes / kStepBytes - 1 << " of "
           << kStepBytes << " bytes in a row of " << rowBytes
           << " bytes, found " << step;
  if (tile < 0 || (tile + 1) * kPieceRows > rows)
    return op->emitOpError()
           << "tile " << tile << " of " << kPieceRows
           << " rows is not within a stage of " << rows << " rows";
  return success();
}

LogicalResult LoadAFragmentOp::verify() {
  return verifyPiece(*this, getRing().getType(), getTile(), getStep());
}

LogicalResult LoadBFragmentsOp::verify() {
  return verifyPiece(*this, getRing().getType(), getTile(), getStep());
}

LogicalResult LoadWarpScalesOp::verify() {
  SharedType ring = getRing().getType();
  if (failed(verifyScaleRing(*this, ring)))
    return failure();
  if (ring.getShape()[1] != 1)
    return emitOpError() << "expected one group of " << hw::kAtomRows
                         << " rows in a stage, found " << ring.getShape()[1];
  constexpr int64_t kGroupRows = hw::kAtomLanes;
  int64_t group = getGroup(), word = getWord();
  if (group < 0 || group >= hw::kAtomRows / kGroupRows)
    return emitOpError() << "expected group 0 to "
                         << hw::kAtomRows / kGroupRows - 1 << ", found "
                         << group;
  if (word < 0 || word >= ring.getShape()[2])
    return emitOpError() << "word " << word
                         << " of scales is not within a stage of "
                         << ring.getShape()[2];
  return success();
}

LogicalResult LoadWarpMetadataOp::verify() {
  SharedType ring = getRing().getType();
  ArrayRef<int64_t> shape = ring.getShape();
  if (shape.size() != 4 || shape[2] != hw::kMetadataTileRows ||
      shape[3] != hw::kMetadataTileBytes || ring.getContainer() != 8 ||
      ring.getSwizzle() != hw::Swizzle::None)
    return emitOpError() << "expected a ring of stages x tiles x 128 rows x 16 "
                            "bytes without swizzle";
  int64_t tile = getTile(), step = getStep();
  int64_t tiles = hw::kMetadataTileRows / kPieceRows;
  int64_t steps = shape[1] * hw::kMetadataTileBytes / kWarpMetadataBytes;
  if (tile < 0 || tile >= tiles || step < 0 || step >= steps)
    return emitOpError() << "expected tile 0 to " << tiles - 1
                         << " and step 0 to " << steps - 1 << ", found " << tile
                         << " and " << step;
  return success();
}

//===----------------------------------------------------------------------===//
// Multiplying
//===----------------------------------------------------------------------===//

Type blockscale::warpSumsOf(MmaAttr instruction) {
  return VectorType::get({4}, accumulatorType(instruction));
}

static LogicalResult verifySelector(WarpMmaOp op, hw::WarpOperand operand,
                                    ScaleSelectorAttr selector) {
  MmaAttr mma = op.getInstruction();
  unsigned scales = hw::scalesPerMma(mma.getKind(), mma.getBlock(), mma.getK(),
                                     mma.getSparse());
  auto inRange = [](int64_t value) { return value >= 0 && value < 4; };
  if (!inRange(selector.getByte()) || !inRange(selector.getThread()))
    return op.emitOpError()
           << "expected byte and thread ids of 0 to 3, found "
           << selector.getByte() << " and " << selector.getThread();
  if (auto why = hw::whyNotScaleSelector(operand, scales, selector.getByte(),
                                         selector.getThread()))
    return op.emitOpError() << why->text;
  return success();
}

LogicalResult WarpMmaOp::verify() {
  constexpr hw::Target kOutside{hw::Chip::SM120,
                                hw::TargetVariant::ArchSpecific};
  if (failed(verifyInstruction(*this, getInstruction(), kOutside)))
    return failure();
  bool isSparse = getInstruction().getSparse();
  if (isSparse != bool(getMetadata()) || isSparse != bool(getBHigh()))
    return emitOpError() << "expected metadata and two fragments of B with a "
                            "sparse instruction, and only then";
  for (int64_t index :
       {int64_t(getRowTile()), int64_t(getColumnTile()), int64_t(getStep())})
    if (index < 0)
      return emitOpError() << "expected tiles and step of 0 or more, found "
                           << index;
  if (getC().getType() != warpSumsOf(getInstruction()))
    return emitOpError() << "expected sums of " << warpSumsOf(getInstruction())
                         << " of kind '"
                         << StringRef(hw::kindName(getInstruction().getKind()))
                         << "', found " << getC().getType();
  bool isScaled = hw::isBlockScaled(getInstruction().getKind());
  if (isScaled != bool(getSfa()) || isScaled != bool(getSfb()))
    return emitOpError() << "expected scales of both operands with a "
                            "block-scaled kind, and only then";
  if (getSfaId().has_value() != getSfbId().has_value())
    return emitOpError() << "expected 'sfa_id' and 'sfb_id' together";
  if (!isScaled && getSfaId())
    return emitOpError() << "expected no scale ids without scales";
  if (!getSfaId())
    return success();
  if (failed(verifySelector(*this, hw::WarpOperand::ScaleA, *getSfaId())))
    return failure();
  return verifySelector(*this, hw::WarpOperand::ScaleB, *getSfbId());
}

LogicalResult
FinishFragmentsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getFragments().getTypes());
  return success();
}
