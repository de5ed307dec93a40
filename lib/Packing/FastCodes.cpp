//===- FastCodes.cpp - conversions of many numbers at once ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FastCodes.h"

#include <algorithm>
#include <limits>

using namespace blockscale;
using namespace blockscale::packing;
using namespace blockscale::packing::fast;

// One copy of a function for each width of vectors; which one runs is decided
// when the program starts.
#if defined(__x86_64__) && defined(__linux__)
#define BLOCKSCALE_EACH_WIDTH                                                  \
  __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define BLOCKSCALE_EACH_WIDTH
#endif

// What is inside of a clone must be compiled with it.
#define BLOCKSCALE_INLINE __attribute__((always_inline)) inline

// The loop over one block is what becomes vectors, and not the one over blocks,
// which would have to gather.
#ifdef __clang__
#define BLOCKSCALE_VECTOR_LOOP _Pragma("clang loop unroll(disable)")
#else
#define BLOCKSCALE_VECTOR_LOOP
#endif

static constexpr uint32_t kMagnitude = 0x7fffffff;
static constexpr uint32_t kInfinity = 0x7f800000;
static constexpr uint32_t kFractionBits = 23;

/// encode(format, value) without a branch. `mayBeNaN` is false where the value
/// is known to be a number.
template <ElementFormat format, bool mayBeNaN = true>
BLOCKSCALE_INLINE static uint32_t codeOf(float value) {
  constexpr FormatInfo info = formatInfo(format);
  constexpr uint32_t shift = kFractionBits - info.mantissaBits;
  constexpr uint32_t rebias = uint32_t(127 - info.bias) << info.mantissaBits;
  // The smallest normal number; below it the steps are those of the subnormals,
  // which adding this power of two leaves in the low bits, rounded.
  constexpr uint32_t smallest = uint32_t(127 + 1 - info.bias) << kFractionBits;
  constexpr uint32_t stepper =
      uint32_t(127 + 1 - info.bias - int(info.mantissaBits) +
               int(kFractionBits))
      << kFractionBits;
  uint32_t bits = toBits(value);
  uint32_t magnitude = bits & kMagnitude;
  uint32_t sign = bits >> 31 << (info.bits - 1);
  uint32_t odd = magnitude >> shift & 1;
  uint32_t normal =
      ((magnitude + (uint32_t(1) << (shift - 1)) - 1 + odd) >> shift) - rebias;
  uint32_t subnormal = toBits(toFloat(magnitude) + toFloat(stepper)) - stepper;
  uint32_t code = magnitude < smallest ? subnormal : normal;
  code = code < info.largestCode ? code : info.largestCode;
  return mayBeNaN && magnitude > kInfinity ? info.nanCode : sign | code;
}

BLOCKSCALE_EACH_WIDTH
uint32_t fast::magnitudeBits(const float *values, uint32_t count) {
  uint32_t largest = 0;
  for (uint32_t i = 0; i < count; ++i)
    largest = std::max(largest, toBits(values[i]) & kMagnitude);
  return largest;
}

template <unsigned block>
BLOCKSCALE_INLINE static void blockMaxima(const float *values, unsigned blocks,
                                          float *maxima) {
  for (unsigned i = 0; i < blocks; ++i) {
    uint32_t largest = 0;
    BLOCKSCALE_VECTOR_LOOP
    for (unsigned j = 0; j < block; ++j) {
      uint32_t bits = toBits(values[i * block + j]) & kMagnitude;
      largest = largest > bits ? largest : bits;
    }
    maxima[i] = toFloat(largest);
  }
}

BLOCKSCALE_EACH_WIDTH
void fast::blockMaxima16(const float *values, unsigned blocks, float *maxima) {
  blockMaxima<16>(values, blocks, maxima);
}
BLOCKSCALE_EACH_WIDTH
void fast::blockMaxima32(const float *values, unsigned blocks, float *maxima) {
  blockMaxima<32>(values, blocks, maxima);
}

float fast::exponentFactor(uint8_t byte) {
  return byte == 0xff ? std::numeric_limits<float>::quiet_NaN()
                      : decode(ElementFormat::UE8M0, 0xfeu - byte);
}

