//===- Driver.cpp - the command line of blockscale ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/Driver.h"
#include "ScheduleTopic.h"
#include "Verb.h"
#include "llvm/Config/llvm-config.h"

using namespace blockscale::driver;

int blockscale::driver::run(int argc, const char *const *argv) {
  auto explain = [] { return makeExplainVerb({makeScheduleTopic()}); };
  return runVerbs(
      {makeCheckVerb, makeCompileVerb, makeEmulateVerb, explain, makePackVerb,
       makeVerifyVerb},
      "blockscale " BLOCKSCALE_VERSION " (LLVM " LLVM_VERSION_STRING ")",
      "Compiler for block-scaled matrix products on tensor cores", argc, argv);
}
