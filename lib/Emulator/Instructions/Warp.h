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

/// Whether the whole warp executes this matrix instruction now; if not, `step`
/// is what the handler returns.
bool wholeWarp(Exec &x, const Record &r, Step &step);

/// Copies registers into a flat array: word w of lane l at [w * 32 + l].
/// Registers of 64 bits are two words, the low half first.
void gatherWords(Exec &x, Slots slots, uint32_t *out, unsigned bits = 32);
/// The reverse.
void scatterWords(Exec &x, Slots slots, const uint32_t *in, unsigned bits = 32);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_WARP_H
