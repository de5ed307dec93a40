//===- Tensor.h - tcgen05 as device functions -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_EMULATOR_CUDA_TENSOR_H
#define BLOCKSCALE_TEST_EMULATOR_CUDA_TENSOR_H

#include "Ptx.h"

/// Shared-memory descriptor of K-major rows under a 128-byte swizzle.
__device__ __forceinline__ uint64_t rows128(uint32_t address) {
  return 0x4000404000010000ull | (address & 0x3ffff) >> 4;
}

/// The same under a 64-byte swizzle.
__device__ __forceinline__ uint64_t rows64(uint32_t address) {
  return 0x8000402000010000ull | (address & 0x3ffff) >> 4;
}

/// Rows of 16 bytes without swizzle: scales and metadata.
__device__ __forceinline__ uint64_t rows16(uint32_t address) {
  return 0x0000400800000000ull | (address & 0x3ffff) >> 4;
}

template <int Group> struct Tensor;

#define TENSOR_GROUP(G)                                                        \
  template <> struct Tensor<G> {                                               \
    __device__ static void alloc(uint32_t slot, uint32_t columns) {            \
      asm volatile("tcgen05.alloc.cta_group::" #G                              \
                   ".sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(slot),      \
                   "r"(columns)                                                \
                   : "memory");                                                \
      asm volatile("tcgen05.relinquish_alloc_permit.cta_group::" #G            \
                   ".sync.aligned;");                                          \
    }                                                                          \
    __device__ static void free(uint32_t address, uint32_t columns) {          \
      asm volatile("tcgen05.dealloc.cta_group::" #G                            \
                   ".sync.aligned.b32 %0, %1;" ::"r"(address),                 \
                   "r"(columns));                                              \
    }                                                                          \
    __device__ static void copyScales(uint32_t to, uint64_t from) {            \
      asm volatile("tcgen05.cp.cta_group::" #G                                 \
                   ".32x128b.warpx4 [%0], %1;" ::"r"(to),                      \
                   "l"(from)                                                   \
                   : "memory");                                                \
    }                                                                          \
    __device__ static void copyMetadata(uint32_t to, uint64_t from) {          \
      asm volatile("tcgen05.cp.cta_group::" #G                                 \
                   ".128x128b [%0], %1;" ::"r"(to),                            \
                   "l"(from)                                                   \
                   : "memory");                                                \
    }                                                                          \
    __device__ static void mmaNvf4(uint32_t d, uint64_t a, uint64_t b,         \
                                   uint32_t idesc, uint32_t sfa, uint32_t sfb, \
                                   bool add) {                                 \
      asm volatile(                                                            \
          "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %6, 0;\n\t"                    \
          "tcgen05.mma.cta_group::" #G ".kind::mxf4nvf4.block_scale.block16 "  \
          "[%0], %1, %2, %3, [%4], [%5], p;\n\t}" ::"r"(d),                    \
          "l"(a), "l"(b), "r"(idesc), "r"(sfa), "r"(sfb), "r"(uint32_t(add))   \
          : "memory");                                                         \
    }                                                                          \
    __device__ static void mmaMxf8(uint32_t d, uint64_t a, uint64_t b,         \
                                   uint32_t idesc, uint32_t sfa, uint32_t sfb, \
                                   bool add) {                                 \
      asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %6, 0;\n\t"           \
                   "tcgen05.mma.cta_group::" #G ".kind::mxf8f6f4.block_scale " \
                   "[%0], %1, %2, %3, [%4], [%5], p;\n\t}" ::"r"(d),           \
                   "l"(a), "l"(b), "r"(idesc), "r"(sfa), "r"(sfb),             \
                   "r"(uint32_t(add))                                          \
                   : "memory");                                                \
    }                                                                          \
    __device__ static void mmaSparseNvf4(uint32_t d, uint64_t a, uint64_t b,   \
                                         uint32_t metadata, uint32_t idesc,    \
                                         uint32_t sfa, uint32_t sfb,           \
                                         bool add) {                           \
      asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %7, 0;\n\t"           \
                   "tcgen05.mma.sp.cta_group::" #G                             \
                   ".kind::mxf4nvf4.block_scale.block16 "                      \
                   "[%0], %1, %2, [%3], %4, [%5], [%6], p;\n\t}" ::"r"(d),     \
                   "l"(a), "l"(b), "r"(metadata), "r"(idesc), "r"(sfa),        \
                   "r"(sfb), "r"(uint32_t(add))                                \
                   : "memory");                                                \
    }                                                                          \
    __device__ static void mmaSparseMxf8(uint32_t d, uint64_t a, uint64_t b,   \
                                         uint32_t metadata, uint32_t idesc,    \
                                         uint32_t sfa, uint32_t sfb,           \
                                         bool add) {                           \
      asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %7, 0;\n\t"           \
                   "tcgen05.mma.sp.cta_group::" #G                             \
                   ".kind::mxf8f6f4.block_scale "                              \
                   "[%0], %1, %2, [%3], %4, [%5], [%6], p;\n\t}" ::"r"(d),     \
                   "l"(a), "l"(b), "r"(metadata), "r"(idesc), "r"(sfa),        \
                   "r"(sfb), "r"(uint32_t(add))                                \
                   : "memory");                                                \
    }                                                                          \
    __device__ static void commit(uint32_t barrier) {                          \
      asm volatile(                                                            \
          "tcgen05.commit.cta_group::" #G                                      \
          ".mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)    \
          : "memory");                                                         \
    }                                                                          \
    __device__ static void commitTo(uint32_t barrier, uint16_t mask) {         \
      asm volatile(                                                            \
          "tcgen05.commit.cta_group::" #G                                      \
          ".mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "     \
          "[%0], %1;" ::"r"(barrier),                                          \
          "h"(mask)                                                            \
          : "memory");                                                         \
    }                                                                          \
  }
TENSOR_GROUP(1);
TENSOR_GROUP(2);

/// A from tensor memory.
__device__ __forceinline__ void mmaMxf8FromTensor(uint32_t d, uint32_t a,
                                                  uint64_t b, uint32_t idesc,
                                                  uint32_t sfa, uint32_t sfb,
                                                  bool add) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %6, 0;\n\t"
               "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale "
               "[%0], [%1], %2, %3, [%4], [%5], p;\n\t}" ::"r"(d),
               "r"(a), "l"(b), "r"(idesc), "r"(sfa), "r"(sfb),
               "r"(uint32_t(add))
               : "memory");
}

