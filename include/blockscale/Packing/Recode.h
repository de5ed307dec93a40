//===- Recode.h - codes of one format as codes of another -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formats that no instruction multiplies, or none beside those of the other
// operand, in formats that one does: without rounding, or not at all.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PACKING_RECODE_H
#define BLOCKSCALE_PACKING_RECODE_H

#include "blockscale/Formats/Format.h"

#include <optional>
#include <string_view>
#include <vector>

namespace blockscale::packing {

/// One way to store elements. The value of an element is `factor` times the sum
/// of its terms, so that its scales stay as they are.
struct Recoding {
  /// As scale specs name the elements: "int4", "uint4", "e4m3b8fnuz",
  /// "cb41fi_e2m2fnuz"; but "e4m3" are those of OCP, without infinities, and
  /// "e4m3ieee" those with.
  std::string_view from;
  ElementFormat to;
  /// Elements that are stored for one. Those of a row stand one term behind the
  /// other along K; the other operand is repeated as often along K.
  unsigned terms;
  float factor;
  /// Whether integers mean themselves; else they are fixed-point numbers.
  bool isInteger = false;
  /// Whether elements are stored less their zero points. The codes of the
  /// source are such differences then, as many below 0 as from 0 on: those of
  /// elements and zero points in the range of the elements.
  bool hasZeros = false;
};

/// The way from a format to another; none if no way is exact.
std::optional<Recoding> findRecoding(std::string_view from, ElementFormat to,
                                     bool isInteger = false,
                                     bool hasZeros = false);

/// The recoding of codes of a codebook, the number of the table above the
/// index, by its name, which the result refers to; none where the format lacks
/// one of their values whatever power of two they are divided by.
std::optional<Recoding> recodeCodebook(std::string_view name, ElementFormat to);

/// The same to the shortest of the formats of at most 8 bits that has them all.
std::optional<Recoding> narrowCodebook(std::string_view name);

/// What is stored for each code of the format that `recoding` is from, or each
/// difference: in the order of the codes those of the first term, then those of
/// the next one. -1 for a code whose value the format does not have.
std::vector<int> storedCodes(const Recoding &recoding);

} // namespace blockscale::packing

#endif // BLOCKSCALE_PACKING_RECODE_H
