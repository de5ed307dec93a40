//===- Groups.h - inputs of grouped products --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_GROUPS_H
#define BLOCKSCALE_LIB_VERIFY_GROUPS_H

#include "blockscale/Verify/Verify.h"

namespace blockscale::verify {

/// The ends of `groups` groups of `rows` rows: of no row, of one, of one more
/// or less than tiles and scales have, and of what is left, but for a few rows
/// behind the last group if `rows` is even.
std::vector<uint64_t> drawGroupEnds(uint64_t groups, uint64_t rows,
                                    uint64_t seed);

/// The ends as numbers of i32 in memory.
std::vector<uint8_t> offsetBytes(const std::vector<uint64_t> &ends);

/// Rows of `width` bytes with those of each group moved to where a multiple of
/// 128 rows starts, `padded` rows in all; `padding` fills the others. The
/// reason why not if they are too few.
Result<std::vector<uint8_t>> padGroups(const std::vector<uint8_t> &rows,
                                       uint64_t width,
                                       const std::vector<uint64_t> &ends,
                                       uint64_t padded, uint8_t padding);

/// The rows of one group of the inputs, which have A, C and the factors of rows
/// once and everything else for each group, as a product of its own.
reference::Problem problemOfGroup(const Inputs &inputs, size_t group);

/// What is wrong with the product or with one of its groups.
std::optional<Reason> whyNotProduct(const Inputs &inputs);

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_GROUPS_H
