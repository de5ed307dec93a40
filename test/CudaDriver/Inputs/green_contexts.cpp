//===- green_contexts.cpp - launches on a part of the SMs -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"

static CUfunction function;
static CUdeviceptr place;

/// SMs that a kernel on the stream sees.
static unsigned smsOn(CUstream stream) {
  unsigned sms = 0;
  void *parameters[] = {&place};
  CALL(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters,
                      nullptr));
  CALL(cuStreamSynchronize(stream));
  CALL(cuMemcpyDtoH(&sms, place, sizeof sms));
  return sms;
}

/// Pairs of CTAs that run at once on the stream.
static int pairsOn(CUstream stream) {
  CUlaunchAttribute pair = {};
  pair.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  pair.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config = {};
  config.gridDimX = 2;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 1024;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = 40000;
  config.hStream = stream;
  config.attrs = &pair;
  config.numAttrs = 1;
  int count = 0;
  CALL(cuOccupancyMaxActiveClusters(&count, function, &config));
  return count;
}

static void checkResources(CUdevice device, CUdevResource &part) {
  CUdevResource all, rest, parts[2];
  CALL(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT(all.sm.smCount == 148 && all.sm.minSmPartitionSize == 8 &&
         all.sm.smCoscheduledAlignment == 8);
  unsigned count = 0;
  CALL(cuDevSmResourceSplitByCount(nullptr, &count, &all, nullptr, 0, 11));
  EXPECT(count == 148 / 16);
  count = 2;
  CALL(cuDevSmResourceSplitByCount(parts, &count, &all, &rest, 0, 11));
  EXPECT(count == 2 && parts[0].sm.smCount == 16 && parts[1].sm.smCount == 16);
  EXPECT(rest.sm.smCount == 148 - 32);
  count = 1;
  CALL(cuDevSmResourceSplitByCount(
      parts, &count, &all, nullptr,
      CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 3));
  EXPECT(count == 1 && parts[0].sm.smCount == 4);
  part = parts[1];

  CUdevResource again;
  EXPECT(cuDevSmResourceSplitByCount(&again, &count, &part, nullptr, 0, 8) ==
         CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  EXPECT(cuDevSmResourceSplitByCount(&again, &count, &all, nullptr, 0, 149) ==
         CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  CUdevResource none = {};
  EXPECT(cuDevSmResourceSplitByCount(&again, &count, &none, nullptr, 0, 8) ==
         CUDA_ERROR_INVALID_RESOURCE_TYPE);
  CUdevResourceDesc descriptor;
  EXPECT(cuDevResourceGenerateDesc(&descriptor, &none, 1) ==
         CUDA_ERROR_INVALID_RESOURCE_TYPE);
  EXPECT(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_INVALID) ==
         CUDA_ERROR_INVALID_RESOURCE_TYPE);
  EXPECT(cuDeviceGetDevResource(1, &all, CU_DEV_RESOURCE_TYPE_SM) ==
         CUDA_ERROR_INVALID_DEVICE);
}

int main(int, char **arguments) {
  CALL(cuInit(0));
  CUdevice device;
  CALL(cuDeviceGet(&device, 0));
  CUcontext primary, current;
  CALL(cuDevicePrimaryCtxRetain(&primary, device));
  CALL(cuCtxSetCurrent(primary));
  CUmodule module;
  CALL(cuModuleLoad(&module, arguments[1]));
  CALL(cuModuleGetFunction(&function, module, "sms"));
  CALL(cuMemAlloc(&place, sizeof(unsigned)));
  CUdevResource part;
  checkResources(device, part);

  CUdevResourceDesc descriptor;
  CALL(cuDevResourceGenerateDesc(&descriptor, &part, 1));
  CUgreenCtx green, found;
  EXPECT(cuGreenCtxCreate(&green, descriptor, device, 0) ==
         CUDA_ERROR_INVALID_VALUE);
  CALL(cuGreenCtxCreate(&green, descriptor, device,
                        CU_GREEN_CTX_DEFAULT_STREAM));
  CUdevResource own;
  CALL(cuGreenCtxGetDevResource(green, &own, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT(own.sm.smCount == 16);
  CUstream stream;
  EXPECT(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_DEFAULT, 0) ==
         CUDA_ERROR_INVALID_VALUE);
  CALL(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));

  // The stream has its context's SMs, whatever is current.
  EXPECT(smsOn(stream) == 16 && smsOn(nullptr) == 148);
  EXPECT(pairsOn(stream) > 0 && pairsOn(stream) * 74 == pairsOn(nullptr) * 8);
  CALL(cuStreamGetGreenCtx(stream, &found));
  EXPECT(found == green);
  CALL(cuStreamGetCtx_v2(stream, &current, &found));
  EXPECT(current == primary && found == green);
  CALL(cuStreamGetCtx_v2(nullptr, &current, &found));
  EXPECT(current == primary && found == nullptr);

  // Work that was captured runs where it was captured.
  CUgraph graph;
  CUgraphExec execution;
  void *parameters[] = {&place};
  CALL(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CALL(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters,
                      nullptr));
  CALL(cuStreamEndCapture(stream, &graph));
  CALL(cuGraphInstantiate(&execution, graph, 0));
  CALL(cuGraphLaunch(execution, nullptr));
  unsigned sms = 0;
  CALL(cuMemcpyDtoH(&sms, place, sizeof sms));
  EXPECT(sms == 16);

  // Made current it decides of the default stream, too.
  CUcontext asContext;
  CALL(cuCtxFromGreenCtx(&asContext, green));
  CALL(cuCtxPushCurrent(asContext));
  EXPECT(smsOn(nullptr) == 16);
  CALL(cuCtxGetDevResource(asContext, &own, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT(own.sm.smCount == 16);
  CUdeviceptr kept;
  CALL(cuMemAlloc(&kept, 4));
  CALL(cuCtxPopCurrent(&current));
  EXPECT(current == asContext && smsOn(nullptr) == 148);
  CALL(cuCtxGetDevResource(primary, &own, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT(own.sm.smCount == 148);

  CUevent event;
  unsigned long long id = 0;
  CALL(cuEventCreate(&event, CU_EVENT_DEFAULT));
  CALL(cuGreenCtxRecordEvent(green, event));
  CALL(cuGreenCtxWaitEvent(green, event));
  CALL(cuEventSynchronize(event));
  CALL(cuGreenCtxGetId(green, &id));
  EXPECT(id != 0);

  CALL(cuStreamDestroy(stream));
  CALL(cuGreenCtxDestroy(green));
  EXPECT(cuGreenCtxDestroy(green) == CUDA_ERROR_INVALID_CONTEXT);
  EXPECT(cuCtxFromGreenCtx(&asContext, green) == CUDA_ERROR_INVALID_CONTEXT);
  // Memory is the primary context's.
  CALL(cuMemsetD32(kept, 7, 1));
  std::puts("all right");
}
