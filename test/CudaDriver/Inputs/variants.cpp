//===- variants.cpp - launches of one product with several kernels --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kva.h"

#include "Product.h"
#include <vector>

namespace kva = launch_ds_kva;

/// Gives a launch the workspace that its kernel needs, if it needs one.
static bool addWorkspace(const kva::ds_kvaKernels &kernels,
                         kva::ds_kvaArguments &values) {
  auto bytes = size_t(kva::workspace_bytes_ds_kva(kernels, values));
  auto zeros = size_t(kva::workspace_zeros_ds_kva(kernels, values));
  if (bytes == 0)
    return false;
  CALL(cuMemAlloc(&values.workspace, bytes));
  CALL(cuMemsetD8(values.workspace, 0xff, bytes));
  CALL(cuMemsetD8(values.workspace, 0, zeros));
  return true;
}

/// The first rows of a result.
static std::vector<char> rowsOf(const kva::ds_kvaArguments &values, int rows) {
  std::vector<char> result(kResultBytes / kRows * rows);
  CALL(cuMemcpyDtoH(result.data(), values.d, result.size()));
  return result;
}

int main(int, char **arguments) {
  std::string folder = arguments[1];
  kva::ds_kvaKernels kernels;
  CALL(kva::load_ds_kva(loadProduct(folder), &kernels));
  const int sms = countSms();
  kva::ds_kvaArguments values;
  readOperands(values, folder);
  EXPECT(addWorkspace(kernels, values));
  CALL(kva::launch_ds_kva(kernels, values, sms, nullptr));
  CALL(cuCtxSynchronize());

  // Fewer rows of the same operands: another kernel, the same numbers.
  constexpr int kFew = 9;
  kva::ds_kvaArguments few = values;
  few.sizeM = kFew;
  few.workspace = 0;
  CALL(cuMemAlloc(&few.d, kResultBytes));
  EXPECT(kva::launch_ds_kva(kernels, few, sms, nullptr) ==
         CUDA_ERROR_INVALID_VALUE);
  EXPECT(addWorkspace(kernels, few));
  CALL(kva::launch_ds_kva(kernels, few, sms, nullptr));
  CALL(cuCtxSynchronize());
  EXPECT(rowsOf(few, kFew) == rowsOf(values, kFew));

  // More rows: the operands end before, so that only the choice is looked at.
  kva::ds_kvaArguments many = values;
  many.sizeM = 65;
  many.workspace = 0;
  EXPECT(!addWorkspace(kernels, many));
  CALL(kva::launch_ds_kva(kernels.ds_kva, values, sms, nullptr));
  CALL(cuCtxSynchronize());
  writeResult(values, folder);
}
