// RUN: %nvcc -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t 2>&1 | FileCheck %s
// CHECK-NOT: race
// CHECK: kernel 'rounds(int*, int*)': 2369 CTAs of a cooperative launch, B200 holds 2368 at once
// CHECK: all right

// The second of three barriers is missing.
// RUN: %nvcc -arch=sm_100a -DSKIP=1 %s -o %t.skip
// RUN: not blockscale emulate --cuda %t.skip 2>&1 | FileCheck %s --check-prefix=SKIP
// SKIP: kernel 'rounds(int*, int*)': line {{[0-9]+}}, cta {{.*}}: race: {{read of|write over}} what a thread of cluster {{[0-9]+}} {{wrote|read}} at line {{[0-9]+}}, without an edge between the two [hazard 33]

//===- cooperative.cu - a barrier of the whole grid -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs/Check.h"
#include <cooperative_groups.h>
#include <vector>

#ifndef SKIP
#define SKIP -1
#endif

namespace cg = cooperative_groups;

/// Each round every block adds up what its two neighbours had before it.
__global__ void __launch_bounds__(128) rounds(int *from, int *to) {
  cg::grid_group grid = cg::this_grid();
  unsigned blocks = gridDim.x, me = blockIdx.x;
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 0)
      to[me] = from[(me + 1) % blocks] + from[(me + blocks - 1) % blocks] + 1;
    if (round != SKIP)
      grid.sync();
    int *swap = from;
    from = to;
    to = swap;
  }
}

int main() {
  // More than a chip has SMs, so that several share one.
  constexpr int n = 200;
  std::vector<int> values(n), next(n), back(n);
  for (int i = 0; i < n; ++i)
    values[i] = i * i % 31;
  int *from, *to;
  CALL(cudaMalloc(&from, n * sizeof(int)));
  CALL(cudaMalloc(&to, n * sizeof(int)));
  CALL(cudaMemcpy(from, values.data(), n * sizeof(int),
                  cudaMemcpyHostToDevice));
  void *arguments[] = {&from, &to};
  CALL(cudaLaunchCooperativeKernel(rounds, dim3(n), dim3(128), arguments, 0,
                                   nullptr));
  for (int round = 0; round < 3; ++round, values = next)
    for (int i = 0; i < n; ++i)
      next[i] = values[(i + 1) % n] + values[(i + n - 1) % n] + 1;
  CALL(cudaMemcpy(back.data(), to, n * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(back == values);
  EXPECT(cudaLaunchCooperativeKernel(rounds, dim3(148 * 16 + 1), dim3(128),
                                     arguments, 0, nullptr) ==
         cudaErrorCooperativeLaunchTooLarge);
  std::printf("all right\n");
}
