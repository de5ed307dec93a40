//===- GemmModel.cpp - predicted time of a whole matmul -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/GemmModel.h"
#include "blockscale/HW/TileColumns.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <initializer_list>
#include <limits>

using namespace blockscale::hw;

namespace {

// Fitted to the points of test/oracle/throughput. Those marked * hardly move
// the error alone: read launch and fill together, about 3.3 us at boost.

/// Share of the MMA rate that a main loop reaches.
constexpr double kIssueEfficiency = 0.965;
/// Exponent of the smooth maximum: overlapping parts slow each other.
constexpr double kOverlapExponent = 3.2;
/// Prologue, first fill and drain in cycles. *
constexpr double kFillCycles = 3500;
/// Fixed cost of a wave in us. *
constexpr double kPerWave = 0.5;
/// The same of a kernel whose ring is known: fitted to the timeline of our own
/// (benchmarks/two_models.py), which shows barriers, the first loads and the
/// last stores one by one, and no gap between tiles. Clusters and pairs wait
/// for each other at both ends; CTAs that only exchange their sums, one for
/// each part of K, do not, and do with the last ones what others do behind
/// them.
constexpr double kRingFillCycles = 1150, kClusterFillCycles = 630,
                 kPairFillCycles = 170, kExchangeFillCycles = 920,
                 kRingPerWave = 0.1;
/// What of that several warps on a quarter of the lanes save, since CTAs meet
/// while the last of them stores.
constexpr double kEarlyMeetingCycles = 270;
/// Operands that do not stay in the L2 cache are read this share of anew.
constexpr double kReread = 0.9;
/// Watts for a TB/s from the L2 cache and from memory (QRC measures 25.5 and 86
/// pJ a byte).
constexpr double kWattsPerL2 = 22, kWattsPerMemory = 80;
/// Dynamic power of operands that are all zero.
constexpr double kZeroPower = 0.45;

/// Watts of busy tensor cores at 1 GHz; power goes with the clock to the 1.5.
double mmaWatts(const GemmKernel &kernel) {
  switch (kernel.kind) {
  case MmaKind::F16:
  case MmaKind::TF32:
    return 290;
  case MmaKind::F8F6F4:
  case MmaKind::MXF8F6F4:
  case MmaKind::I8:
    return 360;
  case MmaKind::MXF4:
  case MmaKind::MXF4NVF4:
    return kernel.instructionK == 96 ? 400 : 350;
  }
  return 0;
}

/// A CTA whose sums are stored counts itself and, if it is the last, reads the
/// sums of all: three round trips to the far half of the L2 cache.
constexpr double kFarL2Cycles = 660, kReductionTrips = 3;
/// Bytes a cycle that a CTA reads of the workspace: 32 KiB on their way.
constexpr double kWorkspaceBytesPerCycle = 32768 / kFarL2Cycles;
/// Instructions of a warp for a column of sums that it reads, sends and adds up
/// (fitted to the timeline).
constexpr double kExchangeCyclesOfColumn = 4;

double exposedEpilogue(const GemmKernel &kernel) {
  constexpr double kOfWhole = 0.75, kOfHalves = 0.05;
  if (kernel.inHalves)
    return kOfHalves;
  switch (kernel.overlap) {
  case EpilogueOverlap::TwoAccumulators:
    return 0.12;
  case EpilogueOverlap::PiecewiseRelease:
    // Of one instruction's 256 columns it was fitted to those that are shared.
    return kernel.tileN > kInstructionColumns
               ? kOfWhole * kernel.sharedColumns / kernel.tileN
               : 0.15;
  case EpilogueOverlap::None:
    return kOfWhole;
  }
  return 1;
}

/// The part of the last tile's epilogue that comes behind all instructions: of
/// halves little more than the right one (fitted to the timeline).
double lastEpilogue(const GemmKernel &kernel) {
  constexpr double kOfHalves = 0.7;
  return kernel.inHalves ? kOfHalves : 1 - exposedEpilogue(kernel);
}

int64_t ceilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }

MmaStep stepOf(const GemmKernel &kernel, unsigned columns) {
  unsigned m = kernel.tileM / kernel.instructionsM;
  MmaStep step =
      mmaStep(kernel.kind, kernel.instructionK, kernel.sparse, kernel.ctaGroup,
              m, columns, kernel.bitsA, kernel.bitsB);
  step.sharersOfB = kernel.instructionsM;
  return step;
}

