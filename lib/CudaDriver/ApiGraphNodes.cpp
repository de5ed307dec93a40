//===- ApiGraphNodes.cpp - nodes with kernels, copies, fills, functions ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conditionals.h"
#include "Functions.h"
#include "GraphNodes.h"
#include "Streams.h"

#include <cstring>

using namespace blockscale;
using namespace blockscale::cuda;

CUresult cuda::addGraphNode(CUgraphNode *node, CUgraph graph,
                            const CUgraphNode *before,
                            const CUgraphEdgeData *data, size_t count,
                            CUgraphNodeType type, NodeWork work) {
  if (!node || (count && !before))
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphEdge> edges;
  for (size_t i = 0; i != count; ++i)
    edges.push_back({before[i], data ? data[i] : CUgraphEdgeData{}});
  return toDriver(addNode(graph, type, std::move(work), edges, *node));
}

CUresult cuda::setGraphNode(CUgraphNode node, CUgraphNodeType type,
                            NodeWork work) {
  if (!node || !isNode(node) || node->type != type)
    return CUDA_ERROR_INVALID_VALUE;
  if (cudaError_t error = checkWork(work); error != cudaSuccess)
    return toDriver(error);
  node->work = std::move(work);
  return CUDA_SUCCESS;
}

namespace {

CUresult toWork(const CUDA_KERNEL_NODE_PARAMS &p, NodeWork &work) {
  KernelEntry *entry = kernelOf(p.func ? static_cast<const void *>(p.func)
                                       : static_cast<const void *>(p.kern));
  if (!entry)
    return CUDA_ERROR_INVALID_HANDLE;
  LaunchRequest request;
  request.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
  request.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
  request.sharedBytes = p.sharedMemBytes;
  request.arguments = p.kernelParams;
  std::vector<void *> pointers;
  if (!p.kernelParams && p.extra) {
    if (cudaError_t error = readExtra(*entry, p.extra, pointers);
        error != cudaSuccess)
      return toDriver(error);
    request.arguments = pointers.data();
  }
  KernelWork kernel;
  // Attributes of a node outlive a change of its parameters.
  if (const auto *before = std::get_if<KernelWork>(&work)) {
    kernel.attributes = before->attributes;
    for (const CUlaunchAttribute &attribute : kernel.attributes)
      readAttribute(attribute, request);
  }
  cudaError_t error = keepArguments(*entry, request, kernel);
  if (error == cudaSuccess)
    work = std::move(kernel);
  return toDriver(error);
}

CUDA_KERNEL_NODE_PARAMS parametersOf(KernelWork &work) {
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = reinterpret_cast<CUfunction>(work.entry);
  p.gridDimX = work.request.grid.x;
  p.gridDimY = work.request.grid.y;
  p.gridDimZ = work.request.grid.z;
  p.blockDimX = work.request.block.x;
  p.blockDimY = work.request.block.y;
  p.blockDimZ = work.request.block.z;
  p.sharedMemBytes = unsigned(work.request.sharedBytes);
  work.pointers.clear();
  for (std::vector<uint8_t> &argument : work.arguments)
    work.pointers.push_back(argument.data());
  p.kernelParams = work.pointers.data();
  return p;
}

/// Work of any kind; `parameters` gets the address of memory that is made.
CUresult toWork(CUgraphNodeParams &parameters, NodeWork &work) {
  switch (parameters.type) {
  case CU_GRAPH_NODE_TYPE_KERNEL: {
    // The last two versions of the structure are the same.
    static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS) ==
                  sizeof(CUDA_KERNEL_NODE_PARAMS_v3));
    CUDA_KERNEL_NODE_PARAMS kernel;
    std::memcpy(&kernel, &parameters.kernel, sizeof kernel);
    return toWork(kernel, work);
  }
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    work = parameters.memcpy.copyParams;
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_MEMSET: {
    const CUDA_MEMSET_NODE_PARAMS_v2 &fill = parameters.memset;
    work = CUDA_MEMSET_NODE_PARAMS{fill.dst,         fill.pitch, fill.value,
                                   fill.elementSize, fill.width, fill.height};
    return CUDA_SUCCESS;
  }
  case CU_GRAPH_NODE_TYPE_HOST:
    work = CUDA_HOST_NODE_PARAMS{parameters.host.fn, parameters.host.userData};
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_GRAPH:
    if (!isGraph(parameters.graph.graph))
      return CUDA_ERROR_INVALID_VALUE;
    work = ChildWork{copyOf(*parameters.graph.graph)};
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_EMPTY:
    work = std::monostate();
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    work = EventWork{parameters.eventWait.event};
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    work = EventWork{parameters.eventRecord.event};
    return CUDA_SUCCESS;
  case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
    AllocWork memory{parameters.alloc};
    cudaError_t error = allocateFor(memory);
    parameters.alloc.dptr = memory.parameters.dptr;
    work = memory;
    return toDriver(error);
  }
  case CU_GRAPH_NODE_TYPE_MEM_FREE:
    work = FreeWork{parameters.free.dptr};
    return CUDA_SUCCESS;
  default:
    sayOnce("graph nodes of type " + std::to_string(int(parameters.type)) +
            " (semaphores, memory operations) are not supported");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

