//===- Storage.h - rows of bytes into a layout and back ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bulk copies between matrices of bytes stored row by row and any layout of
// HW/Layout.h whose targets are dimensions of storage.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PACKING_STORAGE_H
#define BLOCKSCALE_PACKING_STORAGE_H

#include "blockscale/HW/Layout.h"

namespace blockscale::packing {

/// Matrices of `rows` x `blocks` bytes. All sizes and products of them must fit
/// 63 bits, padding included.
struct ByteMatrices {
  std::uint64_t batch = 1, rows = 0, blocks = 0;
};

/// Bytes of the matrices in `layout`.
std::uint64_t storageBytes(const hw::Layout &layout,
                           const ByteMatrices &matrices);

/// Copies batch x rows x blocks bytes at `plain` to their places at `stored`.
/// Leaves the padding there as it is.
void toStorage(const hw::Layout &layout, const ByteMatrices &matrices,
               const std::uint8_t *plain, std::uint8_t *stored);

/// The inverse.
void fromStorage(const hw::Layout &layout, const ByteMatrices &matrices,
                 const std::uint8_t *stored, std::uint8_t *plain);

} // namespace blockscale::packing

#endif // BLOCKSCALE_PACKING_STORAGE_H
