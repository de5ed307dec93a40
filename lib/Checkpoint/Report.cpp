//===- Report.cpp - a checkpoint's tensors as text ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Checkpoint/Check.h"
#include "blockscale/Checkpoint/Values.h"
#include "blockscale/Formats/ScaleSpec.h"
#include "blockscale/Formats/Text.h"

#include <nlohmann/json.hpp>

using namespace blockscale;
using namespace blockscale::checkpoint;
using nlohmann::ordered_json;

static std::string lastName(const Tensor &tensor) {
  return tensor.name.substr(tensor.name.rfind('.') + 1);
}

static std::string typed(const Tensor &tensor) {
  return "'" + lastName(tensor) + "' " + std::string(dtypeName(tensor.dtype)) +
         " " + printShape(tensor.shape);
}

static std::string_view placementName(ScalePlacement placement) {
  switch (placement) {
  case ScalePlacement::None:
    return "none";
  case ScalePlacement::Rows:
    return "rows";
  case ScalePlacement::Tiled:
    return "128x4 atoms";
  case ScalePlacement::Padded:
    return "padded";
  case ScalePlacement::Unknown:
    return "unknown";
  }
  return "";
}

static std::string_view useName(GlobalUse use) {
  switch (use) {
  case GlobalUse::None:
    return "none";
  case GlobalUse::Factor:
    return "factor";
  case GlobalUse::Divisor:
    return "divisor";
  }
  return "";
}

static std::string printElements(const QuantizedTensor &tensor) {
  std::string text = "elements " + typed(*tensor.elements);
  if (tensor.element)
    text += ", " + std::string(formatName(*tensor.element));
  if (tensor.packed == 2)
    text += std::string(", two in a byte, the first in the ") +
            (tensor.highNibbleFirst ? "higher" : "lower") + " nibble";
  else if (tensor.element && formatInfo(*tensor.element).storageBits == 6)
    text += ", four in three bytes, the first in the lowest bits";
  else if (tensor.packed > 2)
    text +=
        ", " + std::to_string(tensor.packed) +
        " in a word, the first in the lowest bits, each plus half its range";
  if (tensor.interleavedRows)
    text += ", rows of gate and up projection in turns";
  return text;
}

static std::string printScales(const QuantizedTensor &tensor) {
  std::string text = "scales " + typed(*tensor.scales);
  if (tensor.scaleFormat)
    text += ", " + std::string(formatName(*tensor.scaleFormat));
  auto extent = [](uint64_t size, const char *one, const char *many) {
    return size == 0   ? std::string("all ") + many
           : size == 1 ? std::string("a ") + one
                       : std::to_string(size) + " " + many;
  };
  text += ", one for " + extent(tensor.blockColumns, "column", "columns") +
          " of " + extent(tensor.blockRows, "row", "rows");
  switch (tensor.placement) {
  case ScalePlacement::Rows:
    return text + ", stored in rows";
  case ScalePlacement::Tiled:
    return text + ", stored in 128 x 4 atoms";
  case ScalePlacement::Padded:
    return text + ", padded to whole atoms";
  case ScalePlacement::None:
  case ScalePlacement::Unknown:
    break;
  }
  return text;
}

static std::string printGlobal(const char *what, const Tensor &scale,
                               GlobalUse use,
                               const std::optional<double> &value) {
  std::string text = std::string(what) + " " + typed(scale);
  if (value)
    text += " = " + formatNumber("%.6g", *value);
  return text + ", a " + std::string(useName(use));
}

static std::string printFinding(const Finding &finding) {
  const RuleInfo &info = ruleInfo(finding.rule);
  return std::string(gradeName(info.grade)) + ": " + finding.text + " [" +
         std::string(info.name) + "]\n";
}

