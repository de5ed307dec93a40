//===- EpiloguePlan.cpp - what a plan says of an epilogue -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpiloguePlan.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace blockscale;

static std::string stepName(size_t number) {
  return "t" + std::to_string(number);
}

/// A decimal number that is the constant again when it is read as f32.
static std::string constantText(TypedAttr value) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return integer.getValue().isZero() ? "0" : "1";
  llvm::APFloat number = cast<FloatAttr>(value).getValue();
  if (number.isNaN())
    return "nan";
  if (number.isInfinity())
    return number.isNegative() ? "-inf" : "inf";
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("%.9g", number.convertToDouble());
  return text;
}

/// The sum of the inputs, from left to right.
static void planSum(ArrayRef<EpilogueInput> inputs, plan::Epilogue &plan) {
  for (EpilogueInput input : inputs.drop_front()) {
    std::string name = stepName(plan.steps.size());
    plan.steps.push_back({name,
                          "arith.addf",
                          {plan.result, epilogueInputName(input).str()},
                          "f32",
                          "",
                          std::nullopt});
    plan.result = name;
  }
}

static std::string typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

LogicalResult
blockscale::planEpilogue(EpilogueAttr epilogue, ArrayRef<EpilogueInput> inputs,
                         function_ref<InFlightDiagnostic()> diagnose,
                         plan::Epilogue &plan) {
  if (!epilogue) {
    planSum(inputs, plan);
    return success();
  }
  if (epilogue.getInputs() != int64_t(inputs.size()))
    return diagnose() << "has an epilogue of " << epilogue.getInputs()
                      << " inputs, but the kernel's parameters are for "
                      << inputs.size();
  std::vector<std::string> names;
  for (EpilogueInput input : inputs)
    names.push_back(epilogueInputName(input).str());
  for (auto attribute : epilogue.getSteps().getAsRange<EpilogueStepAttr>()) {
    plan::EpilogueStep step;
    step.name = stepName(plan.steps.size());
    step.op = attribute.getOp().str();
    if (DenseI64ArrayAttr operands = attribute.getOperands())
      for (int64_t operand : operands.asArrayRef())
        step.operands.push_back(names[operand]);
    step.type = typeName(attribute.getType());
    if (StringAttr predicate = attribute.getPredicate())
      step.predicate = predicate.str();
    if (TypedAttr value = attribute.getValue())
      step.constant = constantText(value);
    names.push_back(step.name);
    plan.steps.push_back(std::move(step));
  }
  plan.result = names[epilogue.getResult()];
  return success();
}
