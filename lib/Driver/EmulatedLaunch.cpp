//===- EmulatedLaunch.cpp - a launch with its memory ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatedLaunch.h"
#include "Verb.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Plan/Variants.h"
#include "blockscale/Verify/Arguments.h"

#include <algorithm>
#include <new>

using namespace blockscale;
using namespace blockscale::driver;

namespace {
/// What --set says besides factors.
struct Settings {
  plan::Environment sizes;
  std::optional<int64_t> numSms, maxClusters;
};
} // namespace

std::optional<std::pair<std::string, std::string>>
driver::splitPair(std::string_view text) {
  auto [name, value] = splitAt(text, '=');
  if (name.empty() || value.empty())
    return std::nullopt;
  return std::pair(std::string(name), std::string(value));
}

//===----------------------------------------------------------------------===//
// Launches from a plan
//===----------------------------------------------------------------------===//

static int readPlanMemory(const std::vector<std::string> &inputs,
                          const plan::Kernel &kernel,
                          const plan::Environment &sizes,
                          EmulatedLaunch &prepared) {
  auto &memory = prepared.data.memory;
  for (const std::string &text : inputs) {
    auto [role, path] = *splitPair(text);
    Result<packing::NpyArray> file = packing::readNpy(path);
    if (!file)
      return reportError(file.why().text, kFailure);
    memory[role] = std::move(file->data);
  }
  for (const plan::Parameter &parameter : kernel.parameters) {
    bool isOurs =
        plan::isOfResult(parameter) || parameter.role == plan::kWorkspaceRole;
    if (!isOurs || memory.count(parameter.role))
      continue;
    Result<uint64_t> bytes = verify::memoryBytes(kernel, parameter, sizes);
    if (!bytes)
      return reportError(bytes.why().text, kFailure);
    try {
      memory[parameter.role].resize(*bytes);
    } catch (const std::bad_alloc &) {
      return reportError("'" + parameter.role + "' takes " +
                             std::to_string(*bytes) +
                             " bytes, more than this host has to give",
                         kFailure);
    }
  }
  for (const auto &entry : memory) {
    const std::string &role = entry.first;
    if (std::none_of(kernel.parameters.begin(), kernel.parameters.end(),
                     [&](const auto &each) { return each.role == role; }))
      return reportError("kernel '" + kernel.name + "' has no parameter '" +
                             role + "'",
                         kNotUnderstood);
  }
  return kSuccess;
}

static int readSettings(const std::vector<std::string> &settings,
                        Settings &given, EmulatedLaunch &prepared) {
  for (const std::string &text : settings) {
    auto [name, value] = *splitPair(text);
    bool isFactor = name == "alpha" || name == "beta";
    std::optional<double> number =
        isFactor ? parseNumber(value) : std::optional<double>();
    std::optional<int64_t> integer = parseInteger<int64_t>(value);
    if (isFactor ? !number : !integer)
      return reportError("'" + value + "' is no value for '" + name + "'",
                         kNotUnderstood);
    if (isFactor)
      prepared.data.scalars[name] = static_cast<float>(*number);
    else if (name == "num_sms")
      given.numSms = integer;
    else if (name == "max_clusters")
      given.maxClusters = integer;
    else
      given.sizes[name] = *integer;
  }
  return kSuccess;
}

/// Whether a launch of the kernel says this factor.
static bool hasFactor(const plan::Kernel &kernel, std::string_view factor) {
  return std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                     [&](const plan::Parameter &each) {
                       return each.role == factor &&
                              each.kind == plan::ParameterKind::Scalar;
                     });
}

