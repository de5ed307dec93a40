// RUN: %nvcc -gencode arch=compute_120a,code=[sm_120a,compute_120a] %s -o %t
// RUN: blockscale emulate --device=RTX5090 --cuda %t | FileCheck %s
// CHECK: 128 of 128 elements agree

// RUN: not blockscale emulate --cuda %t 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: blockscale: the program's fat binary has no code for B200: it holds PTX for sm_120{{.*}}, which sm_100a does not run; compile with -arch=sm_100a, or with -gencode arch=compute_100a,code=compute_100a
// OTHER: cudaErrorNoKernelImageForDevice

//===- blockmma.cu - NVFP4 products in registers (sm_120a) ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The kernel of the emulator's own tests: one warp, 16 x 8 x 64, accumulated
// onto 1, 2, 3 and 4.

#include "../Emulator/cuda/blockmma.cu"
#include "Inputs/Check.h"
#include <cmath>

constexpr int kM = 16, kN = 8, kK = 64, kBlock = 16, kScales = kK / kBlock;
constexpr float kValues[] = {0, 0.5, 1, -1.5, 2, -3, 4, -6};
constexpr uint8_t kCodes[] = {0x0, 0x1, 0x2, 0xB, 0x4, 0xD, 0x6, 0xF};

static int pickA(int m, int k) { return (m * 5 + k * 3 + m * k / 7) % 8; }
static int pickB(int n, int k) { return (n * 3 + k * 7 + n * k / 5) % 8; }
static int exponentA(int m, int j) { return (m + j * 2) % 5 - 2; }
static int exponentB(int n, int j) { return (n * 2 + j) % 3 - 1; }

static uint8_t *fill(int rows, int (*pick)(int, int)) {
  uint8_t *bytes;
  CALL(cudaMallocManaged(&bytes, rows * kK / 2));
  for (int i = 0; i < rows * kK; ++i)
    bytes[i / 2] |= kCodes[pick(i / kK, i % kK)] << 4 * (i % 2);
  return bytes;
}

static uint8_t *fillScales(int rows, int (*exponent)(int, int)) {
  uint8_t *bytes;
  CALL(cudaMallocManaged(&bytes, rows * kScales));
  for (int i = 0; i < rows * kScales; ++i)
    bytes[i] = uint8_t((exponent(i / kScales, i % kScales) + 7) << 3);
  return bytes;
}

int main() {
  Operands p = {};
  p.a = fill(kM, pickA);
  p.b = fill(kN, pickB);
  p.scaleA = fillScales(kM, exponentA);
  p.scaleB = fillScales(kN, exponentB);
  CALL(cudaMallocManaged(&p.d, kM * kN * sizeof(float)));
  nvf4<<<1, 32>>>(p);
  CALL(cudaGetLastError());
  CALL(cudaDeviceSynchronize());
  int agree = 0;
  for (int m = 0; m < kM; ++m)
    for (int n = 0; n < kN; ++n) {
      float sum = float(1 + n % 2 + 2 * (m / 8));
      for (int k = 0; k < kK; ++k)
        sum += std::ldexp(kValues[pickA(m, k)] * kValues[pickB(n, k)],
                          exponentA(m, k / kBlock) + exponentB(n, k / kBlock));
      agree += p.d[m * kN + n] == sum;
    }
  std::printf("%d of %d elements agree\n", agree, kM * kN);
  return agree != kM * kN;
}
