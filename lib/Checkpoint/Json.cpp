//===- Json.cpp - JSON of strangers ---------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"

using namespace blockscale;
using namespace blockscale::checkpoint;

/// The byte at which brackets nest deeper than allowed; nothing if none do.
static std::optional<size_t> findDeepest(std::string_view text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (!inString && (c == '{' || c == '[') && ++depth > kMaxJsonDepth)
      return i;
    else if (!inString && (c == '}' || c == ']') && depth > 0)
      --depth;
  }
  return std::nullopt;
}

Result<nlohmann::json> checkpoint::parseJson(std::string_view text) {
  if (std::optional<size_t> deep = findDeepest(text))
    return Reason("nested deeper than " + std::to_string(kMaxJsonDepth) +
                      " levels at byte " + std::to_string(*deep),
                  *deep);
  nlohmann::json value;
  try {
    value = nlohmann::json::parse(text.begin(), text.end());
  } catch (const nlohmann::json::parse_error &error) {
    return Reason("no JSON: error at byte " + std::to_string(error.byte),
                  error.byte);
  } catch (const nlohmann::json::exception &) {
    return Reason("no JSON: a number is out of range");
  }
  return value;
}