BLOCKSCALE_EACH_WIDTH
bool fast::roundUpScales(const float *maxima, unsigned count, float largest,
                         uint8_t *scales, float *factors) {
  uint32_t isOther = 0;
  for (unsigned i = 0; i < count; ++i) {
    uint32_t bits = toBits(maxima[i] / largest);
    uint32_t exponent = bits >> kFractionBits;
    uint32_t byte = exponent + ((bits << 9) != 0);
    // Subnormal quotients and factors, infinities and NaN go the long way.
    isOther |= (exponent == 0) | (byte > 0xfd);
    scales[i] = static_cast<uint8_t>(byte);
    factors[i] = toFloat((0xfe - byte) << kFractionBits);
  }
  return isOther == 0;
}

BLOCKSCALE_EACH_WIDTH
bool fast::nvfp4Scales(const float *maxima, unsigned count, float step,
                       float decodeScale, uint8_t *scales, float *factors) {
  constexpr FormatInfo info = formatInfo(ElementFormat::UE4M3);
  constexpr float kFloatMax = std::numeric_limits<float>::max();
  uint32_t isOther = 0;
  for (unsigned i = 0; i < count; ++i) {
    isOther |= toBits(maxima[i]) > kInfinity;
    float wanted = maxima[i] * step;
    wanted = wanted < info.largest ? wanted : info.largest;
    uint32_t code = codeOf<ElementFormat::E4M3>(wanted);
    float normal = toFloat((code << (kFractionBits - info.mantissaBits)) +
                           (uint32_t(127 - info.bias) << kFractionBits));
    float subnormal = static_cast<float>(static_cast<int32_t>(code)) * 0x1p-9f;
    float scale = code >> info.mantissaBits ? normal : subnormal;
    float factor = 1.0f / (scale * decodeScale);
    factor = factor < kFloatMax ? factor : kFloatMax;
    scales[i] = static_cast<uint8_t>(code);
    factors[i] = code ? factor : 0.0f;
  }
  return isOther == 0;
}

template <unsigned block>
BLOCKSCALE_INLINE static void multiply(const float *values,
                                       const float *factors, unsigned blocks,
                                       float *products) {
  for (unsigned i = 0; i < blocks; ++i) {
    float factor = factors[i];
    BLOCKSCALE_VECTOR_LOOP
    for (unsigned j = 0; j < block; ++j)
      products[i * block + j] = values[i * block + j] * factor;
  }
}

BLOCKSCALE_EACH_WIDTH
void fast::multiply16(const float *values, const float *factors,
                      unsigned blocks, float *products) {
  multiply<16>(values, factors, blocks, products);
}
BLOCKSCALE_EACH_WIDTH
void fast::multiply32(const float *values, const float *factors,
                      unsigned blocks, float *products) {
  multiply<32>(values, factors, blocks, products);
}

template <ElementFormat format>
BLOCKSCALE_INLINE static void encodeAll(const float *values, unsigned count,
                                        uint8_t *codes) {
  for (unsigned i = 0; i < count; ++i)
    codes[i] = static_cast<uint8_t>(codeOf<format>(values[i]));
}

// A template has no versions for each width.
#define BLOCKSCALE_ENCODER(format)                                             \
  BLOCKSCALE_EACH_WIDTH void fast::encode##format(                             \
      const float *values, unsigned count, uint8_t *codes) {                   \
    encodeAll<ElementFormat::format>(values, count, codes);                    \
  }
BLOCKSCALE_ENCODER(E4M3)
BLOCKSCALE_ENCODER(E5M2)
BLOCKSCALE_ENCODER(E2M3)
BLOCKSCALE_ENCODER(E3M2)
BLOCKSCALE_ENCODER(E2M1)
#undef BLOCKSCALE_ENCODER

BLOCKSCALE_EACH_WIDTH
void fast::encodeBlocksE2M1(const float *values, const float *factors,
                            unsigned blocks, uint8_t *codes) {
  constexpr unsigned kBlock = 16;
  for (unsigned i = 0; i < blocks; ++i) {
    float factor = factors[i];
    BLOCKSCALE_VECTOR_LOOP
    for (unsigned j = 0; j < kBlock; ++j)
      codes[i * kBlock + j] = static_cast<uint8_t>(
          codeOf<ElementFormat::E2M1, false>(values[i * kBlock + j] * factor));
  }
}

BLOCKSCALE_EACH_WIDTH
void fast::packNibbles(const uint8_t *codes, unsigned pairs, uint8_t *packed) {
  for (unsigned i = 0; i < pairs; ++i) {
    uint16_t both;
    std::memcpy(&both, codes + 2 * i, sizeof(both));
    // The first code is the lower byte on the hosts that we know.
    packed[i] = static_cast<uint8_t>(both | both >> 4);
  }
}
