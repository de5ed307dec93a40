//===- ApiGraphNodes.cpp - graphs that are built node by node -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver's functions do the work: handles are the same, parameters are put
// into the driver's form.
//
//===----------------------------------------------------------------------===//

#include "Copies.h"
#include "Runtime.h"
#include "Streams.h"

#include <cstring>
#include <optional>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// Errors of the driver have the runtime's numbers.
cudaError_t pass(const std::function<CUresult()> &work) {
  return call([&] { return cudaError_t(work()); });
}

/// The parameters of a kernel node; an error if the stub is not known.
cudaError_t toDriver(const cudaKernelNodeParams *p,
                     CUDA_KERNEL_NODE_PARAMS &result) {
  if (!p)
    return cudaErrorInvalidValue;
  KernelEntry *entry = kernelFor(p->func);
  if (!entry)
    return cudaErrorInvalidResourceHandle;
  result = {};
  result.func = reinterpret_cast<CUfunction>(entry);
  result.gridDimX = p->gridDim.x;
  result.gridDimY = p->gridDim.y;
  result.gridDimZ = p->gridDim.z;
  result.blockDimX = p->blockDim.x;
  result.blockDimY = p->blockDim.y;
  result.blockDimZ = p->blockDim.z;
  result.sharedMemBytes = p->sharedMemBytes;
  result.kernelParams = p->kernelParams;
  result.extra = p->extra;
  return cudaSuccess;
}

cudaError_t
withKernelNode(const cudaKernelNodeParams *parameters,
               const std::function<CUresult(CUDA_KERNEL_NODE_PARAMS &)> &work) {
  return call([&] {
    CUDA_KERNEL_NODE_PARAMS driver;
    cudaError_t error = toDriver(parameters, driver);
    return error == cudaSuccess ? cudaError_t(work(driver)) : error;
  });
}

/// Memory types that the kind of a copy says.
std::optional<std::pair<CUmemorytype, CUmemorytype>>
typesOf(cudaMemcpyKind kind) {
  auto host = CU_MEMORYTYPE_HOST, device = CU_MEMORYTYPE_DEVICE,
       any = CU_MEMORYTYPE_UNIFIED;
  switch (kind) {
  case cudaMemcpyHostToHost:
    return std::pair(host, host);
  case cudaMemcpyHostToDevice:
    return std::pair(device, host);
  case cudaMemcpyDeviceToHost:
    return std::pair(host, device);
  case cudaMemcpyDeviceToDevice:
    return std::pair(device, device);
  case cudaMemcpyDefault:
    return std::pair(any, any);
  }
  return std::nullopt;
}

/// One row; nothing for a kind that there is not.
std::optional<CUDA_MEMCPY3D> lineBox(void *to, const void *from, size_t size,
                                     cudaMemcpyKind kind) {
  auto types = typesOf(kind);
  if (!types)
    return std::nullopt;
  CUDA_MEMCPY3D box{};
  box.dstMemoryType = types->first;
  box.dstHost = to;
  box.dstDevice = reinterpret_cast<CUdeviceptr>(to);
  box.srcMemoryType = types->second;
  box.srcHost = from;
  box.srcDevice = reinterpret_cast<CUdeviceptr>(from);
  box.WidthInBytes = size;
  box.Height = box.Depth = 1;
  return box;
}

std::optional<CUDA_MEMCPY3D> toDriver(const cudaMemcpy3DParms *p) {
  if (!p || p->srcArray || p->dstArray)
    return std::nullopt;
  auto box = lineBox(p->dstPtr.ptr, p->srcPtr.ptr, p->extent.width, p->kind);
  if (!box)
    return box;
  box->Height = p->extent.height;
  box->Depth = p->extent.depth;
  box->srcXInBytes = p->srcPos.x;
  box->srcY = p->srcPos.y;
  box->srcZ = p->srcPos.z;
  box->srcPitch = p->srcPtr.pitch;
  box->srcHeight = p->srcPtr.ysize;
  box->dstXInBytes = p->dstPos.x;
  box->dstY = p->dstPos.y;
  box->dstZ = p->dstPos.z;
  box->dstPitch = p->dstPtr.pitch;
  box->dstHeight = p->dstPtr.ysize;
  return box;
}

CUDA_MEMSET_NODE_PARAMS toDriver(const cudaMemsetParams &p) {
  return {reinterpret_cast<CUdeviceptr>(p.dst),
          p.pitch,
          p.value,
          p.elementSize,
          p.width,
          p.height};
}

cudaError_t addBox(cudaGraphNode_t *node, cudaGraph_t graph,
                   const cudaGraphNode_t *before, size_t count,
                   const std::optional<CUDA_MEMCPY3D> &box) {
  return pass([&] {
    return box ? cuGraphAddMemcpyNode(node, graph, before, count, &*box,
                                      nullptr)
               : CUDA_ERROR_INVALID_VALUE;
  });
}

} // namespace

