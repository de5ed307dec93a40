//===- KernelTime.h - the timeline's word on a kernel -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_KERNELTIME_H
#define BLOCKSCALE_LIB_DRIVER_KERNELTIME_H

#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Plan/Expression.h"
#include "blockscale/Timeline/Timeline.h"

#include <optional>
#include <string>

namespace blockscale::driver {

/// One cluster of a kernel on the emulator and the model of time.
struct TimedKernel {
  std::optional<timeline::Estimate> estimate;
  hw::Part part;
  plan::Environment sizes;
  /// Why there is no estimate.
  std::string why;
};

/// Runs the first cluster of `kernel`, which is of `compilation`, on the
/// reference part of its target. `rows` is a dynamic M; 0 is a small one of
/// ours. `hasSums` says that what a cluster loads of sums of parts of K is
/// among what it is seen to do, as where whole tiles follow those that are
/// shared out.
TimedKernel timeKernel(const Compilation &compilation,
                       const plan::Kernel &kernel, int64_t rows,
                       bool hasSums = false);

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_KERNELTIME_H
