//===- quantize.cpp - a quantisation through the compiled launcher --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "quantized.h"

#include "Product.h"

namespace {
constexpr int kMatrices = 3, kLines = 133, kElements = 96;
/// Bytes of the codes, of scales in tiles of 128 rows by 4 blocks, and behind
/// both of memory that nobody may write.
constexpr size_t kCodes = size_t(kMatrices) * kLines * kElements;
constexpr size_t kScales = size_t(kMatrices) * 2 * 512;
constexpr size_t kBehind = 64;
} // namespace

static CUdeviceptr allocate(size_t bytes) {
  CUdeviceptr pointer;
  CALL(cuMemAlloc(&pointer, bytes + kBehind));
  CALL(cuMemsetD8(pointer, 0xee, bytes + kBehind));
  return pointer;
}

static void write(CUdeviceptr pointer, size_t bytes, const std::string &path) {
  std::string result(bytes + kBehind, '\0');
  CALL(cuMemcpyDtoH(result.data(), pointer, result.size()));
  std::ofstream(path, std::ios::binary) << result;
}

/// quantized FOLDER
int main(int, char **arguments) {
  std::string folder = arguments[1];
  CALL(cuInit(0));
  CUcontext context;
  CALL(cuDevicePrimaryCtxRetain(&context, 0));
  CALL(cuCtxSetCurrent(context));
  CUmodule module;
  CALL(cuModuleLoad(&module, (folder + "/quantized.ptx").c_str()));
  CUfunction function;
  CALL(launch_quantized::load_quantized(module, &function));
  launch_quantized::quantizedArguments values;
  values.x = upload(folder + "/x.bin");
  values.dData = allocate(kCodes);
  values.dScales = allocate(kScales);
  values.sizeM = kLines;
  values.batch = kMatrices;
  CUstream stream;
  CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CALL(
      launch_quantized::launch_quantized(function, values, countSms(), stream));
  CALL(cuStreamSynchronize(stream));
  write(values.dData, kCodes, folder + "/data.bin");
  write(values.dScales, kScales, folder + "/scales.bin");
}
