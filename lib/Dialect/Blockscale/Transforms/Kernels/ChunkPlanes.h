//===- ChunkPlanes.h - units of several chunks at once ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_CHUNKPLANES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_CHUNKPLANES_H

#include "blockscale/Dialect/Blockscale/IR/Numbers.h"

namespace blockscale {

/// What is kept of eight chunks of four units, and the word of metadata that
/// says which they are.
struct CompressedChunks {
  llvm::SmallVector<mlir::Value> stored;
  mlir::Value metadata;
};

/// Keeps two units of each of the eight chunks in `words`, i32, as
/// hw::compress does. Units have 4, 6 or 8 bits, of which those in
/// `magnitude` make a number other than zero. A chunk with more units in use
/// breaks the pattern: its metadata is legal, what is stored undefined.
CompressedChunks compressChunks(Emitter &emitter,
                                llvm::ArrayRef<mlir::Value> words,
                                int64_t unitBits, int64_t magnitude);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_CHUNKPLANES_H
