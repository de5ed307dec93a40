//===- workspace.cpp - launches that follow each other and that do not ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kva.h"

#include "Product.h"
#include <vector>

namespace kva = launch_ds_kva;

/// A workspace as the first launch wants it: what need not be zero is not.
static CUdeviceptr workspaceOf(const kva::ds_kvaArguments &values) {
  size_t bytes = size_t(kva::workspace_bytes_ds_kva(values));
  size_t zeros = size_t(kva::workspace_zeros_ds_kva(values));
  EXPECT(zeros > 0 && zeros < bytes);
  CUdeviceptr pointer;
  CALL(cuMemAlloc(&pointer, bytes));
  CALL(cuMemsetD8(pointer, 0, zeros));
  CALL(cuMemsetD8(pointer + zeros, 0xff, bytes - zeros));
  return pointer;
}

static std::vector<char> resultOf(const kva::ds_kvaArguments &values) {
  std::vector<char> result(kResultBytes);
  CALL(cuMemcpyDtoH(result.data(), values.d, kResultBytes));
  return result;
}

int main(int, char **arguments) {
  std::string folder = arguments[1];
  CUfunction function;
  CALL(kva::load_ds_kva(loadProduct(folder), &function));
  const int sms = countSms();
  kva::ds_kvaArguments first;
  readOperands(first, folder);
  EXPECT(kva::launch_ds_kva(function, first, sms, nullptr) ==
         CUDA_ERROR_INVALID_VALUE);
  first.workspace = workspaceOf(first);
  kva::ds_kvaArguments next = first, beside = first;
  CALL(cuMemAlloc(&next.d, kResultBytes));
  CALL(cuMemAlloc(&beside.d, kResultBytes));
  beside.workspace = workspaceOf(beside);
  CUstream one, other;
  CALL(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  CALL(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  CALL(kva::launch_ds_kva(function, first, sms, one));
  CALL(kva::launch_ds_kva(function, beside, sms, other));
  CALL(kva::launch_ds_kva(function, next, sms, one));
  CALL(cuCtxSynchronize());
  EXPECT(resultOf(first) == resultOf(next));
  EXPECT(resultOf(first) == resultOf(beside));
  writeResult(first, folder);
}