/// The columns of the instructions beside each other.
TileColumns columnsOf(const GemmKernel &kernel) {
  return kernel.inHalves ? halvesOf(kernel.tileN) : tileColumns(kernel.tileN);
}

/// The first of them, or the only one.
MmaStep stepOf(const GemmKernel &kernel) {
  return stepOf(kernel, columnsOf(kernel).first);
}

/// Cycles between two rounds of the instructions beside each other.
double intervalCycles(const GemmKernel &kernel) {
  TileColumns columns = columnsOf(kernel);
  double cycles = 0;
  for (unsigned i = 0; i < columns.instructions(); ++i)
    cycles += mmaIntervalCycles(stepOf(kernel, columns.columnsOf(i)));
  return cycles;
}

/// How the tiles of a product, or the parts of them, lie on the SMs.
struct Tiling {
  int64_t rows, columns, tiles, waves;
  /// Tiles that run at once, and parts of K that do; tiles of whole clusters.
  int64_t active, parts, covered;

  Tiling(const GemmKernel &kernel, const GemmSize &size, const Part &part)
      : rows(ceilDiv(size.m, kernel.tileM)),
        columns(ceilDiv(size.n, kernel.tileN)),
        tiles(rows * columns * size.batch * kernel.splits) {
    int64_t units = usableSms(part, kernel.cluster) / kernel.ctaGroup;
    // A cluster that the product ends in runs whole.
    covered = ceilDiv(rows, kernel.multicastB) * kernel.multicastB *
              ceilDiv(columns, kernel.multicastA) * kernel.multicastA *
              size.batch * kernel.splits;
    waves = ceilDiv(covered, units);
    active = std::min(tiles, units);
    parts = std::min<int64_t>(kernel.splits, active);
  }
};

/// How the time of a kernel that shares out tiles differs from that of one with
/// whole waves.
struct Streaming {
  /// Waves, of which those of shares are no whole ones.
  double waves;
  /// Whether whole tiles follow the shares.
  bool isFollowed = false;
  /// Parts of a tile that are added up, and parts of all tiles.
  unsigned parts = 1;
  int64_t allParts = 0;

  Streaming(const GemmKernel &kernel, const GemmSize &size,
            const Tiling &tiling, const Part &part)
      : waves(double(tiling.waves)) {
    if (!kernel.shares)
      return;
    int64_t tilesOfCluster = kernel.cluster / kernel.ctaGroup;
    int64_t atOnce = usableSms(part, kernel.cluster) / kernel.cluster;
    int64_t whole =
        ceilDiv(tiling.covered, tilesOfCluster) - kernel.sharedTiles;
    int64_t units = ceilDiv(size.k, kernel.splitUnit);
    int64_t ofShare = ceilDiv(kernel.sharedTiles * units, kernel.shares);
    waves = double(ceilDiv(kernel.shares, atOnce) * ofShare) / double(units) +
            double(ceilDiv(whole, atOnce));
    isFollowed = whole > 0;
    parts = unsigned(ceilDiv(units - 1, ofShare)) + 1;
    allParts = 2 * int64_t(kernel.shares - 1) * tilesOfCluster;
  }
};

/// Bytes for one element of K that a wave reads at least once: those of
/// `height` rows of tiles and the columns that the other active tiles make.
double bytesOfShape(const GemmKernel &kernel, int64_t height, int64_t active) {
  return height * kernel.tileM * kernel.bytesA +
         ceilDiv(active, height) * kernel.tileN * kernel.bytesB;
}

double bytesOfWave(const GemmKernel &kernel, const Tiling &tiling) {
  // Parts of one tile have no byte in common.
  int64_t active = ceilDiv(tiling.active, tiling.parts);
  if (kernel.raster == Raster::Linear)
    return tiling.parts *
           bytesOfShape(kernel, std::min(tiling.rows, active), active);
  double least = std::numeric_limits<double>::infinity();
  for (int64_t height = 1; height <= active; ++height)
    least = std::min(least, bytesOfShape(kernel, height, active));
  return tiling.parts * least;
}

/// Elements of K that the longest part of a tile has.
int64_t longestPart(const GemmKernel &kernel, int64_t k) {
  if (kernel.splits == 1)
    return k;
  int64_t units = ceilDiv(k, kernel.splitUnit);
  return std::min<int64_t>(k, ceilDiv(units, kernel.splits) * kernel.splitUnit);
}

