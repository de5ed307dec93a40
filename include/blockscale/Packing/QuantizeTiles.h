//===- QuantizeTiles.h - FP8 with a scale for a square ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// e4m3 in tiles of 128 rows by 128 columns with a binary32 scale each, as
// checkpoints of DeepSeek have weights.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PACKING_QUANTIZETILES_H
#define BLOCKSCALE_PACKING_QUANTIZETILES_H

#include <cstdint>

namespace blockscale::packing {

/// Rows and columns of a tile; the last ones may be partial.
inline constexpr uint64_t kFp8Tile = 128;

/// Quantises rows x columns values. Of each tile the scale is
/// floatScale(E4M3, largest magnitude), with `powersOfTwo` rounded up to a
/// power of two, and each element the nearest e4m3 to value * (1 / scale). A
/// NaN makes the scale NaN. `elements` takes rows * columns bytes, `scales`
/// ceil(rows / 128) rows of ceil(columns / 128).
void quantizeTiles(bool powersOfTwo, const float *values, uint64_t rows,
                   uint64_t columns, uint8_t *elements, float *scales);

} // namespace blockscale::packing

#endif // BLOCKSCALE_PACKING_QUANTIZETILES_H
