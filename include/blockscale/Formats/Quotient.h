//===- Quotient.h - a quotient that rounds towards zero ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FORMATS_QUOTIENT_H
#define BLOCKSCALE_FORMATS_QUOTIENT_H

namespace blockscale {

/// The largest binary32 number not above dividend / divisor, of positive
/// numbers: the bound of scales whose product with `divisor` must stay finite.
float quotientTowardsZero(float dividend, float divisor);

} // namespace blockscale

#endif // BLOCKSCALE_FORMATS_QUOTIENT_H
