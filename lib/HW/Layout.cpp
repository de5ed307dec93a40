//===- Layout.cpp - where things lie, as a value --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Layout.h"

namespace blockscale::hw {

static constexpr std::array<std::string_view, kDims> kDimNames{
    "l",      "r",    "n",       "j",      "k",    "s0",
    "s1",     "s2",   "s3",      "offset", "cta",  "lane",
    "column", "byte", "replica", "thread", "value"};

std::string_view dimName(Dim dim) {
  return kDimNames[static_cast<unsigned>(dim)];
}

std::string printDigit(const Term &term, std::string_view name,
                       std::uint64_t unit) {
  std::string text(name);
  auto append = [&](const char *op, std::uint64_t value) {
    text += op + std::to_string(value);
  };
  if (term.period)
    append(" % ", term.period * unit);
  std::uint64_t divisor = term.divisor * unit;
  if (term.modulus)
    append(" % ", divisor * term.modulus);
  if (divisor != 1)
    append(" / ", divisor);
  return text;
}

std::string print(const Layout &layout) {
  std::string text;
  for (const Term &term : layout) {
    text += std::string(dimName(term.target)) +
            " += " + printDigit(term, dimName(term.source));
    if (term.stride != 1)
      text += " * " + std::to_string(term.stride);
    text += '\n';
  }
  return text;
}

StorageLayout<std::uint64_t> storageLayout(const Layout &layout,
                                           const Coordinates &extents) {
  return storageLayout<std::uint64_t>(
      layout,
      [&](Dim source, std::uint64_t divisor) {
        return ceilDiv(extents[source], divisor);
      },
      [](std::uint64_t value) { return value; });
}

} // namespace blockscale::hw
