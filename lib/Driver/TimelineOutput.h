//===- TimelineOutput.h - record and write a timeline -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_TIMELINEOUTPUT_H
#define BLOCKSCALE_LIB_DRIVER_TIMELINEOUTPUT_H

#include "CommandLine.h"
#include "blockscale/Driver/OutputFiles.h"
#include "blockscale/Emulator/Machine.h"
#include "blockscale/Timeline/Timeline.h"

#include <memory>
#include <string>

namespace blockscale::driver {

/// The options --timeline and --report of a verb, and the run they look at: the
/// first one, of which the first cluster is recorded.
class TimelineOutput {
public:
  explicit TimelineOutput(CommandLine &command);

  /// Asks for the events of a run if an option wants them and no run was
  /// recorded before. An exit code; 0 is success.
  int attach(const emulator::Module &module, const emulator::Launch &launch,
             emulator::Options &options);
  /// Prints what was recorded, and adds the trace to `files`.
  void finish(OutputFiles &files);

  /// What the options say: where traces go, empty for none, and whether to
  /// print reports.
  const std::string &target() const { return file; }
  bool wantsReport() const { return report; }

private:
  bool isPicture() const {
    return file.size() > 4 && file.compare(file.size() - 4, 4, ".svg") == 0;
  }

  std::string file;
  bool report = false;
  std::string kernel;
  timeline::Conditions conditions;
  std::unique_ptr<timeline::Timeline> timeline;
};

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_TIMELINEOUTPUT_H
