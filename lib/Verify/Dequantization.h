//===- Dequantization.h - check a kernel that dequantises -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_DEQUANTIZATION_H
#define BLOCKSCALE_LIB_VERIFY_DEQUANTIZATION_H

#include "blockscale/Formats/Format.h"
#include "blockscale/Verify/Verify.h"

namespace blockscale::verify {

/// One run of a kernel that dequantises: its codes and scales, and its memory
/// before it.
class DequantizationRun {
public:
  /// Exact data have scales near 1, random ones all codes of scales; both have
  /// all codes of elements, and NaNs among the scales.
  static Result<DequantizationRun> make(const plan::Kernel &kernel,
                                        const plan::Environment &sizes,
                                        DataKind kind, uint64_t seed,
                                        Conditions conditions);

  HostData data;

  /// Compares what CTAs of `sample` wrote, or all if there are none, bit for
  /// bit but for those of NaNs, and nothing else may have been written.
  void compare(const std::vector<uint64_t> &sample, Verdict &verdict) const;

private:
  friend class DequantizationMaker;
  float valueOf(uint64_t matrix, uint64_t row, uint64_t i) const;
  uint64_t elementsOfCta() const;

  ElementFormat element = ElementFormat::E4M3;
  /// None of plain scales.
  std::optional<ElementFormat> scale;
  /// Of the result: none is f32.
  std::optional<ElementFormat> result;
  /// A code for each element, and for each block of each row.
  std::vector<uint8_t> codes, scaleCodes;
  /// The scale of each tile, where they are plain, and its zero point.
  std::vector<float> floats, zeros;
  /// Whether elements have no sign, but zero points, which may be in real
  /// units.
  bool isUnsigned = false, hasRealZeros = false;
  /// One of each matrix, if there are any.
  std::vector<float> tensorScales;
  /// `tileBlocks` blocks of `rowTile` rows have the same scale.
  uint64_t batch = 1, rows = 0, k = 0, block = 0, rowTile = 1, tileBlocks = 1,
           threads = 1;

  uint64_t tileOf(uint64_t matrix, uint64_t row, uint64_t j) const;
};

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_DEQUANTIZATION_H
