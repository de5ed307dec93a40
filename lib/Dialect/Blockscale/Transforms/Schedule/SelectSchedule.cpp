//===- SelectSchedule.cpp - choose tile, stages and accumulators ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Enumerates the legal completions of each matmul's schedule and takes the one
// that the throughput model finds fastest.

#include "../Kernels/AddendRing.h"
#include "../Kernels/Geometry.h"
#include "../Kernels/LargestOfGroups.h"
#include "../Kernels/MatmulSource.h"
#include "../Kernels/TmaStore.h"
#include "StageChoice.h"
#include "WarpSchedule.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Pairs.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/ScalesOfOne.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/Dialect/Blockscale/IR/StreamK.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/IR/WideTiles.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Dialect/Blockscale/Transforms/Prediction.h"
#include "blockscale/Dialect/Blockscale/Transforms/ScheduleChoices.h"
#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/Part.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/HW/TileColumns.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

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
  int64_t ctaGroup, clusterM, clusterN, mmaK, tileN, rowInstructions;
  int64_t splits = 1, clusterK = 1, shares = 1;
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
  int64_t most = problem.mostColumns;
  bool oneTile = most && most <= tileN && clusterN == 1;
  if (oneTile || !hw::isBlockScaled(mma.getKind()) ||
      tileN % hw::kSharedAtomStep == 0)
    return std::nullopt;
  return "several tiles along " +
         (most ? std::to_string(most) + " columns"
               : std::string("a dynamic number of columns")) +
         " need 'tile_n' to be a multiple of 64, because scales lie in "
         "groups of 128 rows; found " +
         std::to_string(tileN) + ", nearest legal is " +
         std::to_string(
             std::min<int64_t>(256, llvm::alignTo(tileN, hw::kSharedAtomStep)));
}

/// Why no tile has two instructions above each other that share B.
static std::optional<Reason> whyNotSharedB(MmaAttr mma, const Choice &choice,
                                           hw::Target target) {
  if (choice.rowInstructions == 1)
    return std::nullopt;
  if (auto why = hw::whyNotFeature(hw::Feature::CollectorB, target))
    return Reason("'tile_m' of " +
                  std::to_string(2 * hw::kTmemLanes * choice.ctaGroup) +
                  " is two instructions that share B: " + why->text);
  if (mma.getSparse() || choice.mmaK == hw::kK96)
    return Reason(
        std::string("two instructions that share B are not lowered ") +
        (mma.getSparse() ? "with a sparse 'a'" : "with K = 96") +
        "; nearest legal: 'tile_m' of " +
        std::to_string(hw::kTmemLanes * choice.ctaGroup));
  return std::nullopt;
}

