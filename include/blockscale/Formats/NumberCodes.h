//===- NumberCodes.h - codes of float formats of a byte ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formats that number specs name and hardware does not know: scales of them are
// read by kernels, as numbers.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FORMATS_NUMBERCODES_H
#define BLOCKSCALE_FORMATS_NUMBERCODES_H

#include "blockscale/Formats/NumberSpec.h"

namespace blockscale {

/// The number of a code of a float format of at most 8 bits, NaN and infinities
/// included; bits above those of the format are ignored.
float numberOfCode(const NumberSpec &spec, uint32_t code);

/// The code of the number of such a format that is nearest, as roundTo() says;
/// NaN gives the NaN without a sign, or with one where there is no other.
uint32_t codeOfNumber(const NumberSpec &spec, double value);

} // namespace blockscale

#endif // BLOCKSCALE_FORMATS_NUMBERCODES_H
