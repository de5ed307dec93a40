//===- StageRing.cpp - stages of operands in shared memory ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageRing.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/Upstream/NVVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace blockscale;

/// K-major: stages x rows x K. MN-major: stages x groups of rows x K x the rows
/// of a group, 128 bytes of them.
static SharedType operandRing(MLIRContext *context, int64_t stages,
                              const OperandGeometry &operand,
                              hw::OperandType format) {
  Type element = getElementType(context, format);
  SmallVector<int64_t> shape{stages, operand.tile.mn, operand.tile.k};
  if (operand.tile.major == hw::OperandMajor::MN)
    shape = {stages, operand.boxes, operand.tile.k, operand.boxRows};
  return SharedType::get(context, shape, element, operand.tile.containerBits,
                         operand.tile.swizzle);
}

static SharedType scaleRing(MLIRContext *context, const TileGeometry &geometry,
                            int64_t groups, int64_t stages) {
  return SharedType::get(context,
                         {stages, groups, geometry.scaleWords, hw::kAtomBytes},
                         IntegerType::get(context, 8), 8, hw::Swizzle::None);
}

/// Of the scales of A with one row to a lane.
static SharedType rowTileRing(MLIRContext *context,
                              const TileGeometry &geometry) {
  return SharedType::get(context,
                         {geometry.scaleStages, geometry.scaleRowTiles(),
                          hw::kAtomRows, hw::kRowTileScales},
                         IntegerType::get(context, 8), 8, hw::Swizzle::None);
}

static SharedType metadataRing(MLIRContext *context,
                               const TileGeometry &geometry) {
  return SharedType::get(context,
                         {geometry.stages, geometry.metadataTiles,
                          hw::kMetadataTileRows, hw::kMetadataTileBytes},
                         IntegerType::get(context, 8), 8, hw::Swizzle::None);
}

StageRing::StageRing(KernelFrame &frame, int64_t arrivals) : frame(frame) {
  KernelBuilder &builder = frame.b;
  MLIRContext *context = builder.getContext();
  const TileGeometry &g = frame.geometry;
  for (int64_t i = 0; i < g.rowInstructions; ++i)
    a.push_back(
        builder.shared(operandRing(context, g.stages, g.a, frame.mma.getA())));
  for (const OperandGeometry &part : g.partsOfB)
    b.push_back(
        builder.shared(operandRing(context, g.stages, part, frame.mma.getB())));
  if (frame.isScaled()) {
    scales.emplace();
    for (int64_t i = 0; g.a.loadsScales && i < g.rowInstructions; ++i)
      scales->a.push_back(builder.shared(
          g.isRowPerLane
              ? rowTileRing(context, g)
              : scaleRing(context, g, g.a.scaleGroups, g.scaleStages)));
    if (g.b.loadsScales)
      for (int64_t groups : g.scaleGroupsOfB)
        scales->b.push_back(
            builder.shared(scaleRing(context, g, groups, g.scaleStages)));
  }
  if (frame.isSparse())
    metadata = builder.shared(metadataRing(context, g));
  if (frame.hasScalesOfOne() && !frame.warps.consumers.count())
    storeOnes(g.a.loadsScales ? g.b : g.a);
  full = signalFull = builder.barriers(g.stages, 1);
  empty = builder.barriers(g.stages, arrivals);
  if (g.hasScaleRing())
    scalesEmpty = builder.barriers(g.scaleStages, arrivals);
}

void StageRing::storeOnes(const OperandGeometry &operand) {
  constexpr int64_t kPiece = 16;
  KernelBuilder &builder = frame.b;
  auto type = scaleRing(builder.getContext(), frame.geometry,
                        operand.groupsOfScaleBox, 1);
  ones = builder.shared(type);
  onesCopied = builder.barriers(1, 1);
  auto piece = VectorType::get({kPiece}, builder.getI8Type());
  uint32_t code = encode(*frame.mma.getScale(), 1.0f);
  Value codes = arith::ConstantOp::create(
      builder,
      DenseElementsAttr::get(piece, builder.getI8IntegerAttr(int8_t(code))));
  Value thread =
      builder.toI32(gpu::ThreadIdOp::create(builder, gpu::Dimension::x));
  int64_t bytes = type.getStageBytes();
  for (int64_t first = 0; first < bytes;
       first += frame.warps.threads() * kPiece) {
    Value offset =
        builder.add(builder.mul(thread, kPiece), builder.constant(first));
    builder.onlyIf(
        builder.compare(arith::CmpIPredicate::slt, offset,
                        builder.constant(bytes)),
        [&] { StoreSharedOp::create(builder, codes, ones, offset); });
  }
  // The copies to tensor memory read through the async proxy.
  nvvm::fenceAsyncProxy(builder, frame.isPair() ? nvvm::Scope::Cluster
                                                : nvvm::Scope::Cta);
}

void StageRing::connect() {
  if (frame.isPair())
    signalFull = RemoteBarrierOp::create(frame.b, full, frame.place.leader());
}

StagePosition StageRing::first() const {
  Value zero = frame.b.constant(0);
  StagePosition at{zero, zero, std::nullopt};
  if (scalesEmpty)
    at.scales = RingPosition{zero, zero};
  return at;
}

StagePosition StageRing::next(StagePosition at) const {
  const TileGeometry &g = frame.geometry;
  RingPosition following = frame.b.next(at.operands(), g.stages);
  at.slot = following.slot;
  at.parity = following.parity;
  if (at.scales)
    at.scales = frame.b.next(*at.scales, g.scaleStages);
  return at;
}
