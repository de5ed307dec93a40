//===- Throughput.cpp - how fast the units of an SM are -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Throughput.h"
#include "Capabilities.h"
#include "blockscale/HW/ScaleLayout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

using namespace blockscale::hw;

//===----------------------------------------------------------------------===//
// tcgen05.mma
//===----------------------------------------------------------------------===//

MmaStep blockscale::hw::mmaStep(MmaKind kind, unsigned k, bool sparse,
                                unsigned ctaGroup, unsigned m, unsigned n) {
  // Every ordinary dense K is 32 bytes in shared memory.
  constexpr unsigned kOrdinaryBytes = 32;
  MmaStep step{m, n, ctaGroup};
  step.bytesB = kOrdinaryBytes * k / instructionK(kind, /*sparse=*/false);
  step.bytesA = sparse ? step.bytesB / 2 : step.bytesB;
  step.blockScaled = isBlockScaled(kind);
  return step;
}

MmaStep blockscale::hw::mmaStep(MmaKind kind, unsigned k, bool sparse,
                                unsigned ctaGroup, unsigned m, unsigned n,
                                unsigned bitsA, unsigned bitsB) {
  MmaStep step = mmaStep(kind, k, sparse, ctaGroup, m, n);
  if (!readsPacked(kind, k, sparse))
    return step;
  step.bytesA = k * bitsA / 8;
  step.bytesB = k * bitsB / 8;
  return step;
}

/// Rows of A that each SM works on.
static unsigned rowsPerSm(const MmaStep &step) {
  return step.m / step.ctaGroup;
}

static bool isHalfPair(const MmaStep &step) {
  return step.ctaGroup == 2 && rowsPerSm(step) == 64;
}

double blockscale::hw::mmaArrayCycles(const MmaStep &step) {
  return isHalfPair(step) ? step.n / 4.0 : step.n / 2.0;
}

/// Cycles to fetch the operands of one SM from shared memory. Each CTA of a
/// pair holds half of B.
static double fetchCycles(const MmaStep &step) {
  double bytesA =
      step.aFromTensorMemory ? 0.0 : double(rowsPerSm(step)) * step.bytesA;
  double bytesB =
      double(step.n) / step.ctaGroup * step.bytesB / step.sharersOfB;
  double cycles = (bytesA + bytesB) / kSharedBytesPerCycle;
  // A pair loses 8 % of the port, a pair with M = 128 one cycle of each 32
  // bytes (both read off SA's and QRC's tables).
  constexpr double kPairLoss = 1.08;
  if (step.ctaGroup == 1 || step.aFromTensorMemory)
    return cycles;
  return isHalfPair(step) ? cycles + step.bytesA / 32.0 : cycles * kPairLoss;
}

/// The shortest interval. 39 cycles for 32 bytes of A and 59 for 48 are QRC's
/// rows of N = 16; SA shows none where an SM has 64 rows.
static double issueCycles(const MmaStep &step) {
  if (step.aFromTensorMemory)
    return step.ctaGroup == 1 ? 16 : 18;
  return rowsPerSm(step) == 64 ? 0 : 39.0 * step.bytesA / 32;
}

double blockscale::hw::mmaIntervalCycles(const MmaStep &step) {
  return std::max({mmaArrayCycles(step), fetchCycles(step), issueCycles(step)});
}

MmaLimit blockscale::hw::mmaLimit(const MmaStep &step) {
  double interval = mmaIntervalCycles(step);
  if (mmaArrayCycles(step) == interval)
    return MmaLimit::Array;
  return fetchCycles(step) == interval ? MmaLimit::OperandFetch
                                       : MmaLimit::Issue;
}

/// The part of the latency that does not depend on N, from SA's 264 rows: 0.5 %
/// off on average, 6.5 % at worst (pairs with M = 128 and N = 64).
static double fixedLatencyCycles(const MmaStep &step) {
  bool isPair = step.ctaGroup == 2;
  if (step.aFromTensorMemory)
    return !isPair ? 104 : isHalfPair(step) ? 146 : 138;
  if (isPair)
    return isHalfPair(step) ? 165 : 170;
  return rowsPerSm(step) == 64 ? 120 : 136;
}

