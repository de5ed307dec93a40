//===- graphs.cpp - graphs of the driver, captured and built --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include <vector>

constexpr int kCount = 500;
constexpr size_t kBytes = kCount * sizeof(float);

static CUfunction axpy;
static CUdeviceptr x, y;
static std::vector<float> host(kCount), back(kCount);

static CUDA_KERNEL_NODE_PARAMS kernel(void **arguments) {
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = axpy;
  p.gridDimX = 2;
  p.gridDimY = p.gridDimZ = 1;
  p.blockDimX = 256;
  p.blockDimY = p.blockDimZ = 1;
  p.kernelParams = arguments;
  return p;
}

static CUDA_MEMCPY3D copy(CUmemorytype toType, void *to, CUmemorytype fromType,
                          const void *from) {
  CUDA_MEMCPY3D box{};
  box.dstMemoryType = toType;
  box.dstHost = to;
  box.dstDevice = reinterpret_cast<CUdeviceptr>(to);
  box.srcMemoryType = fromType;
  box.srcHost = from;
  box.srcDevice = reinterpret_cast<CUdeviceptr>(from);
  box.WidthInBytes = kBytes;
  box.Height = box.Depth = 1;
  return box;
}

/// back = factor * host + fill, with the copy to x and the fill of y side by
/// side before the kernel.
static void checkNodes() {
  CUgraph graph;
  CALL(cuGraphCreate(&graph, 0));
  CUgraphNode toX, fillY, run, fromY, count;
  // The order of addition is not that of the work.
  float factor = 3;
  int n = kCount;
  void *arguments[] = {&factor, &x, &y, &n};
  CUDA_KERNEL_NODE_PARAMS launch = kernel(arguments);
  CALL(cuGraphAddKernelNode(&run, graph, nullptr, 0, &launch));
  factor = 1000; // the arguments are those of before
  CUDA_MEMCPY3D in = copy(CU_MEMORYTYPE_DEVICE, reinterpret_cast<void *>(x),
                          CU_MEMORYTYPE_HOST, host.data());
  CUDA_MEMCPY3D out = copy(CU_MEMORYTYPE_HOST, back.data(),
                           CU_MEMORYTYPE_DEVICE, reinterpret_cast<void *>(y));
  CUDA_MEMSET_NODE_PARAMS fill{y, 0, 0x40E00000, 4, kCount, 1}; // 7
  CUcontext context;
  CALL(cuCtxGetCurrent(&context));
  CALL(cuGraphAddMemcpyNode(&toX, graph, nullptr, 0, &in, context));
  CALL(cuGraphAddMemsetNode(&fillY, graph, nullptr, 0, &fill, context));
  CALL(cuGraphAddMemcpyNode(&fromY, graph, &run, 1, &out, context));
  int calls = 0;
  CUDA_HOST_NODE_PARAMS called{[](void *data) { ++*static_cast<int *>(data); },
                               &calls};
  CALL(cuGraphAddHostNode(&count, graph, &fromY, 1, &called));
  CUgraphNode first[] = {toX, fillY}, second[] = {run, run};
  CALL(cuGraphAddDependencies(graph, first, second, nullptr, 2));
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuGraphAddDependencies(graph, first, second, nullptr, 1));

  size_t number = 0;
  CALL(cuGraphGetNodes(graph, nullptr, &number));
  EXPECT(number == 5);
  CALL(cuGraphGetRootNodes(graph, nullptr, &number));
  EXPECT(number == 2);
  CALL(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &number));
  EXPECT(number == 4);
  CUgraphNode around[4];
  number = 4;
  CALL(cuGraphNodeGetDependencies(run, around, nullptr, &number));
  EXPECT(number == 2 && around[0] == toX && around[1] == fillY && !around[2]);
  number = 4;
  CALL(cuGraphNodeGetDependentNodes(run, around, nullptr, &number));
  EXPECT(number == 1 && around[0] == fromY);
  CUgraphNodeType type;
  CALL(cuGraphNodeGetType(fillY, &type));
  EXPECT(type == CU_GRAPH_NODE_TYPE_MEMSET);
  CALL(cuGraphKernelNodeGetParams(run, &launch));
  EXPECT(launch.func == axpy &&
         *static_cast<float *>(launch.kernelParams[0]) == 3);

  CUgraphExec executable;
  CALL(cuGraphInstantiate(&executable, graph, 0));
  auto check = [&](float byFactor, float plus) {
    CALL(cuGraphLaunch(executable, nullptr));
    for (int i = 0; i < kCount; ++i)
      EXPECT(back[i] == byFactor * host[i] + plus);
  };
  check(3, 7);
  EXPECT(calls == 1);
  // Other parameters for a node of the executable alone.
  factor = 5;
  launch = kernel(arguments);
  CALL(cuGraphExecKernelNodeSetParams(executable, run, &launch));
  fill.value = 0x3F800000; // 1
  CALL(cuGraphExecMemsetNodeSetParams(executable, fillY, &fill, context));
  check(5, 1);
  CALL(cuGraphNodeSetEnabled(executable, run, 0));
  check(0, 1);
  CALL(cuGraphNodeSetEnabled(executable, run, 1));
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuGraphNodeSetEnabled(executable, count, 0));
  // The graph as it is put into the executable again.
  CUgraphExecUpdateResultInfo info;
  CALL(cuGraphExecUpdate(executable, graph, &info));
  check(3, 7);
  CALL(cuGraphDestroyNode(count));
  RETURNS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
          cuGraphExecUpdate(executable, graph, &info));
  EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);

  // A graph as a node of another, twice: y = 3x + 7 both times.
  CUgraph outer;
  CUgraphNode inner[2];
  CALL(cuGraphCreate(&outer, 0));
  CALL(cuGraphAddChildGraphNode(&inner[0], outer, nullptr, 0, graph));
  CALL(cuGraphAddChildGraphNode(&inner[1], outer, inner, 1, graph));
  CALL(cuGraphExecDestroy(executable));
  CALL(cuGraphInstantiate(&executable, outer, 0));
  check(3, 7);
  CALL(cuGraphExecDestroy(executable));
  // A cycle.
  CALL(cuGraphAddDependencies(outer, &inner[1], &inner[0], nullptr, 1));
  CUDA_GRAPH_INSTANTIATE_PARAMS instantiate{};
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuGraphInstantiateWithParams(&executable, outer, &instantiate));
  EXPECT(instantiate.result_out == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
  EXPECT(instantiate.hErrNode_out == inner[0]);
  // A copy keeps its edges.
  CUgraph clone;
  CUgraphNode twin;
  CALL(cuGraphClone(&clone, graph));
  CALL(cuGraphDestroy(graph));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph));
  RETURNS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetType(run, &type));
  CALL(cuGraphNodeFindInClone(&twin, run, clone));
  number = 4;
  CALL(cuGraphNodeGetDependencies(twin, around, nullptr, &number));
  EXPECT(number == 2);
  CALL(cuGraphDestroy(clone));
  CALL(cuGraphDestroy(outer));
}

