//===- Check.h - how the test programs check themselves --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_CUDARUNTIME_CHECK_H
#define BLOCKSCALE_TEST_CUDARUNTIME_CHECK_H

#include <cstdio>
#include <cstdlib>

/// Ends the program if a call of the runtime fails.
#define CALL(expression)                                                       \
  do {                                                                         \
    cudaError_t error_ = (expression);                                         \
    if (error_ != cudaSuccess) {                                               \
      std::printf("line %d: %s: %s (%s)\n", __LINE__, #expression,             \
                  cudaGetErrorName(error_), cudaGetErrorString(error_));       \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

/// Ends the program if a condition does not hold.
#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      std::printf("line %d: not so: %s\n", __LINE__, #condition);              \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

#endif // BLOCKSCALE_TEST_CUDARUNTIME_CHECK_H
