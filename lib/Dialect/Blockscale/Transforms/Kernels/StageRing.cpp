//===- StageRing.cpp - stages of operands in shared memory ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageRing.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"

using namespace mlir;
using namespace blockscale;

/// The builtin type of an operand's elements in shared memory.
static Type elementType(MLIRContext *context, hw::OperandType type) {
  std::optional<ElementFormat> format = type.format();
  if (type == hw::OperandType::tf32())
    return FloatTF32Type::get(context);
  if (!format)
    return IntegerType::get(context, type.bits());
  switch (*format) {
  case ElementFormat::E2M1:
    return Float4E2M1FNType::get(context);
  case ElementFormat::E2M3:
    return Float6E2M3FNType::get(context);
  case ElementFormat::E3M2:
    return Float6E3M2FNType::get(context);
  case ElementFormat::E4M3:
    return Float8E4M3FNType::get(context);
  case ElementFormat::E5M2:
    return Float8E5M2Type::get(context);
  case ElementFormat::F16:
    return Float16Type::get(context);
  case ElementFormat::BF16:
    return BFloat16Type::get(context);
  default:
    return IntegerType::get(context, formatInfo(*format).storageBits);
  }
}

/// K-major: stages x rows x K. MN-major: stages x groups of 128 rows x K x 128.
static SharedType operandRing(MLIRContext *context, int64_t stages,
                              const OperandGeometry &operand,
                              hw::OperandType format) {
  Type element = elementType(context, format);
  SmallVector<int64_t> shape{stages, operand.tile.mn, operand.tile.k};
  if (operand.tile.major == hw::OperandMajor::MN)
    shape = {stages, operand.boxes, operand.tile.k, operand.boxRows};
  return SharedType::get(context, shape, element, operand.tile.containerBits,
                         operand.tile.swizzle);
}

static SharedType scaleRing(MLIRContext *context, const TileGeometry &geometry,
                            const OperandGeometry &operand) {
  return SharedType::get(context,
                         {geometry.stages, operand.scaleGroups,
                          geometry.scaleWords, hw::kAtomBytes},
                         IntegerType::get(context, 8), 8, hw::Swizzle::None);
}

static SharedType metadataRing(MLIRContext *context,
                               const TileGeometry &geometry) {
  return SharedType::get(context,
                         {geometry.stages, geometry.metadataTiles,
                          hw::kMetadataTileRows, hw::kMetadataTileBytes},
                         IntegerType::get(context, 8), 8, hw::Swizzle::None);
}

StageRing::StageRing(KernelFrame &frame, int64_t arrivals) {
  KernelBuilder &builder = frame.b;
  MLIRContext *context = builder.getContext();
  const TileGeometry &g = frame.geometry;
  a = builder.shared(operandRing(context, g.stages, g.a, frame.mma.getA()));
  b = builder.shared(operandRing(context, g.stages, g.b, frame.mma.getB()));
  if (frame.isScaled()) {
    Value ofA = builder.shared(scaleRing(context, g, g.a));
    Value ofB = builder.shared(scaleRing(context, g, g.b));
    scales = ScaleRings{ofA, ofB};
  }
  if (frame.isSparse())
    metadata = builder.shared(metadataRing(context, g));
  full = signalFull = builder.barriers(g.stages, 1);
  empty = builder.barriers(g.stages, arrivals);
}

void StageRing::connect(KernelFrame &frame) {
  if (frame.isPair())
    signalFull = RemoteBarrierOp::create(frame.b, full, frame.place.leader());
}