/// Memory of a graph, and the way of all kinds of nodes.
static void checkMemory() {
  CUgraph graph;
  CUgraphNode alloc, fill, copyBack, free;
  CALL(cuGraphCreate(&graph, 0));
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  p.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  p.alloc.bytesize = 64;
  CALL(cuGraphAddNode(&alloc, graph, nullptr, nullptr, 0, &p));
  CUdeviceptr memory = p.alloc.dptr;
  p = {};
  p.type = CU_GRAPH_NODE_TYPE_MEMSET;
  p.memset = {memory, 0, 0xABCD, 2, 32, 1, nullptr};
  CALL(cuGraphAddNode(&fill, graph, &alloc, nullptr, 1, &p));
  unsigned short values[32] = {};
  p = {};
  p.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  p.memcpy.copyParams = copy(CU_MEMORYTYPE_HOST, values, CU_MEMORYTYPE_DEVICE,
                             reinterpret_cast<void *>(memory));
  p.memcpy.copyParams.WidthInBytes = 64;
  CALL(cuGraphAddNode(&copyBack, graph, &fill, nullptr, 1, &p));
  CALL(cuGraphAddMemFreeNode(&free, graph, &copyBack, 1, memory));
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuGraphAddMemFreeNode(&free, graph, nullptr, 0, memory + 2));
  CUgraphExec executable;
  CALL(cuGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 2; ++i) {
    values[31] = 0;
    CALL(cuGraphLaunch(executable, nullptr));
    EXPECT(values[0] == 0xABCD && values[31] == 0xABCD);
  }
  p = {};
  p.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
  RETURNS(CUDA_ERROR_NOT_SUPPORTED,
          cuGraphAddNode(&fill, graph, nullptr, nullptr, 0, &p));
  CALL(cuGraphExecDestroy(executable));
  CALL(cuGraphDestroy(graph));
}

