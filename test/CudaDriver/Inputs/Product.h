//===- Product.h - operands and result of a product in files --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_CUDADRIVER_PRODUCT_H
#define BLOCKSCALE_TEST_CUDADRIVER_PRODUCT_H

#include "Check.h"
#include <fstream>
#include <iterator>
#include <string>

/// The rows of the product's one dynamic size, and the bytes of its result.
inline constexpr int kRows = 40;
inline constexpr size_t kResultBytes = size_t(kRows) * 576 * sizeof(float);

/// The bytes of a file on the device.
inline CUdeviceptr upload(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT(file);
  std::string bytes((std::istreambuf_iterator<char>(file)),
                    std::istreambuf_iterator<char>());
  CUdeviceptr pointer;
  CALL(cuMemAlloc(&pointer, bytes.size()));
  CALL(cuMemcpyHtoD(pointer, bytes.data(), bytes.size()));
  return pointer;
}

/// Starts the driver and loads PTX.
inline CUmodule loadModule(const std::string &path) {
  CALL(cuInit(0));
  CUcontext context;
  CALL(cuDevicePrimaryCtxRetain(&context, 0));
  CALL(cuCtxSetCurrent(context));
  CUmodule module;
  CALL(cuModuleLoad(&module, path.c_str()));
  return module;
}

/// Likewise the product's from a folder.
inline CUmodule loadProduct(const std::string &folder) {
  return loadModule(folder + "/ds-kva-mxfp8.ptx");
}

inline int countSms() {
  int sms = 0;
  CALL(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  return sms;
}

/// Gives the arguments of a launch the operands in a folder and memory for the
/// result.
template <typename Arguments>
void readOperands(Arguments &values, const std::string &folder) {
  values.aData = upload(folder + "/a.bin");
  values.bData = upload(folder + "/b.bin");
  values.aScales = upload(folder + "/a_scales.bin");
  values.bScales = upload(folder + "/b_scales.bin");
  values.sizeM = kRows;
  CALL(cuMemAlloc(&values.d, kResultBytes));
}

/// Writes the result into the folder.
template <typename Arguments>
void writeResult(const Arguments &values, const std::string &folder) {
  std::string result(kResultBytes, '\0');
  CALL(cuMemcpyDtoH(result.data(), values.d, kResultBytes));
  std::ofstream(folder + "/d.bin", std::ios::binary) << result;
}

/// Launches once on a stream of its own with memory for a result of `bytes`,
/// all bits of which are set before, and writes that into a file.
template <typename Arguments, typename Launch>
void launchOnce(Launch launch, CUfunction function, Arguments &values,
                size_t bytes, const std::string &path) {
  CALL(cuMemAlloc(&values.d, bytes));
  CALL(cuMemsetD8(values.d, 0xff, bytes));
  CUstream stream;
  CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CALL(launch(function, values, countSms(), stream));
  CALL(cuStreamSynchronize(stream));
  std::string result(bytes, '\0');
  CALL(cuMemcpyDtoH(result.data(), values.d, bytes));
  std::ofstream(path, std::ios::binary) << result;
}

#endif // BLOCKSCALE_TEST_CUDADRIVER_PRODUCT_H
