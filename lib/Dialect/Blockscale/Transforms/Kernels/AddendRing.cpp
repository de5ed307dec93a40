//===- AddendRing.cpp - C through shared memory ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AddendRing.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"

using namespace mlir;
using namespace blockscale;

/// Boxes of a warp: as many as hide the flight of the next one, of which all
/// have to be used equally often, since each tile starts with the first one.
static int64_t depthOf(int64_t chunks) {
  int64_t depth = 4;
  while (chunks % depth != 0)
    --depth;
  return depth;
}

int64_t blockscale::addendRingBytes(int64_t warps, int64_t chunks,
                                    int64_t width, int64_t elementBytes) {
  return depthOf(chunks) * warps * hw::kWarpSize * width * elementBytes;
}

AddendRing::AddendRing(KernelFrame &frame, int64_t chunks)
    : frame(frame), b(frame.b), chunks(chunks), depth(depthOf(chunks)),
      ring(b.shared(storeRing(cast<TensorMapType>(frame.op.getC().getType()),
                              depth * frame.warps.epilogue.count()))),
      full(b.barriers(depth * frame.warps.epilogue.count(), /*arrivals=*/1)) {}

Value AddendRing::boxOf(Value chunk) {
  return b.add(b.mul(b.rem(chunk, depth), frame.warps.epilogue.count()), warp);
}

void AddendRing::load(Value chunk, ColumnOf columnOf) {
  b.onlyIf(leader, [&] {
    Value box = boxOf(chunk);
    Value column = b.add(frame.firstColumn(tile), columnOf(chunk));
    ArriveExpectOp::create(b, full, box,
                           cast<SharedType>(ring.getType()).getStageBytes());
    TmaLoadOp::create(b, frame.op.getC(), ValueRange{column, row, tile.batch},
                      ring, full, box, /*slice=*/Value(), /*multicast=*/Value(),
                      /*shared_stage=*/Value(), /*box=*/0);
  });
}

void AddendRing::begin(TilePosition ofSums, Value thread, Value ofRound,
                       ColumnOf columnOf) {
  tile = ofSums;
  parity = ofRound;
  warp = b.sub(b.div(thread, hw::kWarpSize),
               b.constant(frame.warps.epilogue.first));
  row = b.add(frame.firstRow(tile), frame.firstLane(warp));
  leader = ElectOp::create(b);
  // What the lanes have read of the tile before is read.
  SyncWarpOp::create(b);
  for (int64_t i = 0; i < depth; ++i)
    load(b.constant(i), columnOf);
}

Value AddendRing::take(Value chunk, ColumnOf columnOf) {
  Value box = boxOf(chunk);
  Value isOdd = b.rem(b.div(chunk, depth), 2);
  WaitOp::create(b, full, box, arith::XOrIOp::create(b, parity, isOdd));
  SharedType type = cast<SharedType>(ring.getType());
  auto rowType =
      VectorType::get({type.getShape().back()}, type.getElementType());
  Value value = LoadStagedRowOp::create(b, rowType, ring, box);
  if (rounds() == 1)
    return value;
  Value following = b.add(chunk, b.constant(depth));
  Value isThere =
      b.compare(arith::CmpIPredicate::slt, following, b.constant(chunks));
  b.onlyIf(isThere, [&] {
    SyncWarpOp::create(b);
    load(following, columnOf);
  });
  return value;
}

Value AddendRing::parityBehind() {
  return rounds() % 2 == 0 ? parity : b.flip(parity);
}
