//===- ProgressLine.h - how far a long run is -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FORMATS_PROGRESSLINE_H
#define BLOCKSCALE_FORMATS_PROGRESSLINE_H

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace blockscale {

/// Prints to standard error how much of a run is done, once it takes more than
/// a second: on a terminal one line that it takes back, else a line every
/// ten seconds.
class ProgressLine {
public:
  /// Without a wish it speaks to terminals only.
  explicit ProgressLine(std::optional<bool> wanted = std::nullopt);
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  bool isSilent() const { return silent; }
  using Clock = std::chrono::steady_clock;
  /// A run that is called `name` begins; `unit` is what report() counts.
  /// `since` is where the user began to wait, which can be earlier than the
  /// run.
  void begin(std::string name, std::string unit,
             Clock::time_point since = Clock::now());
  /// One thread at a time.
  void report(uint64_t ended, uint64_t total);
  /// The run is over.
  void finish();

private:
  bool silent, isTerminal, lineIsOpen = false;
  std::string name, unit;
  Clock::time_point next;
};

} // namespace blockscale

#endif // BLOCKSCALE_FORMATS_PROGRESSLINE_H
