//===- Check.cpp - what a checkpoint's tensors contradict -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Checkpoint/Check.h"
#include "Names.h"
#include "ScaleData.h"
#include "blockscale/Formats/Text.h"

#include <cmath>
#include <map>

using namespace blockscale;
using namespace blockscale::checkpoint;

/// No weight of a published model comes near the first, and no activation in
/// f16 or near it to the second.
static constexpr double kLargestWeight = 1024, kLargestActivation = 131072;
/// Below this a tensor would be zero in all but name.
static constexpr double kSmallestMaximum = 0x1p-20;

static std::string print(double value) { return formatNumber("%.4g", value); }

static std::string named(const Tensor &tensor) {
  return "'" + tensor.name.substr(tensor.name.rfind('.') + 1) + "'";
}

namespace {
/// The checks of one parameter.
struct Checker {
  const Checkpoint &checkpoint;
  CheckedTensor &tensor;
  std::optional<ScaleSummary> scales;

  void report(Rule rule, std::string text) {
    tensor.findings.push_back({rule, std::move(text)});
  }

  void checkScales();
  void checkNumbers();
  void checkPadding();
  void checkGlobal();
  void checkInput();
  void checkReciprocal(Rule rule, const Tensor &scale, double value,
                       double largest, bool isDivisor, double bound);
};
} // namespace

/// The largest that an element times the scale of its block can be.
static double largestBlockValue(const CheckedTensor &tensor,
                                const std::optional<ScaleSummary> &scales) {
  double element = tensor.element ? formatInfo(*tensor.element).largest : 1;
  if (!tensor.scales)
    return element;
  if (scales && scales->largest > 0)
    return element * scales->largest;
  return element * formatInfo(ElementFormat::UE4M3).largest;
}

/// Reports a scale that makes sense the other way round only. `largest` is what
/// it is applied to.
void Checker::checkReciprocal(Rule rule, const Tensor &scale, double value,
                              double largest, bool isDivisor, double bound) {
  double multiplied = largest * value, divided = largest / value;
  double meant = isDivisor ? divided : multiplied;
  double other = isDivisor ? multiplied : divided;
  if (meant <= bound || other > bound || other < kSmallestMaximum)
    return;
  report(rule, named(scale) + " = " + print(value) + " is a " +
                   (isDivisor ? "divisor" : "factor") +
                   " by its name, which makes the largest value " +
                   print(meant) + "; as a " +
                   (isDivisor ? "factor" : "divisor") + " it would be " +
                   print(other));
}

void Checker::checkScales() {
  const Tensor &data = *tensor.scales;
  Result<ScaleSummary> read =
      summarizeScales(checkpoint, data, tensor.scaleFormat);
  if (!read) {
    report(Rule::Unreadable, read.why().text);
    return;
  }
  scales = *read;
  std::string of =
      " of " + std::to_string(scales->count) + " scales in " + named(data);
  if (scales->nans + scales->infinities)
    report(Rule::NanScale, std::to_string(scales->nans + scales->infinities) +
                               of +
                               " are NaN or infinite: all that they scale "
                               "is lost");
  if (scales->negatives)
    report(Rule::NegativeScale,
           std::to_string(scales->negatives) + of +
               " are negative; tensor cores read the magnitude");
  checkNumbers();
  checkPadding();
}

/// Scales that are numbers and not bytes of a narrow format.
void Checker::checkNumbers() {
  const Tensor &data = *tensor.scales;
  bool isWide = dtypeBits(data.dtype) > 8;
  if (isWide && scales->count && scales->looksLikeBytes) {
    report(Rule::ByteAsNumber,
           named(data) + " holds integers from " + print(scales->smallest) +
               " to " + print(scales->largest) +
               ": bytes of e8m0 that were converted as numbers; byte s means "
               "2^(s - 127)");
    return;
  }
  const Declaration &declared = checkpoint.declaration();
  if (isWide && declared.scaleFormat == "ue8m0" && !scales->powersOfTwo)
    report(Rule::NotPowerOfTwo,
           "'scale_fmt' of the configuration is 'ue8m0', but " + named(data) +
               " holds numbers that are no powers of two");
  // Scales below a global one, be it lost, have a range of their own.
  bool hasTwoLevels = tensor.globalScale || tensor.format == "NVFP4";
  if (hasTwoLevels || !tensor.element || scales->largest <= 0)
    return;
  double element = formatInfo(*tensor.element).largest;
  // What the tensor's maximum would be if each scale were a divisor.
  double other = element / scales->smallest;
  double meant = element * scales->largest;
  if (meant > kLargestWeight && other <= kLargestWeight &&
      other >= kSmallestMaximum)
    report(Rule::ReciprocalScales,
           named(data) +
               " multiplies by its convention, which makes the "
               "largest value " +
               print(meant) + "; as divisors its scales would make it " +
               print(other));
}

