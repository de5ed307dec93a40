//===- Geometry.h - the sizes of a kernel -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALENKI_TRANSFORMS_GEOMETRY_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALENKI_TRANSFORMS_GEOMETRY_H

#include "blockscale/NKI/Legality.h"
#include <cstdint>

namespace blockscale::nki {

/// Partitions of an instruction for `k` elements along K, at most 512. 96 is
/// legal by the documents, but padding to 128 costs no time and is what their
/// examples show.
inline int64_t partitionsFor(int64_t k) {
  return k <= 128 ? 32 : k <= 256 ? 64 : 128;
}

/// How K lies in packed tensors: tiles of 512 on all partitions, then one of
/// the rest, padded to whole quadrants.
struct ContractionGeometry {
  int64_t k;

  static constexpr int64_t kTile = kPartitions * kPack;

  int64_t fullTiles() const { return k / kTile; }
  int64_t tail() const { return k % kTile; }
  /// Partitions of the last tile if it is not whole; 0 if it is.
  int64_t tailPartitions() const { return tail() ? partitionsFor(tail()) : 0; }
  int64_t steps() const { return fullTiles() + (tail() ? 1 : 0); }
  /// Rows of the packed tensor of one matrix; a scale row for each eight.
  int64_t packedRows() const {
    return fullTiles() * kPartitions + tailPartitions();
  }
};

/// Columns of a packed tensor of `rows` rows of a matrix, if they are the
/// stationary operand: M of an instruction is even.
inline int64_t stationaryColumns(int64_t rows) { return rows + rows % 2; }

} // namespace blockscale::nki

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALENKI_TRANSFORMS_GEOMETRY_H
