//===- CudaDriverFuzzer.cpp - calls of the driver in any order ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each three bytes are a call and the handles that it gets, stale ones among
// them: streams, events, captures, graphs and their nodes, executables, memory,
// pools, modules and contexts. What a call returns does not matter.
//
//===----------------------------------------------------------------------===//

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

namespace {

constexpr char kPtx[] = ".version 8.7\n.target sm_100a\n.address_size 64\n"
                        ".visible .entry nothing() { ret; }\n";

/// Handles of one kind, the last few of them.
template <typename T> class Handles {
public:
  T pick(uint8_t which) const {
    return handles.empty() ? T{} : handles[which % handles.size()];
  }
  void keep(T handle, CUresult result) {
    constexpr size_t kMost = 24;
    if (result != CUDA_SUCCESS)
      return;
    if (handles.size() == kMost)
      handles.erase(handles.begin());
    handles.push_back(handle);
  }

private:
  std::vector<T> handles;
};

/// A program whose calls the bytes are.
class Program {
public:
  Program() {
    cuInit(0);
    cuDevicePrimaryCtxRetain(&primary, 0);
    cuCtxSetCurrent(primary);
  }

  void call(uint8_t what, uint8_t first, uint8_t second) {
    a = first;
    b = second;
    calls[what % calls.size()]();
  }

private:
  /// A handle that a call makes is kept.
  template <typename T, typename F> void make(Handles<T> &handles, F create) {
    T handle{};
    CUresult result = create(&handle);
    handles.keep(handle, result);
  }

  void addKernel() {
    CUDA_KERNEL_NODE_PARAMS p{};
    p.func = functions.pick(b);
    p.gridDimX = p.gridDimY = p.gridDimZ = 1;
    p.blockDimX = p.blockDimY = p.blockDimZ = 1;
    CUgraphNode before = nodes.pick(b);
    make(nodes, [&](CUgraphNode *node) {
      return cuGraphAddKernelNode(node, graphs.pick(a), &before, b % 2, &p);
    });
  }

  void addFill() {
    CUDA_MEMSET_NODE_PARAMS p{memory.pick(b), 0, 1, 1, size_t(b % 80), 1};
    make(nodes, [&](CUgraphNode *node) {
      return cuGraphAddMemsetNode(node, graphs.pick(a), nullptr, 0, &p,
                                  nullptr);
    });
  }

  void changeKernel() {
    CUDA_KERNEL_NODE_PARAMS p;
    if (cuGraphKernelNodeGetParams(nodes.pick(a), &p) == CUDA_SUCCESS)
      cuGraphExecKernelNodeSetParams(executables.pick(b), nodes.pick(a), &p);
  }

  void lookAtCapture() {
    CUstreamCaptureStatus status;
    CUgraph graph = nullptr;
    const CUgraphNode *tail = nullptr;
    size_t count = 0;
    CUresult result = cuStreamGetCaptureInfo(streams.pick(a), &status, nullptr,
                                             &graph, &tail, nullptr, &count);
    if (result == CUDA_SUCCESS && count)
      nodes.keep(tail[0], result);
    if (graph)
      graphs.keep(graph, result);
  }

  uint8_t a = 0, b = 0;
  CUcontext primary = nullptr;
  Handles<CUcontext> contexts;
  Handles<CUstream> streams;
  Handles<CUevent> events;
  Handles<CUgraph> graphs;
  Handles<CUgraphNode> nodes;
  Handles<CUgraphExec> executables;
  Handles<CUdeviceptr> memory;
  Handles<CUmemoryPool> pools;
  Handles<CUmodule> modules;
  Handles<CUfunction> functions;

