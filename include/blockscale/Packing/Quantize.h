//===- Quantize.h - rows of numbers to block-scaled operands ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of Formats/BlockQuantize.h for whole matrices, bit for bit the same
// and many times faster.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PACKING_QUANTIZE_H
#define BLOCKSCALE_PACKING_QUANTIZE_H

#include "blockscale/Formats/BlockQuantize.h"

#include <optional>
#include <string>
#include <string_view>

namespace blockscale::packing {

/// A block-scaled format.
struct BlockFormat {
  /// Of 4 to 8 bits, and no integer.
  ElementFormat element = ElementFormat::E2M1;
  /// UE8M0, UE4M3 under a scale of the whole tensor, or UE5M3 (sm_107), whose
  /// range needs none and whose formats have no names, as no checkpoint has
  /// them.
  ElementFormat scale = ElementFormat::UE8M0;
  /// Elements of a row that share a scale.
  unsigned block = 32;
  /// How UE8M0 scales are chosen.
  ScaleRule rule = ScaleRule::RoundUp;

  bool hasTensorScale() const { return scale == ElementFormat::UE4M3; }
};

/// One that has a name: "nvfp4", "mxfp8" (e4m3), "mxfp8-e5m2", "mxfp6-e2m3",
/// "mxfp6-e3m2", "mxfp4".
std::optional<BlockFormat> parseBlockFormat(std::string_view name);
/// Its name; empty for one that has none.
std::string_view blockFormatName(const BlockFormat &format);
/// All names, for messages.
std::string blockFormatNames();

/// Bytes of a row of packed elements, and scales of a row.
uint64_t packedRowBytes(const BlockFormat &format, uint64_t columns);
uint64_t scalesPerRow(const BlockFormat &format, uint64_t columns);

/// blockMax() of many values.
float largestMagnitude(const float *values, uint64_t count);

/// Quantises rows x columns values. `elements` takes rows of packedRowBytes(),
/// `scales` rows of scalesPerRow(). `tensor` matters only under a tensor scale.
void quantizeRows(const BlockFormat &format, const TensorScale &tensor,
                  const float *values, uint64_t rows, uint64_t columns,
                  uint8_t *elements, uint8_t *scales);

/// The values: element times scale, which is exact, times `factor`.
void dequantizeRows(const BlockFormat &format, float factor,
                    const uint8_t *elements, const uint8_t *scales,
                    uint64_t rows, uint64_t columns, float *values);

} // namespace blockscale::packing

#endif // BLOCKSCALE_PACKING_QUANTIZE_H
