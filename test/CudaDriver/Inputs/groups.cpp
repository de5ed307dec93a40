//===- groups.cpp - groups of rows through the launcher that was compiled -===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "groups.h"

#include "Product.h"

namespace {
/// Rows of all groups, and rows of memory behind D that nobody may write.
constexpr int kTokens = 300, kBehind = 5, kColumns = 72;
constexpr size_t kBytes = size_t(kTokens + kBehind) * kColumns * sizeof(float);
} // namespace

/// groups FOLDER ENDS RESULT
int main(int, char **arguments) {
  std::string folder = arguments[1];
  CALL(cuInit(0));
  CUcontext context;
  CALL(cuDevicePrimaryCtxRetain(&context, 0));
  CALL(cuCtxSetCurrent(context));
  CUmodule module;
  CALL(cuModuleLoad(&module, (folder + "/groups.ptx").c_str()));
  CUfunction function;
  CALL(launch_groups::load_groups(module, &function));
  launch_groups::groupsArguments values;
  values.aData = upload(folder + "/a.bin");
  values.bData = upload(folder + "/b.bin");
  values.aScales = upload(folder + "/a_scales.bin");
  values.bScales = upload(folder + "/b_scales.bin");
  values.bias = upload(folder + "/bias.bin");
  values.offsets = upload(folder + "/" + arguments[2]);
  values.sizeM = kTokens;
  CALL(cuMemAlloc(&values.d, kBytes));
  CALL(cuMemsetD8(values.d, 0xff, kBytes));
  CUstream stream;
  CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CALL(launch_groups::launch_groups(function, values, countSms(), stream));
  CALL(cuStreamSynchronize(stream));
  std::string result(kBytes, '\0');
  CALL(cuMemcpyDtoH(result.data(), values.d, kBytes));
  std::ofstream(folder + "/" + arguments[3], std::ios::binary) << result;
}
