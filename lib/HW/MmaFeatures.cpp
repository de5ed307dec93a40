//===- MmaFeatures.cpp - what each target has besides MMA rows ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capabilities.h"

#include <array>

using namespace blockscale;
using namespace blockscale::hw;

namespace {

struct FeatureRow {
  Feature feature;
  std::string_view name;
  TargetSet targets;
};

constexpr TargetSet kTcgenArch = archTargets(&Capabilities::tcgen05);
constexpr TargetSet kTcgen = targetsWith(&Capabilities::tcgen05);
constexpr TargetSet kWarpArch = archTargetsWithoutTcgen05();
constexpr TargetSet kWarp = targetsWithoutTcgen05();
constexpr TargetSet kAll = kTcgen | kWarp;

constexpr TargetSet k94 = targetsWith(&Capabilities::ptx94);
constexpr TargetSet k94Arch = archTargets(&Capabilities::ptx94);

// Tried with ptxas 13.0 and, for PTX 9.4, 13.5 (docs/sources.md, [ptxas]); what
// is of descriptors alone, PTX ISA 9.4, and of shared memory, the CUDA
// programming guide 13.4 (the same, [rubin]). Sub-byte TMA: PTX
// ISA 5.5.1; the absolute leading offset: PTX ISA 9.7.16.3.1.2. sm_110f and
// sm_121f follow sm_100f and sm_120f.
constexpr std::array kFeatures{
    FeatureRow{Feature::Tcgen05, "tcgen05", kTcgen},
    FeatureRow{Feature::Tcgen05ScaleVector, "tcgen05.mma .scale_vec",
               kTcgenArch},
    FeatureRow{Feature::Tcgen05Shift, "tcgen05.shift", kTcgenArch},
    FeatureRow{Feature::Tcgen05LoadReduce, "tcgen05.ld.red",
               archTargets(&Capabilities::loadReduce) |
                   familyTargets(&Capabilities::loadReduceFamily)},
    FeatureRow{Feature::TmaCtaGroup2, "cp.async.bulk.tensor .cta_group::2",
               kTcgen},
    FeatureRow{Feature::TmaSubByteToCluster,
               "cp.async.bulk.tensor of padded 4- and 6-bit elements to "
               ".shared::cluster",
               kTcgen},
    FeatureRow{Feature::AbsoluteLeadingOffset,
               "shared-memory descriptor with an absolute leading offset",
               archTargets(&Capabilities::k96)},
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
    FeatureRow{Feature::StochasticConvert, "cvt.rs",
               archTargets(&Capabilities::stochasticConvert)},
    FeatureRow{Feature::ReduxF32, "redux.sync on f32",
               targetsWith(&Capabilities::reduxF32)},
    FeatureRow{Feature::PackedF32, "f32x2 arithmetic", kAll},
    FeatureRow{Feature::ClusterLaunchControl, "clusterlaunchcontrol.try_cancel",
               kAll},
    FeatureRow{Feature::TensorAllocExclusive, "tcgen05.alloc.exclusive",
               kTcgen},
    FeatureRow{Feature::RowPerLaneScales,
               "scales of A with one row to a lane (descriptor bit 26)",
               targetsWith(&Capabilities::wideK)},
    FeatureRow{Feature::CollectorB, "tcgen05.mma .collector::b", k94},
    FeatureRow{Feature::CommitReadOfA,
               "tcgen05.commit .sync_restrict::shared::read::mma::a", k94},
    FeatureRow{Feature::Multicast32, ".multicast::cluster::32b", k94},
    FeatureRow{Feature::TensorMapOverride, "cp.async.bulk.tensor .override",
               k94},
    FeatureRow{Feature::Ue5m3Convert,
               "cvt of ue5m3, and .rz and .scaled::n1 of narrow floats", k94},
    FeatureRow{Feature::LutB, "tcgen05.mma .decompress::lut::b", k94},
    FeatureRow{Feature::KindTi16, "tcgen05.mma kind::ti16", k94},
    FeatureRow{Feature::LoadCompressed, "tcgen05.ld.spcompress", k94Arch},
    FeatureRow{Feature::OversizedShared, "shared memory of 327 KiB", k94},
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

std::optional<Reason> blockscale::hw::whyNotFeature(Feature feature,
                                                    Target target) {
  const FeatureRow &row = rowOf(feature);
  if (row.targets.contains(target))
    return std::nullopt;
  return "'" + std::string(row.name) + "' does not exist on '" +
         targetName(target) + "'; it exists on " + row.targets.names();
}
