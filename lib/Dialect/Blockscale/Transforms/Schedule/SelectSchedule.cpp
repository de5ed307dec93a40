//===- SelectSchedule.cpp - choose tile, stages and accumulators ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Enumerates the legal completions of each matmul's schedule and takes the one
// that the throughput model finds fastest.

#include "../Kernels/MatmulSource.h"
#include "CompleteSchedule.h"
#include "TileChoices.h"
#include "TileReasons.h"
#include "WarpSchedule.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Dialect/Blockscale/Transforms/ScheduleChoices.h"
#include "blockscale/HW/Descriptor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <utility>

namespace blockscale {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct SelectSchedule : blockscale::impl::SelectScheduleBase<SelectSchedule> {
  using SelectScheduleBase::SelectScheduleBase;
  void runOnOperation() override;
  void getDependentDialects(DialectRegistry &registry) const override {
    SelectScheduleBase::getDependentDialects(registry);
    registerKernelSources(registry);
  }
};
} // namespace

/// How much more a cluster of more than a pair must promise, because the model
/// is only good to some percent.
static double marginOfCluster(ScheduleAttr schedule) {
  constexpr double kMargin = 1.02;
  return schedule.clusterSize() == schedule.ctaGroup() ? 1 : kMargin;
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
  return choice.microseconds * marginOfCluster(choice.schedule) *
         choice.margin * marginOf(choice.schedule);
}

/// Puts the fastest first, and of equals those that were found first. There may
/// be a thousand: each is ranked and moved once.
static void sortByRank(std::vector<ScheduleChoice> &choices) {
  std::vector<std::pair<double, size_t>> order;
  for (auto [i, choice] : llvm::enumerate(choices))
    order.emplace_back(rankOf(choice), i);
  llvm::sort(order);
  std::vector<ScheduleChoice> sorted;
  for (auto [rank, i] : order)
    sorted.push_back(choices[i]);
  choices = std::move(sorted);
}

/// Puts first what holds whatever else is chosen: a tile would be named else
/// that is not to blame.
static void nameWish(std::vector<Reason> &refused,
                     const std::optional<Reason> &why) {
  if (!why)
    return;
  auto same = llvm::find_if(
      refused, [&](const Reason &other) { return other.text == why->text; });
  if (same != refused.end())
    std::rotate(refused.begin(), same, std::next(same));
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
    ScheduleRequest asked(op, wish, target, expectedRows, mostRows);
    // Adds the choice with its number of parts; whether any is legal.
    auto addParts = [&](TileChoice choice) {
      bool any = false;
      for (int64_t clusterK : clusterPartsOf(wish, choice)) {
        choice.clusterK = clusterK;
        Result<ScheduleChoice> completed = completeSchedule(asked, choice);
        any |= bool(completed);
        add(completed);
      }
      return any;
    };
    for (TileChoice choice : choicesOf(getMma(op), wish, target)) {
      choice.splits = wish.splits();
      if (!addParts(choice) || wish.getSplitK() || wish.shares() > 1)
        continue;
      MmaAttr instruction = asked.instruction(choice);
      const ProblemSizes &problem = asked.problemOf(choice);
      for (int64_t splits :
           splitsOf(op, wish, problem, instruction, choice, target)) {
        choice.splits = splits;
        addParts(choice);
      }
      choice.splits = 1;
      choice.shares = sharesOf(op, wish, problem, instruction, choice, target);
      if (choice.shares > 1)
        addParts(choice);
    }
    if (choices.legal.empty()) {
      nameWish(choices.refused, whyNotLoadsOfC(wish, asked.addend, target));
      nameWish(choices.refused, whyNotStores(wish, asked.stored, target));
    }
    // Pairs are all that suits the tile, and no cluster holds one.
    if (choices.legal.empty() && choices.refused.empty())
      choices.refused.push_back(
          Reason("'tile_m' of " + std::to_string(wish.getTileM()) +
                 " takes a pair of CTAs, which a cluster with 'cluster_m' of " +
                 std::to_string(wish.getClusterM()) +
                 " does not hold; nearest legal: 'cluster_m' of 2"));
  }
  sortByRank(choices.legal);
  return choices;
}

