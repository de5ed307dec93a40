//===- sparsity.cpp - a chain of conversions by their launchers -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "chain.h"

#include "Quantized.h"

namespace {
constexpr int kLines = 133, kElements = 192;
constexpr size_t kNumbers = size_t(kLines) * kElements * 2;
/// Two tiles of 128 rows for each 128 elements, 16 bytes for a row.
constexpr size_t kMetadata = size_t(2) * 2 * 128 * 16;
} // namespace

/// sparsity FOLDER
int main(int, char **arguments) {
  namespace launch = launch_prune;
  std::string folder = arguments[1];
  CUmodule module = loadModule(folder + "/chain.ptx");
  CUfunction prune, compress, densify;
  CALL(launch::load_prune(module, &prune));
  CALL(launch::load_compress(module, &compress));
  CALL(launch::load_densify(module, &densify));
  launch::pruneArguments first;
  first.x = upload(folder + "/x.bin");
  first.d = allocate(kNumbers);
  launch::compressArguments second;
  second.aData = first.d;
  second.dData = allocate(kNumbers / 2);
  second.dMetadata = allocate(kMetadata);
  launch::densifyArguments third;
  third.aData = second.dData;
  third.aMetadata = second.dMetadata;
  third.dData = allocate(kNumbers);
  first.sizeM = second.sizeM = third.sizeM = kLines;
  second.sizeK = third.sizeK = kElements;
  CUstream stream;
  CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CALL(launch::launch_prune(prune, first, countSms(), stream));
  CALL(launch::launch_compress(compress, second, countSms(), stream));
  CALL(launch::launch_densify(densify, third, countSms(), stream));
  CALL(cuStreamSynchronize(stream));
  write(first.d, kNumbers, folder + "/pruned.bin");
  write(second.dData, kNumbers / 2, folder + "/stored.bin");
  write(second.dMetadata, kMetadata, folder + "/metadata.bin");
  write(third.dData, kNumbers, folder + "/dense.bin");
}
