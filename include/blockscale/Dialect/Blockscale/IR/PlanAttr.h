//===- PlanAttr.h - where IR carries launch plans ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PLANATTR_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PLANATTR_H

#include "llvm/ADT/StringRef.h"

namespace blockscale {

/// The attribute of a `gpu.module`, and the property of the object of a
/// `gpu.binary`, that holds the launch plan of its kernels as JSON.
inline constexpr llvm::StringLiteral kPlanAttrName = "blockscale.plan";

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PLANATTR_H
