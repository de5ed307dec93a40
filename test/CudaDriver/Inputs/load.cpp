//===- load.cpp - loads a file and launches the kernel 'nothing' ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"

int main(int, char **arguments) {
  CALL(cuInit(0));
  CUcontext context;
  CALL(cuDevicePrimaryCtxRetain(&context, 0));
  CALL(cuCtxSetCurrent(context));
  CUmodule module;
  if (CUresult error = cuModuleLoad(&module, arguments[1])) {
    const char *name;
    CALL(cuGetErrorName(error, &name));
    std::printf("%s\n", name);
    return 0;
  }
  CUfunction function;
  CALL(cuModuleGetFunction(&function, module, "nothing"));
  CALL(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr,
                      nullptr));
  CALL(cuCtxSynchronize());
  std::printf("launched\n");
}
