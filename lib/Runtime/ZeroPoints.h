//===- ZeroPoints.h - elements less their zero points --------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_ZEROPOINTS_H
#define BLOCKSCALE_LIB_RUNTIME_ZEROPOINTS_H

#include "blockscale/Runtime/HostOperands.h"

namespace blockscale::runtime {

/// How the data of the parameter `role` are packed; null if it has none.
const plan::DataPacking *dataOf(const plan::Kernel &kernel,
                                const std::string &role);

/// The role of the zero points of the elements in `data`; empty without.
std::string zerosRole(const plan::DataPacking &data);

/// Elements along K of which one is stored: 2 of a sparse operand "a" or "b",
/// whatever its pattern, else 1.
uint64_t compressionOf(const plan::Kernel &kernel, const std::string &operand);

/// What is wrong with `operand` as an array of numbers of `bytes` bytes; empty
/// if nothing is.
std::string whyNotNumbers(const HostOperand &operand, int64_t bytes);

/// What is wrong with the zero points of the elements in `data`; empty if
/// nothing is.
std::string whyNotZeros(const plan::DataPacking &data,
                        const HostOperands &operands);

/// The zero points of an operand, each for a tile.
class ZeroTiles {
public:
  /// Of elements that lie in `lines` lines of `elements`, as `data`, which have
  /// zero points, says. Of a sparse operand these are what is stored, one of
  /// `compression` elements.
  ZeroTiles(const plan::DataPacking &data, uint64_t lines, uint64_t elements,
            uint64_t compression);

  /// Zero points of a matrix.
  uint64_t ofMatrix() const { return groups * blocks; }
  /// Takes their values; they are as many as there are tiles.
  void read(const HostOperand &zeros);
  /// That of the element at `place` of line `number`.
  int64_t at(uint64_t number, uint64_t place) const;
  /// What is stored for the elements of line `number`, `step` bytes apart,
  /// less their zero points. Returns which one has no code; empty if all have.
  std::string subtract(const plan::SourceElements &source, uint64_t number,
                       const uint8_t *line, int64_t step,
                       std::vector<uint16_t> &stored) const;

private:
  unsigned bits;
  uint64_t lines;
  bool isKMajor;
  /// Rows and elements along K of a tile, and tiles along them.
  uint64_t rows = 1, block = 1, groups = 1, blocks = 1;
  std::vector<int64_t> values;
};

} // namespace blockscale::runtime

#endif // BLOCKSCALE_LIB_RUNTIME_ZEROPOINTS_H
