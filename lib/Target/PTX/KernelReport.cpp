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
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/HW/Target.h"
#include "blockscale/HW/Throughput.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace blockscale;

/// MMAs of a K tile in the block of `mma` that share A or B, or it alone.
static SmallVector<MmaOp> mmasInBlock(MmaOp mma) {
  auto belongs = [&](MmaOp op) {
    if (mma.getCollector())
      return static_cast<bool>(op.getCollector());
    return op.getA() == mma.getA() && op.getStage() == mma.getStage() &&
           op.getRange() == mma.getRange();
  };
  return llvm::filter_to_vector(mma->getBlock()->getOps<MmaOp>(), belongs);
}

/// All MMAs of a K tile. The right half of a tile that is handed over in halves
/// has a loop of its own, which reads the same A and another B.
static SmallVector<MmaOp> mmasBeside(MmaOp mma) {
  SmallVector<MmaOp> mmas = mmasInBlock(mma);
  if (mma.getCollector())
    return mmas;
  llvm::SmallPtrSet<Value, 4> columns;
  for (MmaOp op : mmas)
    columns.insert(op.getB());
  mma->getParentOfType<gpu::GPUFuncOp>().walk([&](MmaOp op) {
    if (op->getBlock() != mma->getBlock() && op.getA() == mma.getA() &&
        op.getSteps() == mma.getSteps() && op.getRange() == mma.getRange() &&
        columns.insert(op.getB()).second)
      mmas.push_back(op);
  });
  return mmas;
}

/// The MMA of the main loop: the one with the most instructions, and of those
/// one that has the others of its K tile beside it. That of a K tail has as
/// many or fewer and comes later.
static MmaOp mainMma(gpu::GPUFuncOp kernel) {
  MmaOp best;
  auto rankOf = [](MmaOp op) {
    return std::pair(op.getSteps()->size(), mmasBeside(op).size());
  };
  kernel.walk([&](MmaOp op) {
    if (op.getSteps() && (!best || rankOf(op) > rankOf(best)))
      best = op;
  });
  return best;
}

/// Columns of the tile that `mmas`, those beside each other, compute.
static int64_t columnsOf(ArrayRef<MmaOp> mmas) {
  MmaOp first = mmas.front();
  if (first.getCollector())
    return first.getInstruction().getN();
  int64_t columns = 0;
  for (MmaOp op : mmas)
    columns += op.getInstruction().getN();
  return columns;
}

/// Accumulators of a whole tile in `type`, and columns from one to the next.
static std::pair<int64_t, int64_t> copiesOf(TensorMemoryType type,
                                            int64_t columns) {
  int64_t count = type.getShape()[0], width = type.getShape()[2];
  int64_t stride = cast<TmemAccumulatorAttr>(type.getLayout()).getCopyStride();
  if (columns == width || !stride)
    return {count, stride ? stride : width};
  // Those of instructions beside each other have one at every step.
  int64_t behind = type.getColumns() - columns;
  return {behind ? 2 : 1, behind ? behind : columns};
}

/// Those of them above each other, which have operands A of their own.
static SmallVector<MmaOp> mmasAbove(MmaOp mma) {
  if (!mma.getCollector())
    return {mma};
  SmallVector<MmaOp> mmas = mmasBeside(mma);
  auto last = llvm::find_if(
      mmas, [](MmaOp op) { return op.getCollector() == CollectorB::LastUse; });
  if (last != mmas.end())
    mmas.erase(last + 1, mmas.end());
  return mmas;
}

static unsigned copiesOf(CopyScalesOp copy) {
  SharedType ring = copy.getShared().getType();
  return unsigned(isRowPerLane(copy.getTarget().getType())
                      ? ring.getShape()[1]
                      : ring.getStageBytes() / hw::kAtomBytes);
}

/// Those of scales before `at` in its block, in regions there too.
static unsigned scaleCopiesBefore(Operation *at) {
  unsigned copies = 0;
  for (Operation &op : *at->getBlock()) {
    if (&op == at)
      break;
    op.walk([&](CopyScalesOp copy) { copies += copiesOf(copy); });
  }
  return copies;
}

/// Copies into tensor memory that precede `mma` in its block. Where a main loop
/// copies scales ahead they are before that block.
static unsigned copiesBefore(MmaOp mma) {
  unsigned copies = scaleCopiesBefore(mma);
  if (!copies && mma.getSfa())
    copies = scaleCopiesBefore(mma->getParentOp());
  for (auto copy : mma->getBlock()->getOps<CopyMetadataOp>())
    if (copy->isBeforeInBlock(mma))
      copies += unsigned(copy.getShared().getType().getShape()[1]);
  return copies;
}

