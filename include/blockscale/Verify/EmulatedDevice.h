//===- EmulatedDevice.h - launches from host memory, emulated ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_VERIFY_EMULATEDDEVICE_H
#define BLOCKSCALE_VERIFY_EMULATEDDEVICE_H

#include "blockscale/Runtime/HostOperands.h"
#include "blockscale/Verify/Verify.h"

#include <functional>
#include <memory>

namespace blockscale::verify {

/// Does for a compiled function what the runtime does with a GPU.
class EmulatedDevice {
public:
  /// Host threads; 0 for as many as there are.
  unsigned threads = 0;
  emulator::Completion completion = emulator::Completion::Immediate;
  uint64_t seed = 1;
  /// Called before each run, and may change what it gets.
  std::function<void(emulator::Launch &, emulator::Options &)> beforeRun;
  /// Called after each run.
  std::function<void(const emulator::Launch &, const emulator::RunResult &)>
      afterRun;

  /// Launches `kernel` as blockscaleRuntimeLaunch does, on the reference part
  /// of the plan's chip. The image is PTX. Returns what went wrong.
  std::string launch(BlockscaleKernels &kernels, const std::string &kernel,
                     const BlockscaleOperand *operands, int64_t count);

  /// Launches so far, and what the emulator found in them.
  uint64_t launches = 0;
  std::vector<emulator::Finding> findings;
  emulator::OpenPointSet openPoints;

private:
  /// Plan and PTX, read once; by the address of what the function holds.
  struct Loaded {
    plan::Plan plan;
    emulator::ParseResult ptx;
  };
  Result<const Loaded *> load(const BlockscaleKernels &kernels);

  std::map<const void *, std::unique_ptr<Loaded>> loaded;
};

} // namespace blockscale::verify

#endif // BLOCKSCALE_VERIFY_EMULATEDDEVICE_H