/// Says that no schedule is legal, and where all reasons are, if there are
/// several.
static InFlightDiagnostic emitNoSchedule(MatmulOp op,
                                         ArrayRef<Reason> refused) {
  const std::string &first = refused.front().text;
  InFlightDiagnostic error = op.emitOpError()
                             << "has no legal schedule: " << first;
  size_t others = llvm::count_if(
      refused, [&](const Reason &why) { return why.text != first; });
  if (others > 0)
    error << "; " << others << " of " << refused.size()
          << " are refused for other reasons, which 'blockscale explain "
             "schedule' lists";
  return error;
}

/// What is legal where a kernel of its own, or the host, quantises the result:
/// of a product for which the user chose nothing and no schedule suits both.
static ScheduleChoices listSchedulesAlone(MatmulOp op, hw::Target target,
                                          int64_t expectedRows,
                                          const ScheduleChoices &together) {
  QuantizeOp quantizer = quantizerOf(op);
  bool isWished = getScheduleWish(op) !=
                  ScheduleAttr::get(op.getContext(), ScheduleAttr::Fields());
  if (!quantizer || isWished)
    return together;
  Attribute mark = op->removeAttr(kQuantizedAttrName);
  ScheduleChoices alone = listScheduleChoices(op, target, expectedRows);
  if (alone.legal.empty()) {
    op->setAttr(kQuantizedAttrName, mark);
    return together;
  }
  // What no schedule of the product alone is refused for.
  auto isOfBoth = [&](const Reason &why) {
    return llvm::none_of(alone.refused, [&](const Reason &other) {
      return other.text == why.text;
    });
  };
  auto why = llvm::find_if(together.refused, isOfBoth);
  if (why == together.refused.end())
    why = together.refused.begin();
  quantizer.emitRemark() << "stays an op of its own: no schedule suits both: "
                         << why->text;
  return alone;
}

/// Whether a kernel that quantises the result of `op`, too, has a schedule as
/// the user wants it, of a product whose result the host quantises instead.
static bool suitsBoth(MatmulOp op, hw::Target target, int64_t expectedRows) {
  if (op->hasAttr(kQuantizedAttrName) || !op->hasOneUse())
    return false;
  auto reader = dyn_cast<QuantizeOp>(*op->user_begin());
  if (!reader || whyNotQuantized(op, reader, target))
    return false;
  op->setAttr(kQuantizedAttrName, UnitAttr::get(op.getContext()));
  bool suits = !listScheduleChoices(op, target, expectedRows).legal.empty();
  op->removeAttr(kQuantizedAttrName);
  return suits;
}

/// What is legal where the host quantises the result: the user's schedule may
/// be one that only a kernel of both has, and does not count then.
static ScheduleChoices listSchedulesUnasked(MatmulOp op, hw::Target target,
                                            int64_t expectedRows,
                                            const ScheduleChoices &asked) {
  if (!suitsBoth(op, target, expectedRows))
    return asked;
  ScheduleAttr wish = getScheduleWish(op);
  setTensorCore(op, getMma(op), ScheduleAttr());
  ScheduleChoices unasked = listScheduleChoices(op, target, expectedRows);
  if (unasked.legal.empty()) {
    setTensorCore(op, getMma(op), wish);
    return asked;
  }
  op.emitRemark() << "'schedule' suits a kernel that quantises the result, "
                     "which is the host's here, and is chosen anew: "
                  << asked.refused.front().text;
  return unasked;
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
    choices = listSchedulesAlone(op, target, expectedRows, choices);
  if (choices.legal.empty())
    choices = listSchedulesUnasked(op, target, expectedRows, choices);
  if (choices.legal.empty())
    return emitNoSchedule(op, choices.refused);
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
