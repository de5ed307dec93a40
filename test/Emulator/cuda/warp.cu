//===- warp.cu - matrices in registers, narrow conversions ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx.h"

/// One warp: D (16 x 8) = A (16 x 16) * B (16 x 8) + C, f16 or bf16. A goes
/// through cp.async and ldmatrix, B (stored 8 x 16) through ldmatrix, and a
/// copy of A back through stmatrix.trans.
#define MMA16(NAME, TYPE)                                                      \
  extern "C" __global__ void NAME(const uint32_t *a, const uint32_t *b,        \
                                  const float *c, float *d,                    \
                                  uint16_t *transposed) {                      \
    __shared__ alignas(16) uint32_t sa[16 * 8];                                \
    __shared__ alignas(16) uint32_t sb[8 * 8];                                 \
    __shared__ alignas(16) uint16_t st[16 * 16];                               \
    int lane = threadIdx.x, g = lane / 4, q = lane % 4;                        \
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(            \
                     sharedAddress(sa) + lane * 16),                           \
                 "l"(a + lane * 4));                                           \
    if (lane < 16)                                                             \
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(          \
                       sharedAddress(sb) + lane * 16),                         \
                   "l"(b + lane * 4));                                         \
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::         \
                     : "memory");                                              \
    __syncwarp();                                                              \
    uint32_t ra[4], rb[2];                                                     \
    uint32_t row = sharedAddress(sa) + lane % 16 * 32 + lane / 16 * 16;        \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, "    \
                 "[%4];"                                                       \
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])          \
                 : "r"(row));                                                  \
    uint32_t column = sharedAddress(sb) + lane % 8 * 32 + lane / 8 % 2 * 16;   \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"     \
                 : "=r"(rb[0]), "=r"(rb[1])                                    \
                 : "r"(column));                                               \
    float e[4] = {c[g * 8 + 2 * q], c[g * 8 + 2 * q + 1],                      \
                  c[(g + 8) * 8 + 2 * q], c[(g + 8) * 8 + 2 * q + 1]};         \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE        \
                 ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "                \
                 "{%0,%1,%2,%3};"                                              \
                 : "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3])              \
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]),             \
                   "r"(rb[0]), "r"(rb[1]));                                    \
    d[g * 8 + 2 * q] = e[0];                                                   \
    d[g * 8 + 2 * q + 1] = e[1];                                               \
    d[(g + 8) * 8 + 2 * q] = e[2];                                             \
    d[(g + 8) * 8 + 2 * q + 1] = e[3];                                         \
    /* Matrix j of A goes to its transposed place. */                          \
    uint32_t target = sharedAddress(st) + (lane % 8 + lane / 16 * 8) * 32 +    \
                      lane / 8 % 2 * 16;                                       \
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], "       \
                 "{%1,%2,%3,%4};" ::"r"(target),                               \
                 "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3])                \
                 : "memory");                                                  \
    __syncwarp();                                                              \
    for (int i = lane; i < 256; i += 32)                                       \
      transposed[i] = st[i];                                                   \
  }
MMA16(mmaF16, "f16")
MMA16(mmaBf16, "bf16")

/// D (16 x 8) = A (16 x 8) * B (8 x 8), tf32; B is stored by columns.
extern "C" __global__ void mmaTf32(const float *a, const float *b, float *d) {
  int lane = threadIdx.x, g = lane / 4, q = lane % 4;
  uint32_t ra[4], rb[2];
  for (int i = 0; i < 4; ++i)
    asm("cvt.rna.tf32.f32 %0, %1;"
        : "=r"(ra[i])
        : "f"(a[(g + 8 * (i % 2)) * 8 + q + 4 * (i / 2)]));
  for (int i = 0; i < 2; ++i)
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rb[i]) : "f"(b[g * 8 + q + 4 * i]));
  float e[4];
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
               : "=f"(e[0]), "=f"(e[1]), "=f"(e[2]), "=f"(e[3])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]),
                 "r"(rb[1]), "f"(0.0f));
  for (int i = 0; i < 4; ++i)
    d[(g + 8 * (i / 2)) * 8 + 2 * q + i % 2] = e[i];
}