BLOCKSCALE_API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags) {
  return pass([&] { return cuGraphCreate(graph, flags); });
}

BLOCKSCALE_API cudaError_t cudaGraphClone(cudaGraph_t *clone,
                                          cudaGraph_t graph) {
  return pass([&] { return cuGraphClone(clone, graph); });
}

BLOCKSCALE_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *found,
                                                    cudaGraphNode_t original,
                                                    cudaGraph_t clone) {
  return pass([&] { return cuGraphNodeFindInClone(found, original, clone); });
}

BLOCKSCALE_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return pass([&] { return cuGraphDestroyNode(node); });
}

BLOCKSCALE_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node,
                                                cudaGraphNodeType *type) {
  return pass([&] {
    return cuGraphNodeGetType(node, reinterpret_cast<CUgraphNodeType *>(type));
  });
}

BLOCKSCALE_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph,
                                             cudaGraphNode_t *nodes,
                                             size_t *count) {
  return pass([&] { return cuGraphGetNodes(graph, nodes, count); });
}

BLOCKSCALE_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph,
                                                 cudaGraphNode_t *nodes,
                                                 size_t *count) {
  return pass([&] { return cuGraphGetRootNodes(graph, nodes, count); });
}

// The data of edges has the same bytes in both.
static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));

BLOCKSCALE_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph,
                                             cudaGraphNode_t *from,
                                             cudaGraphNode_t *to,
                                             cudaGraphEdgeData *data,
                                             size_t *count) {
  return pass([&] {
    return cuGraphGetEdges(graph, from, to,
                           reinterpret_cast<CUgraphEdgeData *>(data), count);
  });
}

BLOCKSCALE_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                        cudaGraphNode_t *nodes,
                                                        cudaGraphEdgeData *data,
                                                        size_t *count) {
  return pass([&] {
    return cuGraphNodeGetDependencies(
        node, nodes, reinterpret_cast<CUgraphEdgeData *>(data), count);
  });
}

BLOCKSCALE_API cudaError_t
cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                               cudaGraphEdgeData *data, size_t *count) {
  return pass([&] {
    return cuGraphNodeGetDependentNodes(
        node, nodes, reinterpret_cast<CUgraphEdgeData *>(data), count);
  });
}

BLOCKSCALE_API cudaError_t cudaGraphAddDependencies(
    cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
    const cudaGraphEdgeData *data, size_t count) {
  return pass([&] {
    return cuGraphAddDependencies(
        graph, from, to, reinterpret_cast<const CUgraphEdgeData *>(data),
        count);
  });
}

BLOCKSCALE_API cudaError_t cudaGraphRemoveDependencies(
    cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
    const cudaGraphEdgeData *data, size_t count) {
  return pass([&] {
    return cuGraphRemoveDependencies(
        graph, from, to, reinterpret_cast<const CUgraphEdgeData *>(data),
        count);
  });
}

BLOCKSCALE_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph,
                                                  const char *path,
                                                  unsigned flags) {
  return pass([&] { return cuGraphDebugDotPrint(graph, path, flags); });
}

BLOCKSCALE_API cudaError_t
cudaGraphInstantiateWithParams(cudaGraphExec_t *executable, cudaGraph_t graph,
                               cudaGraphInstantiateParams *parameters) {
  static_assert(sizeof(cudaGraphInstantiateParams) ==
                sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS));
  return pass([&] {
    return cuGraphInstantiateWithParams(
        executable, graph,
        reinterpret_cast<CUDA_GRAPH_INSTANTIATE_PARAMS *>(parameters));
  });
}

BLOCKSCALE_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable,
                                                 unsigned long long *flags) {
  return pass([&] {
    return cuGraphExecGetFlags(executable,
                               reinterpret_cast<cuuint64_t *>(flags));
  });
}

BLOCKSCALE_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable,
                                                   cudaGraphNode_t node,
                                                   unsigned enabled) {
  return pass([&] { return cuGraphNodeSetEnabled(executable, node, enabled); });
}

BLOCKSCALE_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable,
                                                   cudaGraphNode_t node,
                                                   unsigned *enabled) {
  return pass([&] { return cuGraphNodeGetEnabled(executable, node, enabled); });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

BLOCKSCALE_API cudaError_t cudaGraphAddKernelNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
    size_t count, const cudaKernelNodeParams *parameters) {
  return withKernelNode(parameters, [&](CUDA_KERNEL_NODE_PARAMS &driver) {
    return cuGraphAddKernelNode(node, graph, before, count, &driver);
  });
}

