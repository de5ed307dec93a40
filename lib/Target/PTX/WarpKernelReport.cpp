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
/// The main loop's body and its instructions. That of a K tail has as many or
/// fewer and comes later. There is none where the epilogue does not use the
/// product, so that multiplying was dropped.
struct MainLoop {
  Block *block = nullptr;
  unsigned instructions = 0;
};
} // namespace

static MainLoop mainLoop(gpu::GPUFuncOp kernel) {
  llvm::MapVector<Block *, MainLoop> blocks;
  kernel.walk([&](WarpMmaOp op) {
    MainLoop &loop = blocks[op->getBlock()];
    loop.block = op->getBlock();
    ++loop.instructions;
  });
  MainLoop best;
  for (auto &[block, loop] : blocks)
    if (loop.instructions > best.instructions)
      best = loop;
  return best;
}

/// Warps that share a tile: each arrives once where the stage that they have
/// read may be overwritten.
static int64_t warpsOf(const MainLoop &loop) {
  int64_t warps = 1;
  if (loop.block)
    loop.block->walk([&](ArriveOp arrive) {
      if (auto barrier = arrive.getBarrier().getDefiningOp<BarrierAllocOp>())
        warps = barrier.getArrivals();
    });
  return warps;
}

bool blockscale::isWarpKernel(gpu::GPUFuncOp kernel) {
  return kernel->hasAttr(ProductAttr::name) &&
         !hw::hasTensorMemory(getTarget(kernel)) &&
         !warpKernelRings(kernel).empty();
}

/// What is loaded through the parameter, as the instruction has its operands.
static StringRef ringName(ParameterRole role, bool swap) {
  switch (role) {
  case ParameterRole::AData:
    return swap ? "B" : "A";
  case ParameterRole::BData:
    return swap ? "A" : "B";
  case ParameterRole::AScales:
    return swap ? "scales of B" : "scales of A";
  case ParameterRole::BScales:
    return swap ? "scales of A" : "scales of B";
  case ParameterRole::AMetadata:
  case ParameterRole::BMetadata:
    return "metadata of A";
  default:
    return "";
  }
}

SmallVector<std::pair<Value, StringRef>>
blockscale::warpKernelRings(gpu::GPUFuncOp kernel) {
  auto product = kernel->getAttrOfType<ProductAttr>(ProductAttr::name);
  SmallVector<std::pair<Value, StringRef>> rings;
  auto add = [&](Value source, Value ring) {
    auto map = dyn_cast<BlockArgument>(source);
    auto parameter = map && map.getOwner() == &kernel.getBody().front()
                         ? kernel.getArgAttrOfType<ParameterAttr>(
                               map.getArgNumber(), ParameterAttr::name)
                         : ParameterAttr();
    if (product && parameter)
      rings.push_back(
          {ring, ringName(parameter.getRole(), product.getSwapOperands())});
  };
  kernel.walk([&](TmaLoadOp load) { add(load.getMap(), load.getShared()); });
  kernel.walk([&](TmaGatherOp load) { add(load.getMap(), load.getShared()); });
  return rings;
}

void blockscale::reportInstruction(MmaAttr instruction, KernelReport &report) {
  report.ctaGroup = unsigned(instruction.getCtaGroup());
  report.block = unsigned(instruction.getBlock());
  report.sparse = instruction.getSparse();
}

void blockscale::reportWarpLoop(gpu::GPUFuncOp kernel, KernelReport &report) {
  MainLoop loop = mainLoop(kernel);
  MmaAttr instruction =
      kernel->getAttrOfType<ProductAttr>(ProductAttr::name).getMma();
  report.kind = std::string(hw::kindName(instruction.getKind()));
  report.mmasPerKTile = loop.instructions * warpsOf(loop);
  report.mmaK = instruction.getK();
  reportInstruction(instruction, report);
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
      loop.instructions
          ? hw::warpTileCycles(instruction.getKind(), report.tileM,
                               report.tileN,
                               instruction.getStoredK(report.tileK))
          : 0;
}
