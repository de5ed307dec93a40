//===- ApiErrors.cpp - names and meanings of errors -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"

using namespace blockscale::cudart;

namespace {

struct ErrorText {
  cudaError_t error;
  const char *name, *meaning;
};

#define ERROR(name, meaning) {name, #name, meaning}

/// The errors that this runtime returns, and those that programs compare with.
constexpr ErrorText kErrors[] = {
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInitializationError, "initialization error"),
    ERROR(cudaErrorCudartUnloading, "the runtime is being unloaded"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction"),
    ERROR(cudaErrorInsufficientDriver, "driver older than the runtime"),
    ERROR(cudaErrorMissingConfiguration, "launch without a configuration"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorNoDevice, "no device"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorInvalidKernelImage, "invalid device image"),
    ERROR(cudaErrorNoKernelImageForDevice, "no kernel image for the device"),
    ERROR(cudaErrorUnsupportedLimit, "limit not supported"),
    ERROR(cudaErrorPeerAccessUnsupported, "no access to peers"),
    ERROR(cudaErrorInvalidPtx, "PTX that cannot be compiled"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    ERROR(cudaErrorNotReady, "not ready"),
    ERROR(cudaErrorIllegalAddress, "illegal memory access"),
    ERROR(cudaErrorLaunchOutOfResources, "too many resources for a launch"),
    ERROR(cudaErrorLaunchTimeout, "launch timed out"),
    ERROR(cudaErrorAssert, "device assertion failed"),
    ERROR(cudaErrorHostMemoryAlreadyRegistered,
          "host memory is already registered"),
    ERROR(cudaErrorHostMemoryNotRegistered, "host memory is not registered"),
    ERROR(cudaErrorIllegalInstruction, "illegal instruction"),
    ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    ERROR(cudaErrorInvalidAddressSpace, "wrong address space"),
    ERROR(cudaErrorInvalidPc, "invalid program counter"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorCooperativeLaunchTooLarge,
          "too many blocks in a cooperative launch"),
    ERROR(cudaErrorTensorMemoryLeak, "tensor memory was not freed"),
    ERROR(cudaErrorNotPermitted, "operation not permitted"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorStreamCaptureUnsupported, "not legal while capturing"),
    ERROR(cudaErrorInvalidClusterSize, "cluster misconfiguration"),
    ERROR(cudaErrorUnknown, "unknown error"),
};
#undef ERROR

const ErrorText *find(cudaError_t error) {
  for (const ErrorText &text : kErrors)
    if (text.error == error)
      return &text;
  return nullptr;
}

constexpr char kUnrecognized[] = "unrecognized error code";

} // namespace

BLOCKSCALE_API const char *cudaGetErrorName(cudaError_t error) {
  const ErrorText *text = find(error);
  return text ? text->name : kUnrecognized;
}

BLOCKSCALE_API const char *cudaGetErrorString(cudaError_t error) {
  const ErrorText *text = find(error);
  return text ? text->meaning : kUnrecognized;
}

BLOCKSCALE_API cudaError_t cudaPeekAtLastError() { return lastError(); }

BLOCKSCALE_API cudaError_t cudaGetLastError() {
  cudaError_t error = lastError();
  // What a kernel did stays, from the first call on that waited for it.
  if (error != Runtime::get().sticky)
    lastError() = cudaSuccess;
  return error;
}
