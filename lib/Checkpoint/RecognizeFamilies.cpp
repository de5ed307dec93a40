//===- RecognizeFamilies.cpp - who writes which names ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"
#include "Recognizer.h"
#include "blockscale/HW/ScaleLayout.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::checkpoint;

/// Rows and columns of a block of FP8 where no configuration says otherwise.
static constexpr uint64_t kFp8Block = 128;
/// Integers that a word of compressed-tensors may hold.
static constexpr uint64_t kWordOfInt4 = 8, kWordOfInt8 = 4;

static bool isFp8(DType type) {
  return type == DType::F8E4M3 || type == DType::F8E5M2;
}
static bool isFp6(DType type) {
  return type == DType::F6E2M3 || type == DType::F6E3M2;
}

/// Bytes that a block of 32 elements of 6 bits takes.
static constexpr uint64_t kFp6BlockBytes = 24;

/// Whether packed bytes are 6-bit elements with these scales, which then are in
/// rows.
static bool isPackedFp6(const Tensor &packed, const Tensor *scales) {
  bool isRows = scales && !scales->shape.empty() &&
                scales->shape.size() == packed.shape.size() &&
                std::equal(packed.shape.begin(), packed.shape.end() - 1,
                           scales->shape.begin());
  return isRows && scales->dtype != DType::F8E4M3 &&
         packed.shape.back() / kFp6BlockBytes == scales->shape.back() &&
         packed.shape.back() % kFp6BlockBytes == 0;
}

//===----------------------------------------------------------------------===//
// gpt-oss
//===----------------------------------------------------------------------===//

void Recognizer::recognizeBlocks(const Tensor &blocks, const Tensor *scales) {
  bool isOriginal = group[Role::OriginalBlocks];
  take(isOriginal ? Family::GptOssOriginal : Family::GptOss, "MXFP4",
       ElementFormat::E2M1, &blocks, 2);
  // [..., rows, blocks, 16 bytes] is [..., rows, 32 * blocks].
  std::vector<uint64_t> shape = blocks.shape;
  if (shape.size() < 3 || shape.back() != kMxBlock / 2 ||
      !isByte(blocks.dtype)) {
    report(Rule::BlockShape, named(blocks) +
                                 ": expected U8 [..., rows, blocks, 16], 32 "
                                 "elements in 16 bytes");
    result.scales = scales;
    result.scaleFormat = ElementFormat::UE8M0;
    result.placement = ScalePlacement::Unknown;
    return;
  }
  shape.pop_back();
  shape.back() *= kMxBlock;
  result.shape = shape;
  if (!scales)
    report(Rule::MissingScales,
           named(blocks) + " has no '" +
               std::string(isOriginal ? ".scales" : "_scales") +
               "' beside it; no scale may be taken as 1");
  takeScales(scales, ElementFormat::UE8M0, 1, kMxBlock);
  bool isGateUp = blocks.name.find("gate_up_proj") != std::string::npos ||
                  blocks.name.find("mlp1_weight") != std::string::npos;
  if (!isGateUp)
    return;
  result.interleavedRows = true;
  report(Rule::InterleavedRows,
         "rows of the gate and of the up projection alternate, the gate's "
         "first; other families put one projection behind the other");
}

//===----------------------------------------------------------------------===//
// torchao
//===----------------------------------------------------------------------===//

