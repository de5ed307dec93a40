//===- Throughput.h - how fast the tensor core is fed -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model of time that the schedule is chosen by and that reports print as an
// estimate. The numbers were measured on sm_100a and sm_103a parts by public
// microbenchmarks; they are estimates for sm_110a.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_THROUGHPUT_H
#define BLOCKSCALE_HW_THROUGHPUT_H

namespace blockscale::hw {

/// Cycles between two dense MMAs of cta_group 1 with `m` rows and `n` columns
/// whose operands lie in shared memory: the largest of what the array takes
/// (N/2), what the fetch of operands takes (32 bytes of each row of A and B at
/// 128 bytes a cycle), and the shortest interval, 39. Agrees within 3.3 % with
/// the tables of SemiAnalysisAI/microbench-blackwell and
/// ademeure/QuickRunCUDA. `m` is 128; K is the 32 bytes of one instruction.
double mmaIntervalCycles(unsigned m, unsigned n);

/// Bytes a cycle that TMA brings to one SM: 145 GB/s at 1.3 GHz (the same
/// microbenchmarks).
inline constexpr double kTmaBytesPerCycle = 112;

/// One SM's share of the L2 cache while all read, in bytes a cycle: 30 TB/s over
/// 148 SMs at 1.9 GHz (fitted to published GEMM times).
inline constexpr double kL2BytesPerCycle = 107;

/// Cycles from the release of a stage of `bytes` to its next one, that is the
/// load's issue, flight and arrival: linear between 0.745, 1.15 and 1.51 us for
/// 24, 32 and 48 KiB at 1.9 GHz, and beyond (the first microbenchmarks' sweep of
/// stages). A ring of S stages therefore feeds one K tile every S-th of it.
double stageRoundTripCycles(double bytes);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_THROUGHPUT_H