/// Bytes that a tile's sums of one part take in the workspace.
double workspaceBytes(const GemmKernel &kernel) {
  if (kernel.splits == 1 || kernel.exchanges)
    return 0;
  return kSumBytes * kernel.tileM * kernel.tileN;
}

/// Bytes that cross the memory bus during the whole product.
double memoryBytes(const GemmKernel &kernel, const GemmSize &size,
                   const Tiling &tiling, const Streaming &streaming) {
  double once = double(size.k) * size.batch *
                (size.m * kernel.bytesA + size.n * kernel.bytesB);
  double operands = once;
  if (once > kL2OperandBytes)
    operands =
        std::max(once, kReread * streaming.waves * longestPart(kernel, size.k) *
                           bytesOfWave(kernel, tiling));
  // The workspace is read while it is in the L2 cache, and written back once.
  return operands + kernel.bytesD * size.m * size.n * size.batch +
         tiling.tiles * workspaceBytes(kernel) +
         double(streaming.allParts) * kSumBytes * kernel.tileM * kernel.tileN;
}

/// One tile's share of the bytes that are read from the L2 cache.
double tileBytes(const GemmKernel &kernel, const GemmSize &size) {
  return double(longestPart(kernel, size.k)) *
             (kernel.tileM * kernel.bytesA / kernel.multicastA +
              kernel.tileN * kernel.bytesB / kernel.multicastB) +
         workspaceBytes(kernel);
}

/// What the loads of a tile take: the latency that the stages do not hide, or
/// the way into one SM, whose port brings no more when others are idle.
double ringMicroseconds(const GemmKernel &kernel, Chip chip, int64_t k) {
  if (!kernel.stages)
    return 0;
  double trip = stageRoundTripMicroseconds(chip, kernel.stageBytes);
  double ofB200 = stageRoundTripMicroseconds(kernel.stageBytes);
  double port =
      kernel.stageBytes / (kTmaGigabytesPerSecond * 1e3) * trip / ofB200;
  return double(ceilDiv(k, kernel.stageK)) *
         std::max(port, trip / kernel.stages);
}

/// Of a CTA that stores what becomes of its sums, or the sums of a part of K.
double epilogueMicroseconds(const GemmKernel &kernel, bool storesSums,
                            double clockGhz) {
  double elements = double(kernel.tileM) / kernel.ctaGroup * kernel.tileN;
  double bytes = storesSums ? kSumBytes : kernel.bytesD;
  double rate = kernel.exchanges ? kRemoteStoreBytesPerCycle
                                 : kEpilogueStoreBytesPerCycle;
  // A CTA keeps the slice that it adds up itself.
  double sent = kernel.exchanges && kernel.owners == kernel.splits
                    ? 1 - 1.0 / kernel.splits
                    : 1;
  double store = elements * sent * bytes / rate;
  double read = elements * 4 / kTensorLoadBytesPerCycleOfSm;
  double convert = bytes <= 1 ? elements / kNarrowConvertsPerCycle : 0.0;
  return std::max({store, read, convert}) / (clockGhz * 1e3);
}

/// Cycles from one block of K to the next for the warps that promote its sums:
/// those of the ports that all of them read tensor memory and scales of columns
/// in shared memory through, or those that one of them is busy with: it waits
/// for the block, loads its columns in turn, each time until they and their
/// scales are there, multiplies, and releases the block.
double promotionCycles(const GemmKernel &kernel) {
  constexpr double kPollCycles = 30, kLanes = 32, kWarps = 4;
  // Besides those of each column: addresses, the scales to come, the loop.
  constexpr double kOtherInstructions = 40;
  double columns = double(kernel.tileN) / kernel.promotionGroups;
  double ofWarp = kLanes * columns;
  double warps = kernel.promotionGroups * kWarps;
  double chunks = columns / kernel.promotionColumns;
  double scales =
      kLanes * kernel.promotionScales * kSumBytes / kSharedBytesPerCycle;
  double port =
      std::max(warps * ofWarp * kSumBytes / kTensorLoadBytesPerCycleOfSm,
               warps * chunks * scales);
  double loads = chunks * (kTensorLoadLatencyCycles + scales);
  double multiplications = ofWarp * kWarps / kFmasPerCycle;
  // A column's is multiplied by the row's first.
  if (kernel.promotionScales) {
    loads += chunks * kSharedLoadLatencyCycles;
    multiplications *= 2;
  }
  double warp = kPollCycles + loads +
                ofWarp * kSumBytes / kTensorLoadBytesPerCycle +
                multiplications + kOtherInstructions + kArriveCycles;
  // What lies between the first MMA of a block and that of the one that
  // overwrites it is shared by the blocks in between.
  double round =
      mmaBurstCycles(stepOf(kernel), kernel.promotionK / kernel.instructionK) +
      std::max(port, warp) + kPollCycles + kArriveToWaiterCycles;
  return std::max({port, warp, round / kernel.accumulators});
}

