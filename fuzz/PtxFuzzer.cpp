//===- PtxFuzzer.cpp - hostile PTX ----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses, checks and prints whatever comes; the samples in test/Emulator/ptx
// are its seeds.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Ptx.h"

using namespace blockscale::emulator;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ParseResult result = parsePtx({reinterpret_cast<const char *>(data), size});
  if (!result)
    return 0;
  for (const Function &function : result.module->functions) {
    (void)checkSupported(*result.module, function);
    for (const Instruction &instruction : function.instructions)
      (void)print(*result.module, function, instruction);
  }
  return 0;
}
