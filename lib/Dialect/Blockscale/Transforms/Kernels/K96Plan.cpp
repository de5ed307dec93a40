//===- K96Plan.cpp - which instructions cover K on sm_103a ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Eight instructions of K = 96 are 768 elements, three stages. What is left of
// K takes some more of them and may end with instructions of K = 64. Those
// start at multiples of 32 bytes of a row, so that they never cross one, and
// with the scale ids that they have: after an even number of long ones, for
// 192 elements are 96 bytes and, with blocks of 16 or 32, 12 or 6 scales.

#include "K96Plan.h"

#include "blockscale/HW/Throughput.h"
#include "llvm/Support/MathExtras.h"

#include <tuple>

using namespace mlir;
using namespace blockscale;

/// K of the short instructions.
static int64_t ordinaryK(MmaAttr mma) {
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
  int64_t part = (begin + k - 1) / kK96Stage;
  bool crosses = begin / kK96Stage != part;
  bool goesOn = !runs.empty() && runs.back().k == k && !crosses &&
                !runs.back().crosses && runs.back().part == part;
  if (goesOn)
    runs.back().end = begin + k;
  else
    runs.push_back({k, part, begin, begin + k, crosses});
}

static KPlan makePlan(MmaAttr mma, int64_t length, int64_t k96Steps,
                      int64_t k64Steps) {
  KPlan plan;
  plan.length = length;
  plan.k96Steps = k96Steps;
  plan.k64Steps = k64Steps;
  plan.cycles = k96Steps * stepCycles(mma, hw::kK96) +
                k64Steps * stepCycles(mma, ordinaryK(mma));
  int64_t end = 0;
  for (int64_t i = 0; i < k96Steps; ++i, end += hw::kK96)
    appendStep(plan.runs, end, hw::kK96);
  for (int64_t i = 0; i < k64Steps; ++i, end += ordinaryK(mma))
    appendStep(plan.runs, end, ordinaryK(mma));
  plan.fill = end - length;
  plan.runs.back().end = length;
  return plan;
}

KPlan blockscale::planK96(MmaAttr mma, int64_t length) {
  KPlan best;
  for (int64_t k96Steps = 0; k96Steps <= hw::kK96GroupSteps; ++k96Steps) {
    int64_t rest = length - k96Steps * hw::kK96;
    if (rest + hw::kK96 <= 0)
      break;
    int64_t k64Steps = rest > 0 ? llvm::divideCeil(rest, ordinaryK(mma)) : 0;
    if (k64Steps && k96Steps % 2 != 0)
      continue;
    KPlan plan = makePlan(mma, length, k96Steps, k64Steps);
    if (length + plan.fill > int64_t(llvm::alignTo(length, kK96Stage)))
      continue;
    auto rank = [](const KPlan &plan) {
      return std::make_tuple(plan.cycles, plan.fill,
                             plan.k96Steps + plan.k64Steps);
    };
    if (best.runs.empty() || rank(plan) < rank(best))
      best = plan;
  }
  return best;
}
