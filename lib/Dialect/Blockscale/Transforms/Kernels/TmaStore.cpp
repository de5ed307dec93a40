//===- TmaStore.cpp - D through shared memory -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TmaStore.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"

using namespace mlir;
using namespace blockscale;

/// Boxes of a warp. Each tile starts with the first one, so that no position
/// has to be carried from tile to tile: all of them have to be used equally
/// often.
static int64_t depthOf(int64_t chunks) { return chunks % 2 == 0 ? 2 : 1; }

int64_t blockscale::storeRingBytes(int64_t warps, int64_t chunks, int64_t width,
                                   int64_t elementBytes) {
  return depthOf(chunks) * warps * hw::kWarpSize * width * elementBytes;
}

TmaStore::TmaStore(KernelFrame &frame, int64_t chunks)
    : frame(frame), b(frame.b), depth(depthOf(chunks)),
      ring(b.shared(storeRing(cast<TensorMapType>(frame.op.getD().getType()),
                              depth * frame.warps.epilogue.count()))) {}

void TmaStore::store(TilePosition tile, Value thread, Value chunk, Value column,
                     Value value) {
  int64_t first = frame.warps.epilogue.first;
  int64_t warps = frame.warps.epilogue.count();
  Value warp = b.sub(b.div(thread, hw::kWarpSize), b.constant(first));
  Value box = b.add(b.mul(b.rem(chunk, depth), warps), warp);
  Value row = b.add(frame.firstRow(tile), frame.firstLane(warp));
  AwaitStoresOp::create(b, depth - 1);
  StageRowOp::create(b, value, ring, box);
  TmaStoreOp::create(b, ring, box, frame.op.getD(),
                     ValueRange{column, row, tile.batch});
}

void TmaStore::drain() { AwaitStoresOp::create(b, 0); }
