//===- Tensor.h - parts of the tcgen05 family -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_TENSORCORE_TENSOR_H
#define BLOCKSCALE_LIB_EMULATOR_TENSORCORE_TENSOR_H

#include "../Program/Decoder.h"
#include "../Run/State.h"

namespace blockscale::emulator::machine {

/// The CTAs of an instruction; false after a report.
bool contextOf(Cluster &cluster, const Origin &origin, unsigned group,
               TensorContext &context);

/// The queue of the tensor core that an instruction of this CTA goes to.
uint32_t queueOf(const Exec &x, unsigned group);

/// Records what an operation of the tensor core has found.
void reportIssues(Cluster &cluster, const Origin &origin, unsigned group,
                  const TensorReport &result);

/// tcgen05.mma.
bool decodeMma(Decoder &d, const Instruction &in, Record &r);

/// tcgen05.alloc, dealloc and relinquish_alloc_permit.
bool decodeTensorAllocation(Decoder &d, const Instruction &in, Record &r);

/// tcgen05.ld and tcgen05.st.
bool decodeTensorFragment(Decoder &d, const Instruction &in, Record &r,
                          bool isLoad);

/// What a tcgen05.ld or st moves for a warp.
uint64_t fragmentBytes(const Record &r);

/// tcgen05.wait: the whole warp must be here.
Step waitTensorWarp(Exec &x, const Record &r);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_TENSORCORE_TENSOR_H
