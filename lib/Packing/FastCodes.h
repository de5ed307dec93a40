//===- FastCodes.h - conversions of many numbers at once --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops without branches, which the compiler turns into vector code of each
// width that processors have.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_PACKING_FASTCODES_H
#define BLOCKSCALE_LIB_PACKING_FASTCODES_H

#include "blockscale/Formats/Format.h"

#include <cstring>

namespace blockscale::packing::fast {

inline uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline float toFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// The largest magnitude as bits; those of some NaN if there is one.
uint32_t magnitudeBits(const float *values, uint32_t count);

/// The largest magnitude of each block of 16 or 32; a NaN for a block with one.
void blockMaxima16(const float *values, unsigned blocks, float *maxima);
void blockMaxima32(const float *values, unsigned blocks, float *maxima);

/// 2^(127 - byte), and NaN for 0xff.
float exponentFactor(uint8_t byte);

/// Scales of ScaleRule::RoundUp and exponentFactor() of them. False, and
/// nothing said, if some maximum is not an ordinary one.
bool roundUpScales(const float *maxima, unsigned count, float largest,
                   uint8_t *scales, float *factors);

/// nvfp4BlockScale() and nvfp4BlockFactor(), where `step` is the tensor's
/// encoding scale over the largest e2m1. False if some maximum is NaN.
bool nvfp4Scales(const float *maxima, unsigned count, float step,
                 float decodeScale, uint8_t *scales, float *factors);

/// Each value times the factor of its block.
void multiply16(const float *values, const float *factors, unsigned blocks,
                float *products);
void multiply32(const float *values, const float *factors, unsigned blocks,
                float *products);

/// encode() of each value, to nearest even and saturating.
void encodeE4M3(const float *values, unsigned count, uint8_t *codes);
void encodeE5M2(const float *values, unsigned count, uint8_t *codes);
void encodeE2M3(const float *values, unsigned count, uint8_t *codes);
void encodeE3M2(const float *values, unsigned count, uint8_t *codes);
void encodeE2M1(const float *values, unsigned count, uint8_t *codes);
/// multiply16() and encodeE2M1() at once, where no product is NaN.
void encodeBlocksE2M1(const float *values, const float *factors,
                      unsigned blocks, uint8_t *codes);
/// Two codes of 4 bits to a byte, the first in the low nibble.
void packNibbles(const uint8_t *codes, unsigned pairs, uint8_t *packed);

} // namespace blockscale::packing::fast

#endif // BLOCKSCALE_LIB_PACKING_FASTCODES_H
