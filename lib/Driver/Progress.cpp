//===- Progress.cpp - how far a long run is -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

using namespace blockscale;
using namespace blockscale::driver;

Progress::Progress(CommandLine &command) : command(command) {
  command.flag(
      "progress", wanted,
      "Say on standard error how far a command of more than a second is "
      "(default: on a terminal only)");
}

std::optional<bool> Progress::choice() const {
  if (!command.isGiven("progress"))
    return std::nullopt;
  return wanted;
}

void Progress::begin(std::string name, std::string unit) {
  if (!line)
    line.emplace(choice());
  line->begin(std::move(name), std::move(unit), start);
}

void Progress::attach(std::string name, emulator::Options &options) {
  begin(std::move(name), "clusters");
  if (line->isSilent())
    return;
  options.progress = [this](uint64_t ended, uint64_t total) {
    report(ended, total);
  };
}

void Progress::report(uint64_t ended, uint64_t total) {
  if (line)
    line->report(ended, total);
}

void Progress::finish() {
  if (line)
    line->finish();
}
