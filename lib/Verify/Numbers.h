//===- Numbers.h - factors of a product, and numbers as bytes ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_NUMBERS_H
#define BLOCKSCALE_LIB_VERIFY_NUMBERS_H

#include "blockscale/Reference/Matmul.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace blockscale::verify {

/// Numbers to bytes of the plan's plain types; nothing for another type.
std::optional<std::vector<uint8_t>> toBytes(const std::vector<float> &values,
                                            const std::string &type);

/// `value` as `toBytes` rounds it.
float asType(float value, const std::string &type);

/// The tensor scale of one matrix. Those of neighbours differ, and so do the
/// products of both sides, of up to six matrices. The first is the largest.
float tensorScale(bool isA, bool exact, uint64_t matrix);

/// The scale of some rows. Powers of two differ from those of rows that are 1,
/// 2, 4, ... 256 further and of the next matrix, and the first one is the
/// largest; of other scales no two of a thousand are equal.
float vectorScale(bool isA, bool powersOfTwo, uint64_t matrix, uint64_t index);

/// By how much scale number `index` of tiles along K is more than the power of
/// two that was drawn for it, from 1 to 2; a thousand follow each other without
/// two alike.
float tileFraction(bool isA, uint64_t index);

/// A result of which nothing is written.
std::vector<uint8_t> unwrittenResult(reference::OutputType type,
                                     uint64_t count);

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_NUMBERS_H
