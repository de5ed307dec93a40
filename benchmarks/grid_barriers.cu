//===- grid_barriers.cu - what barriers of the whole grid cost ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc -std=c++17 -cudart shared -arch=sm_100a grid_barriers.cu -o barriers
// blockscale emulate [--strict=false] --cuda ./barriers [CTAS [BARRIERS]]
//
// Between two barriers each thread adds up its own word and that of a thread of
// the next CTA.
//
//===----------------------------------------------------------------------===//

#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

constexpr int kThreads = 128;

__global__ void rounds(int *from, int *to, int count) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  int words = gridDim.x * kThreads, me = blockIdx.x * kThreads + threadIdx.x;
  for (int round = 0; round < count; ++round) {
    to[me] = from[(me + kThreads + 1) % words] + from[me] + 1;
    grid.sync();
    int *swap = from;
    from = to;
    to = swap;
  }
}

int main(int argc, char **argv) {
  int ctas = argc > 1 ? std::atoi(argv[1]) : 64;
  int count = argc > 2 ? std::atoi(argv[2]) : 100;
  int words = ctas * kThreads;
  std::vector<int> expected(words), next(words);
  for (int i = 0; i < words; ++i)
    expected[i] = i * i % 31;
  int *from, *to;
  size_t bytes = words * sizeof(int);
  if (cudaMalloc(&from, bytes) || cudaMalloc(&to, bytes) ||
      cudaMemcpy(from, expected.data(), bytes, cudaMemcpyHostToDevice))
    return 1;
  void *arguments[] = {&from, &to, &count};
  std::clock_t start = std::clock();
  if (cudaLaunchCooperativeKernel(rounds, dim3(ctas), dim3(kThreads),
                                  arguments, 0, nullptr) ||
      cudaDeviceSynchronize())
    return 1;
  double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  for (int round = 0; round < count; ++round, expected.swap(next))
    for (int i = 0; i < words; ++i)
      next[i] = expected[(i + kThreads + 1) % words] + expected[i] + 1;
  if (cudaMemcpy(next.data(), count % 2 ? to : from, bytes,
                 cudaMemcpyDeviceToHost))
    return 1;
  bool right = next == expected;
  std::printf("%d CTAs, %d barriers: %.2f s of processor time, %s\n", ctas,
              count, seconds, right ? "right" : "WRONG");
  return right ? 0 : 1;
}
