//===- Gemm.h - formats of a product by predicted time ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How long Y[M,N] = X[M,K] * W[N,K]^T takes in each format, by the model of
// time (HW/GemmModel.h) with the fastest tile of vendor libraries, and which
// bytes it moves at least. Estimates: the model's own errors are 7 % on
// average.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_ADVICE_GEMM_H
#define BLOCKSCALE_ADVICE_GEMM_H

#include "blockscale/HW/GemmModel.h"

#include <optional>
#include <string>
#include <vector>

namespace blockscale::advice {

/// Formats of activations X and weights W. Only weights are sparse.
struct GemmFormat {
  std::string_view name;
  ElementFormat activations, weights;
  /// Of block scales; nothing without them.
  std::optional<ElementFormat> scale;
  /// Stored elements that share a scale; 0 without scales.
  unsigned block = 0;
  bool sparse = false;
  /// K of an instruction, where it is not the kind's ordinary one.
  unsigned instructionK = 0;
};

/// All that are compared; the first, bf16, is what others are compared with.
const std::vector<GemmFormat> &gemmFormats();
/// Null if there is none of that name.
const GemmFormat *findGemmFormat(std::string_view name);

/// The kind that multiplies the format on `part`; nothing if it has none, or
/// none that the model knows.
std::optional<hw::MmaKind> kindOn(const GemmFormat &format,
                                  const hw::Part &part);

/// Bytes of everything once: what must move at least.
struct GemmBytes {
  double activations = 0, weights = 0, scales = 0, metadata = 0, result = 0;
  double total() const {
    return activations + weights + scales + metadata + result;
  }
};

/// The bytes of `size` in `format`; Y is of 2 bytes an element.
GemmBytes gemmBytes(const GemmFormat &format, const hw::GemmSize &size);

struct GemmAdvice {
  const GemmFormat *format = nullptr;
  hw::GemmPrediction prediction;
  GemmBytes bytes;
  /// Time of bf16 over this one's.
  double speedup = 1;
};

/// Why the size cannot be asked about; empty if it can: extents from 1 to 2^31.
std::string whyNot(const hw::GemmSize &size);

/// Every format that `part` has, in the order of gemmFormats(), at the boost
/// clock.
std::vector<GemmAdvice> adviseGemm(const hw::GemmSize &size,
                                   const hw::Part &part);

} // namespace blockscale::advice

#endif // BLOCKSCALE_ADVICE_GEMM_H
