//===- QuantizedResultPlan.cpp - what plans say of quantised D ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedResultPlan.h"
#include "blockscale/Formats/Text.h"

#include <algorithm>
#include <string>

using namespace blockscale;
using namespace blockscale::verify;

std::optional<reference::OutputType>
verify::typeBefore(const plan::Quantization &planned) {
  const std::string type = planned.type.value_or("");
  if (type == "f32")
    return reference::OutputType::F32;
  if (type == "bf16")
    return reference::OutputType::BF16;
  if (type == "f16")
    return reference::OutputType::F16;
  return std::nullopt;
}

const plan::VectorScales *verify::plainOf(const plan::Kernel &kernel) {
  const plan::VectorScales *plain = ofResult(kernel.vectorScales);
  if (!plain)
    return nullptr;
  bool isForTile = plain->rows && plain->block && plain->format == "f32";
  bool isForMatrix = !plain->rows && !plain->block;
  return isForTile || isForMatrix ? plain : nullptr;
}

bool verify::hasGivenScale(const plan::Kernel &kernel) {
  const plan::VectorScales *plain = plainOf(kernel);
  return plain && !plain->rows;
}

uint64_t verify::blockOf(const plan::Kernel &kernel) {
  // What shares the scale of a matrix is compared a few at a time.
  constexpr uint64_t kBlock = 32;
  if (const plan::VectorScales *plain = plainOf(kernel))
    return plain->block ? plain->block : kBlock;
  const plan::ScalePacking *scales = ofResult(kernel.scales);
  bool isKnown =
      scales && (scales->layout == "tiled_128x4" || scales->layout == kGrouped);
  return isKnown ? scales->block : 0;
}

uint64_t verify::rowsOf(const plan::Kernel &kernel) {
  if (const plan::VectorScales *plain = plainOf(kernel))
    return std::max<uint64_t>(1, plain->rows);
  const plan::ScalePacking *scales = ofResult(kernel.scales);
  return scales ? std::max<uint64_t>(1, scales->rows) : 1;
}

uint64_t verify::tileOf(const plan::Kernel &kernel) {
  return plainOf(kernel) ? blockOf(kernel)
                         : ofResult(kernel.scales)->ownBlock();
}

Result<reference::Quantization> verify::ruleOf(const plan::Kernel &kernel) {
  const plan::DataPacking *data = ofResult(kernel.data);
  if (!data || !blockOf(kernel))
    return Reason("a kernel that quantises its product has 'data' and 'scales' "
                  "of 'd', the latter in layout 'tiled_128x4' or '" +
                  std::string(kGrouped) +
                  "', or 'vectorScales' of f32 for each tile, or of a matrix");
  std::optional<ElementFormat> element = parseFormat(data->format), scale;
  const plan::VectorScales *plain = plainOf(kernel);
  std::string format = plain ? plain->format : ofResult(kernel.scales)->format;
  bool isFloat = plain && format == "f32";
  if (!isFloat)
    scale = parseFormat(format);
  if (!element || (!isFloat && !scale))
    return Reason("'" + data->format + "' with scales '" + format + "'");
  const plan::Quantization &planned = *kernel.quantization;
  reference::Quantization rule{*element, scale, planned.rule, planned.rounding,
                               0};
  if (!planned.seed.empty()) {
    std::optional<uint64_t> number = parseInteger<uint64_t>(planned.seed);
    if (!number)
      return Reason("the seed '" + planned.seed + "' is no number");
    rule.seed = *number;
  }
  if (auto why = reference::whyNot(rule))
    return *why;
  return rule;
}

bool verify::hasMatrices(const Inputs &inputs) {
  return inputs.isMasked || inputs.groupsAlongK;
}

bool verify::areInOne(const Inputs &inputs) {
  return !inputs.groupEnds.empty() && !hasMatrices(inputs);
}

uint64_t verify::matricesOf(const Inputs &inputs) {
  return areInOne(inputs) ? 1 : inputs.problem.batch;
}
