//===- Values.h - the numbers that a parameter stands for -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CHECKPOINT_VALUES_H
#define BLOCKSCALE_CHECKPOINT_VALUES_H

#include "blockscale/Checkpoint/Recognize.h"

namespace blockscale::checkpoint {

/// Part of one matrix of a parameter.
struct Region {
  uint64_t batch = 0, firstRow = 0, rows = 0, firstColumn = 0, columns = 0;
};

/// A parameter in regions of whole groups of 128 rows, of some columns where
/// rows are long: some 2 million values in each.
std::vector<Region> regionsOf(const QuantizedTensor &tensor);

/// Reads values of parameters, quantised or not.
class ValueReader {
public:
  /// Why values of `tensor` cannot be read; empty if they can.
  static std::string whyNot(const QuantizedTensor &tensor);

  /// Reads the global scale, if there is one. `tensor` passed whyNot().
  static Result<ValueReader> open(const Checkpoint &checkpoint,
                                  const QuantizedTensor &tensor);

  /// Rows x columns values of the region, which begins at a multiple of 128 in
  /// both directions where the scales are in atoms, else at a whole byte of
  /// elements. Each is element times block scale, rounded to binary32, and that
  /// times (or over) the global scale. Several threads may read. Returns why it
  /// could not; empty if it did.
  std::string read(const Region &region, float *values) const;

  /// The codes of a quantised region's elements, one in a byte, in the order of
  /// their rows; integers as they are stored. The region begins at a whole byte
  /// of elements.
  std::string readCodes(const Region &region, uint8_t *codes) const;

  /// Block scales of the region's rows as bytes, one row of scales for each
  /// row: for scales of one byte.
  std::string readScaleBytes(const Region &region,
                             std::vector<uint8_t> &bytes) const;

private:
  ValueReader(const Checkpoint &checkpoint, const QuantizedTensor &tensor)
      : checkpoint(&checkpoint), tensor(&tensor) {}

  std::string readRaw(const Region &region, std::vector<uint8_t> &raw) const;
  std::string readElements(const Region &region, float *values) const;
  std::string readScales(const Region &region,
                         std::vector<float> &scales) const;
  std::string readTiledScales(const Region &region,
                              std::vector<uint8_t> &bytes) const;

  const Checkpoint *checkpoint;
  const QuantizedTensor *tensor;
  float global = 1;
};

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_CHECKPOINT_VALUES_H
