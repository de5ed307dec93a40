//===- blockscale-emulate.cpp - the emulator's command --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/Driver.h"

int main(int argc, char **argv) {
  return blockscale::driver::runWithoutCompiler(argc, argv);
}