/// Copies into tensor memory for a K tile that `mmas` multiply. Where those of
/// its right half have a block of their own, only their scales of B come on
/// top.
static unsigned copiesFor(ArrayRef<MmaOp> mmas) {
  MmaOp first = mmas.front();
  unsigned copies = copiesBefore(first);
  for (MmaOp op : mmas)
    if (op->getBlock() != first->getBlock())
      for (auto copy : op->getBlock()->getOps<CopyScalesOp>())
        if (copy.getTarget() == op.getSfb())
          copies += copiesOf(copy);
  return copies;
}

/// The rings that a kernel reads, by name.
static llvm::DenseMap<Value, StringRef> ringNames(gpu::GPUFuncOp kernel,
                                                  MmaOp mma) {
  llvm::DenseMap<Value, StringRef> names;
  kernel.walk([&](TmemAllocOp alloc) {
    names[alloc.getSlot()] = "address of tensor memory";
  });
  kernel.walk([&](QueryCancelOp query) {
    names[query.getResponses()] = "answers of the scheduler";
  });
  if (!mma) {
    for (auto [ring, name] : warpKernelRings(kernel))
      names[ring] = name;
    return names;
  }
  kernel.walk(
      [&](StageRowOp stage) { names[stage.getShared()] = "boxes of D"; });
  kernel.walk(
      [&](LoadStagedRowOp load) { names[load.getShared()] = "boxes of C"; });
  kernel.walk([&](SendSumsOp send) {
    // Stages that may hold them are named by their operands below.
    names.try_emplace(send.getShared(), "sums of the cluster");
  });
  // Rings of scales are known by the tensor memory that they are copied to.
  kernel.walk(
      [&](CopyMetadataOp copy) { names[copy.getShared()] = "metadata of A"; });
  SmallVector<MmaOp> mmas = mmasAbove(mma);
  kernel.walk([&](CopyScalesOp copy) {
    for (MmaOp op : mmas)
      if (copy.getTarget() == op.getSfa())
        names[copy.getShared()] = "scales of A";
    for (MmaOp op : mmasBeside(mma))
      if (copy.getTarget() == op.getSfb())
        names[copy.getShared()] = "scales of B";
  });
  for (MmaOp op : mmas)
    names[op.getA()] = "A";
  for (MmaOp op : mmasBeside(mma))
    names[op.getB()] = "B";
  return names;
}