double blockscale::hw::mmaLatencyCycles(const MmaStep &step) {
  bool isLate = step.ctaGroup == 2 || step.aFromTensorMemory;
  double scales = !step.blockScaled ? 0 : isLate ? 3 : 1;
  return fixedLatencyCycles(step) + scales + mmaArrayCycles(step);
}

double blockscale::hw::mmaBurstCycles(const MmaStep &step, unsigned count) {
  return kBurstCycles + mmaLatencyCycles(step) +
         (double(count) - 1) * mmaIntervalCycles(step);
}

unsigned blockscale::hw::mmasInFlight(const MmaStep &step) {
  return static_cast<unsigned>(
      std::ceil(mmaLatencyCycles(step) / mmaIntervalCycles(step)));
}

//===----------------------------------------------------------------------===//
// Other units
//===----------------------------------------------------------------------===//

double blockscale::hw::tensorCopyCycles(double sourceBytes) {
  constexpr double kAtomCycles = 16;
  constexpr double kBigBytes = 4096, kBigCycles = 71;
  if (sourceBytes <= kAtomBytes)
    return kAtomCycles;
  return std::max(kAtomCycles, sourceBytes * kBigCycles / kBigBytes);
}

double blockscale::hw::barrierCycles(unsigned warps) {
  return 22 + 2.0 * warps;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
struct Point {
  double x, y;
};
} // namespace

/// Linear between the points, which ascend in x; the lines at both ends go on.
template <size_t N>
static double interpolate(const std::array<Point, N> &points, double x) {
  size_t next = 1;
  while (next + 1 < N && points[next].x < x)
    ++next;
  const Point &from = points[next - 1], &to = points[next];
  return from.y + (x - from.x) * (to.y - from.y) / (to.x - from.x);
}

static constexpr double kKiB = 1024;

double blockscale::hw::tmaTerabytesPerSecond(double bytesInFlight) {
  constexpr std::array kMeasured{Point{0, 0},           Point{4 * kKiB, 1.1},
                                 Point{8 * kKiB, 2.1},  Point{16 * kKiB, 3.7},
                                 Point{32 * kKiB, 5.8}, Point{64 * kKiB, 7.15},
                                 Point{128 * kKiB, 7.1}};
  return interpolate(kMeasured, std::min(bytesInFlight, kMeasured.back().x));
}

double blockscale::hw::stageRoundTripMicroseconds(double bytes) {
  constexpr std::array kMeasured{
      Point{24 * kKiB, 0.745}, Point{32 * kKiB, 1.15}, Point{48 * kKiB, 1.51}};
  constexpr double kShortest = 0.5;
  return std::max(interpolate(kMeasured, bytes), kShortest);
}

double blockscale::hw::stageRoundTripMicroseconds(Chip chip, double bytes) {
  constexpr double kRubin = 0.8;
  return stageRoundTripMicroseconds(bytes) * (chip == Chip::SM107 ? kRubin : 1);
}

double blockscale::hw::stageRoundTripCycles(double bytes) {
  constexpr double kCyclesPerMicrosecond = 1900;
  return stageRoundTripMicroseconds(bytes) * kCyclesPerMicrosecond;
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

double blockscale::hw::warpMmaFlopsPerCycle(MmaKind kind) {
  switch (kind) {
  case MmaKind::MXF4:
  case MmaKind::MXF4NVF4:
    return 4096;
  case MmaKind::MXF8F6F4:
    return 2048;
  case MmaKind::F8F6F4:
    return 1024;
  case MmaKind::F16:
    return 512;
  case MmaKind::TF32:
    return 256;
  case MmaKind::I8:
    return 2048;
  }
  return 0;
}

double blockscale::hw::warpTileCycles(MmaKind kind, unsigned m, unsigned n,
                                      double k) {
  constexpr double kEfficiency = 0.95, kSmallTile = 0.8;
  constexpr unsigned kFullTile = 128;
  bool isSmall = m < kFullTile || n < kFullTile;
  double reached =
      warpMmaFlopsPerCycle(kind) * kEfficiency * (isSmall ? kSmallTile : 1);
  return 2.0 * m * n * k / reached;
}

//===----------------------------------------------------------------------===//
// Warp instructions
//===----------------------------------------------------------------------===//

bool blockscale::hw::multipliesPairs(Chip chip) {
  return has(chip, &Capabilities::multipliesPairs);
}
