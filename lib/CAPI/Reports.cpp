//===- Reports.cpp - results as JSON --------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reports.h"

#include <nlohmann/json.hpp>

using namespace blockscale;
using namespace blockscale::capi;

static Json toJson(const emulator::Finding &finding) {
  return {{"kind", emulator::name(finding.kind)},
          {"message", finding.message},
          {"line", finding.line},
          {"cta", finding.cta},
          {"warp", finding.warp},
          {"lane", finding.lane},
          {"address", finding.address},
          {"hazard", finding.hazard},
          {"text", emulator::toString(finding)}};
}

Json capi::toJson(const std::vector<emulator::Finding> &findings) {
  Json list = Json::array();
  for (const emulator::Finding &finding : findings)
    list.push_back(::toJson(finding));
  return list;
}

Json capi::toJson(const emulator::Counters &count) {
  Json mmas = Json::object();
  for (size_t i = 0; i < count.mmas.size(); ++i)
    mmas[name(emulator::MmaKind(i))] = count.mmas[i];
  return {{"clusters", count.clusters},
          {"instructions", count.instructions},
          {"mmas", mmas},
          {"macs", count.macs},
          {"warpMmas", count.warpMmas},
          {"tensorCopies", count.tensorCopies},
          {"tmaLoadBytes", count.tmaLoadBytes},
          {"tmaStoreBytes", count.tmaStoreBytes},
          {"barrierWaits", count.barrierWaits},
          {"commits", count.commits}};
}

Json capi::toJson(emulator::OpenPointSet points) {
  Json list = Json::array();
  for (size_t i = 0; i < size_t(emulator::OpenPoint::Count); ++i)
    if (points.contains(static_cast<emulator::OpenPoint>(i)))
      list.push_back({{"name", emulator::openPoints()[i].name},
                      {"choice", emulator::openPoints()[i].choice}});
  return list;
}

std::string capi::print(const Json &json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string capi::runReport(const emulator::RunResult &result) {
  return print({{"clean", result.clean()},
                {"findings", toJson(result.findings)},
                {"advice", toJson(result.advice)},
                {"counters", toJson(result.counters)},
                {"openPoints", toJson(result.openPoints)}});
}

static Json toJson(const verify::Verdict &verdict) {
  Json sizes = Json::object();
  for (const auto &[name, value] : verdict.sizes)
    sizes[name] = value;
  const reference::Comparison &comparison = verdict.comparison;
  Json first;
  if (comparison.first)
    first = {{"batch", comparison.first->batch},
             {"row", comparison.first->row},
             {"column", comparison.first->column},
             {"expected", comparison.first->expected},
             {"found", comparison.first->found}};
  return {{"kernel", verdict.kernel},
          {"passed", verdict.passed()},
          {"data", verify::dataKindName(verdict.data)},
          {"conditions", verify::conditionsName(verdict.conditions)},
          {"sizes", sizes},
          {"error", verdict.why ? verdict.why->text : ""},
          {"compared", comparison.compared},
          {"mismatches", comparison.mismatches},
          {"firstMismatch", first},
          {"worstError", comparison.worst},
          {"unwritten", verdict.unwritten},
          {"diagnosis", verdict.diagnosis},
          {"findings", toJson(verdict.run.findings)},
          {"openPoints", toJson(verdict.run.openPoints)},
          {"clusters", verdict.clusters},
          {"clustersRun", verdict.clustersRun},
          {"seconds", verdict.emulationSeconds}};
}

std::string capi::verdictReport(const std::vector<verify::Verdict> &verdicts) {
  Json list = Json::array();
  for (const verify::Verdict &verdict : verdicts)
    list.push_back(::toJson(verdict));
  return print(list);
}
