//===- RunSummary.h - what ran, per kernel ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_RUNSUMMARY_H
#define BLOCKSCALE_LIB_DRIVER_RUNSUMMARY_H

#include "CommandLine.h"
#include "blockscale/Driver/OutputFiles.h"
#include "blockscale/Emulator/Machine.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace blockscale::driver {

/// One launch. The CUDA libraries write the same as lines of JSON
/// (lib/CudaCore/Records.h).
struct LaunchRecord {
  std::string kernel; ///< mangled; empty if no kernel is to blame
  std::string shape;  ///< grid and block; empty for what was not launched
  uint64_t instructions = 0;
  double seconds = 0;
  /// Kind and text of each finding.
  std::vector<std::pair<std::string, std::string>> findings;
  uint64_t advice = 0;
};

/// That of a run of `launch`; `texts` has one for each finding.
LaunchRecord recordOf(const emulator::Launch &launch,
                      const emulator::RunResult &result,
                      const std::vector<std::string> &texts, double seconds);

/// Records from lines of JSON, in their order.
Result<std::vector<LaunchRecord>> parseRecords(std::string_view text);

/// A table with a row for each kernel, in the order of first launches, and the
/// sum below: launches, warp instructions, findings, advice, seconds.
std::string printSummary(const std::vector<LaunchRecord> &launches);

/// JUnit's XML: a suite for each kernel, a case for each launch, which fails
/// where it had findings. Of a whole program, `status` is what it exited with:
/// the case 'exit status' of the suite `program`.
std::string printJUnit(const std::vector<LaunchRecord> &launches,
                       const std::string &program, std::optional<int> status);

/// The options --summary and --junit of a verb.
class RunSummary {
public:
  explicit RunSummary(CommandLine &command);

  bool isWanted() const { return summary || !junit.empty(); }
  /// Prints the table to standard error and adds the XML to `files`.
  void finish(const std::vector<LaunchRecord> &launches,
              const std::string &program, std::optional<int> status,
              OutputFiles &files) const;

private:
  bool summary = false;
  std::string junit;
};

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_RUNSUMMARY_H
