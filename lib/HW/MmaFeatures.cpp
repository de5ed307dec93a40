//===- MmaFeatures.cpp - what each target has besides MMA rows ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Mma.h"

#include <array>

using namespace blockscale::hw;

namespace {

struct FeatureRow {
  Feature feature;
  std::string_view name;
  TargetSet targets;
};

constexpr TargetVariant kA = TargetVariant::ArchSpecific;
constexpr TargetVariant kF = TargetVariant::Family;

constexpr TargetSet k100a{Target{Chip::SM100, kA}};
constexpr TargetSet k103a{Target{Chip::SM103, kA}};
constexpr TargetSet k110a{Target{Chip::SM110, kA}};
constexpr TargetSet k100f{Target{Chip::SM100, kF}};
constexpr TargetSet k103f{Target{Chip::SM103, kF}};
constexpr TargetSet k110f{Target{Chip::SM110, kF}};
constexpr TargetSet kWarpArch{Target{Chip::SM120, kA}, Target{Chip::SM121, kA}};
constexpr TargetSet kWarp =
    kWarpArch | TargetSet{Target{Chip::SM120, kF}, Target{Chip::SM121, kF}};
constexpr TargetSet kTcgenArch = k100a | k103a | k110a;
constexpr TargetSet kTcgen = kTcgenArch | k100f | k103f | k110f;
constexpr TargetSet kAll = kTcgen | kWarp;

// Tried with ptxas 13.0 (docs/sources.md, [ptxas]); sub-byte TMA: PTX
// ISA 5.5.1; the absolute leading offset: PTX ISA 9.7.16.3.1.2. sm_110f and
// sm_121f follow sm_100f and sm_120f.
constexpr std::array kFeatures{
    FeatureRow{Feature::Tcgen05, "tcgen05", kTcgen},
    FeatureRow{Feature::Tcgen05ScaleVector, "tcgen05.mma .scale_vec",
               kTcgenArch},
    FeatureRow{Feature::Tcgen05Shift, "tcgen05.shift", kTcgenArch},
    FeatureRow{Feature::Tcgen05LoadReduce, "tcgen05.ld.red",
               k103a | k110a | k103f},
    FeatureRow{Feature::TmaCtaGroup2, "cp.async.bulk.tensor .cta_group::2",
               kTcgen},
    FeatureRow{Feature::TmaSubByteToCluster,
               "cp.async.bulk.tensor of padded 4- and 6-bit elements to "
               ".shared::cluster",
               kTcgen},
    FeatureRow{Feature::AbsoluteLeadingOffset,
               "shared-memory descriptor with an absolute leading offset",
               k103a},
    FeatureRow{Feature::MmaSyncF8, "mma.sync kind::f8f6f4 with 8-bit elements",
               kAll},
    FeatureRow{Feature::MmaSyncF6F4,
               "mma.sync kind::f8f6f4 with 4- or 6-bit elements", kWarp},
    FeatureRow{Feature::MmaSyncBlockScale, "mma.sync .block_scale", kWarp},
    FeatureRow{Feature::MmaSyncSparseMxf8f6f4,
               "mma.sp::ordered_metadata kind::mxf8f6f4", kWarp},
    FeatureRow{Feature::MmaSyncSparseFp4,
               "mma.sp::ordered_metadata kind::mxf4 and kind::mxf4nvf4",
               kWarpArch},
    FeatureRow{Feature::LdmatrixSubByte,
               "ldmatrix and stmatrix of 8-, 6- and 4-bit elements", kAll},
    FeatureRow{Feature::NarrowConvert,
               "cvt to and from 4-, 6- and 8-bit floats", kAll},
    FeatureRow{Feature::StochasticConvert, "cvt.rs", k100a | k103a},
    FeatureRow{Feature::ReduxF32, "redux.sync on f32",
               k100a | k103a | k100f | k103f},
    FeatureRow{Feature::PackedF32, "f32x2 arithmetic", kAll},
    FeatureRow{Feature::ClusterLaunchControl, "clusterlaunchcontrol.try_cancel",
               kAll},
};

const FeatureRow &rowOf(Feature feature) {
  return kFeatures[static_cast<size_t>(feature)];
}

} // namespace

std::string_view blockscale::hw::featureName(Feature feature) {
  return rowOf(feature).name;
}

const std::vector<Feature> &blockscale::hw::allFeatures() {
  static const std::vector<Feature> features = [] {
    std::vector<Feature> result;
    for (const FeatureRow &row : kFeatures)
      result.push_back(row.feature);
    return result;
  }();
  return features;
}

bool blockscale::hw::isAvailable(Feature feature, Target target) {
  return rowOf(feature).targets.contains(target);
}

std::optional<std::string> blockscale::hw::whyNotFeature(Feature feature,
                                                         Target target) {
  const FeatureRow &row = rowOf(feature);
  if (row.targets.contains(target))
    return std::nullopt;
  return "'" + std::string(row.name) + "' does not exist on '" +
         targetName(target) + "'; it exists on " + row.targets.names();
}
