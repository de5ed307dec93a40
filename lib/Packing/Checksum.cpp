//===- Checksum.cpp - CRC-32 of data in pieces ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Checksum.h"

#include <array>
#include <cstring>

using namespace blockscale;

/// x^32 + x^26 + x^23 + ... + 1, the lowest bit being the highest power.
static constexpr uint32_t kPolynomial = 0xedb88320;
static constexpr unsigned kSlices = 8;

using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

/// Table t advances a byte past t more bytes.
static constexpr Tables makeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (unsigned bit = 0; bit < 8; ++bit)
      rest = rest >> 1 ^ (rest & 1 ? kPolynomial : 0);
    tables[0][byte] = rest;
  }
  for (unsigned t = 1; t < kSlices; ++t)
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t rest = tables[t - 1][byte];
      tables[t][byte] = rest >> 8 ^ tables[0][rest & 0xff];
    }
  return tables;
}

static constexpr Tables kTables = makeTables();

uint32_t packing::crc32(const void *bytes, uint64_t count, uint32_t before) {
  const auto *at = static_cast<const uint8_t *>(bytes);
  uint32_t rest = ~before;
  for (; count >= kSlices; count -= kSlices, at += kSlices) {
    uint32_t low = rest ^ (uint32_t(at[0]) | uint32_t(at[1]) << 8 |
                           uint32_t(at[2]) << 16 | uint32_t(at[3]) << 24);
    rest = kTables[7][low & 0xff] ^ kTables[6][low >> 8 & 0xff] ^
           kTables[5][low >> 16 & 0xff] ^ kTables[4][low >> 24] ^
           kTables[3][at[4]] ^ kTables[2][at[5]] ^ kTables[1][at[6]] ^
           kTables[0][at[7]];
  }
  for (; count > 0; --count, ++at)
    rest = rest >> 8 ^ kTables[0][(rest ^ *at) & 0xff];
  return ~rest;
}

/// The product of two polynomials, modulo that of the CRC.
static uint32_t multiply(uint32_t x, uint32_t y) {
  uint32_t product = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    if (y & uint32_t(1) << (31 - bit))
      product ^= x;
    x = x >> 1 ^ (x & 1 ? kPolynomial : 0);
  }
  return product;
}

uint32_t packing::combineCrc32(uint32_t first, uint32_t second,
                               uint64_t secondBytes) {
  // The first is moved past the second: times x^(8 * bytes).
  uint32_t power = uint32_t(1) << 23, shift = uint32_t(1) << 31;
  for (uint64_t left = secondBytes; left > 0; left >>= 1) {
    if (left & 1)
      shift = multiply(shift, power);
    power = multiply(power, power);
  }
  return multiply(first, shift) ^ second;
}
