//===- OldVersions.cpp - functions as older programs know them ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is the newest version without what came later.
//
//===----------------------------------------------------------------------===//

// First: its declarations differ from those of a plain cuda.h.
#include "Entries.h"

#include "Driver.h"
#include "Streams.h"

#include <vector>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

CUmemLocation locationOf(CUdevice device) {
  CUmemLocation location{};
  location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST
                                          : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
  return location;
}

} // namespace

BLOCKSCALE_API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

BLOCKSCALE_API CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return cuDevicePrimaryCtxRelease_v2(device);
}

BLOCKSCALE_API CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return cuDevicePrimaryCtxReset_v2(device);
}

BLOCKSCALE_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice device,
                                                   unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

BLOCKSCALE_API CUresult cuEventElapsedTime(float *milliseconds, CUevent start,
                                           CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

BLOCKSCALE_API CUresult cuMemAdvise(CUdeviceptr pointer, size_t size,
                                    CUmem_advise advice, CUdevice device) {
  return cuMemAdvise_v2(pointer, size, advice, locationOf(device));
}

BLOCKSCALE_API CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t size,
                                           CUdevice device, CUstream stream) {
  return cuMemPrefetchAsync_v2(pointer, size, locationOf(device), 0, stream);
}

BLOCKSCALE_API CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from,
                                           size_t *sizes, size_t count,
                                           CUmemcpyAttributes *attributes,
                                           size_t *indices,
                                           size_t attributeCount,
                                           size_t *failed, CUstream stream) {
  if (failed)
    *failed = SIZE_MAX;
  return cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, indices,
                               attributeCount, stream);
}

//===----------------------------------------------------------------------===//
// Captures and graphs, before edges had data
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuStreamGetCaptureInfo(CUstream stream,
                                               CUstreamCaptureStatus *status,
                                               cuuint64_t *id) {
  return cuStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr,
                                   nullptr);
}

BLOCKSCALE_API CUresult cuStreamUpdateCaptureDependencies(CUstream stream,
                                                          CUgraphNode *nodes,
                                                          size_t count,
                                                          unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, count,
                                              flags);
}

BLOCKSCALE_API CUresult cuGraphAddDependencies(CUgraph graph,
                                               const CUgraphNode *from,
                                               const CUgraphNode *to,
                                               size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

BLOCKSCALE_API CUresult cuGraphRemoveDependencies(CUgraph graph,
                                                  const CUgraphNode *from,
                                                  const CUgraphNode *to,
                                                  size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

BLOCKSCALE_API CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from,
                                        CUgraphNode *to, size_t *count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

BLOCKSCALE_API CUresult cuGraphNodeGetDependencies(CUgraphNode node,
                                                   CUgraphNode *nodes,
                                                   size_t *count) {
  return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}

BLOCKSCALE_API CUresult cuGraphNodeGetDependentNodes(CUgraphNode node,
                                                     CUgraphNode *nodes,
                                                     size_t *count) {
  return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}

BLOCKSCALE_API CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph,
                                       const CUgraphNode *before, size_t count,
                                       CUgraphNodeParams *parameters) {
  return cuGraphAddNode_v2(node, graph, before, nullptr, count, parameters);
}

BLOCKSCALE_API CUresult cuGraphAddKernelNode(
    CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
    const CUDA_KERNEL_NODE_PARAMS_v1 *parameters) {
  if (!parameters)
    return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS_v2 now{};
  now.func = parameters->func;
  now.gridDimX = parameters->gridDimX;
  now.gridDimY = parameters->gridDimY;
  now.gridDimZ = parameters->gridDimZ;
  now.blockDimX = parameters->blockDimX;
  now.blockDimY = parameters->blockDimY;
  now.blockDimZ = parameters->blockDimZ;
  now.sharedMemBytes = parameters->sharedMemBytes;
  now.kernelParams = parameters->kernelParams;
  now.extra = parameters->extra;
  return cuGraphAddKernelNode_v2(node, graph, before, count, &now);
}

BLOCKSCALE_API CUresult cuGraphInstantiate_v2(CUgraphExec *executable,
                                              CUgraph graph,
                                              CUgraphNode *errorNode, char *log,
                                              size_t logBytes) {
  if (errorNode)
    *errorNode = nullptr;
  if (log && logBytes)
    *log = '\0';
  return cuGraphInstantiateWithFlags(executable, graph, 0);
}

BLOCKSCALE_API CUresult cuStreamBatchMemOp(CUstream stream, unsigned count,
                                           CUstreamBatchMemOpParams *operations,
                                           unsigned flags) {
  return cuStreamBatchMemOp_v2(stream, count, operations, flags);
}

BLOCKSCALE_API CUresult cuStreamWaitValue32(CUstream stream,
                                            CUdeviceptr address,
                                            cuuint32_t value, unsigned flags) {
  return cuStreamWaitValue32_v2(stream, address, value, flags);
}

BLOCKSCALE_API CUresult cuStreamWaitValue64(CUstream stream,
                                            CUdeviceptr address,
                                            cuuint64_t value, unsigned flags) {
  return cuStreamWaitValue64_v2(stream, address, value, flags);
}

BLOCKSCALE_API CUresult cuStreamWriteValue32(CUstream stream,
                                             CUdeviceptr address,
                                             cuuint32_t value, unsigned flags) {
  return cuStreamWriteValue32_v2(stream, address, value, flags);
}

BLOCKSCALE_API CUresult cuStreamWriteValue64(CUstream stream,
                                             CUdeviceptr address,
                                             cuuint64_t value, unsigned flags) {
  return cuStreamWriteValue64_v2(stream, address, value, flags);
}
