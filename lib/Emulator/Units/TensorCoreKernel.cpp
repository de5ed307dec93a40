//===- TensorCoreKernel.cpp - f32 micro-kernel ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorCoreImpl.h"

#include <cstring>

namespace blockscale::emulator::detail {

// The products are exact, so fusing does not change a result.
#ifdef __clang__
#pragma clang fp contract(fast)
#endif

namespace {

/// One block of 16 x 32, in pieces of Rows x (Vectors * Width) that fit the
/// registers of the instruction set.
template <unsigned Width, unsigned Rows, unsigned Vectors>
__attribute__((always_inline)) inline void
multiplyPieces(const float *a, const float *b, unsigned k,
               float *const d[kBlockRows], bool accumulate) {
  typedef float Vector __attribute__((vector_size(Width * 4)));
  for (unsigned r0 = 0; r0 < kBlockRows; r0 += Rows) {
    for (unsigned c0 = 0; c0 < kBlockColumns; c0 += Vectors * Width) {
      Vector sums[Rows][Vectors];
      for (unsigned r = 0; r < Rows; ++r)
        for (unsigned v = 0; v < Vectors; ++v) {
          if (accumulate)
            std::memcpy(&sums[r][v], d[r0 + r] + c0 + v * Width,
                        sizeof(Vector));
          else
            sums[r][v] = Vector{};
        }
      for (unsigned i = 0; i < k; ++i) {
        Vector right[Vectors];
        std::memcpy(right, b + i * kBlockColumns + c0, sizeof(right));
        for (unsigned r = 0; r < Rows; ++r) {
          float left = a[i * kBlockRows + r0 + r];
          for (unsigned v = 0; v < Vectors; ++v)
            sums[r][v] += left * right[v];
        }
      }
      for (unsigned r = 0; r < Rows; ++r)
        for (unsigned v = 0; v < Vectors; ++v)
          std::memcpy(d[r0 + r] + c0 + v * Width, &sums[r][v], sizeof(Vector));
    }
  }
}

using Kernel = void (*)(const float *, const float *, unsigned,
                        float *const[kBlockRows], bool);

} // namespace

static void multiplyGeneric(const float *a, const float *b, unsigned k,
                            float *const d[kBlockRows], bool accumulate) {
  multiplyPieces<4, 4, 2>(a, b, k, d, accumulate);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void
multiplyAvx2(const float *a, const float *b, unsigned k,
             float *const d[kBlockRows], bool accumulate) {
  multiplyPieces<8, 4, 2>(a, b, k, d, accumulate);
}

__attribute__((target("avx512f"))) static void
multiplyAvx512(const float *a, const float *b, unsigned k,
               float *const d[kBlockRows], bool accumulate) {
  multiplyPieces<16, 8, 2>(a, b, k, d, accumulate);
}
#endif

static Kernel selectKernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return multiplyAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return multiplyAvx2;
#endif
  return multiplyGeneric;
}

void multiplyBlock(const float *a, const float *b, unsigned k,
                   float *const d[kBlockRows], bool accumulate) {
  static const Kernel kernel = selectKernel();
  kernel(a, b, k, d, accumulate);
}

} // namespace blockscale::emulator::detail