/// Whether padded scales are in rows or in atoms, or went through the tiling
/// twice.
void Checker::checkPadding() {
  bool isTiled = tensor.placement == ScalePlacement::Tiled;
  bool isByte = dtypeBits(tensor.scales->dtype) == 8;
  if (!isByte || (tensor.placement != ScalePlacement::Padded && !isTiled))
    return;
  Result<PaddingOrders> orders = findPadding(checkpoint, tensor);
  if (!orders) {
    report(Rule::Unreadable, orders.why().text);
    return;
  }
  std::string data = named(*tensor.scales);
  if (orders->tiledTwice && !orders->tiled && !orders->rows) {
    tensor.placement = ScalePlacement::Unknown;
    report(Rule::TiledTwice,
           data +
               " was put into 128 x 4 atoms twice: its zero padding is where "
               "a second tiling moves it");
    return;
  }
  if (isTiled)
    return;
  if (orders->rows && !orders->tiled) {
    tensor.placement = ScalePlacement::Rows;
    report(Rule::ScaleShape, data + " is padded to whole atoms, " +
                                 printShape(tensor.scales->shape) +
                                 ", in place of [" +
                                 std::to_string(tensor.scaleRows()) + ", " +
                                 std::to_string(tensor.scaleColumns()) + "]");
  } else if (orders->tiled && !orders->rows) {
    tensor.placement = ScalePlacement::Tiled;
    if (!tilesScales(tensor.family) && tensor.family != Family::Torchao)
      report(Rule::TiledScales,
             data + " is in 128 x 4 atoms, where " +
                 std::string(familyName(tensor.family)) +
                 " stores rows: a loader that tiles them does it twice");
  } else {
    report(Rule::ScaleShape,
           data + " is padded to whole atoms, " +
               printShape(tensor.scales->shape) +
               ", and its bytes do not tell whether in rows or in atoms");
  }
}

/// A number that can scale something.
static bool canScale(double value) { return value > 0 && std::isfinite(value); }

void Checker::checkGlobal() {
  const Tensor &global = *tensor.globalScale;
  Result<double> value = readNumber(checkpoint, global);
  if (!value) {
    report(Rule::ScaleType, value.why().text);
    return;
  }
  tensor.globalValue = *value;
  if (!canScale(*value)) {
    report(Rule::NanScale, named(global) + " = " + print(*value) +
                               "; expected a positive finite number");
    return;
  }
  bool isDivisor = tensor.globalUse == GlobalUse::Divisor;
  double largest = largestBlockValue(tensor, scales);
  if (*value == 1)
    report(Rule::DefaultGlobalScale,
           named(global) +
               " is exactly 1, as where a missing one is taken for "
               "1; the largest value is then " +
               print(largest));
  checkReciprocal(Rule::ReciprocalGlobalScale, global, *value, largest,
                  isDivisor, kLargestWeight);
}

void Checker::checkInput() {
  const Tensor &input = *tensor.inputScale;
  Result<double> value = readNumber(checkpoint, input);
  if (!value) {
    report(Rule::ScaleType, value.why().text);
    return;
  }
  tensor.inputValue = *value;
  if (!canScale(*value)) {
    report(Rule::NanScale, named(input) + " = " + print(*value) +
                               "; expected a positive finite number");
    return;
  }
  double largest = tensor.format == "NVFP4"
                       ? formatInfo(ElementFormat::UE4M3).largest *
                             formatInfo(ElementFormat::E2M1).largest
                       : formatInfo(ElementFormat::E4M3).largest;
  checkReciprocal(Rule::ReciprocalInputScale, input, *value, largest,
                  tensor.inputUse == GlobalUse::Divisor, kLargestActivation);
}

static void checkTensor(const Checkpoint &checkpoint,
                        const CheckOptions &options, CheckedTensor &tensor) {
  Checker checker{checkpoint, tensor, {}};
  if (tensor.scales && options.readScales)
    checker.checkScales();
  if (tensor.globalScale)
    checker.checkGlobal();
  if (tensor.inputScale)
    checker.checkInput();
  if (!tensor.element || !checker.scales || checker.scales->largest <= 0)
    return;
  double largest = largestBlockValue(tensor, checker.scales);
  if (tensor.globalScale) {
    if (!tensor.globalValue || !canScale(*tensor.globalValue))
      return;
    largest = tensor.globalUse == GlobalUse::Divisor
                  ? largest / *tensor.globalValue
                  : largest * *tensor.globalValue;
  }
  tensor.largestValue = largest;
}

