//===- SpecCursor.h - read spec text from left to right ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_FORMATS_SPECCURSOR_H
#define BLOCKSCALE_LIB_FORMATS_SPECCURSOR_H

#include <optional>
#include <string>
#include <string_view>

namespace blockscale::detail {

inline bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// ASCII lower case; independent of the locale, and keeps offsets.
inline std::string toLower(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return result;
}

inline std::string inQuotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

inline bool isPowerOfTwo(unsigned value) {
  return value != 0 && (value & (value - 1)) == 0;
}

/// A position in lower-case text.
class SpecCursor {
public:
  explicit SpecCursor(std::string_view text) : remaining(text) {}

  bool atEnd() const { return remaining.empty(); }
  std::string_view rest() const { return remaining; }

  bool consume(std::string_view prefix) {
    if (remaining.substr(0, prefix.size()) != prefix)
      return false;
    remaining.remove_prefix(prefix.size());
    return true;
  }

  /// One decimal digit.
  std::optional<unsigned> digit() {
    if (remaining.empty() || !isDigit(remaining.front()))
      return std::nullopt;
    unsigned value = static_cast<unsigned>(remaining.front() - '0');
    remaining.remove_prefix(1);
    return value;
  }

  /// All decimal digits that follow, at least one. No legal number has five
  /// digits; larger ones all read as 99999.
  std::optional<unsigned> number() {
    std::optional<unsigned> value = digit();
    while (std::optional<unsigned> next = value ? digit() : std::nullopt)
      value = *value > 9999 ? 99999 : *value * 10 + *next;
    return value;
  }

private:
  std::string_view remaining;
};

} // namespace blockscale::detail

#endif // BLOCKSCALE_LIB_FORMATS_SPECCURSOR_H
