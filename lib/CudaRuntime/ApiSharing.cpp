//===- ApiSharing.cpp - events and memory for other processes -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As on a device that has no such handles: wrong arguments are told apart.
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include "Runtime.h"
#include "Streams.h"

using namespace blockscale;
using namespace blockscale::cuda;

static cudaError_t noSharing() {
  sayOnce("handles of events and memory for other processes (cudaIpc...) are "
          "not supported");
  return cudaErrorNotSupported;
}

BLOCKSCALE_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle,
                                                 cudaEvent_t event) {
  return call([&] {
    if (!isEvent(event))
      return cudaErrorInvalidResourceHandle;
    return handle ? noSharing() : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event,
                                                  cudaIpcEventHandle_t) {
  return call([&] { return event ? noSharing() : cudaErrorInvalidValue; });
}

BLOCKSCALE_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle,
                                               void *pointer) {
  return call([&] {
    return handle && findAllocation(pointer) ? noSharing()
                                             : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API cudaError_t cudaIpcOpenMemHandle(void **pointer,
                                                cudaIpcMemHandle_t, unsigned) {
  return call([&] { return pointer ? noSharing() : cudaErrorInvalidValue; });
}

BLOCKSCALE_API cudaError_t cudaIpcCloseMemHandle(void *) {
  // None was ever opened.
  return call([] { return cudaErrorInvalidValue; });
}
