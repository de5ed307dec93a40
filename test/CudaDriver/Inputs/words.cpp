//===- words.cpp - words that streams wait for, and the driver's log ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include <cstring>

static void logs() {
  CUlogsCallbackHandle handle = nullptr;
  auto callback = [](void *, CUlogLevel, char *, size_t) {};
  CALL(cuLogsRegisterCallback(callback, nullptr, &handle));
  EXPECT(handle);
  CALL(cuLogsUnregisterCallback(handle));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuLogsUnregisterCallback(handle));
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuLogsRegisterCallback(nullptr, nullptr, &handle));
  CUlogIterator iterator;
  CALL(cuLogsCurrent(&iterator, 0));
  char text[8] = "before";
  size_t size = sizeof text;
  CALL(cuLogsDumpToMemory(&iterator, text, &size, 0));
  EXPECT(size == 0 && !text[0]);
}

int main() {
  // Before cuInit, as PyTorch does.
  logs();
  CALL(cuInit(0));
  CUcontext context;
  CALL(cuCtxCreate(&context, nullptr, 0, 0));
  CUstream stream;
  CALL(cuStreamCreate(&stream, 0));
  CUdeviceptr words;
  CALL(cuMemAlloc(&words, 16));
  CALL(cuStreamWriteValue32(stream, words, 0xFFFFFFFE, 0));
  CALL(cuStreamWriteValue64(stream, words + 8, 0x123456789A, 0));
  unsigned long long host[2] = {};
  CALL(cuMemcpyDtoH(host, words, 16));
  EXPECT(host[0] == 0xFFFFFFFE && host[1] == 0x123456789A);
  // Greater or equal in a circle: -2 is not behind -3, nor behind 2^31 - 2.
  CALL(
      cuStreamWaitValue32(stream, words, 0xFFFFFFFD, CU_STREAM_WAIT_VALUE_GEQ));
  CALL(cuStreamWaitValue64(stream, words + 8, 0x123456789A,
                           CU_STREAM_WAIT_VALUE_EQ));
  CALL(cuStreamWaitValue32(stream, words, 2, CU_STREAM_WAIT_VALUE_AND));
  CALL(cuStreamWaitValue32(stream, words, 0, CU_STREAM_WAIT_VALUE_NOR));
  RETURNS(CUDA_ERROR_NOT_SUPPORTED,
          cuStreamWaitValue32(stream, words, 5, CU_STREAM_WAIT_VALUE_GEQ));
  RETURNS(CUDA_ERROR_NOT_SUPPORTED,
          cuStreamWaitValue32(stream, words, 1, CU_STREAM_WAIT_VALUE_AND));
  RETURNS(CUDA_ERROR_NOT_SUPPORTED,
          cuStreamWaitValue32(stream, words, ~0u, CU_STREAM_WAIT_VALUE_NOR));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(stream, 8, 1, 0));
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuStreamWriteValue32(stream, words + 2, 1, 0));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(stream, words, 1, 9));

  CUstreamBatchMemOpParams operations[2]{};
  operations[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[0].writeValue.address = words;
  operations[0].writeValue.value = 77;
  operations[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operations[1].waitValue.address = words;
  operations[1].waitValue.value = 77;
  operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  CALL(cuStreamBatchMemOp(stream, 2, operations, 0));
  // Into a graph, and done at each launch.
  CUgraph graph;
  CUgraphExec executable;
  CALL(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CALL(cuStreamWriteValue32(stream, words, 78, 0));
  CALL(cuStreamEndCapture(stream, &graph));
  CALL(cuGraphInstantiate(&executable, graph, 0));
  CALL(cuMemcpyDtoH(host, words, 4));
  EXPECT(host[0] == 77);
  CALL(cuGraphLaunch(executable, stream));
  CALL(cuMemcpyDtoH(host, words, 4));
  EXPECT(host[0] == 78);
  cuuint64_t zero = 0;
  CALL(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,
                                       &zero));
  std::printf("all right\n");
}