/// What the last CTA of a tile waits for when all have stored their sums: their
/// counts, and the sums. Where they send them, what each waits for: the last of
/// them, and the sums of its slice from shared memory.
double reductionMicroseconds(const GemmKernel &kernel, double clockGhz) {
  if (kernel.splits == 1)
    return 0;
  double elements = double(kernel.tileM) / kernel.ctaGroup * kernel.tileN;
  if (kernel.exchanges) {
    double read = elements * kernel.splits / kernel.owners * kSumBytes /
                  kSharedBytesPerCycle;
    double cycles = kRemoteArriveCycles + read + kernel.splits * kArriveCycles +
                    kernel.tileN * kExchangeCyclesOfColumn;
    return cycles / (clockGhz * 1e3);
  }
  return workspaceCycles(elements, kernel.splits) / (clockGhz * 1e3);
}

/// What it takes to store D then; the epilogue stored sums before.
double storeOfSplitMicroseconds(const GemmKernel &kernel, double clockGhz) {
  if (kernel.splits == 1)
    return 0;
  double elements = double(kernel.tileM) / kernel.ctaGroup * kernel.tileN;
  return elements / kernel.owners * kernel.bytesD /
         kEpilogueStoreBytesPerCycle / (clockGhz * 1e3);
}

/// What shares take beside their part of a wave: the epilogue of one more tile
/// than those that whole tiles would be, as far as the main loop cannot hide
/// it; and the sums, which CTAs bring together while the whole tiles that
/// follow are multiplied, or behind the last of them.
struct StreamingTime {
  double pieces = 0, sums = 0, reduction = 0;
};

StreamingTime streamingTime(const GemmKernel &kernel,
                            const Streaming &streaming,
                            const GemmPrediction &prediction, double exposed,
                            double clockGhz) {
  StreamingTime time;
  if (!kernel.shares)
    return time;
  double elements = double(kernel.tileM) / kernel.ctaGroup * kernel.tileN;
  double store = epilogueMicroseconds(kernel, /*storesSums=*/true, clockGhz);
  double addUp = workspaceCycles(elements, streaming.parts) / (clockGhz * 1e3);
  double storeD =
      elements * kernel.bytesD / kEpilogueStoreBytesPerCycle / (clockGhz * 1e3);
  time.pieces = exposed * store + (kernel.stages ? kRingPerWave : kPerWave);
  if (!streaming.isFollowed) {
    time.reduction = addUp;
    time.sums = addUp + storeD;
    return time;
  }
  // A share has two parts of tiles, one of which it adds up.
  double wholeWaves = std::floor(streaming.waves) * prediction.wave;
  time.sums = std::max(0.0, 2 * store + addUp + storeD - wholeWaves);
  return time;
}

/// What a kernel does before its first and after its last matrix instruction.
double fillMicroseconds(const GemmKernel &kernel, double clockGhz) {
  double cycles = kFillCycles;
  bool isAlone = kernel.cluster == kernel.splits;
  if (kernel.stages && kernel.exchanges && isAlone)
    cycles = kExchangeFillCycles;
  else if (kernel.stages)
    cycles =
        kRingFillCycles + (kernel.cluster > 1 ? kClusterFillCycles : 0) +
        (kernel.ctaGroup == 2 ? kPairFillCycles : 0) -
        (kernel.cluster > 1 && kernel.warpsOfQuarter > 1 ? kEarlyMeetingCycles
                                                         : 0);
  return cycles / (clockGhz * 1e3);
}

double flops(const GemmSize &size) {
  return 2.0 * size.m * size.n * size.k * size.batch;
}

