//===- TensorMemory.cpp - accumulators and what MMAs read -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMemory.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// TensorMemory
//===----------------------------------------------------------------------===//

static TensorMemoryType metadataRegion(MLIRContext *context,
                                       const TileGeometry &geometry) {
  return TensorMemoryType::get(
      context,
      {hw::kTmemLanes, geometry.metadataTiles * hw::kMetadataTileBytes},
      IntegerType::get(context, 8), TmemMetadataAttr::get(context));
}

static TensorMemoryType scaleRegion(MLIRContext *context,
                                    const TileGeometry &geometry,
                                    int64_t groups) {
  int64_t rows = groups * hw::kAtomRows;
  hw::ScaleRegion region = hw::tileScaleRegion(rows);
  return TensorMemoryType::get(
      context, {rows, geometry.scaleRegionWords * hw::kAtomScales},
      IntegerType::get(context, 8),
      TmemScalesAttr::get(context, region.wordStride));
}

/// Of A, one row to a lane: words follow each other.
static TensorMemoryType rowPerLaneRegion(MLIRContext *context,
                                         const TileGeometry &geometry) {
  return TensorMemoryType::get(context, {hw::kTmemLanes, geometry.scalesPerRow},
                               IntegerType::get(context, 8),
                               TmemScalesAttr::get(context, 1));
}

/// The accumulators of the ring. Where one is of several instructions there is
/// one for the first of them at every step of columns, and the others' are
/// some of these.
static TensorMemoryType accumulatorRegion(KernelFrame &frame) {
  MLIRContext *context = frame.b.getContext();
  const TileGeometry &g = frame.geometry;
  int64_t count = g.accumulators, width = g.accumulatorColumns();
  int64_t stride = g.overlap ? g.accumulatorStride() : 0;
  if (g.columns.second && !g.hasHalves) {
    int64_t all = (count - 1) * g.accumulatorStride() + g.tileN;
    width = g.columns.first;
    stride = hw::kWideTileStep;
    count = (all - width) / stride + 1;
  }
  return TensorMemoryType::get(context, {count, g.rowsPerCta(), width},
                               accumulatorType(frame.mma),
                               TmemAccumulatorAttr::get(context, stride));
}

TensorMemory::TensorMemory(KernelFrame &frame)
    : frame(frame), b(frame.b),
      slot(b.shared(SharedType::get(b.getContext(), {1, 1}, b.getI32Type(), 32,
                                    hw::Swizzle::None))),
      allocated(b.barriers(1, 1)) {}

void TensorMemory::allocate() {
  // In a pair both CTAs have allocated when one of them goes on.
  b.warps("mma", frame.warps.issuer, [&] {
    TmemAllocOp::create(b, slot, IntegerAttr(), frame.isPair());
    b.onlyIf(ElectOp::create(b),
             [&] { ArriveOp::create(b, allocated, b.constant(0)); });
  });
}

void TensorMemory::locate() {
  WaitOp::create(b, allocated, b.constant(0), b.constant(0));
  MLIRContext *context = b.getContext();
  const TileGeometry &g = frame.geometry;
  auto view = [&](TensorMemoryType type) -> Value {
    return TmemViewOp::create(b, type, slot, IntegerAttr());
  };
  accumulator = view(accumulatorRegion(frame));
  if (frame.isScaled()) {
    scales.emplace();
    for (int64_t i = 0; i < g.rowInstructions; ++i)
      scales->a.push_back(view(g.isRowPerLane
                                   ? rowPerLaneRegion(context, g)
                                   : scaleRegion(context, g, g.a.scaleGroups)));
    for (int64_t groups : g.scaleGroupsOfB)
      scales->b.push_back(view(scaleRegion(context, g, groups)));
  }
  if (frame.isSparse())
    metadata = view(metadataRegion(context, g));
}

Value TensorMemory::accumulatorOf(Value slot, unsigned number) {
  const TileGeometry &g = frame.geometry;
  if (!g.columns.second || g.hasHalves)
    return slot;
  int64_t steps = g.accumulatorStride() / hw::kWideTileStep;
  return b.add(b.mul(slot, steps),
               b.constant(g.columns.begin(number) / hw::kWideTileStep));
}

void TensorMemory::free() {
  b.warps("mma", frame.warps.issuer, [&] {
    TensorFenceOp::create(b, FenceSide::After);
    TmemDeallocOp::create(b, slot, IntegerAttr(), frame.isPair());
  });
}

//===----------------------------------------------------------------------===//
// AccumulatorRing
//===----------------------------------------------------------------------===//

/// The instructions arrive when an accumulator is complete, and whoever brings
/// the scales that its sums are multiplied by.
AccumulatorRing::AccumulatorRing(KernelFrame &frame)
    : full(frame.b.barriers(frame.geometry.accumulators,
                            frame.promotionBlock() ? 2 : 1)),
      frame(frame) {}

void AccumulatorRing::allocateEmpty(int64_t arrivals) {
  empty = signalEmpty =
      frame.b.barriers(emptyCount(), frame.geometry.ctaGroup * arrivals);
}

void AccumulatorRing::connect() {
  if (frame.isPair())
    signalEmpty = RemoteBarrierOp::create(frame.b, empty, frame.place.leader());
}
