//===- Relayout.h - check a kernel that moves scales ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_RELAYOUT_H
#define BLOCKSCALE_LIB_VERIFY_RELAYOUT_H

#include "blockscale/Verify/Verify.h"

namespace blockscale::verify {

/// One run of a kernel that moves scales from one layout to another: its
/// scales, of all codes, and its memory before it.
class RelayoutRun {
public:
  static Result<RelayoutRun> make(const plan::Kernel &kernel,
                                  const plan::Environment &sizes, DataKind kind,
                                  uint64_t seed, Conditions conditions);

  HostData data;

  /// Compares what CTAs of `sample` wrote, or all if there are none; nothing
  /// else may have been written. Padding is 0.
  void compare(const std::vector<uint64_t> &sample, Verdict &verdict) const;

private:
  friend class RelayoutMaker;
  /// Of all rows of all matrices.
  std::vector<uint8_t> codes;
  std::string layout;
  uint64_t batch = 1, rows = 0, blocks = 0, threads = 1;
};

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_RELAYOUT_H