/// Floating-point operations a cycle of all SMs.
double peakFlopsPerCycle(const GemmKernel &kernel, const Part &part) {
  MmaStep step = stepOf(kernel);
  double perStep =
      2.0 * step.m / kernel.ctaGroup * step.n * kernel.instructionK;
  return part.smCount * perStep / mmaArrayCycles(step);
}

GemmLimit mainLoopLimit(const GemmKernel &kernel) {
  switch (mmaLimit(stepOf(kernel))) {
  case MmaLimit::Array:
    return GemmLimit::Array;
  case MmaLimit::OperandFetch:
    return GemmLimit::OperandFetch;
  case MmaLimit::Issue:
    return GemmLimit::Issue;
  }
  return GemmLimit::Array;
}

GemmLimit limitOf(const GemmKernel &kernel, const GemmPrediction &prediction) {
  std::pair<double, GemmLimit> parts[] = {
      {prediction.mma, mainLoopLimit(kernel)},
      {prediction.stages, GemmLimit::Stages},
      {prediction.l2, GemmLimit::L2},
      {prediction.memory, GemmLimit::Memory},
      {prediction.promotion, GemmLimit::Promotion},
      {prediction.epilogue, GemmLimit::Epilogue}};
  return std::max_element(
             std::begin(parts), std::end(parts),
             [](const auto &x, const auto &y) { return x.first < y.first; })
      ->second;
}

/// The prediction at one clock, watts included.
GemmPrediction predictAt(const GemmKernel &kernel, const GemmSize &size,
                         const GemmConditions &conditions, double clockGhz) {
  const Part &part = conditions.part;
  Tiling tiling(kernel, size, part);
  Streaming streaming(kernel, size, tiling, part);
  GemmPrediction result;
  result.clockGhz = clockGhz;
  result.waves = int64_t(std::ceil(streaming.waves));
  int64_t k = longestPart(kernel, size.k);
  result.mma = double(ceilDiv(k, kernel.instructionK)) * kernel.instructionsM *
               intervalCycles(kernel) / (kIssueEfficiency * clockGhz * 1e3);
  result.stages = ringMicroseconds(kernel, part.chip, k);
  double perTile = tileBytes(kernel, size);
  result.l2 = tiling.active * perTile /
              (kL2TerabytesPerSecond * part.smCount / kMeasuredSms * 1e6);
  double fromMemory = memoryBytes(kernel, size, tiling, streaming);
  result.memory =
      fromMemory / streaming.waves / (part.memoryTerabytesPerSecond * 1e6);
  bool storesSums =
      kernel.splits > 1 || (kernel.shares && !streaming.isFollowed);
  result.epilogue = epilogueMicroseconds(kernel, storesSums, clockGhz);

  if (kernel.promotionK)
    result.promotion = double(ceilDiv(k, kernel.promotionK)) *
                       promotionCycles(kernel) / (clockGhz * 1e3);

  // The warps that promote also store, and promote nothing meanwhile.
  double exposed = kernel.promotionK ? 1 : exposedEpilogue(kernel);
  double last = kernel.promotionK ? 0 : lastEpilogue(kernel);
  double sum = 0;
  for (double time :
       {result.mma, result.l2, result.memory, (1 - exposed) * result.epilogue})
    sum += std::pow(time, kOverlapExponent);
  // Round trips were measured with MMAs and traffic under way, so that they
  // bound the smooth maximum rather than take part in it; warps that promote
  // share nothing with the rest.
  double overlapped = std::pow(sum, 1 / kOverlapExponent);
  result.wave = std::max({overlapped, result.stages, result.promotion}) +
                exposed * result.epilogue +
                (kernel.stages ? kRingPerWave : kPerWave);
  StreamingTime ofShares =
      streamingTime(kernel, streaming, result, exposed, clockGhz);
  double ofSplit = reductionMicroseconds(kernel, clockGhz);
  result.reduction = ofSplit + ofShares.reduction;
  result.total = kLaunchMicroseconds + fillMicroseconds(kernel, clockGhz) +
                 streaming.waves * result.wave + last * result.epilogue +
                 ofSplit + storeOfSplitMicroseconds(kernel, clockGhz) +
                 ofShares.pieces + ofShares.sums;

  result.teraflops = flops(size) / result.total / 1e6;
  result.tensorCoreBusy =
      result.teraflops * 1e3 / (peakFlopsPerCycle(kernel, part) * clockGhz);
  double dynamic =
      mmaWatts(kernel) * result.tensorCoreBusy * std::pow(clockGhz, 1.5) +
      kWattsPerL2 * tiling.tiles * perTile / result.total / 1e6 +
      kWattsPerMemory * fromMemory / result.total / 1e6;
  bool isZero = conditions.data == OperandData::Zero;
  result.watts = part.idleWatts + dynamic * (isZero ? kZeroPower : 1);
  result.limit = limitOf(kernel, result);
  return result;
}

} // namespace

