//===- Codebooks.h - elements that are indices into tables ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the numbers of the tables lie in the metadata of a tensor.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_CODEBOOKS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_CODEBOOKS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Formats/Codebook.h"

namespace blockscale {

/// The numbers of tables of one matrix: one for each subtile, as many to a byte
/// as fit, the first in the lowest bits.
struct TableNumbers {
  static constexpr int64_t kByte = 8;

  /// Rows of a subtile, 0 if all rows share its number, and columns.
  int64_t rows, columns;
  /// Bits of a number, and of the index of an element.
  int64_t bits, indexBits;

  int64_t perByte() const { return kByte / bits; }
  int64_t columnsOfByte() const { return columns * perByte(); }
};

/// Those of a tensor of codebook elements; none of other elements.
std::optional<TableNumbers> tableNumbers(ScaledTensorType type);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_CODEBOOKS_H
