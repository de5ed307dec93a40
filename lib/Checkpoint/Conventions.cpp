//===- Conventions.cpp - how families write what they name ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conventions.h"
#include "blockscale/Checkpoint/Pack.h"

#include <cassert>

using namespace blockscale;
using namespace blockscale::checkpoint;

namespace {
struct FormatName {
  FormatBit bit;
  std::string_view name;
};
} // namespace

static constexpr FormatName kFormatNames[] = {
    {kNvfp4, "nvfp4"},
    {kMxfp8, "mxfp8"},
    {kMxfp8E5m2, "mxfp8-e5m2"},
    {kMxfp6E2m3, "mxfp6-e2m3"},
    {kMxfp6E3m2, "mxfp6-e3m2"},
    {kMxfp4, "mxfp4"},
    {kFp8Blocks, kFp8BlocksName},
    {kFp8BlocksUe8m0, kFp8BlocksUe8m0Name}};

static constexpr Convention kConventions[] = {
    {Family::ModelOpt,
     {".weight", ".weight", ".weight_scale", ".weight_scale_2", ".input_scale",
      ".weight_metadata", ""},
     kNvfp4 | kMxfp8 | kMxfp8E5m2 | kMxfp6E2m3 | kMxfp6E3m2 | kMxfp4},
    {Family::CompressedTensors,
     {".weight", ".weight_packed", ".weight_scale", ".weight_global_scale",
      ".input_global_scale", ".weight_metadata", ""},
     kNvfp4 | kMxfp8 | kMxfp8E5m2 | kMxfp6E2m3 | kMxfp4 | kFp8Blocks |
         kFp8BlocksUe8m0,
     DType::U8,
     /*divides=*/true},
    // The input's scale has a name of ours: torchao keeps none.
    {Family::Torchao,
     {"._weight_qdata", "._weight_qdata", "._weight_scale",
      "._weight_per_tensor_scale", "._weight_act_per_tensor_scale",
      "._weight_metadata", ""},
     kNvfp4 | kMxfp8 | kMxfp8E5m2 | kMxfp4,
     DType::F8E8M0},
    {Family::GptOss,
     {"", "_blocks", "_scales", "", "", "_metadata", ""},
     kMxfp4,
     DType::U8,
     /*divides=*/false,
     /*isTiled=*/false,
     /*highNibbleFirst=*/false,
     /*splitsBlocks=*/true},
    {Family::GptOssOriginal,
     {"", ".blocks", ".scales", "", "", ".metadata", ""},
     kMxfp4,
     DType::U8,
     /*divides=*/false,
     /*isTiled=*/false,
     /*highNibbleFirst=*/false,
     /*splitsBlocks=*/true},
    {Family::DeepSeek,
     {".weight", "", ".weight_scale_inv", "", "", "", ""},
     kFp8Blocks | kFp8BlocksUe8m0},
    {Family::DeepSeekV4,
     {".weight", ".weight", ".scale", "", "", ".weight_metadata", ""},
     kMxfp4 | kFp8BlocksUe8m0,
     DType::F8E8M0},
    {Family::ComfyUI,
     {".weight", ".weight", ".weight_scale", ".weight_scale_2", ".input_scale",
      ".weight_metadata", ".comfy_quant"},
     kNvfp4,
     DType::U8,
     /*divides=*/false,
     /*isTiled=*/true,
     /*highNibbleFirst=*/true},
};

const Convention &checkpoint::conventionOf(Family family) {
  for (const Convention &each : kConventions)
    if (each.family == family)
      return each;
  assert(false && "a family that packing writes");
  return kConventions[0];
}

std::string checkpoint::whyNoNames(const Convention &convention,
                                   std::string_view format) {
  std::string known;
  for (const FormatName &each : kFormatNames) {
    if (!(convention.formats & each.bit))
      continue;
    if (each.name == format)
      return "";
    known += (known.empty() ? "'" : ", '") + std::string(each.name) + "'";
  }
  return std::string(familyName(convention.family)) + " has no names for " +
         std::string(format) + "; it has names for " + known;
}
