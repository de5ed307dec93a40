//===- SelectSchedule.cpp - choose tile, stages and accumulators ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Enumerates the legal completions of each matmul's schedule and takes the one
// that the throughput model finds fastest.

#include "TileGeometry.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/HW/Part.h"
#include "blockscale/HW/Throughput.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <variant>

namespace blockscale {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
/// Sizes of a product as the instruction sees it: `rows` go to the lanes.
struct Problem {
  int64_t rows, columns, k, batch;
  bool columnsKnown;
};

/// A complete choice and what it costs.
struct Candidate {
  MmaAttr mma;
  ScheduleAttr schedule;
  double cycles;
};

struct SelectSchedule : blockscale::impl::SelectScheduleBase<SelectSchedule> {
  using SelectScheduleBase::SelectScheduleBase;
  void runOnOperation() override;
};
} // namespace

//===----------------------------------------------------------------------===//
// What is legal
//===----------------------------------------------------------------------===//

/// Tiles that share a group of 128 scale rows start at its half, so that the
/// scale address moves by two columns: the one shift that public kernels use.
static constexpr int64_t kSharedTileStep = 64;

static std::optional<std::string> whyNotTileN(const Problem &problem,
                                              int64_t tileN) {
  bool oneTile = problem.columnsKnown && problem.columns <= tileN;
  if (oneTile || tileN % kSharedTileStep == 0)
    return std::nullopt;
  return "several tiles along " +
         (problem.columnsKnown ? std::to_string(problem.columns)
                               : std::string("a dynamic extent")) +
         " columns need 'tile_n' to be a multiple of 64, because scales lie in "
         "groups of 128 rows; found " +
         std::to_string(tileN) + ", nearest legal is " +
         std::to_string(
             std::min<int64_t>(256, llvm::alignTo(tileN, kSharedTileStep)));
}

/// Stages that fit the shared memory of a CTA.
static int64_t stagesThatFit(const TileGeometry &geometry, hw::Target target) {
  int64_t available =
      hw::chipInfo(target.chip).sharedMemoryPerCta - kBarrierReserve;
  constexpr int64_t kMostStages = 16;
  return std::min(kMostStages, available / geometry.stageBytes());
}

//===----------------------------------------------------------------------===//
// What is fast
//===----------------------------------------------------------------------===//

/// Bytes of global memory per element, its share of the scales included.
static double bytesPerElement(ElementFormat format, int64_t block) {
  return formatInfo(format).storageBits / 8.0 + 1.0 / block;
}

