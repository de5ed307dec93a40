//===- cuda_launches.cu - what a launch of a small kernel costs -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc -std=c++17 -cudart shared -arch=sm_100a cuda_launches.cu -o launches
// blockscale emulate --cuda ./launches
//
// Two rounds of 1000 launches: of one kernel, and of 100 kernels in turn, each
// of which is decoded at its first launch. A launch is done when it returns.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>
#include <vector>

template <int Factor> __global__ void scale(const float *in, float *out) {
  __shared__ float tile[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = tile[threadIdx.x ^ 1] * Factor + out[i];
}

using Kernel = void (*)(const float *, float *);

template <int... Factor>
static std::vector<Kernel> kernels(std::integer_sequence<int, Factor...>) {
  return {scale<Factor + 1>...};
}

static bool measure(const char *name, const std::vector<Kernel> &list,
                    const float *in, float *out) {
  std::vector<double> times;
  std::clock_t used = std::clock();
  for (int i = 0; i < 1000; ++i) {
    auto start = std::chrono::steady_clock::now();
    list[i % list.size()]<<<4, 128>>>(in, out);
    std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - start;
    times.push_back(passed.count());
  }
  used = std::clock() - used;
  if (cudaDeviceSynchronize() != cudaSuccess)
    return false;
  std::sort(times.begin(), times.end());
  std::printf("%s: median %.3f ms, 90 of 100 below %.3f ms, longest %.3f ms, "
              "%.3f ms of processor time each\n",
              name, times[500], times[900], times[999],
              double(used) / CLOCKS_PER_SEC);
  return true;
}

int main() {
  constexpr int n = 4 * 128;
  float *in, *out;
  std::vector<float> ones(n, 1), result(n);
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, n * sizeof(float));
  std::vector<Kernel> all = kernels(std::make_integer_sequence<int, 100>());
  if (!measure("1000 launches of one kernel", {all[0]}, in, out) ||
      !measure("1000 launches of 100 kernels", all, in, out))
    return 1;
  cudaMemcpy(result.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  // 1000 times 1, and ten times the sum of 1 to 100.
  return result[77] == 1000 + 10 * 5050 ? 0 : 1;
}
