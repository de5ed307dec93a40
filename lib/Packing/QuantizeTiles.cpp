//===- QuantizeTiles.cpp - FP8 with a scale for a square ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/QuantizeTiles.h"
#include "FastCodes.h"
#include "blockscale/Formats/BlockQuantize.h"
#include "blockscale/Packing/Quantize.h"

#include <algorithm>
#include <cmath>

using namespace blockscale;
using namespace blockscale::packing;

/// The smallest power of two that is not below `scale`.
static float roundUpToPowerOfTwo(float scale) {
  if (!std::isfinite(scale))
    return scale;
  int exponent;
  float fraction = std::frexp(scale, &exponent);
  return std::ldexp(1.0f, fraction == 0.5f ? exponent - 1 : exponent);
}

void packing::quantizeTiles(bool powersOfTwo, const float *values,
                            uint64_t rows, uint64_t columns, uint8_t *elements,
                            float *scales) {
  for (uint64_t top = 0; top < rows; top += kFp8Tile)
    for (uint64_t left = 0; left < columns; left += kFp8Tile) {
      uint64_t height = std::min(kFp8Tile, rows - top);
      uint64_t width = std::min(kFp8Tile, columns - left);
      const float *tile = values + top * columns + left;
      float largest = 0;
      for (uint64_t row = 0; row < height; ++row) {
        float found = largestMagnitude(tile + row * columns, width);
        // NaN stays.
        if (!(found <= largest))
          largest = std::isnan(largest) ? largest : found;
      }
      float scale = floatScale(ElementFormat::E4M3, largest);
      if (powersOfTwo)
        scale = roundUpToPowerOfTwo(scale);
      *scales++ = scale;
      float factor = 1 / scale;
      uint8_t *to = elements + top * columns + left;
      for (uint64_t row = 0; row < height; ++row) {
        float products[kFp8Tile];
        for (uint64_t i = 0; i < width; ++i)
          products[i] = tile[row * columns + i] * factor;
        fast::encodeE4M3(products, unsigned(width), to + row * columns);
      }
    }
}