void Recognizer::recognizeTorchao() {
  const Tensor &data = *group[Role::TorchaoData];
  const Tensor *scales = group[Role::TorchaoScale];
  bool isPacked = isByte(data.dtype) || data.dtype == DType::F4;
  bool isNvfp4 = scales && scales->dtype == DType::F8E4M3;
  Result<nlohmann::json> meta = parseJson(checkpoint.findMetadata(result.name));
  std::string type;
  bool isTiled = false;
  if (meta && meta->is_object()) {
    type = meta->value("_type", nlohmann::json()).is_string()
               ? meta->value("_type", "")
               : "";
    auto found = meta->find("_data");
    if (found != meta->end() && found->is_object()) {
      auto tiled = found->find("is_swizzled_scales");
      isTiled =
          tiled != found->end() && tiled->is_boolean() && tiled->get<bool>();
    }
  }
  if (!type.empty() && type != "NVFP4Tensor" && type != "MXTensor") {
    take(Family::Torchao, type, std::nullopt, &data, 1);
    result.scales = scales;
    return;
  }
  if (!type.empty() && scales && (type == "NVFP4Tensor") != isNvfp4)
    report(Rule::ScaleType, "the metadata say '" + type + "', but " +
                                named(*scales) + " is what " +
                                (isNvfp4 ? "an NVFP4Tensor" : "an MXTensor") +
                                " has");
  std::optional<ElementFormat> element =
      isPacked ? ElementFormat::E2M1 : elementFormat(data.dtype);
  take(Family::Torchao,
       isNvfp4    ? "NVFP4"
       : isPacked ? "MXFP4"
                  : "MXFP8",
       element, &data, isPacked ? 2 : 1);
  if (!scales)
    report(Rule::MissingScales, named(data) + " has no scale beside it; none "
                                              "may be taken as 1");
  takeScales(scales, isNvfp4 ? ElementFormat::UE4M3 : ElementFormat::UE8M0, 1,
             isNvfp4 ? kNvfp4Block : kMxBlock);
  bool isWhole = result.scaleRows() % hw::kAtomRows == 0 &&
                 result.scaleColumns() % hw::kAtomScales == 0;
  if (result.placement == ScalePlacement::Rows && isTiled && isWhole)
    result.placement = ScalePlacement::Tiled;
  else if (result.placement == ScalePlacement::Rows && isTiled)
    report(Rule::ScaleShape,
           named(*scales) + " does not fill the 128 x 4 atoms in which it is, "
                            "as 'is_swizzled_scales' says");
  else if (result.placement == ScalePlacement::Tiled && !isTiled &&
           !type.empty())
    report(Rule::TiledScales,
           named(*scales) + " has the extent of scales in 128 x 4 atoms, but "
                            "the metadata say 'is_swizzled_scales': false");
}

//===----------------------------------------------------------------------===//
// compressed-tensors
//===----------------------------------------------------------------------===//

/// Integers of 4 or 8 bits, lowest first, stored as the number plus half the
/// range.
void Recognizer::packedIntegers(const Tensor &packed) {
  const Tensor *scales = group[Role::Scale];
  const Tensor *logical = group[Role::LogicalShape];
  take(Family::CompressedTensors, "INT4", std::nullopt, &packed, 8);
  int64_t sizes[2] = {};
  bool isMatrix = packed.shape.size() == 2 && logical &&
                  logical->dtype == DType::I64 && logical->bytes == 16;
  if (isMatrix) {
    if (std::string error = checkpoint.read(*logical, 0, sizes, 16);
        !error.empty()) {
      report(Rule::Unreadable, error);
      return;
    }
    bool isPositive = sizes[0] > 0 && sizes[1] > 0;
    uint64_t perWord = 0;
    for (uint64_t each : {kWordOfInt4, kWordOfInt8})
      if (isPositive && uint64_t(sizes[0]) == packed.shape[0] && !perWord &&
          hw::ceilDiv(uint64_t(sizes[1]), each) == packed.shape[1])
        perWord = each;
    if (!perWord) {
      report(Rule::ScaleShape,
             "'weight_shape' says [" + std::to_string(sizes[0]) + ", " +
                 std::to_string(sizes[1]) + "], which does not fit " +
                 named(packed) + " with 8 or 4 integers in a word");
      return;
    }
    result.packed = unsigned(perWord);
    result.format = perWord == kWordOfInt4 ? "INT4" : "INT8";
    result.shape = {uint64_t(sizes[0]), uint64_t(sizes[1])};
  }
  if (const Tensor *zeros = group[Role::ZeroPoint])
    report(Rule::ZeroPoints,
           named(*zeros) + " is subtracted from the elements before they are "
                           "scaled; without it all are off by a constant");
  if (const Tensor *order = group[Role::GroupOrder])
    report(Rule::GroupOrder,
           named(*order) + " says which scale a column has; columns of a group "
                           "are not neighbours");
  if (!scales) {
    report(Rule::MissingScales,
           named(packed) + " has no 'weight_scale'; none may be taken as 1");
    return;
  }
  // One scale for a row is a group of all columns.
  uint64_t columns = scales->shape.empty() ? 1 : scales->shape.back();
  uint64_t block = columns > 1 ? hw::ceilDiv(result.columns(), columns) : 0;
  if (columns > 1 && declared.groupSize && *declared.groupSize)
    block = *declared.groupSize;
  takeScales(scales, elementFormat(scales->dtype), 1, block);
}

