//===- VerifyPlan.cpp - judge all kernels of a plan -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Verify/VerifyPlan.h"
#include "blockscale/Plan/Variants.h"
#include "blockscale/Verify/Memory.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::verify;

static std::vector<int64_t> valuesOf(const std::string &size,
                                     const PlanRequest &request) {
  const std::vector<int64_t> &given = size == "M"   ? request.m
                                      : size == "N" ? request.n
                                      : size == "K" ? request.k
                                                    : request.batch;
  if (!given.empty() && size != plan::kTokensSize)
    return given;
  // Fewer rows than are gathered of them.
  constexpr int64_t kTokens = 100;
  return {size == "batch"             ? 2
          : size == "K"               ? 512
          : size == plan::kTokensSize ? kTokens
                                      : 256};
}

/// A kernel for few rows is tried with those of `values` that it takes, and
/// with the most that it takes if there are none.
static std::vector<int64_t> rowsFor(const plan::Kernel &kernel,
                                    std::vector<int64_t> values) {
  if (!kernel.variantOf)
    return values;
  int64_t most = plan::mostRows(kernel);
  values.erase(std::remove_if(values.begin(), values.end(),
                              [&](int64_t rows) { return rows > most; }),
               values.end());
  return values.empty() ? std::vector<int64_t>{most} : values;
}

/// The sizes to try: the product of what was given per dimension.
static std::vector<plan::Environment> sizesFor(const plan::Kernel &kernel,
                                               const PlanRequest &request) {
  std::vector<plan::Environment> all{{}};
  for (const plan::Size &size : kernel.sizes) {
    if (size.value)
      continue;
    std::vector<int64_t> values = valuesOf(size.name, request);
    if (size.name == "M")
      values = rowsFor(kernel, std::move(values));
    std::vector<plan::Environment> extended;
    for (const plan::Environment &sizes : all)
      for (int64_t value : values) {
        extended.push_back(sizes);
        extended.back()[size.name] = value;
      }
    all = std::move(extended);
  }
  return all;
}

static std::vector<DataKind> kindsOf(DataChoice choice) {
  switch (choice) {
  case DataChoice::Exact:
    return {DataKind::Exact};
  case DataChoice::Random:
    return {DataKind::Random};
  case DataChoice::Both:
    break;
  }
  return {DataKind::Exact, DataKind::Random};
}

static Conditions conditionsFor(DataKind kind, ConditionsChoice choice) {
  bool isHarsh = choice == ConditionsChoice::Harsh ||
                 (choice == ConditionsChoice::Both && kind == DataKind::Random);
  return isHarsh ? Conditions::Harsh : Conditions::Plain;
}

namespace {
class PlanVerifier {
public:
  PlanVerifier(const emulator::Module &module, const PlanRequest &request)
      : module(module), request(request) {}

  /// False if the request ends here.
  bool verify(const plan::Kernel &kernel, const Residency &residency) {
    for (const plan::Environment &given : sizesFor(kernel, request)) {
      Result<plan::Environment> sizes = bindSizes(kernel, given, residency);
      if (!sizes)
        return fail(sizes.why(), /*isRequestWrong=*/true);
      std::string what = "verifying kernel '" + kernel.name + "'";
      Result<uint64_t> bytes = bytesToVerify(kernel, *sizes);
      if (!bytes)
        return fail(Reason(what + ": " + bytes.why().text),
                    /*isRequestWrong=*/true);
      if (auto why = whyNoMemory(what, *bytes, freeMemory()))
        return fail(*why, /*isRequestWrong=*/true);
      for (DataKind kind : kindsOf(request.data)) {
        VerifyOptions options = request.options;
        options.conditions = conditionsFor(kind, request.conditions);
        result.verdicts.push_back(
            verifyKernel(module, kernel, *sizes, kind, options));
        if (options.stop && options.stop->load()) {
          result.stopped = true;
          return false;
        }
        if (request.afterRun && !request.afterRun(result.verdicts.back()))
          return false;
      }
    }
    return true;
  }

  bool fail(Reason why, bool isRequestWrong) {
    result.why = std::move(why);
    result.isRequestWrong = isRequestWrong;
    return false;
  }

  PlanVerdict result;

private:
  const emulator::Module &module;
  const PlanRequest &request;
};
} // namespace

PlanVerdict verify::verifyPlan(const emulator::Module &module,
                               const plan::Plan &plan,
                               const PlanRequest &request) {
  PlanVerifier verifier(module, request);
  if (request.numSms && *request.numSms < 1) {
    verifier.fail("expected at least 1 SM, found " +
                      std::to_string(*request.numSms),
                  /*isRequestWrong=*/true);
    return std::move(verifier.result);
  }
  Result<const plan::Plan *> chosen = plan::planForTarget(plan, module.target);
  if (!chosen) {
    verifier.fail(chosen.why(), /*isRequestWrong=*/true);
    return std::move(verifier.result);
  }
  for (const plan::Kernel &kernel : (*chosen)->kernels) {
    auto residency =
        request.numSms ? Result<Residency>(residencyOn(*request.numSms, kernel))
                       : residencyOn(**chosen, kernel);
    if (!residency) {
      verifier.fail(residency.why(), /*isRequestWrong=*/false);
      break;
    }
    if (!verifier.verify(kernel, *residency))
      break;
  }
  return std::move(verifier.result);
}