static std::optional<Reason> whyNotTileM(ScheduleAttr wish, MmaAttr mma,
                                         const Choice &choice,
                                         hw::Target target) {
  if (auto why = whyNotSharedB(mma, choice, target))
    return why;
  int64_t rows = hw::kTmemLanes * choice.ctaGroup;
  if (!wish.getTileM() || wish.getTileM() == rows * choice.rowInstructions)
    return std::nullopt;
  std::string tileM = "'tile_m' of " + std::to_string(wish.getTileM());
  std::string legal = "'tile_m' of " + std::to_string(rows);
  if (choice.ctaGroup == 1)
    return tileM +
           " takes a pair of CTAs; nearest legal: 'cta_group' of 2, or " +
           legal;
  if (wish.getTileM() > rows)
    return tileM + " is no whole number of instructions with M = " +
           std::to_string(rows) + "; nearest legal: " + legal;
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

/// Whether the instruction with twice the ordinary K, if the target has it, is
/// one that we lower. No tensor map brings 6-bit elements packed.
static bool isWideLowered(MmaAttr mma) {
  constexpr unsigned kSixBits = 6;
  return mma.getA().bits() != kSixBits && mma.getB().bits() != kSixBits;
}

/// Bytes in which groups of warps that promote sums choose the scales of what
/// they quantise.
static int64_t bytesOfScaleChoice(MatmulOp op, int64_t tileN) {
  QuantizeOp quantizer = quantizerOf(op);
  bool isPromoting = promotionBlock(op.getA().getType(), op.getB().getType());
  if (!quantizer || !isPromoting ||
      columnsOfBlock(op, quantizer) <= kPromotedColumns)
    return 0;
  return bytesOfGroups(promotingGroups(tileN));
}

/// Bytes of shared memory besides the stages.
static int64_t reservedBytes(const TileGeometry &geometry,
                             const ScheduleAttr::Fields &fields, int64_t bytesD,
                             int64_t bytesC) {
  int64_t bytes = kBarrierReserve + geometry.inboxBytes();
  constexpr int64_t kQuarters = hw::kTmemLanes / hw::kWarpSize;
  int64_t warps = std::max<int64_t>(kQuarters, fields.epilogueWarps);
  int64_t width = geometry.epilogueColumns(1);
  int64_t chunks = geometry.tileN / (width * (warps / kQuarters));
  if (fields.stores == Stores::Tma)
    bytes += storeRingBytes(warps, chunks, width, bytesD);
  if (fields.cLoads == Loads::Tma)
    bytes += addendRingBytes(warps, chunks, width, bytesC);
  return bytes;
}

/// Why the accumulators of two instructions do not fit beside the scales.
static std::optional<Reason> whyNotColumns(const TileGeometry &geometry,
                                           hw::Target target) {
  int64_t there = hw::chipInfo(target.chip).tensorMemoryColumns;
  bool isAlone = geometry.rowInstructions == 1 && !geometry.columns.second;
  bool mayOverlap = geometry.columns.second && geometry.accumulators == 2 &&
                    geometry.hasRoomToOverlap();
  if (isAlone || mayOverlap || geometry.tensorColumns() <= there)
    return std::nullopt;
  bool isSingle = geometry.accumulators == geometry.rowInstructions;
  return Reason(std::to_string(geometry.accumulators) + " accumulators of " +
                std::to_string(geometry.tileN) +
                " columns and the scales need " +
                std::to_string(geometry.tensorColumns()) + " columns, " +
                hw::targetName(target) + " has " + std::to_string(there) +
                " (PTX ISA 9.4, tcgen05.alloc [T]); nearest legal: " +
                (isSingle ? "a smaller 'tile_n'" : "'accumulators' of 1"));
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// The instruction of a choice; operands change sides with `swap`.
static MmaAttr instruction(MmaAttr mma, const Choice &choice) {
  MmaAttr::Fields fields =
      (choice.swap ? mma.getTransposed() : mma).getFields();
  fields.m = hw::kTmemLanes * choice.ctaGroup;
  fields.n = hw::tileColumns(choice.tileN).first;
  fields.k = choice.mmaK;
  fields.ctaGroup = choice.ctaGroup;
  return MmaAttr::get(mma.getContext(), fields);
}

/// Tiles of two instructions beside each other hand most of their columns over
/// from wave to wave, for which the timeline has up to 4 % more than the model.
static double marginOfColumns(int64_t tileN, const ProductPrediction &product) {
  constexpr double kMargin = 1.04;
  return isWideTile(tileN) && product.waves > 1 ? kMargin : 1;
}

/// `schedule` with two warps on each quarter of the lanes, if it leaves that
/// free and they make the epilogue shorter. Boxes of TMA need as much room as
/// there are warps, which has been given away by now.
static ScheduleAttr withWarps(MatmulOp op, MmaAttr mma, ScheduleAttr schedule,
                              const ProductPrediction &predicted,
                              hw::Target target) {
  constexpr int64_t kWarps = 8;
  ScheduleAttr::Fields fields = schedule.getFields();
  if (fields.epilogueWarps || fields.stores == Stores::Tma ||
      fields.cLoads == Loads::Tma)
    return schedule;
  fields.epilogueWarps = kWarps;
  auto more = ScheduleAttr::get(op.getContext(), fields);
  QuantizeOp quantizer = quantizerOf(op);
  bool isLegal =
      !whyNotEpilogueWarps(more, storedResult(op).isPromoting, target) &&
      !(quantizer &&
        whyNotQuantized(more, columnsOfBlock(op, quantizer), target));
  return isLegal && gainsByMoreWarps(op, mma, schedule, predicted, target)
             ? more
             : schedule;
}

/// Completes `wish` with this choice, or says why it cannot be.
static Result<ScheduleChoice> complete(MatmulOp op, ScheduleAttr wish,
                                       hw::Target target, const Choice &choice,
                                       int64_t expectedRows, int64_t mostRows) {
  if (choice.swap && getMma(op).getSparse())
    return Reason(kWhyNotSwapSparse.str());
  ProblemSizes problem = problemSizes(op, choice.swap, expectedRows, mostRows);
  if (auto why = whyNotCluster(wish, choice, target))
    return *why;
  if (auto why = whyNotTileM(wish, getMma(op), choice, target))
    return *why;
  if (auto why =
          whyNotTileN(problem, getMma(op), choice.tileN, choice.clusterN))
    return *why;
  MmaAttr mma = instruction(getMma(op), choice);
  if (auto why = hw::whyNot(legalityQuery(mma, target)))
    return *why;
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  if (hasBlockScales(a, b) != hasBlockScales(b, a))
    if (auto why = whyNotScalesOfOne(mma))
      return *why;
  if (auto why = whyNotWideTile(mma, mma.getM() * choice.rowInstructions,
                                choice.tileN))
    return *why;
  bool isRowPerLane = hasRowPerLaneScales(op);
  if (isRowPerLane)
    if (auto why = whyNotRowPerLane(mma, choice.swap, target))
      return *why;
  if (auto why = whyNotSplit(mma, op.getSizes().k, choice.splits))
    return *why;
  if (op.isGrouped())
    if (auto why = whyNotGrouped(mma, choice.splits))
      return *why;
  if (op.isMasked())
    if (auto why = whyNotMasked(choice.splits))
      return *why;
  if (op.isGathered())
    if (auto why = whyNotGathered(choice.swap, hasRowFactors(op)))
      return *why;
  if (op.isGathered())
    if (auto why = whyNotGatheredWide(choice.tileN))
      return *why;
  if (op.isGroupedAlongK())
    if (auto why = whyNotGroupedAlongK(mma, wish.getScheduler(), choice.splits))
      return *why;
  if (hw::readsPacked(mma.getKind(), mma.getK(), mma.getSparse()) &&
      !isWideLowered(mma))
    return Reason("K = " + std::to_string(mma.getK()) + " of kind '" +
                  std::string(hw::kindName(mma.getKind())) +
                  "' reads elements of 6 bits packed, which no tensor map "
                  "brings; nearest legal: 'mma_k' of " +
                  std::to_string(hw::instructionK(mma.getKind(), false)));
  if (wish.getTileK() && wish.getTileK() != mma.getTileK())
    return Reason((mma.getSparse()
                       ? "'tile_k' is "
                       : "'tile_k' is one 128-byte row of shared memory, ") +
                  std::to_string(mma.getTileK()) + " elements for this " +
                  (mma.getSparse() ? "sparse kind" : "kind") + "; found " +
                  std::to_string(wish.getTileK()));

  ScheduleAttr::Fields fields = wish.getFields();
  fields.tileM = mma.getM() * choice.rowInstructions;
  fields.tileN = choice.tileN;
  fields.tileK = mma.getTileK();
  fields.swapOperands = BoolAttr::get(op.getContext(), choice.swap);
  if (!fields.dependentLaunch)
    fields.dependentLaunch = BoolAttr::get(op.getContext(), true);
  auto chooseIfFree = [](int64_t &field, int64_t value) {
    if (!field)
      field = value;
  };
  chooseIfFree(fields.groupM, 8);
  fields.ctaGroup = choice.ctaGroup;
  fields.clusterM = choice.clusterM;
  fields.clusterN = choice.clusterN;
  fields.mmaK = choice.mmaK;
  if (choice.splits > 1)
    fields.splitK = choice.splits;
  if (choice.clusterK > 1)
    fields.clusterK = choice.clusterK;
  if (choice.shares > 1)
    fields.streamK = choice.shares;
  if (auto why =
          whyNotClusterK(ScheduleAttr::get(op.getContext(), fields), target))
    return *why;
  if (auto why = whyNotStreamed(mma, ScheduleAttr::get(op.getContext(), fields),
                                op.getSizes(), op.hasGroups(), target))
    return *why;
  int64_t block = promotionBlock(a, b);
  if (auto why =
          whyNotPromotion(mma, ScheduleAttr::get(op.getContext(), fields),
                          block, columnsOfScale(a, b, choice.swap), target))
    return *why;
  if (auto why = whyNotStores(ScheduleAttr::get(op.getContext(), fields),
                              storedResult(op), target))
    return *why;
  StoredResult addend = loadedAddend(op);
  if (auto why = whyNotLoadsOfC(ScheduleAttr::get(op.getContext(), fields),
                                addend, target))
    return *why;
  if (auto why = whyNotEpilogueWarps(ScheduleAttr::get(op.getContext(), fields),
                                     storedResult(op).isPromoting, target))
    return *why;
  if (op.getPairs())
    if (auto why = whyNotPairs(ScheduleAttr::get(op.getContext(), fields)))
      return *why;
  if (QuantizeOp quantizer = quantizerOf(op))
    if (auto why = whyNotQuantized(ScheduleAttr::get(op.getContext(), fields),
                                   columnsOfBlock(op, quantizer), target))
      return *why;
  int64_t accumulators = fields.accumulators;
  // A block of K is short against what it takes to hand it over.
  chooseIfFree(fields.accumulators, block ? 4 : 2);
  auto schedule = [&](RingStages rings) {
    fields.stages = rings.operands;
    fields.scaleStages = rings.scales;
    return ScheduleAttr::get(op.getContext(), fields);
  };
  RingStages one{1};
  auto takesAllColumns = [&] {
    return TileGeometry(mma, schedule(one), target.chip, isRowPerLane)
               .tensorColumns() > hw::chipInfo(target.chip).tensorMemoryColumns;
  };
  // Metadata need some columns, too.
  if (!accumulators && block && takesAllColumns())
    --fields.accumulators;
  if (!accumulators &&
      whyNotColumns(TileGeometry(mma, schedule(one), target.chip, isRowPerLane),
                    target))
    fields.accumulators = 1;
  TileGeometry geometry(mma, schedule(one), target.chip, isRowPerLane);
  if (auto why = whyNotColumns(geometry, target))
    return *why;
  int64_t bytesC =
      addend.element ? addend.element.getIntOrFloatBitWidth() / 8 : 0;
  int64_t reserved = reservedBytes(geometry, fields, problem.bytesD, bytesC) +
                     bytesOfScaleChoice(op, choice.tileN);
  auto predict = [&](RingStages each) {
    return predictProduct(problem, mma, schedule(each), target);
  };
  Result<RingStages> rings =
      chooseStages(wish, mma, geometry, target, reserved, predict);
  if (!rings)
    return rings.why();
  ScheduleAttr completed =
      withWarps(op, mma, schedule(*rings), predict(*rings), target);
  fields.epilogueWarps = completed.getEpilogueWarps();
  ProductPrediction predicted = predict(*rings);
  double margin =
      marginOf(*rings, predict) * marginOfColumns(choice.tileN, predicted);
  return ScheduleChoice{mma,
                        completed,
                        predicted.microseconds,
                        predicted.limit,
                        predicted.reduction,
                        margin};
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
static bool sharesLoads(const Choice &choice) {
  return choice.clusterM * choice.clusterN > choice.ctaGroup;
}

/// Whether the user says which CTAs share operands.
static bool namesCluster(ScheduleAttr wish) {
  return wish.getClusterM() || wish.getClusterN();
}

/// The numbers of parts of K to compare for a tile beside 1. A cluster of
/// several tiles that the user names stays as large as that, and a K that only
/// the host knows may be too short for parts.
static SmallVector<int64_t> splitsOf(MatmulOp op, const Choice &choice,
                                     hw::Target target, int64_t expectedRows) {
  SmallVector<int64_t> splits;
  if (op.hasGroups() || ShapedType::isDynamic(op.getSizes().k) ||
      (sharesLoads(choice) && namesCluster(getScheduleWish(op))))
    return splits;
  ProblemSizes problem = problemSizes(op, choice.swap, expectedRows);
  int64_t rows = hw::kTmemLanes * choice.ctaGroup * choice.rowInstructions;
  int64_t tiles = llvm::divideCeil(problem.rows, rows) *
                  llvm::divideCeil(problem.columns, choice.tileN) *
                  problem.batch;
  int64_t atOnce = hw::referencePart(target.chip).smCount / choice.ctaGroup;
  int64_t most = mostWavesOfParts(op.getSizes()) * atOnce / tiles;
  MmaAttr mma = instruction(getMma(op), choice);
  for (int64_t candidate : kSplitCandidates)
    if (candidate <= most && !whyNotSplit(mma, op.getSizes().k, candidate))
      splits.push_back(candidate);
  return splits;
}

/// What a wave that is filled must be of all of them.
static constexpr double kLeastGain = 0.05;

/// The shares of tiles to compare for a tile beside none, one for each cluster
/// that runs at once; 1 where they cannot pay.
static int64_t sharesOf(MatmulOp op, const Choice &choice, hw::Target target) {
  ScheduleAttr wish = getScheduleWish(op);
  bool isWished = wish.getStreamK() || wish.getClusterK();
  bool isOther = op.hasGroups() || quantizerOf(op) ||
                 promotionBlock(op.getA().getType(), op.getB().getType()) > 0;
  // Each of them is refused with shares.
  if (isWished || isOther || wish.getStores() == Stores::Tma ||
      wish.getCLoads() == Loads::Tma || wish.warpsOfQuarter() > 1)
    return 1;
  MmaAttr mma = instruction(getMma(op), choice);
  ScheduleAttr::Fields fields = wish.getFields();
  fields.tileM = mma.getM() * choice.rowInstructions;
  fields.tileN = choice.tileN;
  fields.swapOperands = BoolAttr::get(op.getContext(), choice.swap);
  fields.ctaGroup = choice.ctaGroup;
  fields.clusterM = choice.clusterM;
  fields.clusterN = choice.clusterN;
  fields.streamK = hw::residentClusters(hw::referencePart(target.chip),
                                        choice.clusterM * choice.clusterN);
  auto schedule = ScheduleAttr::get(op.getContext(), fields);
  if (whyNotStreamed(mma, schedule, op.getSizes(), /*hasGroups=*/false, target))
    return 1;
  // Of fewer tiles all are split.
  constexpr int64_t kMostParts = 4;
  auto tiles = StreamedTiles::of(mma, schedule, op.getSizes());
  double waves = double(tiles.tiles) / double(tiles.shares);
  bool pays = std::ceil(waves) - waves > kLeastGain * std::ceil(waves);
  return pays && tiles.mostParts() <= kMostParts ? tiles.shares : 1;
}

/// How many of the parts of K of `choice` a cluster computes: all of them,
/// which then exchange their sums, or one. With a workspace clusters that share
/// operands are for products that have tiles enough.
static SmallVector<int64_t> clusterPartsOf(ScheduleAttr wish,
                                           const Choice &choice) {
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
static SmallVector<int64_t> columnsOf(MmaAttr mma, ScheduleAttr wish,
                                      const Choice &choice) {
  if (wish.getTileN())
    return {wish.getTileN()};
  SmallVector<int64_t> tiles{256, 192, 128, 64, 32, 16, 8};
  for (int64_t wide : {320, 384}) {
    Choice candidate = choice;
    candidate.tileN = wide;
    MmaAttr instructions = instruction(mma, candidate);
    if (!wish.getTileM() || wish.getTileM() == instructions.getM())
      if (!whyNotWideTile(instructions, instructions.getM(), wide))
        tiles.push_back(wide);
  }
  return tiles;
}

/// Everything that `wish` leaves free, the simplest kernels first: among equals
/// the first stays.
static SmallVector<Choice> choicesOf(MmaAttr mma, ScheduleAttr wish,
                                     hw::Target target) {
  SmallVector<bool> swaps{false, true};
  if (wish.getSwapOperands())
    swaps = {wish.getSwapOperands().getValue()};
  SmallVector<int64_t> groups{1, 2};
  if (wish.getCtaGroup() || wish.getTileM())
    groups = {wish.getCtaGroup()
                  ? wish.getCtaGroup()
                  : std::min<int64_t>(2, wish.getTileM() / hw::kTmemLanes)};
  SmallVector<Choice> choices;
  for (bool swap : swaps)
    for (int64_t group : groups)
      for (auto [clusterM, clusterN] : clustersOf(wish, group))
        for (int64_t step : stepsOf(mma, wish, target))
          for (int64_t tile : columnsOf(
                   mma, wish, {swap, group, clusterM, clusterN, step, 0, 1}))
            for (int64_t rows : rowInstructionsOf(wish, group, target))
              choices.push_back(
                  {swap, group, clusterM, clusterN, step, tile, rows});
  return choices;
}

/// How much more than others a schedule must promise. A workspace is one more
/// parameter, whose cost the model knows least of. Clusters that share operands
/// and exchange sums cost more on the timeline than they gain in the model. How
/// many clusters run at once that are no power of two nobody has counted.
static double marginOf(ScheduleAttr schedule) {
  constexpr double kSplitMargin = 1.05, kUncountedMargin = 1.02;
  bool sharesLoads =
      schedule.clusterM() * schedule.clusterN() > schedule.ctaGroup();
  if (schedule.hasWorkspace() || (schedule.clusterK() > 1 && sharesLoads))
    return kSplitMargin;
  return llvm::isPowerOf2_64(schedule.clusterSize()) ? 1 : kUncountedMargin;
}

/// What choices are ordered by.
static double rankOf(const ScheduleChoice &choice) {
  return choice.microseconds * choice.margin * marginOf(choice.schedule);
}

ScheduleChoices blockscale::listScheduleChoices(MatmulOp op, hw::Target target,
                                                int64_t expectedRows,
                                                int64_t mostRows) {
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
    // Adds the choice with its number of parts; whether any is legal.
    auto addParts = [&](Choice choice) {
      bool any = false;
      for (int64_t clusterK : clusterPartsOf(wish, choice)) {
        choice.clusterK = clusterK;
        Result<ScheduleChoice> completed =
            complete(op, wish, target, choice, expectedRows, mostRows);
        any |= bool(completed);
        add(completed);
      }
      return any;
    };
    for (Choice choice : choicesOf(getMma(op), wish, target)) {
      choice.splits = wish.splits();
      if (!addParts(choice) || wish.getSplitK() || wish.shares() > 1)
        continue;
      for (int64_t splits : splitsOf(op, choice, target, expectedRows)) {
        choice.splits = splits;
        addParts(choice);
      }
      choice.splits = 1;
      choice.shares = sharesOf(op, choice, target);
      if (choice.shares > 1)
        addParts(choice);
    }
    // Pairs are all that suits the tile, and no cluster holds one.
    if (choices.legal.empty() && choices.refused.empty())
      choices.refused.push_back(
          Reason("'tile_m' of " + std::to_string(wish.getTileM()) +
                 " takes a pair of CTAs, which a cluster with 'cluster_m' of " +
                 std::to_string(wish.getClusterM()) +
                 " does not hold; nearest legal: 'cluster_m' of 2"));
  }
  llvm::stable_sort(choices.legal,
                    [](const ScheduleChoice &x, const ScheduleChoice &y) {
                      return rankOf(x) < rankOf(y);
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
  const ScheduleChoice &best = choices.legal.front();
  if (best.mma.getK() == hw::kK96 &&
      !hw::isAvailable(hw::Feature::AbsoluteLeadingOffset, target))
    op.emitWarning() << "K = 96 takes absolute leading addresses (bit 52 of "
                        "shared-memory descriptors), of which no document says "
                        "that "
                     << hw::targetName(target)
                     << " has them; public K = 96 kernels are offered for it";
  setTensorCore(op, best.mma, best.schedule);
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