/// D (16 x 8) += A (16 x 32) * B (32 x 8), s8 to s32; B is stored by columns.
extern "C" __global__ void mmaS8(const uint32_t *a, const uint32_t *b, int *d) {
  int lane = threadIdx.x, g = lane / 4, q = lane % 4;
  uint32_t ra[4] = {a[g * 8 + q], a[(g + 8) * 8 + q], a[g * 8 + q + 4],
                    a[(g + 8) * 8 + q + 4]};
  uint32_t rb[2] = {b[g * 8 + q], b[g * 8 + q + 4]};
  int e[4];
  for (int i = 0; i < 4; ++i)
    e[i] = d[(g + 8 * (i / 2)) * 8 + 2 * q + i % 2];
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(e[0]), "+r"(e[1]), "+r"(e[2]), "+r"(e[3])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]),
                 "r"(rb[1]));
  for (int i = 0; i < 4; ++i)
    d[(g + 8 * (i / 2)) * 8 + 2 * q + i % 2] = e[i];
}

/// Each thread converts the pair (in[2i], in[2i+1]); the second of a pair
/// belongs into the low half.
extern "C" __global__ void narrow(const float *in, uint32_t *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float hi = in[2 * i], lo = in[2 * i + 1];
  uint16_t e4m3, e5m2, e2m3, e3m2, up, down;
  uint32_t e2m1;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(e4m3) : "f"(hi), "f"(lo));
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(e5m2) : "f"(hi), "f"(lo));
  asm("cvt.rn.satfinite.e2m3x2.f32 %0, %1, %2;" : "=h"(e2m3) : "f"(hi), "f"(lo));
  asm("cvt.rn.satfinite.e3m2x2.f32 %0, %1, %2;" : "=h"(e3m2) : "f"(hi), "f"(lo));
  asm("{\n\t.reg .b8 b;\n\tcvt.rn.satfinite.e2m1x2.f32 b, %1, %2;\n\t"
      "mov.b32 %0, {b, 0, 0, 0};\n\t}"
      : "=r"(e2m1)
      : "f"(hi), "f"(lo));
  asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(up) : "f"(hi), "f"(lo));
  asm("cvt.rz.satfinite.ue8m0x2.f32 %0, %1, %2;"
      : "=h"(down)
      : "f"(hi), "f"(lo));
  uint32_t *o = out + 7 * i;
  o[0] = e4m3, o[1] = e5m2, o[2] = e2m3, o[3] = e3m2, o[4] = e2m1;
  o[5] = up, o[6] = down;
}

/// The way back: each thread decodes one code of each format.
extern "C" __global__ void widen(float *out) {
  int code = threadIdx.x;
  uint16_t pair = uint16_t(code);
  uint32_t h[5];
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(h[0]) : "h"(pair));
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(h[1]) : "h"(pair));
  uint16_t six = uint16_t(code & 63), four = uint16_t(code & 15);
  asm("cvt.rn.f16x2.e2m3x2 %0, %1;" : "=r"(h[2]) : "h"(six));
  asm("cvt.rn.f16x2.e3m2x2 %0, %1;" : "=r"(h[3]) : "h"(six));
  asm("{\n\t.reg .b8 b;\n\tmov.b16 {b, _}, %1;\n\t"
      "cvt.rn.f16x2.e2m1x2 %0, b;\n\t}"
      : "=r"(h[4])
      : "h"(four));
  for (int f = 0; f < 5; ++f) {
    uint16_t low = uint16_t(h[f]);
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(low));
    out[6 * code + f] = value;
  }
  uint32_t scale;
  asm("cvt.rn.bf16x2.ue8m0x2 %0, %1;" : "=r"(scale) : "h"(pair));
  out[6 * code + 5] = __uint_as_float(scale << 16);
}
