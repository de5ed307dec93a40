//===- Verification.h - what verdicts are kept as ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CAPI_VERIFICATION_H
#define BLOCKSCALE_LIB_CAPI_VERIFICATION_H

#include "Handles.h"
#include "blockscale-c/Emulator.h"

#include <vector>

namespace blockscale::capi {

struct VerificationObject : Object {
  static constexpr const char *kKind = "verification";
  bool hasPassed = false;
  std::string text, report;
};

BlockscaleVerifyOptions defaultVerifyOptions();

/// The values of an option, which may be none.
std::vector<int64_t> valuesOf(const int64_t *values, size_t count,
                              const char *what);

} // namespace blockscale::capi

#endif // BLOCKSCALE_LIB_CAPI_VERIFICATION_H
