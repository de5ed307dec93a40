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
  CUmodule module = loadModule(folder + "/groups.ptx");
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
  launchOnce(launch_groups::launch_groups, function, values, kBytes,
             folder + "/" + arguments[3]);
}
