//===- Variants.h - which kernel a number of rows takes ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product may have several kernels, each for up to some rows of A: the size M
// of a variant has that as its maximum. They take the same operands, packed
// alike; only some may need a workspace.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PLAN_VARIANTS_H
#define BLOCKSCALE_PLAN_VARIANTS_H

#include "blockscale/Plan/Plan.h"

namespace blockscale::plan {

/// The most rows of A that a launch of `kernel` may have.
int64_t mostRows(const Kernel &kernel);

/// The kernel of `plan` whose entry is `name`; null if there is none.
const Kernel *findKernel(const Plan &plan, std::string_view name);

/// What may be launched in place of the entry `kernel`, for the fewest rows
/// first.
std::vector<const Kernel *> variantsOf(const Plan &plan,
                                       std::string_view kernel);

/// What a launch of `kernel`, one of `plan`, takes for `rows` rows of A: the
/// variant for the fewest that are enough, or itself.
const Kernel *kernelForRows(const Plan &plan, const Kernel *kernel,
                            uint64_t rows);

/// Why the variants of `plan` do not go with the kernels that they are of.
std::optional<Reason> whyNotVariants(const Plan &plan);

} // namespace blockscale::plan

#endif // BLOCKSCALE_PLAN_VARIANTS_H
