//===- Expression.h - integer formulas of a launch plan ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch plan gives what depends on run-time sizes as text: "min(ceildiv(M,
// 128) * 56, num_sms)". The syntax is a subset of C plus three functions, so a
// host can evaluate it with whatever it has; this is our own evaluator.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PLAN_EXPRESSION_H
#define BLOCKSCALE_PLAN_EXPRESSION_H

#include "blockscale/Formats/Result.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace blockscale::plan {

/// Values of the names in expressions: M, N, K, batch, num_sms,
/// max_clusters.
using Environment = std::map<std::string, int64_t, std::less<>>;

/// Evaluates `text` over signed 64-bit integers.
///
///   expression := term (('+' | '-') term)*
///   term       := factor (('*' | '/' | '%') factor)*
///   factor     := number | name | '(' expression ')' | '-' factor
///               | ('ceildiv' | 'min' | 'max') '(' expression ',' expression
///               ')'
///
/// `/` and `%` round towards negative infinity, `ceildiv` towards positive, as
/// MLIR's affine expressions do; for the sizes of a plan, which are not
/// negative, that is C. Refused with a sentence: text outside the grammar, a
/// name that `environment` lacks, division by zero or a negative divisor, a
/// value beyond 64 bits, and nesting deeper than 200. The reason's place is how
/// far `text` had been read.
Result<int64_t> evaluate(std::string_view text, const Environment &environment);

/// Why `text` is not an expression over the names of a plan (M, N, K, batch,
/// num_sms, max_clusters) and `places`, which a formula of a place has besides;
/// empty if it is.
std::optional<Reason>
whyNotExpression(std::string_view text,
                 std::initializer_list<std::string_view> places = {});

/// Whether a condition holds, `expression "==" expression`, or why that cannot
/// be said.
Result<bool> holds(std::string_view text, const Environment &environment);

/// Why `text` is not a condition over the names of a plan; empty if it is.
std::optional<Reason> whyNotCondition(std::string_view text);

} // namespace blockscale::plan

#endif // BLOCKSCALE_PLAN_EXPRESSION_H
