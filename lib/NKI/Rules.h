//===- Rules.h - rules as data and how they are asked -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_NKI_RULES_H
#define BLOCKSCALE_LIB_NKI_RULES_H

#include "blockscale/NKI/Legality.h"

namespace blockscale::nki {

/// One demand of the documents on an instruction.
template <typename Query> struct Rule {
  /// What it is about, for the table.
  std::string_view what;
  /// Document and section.
  std::string_view source;
  bool (*holds)(const Query &query);
  /// What the rule looks at, with its value: "M = 127".
  std::string (*value)(const Query &query);
  /// The legal values.
  std::string (*expected)(const Query &query);
  /// Changes as little as makes the rule hold.
  void (*repair)(Query &query);
};

/// The rules of each instruction, in the order in which a person would want
/// them checked.
const std::vector<Rule<MatmulQuery>> &matmulRules();
const std::vector<Rule<QuantizeQuery>> &quantizeRules();

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
  for (const Rule<Query> &rule : rulesFor(from))
    if (rule.value(from) != rule.value(to))
      changes.push_back(rule.value(to));
  return joinDistinct(changes);
}

template <typename Query>
std::optional<std::string> firstBroken(const Query &query) {
  if (std::optional<std::string> reason = whyNotTarget(query.target))
    return reason;
  for (const Rule<Query> &rule : rulesFor(query))
    if (!rule.holds(query))
      return rule.value(query) + " is not legal for '" +
             std::string(instructionName(query)) + "' on '" +
             targetName(query.target) + "': expected " + rule.expected(query) +
             " (" + std::string(rule.source) +
             "); nearest legal: " + describeChange(query, mended(query));
  return std::nullopt;
}

/// "a, b or c", each in single quotes.
std::string quotedList(const std::vector<std::string_view> &names);

// Words that both instructions need.
inline std::string number(unsigned value) { return std::to_string(value); }
inline bool isScaleOffset(unsigned offset) {
  return offset % 4 == 0 && offset <= 12;
}
inline bool isPartitionCount(unsigned partitions) {
  return partitions % kQuadrant == 0 && partitions >= kQuadrant &&
         partitions <= kPartitions;
}
unsigned nearestPartitionCount(unsigned partitions);
unsigned nearestScaleOffset(unsigned offset);

// Documents, as the rules cite them.
inline constexpr std::string_view kMatmulTypes =
    "NKI API reference, nki.isa.nc_matmul_mx, Data types";
inline constexpr std::string_view kMatmulMemory =
    "NKI API reference, nki.isa.nc_matmul_mx, Memory types";
inline constexpr std::string_view kMatmulSize =
    "NKI API reference, nki.isa.nc_matmul_mx, Tile size";
inline constexpr std::string_view kMatmulTiling =
    "NKI API reference, nki.isa.nc_matmul_mx, Tiling mode";
inline constexpr std::string_view kMatmulParameters =
    "NKI API reference, nki.isa.nc_matmul_mx, Parameters";
inline constexpr std::string_view kMatmulGroup =
    "NKI API reference, nki.isa.nc_matmul_mx, introduction";
inline constexpr std::string_view kQuantizeTypes =
    "NKI API reference, nki.isa.quantize_mx, Data types";
inline constexpr std::string_view kQuantizeMemory =
    "NKI API reference, nki.isa.quantize_mx, Memory types";
inline constexpr std::string_view kQuantizeSize =
    "NKI API reference, nki.isa.quantize_mx, Tile size";
inline constexpr std::string_view kQuantizeLayout =
    "NKI API reference, nki.isa.quantize_mx, Layout";
inline constexpr std::string_view kScaleTensor =
    "MXFP Matrix Multiplication with NKI, Scale Tensor";
inline constexpr std::string_view kQuadrants =
    "Trainium3 Architecture Guide for NKI, scales by SBUF quadrant";

} // namespace blockscale::nki

#endif // BLOCKSCALE_LIB_NKI_RULES_H
