//===- Nvrtc.cpp - the real NVRTC, whose cubins keep their PTX ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the place of libnvrtc.so.13 for programs that compile CUDA C++ to machine
// code at run time: the real one compiles and assembles, and the PTX is added
// to the cubin for the emulator.
//
//===----------------------------------------------------------------------===//

#include "Forward.h"
#include "Images.h"

#include <algorithm>

using namespace blockscale;

namespace {

/// NVRTC_ERROR_BUILTIN_OPERATION_FAILURE and NVRTC_ERROR_INTERNAL_ERROR.
constexpr int kNoLibrary = 7, kInternal = 11;

void *realNamed(const char *function) {
  return cuda::realFunction("libnvrtc.so.13", "BLOCKSCALE_NVRTC", function);
}

using SizeOf = int (*)(void *program, size_t *size);
using BytesOf = int (*)(void *program, char *bytes);

/// What two functions of the real library give; the error of one that fails.
int read(void *program, const char *sizeName, const char *bytesName,
         std::string &bytes) {
  auto sizeOf = reinterpret_cast<SizeOf>(realNamed(sizeName));
  auto bytesOf = reinterpret_cast<BytesOf>(realNamed(bytesName));
  size_t size = 0;
  if (!sizeOf || !bytesOf)
    return kNoLibrary;
  if (int error = sizeOf(program, &size))
    return error;
  bytes.resize(size);
  return size ? bytesOf(program, bytes.data()) : 0;
}

/// The cubin with its PTX; as it is where there is no PTX, and empty for a
/// program that was compiled to PTX only.
int readCubin(void *program, std::string &cubin) {
  if (int error = read(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN", cubin))
    return error;
  std::string ptx;
  if (cubin.empty() ||
      read(program, "nvrtcGetPTXSize", "nvrtcGetPTX", ptx) != 0 || ptx.empty())
    return 0;
  std::optional<std::string> both = cuda::addPtx(cubin, ptx);
  if (!both)
    return kInternal;
  cubin = std::move(*both);
  return 0;
}

} // namespace

BLOCKSCALE_API int nvrtcGetCUBINSize(void *program, size_t *size) {
  std::string cubin;
  int error = readCubin(program, cubin);
  if (!error && size)
    *size = cubin.size();
  return error;
}

BLOCKSCALE_API int nvrtcGetCUBIN(void *program, char *bytes) {
  std::string cubin;
  int error = readCubin(program, cubin);
  if (!error && bytes)
    std::copy(cubin.begin(), cubin.end(), bytes);
  return error;
}

FORWARD(nvrtcAddNameExpression, kNoLibrary)
FORWARD(nvrtcCompileProgram, kNoLibrary)
FORWARD(nvrtcCreateProgram, kNoLibrary)
FORWARD(nvrtcDestroyProgram, kNoLibrary)
FORWARD(nvrtcGetErrorString, 0)
FORWARD(nvrtcGetLTOIR, kNoLibrary)
FORWARD(nvrtcGetLTOIRSize, kNoLibrary)
FORWARD(nvrtcGetLoweredName, kNoLibrary)
FORWARD(nvrtcGetNumSupportedArchs, kNoLibrary)
FORWARD(nvrtcGetOptiXIR, kNoLibrary)
FORWARD(nvrtcGetOptiXIRSize, kNoLibrary)
FORWARD(nvrtcGetPCHCreateStatus, kNoLibrary)
FORWARD(nvrtcGetPCHHeapSize, kNoLibrary)
FORWARD(nvrtcGetPCHHeapSizeRequired, kNoLibrary)
FORWARD(nvrtcGetPTX, kNoLibrary)
FORWARD(nvrtcGetPTXSize, kNoLibrary)
FORWARD(nvrtcGetProgramLog, kNoLibrary)
FORWARD(nvrtcGetProgramLogSize, kNoLibrary)
FORWARD(nvrtcGetSupportedArchs, kNoLibrary)
FORWARD(nvrtcSetFlowCallback, kNoLibrary)
FORWARD(nvrtcSetPCHHeapSize, kNoLibrary)
FORWARD(nvrtcVersion, kNoLibrary)
