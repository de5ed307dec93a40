//===- Check.h - what a checkpoint's tensors contradict ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CHECKPOINT_CHECK_H
#define BLOCKSCALE_CHECKPOINT_CHECK_H

#include "blockscale/Checkpoint/Recognize.h"

#include <functional>

namespace blockscale::checkpoint {

struct CheckOptions {
  /// Whether to read the scales; else headers alone.
  bool readScales = true;
  /// Called with bytes of scales read and to be read.
  std::function<void(uint64_t, uint64_t)> progress;
};

/// One parameter with what its data say.
struct CheckedTensor : QuantizedTensor {
  /// What the scale of the whole tensor, and of the layer's input, are.
  std::optional<double> globalValue, inputValue;
  /// The largest magnitude that the scales allow; nothing if they were not read
  /// or hold no number.
  std::optional<double> largestValue;
};

struct CheckReport {
  std::vector<CheckedTensor> tensors;
  /// Of the checkpoint as a whole.
  std::vector<Finding> findings;

  unsigned count(Grade grade) const;
};

/// Recognises all parameters and holds them against their conventions.
CheckReport check(const Checkpoint &checkpoint, const CheckOptions &options);

/// For people: a paragraph for each parameter.
std::string printReport(const CheckReport &report);
/// For programs: an object with "tensors", "findings" and the counts.
std::string printReportJson(const CheckReport &report);

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_CHECKPOINT_CHECK_H
