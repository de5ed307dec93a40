//===- both.cu - runtime and driver are one state -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"

__device__ int counter = 5;

__global__ void add(int *value, int more) {
  *value += more;
  atomicAdd(&counter, 1);
}

int main() {
  // The runtime has a context before it is asked for one.
  int *value;
  EXPECT(cudaMalloc(&value, sizeof(int)) == cudaSuccess);
  CALL(cuInit(0));
  CUcontext current, primary;
  CALL(cuCtxGetCurrent(&current));
  CALL(cuDevicePrimaryCtxRetain(&primary, 0));
  EXPECT(current && current == primary);
  auto pointer = reinterpret_cast<CUdeviceptr>(value);
  CALL(cuMemsetD32(pointer, 100, 1));

  // A stream of the runtime, a kernel of the runtime, launched by the driver.
  cudaStream_t stream;
  EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
  add<<<1, 1, 0, stream>>>(value, 20);
  cudaFunction_t function;
  EXPECT(cudaGetFuncBySymbol(&function, reinterpret_cast<void *>(add)) ==
         cudaSuccess);
  int more = 3;
  void *arguments[] = {&value, &more};
  CALL(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments,
                      nullptr));
  CALL(cuStreamSynchronize(stream));
  int result = 0;
  EXPECT(cudaMemcpy(&result, value, sizeof result, cudaMemcpyDeviceToHost) ==
         cudaSuccess);
  EXPECT(result == 123);
  EXPECT(cudaMemcpyFromSymbol(&result, counter, sizeof result) == cudaSuccess);
  EXPECT(result == 7);

  // A library of the runtime, and memory freed by the other side.
  cudaLibrary_t library;
  cudaKernel_t kernel;
  EXPECT(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr,
                             nullptr, 0) == cudaSuccess);
  EXPECT(cudaLibraryGetKernel(&kernel, library, "nothing") == cudaSuccess);
  EXPECT(cudaLaunchKernel(kernel, 1, 1, nullptr, 0, stream) == cudaSuccess);
  CALL(cuLibraryUnload(reinterpret_cast<CUlibrary>(library)));
  EXPECT(cudaLibraryUnload(library) == cudaErrorInvalidResourceHandle);
  CALL(cuMemFree(pointer));
  EXPECT(cudaFree(value) == cudaErrorInvalidValue);
  CALL(cuStreamDestroy(stream));
  EXPECT(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
  std::printf("all right\n");
}