void Recognizer::recognizePacked() {
  const Tensor &packed = *group[Role::Packed];
  if (packed.dtype == DType::I32) {
    packedIntegers(packed);
    return;
  }
  const Tensor *scales = group[Role::Scale];
  if (isByte(packed.dtype) && isPackedFp6(packed, scales)) {
    take(Family::CompressedTensors, "MXFP6", ElementFormat::E2M3, &packed, 1);
    result.shape.back() = scales->shape.back() * kMxBlock;
    takeScales(scales, ElementFormat::UE8M0, 1, kMxBlock);
    return;
  }
  bool isNvfp4 =
      group[Role::GlobalScale] || (scales && scales->dtype == DType::F8E4M3);
  take(Family::CompressedTensors, isNvfp4 ? "NVFP4" : "MXFP4",
       ElementFormat::E2M1, &packed, 2);
  if (!isByte(packed.dtype) && packed.dtype != DType::F4) {
    report(Rule::ScaleType,
           named(packed) + ": expected U8, two e2m1 in a byte, or I32");
    return;
  }
  if (!scales)
    report(Rule::MissingScales,
           named(packed) + " has no 'weight_scale'; none may be taken as 1");
  takeScales(scales, isNvfp4 ? ElementFormat::UE4M3 : ElementFormat::UE8M0, 1,
             isNvfp4 ? kNvfp4Block : kMxBlock);
}

//===----------------------------------------------------------------------===//
// Weights under their own name
//===----------------------------------------------------------------------===//

/// Two e2m1 in a byte: ModelOpt's, ComfyUI's, and DeepSeek V4's experts.
void Recognizer::packedWeight(const Tensor &weight) {
  if (const Tensor *scales = group[Role::ShortScale]) {
    take(Family::DeepSeekV4, "MXFP4", ElementFormat::E2M1, &weight, 2);
    takeScales(scales, ElementFormat::UE8M0, 1, kMxBlock);
    return;
  }
  const Tensor *scales = group[Role::Scale];
  bool isNvfp4 =
      group[Role::ScaleTwo] || (scales && scales->dtype == DType::F8E4M3);
  bool isComfy = group[Role::ComfyMark] ||
                 !checkpoint.findMetadata("_quantization_metadata").empty();
  take(isComfy ? Family::ComfyUI : Family::ModelOpt,
       isNvfp4 ? "NVFP4" : "MXFP4", ElementFormat::E2M1, &weight, 2);
  if (!scales)
    report(Rule::MissingScales,
           named(weight) + " has no 'weight_scale'; none may be taken as 1");
  takeScales(scales, isNvfp4 ? ElementFormat::UE4M3 : ElementFormat::UE8M0, 1,
             isNvfp4 ? kNvfp4Block : kMxBlock);
  result.highNibbleFirst = isComfy || declared.swapsNibbles;
  if (isComfy)
    report(Rule::HighNibbleFirst,
           "the first of two elements is in the higher nibble, as in all of "
           "ComfyUI; a loader of ModelOpt's files, which have the same names, "
           "expects it in the lower one");
  else if (result.highNibbleFirst)
    report(Rule::NibbleOrder,
           "the first of two elements is in the higher nibble, as "
           "'swap_weight_nibbles' of the configuration says; by these names a "
           "loader expects it in the lower one");
}

void Recognizer::fp8InBlocks(const Tensor &scales) {
  auto block = declared.weightBlock.value_or(
      std::array<uint64_t, 2>{kFp8Block, kFp8Block});
  if (block[0] == 0 || block[1] == 0) {
    report(Rule::Configuration,
           "'weight_block_size' of the configuration has a 0");
    return;
  }
  // Exponents that were stored without their type.
  std::optional<ElementFormat> format =
      isByte(scales.dtype) ? ElementFormat::UE8M0 : elementFormat(scales.dtype);
  takeScales(&scales, format, block[0], block[1]);
}