double blockscale::hw::epilogueCycles(const EpilogueWork &work,
                                      unsigned warpsOfQuarter) {
  // From the last load on, until all CTAs of the cluster know of it; and
  // instructions of a warp in front of its first load of a tile.
  constexpr double kMeetingCycles = 557, kFirstInstructions = 52;
  constexpr double kLanes = 32, kQuarters = 4;
  double elements = kLanes * work.chunk, warps = kQuarters * warpsOfQuarter;
  double read = elements * kSumBytes *
                std::max(1 / kTensorLoadBytesPerCycle,
                         warps / kTensorLoadBytesPerCycleOfSm);
  double compute = work.instructions * work.chunk;
  double store = elements * work.bytes / kEpilogueStoreBytesPerCycle;
  // The port of all warps, the instructions of a quarter, or one warp alone.
  double round = std::max({warps * store, warpsOfQuarter * compute,
                           read + compute + work.wait + store});
  double rounds =
      std::ceil(double(work.columns) / (work.chunk * warpsOfQuarter));
  double meeting = work.meetsEarly ? std::max(0.0, kMeetingCycles - round) : 0;
  double first = warpsOfQuarter * kFirstInstructions + read;
  double shared =
      std::ceil(double(work.overlap) / (work.chunk * warpsOfQuarter));
  double handedOver = shared > 0 ? first + (shared - 1) * round : 0;
  double all = read + rounds * round;
  double between = std::max(handedOver, all - work.mainLoop);
  return double(work.tiles - 1) * between + all + meeting;
}

double blockscale::hw::workspaceCycles(double elements, unsigned splits) {
  double read = splits * elements * kSumBytes / kWorkspaceBytesPerCycle;
  return kReductionTrips * kFarL2Cycles + read;
}

double blockscale::hw::warpStageCycles(MmaKind kind, unsigned m, unsigned n,
                                       double k, bool inTurns) {
  constexpr double kEfficiency = 0.95, kWaits = 115;
  constexpr double kEfficiencyAlone = 0.84, kWaitsAlone = 100;
  double rate = warpMmaFlopsPerCycle(kind);
  double cycles = 2.0 * m * n * k / rate;
  return inTurns ? cycles / kEfficiencyAlone + kWaitsAlone
                 : cycles / kEfficiency + kWaits;
}

double blockscale::hw::bytesPerElement(OperandType type, unsigned scaleSpan) {
  return type.bits() / 8.0 + (scaleSpan ? 1.0 / scaleSpan : 0.0);
}

std::string_view blockscale::hw::gemmLimitName(GemmLimit limit) {
  switch (limit) {
  case GemmLimit::Array:
    return "array";
  case GemmLimit::OperandFetch:
    return "operand fetch";
  case GemmLimit::Issue:
    return "issue";
  case GemmLimit::Stages:
    return "stages";
  case GemmLimit::L2:
    return "L2";
  case GemmLimit::Memory:
    return "memory";
  case GemmLimit::Promotion:
    return "promotion";
  case GemmLimit::Epilogue:
    return "epilogue";
  }
  return "";
}

GemmPrediction blockscale::hw::predictGemm(const GemmKernel &kernel,
                                           const GemmSize &size,
                                           const GemmConditions &conditions) {
  const Part &part = conditions.part;
  double highest =
      conditions.clockGhz ? conditions.clockGhz : part.boostMhz / 1e3;
  GemmPrediction atHighest = predictAt(kernel, size, conditions, highest);
  bool isFitted = part.idleWatts != 0;
  if (!conditions.powerLimited || !isFitted ||
      atHighest.watts <= part.powerLimitWatts)
    return atHighest;
  // Power rises with the clock: bisect to 0.1 MHz.
  double low = 0, high = highest;
  constexpr double kPrecision = 1e-4;
  while (high - low > kPrecision) {
    double middle = (low + high) / 2;
    bool holds = predictAt(kernel, size, conditions, middle).watts <=
                 part.powerLimitWatts;
    (holds ? low : high) = middle;
  }
  return predictAt(kernel, size, conditions, low);
}