__device__ __forceinline__ void fenceAfter() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

__device__ __forceinline__ void fenceBefore() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

#define REGISTERS8(V, I)                                                       \
  V(values[I]), V(values[I + 1]), V(values[I + 2]), V(values[I + 3]),          \
      V(values[I + 4]), V(values[I + 5]), V(values[I + 6]), V(values[I + 7])
#define TEXT32                                                                 \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,"    \
  "%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"

__device__ __forceinline__ void loadTensor32(uint32_t (&values)[32],
                                             uint32_t address) {
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 " TEXT32 ", [%32];"
               : REGISTERS8("=r", 0), REGISTERS8("=r", 8), REGISTERS8("=r", 16),
                 REGISTERS8("=r", 24)
               : "r"(address));
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void storeTensor32(uint32_t address,
                                              const uint32_t (&values)[32]) {
  asm volatile("tcgen05.st.sync.aligned.32x32b.x32.b32 [%32], " TEXT32
               ";" ::REGISTERS8("r", 0),
               REGISTERS8("r", 8), REGISTERS8("r", 16), REGISTERS8("r", 24),
               "r"(address)
               : "memory");
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

/// Row `row` of the output from lane `threadIdx.x % 128` of the accumulator.
template <int N>
__device__ __forceinline__ void storeRow(float *out, int row,
                                         uint32_t accumulator) {
  uint32_t lanes = (threadIdx.x / 32 % 4) << 21;
  for (int n = 0; n < N; n += 32) {
    uint32_t values[32];
    loadTensor32(values, accumulator + lanes + n);
    for (int i = 0; i < 32; ++i)
      out[row * N + n + i] = __uint_as_float(values[i]);
  }
}

#endif // BLOCKSCALE_TEST_EMULATOR_CUDA_TENSOR_H
