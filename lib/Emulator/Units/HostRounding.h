//===- HostRounding.h - the host's rounding mode ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNITS_HOSTROUNDING_H
#define BLOCKSCALE_LIB_EMULATOR_UNITS_HOSTROUNDING_H

#include <cfenv>

namespace blockscale::emulator {

/// The host's rounding mode, one of FE_TONEAREST and its like, for the lifetime
/// of the object. Operands have to be volatile, so that no operation moves out
/// of the mode.
class HostRounding {
public:
  explicit HostRounding(int mode) { std::fesetround(mode); }
  ~HostRounding() { std::fesetround(saved); }
  HostRounding(const HostRounding &) = delete;
  HostRounding &operator=(const HostRounding &) = delete;

private:
  const int saved = std::fegetround();
};

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_HOSTROUNDING_H