int driver::prepareLaunch(const PlannedLaunch &planned,
                          const std::string &kernel,
                          const emulator::Module &module,
                          EmulatedLaunch &prepared) {
  Result<std::string> text = readFile(planned.file);
  if (!text)
    return reportError(text.why().text, kFailure);
  Result<plan::Plan> plan = plan::parsePlan(*text);
  if (!plan)
    return reportError("'" + planned.file + "': " + plan.why().text, kFailure);
  Result<const plan::Plan *> chosen = plan::planForTarget(*plan, module.target);
  if (!chosen)
    return reportError("'" + planned.file + "': " + chosen.why().text,
                       kFailure);
  const std::vector<plan::Kernel> &kernels = (*chosen)->kernels;
  const plan::Kernel *found = kernels.empty() ? nullptr : &kernels.front();
  if (!kernel.empty())
    found = plan::findKernel(**chosen, kernel);
  if (!found)
    return reportError("'" + planned.file + "' has no kernel '" + kernel + "'",
                       kFailure);
  Settings given;
  if (int code = readSettings(planned.settings, given, prepared))
    return code;
  if (auto rows = given.sizes.find("M"); rows != given.sizes.end())
    found = plan::kernelForRows(**chosen, found, uint64_t(rows->second));
  for (const auto &[factor, value] : prepared.data.scalars)
    if (!hasFactor(*found, factor))
      return reportError("kernel '" + found->name + "' has no '" + factor +
                             "' to set",
                         kNotUnderstood);
  if (auto why = verify::whyNotParameters(*found, module))
    return reportError(why->text, kFailure);
  for (const char *factor : {"alpha", "beta"})
    if (std::optional<double> fixed =
            plan::fixedOperand(**chosen, found->name, factor))
      prepared.data.scalars.try_emplace(factor, float(*fixed));
  auto residency = given.numSms ? Result<verify::Residency>(verify::residencyOn(
                                      *given.numSms, *found))
                                : verify::residencyOn(**chosen, *found);
  if (!residency)
    return reportError(residency.why().text, kFailure);
  prepared.sms =
      unsigned(std::clamp<int64_t>(residency->numSms, 0, UINT32_MAX));
  residency->maxClusters = given.maxClusters.value_or(residency->maxClusters);
  Result<plan::Environment> sizes =
      verify::bindSizes(*found, given.sizes, *residency);
  if (!sizes)
    return reportError(sizes.why().text, kNotUnderstood);
  if (int code = readPlanMemory(planned.inputs, *found, *sizes, prepared))
    return code;
  Result<emulator::Launch> launch =
      verify::buildLaunch(*found, *sizes, prepared.data);
  if (!launch)
    return reportError(launch.why().text, kFailure);
  prepared.launch = *std::move(launch);
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Launches from arguments
//===----------------------------------------------------------------------===//

int driver::prepareLaunch(const SpelledLaunch &spelled,
                          const std::string &kernel, EmulatedLaunch &prepared) {
  emulator::Launch &launch = prepared.launch;
  launch.kernel = kernel;
  launch.dynamicSharedBytes = spelled.shared;
  launch.oversizedShared = spelled.oversizedShared;
  const std::pair<const std::string &, emulator::Dim3 *> extents[] = {
      {spelled.grid, &launch.grid},
      {spelled.cluster, &launch.cluster},
      {spelled.block, &launch.block}};
  for (const auto &[text, dim] : extents) {
    Result<emulator::Dim3> parsed = verify::parseDim3(text);
    if (!parsed)
      return reportError(parsed.why().text, kNotUnderstood);
    *dim = *parsed;
  }
  for (size_t index = 0; index < spelled.arguments.size(); ++index) {
    Result<verify::TextArgument> parsed =
        verify::parseArgument(spelled.arguments[index]);
    if (!parsed)
      return reportError(parsed.why().text, kNotUnderstood);
    verify::TextArgument argument = *std::move(parsed);
    if (argument.array) {
      uint32_t buffer = uint32_t(launch.buffers.size());
      prepared.arrays.push_back(
          std::make_unique<packing::NpyArray>(std::move(*argument.array)));
      packing::NpyArray &array = *prepared.arrays.back();
      prepared.byParameter[unsigned(index)] = &array;
      launch.buffers.push_back(
          {array.data.data(), array.data.size(), argument.writable});
      if (auto *map =
              std::get_if<emulator::TensorMapArgument>(&argument.argument))
        map->buffer = buffer;
      else
        argument.argument = emulator::BufferArgument{buffer, 0};
    }
    launch.arguments.push_back(std::move(argument.argument));
  }
  return kSuccess;
}
