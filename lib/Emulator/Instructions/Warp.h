//===- Warp.h - meeting of the lanes of a warp ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_WARP_H
#define BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_WARP_H

#include "../Program/Decoder.h"
#include "../Run/State.h"

namespace blockscale::emulator::machine {

/// Whether all living lanes of `wanted` execute this instruction now. If not,
/// the handler blocks: the others join when they get here, or never, which the
/// deadlock report names.
bool gathered(const Exec &x, uint32_t wanted);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_WARP_H
