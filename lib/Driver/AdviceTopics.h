//===- AdviceTopics.h - topics of 'explain' about models --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_ADVICETOPICS_H
#define BLOCKSCALE_LIB_DRIVER_ADVICETOPICS_H

#include "blockscale/Formats/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace blockscale::driver {

/// What 'explain gemm', 'model', 'format' and 'sparsity' are asked.
struct AdviceQuestion {
  /// A checkpoint, an array, a configuration or a list of layers.
  std::string file;
  std::optional<unsigned> m, n, k;
  /// Name of a part; empty: the reference part of `target`.
  std::string part, target;
  /// Names of parameters, '*' being any text; empty: all matrices.
  std::vector<std::string> tensors;
  std::string leastSqnr;
  bool histogram = false;
  /// Of 'format': a picture of the errors in place of the table.
  bool picture = false;
  /// "markdown" or "csv".
  std::string format;
};

/// Whether there is such a topic here.
bool isAdviceTopic(const std::string &topic);
/// "'format', 'gemm', ...".
std::string adviceTopicNames();

/// The answer, or what is wrong: with the question if `errorOffset` is 0, else
/// with what it is about.
Result<std::string> advise(const std::string &topic,
                           const AdviceQuestion &question);

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_ADVICETOPICS_H
