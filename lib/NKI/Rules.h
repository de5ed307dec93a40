//===- Rules.h - rules as data and how they are asked -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_NKI_RULES_H
#define BLOCKSCALE_LIB_NKI_RULES_H

#include "blockscale/NKI/Documents.h"
#include "blockscale/NKI/Legality.h"

#include <algorithm>
#include <functional>

namespace blockscale::nki {

/// One demand of the documents on an instruction.
template <typename Query> struct Rule {
  /// What it is about, for the table.
  std::string_view what;
  /// Document and section.
  std::string_view source;
  std::function<bool(const Query &query)> holds;
  /// What the rule looks at, with its value: "M = 127". Empty where the query
  /// leaves it to the rest.
  std::function<std::string(const Query &query)> value;
  /// The legal values.
  std::function<std::string(const Query &query)> expected;
  /// Changes as little as makes the rule hold.
  std::function<void(Query &query)> repair;
};

/// The rules of each instruction, in the order in which a person would want
/// them checked.
const std::vector<Rule<MatmulQuery>> &matmulRules();
const std::vector<Rule<QuantizeQuery>> &quantizeRules();

// Those of nc_matmul_mx that are about who adds to a PSUM tile.
Rule<MatmulQuery> accumulationArgumentRule();
Rule<MatmulQuery> accumulateFlagRule();
Rule<MatmulQuery> accumulationGroupRule();

inline const std::vector<Rule<MatmulQuery>> &rulesFor(const MatmulQuery &) {
  return matmulRules();
}
inline const std::vector<Rule<QuantizeQuery>> &rulesFor(const QuantizeQuery &) {
  return quantizeRules();
}
inline std::string_view instructionName(const MatmulQuery &) {
  return "nc_matmul_mx";
}
inline std::string_view instructionName(const QuantizeQuery &) {
  return "quantize_mx";
}

/// `query` with each broken rule mended in turn. A repair never breaks a rule
/// that stands before its own.
template <typename Query> Query mended(Query query) {
  for (const Rule<Query> &rule : rulesFor(query))
    if (!rule.holds(query))
      rule.repair(query);
  return query;
}

/// The words joined by commas, without those that others hold.
std::string joinDistinct(const std::vector<std::string> &words);

/// What of `to` differs from `from`, in the words of the rules.
template <typename Query>
std::string describeChange(const Query &from, const Query &to) {
  std::vector<std::string> changes;
  for (const Rule<Query> &rule : rulesFor(from)) {
    std::string value = rule.value(to);
    if (rule.value(from) != value &&
        std::find(changes.begin(), changes.end(), value) == changes.end())
      changes.push_back(value);
  }
  return joinDistinct(changes);
}

template <typename Query>
std::optional<Reason> firstBroken(const Query &query) {
  if (std::optional<Reason> reason = whyNotTarget(query.target))
    return reason;
  for (const Rule<Query> &rule : rulesFor(query))
    if (!rule.holds(query))
      return rule.value(query) + " is not legal for '" +
             std::string(instructionName(query)) + "' on '" +
             targetName(query.target) + "': expected " + rule.expected(query) +
             cite(rule.source) +
             "; nearest legal: " + describeChange(query, mended(query));
  return std::nullopt;
}

/// "a, b or c", each in single quotes.
std::string quotedList(const std::vector<std::string_view> &names);

// Words that both instructions need.
inline std::string number(unsigned value) { return std::to_string(value); }
inline bool isScaleOffset(int offset) {
  return offset >= 0 && offset % 4 == 0 && offset <= 12;
}
inline bool isPartitionCount(unsigned partitions) {
  return partitions % kQuadrant == 0 && partitions >= kQuadrant &&
         partitions <= kPartitions;
}
unsigned nearestPartitionCount(unsigned partitions);
int nearestScaleOffset(int offset);

} // namespace blockscale::nki

#endif // BLOCKSCALE_LIB_NKI_RULES_H
