//===- Copies.h - copies and fills ------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_COPIES_H
#define BLOCKSCALE_LIB_CUDACORE_COPIES_H

#include "Core.h"

namespace blockscale::cuda {

/// Which side of a copy a pointer is on.
enum class Side : uint8_t { Any, Host, Device };

/// One side of a copy of rows.
struct Rows {
  const void *pointer = nullptr;
  size_t pitch = 0;
  Side side = Side::Any;
};

/// Copies `height` rows of `width` bytes.
cudaError_t copyRows(const Rows &to, const Rows &from, size_t width,
                     size_t height);

/// Fills `height` rows of `width` elements of 1, 2 or 4 bytes.
cudaError_t fillRows(void *to, size_t pitch, unsigned value,
                     unsigned elementSize, size_t width, size_t height);

/// Copies a box as cuMemcpy3D describes it; arrays are not supported.
cudaError_t copyBox(const CUDA_MEMCPY3D &box);
cudaError_t fillBox(const CUDA_MEMSET_NODE_PARAMS &fill);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_COPIES_H
