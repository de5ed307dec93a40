//===- DispatchRows.cpp - kernels of one product for few rows -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A server decodes some rows and prefills thousands with the same weights; one
// tile does not suit both. Where the kernels change is found by the model that
// schedules are chosen by: every way to cut a ladder of row counts is tried.

#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Dialect/Blockscale/Transforms/ScheduleChoices.h"
#include "blockscale/HW/Mma.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <map>

namespace blockscale {
#define GEN_PASS_DEF_DISPATCHROWS
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

/// Numbers of rows at which kernels are compared, and may change.
static constexpr int64_t kLadder[] = {1, 16, 32, 64, 128, 256, 512, 1024, 4096};

/// Kernels beside the one for any number of rows: decoding and what lies
/// between it and a long prompt.
static constexpr size_t kMostVariants = 2;

/// By how much all rows of the ladder must gain on average for one kernel more.
static constexpr double kGain = 0.02;

namespace {
/// A kernel for up to `mostRows`, and how long it takes over the ladder: the
/// sum of logarithms, so that each row count weighs alike.
struct Candidate {
  ScheduleChoice choice;
  double cost;
};

/// What there is to launch, and the cost of all of it.
struct Cut {
  SmallVector<VariantAttr> variants;
  double cost = 0;
};

/// Finds the kernels of one product.
class Cutter {
public:
  Cutter(MatmulOp op, hw::Target target, int64_t expectedRows)
      : op(op), target(target), expectedRows(expectedRows) {}

  /// The best way to have `count` kernels for few rows, if there are so many.
  std::optional<Cut> cut(size_t count);
  /// The kernel for `above` < rows <= `mostRows`; the reason why there is none.
  Result<VariantAttr> variant(int64_t above, int64_t mostRows);

private:
  const ScheduleChoices &choicesAt(int64_t rows, int64_t mostRows);
  const ScheduleChoice *whole();
  std::optional<Candidate> candidate(ArrayRef<int64_t> rows, int64_t mostRows);
  double costAbove(size_t first);
  void extend(size_t first, size_t count, Cut made, std::optional<Cut> &best);
  VariantAttr variantOf(const ScheduleChoice &choice, int64_t mostRows);

