// Device code in several files, which nvlink links: with either runtime, through a
// library, and with kernels' lines of the source.

// RUN: %nvcc -rdc=true -arch=sm_100a %s %S/Inputs/separate-other.cu -o %t
// RUN: blockscale emulate --cuda %t | FileCheck %s
// RUN: %nvcc_plain -std=c++17 -cudart static -rdc=true -arch=sm_100a %s %S/Inputs/separate-other.cu -o %t.static
// RUN: blockscale emulate --cuda %t.static | FileCheck %s
// RUN: %nvcc -lib -rdc=true -arch=sm_100a %S/Inputs/separate-other.cu -o %t.a
// RUN: %nvcc -rdc=true -arch=sm_100a %s %t.a -o %t.library
// RUN: blockscale emulate --cuda %t.library | FileCheck %s
// CHECK: all right

// A finding names the line of the file that it is in.
// RUN: %nvcc -rdc=true -lineinfo -arch=sm_100a %s %S/Inputs/separate-other.cu -o %t.lines
// RUN: not blockscale emulate --cuda %t.lines outside 2>&1 | FileCheck %s --check-prefix=LINES
// LINES: out-of-bounds
// LINES-NEXT: separate-other.cu:[[#]]:{{.*}}target[index] = 1;

// Machine code alone.
// RUN: %nvcc -rdc=true -gencode arch=compute_100a,code=sm_100a %s %S/Inputs/separate-other.cu -o %t.cubin
// RUN: not blockscale emulate --cuda %t.cubin 2>&1 | FileCheck %s --check-prefix=CUBIN
// CUBIN: blockscale: the program's fat binary of linked object 1 of 2 has no code for B200: it holds machine code for sm_100 only, and the emulator runs PTX; compile with -arch=sm_100a

//===- separate.cu - device code in several files ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs/separate.h"
#include <cstdio>

static __device__ int hidden = 3;
__device__ int counter = 7;
__constant__ int factor = 10;

__global__ void run(int *out) {
  int i = threadIdx.x;
  extern __shared__ int memory[];
  memory[i] = twice(scale(i));
  out[i] = memory[i] + table[i & 3] + hidden + shape->area();
  if (i == 0)
    ++counter;
}

__global__ void write(int *out, int index) { store(out, index); }

int main(int count, char **) {
  int *out;
  EXPECT(cudaMalloc(&out, 32 * sizeof *out));
  if (count > 1) {
    write<<<1, 1>>>(out, 1 << 20);
    return cudaDeviceSynchronize() != cudaSuccess;
  }
  makeShape<<<1, 1>>>();
  run<<<1, 32, 32 * sizeof *out>>>(out);
  int host[32];
  EXPECT(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  // scale(i) is 10 i + 100; the other file's hidden is 100, this one's is 3.
  for (int i = 0; i < 32; ++i)
    if (host[i] != 2 * (10 * i + 100) + 1000 * (i % 4 + 1) + 3 + 42) {
      std::printf("%d is %d\n", i, host[i]);
      return 1;
    }
  if (nextOfOther(out) != 2 * 8)
    return 1;
  // The other file's kernel has added 5 to what this one's has counted.
  int value = 0;
  EXPECT(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  if (value != 13)
    return 1;
  value = 1;
  EXPECT(cudaMemcpyToSymbol(factor, &value, sizeof value));
  run<<<1, 32, 32 * sizeof *out>>>(out);
  EXPECT(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  if (host[31] != 2 * (31 + 100) + 4000 + 3 + 42)
    return 1;
  std::printf("all right\n");
}
