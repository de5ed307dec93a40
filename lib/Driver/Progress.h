//===- Progress.h - how far a long run is -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_PROGRESS_H
#define BLOCKSCALE_LIB_DRIVER_PROGRESS_H

#include "CommandLine.h"
#include "blockscale/Emulator/Machine.h"

#include <chrono>

namespace blockscale::driver {

/// The option --progress, and what it prints to standard error: how much of a
/// run is done, once the run takes more than a second. Without the option it
/// speaks to terminals only, on one line that it takes back.
class Progress {
public:
  explicit Progress(CommandLine &command);
  ~Progress();

  /// Reports the run that `options` are for, which is called `name`.
  void attach(std::string name, emulator::Options &options);
  /// A run that is called `name` begins; `unit` is what report() counts.
  void begin(std::string name, std::string unit);
  /// One thread at a time.
  void report(uint64_t ended, uint64_t total);
  /// The run is over.
  void finish();

private:
  bool isSilent() const;

  CommandLine &command;
  bool wanted = false, isTerminal = false, lineIsOpen = false;
  std::string name, unit;
  std::chrono::steady_clock::time_point next;
};

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_PROGRESS_H
