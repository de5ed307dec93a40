//===- quantize.cpp - a quantisation through the compiled launcher --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "quantized.h"

#include "Quantized.h"

namespace {
constexpr int kMatrices = 3, kLines = 133, kElements = 96;
/// Bytes of the codes, and of scales in tiles of 128 rows by 4 blocks.
constexpr size_t kCodes = size_t(kMatrices) * kLines * kElements;
constexpr size_t kScales = size_t(kMatrices) * 2 * 512;
} // namespace

/// quantized FOLDER
int main(int, char **arguments) {
  std::string folder = arguments[1];
  CUfunction function;
  CALL(launch_quantized::load_quantized(loadModule(folder + "/quantized.ptx"),
                                        &function));
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
