//===- MmaKind.h - kinds of tcgen05.mma ------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_MMAKIND_H
#define BLOCKSCALE_EMULATOR_MMAKIND_H

#include <cstdint>

namespace blockscale::emulator {

enum class MmaKind : uint8_t {
  F16,
  TF32,
  F8F6F4,
  I8,
  MXF8F6F4,
  MXF4,
  MXF4NVF4,
  TI16
};

/// PTX name without the 'kind::'.
const char *name(MmaKind kind);
bool isBlockScaled(MmaKind kind);
/// Whether the accumulator holds 32-bit integers.
bool isInteger(MmaKind kind);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_EMULATOR_MMAKIND_H
