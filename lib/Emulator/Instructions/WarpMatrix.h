//===- WarpMatrix.h - what matrix instructions name -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_WARPMATRIX_H
#define BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_WARPMATRIX_H

#include "../Program/Decoder.h"
#include "../Units/WarpMma.h"

namespace blockscale::emulator::machine {

/// M, N and K of a modifier like `m16n8k32`; false if it is none.
bool shapeOf(Modifier modifier, unsigned &m, unsigned &n, unsigned &k);
WarpAccumulator accumulatorOf(Type type);

/// mma.sync, mma.sp and wmma.mma.
bool decodeWarpMultiply(Decoder &d, const Instruction &in, Record &r);
/// wmma.load and wmma.store.
bool decodeWarpTile(Decoder &d, const Instruction &in, Record &r);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_WARPMATRIX_H
