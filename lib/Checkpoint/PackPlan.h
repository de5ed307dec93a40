//===- PackPlan.h - which tensors packing writes ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CHECKPOINT_PACKPLAN_H
#define BLOCKSCALE_LIB_CHECKPOINT_PACKPLAN_H

#include "Conventions.h"
#include "blockscale/Checkpoint/Pack.h"

namespace blockscale::checkpoint {

/// What becomes of one parameter.
struct ParameterPlan {
  const QuantizedTensor *input = nullptr;
  PackTo to = PackTo::Same;
  /// What is written is FP8 in blocks, and has no `format`.
  bool isFp8Blocks = false;
  /// Of what is written, or of what stays the same.
  packing::BlockFormat format;
  /// Numbers of output tensors; nothing for those that there are not.
  std::optional<size_t> elements, scales, globalScale, inputScale, metadata,
      mark;
};

/// A tensor that is written as it is.
struct CopyPlan {
  const Tensor *input;
  size_t output;
};

struct PackPlan {
  std::vector<TensorEntry> outputs;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<ParameterPlan> parameters;
  std::vector<CopyPlan> copies;
  /// The first output of each parameter, changed or copied.
  std::vector<size_t> starts;
  /// Whether scales and metadata lie in atoms and tiles.
  bool isTiled = false;
  /// The first of two elements goes into the higher nibble.
  bool highNibbleFirst = false;
};

/// Decides what is written. `forNumpy`: names and shapes for .npy files, of
/// which each holds one tensor of the only parameter.
Result<PackPlan> planPack(const Checkpoint &checkpoint,
                          const std::vector<QuantizedTensor> &parameters,
                          const PackOptions &options, bool forNumpy);

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_LIB_CHECKPOINT_PACKPLAN_H