static void checkCaptures() {
  CUstream stream, second;
  CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CALL(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  CUevent fork, join;
  CALL(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
  CALL(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
  float factor = 2;
  int n = kCount;
  void *arguments[] = {&factor, &x, &y, &n};
  auto capture = [&](bool joined) {
    CALL(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CALL(cuMemcpyHtoDAsync(x, host.data(), kBytes, stream));
    CALL(cuEventRecord(fork, stream));
    CALL(cuStreamWaitEvent(second, fork, 0));
    CALL(cuMemsetD32Async(y, 0x41200000, kCount, second)); // 10
    CALL(cuEventRecord(join, second));
    if (joined)
      CALL(cuStreamWaitEvent(stream, join, 0));
    CALL(cuLaunchKernel(axpy, 2, 1, 1, 256, 1, 1, 0, stream, arguments,
                        nullptr));
    CALL(cuMemcpyDtoHAsync(back.data(), y, kBytes, stream));
  };
  capture(true);
  CUstreamCaptureStatus status;
  cuuint64_t id;
  CUgraph graph, same;
  const CUgraphNode *tail;
  size_t number;
  CALL(cuStreamGetCaptureInfo(second, &status, &id, &same, &tail, nullptr,
                              &number));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && number == 1);
  CUgraphNodeType type;
  CALL(cuGraphNodeGetType(tail[0], &type));
  EXPECT(type == CU_GRAPH_NODE_TYPE_MEMSET);
  CALL(cuStreamEndCapture(stream, &graph));
  EXPECT(graph == same);
  CALL(cuStreamIsCapturing(second, &status));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_NONE);
  CALL(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &number));
  EXPECT(number == 4); // copy - fill, both - kernel, kernel - copy
  CUgraphExec executable;
  CALL(cuGraphInstantiate(&executable, graph, 0));
  CALL(cuGraphLaunch(executable, stream));
  CALL(cuStreamSynchronize(stream));
  for (int i = 0; i < kCount; ++i)
    EXPECT(back[i] == 2 * host[i] + 10);
  CALL(cuGraphExecDestroy(executable));
  CALL(cuGraphDestroy(graph));

  // Only the stream that began it ends a capture; the attempt spoils it.
  capture(true);
  RETURNS(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
          cuStreamEndCapture(second, &graph));
  RETURNS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
          cuStreamEndCapture(stream, &graph));
  // So does an allocation, unless the capture or the thread is relaxed.
  capture(true);
  CUdeviceptr more;
  RETURNS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc(&more, 64));
  RETURNS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
          cuStreamEndCapture(stream, &graph));

  capture(false);
  RETURNS(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
          cuStreamEndCapture(stream, &graph));
  EXPECT(!graph);
  RETURNS(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(stream, &graph));
  RETURNS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
  capture(true);
  RETURNS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
  CALL(cuStreamIsCapturing(stream, &status));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  RETURNS(
      CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
      cuLaunchKernel(axpy, 2, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr));
  RETURNS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
          cuStreamEndCapture(stream, &graph));
  CALL(cuStreamSynchronize(stream));

  // A kernel whose module is gone.
  CUmodule module;
  CUfunction nothing;
  CUgraphNode node;
  CALL(cuModuleLoadData(&module, kPtx));
  CALL(cuModuleGetFunction(&nothing, module, "nothing"));
  CUDA_KERNEL_NODE_PARAMS p = kernel(nullptr);
  p.func = nothing;
  CALL(cuGraphCreate(&graph, 0));
  CALL(cuGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  CALL(cuGraphInstantiate(&executable, graph, 0));
  CALL(cuGraphLaunch(executable, stream));
  CALL(cuModuleUnload(module));
  RETURNS(CUDA_ERROR_INVALID_HANDLE, cuGraphLaunch(executable, stream));
  RETURNS(CUDA_ERROR_INVALID_HANDLE,
          cuGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  CALL(cuGraphExecDestroy(executable));
  CALL(cuGraphDestroy(graph));

  // What a graph keeps alive goes with it.
  int gone = 0;
  CUuserObject object;
  CALL(cuUserObjectCreate(
      &object, &gone, [](void *data) { ++*static_cast<int *>(data); }, 1,
      CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  CALL(cuGraphCreate(&graph, 0));
  CALL(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  EXPECT(gone == 0);
  CALL(cuGraphDestroy(graph));
  EXPECT(gone == 1);
}

int main() {
  CALL(cuInit(0));
  CUcontext context;
  CUmodule module;
  CALL(cuDevicePrimaryCtxRetain(&context, 0));
  CALL(cuCtxSetCurrent(context));
  CALL(cuModuleLoadData(&module, kPtx));
  CALL(cuModuleGetFunction(&axpy, module, "axpy"));
  CALL(cuMemAlloc(&x, kBytes));
  CALL(cuMemAlloc(&y, kBytes));
  for (int i = 0; i < kCount; ++i)
    host[i] = float(i % 91);
  checkNodes();
  checkMemory();
  checkCaptures();
  std::printf("all right\n");
}
