//===- ZeroColumns.h - zero-column mask of tcgen05.mma.ws -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 64-bit descriptor that says which columns of B count as zeros and how far
// those that are read are shifted (PTX ISA, tcgen05, "Zero-Column Mask
// Descriptor").
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNITS_ZEROCOLUMNS_H
#define BLOCKSCALE_LIB_EMULATOR_UNITS_ZEROCOLUMNS_H

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>

namespace blockscale::emulator {

/// The decoded descriptor.
struct ZeroColumns {
  /// Bit n: column n of D takes zeros from B, whatever B holds.
  std::bitset<256> zero;
  unsigned shift = 0; ///< column n of D takes column n + shift of B
};

/// Decodes the descriptor for an instruction of M rows and N columns. If it is
/// illegal gives the reason.
std::optional<std::string> decodeZeroColumns(uint64_t bits, unsigned m,
                                             unsigned n, ZeroColumns &out);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_ZEROCOLUMNS_H
