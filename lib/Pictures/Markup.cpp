//===- Markup.cpp - text in XML and HTML ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Pictures/Markup.h"

#include <nlohmann/json.hpp>

namespace blockscale::pictures {

std::string escaped(std::string_view text) {
  using nlohmann::json;
  std::string valid = json::parse(
      json(text).dump(-1, ' ', false, json::error_handler_t::replace));
  std::string result;
  for (char c : valid)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    case '\t':
    case '\n':
      result += c;
      break;
    default:
      result += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  return result;
}

} // namespace blockscale::pictures
