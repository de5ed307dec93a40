//===- StubDriver.h - a driver that only writes down ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_RUNTIME_STUBDRIVER_H
#define BLOCKSCALE_UNITTESTS_RUNTIME_STUBDRIVER_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// What the stub does, and what it was asked to do. Device memory is the
/// host's. Calls of several threads come one after another.
struct StubDriver {
  /// Calls in their order, with the arguments that matter.
  std::vector<std::string> calls;
  /// The function that fails with CUDA_ERROR_INVALID_VALUE; empty for none.
  std::string failing;
  /// Bytes of each kernel parameter, and the one that points to D.
  std::vector<unsigned> parameterBytes;
  unsigned d = 0;
  /// What a launch writes to D.
  std::vector<uint8_t> result;
  /// What cuOccupancyMaxActiveClusters answers.
  int clusters = 3;
  /// The memory behind each allocation that was copied to, in order.
  std::vector<std::vector<uint8_t>> uploads;
  /// Allocations that were not freed, and their sizes.
  std::map<uint8_t *, size_t> memory;
};

extern "C" StubDriver *stubDriver();

#endif // BLOCKSCALE_UNITTESTS_RUNTIME_STUBDRIVER_H
