//===- PlacedScales.h - scales that instructions read -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_PLACEDSCALES_H
#define BLOCKSCALE_LIB_RUNTIME_PLACEDSCALES_H

#include "blockscale/Runtime/HostOperands.h"

namespace blockscale::runtime {

/// Scales of one byte of an operand of a product, each where the plan says.
class PlacedScales {
public:
  /// Those of so many matrices, rows and elements along K. `ends` are the rows
  /// behind each group, where scales lie by groups; null where there are none.
  static Result<PlacedScales> read(const plan::ScalePacking &packing,
                                   const plan::Environment &sizes,
                                   const HostOperand &operand,
                                   const HostOperand *ends, uint64_t matrices,
                                   uint64_t rows, uint64_t k);

  double at(uint64_t matrix, uint64_t row, uint64_t k) const {
    return numbers[places[ofMatrix[matrix] + ofRow[row] + ofBlock[k / block]]];
  }

private:
  /// The number of each code, and the codes of all places.
  std::vector<double> numbers;
  std::vector<uint8_t> places;
  /// How far each coordinate moves a place.
  std::vector<uint64_t> ofMatrix, ofRow, ofBlock;
  uint64_t block = 1;
};

} // namespace blockscale::runtime

#endif // BLOCKSCALE_LIB_RUNTIME_PLACEDSCALES_H
