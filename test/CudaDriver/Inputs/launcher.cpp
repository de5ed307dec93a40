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
  CUfunction function;
  CALL(launch_ds_kva::load_ds_kva(loadProduct(folder), &function));
  launch_ds_kva::ds_kvaArguments values;
  readOperands(values, folder);
  CUstream stream;
  CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CALL(launch_ds_kva::launch_ds_kva(function, values, countSms(), stream));
  CALL(cuStreamSynchronize(stream));
  writeResult(values, folder);
}