//===----------------------------------------------------------------------===//
// Parameters together
//===----------------------------------------------------------------------===//

/// Layers that loaders multiply as one.
static constexpr std::array<std::array<std::string_view, 3>, 3> kFused{
    {{"gate_proj", "up_proj", ""},
     {"w1", "w3", ""},
     {"q_proj", "k_proj", "v_proj"}}};

/// The place of a parameter among layers that are fused: its parent, and the
/// first of the layers.
static std::optional<std::pair<std::string, std::string>>
fusedWith(const std::string &name) {
  constexpr std::string_view kParameter = ".weight";
  if (!endsWith(name, kParameter))
    return std::nullopt;
  std::string layer = name.substr(0, name.size() - kParameter.size());
  size_t dot = layer.rfind('.');
  std::string parent = dot == std::string::npos ? "" : layer.substr(0, dot);
  std::string last = layer.substr(dot == std::string::npos ? 0 : dot + 1);
  for (const auto &set : kFused)
    for (std::string_view each : set)
      if (!each.empty() && each == last)
        return std::pair(parent, std::string(set[0]));
  return std::nullopt;
}

static void compareFused(std::vector<CheckedTensor> &tensors) {
  std::map<std::pair<std::string, std::string>, CheckedTensor *> first;
  for (CheckedTensor &tensor : tensors) {
    auto key = fusedWith(tensor.name);
    if (!key || !tensor.globalValue)
      continue;
    CheckedTensor *&other = first.try_emplace(*key, &tensor).first->second;
    if (*other->globalValue == *tensor.globalValue)
      continue;
    tensor.findings.push_back(
        {Rule::UnequalGlobalScales,
         named(*tensor.globalScale) + " = " +
             formatNumber("%.9g", *tensor.globalValue) + ", but that of '" +
             other->name + "' is " + formatNumber("%.9g", *other->globalValue) +
             ": a loader that multiplies both layers as one keeps one scale"});
  }
}

/// Factors and divisors in one checkpoint.
static void compareUses(CheckReport &report) {
  const CheckedTensor *factor = nullptr, *divisor = nullptr;
  for (const CheckedTensor &tensor : report.tensors) {
    if (tensor.globalUse == GlobalUse::Factor)
      factor = &tensor;
    if (tensor.globalUse == GlobalUse::Divisor)
      divisor = &tensor;
  }
  if (factor && divisor)
    report.findings.push_back(
        {Rule::MixedFamilies,
         "the global scale of '" + factor->name + "' is a factor (" +
             std::string(familyName(factor->family)) + "), that of '" +
             divisor->name + "' a divisor (" +
             std::string(familyName(divisor->family)) + ")"});
}

unsigned CheckReport::count(Grade grade) const {
  unsigned result = 0;
  auto addAll = [&](const std::vector<Finding> &list) {
    for (const Finding &finding : list)
      result += ruleInfo(finding.rule).grade == grade;
  };
  addAll(findings);
  for (const CheckedTensor &tensor : tensors)
    addAll(tensor.findings);
  return result;
}

CheckReport checkpoint::check(const Checkpoint &checkpoint,
                              const CheckOptions &options) {
  CheckReport report;
  uint64_t total = 0, done = 0;
  uint64_t number = 0;
  for (QuantizedTensor &tensor : recognize(checkpoint)) {
    uint64_t place = number++;
    if (place < options.first || place - options.first >= options.count)
      continue;
    if (tensor.scales && options.readScales)
      total += tensor.scales->bytes;
    report.tensors.push_back({std::move(tensor), {}, {}, {}});
  }
  for (CheckedTensor &tensor : report.tensors) {
    checkTensor(checkpoint, options, tensor);
    if (tensor.scales && options.readScales)
      done += tensor.scales->bytes;
    if (options.progress)
      options.progress(done, total);
  }
  if (checkpoint.shardCount() > 1)
    report.findings.push_back(
        {Rule::LoneShard,
         "this is one of " + std::to_string(checkpoint.shardCount()) +
             " files of a model: what a parameter lacks may be in the others; "
             "name their index or their folder"});
  compareFused(report.tensors);
  compareUses(report);
  return report;
}
