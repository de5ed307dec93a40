//===- quantized_result.cpp - a quantised product through the launcher ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "product.h"

#include "Quantized.h"

namespace {
constexpr int kLines = 133, kElements = 160;
/// Bytes of the codes, and of scales in tiles of 128 rows by 4 blocks.
constexpr size_t kCodes = size_t(kLines) * kElements;
constexpr size_t kScales = size_t(2) * 2 * 512;
} // namespace

/// quantized_result FOLDER
int main(int, char **arguments) {
  std::string folder = arguments[1];
  CUfunction function;
  CALL(launch_product::load_product(loadModule(folder + "/product.ptx"),
                                    &function));
  launch_product::productArguments values;
  values.aData = upload(folder + "/a.bin");
  values.bData = upload(folder + "/b.bin");
  values.aScales = upload(folder + "/a_scales.bin");
  values.bScales = upload(folder + "/b_scales.bin");
  values.dData = allocate(kCodes);
  values.dScales = allocate(kScales);
  values.sizeM = kLines;
  CUstream stream;
  CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CALL(launch_product::launch_product(function, values, countSms(), stream));
  CALL(cuStreamSynchronize(stream));
  write(values.dData, kCodes, folder + "/data.bin");
  write(values.dScales, kScales, folder + "/scales.bin");
}
