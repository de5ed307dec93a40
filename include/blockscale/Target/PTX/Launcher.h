//===- Launcher.h - C++ source that launches planned kernels ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TARGET_PTX_LAUNCHER_H
#define BLOCKSCALE_TARGET_PTX_LAUNCHER_H

#include "blockscale/Plan/Plan.h"
#include <string>

namespace blockscale {

/// A C++17 header that needs `cuda.h` and the standard library only. For each
/// kernel of `plan` it holds a struct of arguments and three functions: one
/// gets the kernel from a loaded module and asks for its shared memory, one
/// builds the tensor maps, one launches. All of them return `CUresult`. Of a
/// plan with alternatives it has these of each target in a namespace, and
/// beside them functions that choose: pickTarget() by the device, and for each
/// kernel one that gets it and one that launches it, with the target as an
/// argument.
std::string printLauncher(const plan::Plan &plan);

} // namespace blockscale

#endif // BLOCKSCALE_TARGET_PTX_LAUNCHER_H
