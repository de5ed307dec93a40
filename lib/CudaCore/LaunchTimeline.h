//===- LaunchTimeline.h - the estimated time of a launch --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_LAUNCHTIMELINE_H
#define BLOCKSCALE_LIB_CUDACORE_LAUNCHTIMELINE_H

#include "Modules.h"
#include "blockscale/Timeline/Timeline.h"

#include <optional>

namespace blockscale::cuda {

/// Records the first cluster of a launch where the settings ask for it.
class LaunchTimeline {
public:
  /// Has `options` send the events here.
  LaunchTimeline(const emulator::Launch &launch, emulator::Options &options);
  /// Prints the report of the kernel and writes its trace, as
  /// NUMBER-KERNEL.json in the folder.
  void finish(const std::string &kernel);

private:
  timeline::Conditions conditions;
  std::optional<timeline::Timeline> timeline;
};

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_LAUNCHTIMELINE_H
