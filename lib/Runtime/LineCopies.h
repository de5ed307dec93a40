//===- LineCopies.h - elements of one line of an operand --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_LINECOPIES_H
#define BLOCKSCALE_LIB_RUNTIME_LINECOPIES_H

#include <cstdint>
#include <cstring>

namespace blockscale::runtime {

/// Copies `count` elements of `size` bytes that lie `step` bytes apart.
inline void copyLine(uint8_t *to, int64_t toStep, const uint8_t *from,
                     int64_t fromStep, uint64_t count, size_t size) {
  if (toStep == int64_t(size) && fromStep == int64_t(size)) {
    std::memcpy(to, from, count * size);
    return;
  }
  for (uint64_t i = 0; i < count; ++i, to += toStep, from += fromStep)
    std::memcpy(to, from, size);
}

/// Packs codes of `bits` bits, fewer than 8, as a stream, the lowest bits of a
/// byte first.
inline void packLine(uint8_t *to, const uint8_t *from, int64_t step,
                     uint64_t count, unsigned bits) {
  constexpr unsigned kByte = 8;
  const unsigned mask = (1u << bits) - 1;
  unsigned pending = 0, held = 0;
  for (uint64_t i = 0; i < count; ++i, from += step) {
    pending |= (*from & mask) << held;
    held += bits;
    if (held < kByte)
      continue;
    *to++ = uint8_t(pending);
    pending >>= kByte;
    held -= kByte;
  }
  if (held)
    *to = uint8_t(pending);
}

/// The opposite: each code in a byte of its own.
inline void unpackLine(uint8_t *to, int64_t step, const uint8_t *from,
                       uint64_t count, unsigned bits) {
  constexpr unsigned kByte = 8;
  const unsigned mask = (1u << bits) - 1;
  unsigned pending = 0, held = 0;
  for (uint64_t i = 0; i < count; ++i, to += step) {
    if (held < bits) {
      pending |= unsigned(*from++) << held;
      held += kByte;
    }
    *to = uint8_t(pending & mask);
    pending >>= bits;
    held -= bits;
  }
}

} // namespace blockscale::runtime

#endif // BLOCKSCALE_LIB_RUNTIME_LINECOPIES_H