  const std::vector<std::function<void()>> calls{
      [&] { make(streams, [&](auto *s) { return cuStreamCreate(s, a % 2); }); },
      [&] { cuStreamDestroy(streams.pick(a)); },
      [&] { cuStreamSynchronize(streams.pick(a)); },
      [&] { make(events, [&](auto *e) { return cuEventCreate(e, a % 4); }); },
      [&] { cuEventDestroy(events.pick(a)); },
      [&] { cuEventRecord(events.pick(a), streams.pick(b)); },
      [&] { cuStreamWaitEvent(streams.pick(a), events.pick(b), 0); },
      [&] {
        cuStreamBeginCapture(streams.pick(a), CU_STREAM_CAPTURE_MODE_GLOBAL);
      },
      [&] {
        make(graphs,
             [&](auto *g) { return cuStreamEndCapture(streams.pick(a), g); });
      },
      [&] { lookAtCapture(); },
      [&] { make(graphs, [](auto *g) { return cuGraphCreate(g, 0); }); },
      [&] { cuGraphDestroy(graphs.pick(a)); },
      [&] {
        make(graphs, [&](auto *g) { return cuGraphClone(g, graphs.pick(a)); });
      },
      [&] { addKernel(); },
      [&] { addFill(); },
      [&] {
        make(nodes, [&](auto *n) {
          return cuGraphAddChildGraphNode(n, graphs.pick(a), nullptr, 0,
                                          graphs.pick(b));
        });
      },
      [&] { cuGraphDestroyNode(nodes.pick(a)); },
      [&] {
        CUgraphNode from = nodes.pick(a), to = nodes.pick(b);
        cuGraphAddDependencies(graphs.pick(a), &from, &to, nullptr, 1);
      },
      [&] {
        make(executables,
             [&](auto *x) { return cuGraphInstantiate(x, graphs.pick(a), 0); });
      },
      [&] { cuGraphLaunch(executables.pick(a), streams.pick(b)); },
      [&] { cuGraphExecDestroy(executables.pick(a)); },
      [&] {
        CUgraphExecUpdateResultInfo info;
        cuGraphExecUpdate(executables.pick(a), graphs.pick(b), &info);
      },
      [&] { changeKernel(); },
      [&] { make(memory, [&](auto *p) { return cuMemAlloc(p, a % 100); }); },
      [&] { cuMemFree(memory.pick(a)); },
      [&] { cuMemFreeAsync(memory.pick(a), streams.pick(b)); },
      [&] { cuMemsetD8Async(memory.pick(a), 1, b % 100, streams.pick(b)); },
      [&] {
        CUmemPoolProps p{};
        p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        make(pools, [&](auto *pool) { return cuMemPoolCreate(pool, &p); });
      },
      [&] { cuMemPoolDestroy(pools.pick(a)); },
      [&] {
        make(memory, [&](auto *p) {
          return cuMemAllocFromPoolAsync(p, a % 100, pools.pick(b), nullptr);
        });
      },
      [&] { make(modules, [](auto *m) { return cuModuleLoadData(m, kPtx); }); },
      [&] { cuModuleUnload(modules.pick(a)); },
      [&] {
        make(functions, [&](auto *f) {
          return cuModuleGetFunction(f, modules.pick(a), "nothing");
        });
      },
      [&] {
        cuLaunchKernel(functions.pick(a), 1, 1, 1, 1, 1, 1, 0, streams.pick(b),
                       nullptr, nullptr);
      },
      [&] {
        make(contexts, [](auto *c) { return cuCtxCreate(c, nullptr, 0, 0); });
      },
      [&] { cuCtxDestroy(contexts.pick(a)); },
      [&] { cuCtxSetCurrent(b % 3 ? primary : contexts.pick(a)); },
  };
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // What is wrong with the calls is said at length.
  static bool quiet = std::freopen("/dev/null", "w", stdout) != nullptr;
  (void)quiet;
  Program program;
  for (size_t i = 0; i + 2 < size; i += 3)
    program.call(data[i], data[i + 1], data[i + 2]);
  cuDevicePrimaryCtxReset(0);
  return 0;
}
