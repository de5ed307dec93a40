//===- groups_along_k.cpp - groups along K through the compiled launcher --===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gradients.h"

#include "Product.h"

namespace {
/// K of all groups, and bytes of memory behind D that nobody may write.
constexpr int kElements = 320;
constexpr size_t kBytes = size_t(4) * 40 * 72 * sizeof(float) + 64;
} // namespace

/// gradients FOLDER ENDS RESULT
int main(int, char **arguments) {
  std::string folder = arguments[1];
  CUmodule module = loadModule(folder + "/gradients.ptx");
  CUfunction function;
  CALL(launch_gradients::load_gradients(module, &function));
  launch_gradients::gradientsArguments values;
  values.aData = upload(folder + "/a.bin");
  values.bData = upload(folder + "/b.bin");
  values.kOffsets = upload(folder + "/" + arguments[2]);
  values.sizeK = kElements;
  launchOnce(launch_gradients::launch_gradients, function, values, kBytes,
             folder + "/" + arguments[3]);
}