static std::string formulaOf(const QuantizedTensor &tensor) {
  std::string text = "value = element";
  if (tensor.scales)
    text += " * " + lastName(*tensor.scales);
  if (tensor.globalScale)
    text += (tensor.globalUse == GlobalUse::Divisor ? " / " : " * ") +
            lastName(*tensor.globalScale);
  return text;
}

static std::string printTensor(const CheckedTensor &tensor) {
  std::string text = tensor.name + ": ";
  if (!tensor.elements)
    text += "no elements\n";
  else if (!tensor.isQuantized())
    text +=
        tensor.format + " " + printShape(tensor.shape) + ", not quantised\n";
  else
    text += tensor.format + " of " + std::string(familyName(tensor.family)) +
            ", " + printShape(tensor.shape) + "\n";
  if (tensor.isQuantized()) {
    text += "  " + printElements(tensor) + "\n";
    if (tensor.scales)
      text += "  " + printScales(tensor) + "\n";
    if (tensor.globalScale)
      text += "  " +
              printGlobal("global scale", *tensor.globalScale, tensor.globalUse,
                          tensor.globalValue) +
              "\n";
    if (tensor.inputScale)
      text += "  " +
              printGlobal("input scale", *tensor.inputScale, tensor.inputUse,
                          tensor.inputValue) +
              "\n";
    text += "  " + formulaOf(tensor);
    if (tensor.largestValue)
      text += ", at most " + formatNumber("%.4g", *tensor.largestValue);
    text += "\n";
  }
  for (const Finding &finding : tensor.findings)
    text += "  " + printFinding(finding);
  return text;
}

