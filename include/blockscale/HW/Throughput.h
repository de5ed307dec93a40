//===- Throughput.h - how fast the units of an SM are -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model of time that the schedule is chosen by and that reports and the
// timeline print as an estimate. "Cycles" are those of the SM clock. The
// numbers were measured on sm_100a and sm_103a parts by public microbenchmarks,
// each named where it is used: SA is SemiAnalysisAI/microbench-blackwell
// (B200), QRC is ademeure/QuickRunCUDA as its author corrected it (B300), FC is
// AndreSlavescu/flashinfer-competition (B200). A number that nobody measured
// says "assumed". All are estimates for sm_110a, and for sm_107a, where nothing
// of it but the times of whole products was measured: 128 bytes of operands a
// cycle, and that a pair of CTAs shares B, are inferred there.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_THROUGHPUT_H
#define BLOCKSCALE_HW_THROUGHPUT_H

#include "blockscale/HW/Mma.h"

#include <cstdint>

namespace blockscale::hw {

//===----------------------------------------------------------------------===//
// tcgen05.mma
//===----------------------------------------------------------------------===//

/// One tcgen05.mma as the tensor core sees it.
struct MmaStep {
  /// M and N of the instruction; with cta_group 2 they count the pair.
  unsigned m, n;
  unsigned ctaGroup = 1;
  /// Bytes of one row of A and of one column of B that the instruction reads:
  /// 32 for the ordinary kinds, 48 for K = 96, 64 for wide ones (less where
  /// packed elements take less), and twice A's for B when A is sparse.
  unsigned bytesA = 32, bytesB = 32;
  /// MMAs of different A that follow each other and for which the collector
  /// fetches B once (sm_107).
  unsigned sharersOfB = 1;
  bool aFromTensorMemory = false;
  bool blockScaled = true;
};

/// The step of `kind` with `k` logical elements.
MmaStep mmaStep(MmaKind kind, unsigned k, bool sparse, unsigned ctaGroup,
                unsigned m, unsigned n);

/// The same of elements of `bitsA` and `bitsB`, which wide instructions read
/// packed.
MmaStep mmaStep(MmaKind kind, unsigned k, bool sparse, unsigned ctaGroup,
                unsigned m, unsigned n, unsigned bitsA, unsigned bitsB);

/// What sets the interval of MMAs.
enum class MmaLimit : uint8_t {
  Array,        ///< the multipliers: N/2 cycles for 128 rows of an SM
  OperandFetch, ///< shared memory: 128 bytes a cycle
  Issue         ///< the shortest interval there is
};

/// Cycles between two MMAs issued back to back; the next may accumulate into
/// the same columns. Agrees within 3.3 % with the tables of SA and QRC.
double mmaIntervalCycles(const MmaStep &step);
MmaLimit mmaLimit(const MmaStep &step);

/// Cycles that the multipliers themselves take: what mmaIntervalCycles() would
/// be if nothing else limited it.
double mmaArrayCycles(const MmaStep &step);

/// Cycles from the issue of one MMA to the thread that its commit releases
/// (SA).
double mmaLatencyCycles(const MmaStep &step);

/// Extra cycles of the first MMA and the commit of a burst (SA: 10 to 14).
inline constexpr double kBurstCycles = 12;

/// Cycles of `count` MMAs with one commit, until the waiting thread runs.
double mmaBurstCycles(const MmaStep &step, unsigned count);

/// MMAs that must be in flight so that the latency does not show.
unsigned mmasInFlight(const MmaStep &step);

//===----------------------------------------------------------------------===//
// Other tcgen05 instructions
//===----------------------------------------------------------------------===//

/// Cycles of one tcgen05.cp of `sourceBytes` among others: 4096 bytes take 68
/// to 74 (FC); the 512 bytes of a scale atom take 16 (assumed).
double tensorCopyCycles(double sourceBytes);

/// Cycles from the first tcgen05.cp to the thread that its commit releases
/// (FC).
inline constexpr double kTensorCopyLatencyCycles = 168;
/// tcgen05.ld of one warp, and of all warps of an SM, in bytes a cycle (QRC: 53
/// to 57 for .32x32b.x16).
inline constexpr double kTensorLoadBytesPerCycle = 53,
                        kTensorLoadBytesPerCycleOfSm = 212;
/// Cycles before the first word of a tcgen05.ld (assumed).
inline constexpr double kTensorLoadLatencyCycles = 40;
/// tcgen05.st of an SM in bytes a cycle (QRC: 320 to 435).
inline constexpr double kTensorStoreBytesPerCycle = 320;
/// tcgen05.alloc of one SM alone, and when all SMs do it (QRC).
inline constexpr double kTensorAllocCycles = 253,
                        kContendedTensorAllocCycles = 1030;
/// tcgen05.shift.down (QRC).
inline constexpr double kTensorShiftCycles = 51;

//===----------------------------------------------------------------------===//
// Warp instructions of an SM with tensor memory
//===----------------------------------------------------------------------===//

/// Whether an instruction of `chip` multiplies and adds two f32 each. PTX has
/// such for all chips (`f32x2`); elsewhere ptxas makes two of one.
bool multipliesPairs(Chip chip);

/// Shared memory, and the port through which MMAs fetch operands (QRC, SA).
inline constexpr double kSharedBytesPerCycle = 128;
inline constexpr double kSharedLoadLatencyCycles = 24;
/// cvt of f32 to 8, 6 and 4 bits, elements a cycle and SM (QRC: 58 of 64).
inline constexpr double kNarrowConvertsPerCycle = 58;
/// cvt of f32 to bf16 and f16: one sweep of QRC says 30, the pipe allows 58.
inline constexpr double kHalfConvertsPerCycle = 30;
/// f32 fused multiply-adds a cycle and SM (QRC).
inline constexpr double kFmasPerCycle = 128;
/// What the epilogue of a CTA stores, in bytes a cycle: fitted to published
/// GEMM times; one CTA's TMA stores measured alone run at 33 (FC).
inline constexpr double kEpilogueStoreBytesPerCycle = 30;
/// Cycles until the writes of a TMA store are done (FC).
inline constexpr double kTmaStoreLatencyCycles = 500;

/// mbarrier.arrive, and from an arrival to the thread that it releases (QRC).
inline constexpr double kArriveCycles = 24, kArriveToWaiterCycles = 123;
/// Arrival on the barrier of another CTA of the cluster (assumed).
inline constexpr double kRemoteArriveCycles = 200;
/// What a CTA stores in the shared memory of another one of its cluster, in
/// bytes a cycle: 70 GB/s on B300 (QRC).
inline constexpr double kRemoteStoreBytesPerCycle = 36;
/// barrier.cluster arrive and wait (QRC: 370 to 395).
inline constexpr double kClusterBarrierCycles = 380;
/// bar.sync of `warps` warps (QRC: 22 + 2 for each).
double barrierCycles(unsigned warps);
/// clusterlaunchcontrol.try_cancel to its response (assumed).
inline constexpr double kTryCancelCycles = 1000;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Bytes a cycle that TMA brings to one SM: 145 GB/s at 1.3 GHz (SA).
inline constexpr double kTmaBytesPerCycle = 112;

/// Bytes that TMA brings to one SM from L2 while all draw FP4 tiles: 164 GB/s
/// (QRC). SA's sweep of stages gives 158.
inline constexpr double kTmaGigabytesPerSecond = 164;

/// Microseconds before the first byte of a TMA load lands, from the L2 cache
/// and from memory: what SA's sweep of stages leaves after the MMAs, the commit
/// and the transfer of a stage (128 x 16 to 64 x 32 to 128: 0.33 to 0.36; 128 x
/// 128 and up, beyond the cache: 0.63 to 0.69).
inline constexpr double kTmaL2Latency = 0.35, kTmaMemoryLatency = 0.66;

/// What the L2 cache gives TMA on a part of 148 SMs, in TB/s. Fitted to
/// published GEMM times: neighbours' requests coalesce, so it lies above what
/// plain reads achieve (20.5 on B200, TileSight).
inline constexpr double kL2TerabytesPerSecond = 30;

/// One SM's share of that in bytes a cycle at 1.9 GHz.
inline constexpr double kL2BytesPerCycle = 107;

/// Operand bytes that stay in the L2 cache of 126 MiB from wave to wave
/// (fitted; QRC measures 79 MiB that can be made persistent).
inline constexpr double kL2OperandBytes = 80e6;

/// Pointer chases: an L2 hit in the near partition and a read of HBM (FC, QRC).
inline constexpr double kL2LatencyCycles = 305, kMemoryLatencyCycles = 707;

/// A load of a warp, with a line for each lane, of what it has loaded before:
/// measured on an H100 (docs/hardware.md). What `prefetch.global.L1` asked for
/// lies in the L2 cache there.
inline constexpr double kL1LatencyCycles = 120;

/// A sector, which caches ask memory and each other for: the least that a load
/// costs (Nsight Compute, Kernel Profiling Guide, Memory Tables).
inline constexpr unsigned kSectorBytes = 32;

/// What TMA reads of all 148 SMs of B200 achieve from HBM with `bytesInFlight`
/// bytes outstanding on each, in TB/s (SA); linear between its points.
double tmaTerabytesPerSecond(double bytesInFlight);

/// Microseconds from the release of a stage of `bytes` to its next one, that is
/// the load's issue, flight and arrival, and the MMAs: linear between 0.745,
/// 1.15 and 1.51 us for 24, 32 and 48 KiB, and beyond (SA's sweep of stages). A
/// ring of S stages therefore feeds one K tile every S-th of it.
double stageRoundTripMicroseconds(double bytes);

/// The same on `chip`. On sm_107 0.8 of it: fitted to ThunderKittens' stages of
/// 48 and 56 KiB on VR200 (docs/sources.md, [rubin]).
double stageRoundTripMicroseconds(Chip chip, double bytes);

/// The same in cycles at 1.9 GHz.
double stageRoundTripCycles(double bytes);

//===----------------------------------------------------------------------===//
// mma.sync of sm_120
//===----------------------------------------------------------------------===//

/// Floating-point operations a cycle and SM of dense mma.sync on sm_120 and
/// sm_121 GeForce parts (lookup1980/microbench-blackwell). 0 if `kind` has no
/// such form there.
double warpMmaFlopsPerCycle(MmaKind kind);

/// Cycles of one output tile of a kernel that multiplies with mma.sync: 95 % of
/// that rate in tiles of 128 x 128, 0.8 of it in smaller ones, as published
/// GEMM times fit.
double warpTileCycles(MmaKind kind, unsigned m, unsigned n, double k);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_THROUGHPUT_H
