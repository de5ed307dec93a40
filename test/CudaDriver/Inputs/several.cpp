//===- several.cpp - a launcher that chooses by device --------------------===//
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

namespace kva = launch_ds_kva;

/// The bytes of a file on the device.
static CUdeviceptr upload(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT(file);
  std::string bytes((std::istreambuf_iterator<char>(file)),
                    std::istreambuf_iterator<char>());
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
  values.aData = upload(folder + "/a.bin");
  values.bData = upload(folder + "/b.bin");
  values.aScales = upload(folder + "/a_scales.bin");
  values.bScales = upload(folder + "/b_scales.bin");
  values.sizeM = kRows;
  CALL(cuMemAlloc(&values.d, kResultBytes));
  CALL(kva::launch_ds_kva(target, function, values, sms, nullptr));
  CALL(cuCtxSynchronize());
  std::string result(kResultBytes, '\0');
  CALL(cuMemcpyDtoH(result.data(), values.d, kResultBytes));
  std::ofstream(folder + "/d.bin", std::ios::binary) << result;
}
