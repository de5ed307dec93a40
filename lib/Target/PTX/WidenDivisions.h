//===- WidenDivisions.h - divisions of small numbers ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_WIDENDIVISIONS_H
#define BLOCKSCALE_LIB_TARGET_PTX_WIDENDIVISIONS_H

namespace llvm {
class Function;
} // namespace llvm

namespace blockscale {

/// Divides unsigned numbers of less than 32 bits, which LLVM's optimizer makes
/// of those that it knows to be small, as numbers of 32 bits. For 32 bits ptxas
/// has a dozen instructions; for 16, into which the back end would turn all
/// less, it calls a function, and where warps have passed on registers the
/// quotient comes back through the stack, which counts as a spill.
void widenDivisions(llvm::Function &function);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_WIDENDIVISIONS_H
