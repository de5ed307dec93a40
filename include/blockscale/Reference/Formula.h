//===- Formula.h - what a product's epilogue computes -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A list of steps on numbers: in f32, as a kernel does them, and on ranges of
// numbers, which tells how far a kernel may be off. The names of the steps'
// functions are those of MLIR's `arith` and `math` dialects, whose
// documentation says what they compute; the code here is written from it and
// from nothing that compiles a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_REFERENCE_FORMULA_H
#define BLOCKSCALE_REFERENCE_FORMULA_H

#include "blockscale/Formats/Result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace blockscale::reference {

/// All numbers from `lo` to `hi`, none if `lo` > `hi`; infinities count as
/// numbers. NaN besides if `nan`.
struct Range {
  double lo = 0, hi = 0;
  bool nan = false;

  static Range of(double value);
  bool contains(double value) const;
};

/// A function of a step; the table of them is in Formula.cpp.
struct FormulaFunction;

class Formula {
public:
  /// What the steps start from: "x", "c" and "bias", and of a pair of columns
  /// "up" and "up_bias".
  static constexpr unsigned kInputs = 5;
  template <typename T> using Inputs = std::array<T, kInputs>;

  Formula();

  /// Adds a step that gives a value `name`; a `constant` is text. Says what is
  /// wrong: an unknown function, operand, type, predicate or constant, a name
  /// that is taken, another number of operands than the function has; nothing
  /// if all is well.
  std::optional<Reason> addStep(const std::string &name,
                                const std::string &function,
                                const std::vector<std::string> &operands,
                                const std::string &type,
                                const std::string &predicate,
                                const std::optional<std::string> &constant);
  /// The value that the formula gives: "x" unless told otherwise. Says if
  /// there is none of that name.
  std::optional<Reason> setResult(const std::string &name);

  /// Each step in f32, rounded to its type, to nearest even.
  float evaluate(const Inputs<float> &inputs) const;
  /// All that a kernel may find if the inputs may be anything in their ranges
  /// and no step is farther off than its function's bound (Formula.cpp).
  Range evaluate(const Inputs<Range> &inputs) const;
  /// Whether every step has one right result, which a kernel must find: sums,
  /// products, roundings, but no exponentials.
  bool isExact() const;

private:
  struct Step {
    const FormulaFunction *function;
    std::vector<unsigned> operands;
    /// Of a constant; and which outcomes satisfy a comparison.
    float constant;
    unsigned outcomes;
  };

  std::optional<Reason> findOperands(const std::vector<std::string> &operands,
                                     Step &step) const;
  template <typename T, typename Apply>
  T run(const Inputs<T> &inputs, Apply apply) const;

  std::vector<Step> steps;
  /// The numbers of inputs and steps, and whether they are conditions.
  std::unordered_map<std::string, unsigned> numbers;
  std::vector<bool> isCondition;
  unsigned result = 0;
};

} // namespace blockscale::reference

#endif // BLOCKSCALE_REFERENCE_FORMULA_H
