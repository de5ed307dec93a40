//===- Model.h - the products of a model's layers ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_ADVICE_MODEL_H
#define BLOCKSCALE_ADVICE_MODEL_H

#include "blockscale/Advice/Gemm.h"
#include "blockscale/Formats/Result.h"

namespace blockscale::advice {

/// Weights of N x K that a model multiplies by.
struct Layer {
  std::string name;
  int64_t n = 0, k = 0;
  /// How often it occurs.
  int64_t count = 1;
  /// Of a mixture: how many, and how many of them a token takes.
  int64_t experts = 1, expertsPerToken = 1;
};

/// The layers that the `config.json` of a transformer describes: attention with
/// heads in groups or with latent vectors, dense and mixed feed-forward layers.
/// Head and embedding are left out.
Result<std::vector<Layer>> readModel(std::string_view configJson);

/// The product of `layer` for `tokens` tokens. Of a mixture, the experts that
/// are needed if tokens spread evenly, with the tokens of each.
hw::GemmSize sizeOf(const Layer &layer, int64_t tokens);

} // namespace blockscale::advice

#endif // BLOCKSCALE_ADVICE_MODEL_H
