//===- Codebooks.h - operands whose elements are in tables ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of codebooks are drawn as what the reference multiplies: multiples,
// of 8 bits with a sign, of the largest power of two that divides all values.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_CODEBOOKS_H
#define BLOCKSCALE_LIB_VERIFY_CODEBOOKS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace blockscale::verify {

class Codebook {
public:
  /// Of the format that a plan calls so; without values if it is no codebook.
  explicit Codebook(const std::string &name);

  bool isOne() const { return !codes.empty(); }
  double step() const { return unit; }

  /// Makes of what was drawn the next value towards zero that a table has.
  void makeStorable(std::vector<uint8_t> &multiples) const;

  /// A code of a multiple that a table has. If several have it they take turns
  /// with `number`.
  size_t codeOf(uint8_t multiple, uint64_t number) const;

private:
  double unit = 1;
  /// The codes of each multiple.
  std::map<int, std::vector<size_t>> codes;
};

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_CODEBOOKS_H
