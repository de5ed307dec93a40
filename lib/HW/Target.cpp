//===- Target.cpp - the chips we compile for ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Target.h"

#include "Capabilities.h"

#include <algorithm>
#include <array>

using namespace blockscale;
using namespace blockscale::hw;

namespace {

constexpr bool tcgen05(Chip chip) { return has(chip, &Capabilities::tcgen05); }

// Minimum PTX versions: found by probing ptxas 13.0 and, for sm_107, 13.5; the
// family targets of the last three rows follow their "a" target or PTX 8.8,
// whichever is newer. Shared memory per CTA: 227 KiB and 99 KiB, from the CUDA
// programming guide's table of compute capabilities; 110 and 121 as their
// larger relatives. sm_107 and its oversized mode, 327 KiB: the guide of
// CUDA 13.4; its 576 columns: PTX ISA 9.4 (docs/sources.md, [rubin]).
constexpr std::array kChips{
    ChipInfo{Chip::SM100, "sm_100", 86, 88, tcgen05(Chip::SM100), 232448,
             233472, 2048, 100, 0, 0, 512, 32},
    ChipInfo{Chip::SM103, "sm_103", 88, 88, tcgen05(Chip::SM103), 232448,
             233472, 2048, 100, 0, 0, 512, 32},
    ChipInfo{Chip::SM107, "sm_107", 94, 94, tcgen05(Chip::SM107), 232448,
             233472, 1024, 100, 334848, 335872, 576, 16},
    ChipInfo{Chip::SM110, "sm_110", 90, 90, tcgen05(Chip::SM110), 232448,
             233472, 2048, 110, 0, 0, 512, 32},
    ChipInfo{Chip::SM120, "sm_120", 87, 88, tcgen05(Chip::SM120), 101376,
             102400, 1536, 120, 0, 0, 0, 24},
    ChipInfo{Chip::SM121, "sm_121", 88, 88, tcgen05(Chip::SM121), 101376,
             102400, 1536, 120, 0, 0, 0, 24},
};

constexpr std::array kVariants{TargetVariant::ArchSpecific,
                               TargetVariant::Family, TargetVariant::Plain};

std::string_view letter(TargetVariant variant) {
  switch (variant) {
  case TargetVariant::Plain:
    return "";
  case TargetVariant::Family:
    return "f";
  case TargetVariant::ArchSpecific:
    return "a";
  }
  return "";
}

std::string inQuotes(Target target) { return "'" + targetName(target) + "'"; }

} // namespace

const ChipInfo &blockscale::hw::chipInfo(Chip chip) {
  return kChips[static_cast<size_t>(chip)];
}

const std::vector<Chip> &blockscale::hw::allChips() {
  static const std::vector<Chip> chips = [] {
    std::vector<Chip> result;
    for (const ChipInfo &info : kChips)
      result.push_back(info.chip);
    return result;
  }();
  return chips;
}

const std::vector<Target> &blockscale::hw::allTargets() {
  static const std::vector<Target> targets = [] {
    std::vector<Target> result;
    for (TargetVariant variant : kVariants)
      for (const ChipInfo &info : kChips)
        result.push_back({info.chip, variant});
    return result;
  }();
  return targets;
}

std::string blockscale::hw::targetName(Target target) {
  return std::string(chipInfo(target.chip).name) +
         std::string(letter(target.variant));
}

Result<Target> blockscale::hw::parseTarget(std::string_view name) {
  for (Target target : allTargets())
    if (targetName(target) == name)
      return target;
  std::string why =
      "unknown target '" + std::string(name) + "'; known targets:";
  const char *separator = " ";
  for (Target target : allTargets()) {
    if (target.variant == TargetVariant::Plain)
      continue;
    why += separator + targetName(target);
    separator = ", ";
  }
  return Reason(why);
}

