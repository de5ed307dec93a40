//===- TileSums.h - sums over tiles along K, slowly -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `blockscale.tile_sums` computes, step by step. Shares nothing with what
// kernels do.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_REFERENCE_TILESUMS_H
#define BLOCKSCALE_REFERENCE_TILESUMS_H

#include <cstdint>
#include <functional>
#include <vector>

namespace blockscale::reference {

/// Elements that are added up before their scale is applied.
inline constexpr uint64_t kSummedPiece = 16;

/// How many sums the pieces of a tile of so many elements are dealt to; 0 is a
/// tile of all of K.
uint64_t partialSums(uint64_t tile);

/// The sum of one tile, whose elements are `values`, in f32. `scaled` gives the
/// sum of a piece, whose first element in the tile it is told, with its scales.
float tileSum(const std::vector<float> &values, uint64_t partialSums,
              const std::function<float(float sum, uint64_t first)> &scaled);

} // namespace blockscale::reference

#endif // BLOCKSCALE_REFERENCE_TILESUMS_H
