//===- PtxHeader.h - what a module of PTX says of itself --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM 22 writes PTX up to 9.0 and knows no chip that is newer. Instructions
// beyond that go through it as inline assembly, and the header is written anew
// behind it: the smallest version that has the chip and every instruction,
// never below what LLVM wrote.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_PTXHEADER_H
#define BLOCKSCALE_LIB_TARGET_PTX_PTXHEADER_H

#include <string>

namespace blockscale {

/// `ptx`, as LLVM wrote it, with the header that `chip` and its instructions
/// need.
std::string withFittingHeader(std::string ptx, const std::string &chip);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_PTXHEADER_H
