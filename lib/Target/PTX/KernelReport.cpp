//===- KernelReport.cpp - fill a report from kernels ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Target/PTX/KernelReport.h"
#include "WarpKernelReport.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/HW/Target.h"
#include "blockscale/HW/Throughput.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace blockscale;

/// The MMA of the main loop: the one with the most instructions. That of a K
/// tail has as many or fewer and comes later.
static MmaOp mainMma(gpu::GPUFuncOp kernel) {
  MmaOp best;
  kernel.walk([&](MmaOp op) {
    if (op.getSteps() &&
        (!best || op.getSteps()->size() > best.getSteps()->size()))
      best = op;
  });
  return best;
}

/// Copies into tensor memory that precede `mma` in its block.
static unsigned copiesBefore(MmaOp mma) {
  unsigned copies = 0;
  for (Operation &op : *mma->getBlock()) {
    if (&op == mma.getOperation())
      break;
    if (auto copy = dyn_cast<CopyScalesOp>(op))
      copies += copy.getShared().getType().getStageBytes() / hw::kAtomBytes;
    if (auto copy = dyn_cast<CopyMetadataOp>(op))
      copies += copy.getShared().getType().getShape()[1];
  }
  return copies;
}

/// The rings that a kernel reads, by name.
static llvm::DenseMap<Value, StringRef> ringNames(gpu::GPUFuncOp kernel,
                                                  MmaOp mma) {
  llvm::DenseMap<Value, StringRef> names;
  if (!mma) {
    for (auto [ring, name] : warpKernelRings(kernel))
      names[ring] = name;
    return names;
  }
  // Rings of scales are known by the tensor memory that they are copied to.
  kernel.walk([&](CopyMetadataOp copy) {
    names[copy.getShared()] = "metadata of A";
  });
  kernel.walk([&](CopyScalesOp copy) {
    if (copy.getTarget() == mma.getSfa())
      names[copy.getShared()] = "scales of A";
    if (copy.getTarget() == mma.getSfb())
      names[copy.getShared()] = "scales of B";
  });
  names[mma.getA()] = "A";
  names[mma.getB()] = "B";
  return names;
}

static std::vector<MemoryRegion> sharedRegions(gpu::GPUFuncOp kernel,
                                               MmaOp mma) {
  llvm::DenseMap<Value, StringRef> names = ringNames(kernel, mma);
  auto nameOf = [&](Value ring) -> std::string {
    auto found = names.find(ring);
    return found == names.end() ? "address of tensor memory"
                                : found->second.str();
  };
  std::vector<MemoryRegion> regions;
  uint64_t first = UINT64_MAX, end = 0;
  constexpr uint64_t kBarrierBytes = 8;
  kernel.walk([&](Operation *op) {
    if (auto ring = dyn_cast<SharedAllocOp>(op))
      regions.push_back({nameOf(ring), uint64_t(ring.getOffset().value_or(0)),
                         uint64_t(ring.getType().getBytes())});
    if (auto barrier = dyn_cast<BarrierAllocOp>(op)) {
      uint64_t offset = barrier.getOffset().value_or(0);
      first = std::min(first, offset);
      end = std::max(end,
                     offset + barrier.getType().getCount() * kBarrierBytes);
    }
  });
  if (end)
    regions.push_back({"barriers", first, end - first});
  llvm::sort(regions, [](const MemoryRegion &x, const MemoryRegion &y) {
    return x.offset < y.offset;
  });
  return regions;
}

static std::vector<MemoryRegion> tensorRegions(MmaOp mma) {
  std::vector<MemoryRegion> regions;
  auto add = [&](StringRef name, Value value) {
    if (auto view = value.getDefiningOp<TmemViewOp>())
      regions.push_back({name.str(), uint64_t(view.getColumn().value_or(0)),
                         uint64_t(view.getType().getColumns())});
  };
  add("accumulators", mma.getAccumulator());
  add("scales of A", mma.getSfa());
  add("scales of B", mma.getSfb());
  if (mma.getMetadata())
    add("metadata of A", mma.getMetadata());
  llvm::sort(regions, [](const MemoryRegion &x, const MemoryRegion &y) {
    return x.offset < y.offset;
  });
  return regions;
}

/// Bytes in global memory that one stage is loaded from.
static uint64_t loadedBytes(gpu::GPUFuncOp kernel) {
  uint64_t bytes = 0;
  kernel.walk([&](ArriveExpectOp op) {
    bytes = std::max<uint64_t>(bytes, op.getBytes());
  });
  return bytes;
}

/// Fills in what the MMA of the main loop tells.
static void reportMmaLoop(MmaOp mma, KernelReport &report) {
  MmaAttr instruction = mma.getInstruction();
  report.kind = std::string(hw::kindName(instruction.getKind()));
  report.mmasPerKTile = mma.getSteps()->size();
  report.copiesPerKTile = copiesBefore(mma);
  report.tileM = instruction.getM();
  report.tileN = instruction.getN();
  report.tileK = instruction.getK() * report.mmasPerKTile;
  report.stages = mma.getA().getType().getStages();
  report.accumulators = mma.getAccumulator().getType().getShape().front();
  report.tensorMemory = tensorRegions(mma);
  report.mmaCyclesPerKTile =
      report.mmasPerKTile *
      hw::mmaIntervalCycles(hw::mmaStep(
          instruction.getKind(), instruction.getK(), instruction.getSparse(),
          unsigned(instruction.getCtaGroup()), instruction.getM(),
          instruction.getN()));
}

static FailureOr<KernelReport> reportKernel(gpu::GPUFuncOp kernel,
                                            KernelAttr attribute) {
  MmaOp mma = mainMma(kernel);
  if (!mma && !isWarpKernel(kernel))
    return kernel.emitError() << "has no 'blockscale.mma' with steps; run "
                                 "'blockscale-assign-scale-ids' first";
  std::optional<hw::Target> target =
      hw::parseTarget(attribute.getTarget().getValue());
  if (!target)
    return kernel.emitError() << "unknown target '"
                              << attribute.getTarget().getValue() << "'";
  KernelReport report;
  report.name = kernel.getName().str();
  report.sharedMemoryBytes = attribute.getSharedBytes();
  report.sharedMemoryLimitBytes =
      hw::chipInfo(target->chip).sharedMemoryPerCta;
  report.sharedMemory = sharedRegions(kernel, mma);
  report.tensorMemoryColumns = attribute.getTensorColumns();
  uint64_t bytes = loadedBytes(kernel);
  // The bytes are those of all CTAs that execute an instruction together.
  int64_t ctas = mma ? mma.getInstruction().getCtaGroup() : 1;
  report.loadCyclesPerKTile = bytes / ctas / hw::kTmaBytesPerCycle;
  if (mma)
    reportMmaLoop(mma, report);
  else
    reportWarpLoop(kernel, report);
  if (bytes)
    report.flopsPerByte =
        2.0 * report.tileM * report.tileN * report.tileK / bytes;
  return report;
}

FailureOr<Report> blockscale::buildReport(ModuleOp module) {
  Report report;
  WalkResult result = module.walk([&](gpu::GPUFuncOp kernel) {
    auto attribute = kernel->getAttrOfType<KernelAttr>(KernelAttr::name);
    if (!attribute)
      return WalkResult::advance();
    FailureOr<KernelReport> reported = reportKernel(kernel, attribute);
    if (failed(reported))
      return WalkResult::interrupt();
    report.target = attribute.getTarget().str();
    report.kernels.push_back(std::move(*reported));
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return report;
}
