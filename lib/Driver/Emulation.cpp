//===- Emulation.cpp - the command line without the compiler --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verb.h"
#include "blockscale/Driver/Driver.h"

using namespace blockscale::driver;

int blockscale::driver::runWithoutCompiler(int argc, const char *const *argv) {
  auto explain = [] { return makeExplainVerb(); };
  return runVerbs({makeCheckVerb, makeEmulateVerb, explain, makePackVerb},
                  "blockscale-emulate " BLOCKSCALE_VERSION,
                  "Emulator of PTX for Blackwell's tensor cores", argc, argv);
}
