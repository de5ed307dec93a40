//===- WarpKernelReport.cpp - reports on warp-level kernels ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpKernelReport.h"
#include "blockscale/HW/Throughput.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace blockscale;

namespace {
/// The main loop's body and what it reads. That of a K tail has as many
/// instructions or fewer and comes later.
struct MainLoop {
  Block *block = nullptr;
  unsigned instructions = 0;
  MmaAttr instruction;
};
} // namespace

static MainLoop mainLoop(gpu::GPUFuncOp kernel) {
  llvm::MapVector<Block *, MainLoop> blocks;
  kernel.walk([&](WarpMmaOp op) {
    MainLoop &loop = blocks[op->getBlock()];
    loop.block = op->getBlock();
    ++loop.instructions;
    loop.instruction = op.getInstruction();
  });
  MainLoop best;
  for (auto &[block, loop] : blocks)
    if (loop.instructions > best.instructions)
      best = loop;
  return best;
}

bool blockscale::isWarpKernel(gpu::GPUFuncOp kernel) {
  return mainLoop(kernel).block != nullptr;
}

SmallVector<std::pair<Value, StringRef>>
blockscale::warpKernelRings(gpu::GPUFuncOp kernel) {
  SmallVector<std::pair<Value, StringRef>> rings;
  for (Operation &op : *mainLoop(kernel).block) {
    if (auto load = dyn_cast<LoadAFragmentOp>(op))
      rings.push_back({load.getRing(), "A"});
    if (auto load = dyn_cast<LoadBFragmentsOp>(op))
      rings.push_back({load.getRing(), "B"});
    if (auto load = dyn_cast<LoadWarpMetadataOp>(op))
      rings.push_back({load.getRing(), "metadata of A"});
    if (auto mma = dyn_cast<WarpMmaOp>(op)) {
      if (auto load = mma.getSfa().getDefiningOp<LoadWarpScalesOp>())
        rings.push_back({load.getRing(), "scales of A"});
      if (auto load = mma.getSfb().getDefiningOp<LoadWarpScalesOp>())
        rings.push_back({load.getRing(), "scales of B"});
    }
  }
  return rings;
}

void blockscale::reportInstruction(MmaAttr instruction, KernelReport &report) {
  report.ctaGroup = unsigned(instruction.getCtaGroup());
  report.block = unsigned(instruction.getBlock());
  report.sparse = instruction.getSparse();
}

void blockscale::reportWarpLoop(gpu::GPUFuncOp kernel, KernelReport &report) {
  MainLoop loop = mainLoop(kernel);
  int64_t warps = 1;
  if (auto role = loop.block->getParentOp()->getParentOfType<WarpsOp>())
    warps = role.getLast() - role.getFirst();
  report.kind = std::string(hw::kindName(loop.instruction.getKind()));
  report.mmasPerKTile = loop.instructions * warps;
  report.mmaK = loop.instruction.getK();
  reportInstruction(loop.instruction, report);
  report.accumulators = 1;
  for (auto [ring, name] : warpKernelRings(kernel)) {
    auto type = cast<SharedType>(ring.getType());
    if (name == "A") {
      report.tileM = type.getShape()[1];
      report.stages = type.getStages();
    } else if (name == "B") {
      report.tileN = type.getShape()[1];
      report.tileK = type.getShape()[2];
    }
  }
  report.mmaCyclesPerKTile =
      hw::warpTileCycles(loop.instruction.getKind(), report.tileM, report.tileN,
                         loop.instruction.getStoredK(report.tileK));
}
