//===- ZeroColumns.cpp - zero-column mask of tcgen05.mma.ws ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ZeroColumns.h"

namespace blockscale::emulator {

static unsigned field(uint64_t bits, unsigned offset, unsigned width) {
  return unsigned(bits >> offset & ((uint64_t(1) << width) - 1));
}

std::optional<std::string> decodeZeroColumns(uint64_t bits, unsigned m,
                                             unsigned n, ZeroColumns &out) {
  out = ZeroColumns();
  if (field(bits, 36, 3) || field(bits, 62, 2))
    return std::string("bits 36-38 and 62-63 of the zero-column mask "
                       "descriptor must be 0");
  out.shift = field(bits, 56, 6);
  unsigned maximum = m == 32 ? 16 : 32;
  if (out.shift > maximum)
    return "the zero-column mask descriptor shifts by " +
           std::to_string(out.shift) + " columns; with M " + std::to_string(m) +
           " at most " + std::to_string(maximum) + " are legal";
  if (!field(bits, 39, 1))
    return std::nullopt;
  // The table of fields has the two spans the other way round than the examples
  // of the ISA; those agree with what CUTLASS builds.
  unsigned zeros = field(bits, 40, 8) + 1, used = field(bits, 48, 8) + 1;
  unsigned parts = 128 / m, size = n / parts;
  for (unsigned part = 0; part != parts; ++part) {
    bool startsWithZeros = field(bits, 32 + part, 1);
    unsigned start = field(bits, 8 * part, 8);
    for (unsigned i = 0; i != size; ++i) {
      unsigned at = (start + i) % (zeros + used);
      out.zero[part * size + i] = startsWithZeros ? at < zeros : at >= used;
    }
  }
  return std::nullopt;
}

} // namespace blockscale::emulator