BLOCKSCALE_API cudaError_t
cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *p) {
  return call([&] {
    CUDA_KERNEL_NODE_PARAMS driver;
    if (!p)
      return cudaErrorInvalidValue;
    if (CUresult error = cuGraphKernelNodeGetParams(node, &driver))
      return cudaError_t(error);
    auto *entry = reinterpret_cast<const KernelEntry *>(driver.func);
    p->func = const_cast<void *>(symbolOf(entry));
    p->gridDim = dim3(driver.gridDimX, driver.gridDimY, driver.gridDimZ);
    p->blockDim = dim3(driver.blockDimX, driver.blockDimY, driver.blockDimZ);
    p->sharedMemBytes = driver.sharedMemBytes;
    p->kernelParams = driver.kernelParams;
    p->extra = driver.extra;
    return cudaSuccess;
  });
}

BLOCKSCALE_API cudaError_t cudaGraphKernelNodeSetParams(
    cudaGraphNode_t node, const cudaKernelNodeParams *parameters) {
  return withKernelNode(parameters, [&](CUDA_KERNEL_NODE_PARAMS &driver) {
    return cuGraphKernelNodeSetParams(node, &driver);
  });
}

BLOCKSCALE_API cudaError_t cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t executable, cudaGraphNode_t node,
    const cudaKernelNodeParams *parameters) {
  return withKernelNode(parameters, [&](CUDA_KERNEL_NODE_PARAMS &driver) {
    return cuGraphExecKernelNodeSetParams(executable, node, &driver);
  });
}

//===----------------------------------------------------------------------===//
// Copies and fills
//===----------------------------------------------------------------------===//

BLOCKSCALE_API cudaError_t cudaGraphAddMemcpyNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
    size_t count, const cudaMemcpy3DParms *parameters) {
  return addBox(node, graph, before, count, toDriver(parameters));
}

BLOCKSCALE_API cudaError_t
cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                         const cudaGraphNode_t *before, size_t count, void *to,
                         const void *from, size_t size, cudaMemcpyKind kind) {
  return addBox(node, graph, before, count, lineBox(to, from, size, kind));
}

BLOCKSCALE_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(
    cudaGraphExec_t executable, cudaGraphNode_t node, void *to,
    const void *from, size_t size, cudaMemcpyKind kind) {
  return pass([&] {
    auto box = lineBox(to, from, size, kind);
    return box ? cuGraphExecMemcpyNodeSetParams(executable, node, &*box,
                                                nullptr)
               : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API cudaError_t cudaGraphAddMemsetNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
    size_t count, const cudaMemsetParams *parameters) {
  return pass([&] {
    if (!parameters)
      return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMSET_NODE_PARAMS fill = toDriver(*parameters);
    return cuGraphAddMemsetNode(node, graph, before, count, &fill, nullptr);
  });
}

BLOCKSCALE_API cudaError_t cudaGraphExecMemsetNodeSetParams(
    cudaGraphExec_t executable, cudaGraphNode_t node,
    const cudaMemsetParams *parameters) {
  return pass([&] {
    if (!parameters)
      return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMSET_NODE_PARAMS fill = toDriver(*parameters);
    return cuGraphExecMemsetNodeSetParams(executable, node, &fill, nullptr);
  });
}

//===----------------------------------------------------------------------===//
// Everything else
//===----------------------------------------------------------------------===//

BLOCKSCALE_API cudaError_t cudaGraphAddHostNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
    size_t count, const cudaHostNodeParams *parameters) {
  return pass([&] {
    if (!parameters)
      return CUDA_ERROR_INVALID_VALUE;
    CUDA_HOST_NODE_PARAMS host{parameters->fn, parameters->userData};
    return cuGraphAddHostNode(node, graph, before, count, &host);
  });
}

BLOCKSCALE_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node,
                                                 cudaGraph_t graph,
                                                 const cudaGraphNode_t *before,
                                                 size_t count) {
  return pass([&] { return cuGraphAddEmptyNode(node, graph, before, count); });
}

BLOCKSCALE_API cudaError_t cudaGraphAddChildGraphNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
    size_t count, cudaGraph_t child) {
  return pass([&] {
    return cuGraphAddChildGraphNode(node, graph, before, count, child);
  });
}

BLOCKSCALE_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node,
                                                           cudaGraph_t *graph) {
  return pass([&] { return cuGraphChildGraphNodeGetGraph(node, graph); });
}

BLOCKSCALE_API cudaError_t cudaGraphAddEventRecordNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
    size_t count, cudaEvent_t event) {
  return pass([&] {
    return cuGraphAddEventRecordNode(node, graph, before, count, event);
  });
}

