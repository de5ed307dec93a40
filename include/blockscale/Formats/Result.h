//===- Result.h - a value, or why there is none -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How everything below MLIR says that something is not so. What makes a value
// returns a Result of it; what only judges ("whyNot") returns an optional
// Reason, which is empty if all is well. A Reason is returned as it is through
// functions of either kind, whatever the type of their values:
//
//   Result<Plan> readPlan(const std::string &path) {
//     Result<std::string> text = readFile(path);
//     if (!text)
//       return text.why();
//     if (std::optional<Reason> why = whyNotPlan(*text))
//       return *why;
//     ...
//   }
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FORMATS_RESULT_H
#define BLOCKSCALE_FORMATS_RESULT_H

#include <cassert>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace blockscale {

/// Why something is not so.
struct Reason {
  /// A sentence in lower case without full stop, names in single quotes, ready
  /// to be put into a diagnostic.
  std::string text;
  /// Where it applies, in bytes from the start of the text that was read; 0 if
  /// none was.
  std::size_t place = 0;

  /// `sentence` is not empty: that all is well is said by no reason at all.
  Reason(std::string sentence, std::size_t place = 0)
      : text(std::move(sentence)), place(place) {
    assert(!text.empty() && "a reason says something");
  }
  Reason(const char *sentence, std::size_t place = 0)
      : Reason(std::string(sentence), place) {}

  /// The same, told of a longer text in which the one read stands `offset`
  /// bytes from the start.
  Reason within(std::size_t offset) const { return {text, place + offset}; }
};

/// A T, or why there is none. True if there is one; a Result<bool> too, whose
/// value is behind the star.
template <typename T> class [[nodiscard]] Result {
public:
  Result(const T &value) : state(std::in_place_index<0>, value) {}
  Result(T &&value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Reason reason) : state(std::in_place_index<1>, std::move(reason)) {}
  /// A literal might be a value or a reason: say which.
  Result(const char *) = delete;

  explicit operator bool() const { return state.index() == 0; }

  /// The value; there must be one.
  const T &operator*() const & {
    assert(*this && "there is no value");
    return *std::get_if<0>(&state);
  }
  T &operator*() & {
    assert(*this && "there is no value");
    return *std::get_if<0>(&state);
  }
  /// By value, so that `for (auto &x : *parse(...))` does not dangle.
  T operator*() && { return std::move(this->operator*()); }
  const T *operator->() const { return &operator*(); }
  T *operator->() { return &operator*(); }

  /// Why there is no value; there must be none.
  const Reason &why() const {
    assert(!*this && "there is a value");
    return *std::get_if<1>(&state);
  }

private:
  std::variant<T, Reason> state;
};

} // namespace blockscale

#endif // BLOCKSCALE_FORMATS_RESULT_H
