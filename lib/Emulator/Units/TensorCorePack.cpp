//===- TensorCorePack.cpp - from codes to panels of f32 -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Panels have the rows of an operand side by side. Bytes are transposed before
// they are decoded: sixteen rows of one byte column then make one vector of
// table indices, and of one vector of scales.
//
//===----------------------------------------------------------------------===//

#include "TensorCoreImpl.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace blockscale::emulator::detail {

namespace {

constexpr unsigned kGroup = 16;

/// Sixteen rows of a panel and what is needed to decode them.
struct RowGroup {
  const uint8_t *rows[kGroup];
  unsigned bytes;      ///< per row, a multiple of 16
  bool nibbles;        ///< two codes per byte, the even one in the low half
  const float *table;  ///< values of the codes
  const float *scales; ///< [block][kGroup]
  unsigned block;      ///< elements of a scale block
  float *to;           ///< [k][width]
  unsigned width;
};

} // namespace

typedef uint8_t Bytes16 __attribute__((vector_size(16)));

/// One of the four rounds of a 16 x 16 byte transposition.
static inline void interleave(const Bytes16 *in, Bytes16 *out) {
  for (unsigned i = 0; i < 8; ++i) {
    Bytes16 a = in[i], b = in[i + 8];
    out[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4,
                                         20, 5, 21, 6, 22, 7, 23);
    out[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27,
                                             12, 28, 13, 29, 14, 30, 15, 31);
  }
}

/// out[j][r] = rows[r][first + j].
static inline void transpose(const RowGroup &group, unsigned first,
                             Bytes16 *out) {
  Bytes16 other[16];
  for (unsigned r = 0; r < 16; ++r)
    std::memcpy(&out[r], group.rows[r] + first, 16);
  interleave(out, other);
  interleave(other, out);
  interleave(out, other);
  interleave(other, out);
}

static void packGroupGeneric(const RowGroup &group) {
  unsigned perByte = group.nibbles ? 2 : 1;
  for (unsigned first = 0; first < group.bytes; first += 16) {
    Bytes16 columns[16];
    transpose(group, first, columns);
    for (unsigned j = 0; j < 16; ++j) {
      uint8_t codes[kGroup];
      std::memcpy(codes, &columns[j], sizeof codes);
      for (unsigned half = 0; half < perByte; ++half) {
        unsigned k = (first + j) * perByte + half;
        const float *scale = group.scales + k / group.block * kGroup;
        float *to = group.to + size_t(k) * group.width;
        for (unsigned r = 0; r < kGroup; ++r) {
          unsigned code = !group.nibbles ? codes[r]
                          : half         ? codes[r] >> 4
                                         : codes[r] & 15;
          to[r] = group.table[code] * scale[r];
        }
      }
    }
  }
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512bw,avx512vl"))) static void
packGroupAvx512(const RowGroup &group) {
  __m512 table = _mm512_loadu_ps(group.table);
  for (unsigned first = 0; first < group.bytes; first += 16) {
    Bytes16 columns[16];
    transpose(group, first, columns);
    for (unsigned j = 0; j < 16; ++j) {
      __m512i codes = _mm512_cvtepu8_epi32(__m128i(columns[j]));
      unsigned k = first + j;
      if (!group.nibbles) {
        __m512 scale = _mm512_loadu_ps(group.scales + k / group.block * kGroup);
        __m512 value = _mm512_i32gather_ps(codes, group.table, 4);
        _mm512_storeu_ps(group.to + size_t(k) * group.width,
                         _mm512_mul_ps(value, scale));
        continue;
      }
      // Blocks are even, so both codes of a byte have one scale. The
      // permutation looks at the low four bits of an index only.
      k *= 2;
      __m512 scale = _mm512_loadu_ps(group.scales + k / group.block * kGroup);
      float *to = group.to + size_t(k) * group.width;
      __m512 low = _mm512_permutexvar_ps(codes, table);
      __m512 high = _mm512_permutexvar_ps(_mm512_srli_epi32(codes, 4), table);
      _mm512_storeu_ps(to, _mm512_mul_ps(low, scale));
      _mm512_storeu_ps(to + group.width, _mm512_mul_ps(high, scale));
    }
  }
}
#endif

using Packer = void (*)(const RowGroup &);

static Packer selectPacker() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    return packGroupAvx512;
#endif
  return packGroupGeneric;
}

void Operand::packCodes(unsigned first, unsigned count, unsigned width,
                        std::vector<float> &panel) const {
  static const Packer packer = selectPacker();
  static const uint8_t kZeros[kMaxCodeBytes] = {};
  unsigned panels = (count + width - 1) / width;
  panel.resize(size_t(panels) * k * width);
  unsigned blocks = std::max(scaleCount, 1u);
  RowGroup group;
  group.bytes = codeBytes;
  group.nibbles = nibbles;
  group.table = table;
  group.block = k / blocks;
  group.width = width;
  for (unsigned r0 = 0; r0 < panels * width; r0 += kGroup) {
    float scale[kMaxScales * kGroup];
    for (unsigned r = 0; r < kGroup; ++r) {
      bool exists = r0 + r < count;
      unsigned row = exists ? first + r0 + r : 0;
      group.rows[r] = exists ? codes.data() + size_t(row) * codeBytes : kZeros;
      for (unsigned s = 0; s < blocks; ++s) {
        float value = scaleCount ? scales[row * scaleCount + s] : 1.0f;
        scale[s * kGroup + r] = !exists ? 0.0f : negate ? -value : value;
      }
    }
    group.scales = scale;
    group.to = panel.data() + size_t(r0 / width) * k * width + r0 % width;
    packer(group);
  }
}

void Operand::expand() {
  if (!coded)
    return;
  coded = false;
  elements.resize(size_t(rows) * k);
  for (unsigned r = 0; r < rows; ++r) {
    const uint8_t *from = codes.data() + size_t(r) * codeBytes;
    for (unsigned i = 0; i < k; ++i) {
      unsigned code = nibbles ? from[i / 2] >> i % 2 * 4 & 15 : from[i];
      elements[size_t(r) * k + i] = negate ? -table[code] : table[code];
    }
  }
}

} // namespace blockscale::emulator::detail
