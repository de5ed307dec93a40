//===- Quantize.h - quantisation, the obvious way ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `blockscale.quantize` says of one block, written from its description: a
// code is looked for among all values of its format. Shares no code with the
// lowering nor with the quantising of hosts.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_REFERENCE_QUANTIZE_H
#define BLOCKSCALE_REFERENCE_QUANTIZE_H

#include "blockscale/Formats/Format.h"
#include "blockscale/Formats/Result.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace blockscale::reference {

/// How blocks are quantised. Rules and roundings have the names that they have
/// in the IR: "floor", "round_up", "floor_plus_one", "ceil", "mid_max",
/// "rounded_max", "top_binade", "min_error"; "even", "away", "zero",
/// "stochastic", "stochastic_rs".
struct Quantization {
  /// A float of at most 8 bits, or under plain floats INT8, which counts in 1.
  ElementFormat element = ElementFormat::E4M3;
  /// UE8M0, UE4M3, F16 or BF16; none for f32, whose bits are the code then.
  std::optional<ElementFormat> scale = ElementFormat::UE8M0;
  std::string rule = "floor", rounding = "even";
  uint64_t seed = 0;
};

/// The number that is the largest element.
float largestElement(const Quantization &quantization);

/// Why nothing quantises so; empty if something does.
std::optional<Reason> whyNot(const Quantization &quantization);

/// The scale of a matrix: its numbers are multiplied by `encode`, and the codes
/// of them by `decode`.
struct TensorScale {
  /// One that somebody gave, of which the magnitude counts.
  TensorScale(float given);
  TensorScale(float decode, float encode) : decode(decode), encode(encode) {}
  float decode, encode;
};

struct QuantizedBlock {
  uint32_t scale = 0;
  std::vector<uint8_t> codes;
};

/// The tensor scale of a matrix of `values` where none is given.
TensorScale tensorScaleOf(const Quantization &quantization,
                          const std::vector<float> &values);

/// The scale of a tile of values. `tensorScale` is that of the matrix, if there
/// is one.
uint32_t scaleOf(const Quantization &quantization,
                 const std::vector<float> &values,
                 std::optional<TensorScale> tensorScale);

/// The scale of a matrix that somebody gave, of which the magnitude counts.
uint32_t givenScale(const Quantization &quantization, float given);

/// The two scales that "min_error" compares of a tile with that largest
/// magnitude, the one it prefers first; of other rules twice the same.
std::pair<uint32_t, uint32_t>
candidates(const Quantization &quantization, float largest,
           std::optional<TensorScale> tensorScale);

/// One block. `tensorScale` is that of the matrix, if there is one; `first` is
/// the number of the first value in the row-major order of the input.
QuantizedBlock quantizeBlock(const Quantization &quantization,
                             const std::vector<float> &values,
                             std::optional<TensorScale> tensorScale,
                             uint64_t first);

/// The codes of `values` under a scale that somebody else chose.
std::vector<uint8_t> quantizeUnder(const Quantization &quantization,
                                   uint32_t scale,
                                   const std::vector<float> &values,
                                   std::optional<TensorScale> tensorScale,
                                   uint64_t first);

} // namespace blockscale::reference

#endif // BLOCKSCALE_REFERENCE_QUANTIZE_H
