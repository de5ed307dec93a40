//===- ZeroTerms.h - terms of zero points in real units --------- -*- C++ -*-=//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_ZEROTERMS_H
#define BLOCKSCALE_LIB_RUNTIME_ZEROTERMS_H

#include "blockscale/Runtime/HostOperands.h"

namespace blockscale::runtime {

/// What is wrong with the zero points of `terms`; empty if nothing is.
std::string whyNotZeros(const plan::ZeroTerms &terms,
                        const HostOperands &operands);

/// The memory of "a_terms" or "b_terms": zero points of the operand's rows, and
/// sums of them for those of the other one. The sums are taken in f64 and
/// rounded to f32.
Result<std::vector<uint8_t>> packTerms(const plan::Kernel &kernel,
                                       const plan::Environment &sizes,
                                       const HostOperands &operands,
                                       const plan::Parameter &parameter);

} // namespace blockscale::runtime

#endif // BLOCKSCALE_LIB_RUNTIME_ZEROTERMS_H
