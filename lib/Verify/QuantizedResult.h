//===- QuantizedResult.h - check products that quantise D -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_QUANTIZEDRESULT_H
#define BLOCKSCALE_LIB_VERIFY_QUANTIZEDRESULT_H

#include "blockscale/Reference/Compare.h"
#include "blockscale/Verify/Verify.h"

#include <functional>

namespace blockscale::verify {

/// Adds memory for the codes and scales of D, and tensor scales that suit the
/// product, which all the rest of `inputs` defines; or says what is wrong.
std::optional<Reason> addQuantizedResult(const plan::Kernel &kernel,
                                         const plan::Environment &sizes,
                                         uint64_t seed, Inputs &inputs);

/// The reference's tiles of a product, of so many columns.
using Multiply = std::function<std::vector<reference::TileResult>(
    const reference::Problem &product, uint64_t columns)>;

/// Compares codes and scales with those of what `multiply` says of D, or of
/// each group of its rows. Where they are exact everything agrees bit for bit,
/// the padding of scales and what is not D's included. Else the scale of a
/// block is one that magnitudes within the bound of `criterion` may have, and
/// each code one that such a number has under that scale. With `isSampled` a
/// block that is as before was not run.
void compareQuantized(const plan::Kernel &kernel,
                      const plan::Environment &sizes, const Inputs &inputs,
                      const Multiply &multiply, reference::Criterion criterion,
                      bool isSampled, Verdict &verdict);

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_QUANTIZEDRESULT_H
