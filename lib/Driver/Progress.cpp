//===- Progress.cpp - how far a long run is -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include <iostream>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::driver;

static constexpr std::chrono::seconds kFirst(1);
/// Lines of a log are to be read later, and there may be many.
static constexpr std::chrono::seconds kBetweenLines(10);
static constexpr std::chrono::milliseconds kBetweenUpdates(200);

Progress::Progress(CommandLine &command)
    : command(command), isTerminal(::isatty(STDERR_FILENO)) {
  command.flag("progress", wanted,
               "Say on standard error how far a run of more than a second is "
               "(default: on a terminal only)");
}

Progress::~Progress() { finish(); }

bool Progress::isSilent() const {
  return command.isGiven("progress") ? !wanted : !isTerminal;
}

void Progress::begin(std::string runName, std::string runUnit) {
  finish();
  name = std::move(runName);
  unit = std::move(runUnit);
  next = std::chrono::steady_clock::now() + kFirst;
}

void Progress::attach(std::string runName, emulator::Options &options) {
  begin(std::move(runName), "clusters");
  if (isSilent())
    return;
  options.progress = [this](uint64_t ended, uint64_t total) {
    report(ended, total);
  };
}

void Progress::report(uint64_t ended, uint64_t total) {
  if (isSilent())
    return;
  auto now = std::chrono::steady_clock::now();
  bool isLast = ended == total && lineIsOpen;
  if (now < next && !isLast)
    return;
  next = now;
  if (isTerminal)
    next += kBetweenUpdates;
  else
    next += kBetweenLines;
  // Erases the line before it writes it anew.
  std::cerr << (isTerminal ? "\r\033[K" : "") << name << ": " << ended << " of "
            << total << " " << unit << (isTerminal ? "" : "\n") << std::flush;
  lineIsOpen = isTerminal;
}

void Progress::finish() {
  if (lineIsOpen)
    std::cerr << "\r\033[K" << std::flush;
  lineIsOpen = false;
}
