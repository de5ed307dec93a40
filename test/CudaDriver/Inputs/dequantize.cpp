//===- dequantize.cpp - conversions through the compiled launcher ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "converted.h"

#include "Quantized.h"

namespace {
constexpr int kMatrices = 3, kLines = 133, kElements = 96;
/// Scales in tiles of 128 rows by 4 blocks; numbers of two bytes.
constexpr size_t kScales = size_t(kMatrices) * 2 * 512;
constexpr size_t kNumbers = size_t(kMatrices) * kLines * kElements * 2;
} // namespace

/// converted FOLDER
int main(int, char **arguments) {
  namespace launch = launch_tiled;
  std::string folder = arguments[1];
  CUmodule module = loadModule(folder + "/converted.ptx");
  CUfunction tiled, values;
  CALL(launch::load_tiled(module, &tiled));
  CALL(launch::load_values(module, &values));
  CUdeviceptr scales = allocate(kScales);
  launch::tiledArguments moved;
  moved.aScales = upload(folder + "/scales.bin");
  moved.dScales = scales;
  launch::valuesArguments read;
  read.aData = upload(folder + "/codes.bin");
  read.aScales = scales;
  read.d = allocate(kNumbers);
  moved.sizeM = read.sizeM = kLines;
  moved.batch = read.batch = kMatrices;
  CUstream stream;
  CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CALL(launch::launch_tiled(tiled, moved, countSms(), stream));
  CALL(launch::launch_values(values, read, countSms(), stream));
  CALL(cuStreamSynchronize(stream));
  write(read.d, kNumbers, folder + "/numbers.bin");
}
