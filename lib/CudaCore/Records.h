//===- Records.h - what `blockscale emulate` is told ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program may end in any way and start others, so each launch leaves a line
// of JSON at once, in a file that all processes append to.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_RECORDS_H
#define BLOCKSCALE_LIB_CUDACORE_RECORDS_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace blockscale::cuda {

/// One launch, or what could not be launched.
struct LaunchRecord {
  std::string kernel; ///< mangled; empty if no kernel is to blame
  std::string shape;  ///< "grid (4, 1, 1), block (250, 1, 1)"; may be empty
  uint64_t instructions = 0;
  double seconds = 0;
  /// Kind and text of each finding, with its source.
  std::vector<std::pair<std::string, std::string>> findings;
  uint64_t advice = 0; ///< pieces of it
};

class Records {
public:
  /// Appends to `path`; an empty one keeps nothing. Of launches without
  /// findings only `all` keeps a record.
  Records(std::string path, bool all) : path(std::move(path)), all(all) {}
  void add(const LaunchRecord &record);

private:
  std::string path;
  bool all;
  int file = -1;
};

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_RECORDS_H
