//===- Tensor.h - parts of the tcgen05 family -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_MACHINE_TENSOR_H
#define BLOCKSCALE_LIB_EMULATOR_MACHINE_TENSOR_H

#include "Decoder.h"

namespace blockscale::emulator::machine {

/// tcgen05.alloc, dealloc and relinquish_alloc_permit.
bool decodeTensorAllocation(Decoder &d, const Instruction &in, Record &r);

/// tcgen05.ld and tcgen05.st.
bool decodeTensorFragment(Decoder &d, const Instruction &in, Record &r,
                          bool isLoad);

/// tcgen05.wait: the whole warp must be here.
Step waitTensorWarp(Exec &x, const Record &r);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_MACHINE_TENSOR_H
