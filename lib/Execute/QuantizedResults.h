//===- QuantizedResults.h - scales and codes of results ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EXECUTE_QUANTIZEDRESULTS_H
#define BLOCKSCALE_LIB_EXECUTE_QUANTIZEDRESULTS_H

#include "Arrays.h"
#include "Differences.h"
#include "blockscale/Execute/CheckFunctions.h"

namespace blockscale::execute {

/// The parts of a result that is a scaled tensor, of which the first has a
/// number among all results.
struct ScaledParts {
  size_t first = 0;
  llvm::ArrayRef<HostArray> expected, found;
};

/// Whether that part of a tensor of `type` is scales, those of matrices
/// included.
bool isScale(ScaledTensorType type, size_t part);

/// What the numbers that are quantised, and a scale that is given for them, may
/// differ by.
Difference differenceOf(QuantizeOp quantizer, Differences &differences);

/// Compares a result of `quantizer`, which reads `numbers` the expected way,
/// where each may be off by `part` of the largest of them: the bound of an
/// unquantised result, beside a step of their type if that has less bits than
/// f32. So a scale may be any that its rule makes of magnitudes so near, a code
/// any of a number so near under the scale that was found. Compares nothing,
/// and returns false, where nobody here knows the rule.
bool compareQuantized(QuantizeOp quantizer, double part,
                      const HostArray &numbers, const ScaledParts &parts,
                      FunctionVerdict &verdict);

} // namespace blockscale::execute

#endif // BLOCKSCALE_LIB_EXECUTE_QUANTIZEDRESULTS_H