/// Predicted cycles of the whole product: waves of tiles, each bounded by the
/// array, by the fetch of operands from shared memory, by the traffic from the
/// L2 cache or by the latency that `stages` stages hide, plus the part of an
/// epilogue that the next tile does not hide.
static double predictCycles(const Problem &problem, MmaAttr mma,
                            const TileGeometry &geometry, int64_t stages,
                            hw::Target target) {
  constexpr double kStoreBytesPerCycle = 30, kFill = 1500;
  double interval = hw::mmaIntervalCycles(
      hw::mmaStep(mma.getKind(), mma.getK(), /*sparse=*/false, /*ctaGroup=*/1,
                  geometry.tileM, geometry.tileN));
  double steps = std::ceil(double(problem.k) / mma.getK());
  double traffic =
      problem.k *
      (geometry.tileM * bytesPerElement(mma.getA(), mma.getBlock()) +
       geometry.tileN * bytesPerElement(mma.getB(), mma.getBlock()));
  double kTiles = std::ceil(double(problem.k) / geometry.tileK);
  double latency =
      kTiles * hw::stageRoundTripCycles(geometry.stageBytes()) / stages;
  double mainLoop =
      std::max({steps * interval, traffic / hw::kL2BytesPerCycle, latency});
  double epilogue = geometry.tileM * geometry.tileN * 2 / kStoreBytesPerCycle;
  double exposed =
      geometry.accumulators == 2 ? 0.12 + 0.03 * (geometry.overlap != 0) : 0.75;
  double hidden = std::max(mainLoop, (1 - exposed) * epilogue);
  double tiles = std::ceil(double(problem.rows) / geometry.tileM) *
                 std::ceil(double(problem.columns) / geometry.tileN) *
                 problem.batch;
  double waves = std::ceil(tiles / hw::referencePart(target.chip).smCount);
  return kFill + waves * (hidden + exposed * epilogue);
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

static Problem problemOf(MatmulOp op, bool swap, int64_t expectedRows) {
  auto aType = op.getA().getType(), bType = op.getB().getType();
  auto size = [&](int64_t extent) {
    return ShapedType::isDynamic(extent) ? expectedRows : extent;
  };
  int64_t batch = aType.isBatched() ? aType.getShape().front() : 1;
  int64_t k = ShapedType::isDynamic(aType.getK()) ? bType.getK() : aType.getK();
  int64_t m = aType.getNumRows(), n = bType.getNumRows();
  return Problem{size(swap ? n : m), size(swap ? m : n), size(k), size(batch),
                 !ShapedType::isDynamic(swap ? m : n)};
}

/// The instruction of a tile; operands change sides with `swap`.
static MmaAttr instruction(MmaAttr mma, int64_t tileN, bool swap) {
  return MmaAttr::get(
      mma.getContext(), mma.getKind(), swap ? mma.getB() : mma.getA(),
      swap ? mma.getA() : mma.getB(), mma.getScale(), mma.getBlock(), 128,
      tileN, hw::instructionK(mma.getKind(), /*sparse=*/false),
      swap ? mma.getBMnMajor() : mma.getAMnMajor(),
      swap ? mma.getAMnMajor() : mma.getBMnMajor(), /*cta_group=*/1,
      mma.getSparse());
}

/// Completes `wish` with this tile; a string says why it cannot be.
static std::variant<Candidate, std::string>
complete(MatmulOp op, ScheduleAttr wish, hw::Target target, int64_t tileN,
         bool swap, int64_t expectedRows) {
  Problem problem = problemOf(op, swap, expectedRows);
  if (auto why = whyNotTileN(problem, tileN))
    return *why;
  MmaAttr mma = instruction(*op.getMma(), tileN, swap);
  if (auto why = hw::whyNot(legalityQuery(mma, target)))
    return *why;
  if (wish.clusterSize() > 1 || wish.getScheduler() == Scheduler::Dynamic ||
      wish.getDependentLaunch() ||
      (wish.getMmaK() && wish.getMmaK() != mma.getK()))
    return std::string("pairs, clusters, K = 96, dynamic scheduling and "
                       "dependent launches are not lowered yet");
  if (wish.getTileK() && wish.getTileK() != defaultTileK(mma))
    return "'tile_k' is one 128-byte row of shared memory, " +
           std::to_string(defaultTileK(mma)) +
           " elements for this kind; found " + std::to_string(wish.getTileK());

  ScheduleFields fields = wish.getFields();
  fields.target = StringAttr::get(op.getContext(), hw::targetName(target));
  fields.tileM = mma.getM();
  fields.tileN = tileN;
  fields.tileK = defaultTileK(mma);
  fields.swapOperands = BoolAttr::get(op.getContext(), swap);
  auto chooseIfFree = [](int64_t &field, int64_t value) {
    if (!field)
      field = value;
  };
  chooseIfFree(fields.accumulators, 2);
  chooseIfFree(fields.groupM, 8);
  chooseIfFree(fields.ctaGroup, 1);
  chooseIfFree(fields.clusterM, 1);
  chooseIfFree(fields.clusterN, 1);
  chooseIfFree(fields.mmaK, mma.getK());
  auto schedule = [&](int64_t stages) {
    fields.stages = stages;
    return ScheduleAttr::get(op.getContext(), fields);
  };
  TileGeometry geometry(mma, schedule(1));
  int64_t most = stagesThatFit(geometry, target);
  constexpr int64_t kUsefulStages = 8;
  int64_t stages =
      wish.getStages() ? wish.getStages() : std::min(most, kUsefulStages);
  if (stages > most)
    return std::to_string(stages) + " stages of " +
           std::to_string(geometry.stageBytes()) + " bytes exceed the " +
           std::to_string(hw::chipInfo(target.chip).sharedMemoryPerCta) +
           " bytes of shared memory that " + hw::targetName(target) +
           " gives a CTA; at most " + std::to_string(most) + " fit";
  return Candidate{mma, schedule(stages),
                   predictCycles(problem, mma, geometry, stages, target)};
}

static FailureOr<Candidate> select(MatmulOp op, hw::Target target,
                                   int64_t expectedRows) {
  auto wish = op.getSchedule().value_or(ScheduleAttr::get(
      op.getContext(), ScheduleFields()));
  SmallVector<int64_t> tiles{256, 192, 128, 64, 32, 16, 8};
  if (wish.getTileN())
    tiles = {wish.getTileN()};
  SmallVector<bool> swaps{false, true};
  if (wish.getSwapOperands())
    swaps = {wish.getSwapOperands().getValue()};

  std::optional<Candidate> best;
  std::string why;
  for (bool swap : swaps)
    for (int64_t tileN : tiles) {
      auto choice = complete(op, wish, target, tileN, swap, expectedRows);
      if (auto *reason = std::get_if<std::string>(&choice)) {
        why = why.empty() ? *reason : why;
        continue;
      }
      auto &candidate = std::get<Candidate>(choice);
      if (!best || candidate.cycles < best->cycles)
        best = candidate;
    }
  if (!best)
    return op.emitOpError() << "has no legal schedule: " << why;
  return *best;
}

void SelectSchedule::runOnOperation() {
  std::string why;
  std::optional<hw::Target> defaultTarget = hw::parseTarget(target, &why);
  if (!defaultTarget) {
    emitError(getOperation()->getLoc()) << why;
    return signalPassFailure();
  }
  WalkResult result = getOperation()->walk([&](MatmulOp op) -> WalkResult {
    if (!op.getMma())
      return op.emitOpError() << "has no 'mma' attribute; run "
                                 "'blockscale-legalize-scales' first";
    // A second run would exchange the operands of a swapped product again.
    if (op.getMma()->getM() && op.getSchedule() &&
        op.getSchedule()->getSwapOperands())
      return WalkResult::advance();
    hw::Target chip = *defaultTarget;
    if (op.getSchedule() && op.getSchedule()->getTarget())
      chip = *hw::parseTarget(op.getSchedule()->getTarget().getValue());
    if (!hw::hasTensorMemory(chip))
      return op.emitOpError()
             << hw::targetName(chip)
             << " has no tensor memory; the warp-level path is not lowered "
                "yet, legal targets are sm_100a, sm_103a and sm_110a";
    FailureOr<Candidate> choice = select(op, chip, expectedRows);
    if (failed(choice))
      return WalkResult::interrupt();
    op.setMmaAttr(choice->mma);
    op.setScheduleAttr(choice->schedule);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
