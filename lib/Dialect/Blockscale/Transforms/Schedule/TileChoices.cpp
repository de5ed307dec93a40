//===- TileChoices.cpp - the schedules to compare -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileChoices.h"
#include "WarpSchedule.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/Dialect/Blockscale/IR/StreamK.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/IR/WideTiles.h"
#include "blockscale/Dialect/Blockscale/Transforms/Prediction.h"
#include "blockscale/Dialect/Blockscale/Transforms/ScheduleChoices.h"
#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/Part.h"
#include "blockscale/HW/TileColumns.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace blockscale;

bool blockscale::isWideLowered(MmaAttr mma) {
  constexpr unsigned kSixBits = 6;
  return mma.getA().bits() != kSixBits && mma.getB().bits() != kSixBits;
}

MmaAttr blockscale::instructionOf(MmaAttr mma, const TileChoice &choice) {
  MmaAttr::Fields fields =
      (choice.swap ? mma.getTransposed() : mma).getFields();
  fields.m = hw::kTmemLanes * choice.ctaGroup;
  fields.n = (choice.inHalves ? hw::halvesOf(choice.tileN)
                              : hw::tileColumns(choice.tileN))
                 .first;
  fields.k = choice.mmaK;
  fields.ctaGroup = choice.ctaGroup;
  return MmaAttr::get(mma.getContext(), fields);
}

/// K of the instructions to compare: the 4-bit kinds have a longer one on
/// sm_103a; on sm_107 there are wide ones, which as a rule are the faster and
/// therefore come first.
static SmallVector<int64_t> stepsOf(MmaAttr mma, ScheduleAttr wish,
                                    hw::Target target) {
  if (wish.getMmaK())
    return {wish.getMmaK()};
  int64_t ordinary = hw::instructionK(mma.getKind(), mma.getSparse());
  for (const hw::MmaRow *row : hw::rowsFor(target))
    if (row->kind == mma.getKind() && row->sparse == mma.getSparse() &&
        row->k == 2 * ordinary && isWideLowered(mma))
      return {2 * ordinary, ordinary};
  bool isLonger = hw::instrVariant(mma.getKind()) == hw::InstrVariant::MXF4 &&
                  !mma.getSparse() &&
                  hw::isAvailable(hw::Feature::AbsoluteLeadingOffset, target);
  if (isLonger)
    return {ordinary, hw::kK96};
  return {ordinary};
}

