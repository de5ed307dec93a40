//===- Text.h - numbers and parts of short texts ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FORMATS_TEXT_H
#define BLOCKSCALE_FORMATS_TEXT_H

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace blockscale {

/// Reads a whole integer of type T, decimal or hexadecimal with "0x"; nothing
/// if `text` is something else or does not fit.
template <typename T> std::optional<T> parseInteger(std::string_view text) {
  bool isHex = text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
  if (isHex)
    text.remove_prefix(2);
  T value{};
  const char *begin = text.data(), *end = begin + text.size();
  auto [stop, error] = std::from_chars(begin, end, value, isHex ? 16 : 10);
  // A sign may stand in front only.
  if (error != std::errc() || stop != end || (isHex && text[0] == '-'))
    return std::nullopt;
  return value;
}

/// Reads a whole finite number.
std::optional<double> parseNumber(std::string_view text);

/// What stands before the first `separator` and after it; the second is empty
/// without one.
std::pair<std::string_view, std::string_view> splitAt(std::string_view text,
                                                      char separator);

/// The parts between separators, empty ones too.
std::vector<std::string_view> splitAll(std::string_view text, char separator);

/// printf for one number: formatNumber("%.3f", x).
std::string formatNumber(const char *format, double value);

} // namespace blockscale

#endif // BLOCKSCALE_FORMATS_TEXT_H
