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
#include "blockscale/Formats/ProgressLine.h"

#include <optional>

namespace blockscale::driver {

/// The option --progress, and the line that it asks for. Without the option it
/// speaks to terminals only.
class Progress {
public:
  explicit Progress(CommandLine &command);

  /// Reports the run that `options` are for, which is called `name`.
  void attach(std::string name, emulator::Options &options);
  /// A run that is called `name` begins; `unit` is what report() counts.
  void begin(std::string name, std::string unit);
  /// One thread at a time.
  void report(uint64_t ended, uint64_t total);
  /// The run is over.
  void finish();
  /// What the option says; nothing if it is not given.
  std::optional<bool> choice() const;

private:
  CommandLine &command;
  bool wanted = false;
  /// The command's start.
  const ProgressLine::Clock::time_point start = ProgressLine::Clock::now();
  std::optional<ProgressLine> line;
};

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_PROGRESS_H
