//===- BytesByHalf.h - bytes where no instruction takes them ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_BYTESBYHALF_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_BYTESBYHALF_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

#include <string>

namespace blockscale {

/// Whether bytes of both operands are multiplied as bf16, which has all their
/// numbers, since the chip has no instruction of kind i8 and f32 has every sum.
bool areExactByHalf(MatmulOp op);

/// To be appended to a refusal: what multiplies bytes where no kind does.
/// Empty where that is nothing.
std::string halfForm(MatmulOp op);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_BYTESBYHALF_H
