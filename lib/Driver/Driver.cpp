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
  std::vector<std::unique_ptr<Verb>> verbs;
  verbs.push_back(makeCheckVerb());
  verbs.push_back(makeCompileVerb());
  verbs.push_back(makeEmulateVerb());
  verbs.push_back(makeExplainVerb({makeScheduleTopic()}));
  verbs.push_back(makePackVerb());
  verbs.push_back(makeVerifyVerb());
  return runVerbs(
      verbs, "blockscale " BLOCKSCALE_VERSION " (LLVM " LLVM_VERSION_STRING ")",
      "Compiler for block-scaled matrix products on tensor cores", argc, argv);
}
