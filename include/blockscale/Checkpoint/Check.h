//===- Check.h - what a checkpoint's tensors contradict ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CHECKPOINT_CHECK_H
#define BLOCKSCALE_CHECKPOINT_CHECK_H

#include "blockscale/Checkpoint/Recognize.h"

#include <cstdint>
#include <functional>

namespace blockscale::checkpoint {

struct CheckOptions {
  /// Whether to read the scales; else headers alone.
  bool readScales = true;
  /// Parameters that are looked at, by their number among recognize()'s: others
  /// are not reported, and not compared with these.
  uint64_t first = 0, count = UINT64_MAX;
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

/// For programs, before any data are read: files, metadata, tensors with their
/// places, and parameters as in printReportJson() with "spec" (the scale spec,
/// empty if the grammar has none), "parts", "packed" and, where values cannot
/// be read, "whyNot". `parameters` are those of the checkpoint.
std::string describeJson(const Checkpoint &checkpoint,
                         const std::vector<QuantizedTensor> &parameters);

/// For people: a paragraph for each parameter.
std::string printReport(const CheckReport &report);
/// For programs: an object with "tensors", "findings" and the counts.
std::string printReportJson(const CheckReport &report);

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_CHECKPOINT_CHECK_H
