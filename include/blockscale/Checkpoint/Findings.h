//===- Findings.h - what can be wrong with a checkpoint ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CHECKPOINT_FINDINGS_H
#define BLOCKSCALE_CHECKPOINT_FINDINGS_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace blockscale::checkpoint {

enum class Grade : uint8_t {
  /// True and easily got wrong.
  Note,
  /// Legal, and likely to be read wrongly by someone.
  Warning,
  /// Contradicts the convention, or itself.
  Error
};

enum class Rule : uint8_t {
  BlockShape,
  ByteAsNumber,
  Configuration,
  DefaultGlobalScale,
  ExponentBytes,
  FloorBlocks,
  GroupOrder,
  HalfScales,
  HighNibbleFirst,
  InterleavedRows,
  InverseName,
  LoneShard,
  MissingGlobalScale,
  MissingScales,
  MixedFamilies,
  NanScale,
  NegativeScale,
  NibbleOrder,
  NotPowerOfTwo,
  OrphanScale,
  ReciprocalGlobalScale,
  ReciprocalInputScale,
  ReciprocalScales,
  ScaleShape,
  ScaleType,
  TiledScales,
  TiledTwice,
  UnequalGlobalScales,
  Unreadable,
  ZeroPoints
};
inline constexpr unsigned kNumRules =
    static_cast<unsigned>(Rule::ZeroPoints) + 1;

struct RuleInfo {
  Rule rule;
  Grade grade;
  /// What reports and docs/checkpoints.md call it.
  std::string_view name;
};
/// In the order of the enum, which is that of the names.
inline constexpr std::array<RuleInfo, kNumRules> kRules{{
    {Rule::BlockShape, Grade::Error, "block-shape"},
    {Rule::ByteAsNumber, Grade::Error, "byte-as-number"},
    {Rule::Configuration, Grade::Error, "configuration"},
    {Rule::DefaultGlobalScale, Grade::Warning, "default-global-scale"},
    {Rule::ExponentBytes, Grade::Note, "exponent-bytes"},
    {Rule::FloorBlocks, Grade::Error, "floor-blocks"},
    {Rule::GroupOrder, Grade::Warning, "group-order"},
    {Rule::HalfScales, Grade::Error, "half-scales"},
    {Rule::HighNibbleFirst, Grade::Note, "high-nibble-first"},
    {Rule::InterleavedRows, Grade::Note, "interleaved-rows"},
    {Rule::InverseName, Grade::Note, "inverse-name"},
    {Rule::LoneShard, Grade::Warning, "lone-shard"},
    {Rule::MissingGlobalScale, Grade::Error, "missing-global-scale"},
    {Rule::MissingScales, Grade::Error, "missing-scales"},
    {Rule::MixedFamilies, Grade::Error, "mixed-families"},
    {Rule::NanScale, Grade::Error, "nan-scale"},
    {Rule::NegativeScale, Grade::Error, "negative-scale"},
    {Rule::NibbleOrder, Grade::Error, "nibble-order"},
    {Rule::NotPowerOfTwo, Grade::Error, "not-power-of-two"},
    {Rule::OrphanScale, Grade::Warning, "orphan-scale"},
    {Rule::ReciprocalGlobalScale, Grade::Error, "reciprocal-global-scale"},
    {Rule::ReciprocalInputScale, Grade::Error, "reciprocal-input-scale"},
    {Rule::ReciprocalScales, Grade::Error, "reciprocal-scales"},
    {Rule::ScaleShape, Grade::Error, "scale-shape"},
    {Rule::ScaleType, Grade::Error, "scale-type"},
    {Rule::TiledScales, Grade::Error, "tiled-scales"},
    {Rule::TiledTwice, Grade::Error, "tiled-twice"},
    {Rule::UnequalGlobalScales, Grade::Warning, "unequal-global-scales"},
    {Rule::Unreadable, Grade::Error, "unreadable"},
    {Rule::ZeroPoints, Grade::Warning, "zero-points"},
}};

constexpr const RuleInfo &ruleInfo(Rule rule) {
  return kRules[static_cast<unsigned>(rule)];
}

/// "note", "warning", "error".
std::string_view gradeName(Grade grade);

struct Finding {
  Rule rule;
  /// What was found, what the rule is, what would be legal.
  std::string text;
};

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_CHECKPOINT_FINDINGS_H