static std::string counted(uint64_t count, const char *what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string checkpoint::printReport(const CheckReport &report) {
  std::string text;
  uint64_t quantized = 0;
  for (const CheckedTensor &tensor : report.tensors) {
    text += printTensor(tensor);
    quantized += tensor.isQuantized();
  }
  for (const Finding &finding : report.findings)
    text += printFinding(finding);
  return text + counted(quantized, "parameter") + " quantised, " +
         std::to_string(report.tensors.size() - quantized) + " not; " +
         counted(report.count(Grade::Error), "error") + ", " +
         counted(report.count(Grade::Warning), "warning") + "\n";
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static ordered_json toJson(const std::vector<Finding> &findings) {
  ordered_json list = ordered_json::array();
  for (const Finding &finding : findings)
    list.push_back({{"rule", ruleInfo(finding.rule).name},
                    {"grade", gradeName(ruleInfo(finding.rule).grade)},
                    {"text", finding.text}});
  return list;
}

/// What needs no data: the names of both global scales come from `addGlobal`.
template <typename AddGlobals>
static ordered_json toJson(const QuantizedTensor &tensor,
                           AddGlobals addGlobals) {
  ordered_json object{{"name", tensor.name},
                      {"family", familyName(tensor.family)},
                      {"format", tensor.format},
                      {"shape", tensor.shape}};
  if (tensor.element)
    object["element"] = formatName(*tensor.element);
  if (tensor.elements)
    object["elements"] = tensor.elements->name;
  if (tensor.isQuantized() && tensor.packed == 2)
    object["firstNibble"] = tensor.highNibbleFirst ? "high" : "low";
  if (tensor.scales) {
    object["scales"] = tensor.scales->name;
    if (tensor.scaleFormat)
      object["scale"] = formatName(*tensor.scaleFormat);
    object["block"] = {tensor.blockRows, tensor.blockColumns};
    object["layout"] = placementName(tensor.placement);
  }
  addGlobals(object);
  object["findings"] = toJson(tensor.findings);
  return object;
}

static void addGlobal(ordered_json &object, const char *key,
                      const Tensor *scale, GlobalUse use,
                      const std::optional<double> &value = {}) {
  if (!scale)
    return;
  object[key] = {{"name", scale->name}, {"use", useName(use)}};
  if (value)
    object[key]["value"] = *value;
}

static ordered_json toJson(const CheckedTensor &tensor) {
  return toJson(tensor, [&](ordered_json &object) {
    addGlobal(object, "globalScale", tensor.globalScale, tensor.globalUse,
              tensor.globalValue);
    addGlobal(object, "inputScale", tensor.inputScale, tensor.inputUse,
              tensor.inputValue);
    if (tensor.largestValue)
      object["largestValue"] = *tensor.largestValue;
  });
}

/// Text for programs. Names are bytes, and need not be UTF-8.
static std::string dump(const ordered_json &object) {
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

std::string checkpoint::printReportJson(const CheckReport &report) {
  ordered_json tensors = ordered_json::array();
  for (const CheckedTensor &tensor : report.tensors)
    tensors.push_back(toJson(tensor));
  ordered_json object{{"tensors", std::move(tensors)},
                      {"findings", toJson(report.findings)},
                      {"errors", report.count(Grade::Error)},
                      {"warnings", report.count(Grade::Warning)}};
  return dump(object);
}

//===----------------------------------------------------------------------===//
// Before data are read
//===----------------------------------------------------------------------===//

/// What scale specs call the numbers of scales; null for others.
static const char *numberName(const QuantizedTensor &tensor) {
  if (tensor.scaleFormat)
    switch (*tensor.scaleFormat) {
    case ElementFormat::UE8M0:
      return "e8m0";
    case ElementFormat::UE4M3:
      return "e4m3fn";
    case ElementFormat::BF16:
      return "bfloat16";
    case ElementFormat::F16:
      return "float16";
    default:
      break;
    }
  return tensor.scales->dtype == DType::F32 ? "float32" : nullptr;
}

static std::string specOf(const QuantizedTensor &tensor) {
  const char *number = tensor.scales ? numberName(tensor) : nullptr;
  if (!number)
    return "";
  std::string text = tensor.globalScale ? "multi_float32_" : "";
  text += number;
  if (tensor.blockRows > 1)
    text += "_t" + std::to_string(tensor.blockRows);
  if (tensor.blockRows > 0)
    text += "_t" + std::to_string(tensor.blockColumns);
  Result<ScaleSpec> spec = parseScaleSpec(text);
  return spec ? print(*spec) : "";
}

static ordered_json describe(const QuantizedTensor &tensor) {
  ordered_json object = toJson(tensor, [&](ordered_json &globals) {
    addGlobal(globals, "globalScale", tensor.globalScale, tensor.globalUse);
    addGlobal(globals, "inputScale", tensor.inputScale, tensor.inputUse);
  });
  object["quantized"] = tensor.isQuantized();
  object["spec"] = specOf(tensor);
  object["packed"] = tensor.packed;
  object["interleavedRows"] = tensor.interleavedRows;
  for (const Tensor *part : tensor.parts)
    object["parts"].push_back(part->name);
  if (std::string why = ValueReader::whyNot(tensor); !why.empty())
    object["whyNot"] = why;
  return object;
}

std::string
checkpoint::describeJson(const Checkpoint &checkpoint,
                         const std::vector<QuantizedTensor> &parameters) {
  ordered_json files = ordered_json::array(), tensors = ordered_json::array(),
               all = ordered_json::array(), metadata = ordered_json::object();
  for (const InputFile &file : checkpoint.files())
    files.push_back(file.path());
  for (const Tensor &tensor : checkpoint.tensors())
    tensors.push_back({{"name", tensor.name},
                       {"dtype", dtypeName(tensor.dtype)},
                       {"shape", tensor.shape},
                       {"file", tensor.file},
                       {"offset", tensor.offset},
                       {"bytes", tensor.bytes}});
  for (const auto &[key, value] : checkpoint.metadata())
    metadata[key] = value;
  for (const QuantizedTensor &tensor : parameters)
    all.push_back(describe(tensor));
  return dump({{"files", std::move(files)},
               {"metadata", std::move(metadata)},
               {"tensors", std::move(tensors)},
               {"parameters", std::move(all)}});
}
