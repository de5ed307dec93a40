//===- launcher.cpp - a product through the launcher that was compiled ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kva.h"

#include "Product.h"

int main(int, char **arguments) {
  std::string folder = arguments[1];
  CALL(cuInit(0));
  CUcontext context;
  CALL(cuDevicePrimaryCtxRetain(&context, 0));
  CALL(cuCtxSetCurrent(context));
  CUmodule module;
  CUfunction function;
  CALL(cuModuleLoad(&module, (folder + "/ds-kva-mxfp8.ptx").c_str()));
  CALL(launch_ds_kva::load_ds_kva(module, &function));
  int sms = 0;
  CALL(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  launch_ds_kva::ds_kvaArguments values;
  readOperands(values, folder);
  CUstream stream;
  CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CALL(launch_ds_kva::launch_ds_kva(function, values, sms, stream));
  CALL(cuStreamSynchronize(stream));
  writeResult(values, folder);
}
