//===- Parsed.h - a value read from text, or why not ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FORMATS_PARSED_H
#define BLOCKSCALE_FORMATS_PARSED_H

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace blockscale {

/// What a parser gives back: the value, or a sentence and where it applies.
template <typename T> struct Parsed {
  std::optional<T> value;
  /// Empty if there is a value.
  std::string error;
  /// Offset in bytes into the text that was read.
  size_t errorOffset = 0;

  static Parsed success(T value) { return {std::move(value), {}, 0}; }
  static Parsed failure(std::string error, size_t offset = 0) {
    return {std::nullopt, std::move(error), offset};
  }

  explicit operator bool() const { return value.has_value(); }
  const T &operator*() const & { return *value; }
  /// By value, so that `for (auto &x : *parse(...))` does not dangle.
  T operator*() && { return std::move(*value); }
  const T *operator->() const { return &*value; }
};

} // namespace blockscale

#endif // BLOCKSCALE_FORMATS_PARSED_H
