//===- Codebook.h - the values of codebook elements -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element of codebook data is an index: its highest bit is the sign, the
// others count the values of a table from 0 upwards. The number of the table is
// shared by a subtile and stored apart. What both say together is a code: the
// number above the bits of the index.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FORMATS_CODEBOOK_H
#define BLOCKSCALE_FORMATS_CODEBOOK_H

#include "blockscale/Formats/NumberSpec.h"

namespace blockscale {

/// Bits of a code: those of the table's number and of the index.
inline unsigned codebookBits(const NumberSpec &spec) {
  return spec.indexBits + spec.metaBits;
}

/// The value of every code.
std::vector<float> codebookValues(const NumberSpec &spec);

/// Why elements of a tensor cannot be of this format: it is no codebook, its
/// tables come from elsewhere, or their values are not those of f32.
std::optional<Reason> whyNotCodebookElements(const NumberSpec &spec);

} // namespace blockscale

#endif // BLOCKSCALE_FORMATS_CODEBOOK_H
