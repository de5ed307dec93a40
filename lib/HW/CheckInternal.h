//===- CheckInternal.h - words that the checks share ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_HW_CHECKINTERNAL_H
#define BLOCKSCALE_LIB_HW_CHECKINTERNAL_H

#include "blockscale/HW/Check.h"

namespace blockscale::hw {

/// "8..256 step 8", or "8" for a single value.
std::string describeRange(const NRange &range);

/// Bits that name the fields of a query.
enum QueryField : uint32_t {
  FieldFamily = 1 << 0,
  FieldKind = 1 << 1,
  FieldA = 1 << 2,
  FieldB = 1 << 3,
  FieldScale = 1 << 4,
  FieldBlock = 1 << 5,
  FieldSparse = 1 << 6,
  FieldK = 1 << 7,
  FieldCtaGroup = 1 << 8,
  FieldM = 1 << 9,
  FieldN = 1 << 10,
  FieldAMajor = 1 << 11,
  FieldBMajor = 1 << 12,
  FieldSfaId = 1 << 13,
  FieldSfbId = 1 << 14,
  AllFields = (1 << 15) - 1
};

/// Fills the fields that are not in `given` with what suits the given ones
/// best: an instruction of the given kind, on the target if it has one. The
/// given fields stay as they are, legal or not.
MmaQuery completeQuery(const MmaQuery &query, uint32_t given);

} // namespace blockscale::hw

#endif // BLOCKSCALE_LIB_HW_CHECKINTERNAL_H
