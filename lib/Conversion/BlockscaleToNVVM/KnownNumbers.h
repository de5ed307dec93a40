//===- KnownNumbers.h - what is known of numbers of a kernel ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETONVVM_KNOWNNUMBERS_H
#define BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETONVVM_KNOWNNUMBERS_H

#include "mlir/IR/Value.h"

#include <optional>

namespace blockscale {

/// Whether `value` is known to be a multiple of `divisor`, a power of two.
bool isMultipleOf(mlir::Value value, int64_t divisor);

/// The largest number that `value` may be, as far as that is known.
std::optional<int64_t> largestOf(mlir::Value value);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETONVVM_KNOWNNUMBERS_H
