//===- Settings.cpp - what the environment asks of us
//----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `blockscale emulate --cuda` sets these variables; docs/emulator.md lists
// them.
//
//===----------------------------------------------------------------------===//

#include "Core.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

[[noreturn]] void refuse(const std::string &message) {
  say(message);
  _exit(kBadSettingStatus);
}

/// The value of a variable of the environment; empty if it is not set.
std::string_view setting(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// A switch; `standard` if the variable is not set.
bool isSet(const char *name, bool standard) {
  std::string_view value = setting(name);
  if (value.empty())
    return standard;
  if (value != "0" && value != "1")
    refuse(std::string(name) + " is '" + std::string(value) +
           "', expected 0 or 1");
  return value == "1";
}

/// Sets `number` if the variable is set.
template <typename T> void readNumber(const char *name, T &number) {
  std::string_view value = setting(name);
  if (value.empty())
    return;
  auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size())
    refuse(std::string(name) + " is '" + std::string(value) +
           "', expected a number");
}

hw::Device chosenDevice() {
  std::string_view name = setting("BLOCKSCALE_DEVICE");
  if (name.empty())
    return hw::allDevices().front();
  Result<hw::Device> device = hw::findDevice(name);
  if (!device)
    refuse("BLOCKSCALE_DEVICE: " + device.why().text);
  return *device;
}

emulator::Completion chosenCompletion() {
  std::string_view name = setting("BLOCKSCALE_COMPLETION");
  if (name.empty() || name == "immediate")
    return emulator::Completion::Immediate;
  if (name == "random")
    return emulator::Completion::Random;
  if (name == "latest")
    return emulator::Completion::Latest;
  refuse("BLOCKSCALE_COMPLETION is '" + std::string(name) +
         "', expected immediate, random or latest");
}

/// Of a switch that may be left open.
std::optional<bool> wish(const char *name) {
  if (setting(name).empty())
    return std::nullopt;
  return isSet(name, false);
}

} // namespace

Core::Core()
    : device(chosenDevice()),
      records(std::string(setting("BLOCKSCALE_RECORDS")),
              isSet("BLOCKSCALE_RECORD_ALL", false)),
      report(isSet("BLOCKSCALE_REPORT", false)),
      timelineFolder(setting("BLOCKSCALE_TIMELINE")),
      progress(wish("BLOCKSCALE_PROGRESS")) {
  options.completion = chosenCompletion();
  readNumber("BLOCKSCALE_SEED", options.seed);
  readNumber("BLOCKSCALE_STEP_LIMIT", options.stepLimit);
  readNumber("BLOCKSCALE_THREADS", options.threads);
  options.sms = device.chip().smCount;
  options.sharedBytes = device.chip().sharedMemoryPerCta;
  options.strict = isSet("BLOCKSCALE_STRICT", options.strict);
  options.strictKernel = setting("BLOCKSCALE_STRICT_KERNEL");
  options.advice = isSet("BLOCKSCALE_ADVICE", options.advice);
  if (isSet("BLOCKSCALE_TRACE", false))
    options.trace = [](std::string_view line) {
      std::fprintf(stderr, "%.*s\n", int(line.size()), line.data());
    };
  options.print = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
  };
  watchHostAccesses();
}
