//===- blockmma.cu - mma.sync with block scales (sm_120a) -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One warp, one instruction. A is stored by rows and B by columns, in bytes of
// the register format; scales by row or column, one byte per block. The scale
// operands use the byte and thread ids of each kernel's name.
//
//===----------------------------------------------------------------------===//

#include "Ptx.h"

/// Word `index` of row `row`.
__device__ __forceinline__ uint32_t word(const uint8_t *base, int rowBytes,
                                         int row, int index) {
  return *reinterpret_cast<const uint32_t *>(base + row * rowBytes + 4 * index);
}

/// The register that lane `q` of a quad holds for the scale of `row`: garbage
/// in all bytes but `count` from `byte` on, and in the lanes not selected.
__device__ __forceinline__ uint32_t scaleWord(const uint8_t *scales, int row,
                                              int count, int byte, bool mine) {
  uint32_t value = 0x81838587u;
  if (mine)
    for (int s = 0; s < count; ++s) {
      int shift = 8 * (byte + s);
      value = value & ~(0xffu << shift) |
              uint32_t(scales[row * count + s]) << shift;
    }
  return value;
}

struct Operands {
  const uint8_t *a, *b, *scaleA, *scaleB;
  const uint32_t *metadata;
  float *d;
};

#define SETUP(COUNT, BYTE_A, THREAD_A, BYTE_B, THREAD_B)                       \
  int lane = threadIdx.x, g = lane / 4, q = lane % 4;                          \
  uint32_t sa = scaleWord(p.scaleA, g + 8 * (q % 2), COUNT, BYTE_A,            \
                          q / 2 == THREAD_A);                                  \
  uint32_t sb = scaleWord(p.scaleB, g, COUNT, BYTE_B, q == THREAD_B);          \
  uint32_t a[4] = {word(p.a, 32, g, q), word(p.a, 32, g + 8, q),               \
                   word(p.a, 32, g, q + 4), word(p.a, 32, g + 8, q + 4)};      \
  float e[4] = {1, 2, 3, 4};

#define STORE()                                                                \
  for (int i = 0; i < 4; ++i)                                                  \
    p.d[(g + 8 * (i / 2)) * 8 + 2 * q + i % 2] = e[i];

#define DENSE(NAME, TEXT, COUNT, BYTE_A, THREAD_A, BYTE_B, THREAD_B)           \
  extern "C" __global__ void NAME(Operands p) {                                \
    SETUP(COUNT, BYTE_A, THREAD_A, BYTE_B, THREAD_B)                           \
    uint32_t b[2] = {word(p.b, 32, g, q), word(p.b, 32, g, q + 4)};            \
    asm volatile("mma.sync.aligned." TEXT                                      \
                 " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, "     \
                 "{%10}, {%11, %12}, {%13}, {%14, %15};"                       \
                 : "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3])              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),      \
                   "r"(b[1]), "r"(sa), "h"(uint16_t(BYTE_A)),                  \
                   "h"(uint16_t(THREAD_A)), "r"(sb), "h"(uint16_t(BYTE_B)),    \
                   "h"(uint16_t(THREAD_B)));                                   \
    STORE()                                                                    \
  }

DENSE(mxf8, "kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32."
            "e4m3.e4m3.f32.ue8m0", 1, 2, 1, 3, 2)
DENSE(mxf6f4, "kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32."
              "e3m2.e2m1.f32.ue8m0", 1, 0, 0, 1, 3)
DENSE(mxf4, "kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32."
            "e2m1.e2m1.f32.ue8m0", 2, 2, 0, 0, 1)
DENSE(nvf4, "kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32."
            "e2m1.e2m1.f32.ue4m3", 4, 0, 1, 0, 3)

#define SPARSE(NAME, TEXT, COUNT, BYTE_A, THREAD_A, BYTE_B, THREAD_B, B0, B1,  \
               B2, B3)                                                         \
  extern "C" __global__ void NAME(Operands p) {                                \
    SETUP(COUNT, BYTE_A, THREAD_A, BYTE_B, THREAD_B)                           \
    uint32_t b[4] = {word(p.b, 64, g, B0), word(p.b, 64, g, B1),               \
                     word(p.b, 64, g, B2), word(p.b, 64, g, B3)};              \
    uint32_t metadata = p.metadata[(g + 8 * (q % 2)) * 2 + q / 2];             \
    asm volatile("mma.sync.aligned." TEXT                                      \
                 " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, "            \
                 "{%0,%1,%2,%3}, {%12}, 0, {%13}, {%14, %15}, {%16}, "         \
                 "{%17, %18};"                                                 \
                 : "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3])              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),      \
                   "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata), "r"(sa),    \
                   "h"(uint16_t(BYTE_A)), "h"(uint16_t(THREAD_A)), "r"(sb),    \
                   "h"(uint16_t(BYTE_B)), "h"(uint16_t(THREAD_B)));            \
    STORE()                                                                    \
  }

SPARSE(sparseMxf8, "kind::mxf8f6f4.sp::ordered_metadata.block_scale."
                   "scale_vec::1X.m16n8k64.row.col.f32.e4m3.e4m3.f32.ue8m0",
       1, 1, 1, 2, 0, q, q + 4, q + 8, q + 12)
SPARSE(sparseNvf4, "kind::mxf4nvf4.sp::ordered_metadata.block_scale."
                   "scale_vec::4X.m16n8k128.row.col.f32.e2m1.e2m1.f32.ue4m3",
       4, 0, 0, 0, 2, q, q + 4, q + 8, q + 12)