/// One scale for all, or one for each row.
void Recognizer::numberOrRows(const Tensor &scales, const std::string &format) {
  bool isOne = scales.elementCount() == 1;
  result.format =
      format + (isOne ? " with one scale" : " with a scale for a row");
  result.scales = &scales;
  result.scaleFormat = elementFormat(scales.dtype);
  result.blockRows = isOne ? 0 : 1;
  result.blockColumns = 0;
  result.placement = ScalePlacement::Rows;
  if (isOne || scales.elementCount() == result.batch() * result.rows())
    return;
  result.placement = ScalePlacement::Unknown;
  report(Rule::ScaleShape, named(scales) + ": expected " +
                               std::to_string(result.rows()) +
                               " scales, one for a row");
}

void Recognizer::floatWeight(const Tensor &weight) {
  std::optional<ElementFormat> element = elementFormat(weight.dtype);
  if (const Tensor *scales = group[Role::ScaleInverse]) {
    take(Family::DeepSeek, "FP8 in blocks", element, &weight, 1);
    report(Rule::InverseName,
           "'weight_scale_inv' multiplies in spite of its name: value = "
           "element * weight_scale_inv");
    fp8InBlocks(*scales);
    return;
  }
  if (const Tensor *scales = group[Role::ShortScale]) {
    take(Family::DeepSeekV4, "FP8 in blocks", element, &weight, 1);
    fp8InBlocks(*scales);
    return;
  }
  const Tensor *scales = group[Role::Scale];
  take(mxFamily(), isFp6(weight.dtype) ? "FP6" : "FP8", element, &weight, 1);
  if (!scales) {
    report(Rule::MissingScales,
           named(weight) + " has no scale beside it; none may be taken as 1");
    return;
  }
  uint64_t columns = scales->shape.empty() ? 1 : scales->shape.back();
  if (isByte(scales->dtype) || scales->dtype == DType::F8E8M0) {
    result.format = isFp6(weight.dtype) ? "MXFP6" : "MXFP8";
    takeScales(scales, ElementFormat::UE8M0, 1, kMxBlock);
    return;
  }
  bool isBlocks = scales->shape.size() > 1 &&
                  isMatrix(*scales, hw::ceilDiv(result.rows(), kFp8Block),
                           hw::ceilDiv(result.columns(), kFp8Block));
  bool isRows = scales->shape.size() == 1 || columns == 1;
  if (!isBlocks && (isRows || scales->elementCount() == 1)) {
    numberOrRows(*scales, "FP8");
    return;
  }
  // One column for 32 elements is that of MX, whatever the type.
  if (isMatrix(*scales, result.rows(),
               hw::ceilDiv(result.columns(), kMxBlock))) {
    result.format = isFp6(weight.dtype) ? "MXFP6" : "MXFP8";
    takeScales(scales, ElementFormat::UE8M0, 1, kMxBlock);
    return;
  }
  result.format = "FP8 in blocks";
  fp8InBlocks(*scales);
}

void Recognizer::recognizeWeight() {
  const Tensor *weight = group[Role::Weight];
  bool hasScale = group[Role::Scale] || group[Role::ScaleTwo] ||
                  group[Role::ScaleInverse] || group[Role::ShortScale];
  bool isNarrow = isFp8(weight->dtype) || weight->dtype == DType::F4;
  bool isFloat =
      isFp8(weight->dtype) || (isFp6(weight->dtype) && group[Role::Scale]);
  bool isWeight = lastComponent(*weight) == "weight";
  if (isFloat) {
    floatWeight(*weight);
  } else if (weight->dtype == DType::F4 ||
             (isByte(weight->dtype) && hasScale &&
              (weight->dtype == DType::U8 || group[Role::ShortScale]))) {
    packedWeight(*weight);
  } else if (weight->dtype == DType::I8 && hasScale) {
    take(mxFamily(), "INT8", std::nullopt, weight, 1);
    if (group[Role::Scale])
      numberOrRows(*group[Role::Scale], "INT8");
    else
      report(Rule::MissingScales,
             named(*weight) + " has no 'weight_scale'; none may be taken as 1");
  } else {
    result.format = std::string(dtypeName(weight->dtype));
    result.elements = weight;
    result.shape = weight->shape;
    bool isUnscaledBytes =
        isWeight && weight->dtype == DType::U8 && weight->shape.size() >= 2;
    if (isUnscaledBytes && !isNarrow)
      report(Rule::MissingScales,
             named(*weight) +
                 " looks like packed elements, but has no scale beside it; "
                 "none may be taken as 1");
  }
}