/// Whether and how accumulators of `kernel`'s tile alternate in the tensor
/// memory of `chip`, of which scales take some columns.
static EpilogueOverlap overlapOn(Chip chip, const GemmKernel &kernel) {
  constexpr unsigned kScaleColumns = 32;
  unsigned columns = kernel.instructionsM * kernel.tileN;
  if (2 * columns + kScaleColumns <= chipInfo(chip).tensorMemoryColumns)
    return EpilogueOverlap::TwoAccumulators;
  return kernel.instructionsM == 1 ? EpilogueOverlap::PiecewiseRelease
                                   : EpilogueOverlap::None;
}

/// The shapes of tiles that a part's kernels may have, pairs first.
static std::vector<GemmKernel> tilesOn(const Part &part,
                                       const GemmKernel &kernel) {
  bool mayShareB = isAvailable(Feature::CollectorB, {part.chip});
  std::vector<GemmKernel> tiles;
  for (unsigned ctaGroup : {2u, 1u})
    for (unsigned tileN : {256u, 224u, 192u, 128u, 64u})
      for (unsigned instructionsM : {1u, 2u}) {
        if (instructionsM == 2 &&
            (!mayShareB || kernel.sparse || ctaGroup == 1))
          continue;
        GemmKernel tile = kernel;
        tile.ctaGroup = ctaGroup;
        tile.cluster = ctaGroup;
        tile.instructionsM = instructionsM;
        tile.tileM = 128 * ctaGroup * instructionsM;
        tile.tileN = tileN;
        tile.stages = 0;
        tile.raster = Raster::Grouped;
        tile.overlap = overlapOn(part.chip, tile);
        tiles.push_back(tile);
      }
  return tiles;
}

GemmChoice blockscale::hw::bestGemm(const GemmKernel &kernel,
                                    const GemmSize &size,
                                    const GemmConditions &conditions) {
  GemmChoice best;
  for (const GemmKernel &tile : tilesOn(conditions.part, kernel))
    for (bool swapped : {false, true}) {
      GemmKernel candidate = tile;
      GemmSize oriented = size;
      if (swapped) {
        std::swap(candidate.bitsA, candidate.bitsB);
        std::swap(candidate.bytesA, candidate.bytesB);
        std::swap(oriented.m, oriented.n);
      }
      GemmPrediction prediction = predictGemm(candidate, oriented, conditions);
      if (prediction.teraflops > best.prediction.teraflops)
        best = {candidate, swapped, prediction};
    }
  return best;
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

GemmPrediction blockscale::hw::predictWarpMmaGemm(MmaKind kind,
                                                  const GemmSize &size,
                                                  const Part &part,
                                                  double sustainedGhz,
                                                  double burstGhz) {
  // Launch in us; how busy the tensor cores must be for the clock to sink.
  constexpr double kLaunch = 4, kBusyEnough = 0.45;
  double rate = warpMmaFlopsPerCycle(kind);
  double peak = part.smCount * rate * 1e3;
  auto predictAt = [&](double clockGhz) {
    GemmPrediction best;
    for (auto [tileM, tileN] :
         {std::pair(128, 128), std::pair(64, 128), std::pair(64, 64)}) {
      GemmPrediction result;
      result.clockGhz = clockGhz;
      result.waves =
          ceilDiv(ceilDiv(size.m, tileM) * ceilDiv(size.n, tileN) * size.batch,
                  part.smCount);
      result.mma =
          warpTileCycles(kind, tileM, tileN, size.k) / (clockGhz * 1e3);
      result.wave = result.mma;
      result.total = kLaunch + result.waves * result.wave;
      result.teraflops = flops(size) / result.total / 1e6;
      result.tensorCoreBusy = result.teraflops * 1e6 / (peak * clockGhz);
      if (result.teraflops > best.teraflops)
        best = result;
    }
    return best;
  };
  GemmPrediction burst = predictAt(burstGhz);
  return burst.tensorCoreBusy < kBusyEnough ? burst : predictAt(sustainedGhz);
}
