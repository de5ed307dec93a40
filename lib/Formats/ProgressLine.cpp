//===- ProgressLine.cpp - how far a long run is ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Formats/ProgressLine.h"

#include <algorithm>
#include <iostream>
#include <unistd.h>

using namespace blockscale;

static constexpr std::chrono::seconds kFirst(1);
/// Lines of a log are to be read later, and there may be many.
static constexpr std::chrono::seconds kBetweenLines(10);
static constexpr std::chrono::milliseconds kBetweenUpdates(200);

ProgressLine::ProgressLine(std::optional<bool> wanted)
    : isTerminal(::isatty(STDERR_FILENO)) {
  silent = !wanted.value_or(isTerminal);
}

ProgressLine::~ProgressLine() { finish(); }

void ProgressLine::begin(std::string runName, std::string runUnit,
                         Clock::time_point since) {
  finish();
  name = std::move(runName);
  unit = std::move(runUnit);
  next = std::max(next, since + kFirst);
}

void ProgressLine::report(uint64_t ended, uint64_t total) {
  if (silent)
    return;
  Clock::time_point now = Clock::now();
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

void ProgressLine::finish() {
  if (lineIsOpen)
    std::cerr << "\r\033[K" << std::flush;
  lineIsOpen = false;
}
