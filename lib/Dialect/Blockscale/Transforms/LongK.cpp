//===- LongK.cpp - which instructions cover K on sm_103a ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Eight instructions of K = 96 are 768 elements, three stages. What is left of
// K takes some more of them and may end with instructions of K = 64. Those
// start at multiples of 32 bytes of a row, so that they never cross one, and
// with the scale ids that they have: behind an even number of long ones, for
// 192 elements are 96 bytes and, with blocks of 16 or 32, 12 or 6 scales.

#include "LongK.h"

#include "blockscale/HW/Throughput.h"
#include "llvm/Support/MathExtras.h"

#include <tuple>

using namespace mlir;
using namespace blockscale;

/// K of the short instructions.
static int64_t shortK(MmaAttr mma) {
  return hw::instructionK(mma.getKind(), /*sparse=*/false);
}

/// Cycles of one instruction with `k` elements.
static double stepCycles(MmaAttr mma, int64_t k) {
  return hw::mmaIntervalCycles(hw::mmaStep(mma.getKind(), k, mma.getSparse(),
                                           mma.getCtaGroup(), mma.getM(),
                                           mma.getN()));
}

int64_t KPlan::parts() const { return runs.empty() ? 0 : runs.back().part + 1; }

SmallVector<KRun> KPlan::runsOf(int64_t part) const {
  return llvm::filter_to_vector(
      runs, [&](const KRun &run) { return run.part == part; });
}

/// Appends the instruction of `k` elements from `begin` on, to the last run if
/// it goes on with it.
static void appendStep(SmallVector<KRun> &runs, int64_t begin, int64_t k) {
  int64_t part = (begin + k - 1) / kLongStage;
  bool crosses = begin / kLongStage != part;
  bool goesOn = !runs.empty() && runs.back().k == k && !crosses &&
                !runs.back().crosses && runs.back().part == part;
  if (goesOn)
    runs.back().end = begin + k;
  else
    runs.push_back({k, part, begin, begin + k, crosses});
}

static KPlan makePlan(MmaAttr mma, int64_t length, int64_t longSteps,
                      int64_t shortSteps) {
  KPlan plan;
  plan.length = length;
  plan.longSteps = longSteps;
  plan.shortSteps = shortSteps;
  plan.cycles = longSteps * stepCycles(mma, hw::kLongK) +
                shortSteps * stepCycles(mma, shortK(mma));
  int64_t end = 0;
  for (int64_t i = 0; i < longSteps; ++i, end += hw::kLongK)
    appendStep(plan.runs, end, hw::kLongK);
  for (int64_t i = 0; i < shortSteps; ++i, end += shortK(mma))
    appendStep(plan.runs, end, shortK(mma));
  plan.fill = end - length;
  plan.runs.back().end = length;
  return plan;
}

KPlan blockscale::planLongK(MmaAttr mma, int64_t length) {
  KPlan best;
  for (int64_t longSteps = 0; longSteps <= hw::kLongGroupSteps; ++longSteps) {
    int64_t rest = length - longSteps * hw::kLongK;
    if (rest + hw::kLongK <= 0)
      break;
    int64_t shortSteps = rest > 0 ? llvm::divideCeil(rest, shortK(mma)) : 0;
    if (shortSteps && longSteps % 2 != 0)
      continue;
    KPlan plan = makePlan(mma, length, longSteps, shortSteps);
    if (length + plan.fill > int64_t(llvm::alignTo(length, kLongStage)))
      continue;
    auto rank = [](const KPlan &plan) {
      return std::make_tuple(plan.cycles, plan.fill,
                             plan.longSteps + plan.shortSteps);
    };
    if (best.runs.empty() || rank(plan) < rank(best))
      best = plan;
  }
  return best;
}
