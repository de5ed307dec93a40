//===- CheckNearest.cpp - the legal instruction next to a wish ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckInternal.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace blockscale;
using namespace blockscale::hw;

namespace {

// What a change costs. Only the order matters, and that no sum of small ones
// outweighs a bigger one that means something else to the user: other data,
// other scales, other sparsity, other instruction, other shape. An instruction
// without scales in place of one with them would lose all of them.
constexpr double kNoScalesCost = 4000;
constexpr double kTypeCost = 1000;
constexpr double kLossCost = 500;
constexpr double kScaleCost = 300;
constexpr double kBlockCost = 300;
constexpr double kSparseCost = 250;
constexpr double kKindCost = 120;
constexpr double kFamilyCost = 80;
constexpr double kMajorCost = 40;
constexpr double kCtaGroupCost = 20;
constexpr double kKCost = 12;
constexpr double kMCost = 12;
constexpr double kNCost = 4;
constexpr double kVariantCost = 3;
constexpr double kIdCost = 1;

/// Grows from 0 towards 1, so that a long way never costs another field.
double distance(double from, double to) {
  double gap = from < to ? to - from : from - to;
  return gap / (gap + 1024);
}

double numberCost(unsigned from, unsigned to, double cost) {
  return from == to ? 0 : cost + distance(from, to);
}

/// Whether every number of `type` is one of `other`.
bool isExactIn(OperandType type, OperandType other) {
  if (type == other)
    return true;
  if (!type.format() || !other.format() || type.bits() > 8)
    return false;
  for (unsigned code = 0; code < 1u << type.bits(); ++code) {
    float value = decode(*type.format(), code);
    if (std::isfinite(value) &&
        decode(*other.format(), encode(*other.format(), value)) != value)
      return false;
  }
  return true;
}

/// The member that holds all numbers of `type` in the fewest bits; if none
/// does, the one whose bits are the nearest.
OperandType closestType(OperandType type, const OperandTypeSet &set) {
  if (set.contains(type))
    return type;
  std::vector<OperandType> members = set.members();
  auto gap = [&](OperandType member) {
    return std::abs(int(member.bits()) - int(type.bits())) +
           (isExactIn(type, member) ? 0 : 1024);
  };
  return *std::min_element(
      members.begin(), members.end(),
      [&](OperandType x, OperandType y) { return gap(x) < gap(y); });
}

/// The member of `range` next to `n`, the larger of two.
unsigned closestN(unsigned n, const NRange &range) {
  if (n <= range.min)
    return range.min;
  if (n >= range.max)
    return range.max;
  unsigned below = n - (n - range.min) % range.step;
  return n - below >= range.step - (n - below) ? below + range.step : below;
}

unsigned closestId(unsigned id, unsigned mask) {
  unsigned best = 0;
  for (unsigned candidate = 0; candidate < 4; ++candidate)
    if ((mask >> candidate & 1) && candidate <= id)
      best = candidate;
  return best;
}

/// `query` changed as little as `row` on `target` demands.
MmaQuery fit(const MmaQuery &query, const MmaRow &row, Target target) {
  MmaQuery result = query;
  result.target = target;
  result.kind = row.kind;
  result.a = closestType(query.a, row.a);
  result.b = closestType(query.b, row.b);
  if (row.sameTypes && result.a != result.b) {
    if (result.a != query.a && result.b == query.b)
      result.a = result.b;
    else
      result.b = result.a;
  }
  result.scale = row.scale;
  result.block = row.block;
  result.sparse = row.sparse;
  result.k = row.k;
  result.ctaGroup = row.ctaGroup;
  result.m = row.m;
  if (!row.mnMajor.contains(result.a))
    result.aMajor = OperandMajor::K;
  if (!row.mnMajor.contains(result.b))
    result.bMajor = OperandMajor::K;
  result.n = closestN(query.n, nRange(row, result.b, result.bMajor));
  result.sfaId = closestId(query.sfaId, row.scaleIds);
  result.sfbId = closestId(query.sfbId, row.scaleIds);
  if (query.family)
    result.family = row.family;
  return result;
}

double costOf(const MmaQuery &from, const MmaQuery &to, uint32_t given) {
  double cost = 0;
  auto add = [&](uint32_t field, double amount) {
    if (given & field)
      cost += amount;
  };
  auto differ = [](bool differs, double amount) {
    return differs ? amount : 0.0;
  };
  add(FieldFamily, differ(from.family != to.family, kFamilyCost));
  add(FieldKind, differ(from.kind != to.kind, kKindCost));
  add(FieldKind, differ(isBlockScaled(from.kind) && !isBlockScaled(to.kind),
                        kNoScalesCost));
  auto typeCost = [&](OperandType before, OperandType after) {
    return differ(before != after, kTypeCost) +
           differ(!isExactIn(before, after), kLossCost) +
           distance(before.bits(), after.bits());
  };
  add(FieldA, typeCost(from.a, to.a));
  add(FieldB, typeCost(from.b, to.b));
  add(FieldScale, differ(from.scale != to.scale, kScaleCost));
  add(FieldBlock, numberCost(from.block, to.block, kBlockCost));
  add(FieldSparse, differ(from.sparse != to.sparse, kSparseCost));
  add(FieldK, numberCost(from.k, to.k, kKCost));
  add(FieldCtaGroup, numberCost(from.ctaGroup, to.ctaGroup, kCtaGroupCost));
  add(FieldM, numberCost(from.m, to.m, kMCost));
  add(FieldN, numberCost(from.n, to.n, kNCost));
  add(FieldAMajor, differ(from.aMajor != to.aMajor, kMajorCost));
  add(FieldBMajor, differ(from.bMajor != to.bMajor, kMajorCost));
  add(FieldSfaId, numberCost(from.sfaId, to.sfaId, kIdCost));
  add(FieldSfbId, numberCost(from.sfbId, to.sfbId, kIdCost));
  return cost + differ(from.target != to.target, kVariantCost);
}

/// The best fit so far and what it costs.
struct Candidate {
  std::optional<MmaQuery> query;
  double cost = 0;

