//===- found_scales.cpp - tensor scales that launches find ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "found.h"

#include "Quantized.h"

namespace found = launch_found;

namespace {
constexpr int kMatrices = 3, kLines = 133, kElements = 96;
/// Bytes of the codes, and of scales in tiles of 128 rows by 4 blocks.
constexpr size_t kCodes = size_t(kMatrices) * kLines * kElements / 2;
constexpr size_t kScales = size_t(kMatrices) * 2 * 2 * 512;
constexpr size_t kFactors = kMatrices * sizeof(float);
} // namespace

/// found_scales FOLDER
int main(int, char **arguments) {
  std::string folder = arguments[1];
  CUfunction function;
  CALL(found::load_found(loadModule(folder + "/found.ptx"), &function));
  found::foundArguments values;
  values.sizeM = kLines;
  values.batch = kMatrices;
  auto zeros = size_t(found::workspace_zeros_found(values));
  EXPECT(zeros == size_t(found::workspace_bytes_found(values)));
  CALL(cuMemAlloc(&values.workspace, zeros));
  CALL(cuMemsetD8(values.workspace, 0, zeros));
  CUstream stream;
  CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  for (const std::string name : {"first", "next"}) {
    values.x = upload(folder + "/" + name + ".bin");
    values.dData = allocate(kCodes);
    values.dScales = allocate(kScales);
    values.dTensorScale = allocate(kFactors);
    CALL(found::launch_found(function, values, countSms(), stream));
    CALL(cuStreamSynchronize(stream));
    write(values.dData, kCodes, folder + "/" + name + "-data.bin");
    write(values.dScales, kScales, folder + "/" + name + "-scales.bin");
    write(values.dTensorScale, kFactors, folder + "/" + name + "-factors.bin");
  }
}
