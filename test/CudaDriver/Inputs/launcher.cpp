//===- launcher.cpp - a product through the launcher that was compiled ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kva.h"

#include "Check.h"
#include <fstream>
#include <iterator>
#include <string>

static std::string read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT(file);
  return std::string((std::istreambuf_iterator<char>(file)),
                     std::istreambuf_iterator<char>());
}

/// The bytes of a file on the device.
static CUdeviceptr upload(const std::string &path) {
  std::string bytes = read(path);
  CUdeviceptr pointer;
  CALL(cuMemAlloc(&pointer, bytes.size()));
  CALL(cuMemcpyHtoD(pointer, bytes.data(), bytes.size()));
  return pointer;
}

int main(int, char **arguments) {
  std::string folder = arguments[1];
  constexpr int kRows = 40;
  constexpr size_t kResultBytes = size_t(kRows) * 576 * sizeof(float);
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
  values.aData = upload(folder + "/a.bin");
  values.bData = upload(folder + "/b.bin");
  values.aScales = upload(folder + "/a_scales.bin");
  values.bScales = upload(folder + "/b_scales.bin");
  values.sizeM = kRows;
  CALL(cuMemAlloc(&values.d, kResultBytes));
  CUstream stream;
  CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CALL(launch_ds_kva::launch_ds_kva(function, values, sms, stream));
  CALL(cuStreamSynchronize(stream));
  std::string result(kResultBytes, '\0');
  CALL(cuMemcpyDtoH(result.data(), values.d, kResultBytes));
  std::ofstream(folder + "/d.bin", std::ios::binary) << result;
}
