//===- Text.cpp - numbers and parts of short texts ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Formats/Text.h"

#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace blockscale;

std::optional<double> blockscale::parseNumber(std::string_view text) {
  // strtod skips blanks in front and needs an end.
  if (text.empty() || std::isspace(static_cast<unsigned char>(text.front())))
    return std::nullopt;
  std::string copy(text);
  char *end = nullptr;
  double value = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::pair<std::string_view, std::string_view>
blockscale::splitAt(std::string_view text, char separator) {
  size_t at = text.find(separator);
  if (at == std::string_view::npos)
    return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<std::string_view> blockscale::splitAll(std::string_view text,
                                                   char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos)
      return parts;
    text.remove_prefix(at + 1);
  }
}

std::string blockscale::formatNumber(const char *format, double value) {
  char buffer[64];
  int length = std::snprintf(buffer, sizeof(buffer), format, value);
  return std::string(buffer, length > 0 ? size_t(length) : 0);
}
