//===- StoreOps.cpp - verifiers of ops on results in shared memory --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVerifiers.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Target.h"
#include "blockscale/HW/TensorMap.h"

using namespace mlir;
using namespace blockscale;

LogicalResult AwaitStoresOp::verify() {
  if (int64_t(getPending()) < 0)
    return emitOpError() << "expected a number of stores, found "
                         << int64_t(getPending());
  return success();
}

/// Boxes of a row for each lane, as wide as the swizzle.
static LogicalResult verifyBoxes(Operation *op, SharedType ring) {
  ArrayRef<int64_t> shape = ring.getShape();
  int64_t width = hw::swizzleWidth(ring.getSwizzle());
  if (shape.size() == 3 && shape[1] == hw::kWarpSize &&
      shape[2] * ring.getContainer() == 8 * width)
    return success();
  return op->emitOpError() << "expected boxes of " << hw::kWarpSize
                           << " rows of " << width << " bytes, found " << ring;
}

/// A row of such a box.
static LogicalResult verifyStagedRow(Operation *op, SharedType ring,
                                     VectorType row) {
  if (failed(verifyBoxes(op, ring)))
    return failure();
  if (row.getElementType() != ring.getElementType() ||
      row.getDimSize(0) != ring.getShape()[2])
    return op->emitOpError()
           << "expected a row of a box of " << ring << ", found " << row;
  return success();
}

LogicalResult StageRowOp::verify() {
  return verifyStagedRow(*this, getShared().getType(), getValue().getType());
}

LogicalResult LoadStagedRowOp::verify() {
  return verifyStagedRow(*this, getShared().getType(), getType());
}

/// Sums lie in blocks x columns / 4 x rows x 4.
static LogicalResult verifySums(Operation *op, SharedType shared,
                                VectorType sums) {
  constexpr int64_t kTogether = 4;
  ArrayRef<int64_t> shape = shared.getShape();
  if (shape.size() != 4 || shape[3] != kTogether ||
      shared.getContainer() != 32 || shared.getSwizzle() != hw::Swizzle::None)
    return op->emitOpError() << "expected blocks of columns in fours, of 32 "
                                "bits and without swizzle, found "
                             << shared;
  if (sums.getElementType() != shared.getElementType() ||
      sums.getDimSize(0) % kTogether != 0 ||
      sums.getDimSize(0) > shape[1] * kTogether)
    return op->emitOpError()
           << "expected fours of columns of " << shared << ", found " << sums;
  return success();
}

LogicalResult SendSumsOp::verify() {
  if (getSignal().getType().getRemote())
    return emitOpError() << "expected the executing CTA's barriers, which name "
                            "those of 'rank'";
  return verifySums(*this, getShared().getType(), getValue().getType());
}

LogicalResult ReceiveSumsOp::verify() {
  return verifySums(*this, getShared().getType(), getType());
}

LogicalResult ReleaseSumsOp::verify() {
  int64_t count = getCount(), step = getStep();
  if (getEmpty().getType().getRemote())
    return emitOpError() << "expected the executing CTA's barriers, which name "
                            "those of other CTAs";
  if (count < 1 || step < 1 || count > hw::kMaxCluster / step)
    return emitOpError() << "expected ranks below " << hw::kMaxCluster
                         << ", found " << count << " in steps of " << step;
  return success();
}

LogicalResult TmaStoreOp::verify() {
  SharedType ring = getShared().getType();
  TensorMapType map = getMap().getType();
  if (failed(verifyBoxes(*this, ring)))
    return failure();
  if (getCoordinates().size() != map.getBox().size())
    return emitOpError() << "expected " << map.getBox().size()
                         << " coordinates, found " << getCoordinates().size();
  if (map.getSwizzle() != ring.getSwizzle())
    return emitOpError() << "the tensor map's swizzle "
                         << StringRef(hw::swizzleName(map.getSwizzle()))
                         << " is not the box's, "
                         << StringRef(hw::swizzleName(ring.getSwizzle()));
  int64_t bits = hw::tensorMapDataTypeInfo(map.getDataType()).sharedBits;
  for (int64_t extent : map.getBox())
    bits *= extent;
  if (bits != 8 * ring.getStageBytes())
    return emitOpError() << "the tensor map's box of " << bits / 8
                         << " bytes is not the ring's, of "
                         << ring.getStageBytes();
  return success();
}

/// What threads access at once, of elements that lie one after another.
static LogicalResult verifyAccess(Operation *op, VectorType elements,
                                  SharedType ring) {
  int64_t bits = elements.getElementType().getIntOrFloatBitWidth();
  if (ring.getSwizzle() != hw::Swizzle::None || ring.getContainer() != bits ||
      ring.getElementType() != elements.getElementType())
    return op->emitOpError()
           << "expected a ring of " << elements.getElementType()
           << " in containers of " << bits << " bits without a swizzle, found "
           << ring;
  constexpr int64_t kMostBits = 128;
  int64_t size = elements.getDimSize(0) * bits;
  if (!llvm::isPowerOf2_64(size) || size > kMostBits)
    return op->emitOpError()
           << "accesses a power of two of up to 16 bytes at once, found "
           << elements;
  return success();
}

LogicalResult LoadSharedOp::verify() {
  return verifyAccess(*this, getType(), getShared().getType());
}

LogicalResult StoreSharedOp::verify() {
  return verifyAccess(*this, getValue().getType(), getShared().getType());
}
