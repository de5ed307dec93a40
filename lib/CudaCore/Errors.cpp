//===- Errors.cpp - names and meanings of errors --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core.h"

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

struct ErrorText {
  int code;
  /// Null where only the other API has the code.
  const char *runtime, *driver;
  const char *meaning;
};

#define BOTH(runtime, driver, meaning) {runtime, #runtime, #driver, meaning}
#define RUNTIME(runtime, meaning) {runtime, #runtime, nullptr, meaning}
#define DRIVER(driver, meaning) {driver, nullptr, #driver, meaning}

/// The errors that we return, and those that programs compare with.
constexpr ErrorText kErrors[] = {
    BOTH(cudaSuccess, CUDA_SUCCESS, "no error"),
    BOTH(cudaErrorInvalidValue, CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    BOTH(cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    BOTH(cudaErrorInitializationError, CUDA_ERROR_NOT_INITIALIZED,
         "initialization error"),
    BOTH(cudaErrorCudartUnloading, CUDA_ERROR_DEINITIALIZED,
         "the runtime is being unloaded"),
    RUNTIME(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    RUNTIME(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    RUNTIME(cudaErrorInvalidSymbol, "invalid device symbol"),
    RUNTIME(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    RUNTIME(cudaErrorInvalidMemcpyDirection, "invalid copy direction"),
    RUNTIME(cudaErrorInsufficientDriver, "driver older than the runtime"),
    BOTH(cudaErrorCallRequiresNewerDriver,
         CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "call needs a newer driver"),
    RUNTIME(cudaErrorMissingConfiguration, "launch without a configuration"),
    RUNTIME(cudaErrorInvalidDeviceFunction, "invalid device function"),
    BOTH(cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE, "no device"),
    BOTH(cudaErrorInvalidDevice, CUDA_ERROR_INVALID_DEVICE,
         "invalid device ordinal"),
    BOTH(cudaErrorInvalidKernelImage, CUDA_ERROR_INVALID_IMAGE,
         "invalid device image"),
    BOTH(cudaErrorDeviceUninitialized, CUDA_ERROR_INVALID_CONTEXT,
         "invalid device context"),
    BOTH(cudaErrorNoKernelImageForDevice, CUDA_ERROR_NO_BINARY_FOR_GPU,
         "no kernel image for the device"),
    BOTH(cudaErrorUnsupportedLimit, CUDA_ERROR_UNSUPPORTED_LIMIT,
         "limit not supported"),
    BOTH(cudaErrorPeerAccessUnsupported, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
         "no access to peers"),
    BOTH(cudaErrorInvalidPtx, CUDA_ERROR_INVALID_PTX,
         "PTX that cannot be compiled"),
    BOTH(cudaErrorJitCompilerNotFound, CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
         "PTX compiler not found"),
    BOTH(cudaErrorUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
         "unsupported version of PTX"),
    BOTH(cudaErrorInvalidSource, CUDA_ERROR_INVALID_SOURCE,
         "invalid device source"),
    BOTH(cudaErrorFileNotFound, CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    BOTH(cudaErrorSharedObjectSymbolNotFound,
         CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
         "shared object lacks a symbol"),
    BOTH(cudaErrorSharedObjectInitFailed, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
         "shared object failed to start"),
    BOTH(cudaErrorOperatingSystem, CUDA_ERROR_OPERATING_SYSTEM,
         "error of the operating system"),
    BOTH(cudaErrorInvalidResourceHandle, CUDA_ERROR_INVALID_HANDLE,
         "invalid resource handle"),
    BOTH(cudaErrorIllegalState, CUDA_ERROR_ILLEGAL_STATE, "illegal state"),
    BOTH(cudaErrorLossyQuery, CUDA_ERROR_LOSSY_QUERY,
         "the query lost information"),
    BOTH(cudaErrorSymbolNotFound, CUDA_ERROR_NOT_FOUND,
         "named symbol not found"),
    BOTH(cudaErrorNotReady, CUDA_ERROR_NOT_READY, "not ready"),
    BOTH(cudaErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS,
         "illegal memory access"),
    BOTH(cudaErrorLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
         "too many resources for a launch"),
    BOTH(cudaErrorLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT, "launch timed out"),
    BOTH(cudaErrorPeerAccessAlreadyEnabled,
         CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access already enabled"),
    BOTH(cudaErrorPeerAccessNotEnabled, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
         "peer access not enabled"),
    BOTH(cudaErrorSetOnActiveProcess, CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE,
         "primary context is active"),
    BOTH(cudaErrorContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED,
         "context is destroyed"),
    BOTH(cudaErrorAssert, CUDA_ERROR_ASSERT, "device-side assert triggered"),
    BOTH(cudaErrorHostMemoryAlreadyRegistered,
         CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
         "host memory is already registered"),
    BOTH(cudaErrorHostMemoryNotRegistered,
         CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
         "host memory is not registered"),
    BOTH(cudaErrorHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR,
         "stack error on the device"),
    BOTH(cudaErrorIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION,
         "illegal instruction"),
    BOTH(cudaErrorMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS,
         "misaligned address"),
    BOTH(cudaErrorInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE,
         "wrong address space"),
    BOTH(cudaErrorInvalidPc, CUDA_ERROR_INVALID_PC, "invalid program counter"),
    BOTH(cudaErrorLaunchFailure, CUDA_ERROR_LAUNCH_FAILED,
         "unspecified launch failure"),
    BOTH(cudaErrorCooperativeLaunchTooLarge,
         CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
         "too many blocks in a cooperative launch"),
    BOTH(cudaErrorTensorMemoryLeak, CUDA_ERROR_TENSOR_MEMORY_LEAK,
         "tensor memory was not freed"),
    BOTH(cudaErrorNotPermitted, CUDA_ERROR_NOT_PERMITTED,
         "operation not permitted"),
    BOTH(cudaErrorNotSupported, CUDA_ERROR_NOT_SUPPORTED,
         "operation not supported"),
    BOTH(cudaErrorStreamCaptureUnsupported,
         CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "not legal while capturing"),
    BOTH(cudaErrorStreamCaptureInvalidated,
         CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture was invalidated"),
    BOTH(cudaErrorStreamCaptureMerge, CUDA_ERROR_STREAM_CAPTURE_MERGE,
         "two captures would be merged"),
    BOTH(cudaErrorStreamCaptureUnmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
         "the capture began on another stream"),
    BOTH(cudaErrorStreamCaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
         "the capture has streams that were not joined"),
    BOTH(cudaErrorStreamCaptureIsolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
         "dependence across the borders of a capture"),
    BOTH(cudaErrorStreamCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
         "the capture would depend on the default stream"),
    BOTH(cudaErrorCapturedEvent, CUDA_ERROR_CAPTURED_EVENT,
         "the event was recorded by a stream that is captured"),
    BOTH(cudaErrorStreamCaptureWrongThread,
         CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
         "the capture began in another thread"),
    BOTH(cudaErrorTimeout, CUDA_ERROR_TIMEOUT, "timed out"),
    BOTH(cudaErrorGraphExecUpdateFailure, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
         "the graph cannot be updated so"),
    BOTH(cudaErrorInvalidClusterSize, CUDA_ERROR_INVALID_CLUSTER_SIZE,
         "cluster misconfiguration"),
    BOTH(cudaErrorFunctionNotLoaded, CUDA_ERROR_FUNCTION_NOT_LOADED,
         "the function is not loaded"),
    BOTH(cudaErrorInvalidResourceType, CUDA_ERROR_INVALID_RESOURCE_TYPE,
         "invalid type of resource"),
    BOTH(cudaErrorInvalidResourceConfiguration,
         CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
         "invalid configuration of a resource"),
    BOTH(cudaErrorUnknown, CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef BOTH
#undef RUNTIME
#undef DRIVER

const ErrorText *find(int code) {
  for (const ErrorText &text : kErrors)
    if (text.code == code)
      return &text;
  return nullptr;
}

} // namespace

const char *cuda::runtimeName(cudaError_t error) {
  const ErrorText *text = find(error);
  return text ? text->runtime : nullptr;
}

const char *cuda::driverName(CUresult error) {
  const ErrorText *text = find(error);
  return text ? text->driver : nullptr;
}

const char *cuda::meaning(cudaError_t error) {
  const ErrorText *text = find(error);
  return text ? text->meaning : nullptr;
}

CUresult cuda::toDriver(cudaError_t error) {
  switch (error) {
  case cudaErrorInvalidConfiguration:
  case cudaErrorInvalidPitchValue:
  case cudaErrorInvalidDevicePointer:
  case cudaErrorInvalidMemcpyDirection:
  case cudaErrorMissingConfiguration:
    return CUDA_ERROR_INVALID_VALUE;
  case cudaErrorInvalidSymbol:
  case cudaErrorInvalidDeviceFunction:
    return CUDA_ERROR_NOT_FOUND;
  default:
    return CUresult(error);
  }
}