template <typename T>
CUresult get(CUgraphNode node, CUgraphNodeType type, T *result) {
  return withDriver([&] {
    const T *work = workOf<T>(node, type);
    return work ? give(result, *work) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult setKernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
  if (!p || !workOf<KernelWork>(node, CU_GRAPH_NODE_TYPE_KERNEL))
    return CUDA_ERROR_INVALID_VALUE;
  NodeWork work = node->work;
  if (CUresult error = toWork(*p, work); error != CUDA_SUCCESS)
    return error;
  return setGraphNode(node, CU_GRAPH_NODE_TYPE_KERNEL, std::move(work));
}

CUresult setAny(CUgraphNode node, CUgraphNodeParams *parameters) {
  if (!parameters || !node || !isNode(node) || node->type != parameters->type)
    return CUDA_ERROR_INVALID_VALUE;
  // Memory stays where it is, and so do conditions.
  if (parameters->type == CU_GRAPH_NODE_TYPE_CONDITIONAL ||
      parameters->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
      parameters->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
    return CUDA_ERROR_INVALID_VALUE;
  NodeWork work = node->work;
  if (CUresult error = toWork(*parameters, work); error != CUDA_SUCCESS)
    return error;
  return setGraphNode(node, parameters->type, std::move(work));
}

} // namespace

namespace {

bool canBeDisabled(const CUgraphNode_st &node) {
  return node.type == CU_GRAPH_NODE_TYPE_KERNEL ||
         node.type == CU_GRAPH_NODE_TYPE_MEMCPY ||
         node.type == CU_GRAPH_NODE_TYPE_MEMSET;
}

/// Attributes of launches that a node has as well.
bool isNodeAttribute(CUkernelNodeAttrID id) {
  switch (int(id)) { // one is newer than the header
  case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
  case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
  case CU_LAUNCH_ATTRIBUTE_PRIORITY:
  case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
  case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
  case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
  case kLaunchSharedMode:
    return true;
  default:
    return false;
  }
}

} // namespace

BLOCKSCALE_API CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph,
                                          const CUgraphNode *before,
                                          const CUgraphEdgeData *data,
                                          size_t count,
                                          CUgraphNodeParams *parameters) {
  return withContext([&] {
    NodeWork work;
    if (!parameters)
      return CUDA_ERROR_INVALID_VALUE;
    CUresult error =
        parameters->type == CU_GRAPH_NODE_TYPE_CONDITIONAL
            ? toDriver(makeConditional(graph, parameters->conditional, work))
            : toWork(*parameters, work);
    if (error != CUDA_SUCCESS)
      return error;
    error = addGraphNode(node, graph, before, data, count, parameters->type,
                         std::move(work));
    // The program asks for the graph in the node.
    if (error == CUDA_SUCCESS && parameters->type == CU_GRAPH_NODE_TYPE_GRAPH)
      parameters->graph.graph = std::get<ChildWork>((*node)->work).graph.get();
    return error;
  });
}

BLOCKSCALE_API CUresult cuGraphConditionalHandleCreate(
    CUgraphConditionalHandle *handle, CUgraph graph, CUcontext context,
    unsigned defaultValue, unsigned flags) {
  return withContext([&] {
    if (!handle || (context && !isContext(context)))
      return cudaErrorInvalidValue;
    return createCondition(graph, defaultValue, flags, *handle);
  });
}

BLOCKSCALE_API CUresult cuGraphNodeSetParams(CUgraphNode node,
                                             CUgraphNodeParams *parameters) {
  return withContext([&] { return setAny(node, parameters); });
}

BLOCKSCALE_API CUresult cuGraphExecNodeSetParams(
    CUgraphExec executable, CUgraphNode node, CUgraphNodeParams *parameters) {
  return withContext(
      [&] { return setAny(nodeIn(executable, node), parameters); });
}

BLOCKSCALE_API CUresult cuGraphNodeGetType(CUgraphNode node,
                                           CUgraphNodeType *type) {
  return withDriver([&] {
    return isNode(node) ? give(type, node->type) : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuGraphNodeSetEnabled(CUgraphExec executable,
                                              CUgraphNode node,
                                              unsigned enabled) {
  return withDriver([&] {
    CUgraphNode_st *one = nodeIn(executable, node);
    if (!one || !canBeDisabled(*one))
      return CUDA_ERROR_INVALID_VALUE;
    one->enabled = enabled;
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuGraphNodeGetEnabled(CUgraphExec executable,
                                              CUgraphNode node,
                                              unsigned *enabled) {
  return withDriver([&] {
    const CUgraphNode_st *one = nodeIn(executable, node);
    return one && canBeDisabled(*one) ? give(enabled, unsigned(one->enabled))
                                      : CUDA_ERROR_INVALID_VALUE;
  });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuGraphAddKernelNode_v2(
    CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
    const CUDA_KERNEL_NODE_PARAMS *parameters) {
  return withContext([&] {
    NodeWork work;
    if (!parameters)
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = toWork(*parameters, work); error != CUDA_SUCCESS)
      return error;
    return addGraphNode(node, graph, before, nullptr, count,
                        CU_GRAPH_NODE_TYPE_KERNEL, std::move(work));
  });
}

BLOCKSCALE_API CUresult cuGraphKernelNodeGetParams_v2(
    CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *parameters) {
  return withDriver([&] {
    auto *work = workOf<KernelWork>(node, CU_GRAPH_NODE_TYPE_KERNEL);
    return work ? give(parameters, parametersOf(*work))
                : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuGraphKernelNodeSetParams_v2(
    CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters) {
  return withContext([&] { return setKernel(node, parameters); });
}

BLOCKSCALE_API CUresult
cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                  const CUDA_KERNEL_NODE_PARAMS *parameters) {
  return withContext(
      [&] { return setKernel(nodeIn(executable, node), parameters); });
}

BLOCKSCALE_API CUresult
cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                              const CUkernelNodeAttrValue *value) {
  return withDriver([&] {
    auto *work = workOf<KernelWork>(node, CU_GRAPH_NODE_TYPE_KERNEL);
    if (!work || !value || !isNodeAttribute(id))
      return CUDA_ERROR_INVALID_VALUE;
    CUlaunchAttribute attribute{};
    attribute.id = id;
    attribute.value = *value;
    KernelWork changed = *work;
    cudaError_t error = readAttribute(attribute, changed.request);
    if (error == cudaSuccess)
      error = checkLaunch(changed);
    if (error != cudaSuccess)
      return toDriver(error);
    changed.attributes.push_back(attribute);
    *work = std::move(changed);
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuGraphKernelNodeGetAttribute(
    CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue *value) {
  return withDriver([&] {
    auto *work = workOf<KernelWork>(node, CU_GRAPH_NODE_TYPE_KERNEL);
    if (!work || !value || !isNodeAttribute(id))
      return CUDA_ERROR_INVALID_VALUE;
    *value = {};
    for (const CUlaunchAttribute &attribute : work->attributes)
      if (attribute.id == id)
        *value = attribute.value;
    return CUDA_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Copies, fills, functions of the host
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph,
                                             const CUgraphNode *before,
                                             size_t count,
                                             const CUDA_MEMCPY3D *box,
                                             CUcontext) {
  return withContext([&] {
    return box ? addGraphNode(node, graph, before, nullptr, count,
                              CU_GRAPH_NODE_TYPE_MEMCPY, *box)
               : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node,
                                                   CUDA_MEMCPY3D *box) {
  return get(node, CU_GRAPH_NODE_TYPE_MEMCPY, box);
}

BLOCKSCALE_API CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node,
                                                   const CUDA_MEMCPY3D *box) {
  return setGraphNodeLocked(node, CU_GRAPH_NODE_TYPE_MEMCPY, box);
}

BLOCKSCALE_API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable,
                                                       CUgraphNode node,
                                                       const CUDA_MEMCPY3D *box,
                                                       CUcontext) {
  auto guard = locked();
  return setGraphNodeLocked(nodeIn(executable, node), CU_GRAPH_NODE_TYPE_MEMCPY,
                            box);
}

BLOCKSCALE_API CUresult cuGraphAddMemsetNode(
    CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
    const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext) {
  return withContext([&] {
    return fill ? addGraphNode(node, graph, before, nullptr, count,
                               CU_GRAPH_NODE_TYPE_MEMSET, *fill)
                : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult
cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *fill) {
  return get(node, CU_GRAPH_NODE_TYPE_MEMSET, fill);
}

BLOCKSCALE_API CUresult cuGraphMemsetNodeSetParams(
    CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *fill) {
  return setGraphNodeLocked(node, CU_GRAPH_NODE_TYPE_MEMSET, fill);
}

BLOCKSCALE_API CUresult
cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                               const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext) {
  auto guard = locked();
  return setGraphNodeLocked(nodeIn(executable, node), CU_GRAPH_NODE_TYPE_MEMSET,
                            fill);
}

BLOCKSCALE_API CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph,
                                           const CUgraphNode *before,
                                           size_t count,
                                           const CUDA_HOST_NODE_PARAMS *host) {
  return withContext([&] {
    return host ? addGraphNode(node, graph, before, nullptr, count,
                               CU_GRAPH_NODE_TYPE_HOST, *host)
                : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuGraphHostNodeGetParams(CUgraphNode node,
                                                 CUDA_HOST_NODE_PARAMS *host) {
  return get(node, CU_GRAPH_NODE_TYPE_HOST, host);
}

BLOCKSCALE_API CUresult
cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *host) {
  return setGraphNodeLocked(node, CU_GRAPH_NODE_TYPE_HOST, host);
}

BLOCKSCALE_API CUresult
cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                             const CUDA_HOST_NODE_PARAMS *host) {
  auto guard = locked();
  return setGraphNodeLocked(nodeIn(executable, node), CU_GRAPH_NODE_TYPE_HOST,
                            host);
}