  MatmulOp op;
  hw::Target target;
  int64_t expectedRows;
  std::map<std::pair<int64_t, int64_t>, ScheduleChoices> known;
};

struct DispatchRows : blockscale::impl::DispatchRowsBase<DispatchRows> {
  using DispatchRowsBase::DispatchRowsBase;
  void runOnOperation() override;

private:
  LogicalResult dispatch(MatmulOp op, ArrayRef<int64_t> limits);
};
} // namespace

//===----------------------------------------------------------------------===//
// Kernels for some rows
//===----------------------------------------------------------------------===//

/// Whether operands of less than 8 bits lie packed in memory.
static bool readsPacked(MmaAttr mma) {
  return hw::readsPacked(mma.getKind(), mma.getK(), mma.getSparse());
}

const ScheduleChoices &Cutter::choicesAt(int64_t rows, int64_t mostRows) {
  auto [place, isNew] = known.try_emplace({rows, mostRows});
  if (!isNew)
    return place->second;
  ScheduleChoices choices = listScheduleChoices(op, target, rows, mostRows);
  // Whoever packs an operand does not know how many rows the other will have.
  const ScheduleChoice *other = mostRows ? whole() : nullptr;
  if (other)
    llvm::erase_if(choices.legal, [&](const ScheduleChoice &each) {
      return readsPacked(each.mma) != readsPacked(other->mma);
    });
  return place->second = std::move(choices);
}

/// What `blockscale-select-schedule` will choose for any number of rows; null
/// if it will find nothing.
const ScheduleChoice *Cutter::whole() {
  const ScheduleChoices &choices = choicesAt(expectedRows, 0);
  return choices.legal.empty() ? nullptr : &choices.legal.front();
}

static const ScheduleChoice *findChoice(const ScheduleChoices &choices,
                                        const ScheduleChoice &wanted) {
  auto found = llvm::find_if(choices.legal, [&](const ScheduleChoice &each) {
    return each.mma == wanted.mma && each.schedule == wanted.schedule;
  });
  return found == choices.legal.end() ? nullptr : &*found;
}

/// The schedule that does best over `rows`, of those that are best somewhere.
std::optional<Candidate> Cutter::candidate(ArrayRef<int64_t> rows,
                                           int64_t mostRows) {
  std::optional<Candidate> best;
  for (int64_t where : rows) {
    const ScheduleChoices &there = choicesAt(where, mostRows);
    if (there.legal.empty())
      return std::nullopt;
    Candidate candidate{there.legal.front(), 0};
    for (int64_t each : rows) {
      const ScheduleChoice *same =
          findChoice(choicesAt(each, mostRows), candidate.choice);
      candidate.cost += same ? std::log(same->microseconds) : HUGE_VAL;
    }
    if (!best || candidate.cost < best->cost)
      best = candidate;
  }
  return best;
}

/// What the kernel for any number of rows costs from step `first` of the ladder
/// on.
double Cutter::costAbove(size_t first) {
  const ScheduleChoice *taken = whole();
  double cost = 0;
  for (int64_t rows : ArrayRef(kLadder).drop_front(first)) {
    const ScheduleChoice *same =
        taken ? findChoice(choicesAt(rows, 0), *taken) : nullptr;
    cost += same ? std::log(same->microseconds) : HUGE_VAL;
  }
  return cost;
}

VariantAttr Cutter::variantOf(const ScheduleChoice &choice, int64_t mostRows) {
  return VariantAttr::get(op.getContext(), mostRows, choice.mma,
                          choice.schedule);
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

/// Tries all ways to have `count` more kernels from step `first` on.
void Cutter::extend(size_t first, size_t count, Cut made,
                    std::optional<Cut> &best) {
  ArrayRef<int64_t> ladder(kLadder);
  if (count == 0) {
    made.cost += costAbove(first);
    if (!best || made.cost < best->cost)
      best = std::move(made);
    return;
  }
  for (size_t end = first + 1; end < ladder.size(); ++end) {
    int64_t mostRows = ladder[end - 1];
    auto found = candidate(ladder.slice(first, end - first), mostRows);
    if (!found)
      continue;
    Cut longer = made;
    longer.cost += found->cost;
    longer.variants.push_back(variantOf(found->choice, mostRows));
    extend(end, count - 1, std::move(longer), best);
  }
}

std::optional<Cut> Cutter::cut(size_t count) {
  std::optional<Cut> best;
  extend(0, count, Cut(), best);
  return best;
}

Result<VariantAttr> Cutter::variant(int64_t above, int64_t mostRows) {
  SmallVector<int64_t> rows;
  for (int64_t each : kLadder)
    if (above < each && each < mostRows)
      rows.push_back(each);
  rows.push_back(mostRows);
  if (auto found = candidate(rows, mostRows))
    return variantOf(found->choice, mostRows);
  const ScheduleChoices &there = choicesAt(mostRows, mostRows);
  if (there.refused.empty())
    return Reason("none that reads operands as the one for any number of rows");
  return there.refused.front();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The cut with so many kernels that one more gains too little.
static SmallVector<VariantAttr> bestVariants(Cutter &cutter) {
  std::optional<Cut> best = cutter.cut(0);
  for (size_t count = 1; best && count <= kMostVariants; ++count) {
    std::optional<Cut> longer = cutter.cut(count);
    if (!longer || longer->cost > best->cost - kGain * std::size(kLadder))
      break;
    best = longer;
  }
  return best ? best->variants : SmallVector<VariantAttr>();
}

LogicalResult DispatchRows::dispatch(MatmulOp op, ArrayRef<int64_t> limits) {
  bool isFree = !op->hasAttr(VariantAttr::arrayName) && !op.isScheduled();
  if (!isFree || !ShapedType::isDynamic(op.getSizes().m))
    return success();
  if (!getMma(op))
    return op.emitOpError() << "has no 'mma' attribute; run "
                               "'blockscale-legalize-scales' first";
  Cutter cutter(op, getTarget(op), expectedRows);
  SmallVector<VariantAttr> variants;
  if (limits.empty())
    variants = bestVariants(cutter);
  int64_t above = 0;
  for (int64_t limit : limits) {
    Result<VariantAttr> variant = cutter.variant(above, limit);
    if (!variant)
      return op.emitOpError() << "has no legal schedule for up to " << limit
                              << " rows: " << variant.why().text;
    variants.push_back(*variant);
    above = limit;
  }
  if (!variants.empty())
    op->setAttr(
        VariantAttr::arrayName,
        ArrayAttr::get(&getContext(), SmallVector<Attribute>(variants.begin(),
                                                             variants.end())));
  return success();
}

Result<std::vector<int64_t>> blockscale::parseDispatchRows(StringRef text) {
  std::vector<int64_t> limits;
  if (text == "auto")
    return limits;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    int64_t rows = 0;
    if (part.getAsInteger(10, rows) || rows < 1 || rows >= kMaxProductSize ||
        (!limits.empty() && rows <= limits.back()))
      return Reason("rows to dispatch by are 'auto', or numbers from 1 on, "
                    "ascending and separated by commas, such as '16,512'; "
                    "found '" +
                    text.str() + "'");
    limits.push_back(rows);
  }
  return limits;
}

void DispatchRows::runOnOperation() {
  Result<std::vector<int64_t>> limits = parseDispatchRows(rows);
  if (!limits || expectedRows < 1) {
    emitError(getOperation()->getLoc())
        << (limits ? "expected rows are at least 1, found " +
                         std::to_string(expectedRows)
                   : limits.why().text);
    return signalPassFailure();
  }
  auto result = getOperation()->walk(
      [&](MatmulOp op) { return WalkResult(dispatch(op, *limits)); });
  if (result.wasInterrupted())
    signalPassFailure();
}