/// How many instructions above each other to compare: pairs may share B between
/// two.
static SmallVector<int64_t> rowInstructionsOf(ScheduleAttr wish, int64_t group,
                                              hw::Target target) {
  int64_t shared = 2 * hw::kTmemLanes * group;
  if (wish.getTileM() && group == 2)
    return {wish.getTileM() == shared ? 2 : 1};
  if (wish.getTileM() || group == 1 ||
      !hw::isAvailable(hw::Feature::CollectorB, target))
    return {1};
  return {1, 2};
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

int64_t blockscale::mostWavesOfParts(const ProductSizes &sizes) {
  constexpr int64_t kMostWaves = 4;
  bool isStatic = llvm::none_of(
      ArrayRef<int64_t>{sizes.m, sizes.n, sizes.batch}, ShapedType::isDynamic);
  return isStatic ? kMostWaves : 1;
}

/// Whether CTAs of a cluster share what they load.
static bool sharesLoads(const TileChoice &choice) {
  return choice.clusterM * choice.clusterN > choice.ctaGroup;
}

/// Whether the user says which CTAs share operands.
static bool namesCluster(ScheduleAttr wish) {
  return wish.getClusterM() || wish.getClusterN();
}

SmallVector<int64_t> blockscale::splitsOf(MatmulOp op, ScheduleAttr wish,
                                          const ProblemSizes &problem,
                                          MmaAttr instruction,
                                          const TileChoice &choice,
                                          hw::Target target) {
  SmallVector<int64_t> splits;
  if (op.hasGroups() || ShapedType::isDynamic(op.getSizes().k) ||
      (sharesLoads(choice) && namesCluster(wish)))
    return splits;
  int64_t rows = hw::kTmemLanes * choice.ctaGroup * choice.rowInstructions;
  int64_t tiles = llvm::divideCeil(problem.rows, rows) *
                  llvm::divideCeil(problem.columns, choice.tileN) *
                  problem.batch;
  int64_t atOnce = hw::referencePart(target.chip).smCount / choice.ctaGroup;
  int64_t most = mostWavesOfParts(op.getSizes()) * atOnce / tiles;
  for (int64_t candidate : kSplitCandidates)
    if (candidate <= most &&
        !whyNotSplit(instruction, op.getSizes().k, candidate))
      splits.push_back(candidate);
  return splits;
}

/// What a wave that is filled must be of all of them.
static constexpr double kLeastGain = 0.05;

int64_t blockscale::sharesOf(MatmulOp op, ScheduleAttr wish,
                             const ProblemSizes &problem, MmaAttr instruction,
                             const TileChoice &choice, hw::Target target) {
  bool isWished = wish.getStreamK() || wish.getClusterK();
  bool isOther =
      op.hasGroups() || quantizerOf(op) || problem.promotionBlock > 0;
  // Four warps store what is shared out.
  if (choice.inHalves && wish.getAccumulators() == 0)
    return 1;
  // Each of them is refused with shares.
  if (isWished || isOther || wish.warpsOfQuarter() > 1)
    return 1;
  ScheduleAttr::Fields fields = wish.getFields();
  fields.tileM = instruction.getM() * choice.rowInstructions;
  fields.tileN = choice.tileN;
  fields.swapOperands = BoolAttr::get(op.getContext(), choice.swap);
  fields.ctaGroup = choice.ctaGroup;
  fields.clusterM = choice.clusterM;
  fields.clusterN = choice.clusterN;
  fields.streamK = hw::residentClusters(hw::referencePart(target.chip),
                                        choice.clusterM * choice.clusterN);
  auto schedule = ScheduleAttr::get(op.getContext(), fields);
  if (whyNotStreamed(instruction, schedule, op.getSizes(), TileGroups::None,
                     target))
    return 1;
  // Of fewer tiles all are split.
  constexpr int64_t kMostParts = 4;
  auto tiles = StreamedTiles::of(instruction, schedule, op.getSizes());
  double waves = double(tiles.tiles) / double(tiles.shares);
  bool pays = std::ceil(waves) - waves > kLeastGain * std::ceil(waves);
  return pays && tiles.mostParts() <= kMostParts ? tiles.shares : 1;
}

SmallVector<int64_t> blockscale::clusterPartsOf(ScheduleAttr wish,
                                                const TileChoice &choice) {
  int64_t parts = wish.getClusterK() ? wish.getClusterK() : choice.splits;
  bool isPortable =
      choice.clusterM * choice.clusterN * parts <= hw::kMaxPortableCluster;
  if (wish.getClusterK() && !isPortable && !namesCluster(wish) &&
      sharesLoads(choice))
    return {};
  if (wish.getClusterK() || choice.splits == 1)
    return {wish.getClusterK() ? parts : 1};
  SmallVector<int64_t> some;
  if (!sharesLoads(choice) || wish.getSplitK())
    some.push_back(1);
  if (isPortable)
    some.push_back(choice.splits);
  return some;
}

/// The columns of tiles to compare for one CTA or pair: 256 at most for one
/// instruction, and more where two beside each other are lowered.
static SmallVector<int64_t> tilesOf(MmaAttr mma, ScheduleAttr wish,
                                    const TileChoice &choice) {
  if (wish.getTileN())
    return {wish.getTileN()};
  SmallVector<int64_t> tiles{256, 192, 128, 64, 32, 16, 8};
  for (int64_t wide : {320, 384}) {
    TileChoice candidate = choice;
    candidate.tileN = wide;
    MmaAttr instructions = instructionOf(mma, candidate);
    if (!wish.getTileM() || wish.getTileM() == instructions.getM())
      if (!whyNotWideTile(instructions, instructions.getM(), wide))
        tiles.push_back(wide);
  }
  return tiles;
}

/// `choice`, and the same in halves where the user asks for that, or beside it
/// where the accumulators and the warps that load them are free: four warps
/// have a half loaded when they have stored the other columns of it.
static void addWithHalves(const TileChoice &choice, ScheduleAttr wish,
                          SmallVectorImpl<TileChoice> &choices) {
  constexpr int64_t kFourWarps = 4;
  TileChoice halves = choice;
  halves.inHalves = true;
  bool mayBe = choice.tileN == kHalvedColumns && choice.ctaGroup == 2 &&
               choice.rowInstructions == 1;
  int64_t wished = wish.getAccumulators();
  if (!mayBe || wished != kHalfAccumulators)
    choices.push_back(choice);
  bool isFree = wished == 0 && wish.getEpilogueWarps() != kFourWarps;
  if (mayBe && (isFree || wished == kHalfAccumulators))
    choices.push_back(halves);
}

SmallVector<TileChoice> blockscale::choicesOf(MmaAttr mma, ScheduleAttr wish,
                                              hw::Target target) {
  SmallVector<bool> swaps{false, true};
  if (wish.getSwapOperands())
    swaps = {wish.getSwapOperands().getValue()};
  SmallVector<int64_t> groups{1, 2};
  if (wish.getCtaGroup() || wish.getTileM())
    groups = {wish.getCtaGroup()
                  ? wish.getCtaGroup()
                  : std::min<int64_t>(2, wish.getTileM() / hw::kTmemLanes)};
  SmallVector<TileChoice> choices;
  for (bool swap : swaps)
    for (int64_t group : groups)
      for (auto [clusterM, clusterN] : clustersOf(wish, group))
        for (int64_t step : stepsOf(mma, wish, target))
          for (int64_t tile : tilesOf(
                   mma, wish, {swap, group, clusterM, clusterN, step, 0, 1}))
            for (int64_t rows : rowInstructionsOf(wish, group, target))
              addWithHalves({swap, group, clusterM, clusterN, step, tile, rows},
                            wish, choices);
  return choices;
}
