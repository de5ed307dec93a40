//===- Turns.cpp - groups of warps that multiply in turns -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Turns.h"
#include "blockscale/Dialect/Blockscale/IR/ResultTiles.h"

using namespace mlir;
using namespace blockscale;

static constexpr int64_t kGroups = 2;

Turns::Turns(KernelFrame &frame, const StageRing &stages)
    : frame(frame), b(frame.b),
      free(b.barriers(kGroups, warpsOfTile(frame.schedule))) {
  assert(!stages.scalesEmpty && "scales share the ring");
}

void Turns::locate(Value thread) {
  group = b.div(thread, warpsOfTile(frame.schedule) * hw::kWarpSize);
}

Value Turns::isMine(Value number) {
  return b.compare(arith::CmpIPredicate::eq, b.rem(number, kGroups), group);
}

/// The first group finds its main loop free: its turn number n waits for phase
/// n - 1, that of the second group for phase n, which the first one's ends.
void Turns::await(Value number) {
  Value turn = b.rem(b.div(number, kGroups), 2);
  Value parity = b.flip(b.createOrFold<arith::XOrIOp>(turn, group));
  WaitOp::create(b, free, group, parity);
}

void Turns::pass(Value leader) {
  SyncWarpOp::create(b);
  b.onlyIf(leader, [&] { ArriveOp::create(b, free, b.flip(group)); });
}

StagePosition Turns::behind(StagePosition at, Value kTiles) {
  int64_t stages = frame.geometry.stages;
  Value steps = b.add(at.slot, kTiles);
  at.slot = b.rem(steps, stages);
  at.parity =
      b.createOrFold<arith::XOrIOp>(at.parity, b.rem(b.div(steps, stages), 2));
  return at;
}
