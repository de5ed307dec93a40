//===- SelectSchedule.cpp - choose tile, stages and accumulators ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Enumerates the legal completions of each matmul's schedule and takes the one
// that the throughput model finds fastest.

#include "../Kernels/Geometry.h"
#include "../Kernels/MatmulSource.h"
#include "WarpSchedule.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Dialect/Blockscale/Transforms/Prediction.h"
#include "blockscale/Dialect/Blockscale/Transforms/ScheduleChoices.h"
#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/ScaleLayout.h"
#include "llvm/Support/MathExtras.h"

namespace blockscale {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
/// What distinguishes the schedules that are compared; the rest follows.
struct Choice {
  bool swap;
  int64_t ctaGroup, clusterM, clusterN, mmaK, tileN;
};

struct SelectSchedule : blockscale::impl::SelectScheduleBase<SelectSchedule> {
  using SelectScheduleBase::SelectScheduleBase;
  void runOnOperation() override;
  void getDependentDialects(DialectRegistry &registry) const override {
    SelectScheduleBase::getDependentDialects(registry);
    registerKernelSources(registry);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// What is legal
//===----------------------------------------------------------------------===//

static std::optional<Reason> whyNotTileN(const ProblemSizes &problem,
                                         MmaAttr mma, int64_t tileN,
                                         int64_t clusterN) {
  bool oneTile =
      problem.columnsKnown && problem.columns <= tileN && clusterN == 1;
  if (oneTile || !hw::isBlockScaled(mma.getKind()) ||
      tileN % hw::kSharedAtomStep == 0)
    return std::nullopt;
  return "several tiles along " +
         (problem.columnsKnown ? std::to_string(problem.columns) + " columns"
                               : std::string("a dynamic number of columns")) +
         " need 'tile_n' to be a multiple of 64, because scales lie in "
         "groups of 128 rows; found " +
         std::to_string(tileN) + ", nearest legal is " +
         std::to_string(
             std::min<int64_t>(256, llvm::alignTo(tileN, hw::kSharedAtomStep)));
}

static std::optional<Reason> whyNotTileM(ScheduleAttr wish, MmaAttr mma,
                                         const Choice &choice) {
  int64_t rows = hw::kTmemLanes * choice.ctaGroup;
  if (!wish.getTileM() || wish.getTileM() == rows)
    return std::nullopt;
  std::string tileM = "'tile_m' of " + std::to_string(wish.getTileM());
  std::string legal = "'tile_m' of " + std::to_string(rows);
  if (choice.ctaGroup == 1)
    return tileM +
           " takes a pair of CTAs; nearest legal: 'cta_group' of 2, or " +
           legal;
  std::string why;
  if (hw::isBlockScaled(mma.getKind()))
    why = ", because no public document settles where its scales lie in tensor "
          "memory";
  return tileM + " over a pair of CTAs is not lowered" + why +
         "; nearest legal: " + legal + ", or 'cta_group' of 1";
}

/// Why `target` cannot run what the schedule asks for besides its tile.
static std::optional<Reason>
whyNotCluster(ScheduleAttr wish, const Choice &choice, hw::Target target) {
  if (choice.ctaGroup == 2)
    if (auto why = hw::whyNotFeature(hw::Feature::TmaCtaGroup2, target))
      return why;
  if (wish.getScheduler() == Scheduler::Dynamic)
    if (auto why = hw::whyNotFeature(hw::Feature::ClusterLaunchControl, target))
      return why;
  // Naming a size above 8 is how the kernel asks for it.
  return hw::whyNotCluster(target, choice.clusterM * choice.clusterN,
                           /*nonPortable=*/true);
}

/// Stages that fit the shared memory of a CTA.
static int64_t stagesThatFit(const TileGeometry &geometry, hw::Target target) {
  int64_t available =
      hw::chipInfo(target.chip).sharedMemoryPerCta - kBarrierReserve;
  constexpr int64_t kMostStages = 16;
  return std::min(kMostStages, available / geometry.stageBytes());
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// The instruction of a choice; operands change sides with `swap`.
static MmaAttr instruction(MmaAttr mma, const Choice &choice) {
  MmaAttr::Fields fields =
      (choice.swap ? mma.getTransposed() : mma).getFields();
  fields.m = hw::kTmemLanes * choice.ctaGroup;
  fields.n = choice.tileN;
  fields.k = choice.mmaK;
  fields.ctaGroup = choice.ctaGroup;
  return MmaAttr::get(mma.getContext(), fields);
}

/// Completes `wish` with this choice, or says why it cannot be.
static Result<ScheduleChoice> complete(MatmulOp op, ScheduleAttr wish,
                                       hw::Target target, const Choice &choice,
                                       int64_t expectedRows) {
  if (choice.swap && getMma(op).getSparse())
    return Reason(kWhyNotSwapSparse.str());
  ProblemSizes problem = problemSizes(op, choice.swap, expectedRows);
  if (auto why = whyNotCluster(wish, choice, target))
    return *why;
  if (auto why = whyNotTileM(wish, getMma(op), choice))
    return *why;
  if (auto why =
          whyNotTileN(problem, getMma(op), choice.tileN, choice.clusterN))
    return *why;
  MmaAttr mma = instruction(getMma(op), choice);
  if (auto why = hw::whyNot(legalityQuery(mma, target)))
    return *why;
  if (wish.getTileK() && wish.getTileK() != mma.getTileK())
    return Reason((mma.getSparse()
                       ? "'tile_k' is "
                       : "'tile_k' is one 128-byte row of shared memory, ") +
                  std::to_string(mma.getTileK()) + " elements for this " +
                  (mma.getSparse() ? "sparse kind" : "kind") + "; found " +
                  std::to_string(wish.getTileK()));

  ScheduleAttr::Fields fields = wish.getFields();
  fields.tileM = mma.getM();
  fields.tileN = choice.tileN;
  fields.tileK = mma.getTileK();
  fields.swapOperands = BoolAttr::get(op.getContext(), choice.swap);
  auto chooseIfFree = [](int64_t &field, int64_t value) {
    if (!field)
      field = value;
  };
  chooseIfFree(fields.accumulators, 2);
  chooseIfFree(fields.groupM, 8);
  fields.ctaGroup = choice.ctaGroup;
  fields.clusterM = choice.clusterM;
  fields.clusterN = choice.clusterN;
  fields.mmaK = choice.mmaK;
  auto schedule = [&](int64_t stages) {
    fields.stages = stages;
    return ScheduleAttr::get(op.getContext(), fields);
  };
  TileGeometry geometry(mma, schedule(1));
  int64_t most = stagesThatFit(geometry, target);
  constexpr int64_t kUsefulStages = 8;
  int64_t stages =
      wish.getStages() ? wish.getStages() : std::min(most, kUsefulStages);
  if (auto why = whyNotStages(mma, stages))
    return *why;
  if (stages > most)
    return Reason(std::to_string(stages) + " stages of " +
                  std::to_string(geometry.stageBytes()) + " bytes exceed the " +
                  std::to_string(hw::chipInfo(target.chip).sharedMemoryPerCta) +
                  " bytes of shared memory that " + hw::targetName(target) +
                  " gives a CTA; at most " + std::to_string(most) + " fit");
  return ScheduleChoice{
      mma, schedule(stages),
      predictMicroseconds(problem, mma, schedule(stages), target)};
}

/// K of the instructions to compare: the 4-bit kinds have a longer one on
/// sm_103a.
static SmallVector<int64_t> stepsOf(MmaAttr mma, ScheduleAttr wish,
                                    hw::Target target) {
  if (wish.getMmaK())
    return {wish.getMmaK()};
  int64_t ordinary = hw::instructionK(mma.getKind(), mma.getSparse());
  bool isLonger = hw::instrVariant(mma.getKind()) == hw::InstrVariant::MXF4 &&
                  !mma.getSparse() &&
                  hw::isAvailable(hw::Feature::AbsoluteLeadingOffset, target);
  if (isLonger)
    return {ordinary, hw::kK96};
  return {ordinary};
}

/// The clusters to compare: a CTA or pair alone, or two that share A or B.
static SmallVector<std::pair<int64_t, int64_t>> clustersOf(ScheduleAttr wish,
                                                           int64_t ctaGroup) {
  SmallVector<std::pair<int64_t, int64_t>> clusters;
  for (auto [m, n] : {std::pair(1, 1), std::pair(1, 2), std::pair(2, 1)}) {
    int64_t clusterM = wish.getClusterM() ? wish.getClusterM() : m * ctaGroup;
    int64_t clusterN = wish.getClusterN() ? wish.getClusterN() : n;
    if (clusterM % ctaGroup == 0 &&
        !llvm::is_contained(clusters, std::pair(clusterM, clusterN)))
      clusters.push_back({clusterM, clusterN});
  }
  return clusters;
}

/// Everything that `wish` leaves free, the simplest kernels first: among equals
/// the first stays.
static SmallVector<Choice> choicesOf(MmaAttr mma, ScheduleAttr wish,
                                     hw::Target target) {
  SmallVector<int64_t> tiles{256, 192, 128, 64, 32, 16, 8};
  if (wish.getTileN())
    tiles = {wish.getTileN()};
  SmallVector<bool> swaps{false, true};
  if (wish.getSwapOperands())
    swaps = {wish.getSwapOperands().getValue()};
  SmallVector<int64_t> groups{1, 2};
  if (wish.getCtaGroup() || wish.getTileM())
    groups = {wish.getCtaGroup() ? wish.getCtaGroup()
                                 : wish.getTileM() / hw::kTmemLanes};
  SmallVector<Choice> choices;
  for (bool swap : swaps)
    for (int64_t group : groups)
      for (auto [clusterM, clusterN] : clustersOf(wish, group))
        for (int64_t step : stepsOf(mma, wish, target))
          for (int64_t tile : tiles)
            choices.push_back({swap, group, clusterM, clusterN, step, tile});
  return choices;
}

ScheduleChoices blockscale::listScheduleChoices(MatmulOp op, hw::Target target,
                                                int64_t expectedRows) {
  ScheduleChoices choices;
  auto add = [&](Result<ScheduleChoice> choice) {
    if (choice)
      choices.legal.push_back(*choice);
    else
      choices.refused.push_back(choice.why());
  };
  if (!hw::hasTensorMemory(target)) {
    listWarpSchedules(op, target, expectedRows, add);
  } else {
    ScheduleAttr wish = getScheduleWish(op);
    for (const Choice &choice : choicesOf(getMma(op), wish, target))
      add(complete(op, wish, target, choice, expectedRows));
  }
  llvm::stable_sort(choices.legal,
                    [](const ScheduleChoice &x, const ScheduleChoice &y) {
                      return x.microseconds < y.microseconds;
                    });
  return choices;
}

LogicalResult blockscale::selectMatmulSchedule(MatmulOp op, hw::Target target,
                                               int64_t expectedRows) {
  if (!getMma(op))
    return op.emitOpError() << "has no 'mma' attribute; run "
                               "'blockscale-legalize-scales' first";
  // A second run would exchange the operands of a swapped product again.
  if (op.isScheduled())
    return success();
  ScheduleChoices choices = listScheduleChoices(op, target, expectedRows);
  if (choices.legal.empty())
    return op.emitOpError()
           << "has no legal schedule: " << choices.refused.front().text;
  setTensorCore(op, choices.legal.front().mma, choices.legal.front().schedule);
  return success();
}

void SelectSchedule::runOnOperation() {
  if (expectedRows < 1) {
    emitError(getOperation()->getLoc())
        << "expected rows are at least 1, found " << int64_t(expectedRows);
    return signalPassFailure();
  }
  auto result = getOperation()->walk([&](KernelSourceOpInterface op) {
    return WalkResult(op.selectSchedule(getTarget(op), expectedRows));
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
