//===- PlanText.h - a plan of one kernel, and texts of plans ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_PLAN_PLANTEXT_H
#define BLOCKSCALE_UNITTESTS_PLAN_PLANTEXT_H

#include "blockscale/Plan/Plan.h"

namespace blockscale::test {

/// A plan of a kernel of two parameters, a tensor map and a size.
plan::Plan makePlan();

/// `text` with `to` in place of the first `from`.
std::string replaced(std::string text, const std::string &from,
                     const std::string &to);

/// Why `text` is no plan.
std::string errorOf(const std::string &text);

/// What `plan` is read as from its own text, which must be printed the same.
plan::Plan readAgain(const plan::Plan &plan);

} // namespace blockscale::test

#endif // BLOCKSCALE_UNITTESTS_PLAN_PLANTEXT_H
