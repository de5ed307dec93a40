//===- Groups.h - inputs of grouped products --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_GROUPS_H
#define BLOCKSCALE_LIB_VERIFY_GROUPS_H

#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/Verify/Verify.h"

namespace blockscale::verify {

/// The ends of `groups` groups of `rows` rows: of no row, of one, of one more
/// or less than tiles and scales have, and of what is left, but for a few rows
/// behind the last group if `rows` is even.
std::vector<uint64_t> drawGroupEnds(uint64_t groups, uint64_t rows,
                                    uint64_t seed);

/// How many rows of each of `matrices` matrices of `rows` rows are there: such
/// numbers as groups have, and all of one matrix.
std::vector<uint64_t> drawRowCounts(uint64_t matrices, uint64_t rows,
                                    uint64_t seed);

/// Numbers of i32 in memory, whose low bits count.
template <typename T>
std::vector<uint8_t> offsetBytes(const std::vector<T> &numbers) {
  std::vector<uint8_t> bytes;
  for (T number : numbers)
    for (unsigned i = 0; i < sizeof(int32_t); ++i)
      bytes.push_back(uint8_t(number >> 8 * i));
  return bytes;
}

/// Numbers of `rows` rows of `tokens`, in no order and more than once, a few of
/// them of no row.
std::vector<int64_t> drawRowNumbers(uint64_t rows, uint64_t tokens,
                                    uint64_t seed);

/// Makes the rows of A, with its scales and factors, those of the product:
/// zeros where a number is of no row. `sortedScales` has scales of these rows,
/// if such are not gathered.
void gatherRows(const std::vector<int64_t> &numbers,
                const std::vector<uint8_t> &sortedScales,
                reference::Problem &problem);

/// Rows of `width` bytes with those of each group moved to where a multiple of
/// 128 rows starts, `padded` rows in all; `padding` fills the others. The
/// reason why not if they are too few.
Result<std::vector<uint8_t>> padGroups(const std::vector<uint8_t> &rows,
                                       uint64_t width,
                                       const std::vector<uint64_t> &ends,
                                       uint64_t padded, uint8_t padding);

/// The first row of a group of rows, and the one behind it, among those of all
/// matrices of A after each other.
std::pair<uint64_t, uint64_t> rowsOfGroup(const Inputs &inputs, size_t group);

/// One group of the inputs. Of groups along K what problemOfKGroup() says; the
/// rows of one of rows, which have A, C and the factors of rows
/// once and everything else for each group, as a product of its own.
reference::Problem problemOfGroup(const Inputs &inputs, size_t group);

/// The ends of `groups` groups along `k`, at multiples of `step`: of none, of
/// one step, of as many as tiles have and of more, and the last one before `k`.
std::vector<uint64_t> drawKGroupEnds(uint64_t groups, uint64_t k, uint64_t step,
                                     uint64_t seed);

/// Scales of `tensor`, `perRow` of each row, in tiles of 128 x 4, those of each
/// group along K apart and those of a group together: `bytes` in all, of which
/// `padding` fills those that no scale is in. The reason why not if they are
/// too few.
Result<std::vector<uint8_t>> tileKGroups(const std::vector<uint8_t> &scales,
                                         const hw::ScaleTensor &tensor,
                                         const std::vector<uint64_t> &ends,
                                         uint64_t bytes, uint8_t padding);

/// One group along K of the inputs, which have A and B once and everything else
/// for each group, as a product of its own. An empty one has a K of zeros.
reference::Problem problemOfKGroup(const Inputs &inputs, size_t group);

/// What is wrong with the product or with one of its groups.
std::optional<Reason> whyNotProduct(const Inputs &inputs);

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_GROUPS_H
