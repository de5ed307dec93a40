//===- Quantized.h - codes and scales that a kernel writes to files -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_CUDADRIVER_QUANTIZED_H
#define BLOCKSCALE_TEST_CUDADRIVER_QUANTIZED_H

#include "Product.h"

/// Bytes behind a result that nobody may write, which are written out with it.
inline constexpr size_t kBehind = 64;

inline CUdeviceptr allocate(size_t bytes) {
  CUdeviceptr pointer;
  CALL(cuMemAlloc(&pointer, bytes + kBehind));
  CALL(cuMemsetD8(pointer, 0xee, bytes + kBehind));
  return pointer;
}

inline void write(CUdeviceptr pointer, size_t bytes, const std::string &path) {
  std::string result(bytes + kBehind, '\0');
  CALL(cuMemcpyDtoH(result.data(), pointer, result.size()));
  std::ofstream(path, std::ios::binary) << result;
}

#endif // BLOCKSCALE_TEST_CUDADRIVER_QUANTIZED_H
