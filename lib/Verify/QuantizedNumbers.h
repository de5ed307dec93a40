//===- QuantizedNumbers.h - numbers that are quantised ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_QUANTIZEDNUMBERS_H
#define BLOCKSCALE_LIB_VERIFY_QUANTIZEDNUMBERS_H

#include "blockscale/Verify/Verify.h"

namespace blockscale::verify {

/// Exponents of ordinary numbers, and the largest element of the format.
struct NumberRange {
  int smallest, largest;
  float largestElement;
};

/// Number `i` of a block: one of the special kinds that every 16th block has,
/// or an ordinary one, in which number `alone`, if there is one, has an
/// exponent `above` the others'.
float numberOfBlock(uint64_t block, uint64_t i, uint64_t alone, DataKind kind,
                    uint64_t seed, const NumberRange &range, int above = 1);

/// Of a matrix that is quantised both ways: special kinds have tiles of 32 x 32
/// for themselves. Rows and columns have magnitudes of their own, and of 32
/// numbers of a row one is above the others.
float numberBothWays(uint64_t tile, uint64_t row, uint64_t column,
                     DataKind kind, uint64_t seed, const NumberRange &range);

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_QUANTIZEDNUMBERS_H
