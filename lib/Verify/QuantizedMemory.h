//===- QuantizedMemory.h - memory of codes and scales -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_QUANTIZEDMEMORY_H
#define BLOCKSCALE_LIB_VERIFY_QUANTIZEDMEMORY_H

#include "Conditions.h"

#include <algorithm>
#include <cstring>

namespace blockscale::verify {

/// What memory for codes and scales holds before a run. No test ends with all
/// of it right that way.
inline constexpr uint8_t kBeforeQuantized = 0x5b;

/// Byte of the scale of a block in memory as tcgen05 reads it: atoms of 128
/// rows by 4 blocks, 512 bytes each (PTX ISA, "Scale factor layouts").
inline uint64_t scaleOffset(uint64_t row, uint64_t block, uint64_t atoms) {
  return (row / 128 * atoms + block / 4) * 512 + row % 32 * 16 +
         row % 128 / 32 * 4 + block % 4;
}

inline std::string hex(unsigned byte) {
  const char *digits = "0123456789abcdef";
  return std::string("0x") + digits[byte / 16] + digits[byte % 16];
}

/// A number that looks like nothing, of a number.
inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

/// Memory of a parameter, under harsh conditions with what lies before it;
/// without `bytes` a result that is not written yet.
inline void putMemory(HostData &data, const std::string &role,
                      const void *bytes, uint64_t size, uint64_t alignment,
                      bool isHarsh) {
  uint64_t before = isHarsh ? alignment : 0;
  std::vector<uint8_t> &memory = data.memory[role];
  memory.assign(before + size, kGuardByte);
  if (before)
    data.offsets[role] = before;
  if (bytes)
    std::memcpy(memory.data() + before, bytes, size);
  else
    std::fill(memory.begin() + int64_t(before), memory.end(), kBeforeQuantized);
}

/// What memory should hold, and what it does.
class MemoryImage {
public:
  MemoryImage(const HostData &data, const std::string &role)
      : memory(data.memory.at(role)),
        expected(memory.size(), kBeforeQuantized) {
    auto shift = data.offsets.find(role);
    offset = shift == data.offsets.end() ? 0 : shift->second;
    std::fill_n(expected.begin(), offset, kGuardByte);
  }
  uint8_t *at(uint64_t byte) { return expected.data() + offset + byte; }
  uint8_t found(uint64_t byte) const { return memory[offset + byte]; }

  /// Takes what is there for right.
  void accept(uint64_t first, uint64_t count) {
    std::copy_n(memory.begin() + int64_t(offset + first), count, at(first));
  }
  uint64_t size() const { return memory.size() - offset; }
  uint64_t differences() const {
    uint64_t count = 0;
    for (size_t i = 0; i < memory.size(); ++i)
      count += memory[i] != expected[i];
    return count;
  }

private:
  const std::vector<uint8_t> &memory;
  std::vector<uint8_t> expected;
  uint64_t offset = 0;
};

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_QUANTIZEDMEMORY_H
