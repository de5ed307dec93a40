//===- ScaleData.h - what the bytes of scales say ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CHECKPOINT_SCALEDATA_H
#define BLOCKSCALE_LIB_CHECKPOINT_SCALEDATA_H

#include "blockscale/Checkpoint/Recognize.h"

#include <limits>

namespace blockscale::checkpoint {

struct ScaleSummary {
  uint64_t count = 0, nans = 0, negatives = 0, infinities = 0;
  /// Of positive finite scales.
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  bool powersOfTwo = true;
  /// All are integers that a byte with an exponent near 0 could be.
  bool looksLikeBytes = true;
};

/// Reads all scales of `tensor`, whose bytes are of `format` if it is given.
Result<ScaleSummary> summarizeScales(const Checkpoint &checkpoint,
                                     const Tensor &tensor,
                                     std::optional<ElementFormat> format);

/// The first number of a tensor of numbers.
Result<double> readNumber(const Checkpoint &checkpoint, const Tensor &tensor);

/// All scales of `tensor`, whose bytes are of `format` if it is given, as
/// binary32. Returns why they could not be read; empty if they were.
std::string readNumbers(const Checkpoint &checkpoint, const Tensor &tensor,
                        std::optional<ElementFormat> format,
                        std::vector<float> &numbers);

/// Orders of padded scales in which all padding would be zero.
struct PaddingOrders {
  bool rows = true, tiled = true, tiledTwice = true;
};

/// Looks for the padding among scales of whole atoms.
Result<PaddingOrders> findPadding(const Checkpoint &checkpoint,
                                  const QuantizedTensor &tensor);

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_LIB_CHECKPOINT_SCALEDATA_H