std::optional<Reason> blockscale::hw::whyNotTarget(Target target) {
  if (target.variant != TargetVariant::Plain)
    return std::nullopt;
  return "target " + inQuotes(target) +
         " has no block-scaled matrix instruction: they are outside the "
         "instruction set that plain targets share with later chips; nearest "
         "legal target: " +
         inQuotes(archSpecific(target));
}

unsigned blockscale::hw::minPtxVersion(Target target) {
  const ChipInfo &info = chipInfo(target.chip);
  switch (target.variant) {
  case TargetVariant::Plain:
    return 0;
  case TargetVariant::Family:
    return info.minPtxFamily;
  case TargetVariant::ArchSpecific:
    return info.minPtxArchSpecific;
  }
  return 0;
}

bool blockscale::hw::hasTensorMemory(Target target) {
  return chipInfo(target.chip).hasTensorMemory;
}

unsigned blockscale::hw::mostTensorColumns() {
  unsigned most = 0;
  for (const ChipInfo &info : kChips)
    most = std::max(most, info.tensorMemoryColumns);
  return most;
}

bool blockscale::hw::runsOn(Target target, Chip chip) {
  switch (target.variant) {
  case TargetVariant::Plain:
    return target.chip <= chip;
  case TargetVariant::Family:
    return target.chip <= chip &&
           chipInfo(target.chip).family == chipInfo(chip).family;
  case TargetVariant::ArchSpecific:
    return target.chip == chip;
  }
  return false;
}

std::optional<Reason>
blockscale::hw::whyNotCluster(Target target, unsigned ctas, bool nonPortable) {
  if (ctas == 0)
    return "a cluster needs at least 1 CTA, found 0";
  unsigned limit = nonPortable ? kMaxCluster : kMaxPortableCluster;
  if (ctas <= limit)
    return std::nullopt;
  std::string reason = "a cluster of " + std::to_string(ctas) +
                       " CTAs does not fit on " + inQuotes(target) +
                       ": at most " + std::to_string(kMaxPortableCluster) +
                       " CTAs, " + std::to_string(kMaxCluster) +
                       " when the kernel asks for a non-portable size";
  return reason + "; nearest legal: " + std::to_string(limit);
}

unsigned blockscale::hw::mostSharedMemory(Chip chip) {
  const ChipInfo &info = chipInfo(chip);
  return std::max(info.sharedMemoryPerCta, info.oversizedSharedPerCta);
}

bool blockscale::hw::needsOversizedShared(Chip chip, uint64_t bytes) {
  const ChipInfo &info = chipInfo(chip);
  return info.oversizedSharedPerCta && bytes > info.sharedMemoryPerCta;
}

/// Where the two modes of shared memory stand.
static constexpr const char *kGuide = " (CUDA programming guide 13.4 [T])";

std::string blockscale::hw::whereSharedMemory(Target target, uint64_t bytes) {
  for (Chip chip : allChips())
    if (bytes > mostSharedMemory(target.chip) &&
        bytes <= mostSharedMemory(chip) && hasTensorMemory(target))
      return "; " + targetName({chip, target.variant}) + " has " +
             std::to_string(mostSharedMemory(chip)) + " in its oversized mode" +
             kGuide;
  return "";
}

std::optional<Reason> blockscale::hw::whyNotSharedMemory(Target target,
                                                         uint64_t bytes) {
  const ChipInfo &info = chipInfo(target.chip);
  if (bytes <= mostSharedMemory(target.chip))
    return std::nullopt;
  std::string text = std::to_string(bytes) +
                     " bytes of shared memory do not fit on " +
                     inQuotes(target) + ": at most " +
                     std::to_string(info.sharedMemoryPerCta) + " bytes per CTA";
  if (info.oversizedSharedPerCta)
    return text + ", " + std::to_string(info.oversizedSharedPerCta) +
           " if the launcher sets the oversized mode" + kGuide;
  return text + whereSharedMemory(target, bytes);
}
