//===- entries.cpp - functions of the driver by name and version ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include <cudaTypedefs.h>
#include <dlfcn.h>
#include <fstream>
#include <string>

template <typename F>
static F function(const char *name, int version,
                  cuuint64_t flags = CU_GET_PROC_ADDRESS_DEFAULT) {
  void *address = nullptr;
  CUdriverProcAddressQueryResult status;
  CALL(cuGetProcAddress(name, &address, version, flags, &status));
  EXPECT(status == CU_GET_PROC_ADDRESS_SUCCESS);
  return reinterpret_cast<F>(address);
}

int main(int, char **arguments) {
  // Every function that real programs use, by name.
  std::ifstream names(arguments[1]);
  std::string name;
  int count = 0;
  while (names >> name) {
    void *address = nullptr;
    CUdriverProcAddressQueryResult status;
    if (cuGetProcAddress(name.c_str(), &address, 13000, 0, &status)) {
      std::printf("missing: %s\n", name.c_str());
      continue;
    }
    // A name without a version stands for a function that is there.
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    EXPECT(library && address);
    ++count;
  }
  std::printf("%d functions\n", count);

  // The version decides about signature and symbol.
  CALL(cuInit(0));
  CUcontext context, current;
  CALL(function<PFN_cuCtxCreate_v3020>("cuCtxCreate", 11030)(&context, 0, 0));
  CALL(function<PFN_cuCtxDestroy_v4000>("cuCtxDestroy", 13000)(context));
  CALL(function<PFN_cuCtxCreate_v12050>("cuCtxCreate", 13000)(&context, nullptr,
                                                              0, 0));
  CALL(function<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 4000)(&current));
  EXPECT(current == context);
  CUstream stream;
  CALL(function<PFN_cuStreamCreate_v2000>("cuStreamCreate", 13000)(&stream, 0));
  CALL(function<PFN_cuStreamSynchronize_v7000_ptsz>(
      "cuStreamSynchronize", 13000,
      CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)(stream));
  void *address = &address;
  CUdriverProcAddressQueryResult status;
  CALL(cuGetProcAddress("cuTensorMapEncodeTiled", &address, 11080, 0, &status));
  EXPECT(status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT && !address);
  CALL(cuGetProcAddress("cuFlyToTheMoon", &address, 13000, 0, &status));
  EXPECT(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND && !address);
  RETURNS(CUDA_ERROR_INVALID_VALUE,
          cuGetProcAddress("cuInit", &address, 13000, 77, &status));

  // What is missing is there all the same, and says so once.
  CUarray array;
  CUDA_ARRAY_DESCRIPTOR description{};
  for (int i = 0; i < 2; ++i)
    RETURNS(CUDA_ERROR_NOT_SUPPORTED, cuArrayCreate(&array, &description));
  RETURNS(CUDA_ERROR_NOT_SUPPORTED,
          function<PFN_cuArrayCreate_v3020>("cuArrayCreate",
                                            13000)(&array, &description));
  std::printf("all right\n");
}
