//===- ThreadsTest.cpp - programs whose host threads share the device -----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every thread works on a stream of its own through the emulated driver or
// runtime; a few things belong to all of them. Under ThreadSanitizer these are
// what it watches of both libraries.
//
//===----------------------------------------------------------------------===//

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

/// add(values, total, n): adds 1 to each of n values, and 1 to the total for
/// each of them.
constexpr char kPtx[] = R"(
.version 8.7
.target sm_100a
.address_size 64
.visible .entry add(.param .u64 values, .param .u64 total, .param .u32 n) {
  .reg .pred %p;
  .reg .b32 %r<7>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [values];
  ld.param.u64 %rd2, [total];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p ret;
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mul.wide.u32 %rd3, %r5, 4;
  add.u64 %rd4, %rd1, %rd3;
  ld.global.u32 %r6, [%rd4];
  add.u32 %r6, %r6, 1;
  st.global.u32 [%rd4], %r6;
  red.global.add.u32 [%rd2], 1;
  ret;
}
)";

constexpr unsigned kThreads = 4, kRounds = 8, kValues = 200, kBlock = 64;
constexpr unsigned kBlocks = (kValues + kBlock - 1) / kBlock;
constexpr size_t kBytes = kValues * sizeof(uint32_t);

template <typename F> void onThreads(F body) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([=] { body(i); });
  for (std::thread &thread : threads)
    thread.join();
}

/// What the values of a thread begin with.
std::vector<uint32_t> firstValues(unsigned thread) {
  std::vector<uint32_t> values(kValues);
  for (unsigned i = 0; i < kValues; ++i)
    values[i] = 1000 * thread + i;
  return values;
}

void expectAdded(const std::vector<uint32_t> &values, unsigned thread,
                 unsigned launches) {
  for (unsigned i = 0; i < kValues; ++i)
    ASSERT_EQ(values[i], 1000 * thread + i + launches) << "thread " << thread;
}

TEST(Threads, OfTheDriver) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  CUcontext context;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  CUdeviceptr total = 0;
  ASSERT_EQ(cuMemAlloc(&total, sizeof(uint32_t)), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(total, 0, 1), CUDA_SUCCESS);
  CUevent shared;
  ASSERT_EQ(cuEventCreate(&shared, CU_EVENT_DEFAULT), CUDA_SUCCESS);

  onThreads([&](unsigned thread) {
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    CUmodule module;
    CUfunction add;
    CUstream stream;
    CUdeviceptr values = 0;
    ASSERT_EQ(cuModuleLoadData(&module, kPtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&add, module, "add"), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAllocAsync(&values, kBytes, stream), CUDA_SUCCESS);
    std::vector<uint32_t> host = firstValues(thread);
    ASSERT_EQ(cuMemcpyHtoDAsync(values, host.data(), kBytes, stream),
              CUDA_SUCCESS);
    unsigned n = kValues;
    void *arguments[] = {&values, &total, &n};
    for (unsigned i = 0; i < kRounds; ++i) {
      ASSERT_EQ(cuStreamWaitEvent(stream, shared, 0), CUDA_SUCCESS);
      ASSERT_EQ(cuLaunchKernel(add, kBlocks, 1, 1, kBlock, 1, 1, 0, stream,
                               arguments, nullptr),
                CUDA_SUCCESS);
      ASSERT_EQ(cuEventRecord(shared, stream), CUDA_SUCCESS);
    }
    ASSERT_EQ(cuMemcpyDtoHAsync(host.data(), values, kBytes, stream),
              CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    expectAdded(host, thread, kRounds);
    // An error is the calling thread's, and no other's.
    EXPECT_EQ(cuMemFree(values + 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemFreeAsync(values, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  });

  uint32_t sum = 0;
  ASSERT_EQ(cuMemcpyDtoH(&sum, total, sizeof(sum)), CUDA_SUCCESS);
  EXPECT_EQ(sum, kThreads * kRounds * kValues);
  EXPECT_EQ(cuMemFree(total), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(shared), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

TEST(Threads, OfTheRuntime) {
  cudaLibrary_t library;
  cudaKernel_t add;
  ASSERT_EQ(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr,
                                nullptr, 0),
            cudaSuccess);
  ASSERT_EQ(cudaLibraryGetKernel(&add, library, "add"), cudaSuccess);
  void *total = nullptr;
  ASSERT_EQ(cudaMallocManaged(&total, sizeof(uint32_t)), cudaSuccess);
  std::memset(total, 0, sizeof(uint32_t));

  onThreads([&](unsigned thread) {
    cudaStream_t stream;
    void *values = nullptr;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    ASSERT_EQ(cudaMallocAsync(&values, kBytes, stream), cudaSuccess);
    std::vector<uint32_t> host = firstValues(thread);
    ASSERT_EQ(cudaMemcpyAsync(values, host.data(), kBytes,
                              cudaMemcpyHostToDevice, stream),
              cudaSuccess);
    unsigned n = kValues;
    void *arguments[] = {&values, &total, &n};
    auto launch = [&] {
      return cudaLaunchKernel(add, dim3(kBlocks), dim3(kBlock), arguments, 0,
                              stream);
    };
    // Half of the launches one by one, half as a graph that was captured.
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
              cudaSuccess);
    ASSERT_EQ(launch(), cudaSuccess);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    for (unsigned i = 0; i < kRounds / 2; ++i) {
      ASSERT_EQ(launch(), cudaSuccess);
      ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    }
    // An error is the calling thread's, and no other's.
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    if (thread % 2) {
      EXPECT_EQ(cudaFree(static_cast<char *>(values) + 4),
                cudaErrorInvalidValue);
      EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    }
    ASSERT_EQ(cudaMemcpyAsync(host.data(), values, kBytes,
                              cudaMemcpyDeviceToHost, stream),
              cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    expectAdded(host, thread, kRounds);
    EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaFreeAsync(values, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  });

  EXPECT_EQ(*static_cast<uint32_t *>(total), kThreads * kRounds * kValues);
  EXPECT_EQ(cudaFree(total), cudaSuccess);
  EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
}

} // namespace