BLOCKSCALE_API cudaError_t cudaGraphAddEventWaitNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
    size_t count, cudaEvent_t event) {
  return pass([&] {
    return cuGraphAddEventWaitNode(node, graph, before, count, event);
  });
}

BLOCKSCALE_API cudaError_t cudaGraphAddMemAllocNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
    size_t count, cudaMemAllocNodeParams *parameters) {
  static_assert(sizeof(cudaMemAllocNodeParams) ==
                sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
  return pass([&] {
    return cuGraphAddMemAllocNode(
        node, graph, before, count,
        reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS *>(parameters));
  });
}

BLOCKSCALE_API cudaError_t cudaGraphAddMemFreeNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
    size_t count, void *pointer) {
  return pass([&] {
    return cuGraphAddMemFreeNode(node, graph, before, count,
                                 reinterpret_cast<CUdeviceptr>(pointer));
  });
}

//===----------------------------------------------------------------------===//
// Nodes of any type
//===----------------------------------------------------------------------===//

namespace {

/// The driver's form of the parameters. Where the two structures are alike byte
/// for byte, they are copied.
cudaError_t toDriver(const cudaGraphNodeParams &p, CUgraphNodeParams &result) {
  result = {};
  result.type = CUgraphNodeType(p.type);
  switch (p.type) {
  case cudaGraphNodeTypeKernel: {
    cudaKernelNodeParams old{};
    old.func = p.kernel.func;
    old.gridDim = {p.kernel.gridDim.x, p.kernel.gridDim.y, p.kernel.gridDim.z};
    old.blockDim = {p.kernel.blockDim.x, p.kernel.blockDim.y,
                    p.kernel.blockDim.z};
    old.sharedMemBytes = p.kernel.sharedMemBytes;
    old.kernelParams = p.kernel.kernelParams;
    old.extra = p.kernel.extra;
    CUDA_KERNEL_NODE_PARAMS kernel;
    cudaError_t error = toDriver(&old, kernel);
    static_assert(sizeof kernel == sizeof result.kernel);
    std::memcpy(&result.kernel, &kernel, sizeof kernel);
    return error;
  }
  case cudaGraphNodeTypeMemcpy: {
    std::optional<CUDA_MEMCPY3D> box = toDriver(&p.memcpy.copyParams);
    if (!box)
      return cudaErrorInvalidValue;
    result.memcpy.copyParams = *box;
    return cudaSuccess;
  }
  case cudaGraphNodeTypeMemset:
    result.memset.dst = reinterpret_cast<CUdeviceptr>(p.memset.dst);
    result.memset.pitch = p.memset.pitch;
    result.memset.value = p.memset.value;
    result.memset.elementSize = p.memset.elementSize;
    result.memset.width = p.memset.width;
    result.memset.height = p.memset.height;
    return cudaSuccess;
  case cudaGraphNodeTypeConditional:
    result.conditional.handle = p.conditional.handle;
    result.conditional.type = CUgraphConditionalNodeType(p.conditional.type);
    result.conditional.size = p.conditional.size;
    return cudaSuccess;
  default:
    static_assert(sizeof p == sizeof result);
    std::memcpy(&result, &p, sizeof result);
    return cudaSuccess;
  }
}

} // namespace

BLOCKSCALE_API cudaError_t cudaGraphAddNode(cudaGraphNode_t *node,
                                            cudaGraph_t graph,
                                            const cudaGraphNode_t *before,
                                            const cudaGraphEdgeData *data,
                                            size_t count,
                                            cudaGraphNodeParams *parameters) {
  return call([&] {
    if (!parameters)
      return cudaErrorInvalidValue;
    CUgraphNodeParams driver;
    if (cudaError_t error = toDriver(*parameters, driver); error != cudaSuccess)
      return error;
    auto error = cudaError_t(cuGraphAddNode_v2(
        node, graph, before, reinterpret_cast<const CUgraphEdgeData *>(data),
        count, &driver));
    // What the program asks back.
    if (parameters->type == cudaGraphNodeTypeConditional)
      parameters->conditional.phGraph_out = driver.conditional.phGraph_out;
    if (parameters->type == cudaGraphNodeTypeGraph)
      parameters->graph.graph = driver.graph.graph;
    if (parameters->type == cudaGraphNodeTypeMemAlloc)
      parameters->alloc.dptr = reinterpret_cast<void *>(driver.alloc.dptr);
    return error;
  });
}

BLOCKSCALE_API cudaError_t cudaGraphConditionalHandleCreate(
    cudaGraphConditionalHandle *handle, cudaGraph_t graph,
    unsigned defaultValue, unsigned flags) {
  return pass([&] {
    return cuGraphConditionalHandleCreate(
        reinterpret_cast<CUgraphConditionalHandle *>(handle), graph, nullptr,
        defaultValue, flags);
  });
}