  void offer(const MmaQuery &from, const MmaQuery &to, uint32_t given) {
    double newCost = costOf(from, to, given);
    if (query && newCost >= cost)
      return;
    query = to;
    cost = newCost;
  }
};

/// Rows from which an incomplete query is filled: those of its kind, on its
/// target if there are any.
std::vector<const MmaRow *> rowsToComplete(const MmaQuery &query,
                                           uint32_t given) {
  std::vector<const MmaRow *> onTarget, anywhere;
  for (const MmaRow &row : allRows()) {
    if ((given & FieldKind) && row.kind != query.kind)
      continue;
    anywhere.push_back(&row);
    if (row.targets.contains(archSpecific(query.target)))
      onTarget.push_back(&row);
  }
  return onTarget.empty() ? anywhere : onTarget;
}

} // namespace

std::optional<MmaQuery> blockscale::hw::nearestLegal(const MmaQuery &query) {
  std::vector<Target> targets{query.target};
  if (archSpecific(query.target) != query.target)
    targets.push_back(archSpecific(query.target));
  Candidate best;
  for (Target target : targets)
    for (const MmaRow *row : rowsFor(target))
      best.offer(query, fit(query, *row, target), AllFields);
  return best.query;
}

MmaQuery blockscale::hw::completeQuery(const MmaQuery &query, uint32_t given) {
  Candidate best;
  for (const MmaRow *row : rowsToComplete(query, given))
    best.offer(query, fit(query, *row, query.target), given);
  MmaQuery result = query;
  if (!best.query)
    return result;
  auto fill = [&](uint32_t field, auto member) {
    if (!(given & field))
      result.*member = (*best.query).*member;
  };
  fill(FieldKind, &MmaQuery::kind);
  fill(FieldA, &MmaQuery::a);
  fill(FieldB, &MmaQuery::b);
  fill(FieldScale, &MmaQuery::scale);
  fill(FieldBlock, &MmaQuery::block);
  fill(FieldK, &MmaQuery::k);
  fill(FieldCtaGroup, &MmaQuery::ctaGroup);
  fill(FieldM, &MmaQuery::m);
  fill(FieldN, &MmaQuery::n);
  return result;
}

std::string blockscale::hw::describeChange(const MmaQuery &from,
                                           const MmaQuery &to) {
  std::string text;
  auto note = [&](bool differs, const std::string &words) {
    if (differs)
      text += (text.empty() ? "" : ", ") + words;
  };
  auto number = [&](const char *name, unsigned before, unsigned after) {
    note(before != after, std::string(name) + " = " + std::to_string(after));
  };
  auto major = [](const char *name, OperandMajor value, const char *mn) {
    return std::string(value == OperandMajor::K ? "K-major " : mn) + name;
  };
  note(from.target != to.target, "target = " + targetName(to.target));
  note(from.family != to.family && to.family,
       std::string(familyName(to.family.value_or(MmaFamily::Tcgen05))));
  note(from.kind != to.kind, "kind = " + std::string(kindName(to.kind)));
  note(from.a != to.a, "A = " + to.a.name());
  note(from.b != to.b, "B = " + to.b.name());
  note(from.scale != to.scale,
       to.scale ? "scale = " + std::string(formatName(*to.scale)) : "no scale");
  if (to.block)
    number("block", from.block, to.block);
  note(from.sparse != to.sparse, to.sparse ? "sparse A" : "dense A");
  number("cta_group", from.ctaGroup, to.ctaGroup);
  number("M", from.m, to.m);
  number("N", from.n, to.n);
  number("K", from.k, to.k);
  note(from.aMajor != to.aMajor, major("A", to.aMajor, "M-major "));
  note(from.bMajor != to.bMajor, major("B", to.bMajor, "N-major "));
  number("SFA_ID", from.sfaId, to.sfaId);
  number("SFB_ID", from.sfbId, to.sfbId);
  return text;
}
