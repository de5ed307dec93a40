//===- GemmModel.h - predicted time of a whole matmul -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An estimate of how long a persistent, warp-specialised GEMM takes: waves of
// tiles, each the smooth maximum of what the tensor core, the L2 cache, the
// memory and the epilogue take, and a clock that sinks until the power limit
// holds. Fitted to 89 published measurements (test/oracle/throughput), which it
// reproduces within 6.7 % on average; expect 10 to 15 % for a kernel family
// that is not among them and 25 % for few rows. Ten more points, of VR200, were
// looked at only for one number, stageRoundTripMicroseconds(): they are within
// 15 %.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_GEMMMODEL_H
#define BLOCKSCALE_HW_GEMMMODEL_H

#include "blockscale/HW/Part.h"
#include "blockscale/HW/Throughput.h"

#include <cstdint>
#include <string_view>

namespace blockscale::hw {

/// D = A * B^T, with A of M x K and B of N x K, `batch` times.
struct GemmSize {
  int64_t m, n, k;
  int64_t batch = 1;
};

/// How much of an epilogue the next tile's main loop cannot hide.
enum class EpilogueOverlap : uint8_t {
  TwoAccumulators,  ///< a second accumulator in tensor memory; N <= 240
  PiecewiseRelease, ///< one, whose columns are released as they are read
  None              ///< one, released as a whole
};

/// The order in which tiles run.
enum class Raster : uint8_t {
  Grouped, ///< concurrent tiles form a near-square
  Linear   ///< along M first
};

/// A kernel, as far as its time depends on it.
struct GemmKernel {
  MmaKind kind = MmaKind::MXF4NVF4;
  /// K of one instruction, in logical elements.
  unsigned instructionK = 64;
  bool sparse = false;
  unsigned ctaGroup = 2;
  /// Tile of one CTA, or of the pair: N of the instruction, or of two beside
  /// each other where it is above 256, and its M times `instructionsM`.
  unsigned tileM = 256, tileN = 256;
  /// Whether two instructions beside each other compute a tile that one could,
  /// each into an accumulator of its own, so that the epilogue has one half
  /// before the other.
  bool inHalves = false;
  /// MMAs of different rows that share B in the collector (sm_107).
  unsigned instructionsM = 1;
  /// Bits of an element of A and of B.
  unsigned bitsA = 8, bitsB = 8;
  /// Bytes in global memory of an element of A and B, its share of the scales
  /// included; see bytesPerElement().
  double bytesA = 0, bytesB = 0;
  /// Bytes of an element of D.
  double bytesD = 2;
  /// CTAs of a cluster.
  unsigned cluster = 2;
  /// Tiles that get their rows of A, or columns of B, from one multicast: the
  /// L2 cache is read once for all of them (SA).
  unsigned multicastA = 1, multicastB = 1;
  /// Stages of the ring, and K of each; 0 leaves the loads' latency out.
  unsigned stages = 0, stageK = 0;
  /// Bytes of shared memory that the loads of one stage fill in one CTA.
  double stageBytes = 0;
  /// Parts of K that different CTAs compute, and elements of K that are not
  /// divided further.
  unsigned splits = 1, splitUnit = 1;
  /// Whether those are CTAs of one cluster, which send each other their sums,
  /// rather than store them where the last one adds them up; and how many of
  /// them then add up and store a slice of the columns each.
  bool exchanges = false;
  unsigned owners = 1;
  /// Shares that all K of `sharedTiles` is cut into, which are tiles of
  /// clusters; the sums of parts of a tile meet as those of `splits`. The other
  /// tiles follow. 0 where none are shared out.
  unsigned shares = 0;
  int64_t sharedTiles = 0;
  /// Elements of K after which the epilogue adds a sum to what it keeps in
  /// registers, scaled; 0 without that. Groups of four warps that do so,
  /// columns that they load at once, and scales of these that a thread reads
  /// from shared memory each time; 0 where all of them have one.
  unsigned promotionK = 0, promotionGroups = 1, promotionColumns = 32;
  unsigned promotionScales = 0;
  /// Accumulators that such sums pass through.
  unsigned accumulators = 2;
  EpilogueOverlap overlap = EpilogueOverlap::PiecewiseRelease;
  /// Columns of a tile of two instructions that are released before the next
  /// tile begins, as both accumulators have them.
  unsigned sharedColumns = 0;
  /// Warps that share a quarter of the lanes in the epilogue.
  unsigned warpsOfQuarter = 1;
  Raster raster = Raster::Grouped;
};

/// Bytes of `type` and its share of a scale of one byte for every `scaleSpan`
/// elements; `scaleSpan` 0 is no scale.
double bytesPerElement(OperandType type, unsigned scaleSpan);

/// Bytes of a sum in tensor memory, in the workspace and on its way to a CTA.
inline constexpr int64_t kSumBytes = 4;

/// What the warps of an epilogue do with the sums of a tile in one CTA.
struct EpilogueWork {
  /// Columns of the tile, and those that a warp takes at once.
  unsigned columns = 256, chunk = 32;
  /// Bytes that are stored of a column of a row.
  double bytes = 2;
  /// Instructions of a thread for a column, and cycles that it waits for what
  /// it loads with each chunk.
  double instructions = 3, wait = 0;
  /// Whether the CTA meets the others of its cluster when it has read its last
  /// sums, rather than at its end.
  bool meetsEarly = false;
  /// Columns that two accumulators share, tiles of the CTA, and cycles of the
  /// main loop of one.
  unsigned overlap = 0;
  int64_t tiles = 1;
  double mainLoop = 0;
};

/// Cycles of a CTA in which its tensor core waits for so many warps on each
/// quarter of the lanes, or has nothing to do any more: before each tile but
/// the first until they have the columns that accumulators share, or are done
/// with the tile before, and from the last matrix instruction to the end. Of
/// two warps one loads, or waits, while the other one stores, but both load
/// before the first of them does.
double epilogueCycles(const EpilogueWork &work, unsigned warpsOfQuarter);

/// Cycles in which a CTA that has stored its sums of a tile of `elements` in a
/// workspace learns that it is the last, and reads those of all `splits` parts.
double workspaceCycles(double elements, unsigned splits);

/// Cycles in which the warps of a CTA of ours multiply a stage by mma.sync: 95
/// % of the rate, and what they wait for in each stage. Fitted to the timeline:
/// NVFP4 and MXFP8, 2048 x 4096 x 4096, n of 16 to 128, within 9 %. Where
/// groups of warps take tiles in turns one warp alone is on a quarter of an SM,
/// which waits for it; fitted to MXFP8, 4096 x 4096 x 1024, within 3 %.
double warpStageCycles(MmaKind kind, unsigned m, unsigned n, double k,
                       bool inTurns = false);

/// What the operands hold, which decides the power that MMAs take.
enum class OperandData : uint8_t { Random, Zero };

/// Where the kernel runs.
struct GemmConditions {
  Part part;
  /// Clock of the SMs in GHz; 0 is the boost clock.
  double clockGhz = 0;
  /// Whether the clock sinks until the power limit holds, as it does after some
  /// 5 ms of load. Only for parts whose power was fitted (B200, B300).
  bool powerLimited = false;
  OperandData data = OperandData::Random;
};

/// What a wave of tiles waits for most.
enum class GemmLimit : uint8_t {
  Array,        ///< the multipliers
  OperandFetch, ///< shared memory that feeds them
  Issue,        ///< the shortest interval of MMAs
  Stages,       ///< too few stages for the latency of the loads, or the port
                ///< through which they come into an SM
  L2,           ///< traffic from the L2 cache
  Memory,       ///< traffic of global memory
  Promotion,    ///< reading and scaling the sums of blocks of K
  Epilogue      ///< the part of it that nothing hides, or its store rate
};

/// Microseconds of a launch that a prediction counts. Fitted like the rest, and
/// of little weight alone: read it together with the first fill.
inline constexpr double kLaunchMicroseconds = 1.5;

/// "array", "operand fetch", "issue", "stages", "L2", "memory", "promotion",
/// "epilogue".
std::string_view gemmLimitName(GemmLimit limit);

/// Times in microseconds.
struct GemmPrediction {
  double clockGhz = 0;
  /// Where tiles are shared out the last one is none of whole tiles.
  int64_t waves = 0;
  /// Of one wave: the tensor core, the ring (the loads' latency over the
  /// stages, or the way into the SM), the L2 cache, memory, what promotes sums,
  /// the whole epilogue, and the wave itself.
  double mma = 0, stages = 0, l2 = 0, memory = 0, promotion = 0, epilogue = 0,
         wave = 0;
  /// Of a split K, or of tiles that are shared out where no other follows: from
  /// the last sums that are stored or sent to when all are added up.
  double reduction = 0;
  double total = 0;
  /// 2MNK over the time, in 10^12 a second.
  double teraflops = 0;
  /// Share of all SMs' multiplier cycles that do useful work, launch to end.
  double tensorCoreBusy = 0;
  double watts = 0;
  GemmLimit limit = GemmLimit::Array;
};

GemmPrediction predictGemm(const GemmKernel &kernel, const GemmSize &size,
                           const GemmConditions &conditions);

/// A tile, its prediction, and whether A and B changed sides for it.
struct GemmChoice {
  GemmKernel kernel;
  bool swapped = false;
  GemmPrediction prediction;
};

/// The fastest of the tiles that vendor libraries have, pairs of 256 x
/// {256, 224, 192, 128, 64} and single CTAs of 128 x the same, with the
/// operands in either order: the model's bound for `kernel`'s instruction and
/// operands.
GemmChoice bestGemm(const GemmKernel &kernel, const GemmSize &size,
                    const GemmConditions &conditions);

/// The same question for a warp-level kernel of sm_120: a cruder model, waves
/// of tiles at 95 % of the rate of mma.sync. `sustainedGhz` is the clock under
/// load, which the model takes when the tensor cores are busy enough, and
/// `burstGhz` the one before.
GemmPrediction predictWarpMmaGemm(MmaKind kind, const GemmSize &size,
                                  const Part &part, double sustainedGhz,
                                  double burstGhz);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_GEMMMODEL_H
