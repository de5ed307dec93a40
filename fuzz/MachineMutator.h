//===- MachineMutator.h - kernels that a parser takes -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Knows registers, numbers and the instruction forms of real kernels, so that
// most texts pass the PTX parser and reach the decoder and the handlers.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FUZZ_MACHINEMUTATOR_H
#define BLOCKSCALE_FUZZ_MACHINEMUTATOR_H

#include "TextMutator.h"

namespace blockscale::fuzz {

/// One to three changes of a kernel in PTX; a short text becomes a new kernel.
void changeKernel(Random &random, std::string &text);

} // namespace blockscale::fuzz

#endif // BLOCKSCALE_FUZZ_MACHINEMUTATOR_H
