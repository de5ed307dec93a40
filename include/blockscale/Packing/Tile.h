//===- Tile.h - scales into the tiled layout and back -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bulk conversion between plain scales, one row of bytes per row of the
// operand, and the 128 x 4 atoms that the kernels read (HW/ScaleLayout.h).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PACKING_TILE_H
#define BLOCKSCALE_PACKING_TILE_H

#include "blockscale/HW/ScaleLayout.h"

#include <optional>
#include <vector>

namespace blockscale::packing {

/// Scales per row of the plain form: ceil(k / blockSize).
uint64_t scalesPerRow(const hw::ScaleTensor &tensor);

/// Bytes of the plain form: batch * mn * scalesPerRow.
uint64_t plainScaleBytes(const hw::ScaleTensor &tensor);

/// What one scale covers, where that is more than a row and a block.
struct ScaleCoverage {
  /// 0 is all rows of a matrix.
  uint64_t rows = 1;
  /// Elements along K, a multiple of the block size.
  uint64_t elements = 32;
};

/// Repeats scales for the rows and blocks that each covers: from batch x
/// ceil(mn / rows) x ceil(k / elements) bytes to the plain form, which is
/// exact. Nothing if the block size does not divide the elements or `scales`
/// has another size.
std::optional<std::vector<uint8_t>>
repeatScales(const hw::ScaleTensor &tensor, const ScaleCoverage &coverage,
             const std::vector<uint8_t> &scales);

/// Plain scales, batch x mn x scalesPerRow bytes, to hw::storageBytes(tensor)
/// tiled bytes. `padding` fills what no scale owns; it must not be a NaN code
/// of the scale format where a kernel reads padded rows. Nothing if the tensor
/// has no layout (hw::whyNot says why) or `plain` has another size.
std::optional<std::vector<uint8_t>>
tileScales(const hw::ScaleTensor &tensor, const std::vector<uint8_t> &plain,
           uint8_t padding = 0);

/// The inverse; padding is dropped.
std::optional<std::vector<uint8_t>>
untileScales(const hw::ScaleTensor &tensor, const std::vector<uint8_t> &tiled);

} // namespace blockscale::packing

#endif // BLOCKSCALE_PACKING_TILE_H