static std::vector<MemoryRegion> sharedRegions(gpu::GPUFuncOp kernel,
                                               MmaOp mma) {
  llvm::DenseMap<Value, StringRef> names = ringNames(kernel, mma);
  auto nameOf = [&](Value ring) -> std::string {
    auto found = names.find(ring);
    return found == names.end() ? "exchange between warps"
                                : found->second.str();
  };
  std::vector<MemoryRegion> regions;
  uint64_t first = UINT64_MAX, end = 0;
  kernel.walk([&](Operation *op) {
    if (auto ring = dyn_cast<SharedAllocOp>(op)) {
      unsigned stages = ring.getType().getStages();
      regions.push_back({nameOf(ring), uint64_t(ring.getOffset().value_or(0)),
                         uint64_t(ring.getType().getBytes()), stages,
                         uint64_t(ring.getType().getBytes()) / stages});
    }
    if (auto barrier = dyn_cast<BarrierAllocOp>(op)) {
      uint64_t offset = barrier.getOffset().value_or(0);
      first = std::min(first, offset);
      end = std::max(end,
                     offset + barrier.getType().getCount() * hw::kBarrierBytes);
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
    auto view = value ? value.getDefiningOp<TmemViewOp>() : TmemViewOp();
    if (!view)
      return;
    MemoryRegion region{name.str(), uint64_t(view.getColumn().value_or(0)),
                        uint64_t(view.getType().getColumns())};
    if (view.getType().isAccumulator())
      std::tie(region.copies, region.stride) =
          copiesOf(view.getType(), columnsOf(mmasInBlock(mma)));
    regions.push_back(region);
  };
  add("accumulators", mma.getAccumulator());
  for (MmaOp op : mmasAbove(mma))
    add("scales of A", op.getSfa());
  llvm::SetVector<Value> scalesOfB;
  for (MmaOp op : mmasBeside(mma))
    scalesOfB.insert(op.getSfb());
  for (Value scales : scalesOfB)
    add("scales of B", scales);
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

/// Number of instructions of `mma` and the cycles that they take.
static unsigned steps(MmaOp mma) { return mma.getSteps()->size(); }
static double cycles(MmaOp mma) {
  MmaAttr instruction = mma.getInstruction();
  hw::MmaStep step = hw::mmaStep(
      instruction.getKind(), instruction.getK(), instruction.getSparse(),
      unsigned(instruction.getCtaGroup()), instruction.getM(),
      instruction.getN(), instruction.getA().bits(), instruction.getB().bits());
  step.sharersOfB = mmasAbove(mma).size();
  return steps(mma) * hw::mmaIntervalCycles(step);
}

/// Instructions of K = 96 cover a K tile of several stages by several ops; what
/// comes behind the first whole tile is the tail. Without a whole one the tail
/// is all there is. Returns the stages that a K tile takes, 1 without K = 96.
static int64_t reportK96(gpu::GPUFuncOp kernel, KernelReport &report) {
  constexpr int64_t kTile = hw::kK96GroupSteps * hw::kK96;
  SmallVector<MmaOp> tile, tail;
  bool isWhole = false;
  kernel.walk([&](MmaOp op) {
    if (!op.getRange() || op.getCollector())
      return;
    bool isBeside = !tile.empty() &&
                    op->getBlock() == tile.back()->getBlock() &&
                    op.getRange() == tile.back().getRange();
    (isWhole && !isBeside ? tail : tile).push_back(op);
    isWhole |= op.getRangeAttr().getEnd() == kTile;
  });
  if (tile.empty())
    return 1;
  int64_t stages = tile.back().getRangeAttr().getPart() + 1;
  report.tileK = tile.back().getRangeAttr().getEnd();
  report.copiesPerKTile *= stages;
  report.mmasPerKTile = 0;
  report.mmaCyclesPerKTile = 0;
  for (MmaOp op : tile) {
    report.mmasPerKTile += steps(op);
    report.mmaCyclesPerKTile += cycles(op);
  }
  if (!isWhole)
    tail = tile;
  if (tail.empty())
    return stages;
  KTail end;
  for (MmaOp op : tail) {
    // Those beside it do the same.
    if (op.getB() != tail.front().getB())
      continue;
    end.atLaunch |= static_cast<bool>(op.getValid());
    bool isLong = op.getInstruction().getK() == hw::kK96;
    (isLong ? end.longMmas : end.shortMmas) += steps(op);
  }
  KRangeAttr last = tail.back().getRangeAttr();
  end.zeroFill = last.getBegin() +
                 steps(tail.back()) * tail.back().getInstruction().getK() -
                 last.getEnd();
  if (end.atLaunch)
    end.longMmas = end.shortMmas = end.zeroFill = 0;
  report.kTail = end;
  return stages;
}

/// Fills in what the MMA of the main loop tells.
static void reportMmaLoop(MmaOp mma, KernelReport &report) {
  MmaAttr instruction = mma.getInstruction();
  report.kind = std::string(hw::kindName(instruction.getKind()));
  SmallVector<MmaOp> mmas = mmasBeside(mma);
  unsigned above = mmasAbove(mma).size();
  // Those of a tile that read the same elements of K.
  unsigned ofStep = mma.getCollector() ? above : mmas.size();
  report.mmasPerKTile = 0;
  for (MmaOp op : mmas)
    report.mmasPerKTile += steps(op);
  report.copiesPerKTile = copiesFor(mmas);
  report.tileM = instruction.getM() * above;
  report.tileN = columnsOf(mmas);
  report.tileK = instruction.getK() * report.mmasPerKTile / ofStep;
  report.mmaK = instruction.getK();
  reportInstruction(instruction, report);
  report.stages = mma.getA().getType().getStages();
  report.accumulators =
      copiesOf(mma.getAccumulator().getType(), columnsOf(mmasInBlock(mma)))
          .first;
  report.tensorMemory = tensorRegions(mma);
  report.mmaCyclesPerKTile = 0;
  for (MmaOp op : mmas)
    report.mmaCyclesPerKTile += cycles(op);
}

/// Of a kernel without a main loop there is little to tell: what it does, with
/// so many elements to a thread.
static KernelReport reportElementwise(gpu::GPUFuncOp kernel,
                                      KernelAttr attribute, StringRef kind,
                                      int64_t block) {
  KernelReport report;
  report.name = kernel.getName().str();
  report.kind = kind.str();
  report.block = unsigned(block);
  report.sharedMemoryBytes = attribute.getSharedBytes();
  const hw::ChipInfo &chip = hw::chipInfo(getTarget(kernel).chip);
  report.sharedMemoryLimitBytes = chip.sharedMemoryPerCta;
  report.tensorMemoryLimitColumns = chip.tensorMemoryColumns;
  return report;
}

/// What a conversion works on at a time: elements that share a scale or a word
/// of metadata, a group that is pruned, or a piece that is added up.
static int64_t elementsTogether(ConversionAttr conversion) {
  auto from = dyn_cast<ScaledTensorType>(conversion.getA()),
       to = dyn_cast<ScaledTensorType>(conversion.getD());
  if (!from)
    return conversion.getGroup();
  if (isTileSums(conversion))
    return TileSumsOp::kPiece;
  for (ScaledTensorType type : {from, to})
    if (std::optional<hw::SparsePattern> pattern =
            type ? sparsePattern(type) : std::nullopt)
      return hw::patternInfo(*pattern).chunk;
  return from.getKTile();
}

/// The parts that a relayout moves; empty of other conversions.
static std::string movedParts(ConversionAttr conversion) {
  if (conversion.getOp() != kRelayoutKind)
    return "";
  Result<RelayoutStorage> storage =
      relayoutStorage(cast<ScaledTensorType>(conversion.getA()),
                      cast<ScaledTensorType>(conversion.getD()));
  assert(storage && "the kernel was formed");
  SmallVector<StringRef> parts;
  for (auto [isMoved, part] :
       {std::pair(storage->elements.has_value(), "elements"),
        {storage->metadata.has_value(), "metadata"},
        {storage->scales.has_value(), "scales"}})
    if (isMoved)
      parts.push_back(part);
  return llvm::join(parts, ", ");
}

static FailureOr<KernelReport> reportKernel(gpu::GPUFuncOp kernel,
                                            KernelAttr attribute) {
  auto quantization =
      kernel->getAttrOfType<QuantizationAttr>(QuantizationAttr::name);
  if (quantization && !kernel->hasAttr(ProductAttr::name)) {
    Result<QuantizedStorage> storage = quantizedStorage(
        quantization.getD(), getTarget(kernel), {}, scaleReader(kernel));
    if (!storage)
      return kernel.emitError() << storage.why().text;
    return reportElementwise(kernel, attribute, kQuantizeKind, storage->block);
  }
  if (auto conversion =
          kernel->getAttrOfType<ConversionAttr>(ConversionAttr::name)) {
    KernelReport report = reportElementwise(
        kernel, attribute, conversion.getOp(), elementsTogether(conversion));
    report.moved = movedParts(conversion);
    return report;
  }
  MmaOp mma = mainMma(kernel);
  if (!mma && !isWarpKernel(kernel))
    return kernel.emitError() << "has no 'blockscale.mma' with steps; run "
                                 "'blockscale-assign-steps' first";
  KernelReport report;
  report.name = kernel.getName().str();
  report.sharedMemoryBytes = attribute.getSharedBytes();
  hw::Chip chip = getTarget(kernel).chip;
  report.sharedMemoryLimitBytes =
      hw::needsOversizedShared(chip, report.sharedMemoryBytes)
          ? hw::mostSharedMemory(chip)
          : hw::chipInfo(chip).sharedMemoryPerCta;
  report.sharedMemory = sharedRegions(kernel, mma);
  report.tensorMemoryColumns = attribute.getTensorColumns();
  report.tensorMemoryLimitColumns = hw::chipInfo(chip).tensorMemoryColumns;
  uint64_t bytes = loadedBytes(kernel);
  if (mma) {
    reportMmaLoop(mma, report);
    bytes *= reportK96(kernel, report);
  } else {
    reportWarpLoop(kernel, report);
  }
  // The bytes are those of all CTAs that execute an instruction together.
  int64_t ctas = mma ? mma.getInstruction().getCtaGroup() : 1;
  uint64_t bytesOfCta = bytes / ctas;
  report.loadCyclesPerKTile = double(bytesOfCta) / hw::kTmaBytesPerCycle;
  if (bytes)
    report.flopsPerByte =
        2.0 * report.tileM * report.tileN * report.tileK / bytes;
  return report;
}

FailureOr<Report> blockscale::buildReport(gpu::GPUModuleOp kernels) {
  Report report;
  report.target = hw::targetName(getTarget(kernels));
  for (auto kernel : kernels.getOps<gpu::GPUFuncOp>()) {
    auto attribute = kernel->getAttrOfType<KernelAttr>(KernelAttr::name);
    if (!attribute)
      continue;
    FailureOr<KernelReport> reported = reportKernel(kernel, attribute);
    if (failed(reported))
      return failure();
    report.kernels.push_back(std::move(*reported));
  }
  return report;
}
