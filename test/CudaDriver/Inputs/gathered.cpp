//===- gathered.cpp - gathered rows through the launcher that was compiled ===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gathered.h"

#include "Product.h"

namespace {
constexpr int kTokens = 70, kGathered = 150, kColumns = 40;
constexpr size_t kBytes = size_t(kGathered) * kColumns * sizeof(float);
} // namespace

/// gathered FOLDER
int main(int, char **arguments) {
  std::string folder = arguments[1];
  CUmodule module = loadModule(folder + "/gathered.ptx");
  CUfunction function;
  CALL(launch_gathered::load_gathered(module, &function));
  launch_gathered::gatheredArguments values;
  values.aData = upload(folder + "/a.bin");
  values.bData = upload(folder + "/b.bin");
  values.offsets = upload(folder + "/ends.bin");
  values.rowNumbers = upload(folder + "/rows.bin");
  values.sizeM = kGathered;
  values.sizeTokens = kTokens;
  launchOnce(launch_gathered::launch_gathered, function, values, kBytes,
             folder + "/d.bin");
}
