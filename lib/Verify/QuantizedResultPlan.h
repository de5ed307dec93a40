//===- QuantizedResultPlan.h - what plans say of quantised D ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_QUANTIZEDRESULTPLAN_H
#define BLOCKSCALE_LIB_VERIFY_QUANTIZEDRESULTPLAN_H

#include "blockscale/Reference/Matmul.h"
#include "blockscale/Reference/Quantize.h"
#include "blockscale/Verify/Verify.h"

#include <optional>
#include <string_view>
#include <vector>

namespace blockscale::verify {

/// The entry of a list of operands that is D's; null if there is none.
template <typename T> const T *ofResult(const std::vector<T> &list) {
  for (const T &entry : list)
    if (entry.operand == "d")
      return &entry;
  return nullptr;
}

/// The layout of scales of groups of rows.
inline constexpr std::string_view kGrouped = "grouped_128x4";

/// What sums are rounded to before they are quantised.
std::optional<reference::OutputType>
typeBefore(const plan::Quantization &planned);

/// The plain scales of D, if it has such: one for each tile, or one for all of
/// a matrix.
const plan::VectorScales *plainOf(const plan::Kernel &kernel);

/// Whether somebody gives the one scale of each matrix.
bool hasGivenScale(const plan::Kernel &kernel);

/// Elements of a row of D for which memory has a scale; 0 if the plan does not
/// say so.
uint64_t blockOf(const plan::Kernel &kernel);

/// Rows of D that share a scale and are compared together, and elements of
/// each.
uint64_t rowsOf(const plan::Kernel &kernel);
uint64_t tileOf(const plan::Kernel &kernel);

/// How D is quantised, or what is wrong with the plan.
Result<reference::Quantization> ruleOf(const plan::Kernel &kernel);

/// Whether each group has a matrix of D.
bool hasMatrices(const Inputs &inputs);

/// Whether the rows of all groups are in one matrix.
bool areInOne(const Inputs &inputs);

/// Matrices of D that have a tensor scale each.
uint64_t matricesOf(const Inputs &inputs);

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_QUANTIZEDRESULTPLAN_H
