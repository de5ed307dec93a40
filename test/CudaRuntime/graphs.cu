// RUN: %nvcc -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t 2>&1 | FileCheck %s --implicit-check-not=blockscale:
// CHECK: all right

//===- graphs.cu - graphs, captured and built node by node ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs/Check.h"
#include <vector>

constexpr int kCount = 1000;

__global__ void scale(float *values, float factor, float more) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount)
    values[i] = values[i] * factor + more;
}

__global__ void add(float *sum, const float *values) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount)
    sum[i] += values[i];
}

static void launch(cudaStream_t stream, float *values, float factor,
                   float more) {
  scale<<<4, 256, 0, stream>>>(values, factor, more);
}

/// values = host; values = values * factor + 1; other = 7s; sum = values +
/// other; ++calls; on two streams.
static cudaGraph_t capture(cudaStream_t stream, cudaStream_t second,
                           const std::vector<float> &host, float *values,
                           float *other, float *sum, float factor,
                           int *calls) {
  cudaEvent_t fork, join;
  CALL(cudaEventCreate(&fork));
  CALL(cudaEventCreate(&join));
  CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status;
  CALL(cudaStreamIsCapturing(stream, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  CALL(cudaMemcpyAsync(values, host.data(), kCount * sizeof(float),
                       cudaMemcpyHostToDevice, stream));
  CALL(cudaEventRecord(fork, stream));
  CALL(cudaStreamWaitEvent(second, fork, 0));
  // The arguments are those of now.
  launch(stream, values, factor, 1);
  CALL(cudaMemsetAsync(other, 0, kCount * sizeof(float), second));
  launch(second, other, 1, 7);
  CALL(cudaEventRecord(join, second));
  CALL(cudaStreamWaitEvent(stream, join, 0));
  CALL(cudaMemcpyAsync(sum, values, kCount * sizeof(float),
                       cudaMemcpyDeviceToDevice, stream));
  add<<<4, 256, 0, stream>>>(sum, other);
  CALL(cudaLaunchHostFunc(
      stream, [](void *data) { ++*static_cast<int *>(data); }, calls));
  cudaGraph_t graph;
  CALL(cudaStreamEndCapture(stream, &graph));
  CALL(cudaStreamIsCapturing(second, &status));
  EXPECT(status == cudaStreamCaptureStatusNone);
  return graph;
}

static void check(const float *sum, const std::vector<float> &host,
                  float factor) {
  std::vector<float> back(kCount);
  CALL(cudaMemcpy(back.data(), sum, kCount * sizeof(float),
                  cudaMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i)
    EXPECT(back[i] == host[i] * factor + 8);
}

/// sum = values * factor + 1 with a fill and two kernels as nodes; then other
/// parameters in the executable.
static void checkNodes(float *values, float *sum) {
  cudaGraph_t graph;
  cudaGraphNode_t fill, twice, both, back;
  CALL(cudaGraphCreate(&graph, 0));
  cudaMemsetParams memset{};
  memset.dst = values;
  memset.value = 0x40000000; // 2
  memset.elementSize = 4;
  memset.width = kCount;
  memset.height = 1;
  CALL(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &memset));
  float factor = 3, more = 1;
  void *arguments[] = {&values, &factor, &more};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void *>(scale);
  kernel.gridDim = dim3(4);
  kernel.blockDim = dim3(256);
  kernel.kernelParams = arguments;
  CALL(cudaGraphAddKernelNode(&twice, graph, &fill, 1, &kernel));
  CALL(cudaGraphAddMemcpyNode1D(&both, graph, &twice, 1, sum, values,
                                kCount * sizeof(float),
                                cudaMemcpyDeviceToDevice));
  std::vector<float> host(kCount);
  CALL(cudaGraphAddMemcpyNode1D(&back, graph, nullptr, 0, host.data(), sum,
                                kCount * sizeof(float),
                                cudaMemcpyDeviceToHost));
  CALL(cudaGraphAddDependencies(graph, &both, &back, nullptr, 1));
  size_t count = 0;
  CALL(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 4);
  cudaGraphNodeType type;
  CALL(cudaGraphNodeGetType(both, &type));
  EXPECT(type == cudaGraphNodeTypeMemcpy);
  // Programs find their kernels by the functions that they launch.
  cudaKernelNodeParams found{};
  CALL(cudaGraphKernelNodeGetParams(twice, &found));
  EXPECT(found.func == kernel.func && found.blockDim.x == 256);
  cudaGraphExec_t executable;
  CALL(cudaGraphInstantiate(&executable, graph, 0));
  CALL(cudaGraphLaunch(executable, nullptr));
  EXPECT(host[0] == 7 && host[kCount - 1] == 7);
  factor = 10;
  CALL(cudaGraphExecKernelNodeSetParams(executable, twice, &kernel));
  CALL(cudaGraphLaunch(executable, nullptr));
  EXPECT(host[0] == 21 && host[kCount - 1] == 21);
  kernel.func = &factor;
  EXPECT(cudaGraphAddKernelNode(&twice, graph, nullptr, 0, &kernel) ==
         cudaErrorInvalidResourceHandle);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphDestroy(graph));
}

int main() {
  std::vector<float> host(kCount);
  for (int i = 0; i < kCount; ++i)
    host[i] = float(i);
  float *values, *other, *sum;
  for (float **one : {&values, &other, &sum}) {
    CALL(cudaMalloc(one, kCount * sizeof(float)));
    CALL(cudaMemset(*one, 0xFF, kCount * sizeof(float)));
  }
  cudaStream_t stream, second;
  CALL(cudaStreamCreate(&stream));
  CALL(cudaStreamCreate(&second));
  int calls = 0;
  cudaGraph_t graph =
      capture(stream, second, host, values, other, sum, 3, &calls);
  EXPECT(calls == 0);
  cudaGraphExec_t executable;
  CALL(cudaGraphInstantiate(&executable, graph, 0));
  CALL(cudaGraphDestroy(graph));
  // What the host changes before the launch is copied then.
  for (int round = 0; round < 3; ++round) {
    for (float &value : host)
      value += 10;
    CALL(cudaGraphLaunch(executable, stream));
    CALL(cudaStreamSynchronize(stream));
    check(sum, host, 3);
  }
  EXPECT(calls == 3);
  graph = capture(stream, second, host, values, other, sum, 5, &calls);
  cudaGraphExecUpdateResultInfo result;
  CALL(cudaGraphExecUpdate(executable, graph, &result));
  EXPECT(result.result == cudaGraphExecUpdateSuccess);
  CALL(cudaGraphLaunch(executable, stream));
  check(sum, host, 5);
  CALL(cudaGraphDestroy(graph));
  // To wait for a stream that is captured is wrong and spoils the capture.
  CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaGetLastError() == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(stream, &graph) ==
         cudaErrorStreamCaptureInvalidated);
  EXPECT(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
  CALL(cudaGraphExecDestroy(executable));
  EXPECT(cudaGraphExecDestroy(executable) == cudaErrorInvalidValue);
  EXPECT(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) ==
         cudaErrorStreamCaptureUnsupported);
  checkNodes(values, sum);
  std::printf("all right\n");
}
