//===- several.cpp - a launcher that chooses by device --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kva.h"

#include "Product.h"

namespace kva = launch_ds_kva;

int main(int, char **arguments) {
  std::string folder = arguments[1];
  CALL(cuInit(0));
  CUdevice device;
  CALL(cuDeviceGet(&device, 0));
  kva::Target target;
  if (CUresult result = kva::pickTarget(device, &target)) {
    std::printf("%d: %s\n", int(result), kva::whyNoTarget(device).c_str());
    return 2;
  }
  std::printf("for %s\n", kva::name(target));
  CUcontext context;
  CALL(cuDevicePrimaryCtxRetain(&context, device));
  CALL(cuCtxSetCurrent(context));
  CUmodule module;
  CUfunction function;
  CALL(cuModuleLoad(
      &module,
      (folder + "/ds-kva-mxfp8." + kva::name(target) + ".ptx").c_str()));
  CALL(kva::load_ds_kva(target, module, &function));
  int sms = 0;
  CALL(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                            device));
  kva::ds_kvaArguments values;
  readOperands(values, folder);
  CALL(kva::launch_ds_kva(target, function, values, sms, nullptr));
  CALL(cuCtxSynchronize());
  writeResult(values, folder);
}
