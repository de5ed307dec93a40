//===- AccumulationRules.cpp - which instructions add, which overwrite ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::nki;

unsigned blockscale::nki::accumulateFlag(unsigned step, unsigned steps) {
  return (step == 0 ? kFlagFirst : 0) | (step + 1 == steps ? kFlagLast : 0);
}

namespace {

using Query = MatmulQuery;

AccumulateControl control(const Query &q) {
  return revisionInfo(q.target.revision).control;
}

std::string accumulateText(const Query &q) {
  std::string text;
  auto join = [&](const char *name, const std::string &value) {
    text += (text.empty() ? std::string(name) + " = " : ", ") + value;
  };
  for (unsigned flag : q.accumulateFlags)
    join("psum_accumulate_flag", number(flag));
  for (std::optional<bool> adds : q.accumulate)
    join("accumulate", !adds ? "None" : *adds ? "True" : "False");
  return text.empty() ? "no accumulation argument" : text;
}

bool isAccumulateFlag(unsigned flag) {
  return flag <= 4 || flag == (kFlagOntoExisting | kFlagLast);
}

/// What the instruction at `step` of those that write a tile must say.
unsigned groupFlag(const Query &q, size_t step) {
  unsigned flag = accumulateFlag(step, q.accumulateFlags.size());
  bool ontoExisting = q.accumulateFlags.front() & kFlagOntoExisting;
  return step == 0 && ontoExisting ? (flag & kFlagLast) | kFlagOntoExisting
                                   : flag;
}

/// The first instruction of several that breaks the group; none if they are
/// one. One alone may be of any group.
std::optional<size_t> groupBreak(const Query &q) {
  if (q.accumulateFlags.size() > 1)
    for (size_t i = 0; i < q.accumulateFlags.size(); ++i)
      if (q.accumulateFlags[i] != groupFlag(q, i))
        return i;
  if (q.accumulate.size() > 1)
    for (size_t i = 0; i < q.accumulate.size(); ++i)
      if (q.accumulate[i].value_or(i != 0) != (i != 0))
        return i;
  return std::nullopt;
}

std::string expectedGroup(const Query &q) {
  size_t step = groupBreak(q).value_or(0);
  std::string place =
      "instruction " + std::to_string(step + 1) + " of " +
      std::to_string(std::max(q.accumulateFlags.size(), q.accumulate.size()));
  if (!q.accumulateFlags.empty())
    return number(groupFlag(q, step)) + " for " + place +
           ": one opening instruction and a closing bit on the last";
  if (q.accumulate.empty())
    return "one opening instruction for each PSUM tile, and a closing one "
           "where there are flags";
  return step == 0 ? "False for " + place + ": nothing was written there before"
                   : "True for " + place + ": False drops the sum so far";
}

void repairGroup(Query &q) {
  for (size_t i = 0; i < q.accumulateFlags.size(); ++i)
    q.accumulateFlags[i] = groupFlag(q, i);
  for (size_t i = 0; i < q.accumulate.size(); ++i)
    q.accumulate[i] = i != 0;
}

/// Says in the words of the revision which instructions add.
void translateAccumulation(Query &q) {
  std::vector<bool> adds;
  for (size_t i = 0; i < q.accumulate.size(); ++i)
    adds.push_back(q.accumulate[i].value_or(i != 0));
  if (q.accumulate.empty())
    for (unsigned flag : q.accumulateFlags)
      adds.push_back(flag != kFlagFirst && flag != (kFlagFirst | kFlagLast));
  q.accumulateFlags.clear();
  q.accumulate.clear();
  for (bool add : adds) {
    if (control(q) == AccumulateControl::Flag)
      q.accumulateFlags.push_back(add ? 0 : kFlagFirst);
    if (control(q) == AccumulateControl::Argument)
      q.accumulate.push_back(add);
  }
}

} // namespace

Rule<MatmulQuery> blockscale::nki::accumulationArgumentRule() {
  return {"accumulation argument",
          kMatmulParameters,
          [](const Query &q) {
            return (q.accumulateFlags.empty() ||
                    control(q) == AccumulateControl::Flag) &&
                   (q.accumulate.empty() ||
                    control(q) == AccumulateControl::Argument);
          },
          accumulateText,
          [](const Query &q) {
            switch (control(q)) {
            case AccumulateControl::Flag:
              return std::string("'psum_accumulate_flag' or nothing");
            case AccumulateControl::Inferred:
              return std::string(
                  "nothing: the first write to a tile overwrites");
            case AccumulateControl::Argument:
              return std::string("'accumulate' or nothing");
            }
            return std::string();
          },
          translateAccumulation};
}

Rule<MatmulQuery> blockscale::nki::accumulateFlagRule() {
  return {"psum_accumulate_flag",
          kMatmulParameters,
          [](const Query &q) {
            return std::all_of(q.accumulateFlags.begin(),
                               q.accumulateFlags.end(), isAccumulateFlag);
          },
          accumulateText,
          [](const Query &) {
            return std::string("1 first, 0 middle, 2 last or 3 only "
                               "instruction of its group, or 4 first or 6 only "
                               "instruction onto what is there");
          },
          [](Query &q) {
            for (unsigned &flag : q.accumulateFlags)
              if (!isAccumulateFlag(flag))
                flag = flag % 2 ? flag % 4
                                : kFlagOntoExisting | (flag & kFlagLast);
          }};
}

Rule<MatmulQuery> blockscale::nki::accumulationGroupRule() {
  return {"accumulation group",
          kMatmulParameters,
          [](const Query &q) { return !groupBreak(q); },
          accumulateText,
          expectedGroup,
          repairGroup};
}
