//===- driver_launches.cpp - what a launch through the driver costs -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// export CPATH=/usr/local/cuda/include:../test/CudaDriver/Inputs
// g++ -O2 -std=c++17 driver_launches.cpp ../build/lib/blockscale/libcuda.so.1
// mv a.out launches
// blockscale emulate --cuda ./launches
//
// 1000 launches each of two kernels. A launch is done when it returns.
//
//===----------------------------------------------------------------------===//

#include "Check.h"

#include <algorithm>
#include <chrono>
#include <vector>

static void measure(const char *what, CUfunction function, unsigned grid,
                    unsigned block, void **arguments) {
  std::vector<double> times;
  for (int i = 0; i < 1000; ++i) {
    auto start = std::chrono::steady_clock::now();
    CALL(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, nullptr,
                        arguments, nullptr));
    std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - start;
    times.push_back(passed.count());
  }
  std::sort(times.begin(), times.end());
  std::printf("%s: median %.3f ms, 90 of 100 below %.3f ms, longest %.1f ms\n",
              what, times[500], times[900], times[999]);
}

int main() {
  CALL(cuInit(0));
  CUcontext context;
  CALL(cuDevicePrimaryCtxRetain(&context, 0));
  CALL(cuCtxSetCurrent(context));
  CUmodule module;
  CUfunction axpy, nothing;
  CALL(cuModuleLoadData(&module, kPtx));
  CALL(cuModuleGetFunction(&axpy, module, "axpy"));
  CALL(cuModuleGetFunction(&nothing, module, "nothing"));
  int count = 1024;
  float factor = 2;
  CUdeviceptr x, y;
  CALL(cuMemAlloc(&x, count * sizeof(float)));
  CALL(cuMemAlloc(&y, count * sizeof(float)));
  void *arguments[] = {&factor, &x, &y, &count};
  measure("4 CTAs of 256 threads", axpy, 4, 256, arguments);
  measure("empty", nothing, 1, 32, nullptr);
}
