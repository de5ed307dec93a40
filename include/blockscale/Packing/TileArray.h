//===- TileArray.h - arrays of bytes into a layout and back -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PACKING_TILEARRAY_H
#define BLOCKSCALE_PACKING_TILEARRAY_H

#include "blockscale/HW/Layout.h"
#include "blockscale/Packing/Npy.h"

namespace blockscale::packing {

/// An array of bytes, [..., rows, blocks], in `layout` (HW/Layout.h), whose
/// digits become the last dimensions: [..., rows / 128, blocks / 4, 32, 4, 4]
/// for scales in atoms. `padding` fills what no byte of the array owns.
Result<NpyArray> tileArray(const NpyArray &array, const hw::Layout &layout,
                           uint8_t padding);

/// The inverse: rows x blocks bytes of each matrix in `array`, whose shape does
/// not matter. Refuses an array that is no whole number of such matrices.
Result<NpyArray> untileArray(const NpyArray &array, const hw::Layout &layout,
                             uint64_t rows, uint64_t blocks);

} // namespace blockscale::packing

#endif // BLOCKSCALE_PACKING_TILEARRAY_H
