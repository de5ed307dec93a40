//===- Choice.cpp - what of a plan a device takes -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Plan/Variants.h"

#include <algorithm>
#include <iterator>

using namespace blockscale;
using namespace blockscale::plan;

std::vector<const Plan *> blockscale::plan::choices(const Plan &plan) {
  std::vector<const Plan *> all{&plan};
  for (const Plan &alternative : plan.alternatives)
    all.push_back(&alternative);
  return all;
}

/// "'sm_107a' (compute capability 10.7), 'sm_100f' (compute capability 10.0,
/// 10.3, 10.7)".
static std::string nameTargets(const Plan &plan) {
  std::string text;
  for (const Plan *each : choices(plan)) {
    text += (text.empty() ? "'" : ", '") + each->target + "'";
    std::string words = " (compute capability ";
    for (const std::string &device : each->devices) {
      text += words + device;
      words = ", ";
    }
    if (!each->devices.empty())
      text += ")";
  }
  return text;
}

Result<const Plan *> blockscale::plan::planForDevice(const Plan &plan,
                                                     std::string_view device) {
  for (const Plan *each : choices(plan))
    if (std::find(each->devices.begin(), each->devices.end(), device) !=
        each->devices.end())
      return each;
  return Reason("a device of compute capability " + std::string(device) +
                " runs none of the kernels, which are for " +
                nameTargets(plan));
}

Result<const Plan *> blockscale::plan::planForTarget(const Plan &plan,
                                                     std::string_view target) {
  if (plan.alternatives.empty())
    return &plan;
  for (const Plan *each : choices(plan))
    if (each->target == target)
      return each;
  return Reason("the plan has no kernels for '" + std::string(target) +
                "'; they are for " + nameTargets(plan));
}

Plan blockscale::plan::joinPlans(std::vector<Plan> plans) {
  Plan joined = std::move(plans.front());
  joined.alternatives.assign(std::make_move_iterator(plans.begin() + 1),
                             std::make_move_iterator(plans.end()));
  return joined;
}

std::optional<double> blockscale::plan::fixedOperand(const Plan &plan,
                                                     std::string_view kernel,
                                                     std::string_view operand) {
  std::optional<double> fixed;
  const Kernel *found = findKernel(plan, kernel);
  if (found && found->variantOf)
    kernel = *found->variantOf;
  for (const Function &function : plan.functions)
    for (const Step &step : function.steps) {
      if (step.kernel != kernel)
        continue;
      for (const StepOperand &passed : step.operands) {
        if (passed.operand != operand)
          continue;
        if (!passed.constant || (fixed && fixed != passed.constant))
          return std::nullopt;
        fixed = passed.constant;
      }
    }
  return fixed;
}
