//===- LargestOfGroups.cpp - what groups of warps find together -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LargestOfGroups.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

/// Places of each thread: of this tile of sums, and of the next one.
static constexpr int64_t kPlaces = 2;

int64_t blockscale::bytesOfGroups(int64_t groups) {
  return kPlaces * groups * int64_t(hw::kTmemLanes) * int64_t(sizeof(float));
}

/// Columns of the product that share a scale of D, and those of a thread.
static int64_t columnsOfTile(KernelFrame &frame) {
  return frame.sumsOfElement() * frame.op.getQuantization()->getD().getKTile();
}
static int64_t columnsOfThread(KernelFrame &frame) {
  return promotedColumns(frame.geometry.tileN);
}

bool LargestOfGroups::isNeeded(KernelFrame &frame) {
  if (!frame.promotionBlock() || !frame.quantizes() || frame.bringsRows())
    return false;
  QuantizationAttr what = *frame.op.getQuantization();
  return hasFloatScales(what.getD()) && what.getD().getRowTile() == 1 &&
         what.getRule() != ScaleRule::MinError &&
         columnsOfTile(frame) > columnsOfThread(frame);
}

LargestOfGroups::LargestOfGroups(KernelFrame &frame)
    : b(frame.b), threads(frame.warps.epilogue.threads()),
      together(columnsOfTile(frame) / columnsOfThread(frame)),
      numbers(b.shared(SharedType::get(b.getContext(), {1, kPlaces * threads},
                                       b.getF32Type(), /*container=*/32,
                                       hw::Swizzle::None))),
      full(b.barriers(/*count=*/1, /*arrivals=*/threads)) {}

Value LargestOfGroups::find(Emitter &e, Value own, Value parity) {
  auto word = VectorType::get({1}, e.getF32Type());
  // The epilogue's threads are the first of the CTA.
  Value thread = b.toI32(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  Value place = b.mul(parity, threads);
  StoreSharedOp::create(b, vector::FromElementsOp::create(b, word, own),
                        numbers, b.add(place, thread));
  ArriveOp::create(b, full, b.constant(0));
  WaitOp::create(b, full, b.constant(0), parity);
  int64_t lanes = hw::kTmemLanes;
  Value group = b.mul(b.div(b.div(thread, lanes), together), together);
  Value first = b.add(place, b.add(b.mul(group, lanes), b.rem(thread, lanes)));
  Value largest;
  for (int64_t i = 0; i < together; ++i) {
    Value loaded = LoadSharedOp::create(b, word, numbers,
                                        b.add(first, b.constant(i * lanes)));
    Value bits = e.bits(vector::ExtractOp::create(b, loaded, 0));
    largest =
        largest ? arith::MaxUIOp::create(b, largest, bits).getResult() : bits;
  }
  return e.fromBits(largest);
}
