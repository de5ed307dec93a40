//===- PtxTesting.h - what the tests of the PTX front end share -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_EMULATOR_PTXTESTING_H
#define BLOCKSCALE_UNITTESTS_EMULATOR_PTXTESTING_H

#include "blockscale/Emulator/Ptx.h"
#include "gtest/gtest.h"
#include <fstream>
#include <sstream>

namespace blockscale::emulator {

inline const char kHeader[] =
    ".version 8.7\n.target sm_100a\n.address_size 64\n";

/// A kernel `k` whose body, from line 5 of the text, is `body`.
inline std::string kernelOf(const std::string &body) {
  return std::string(kHeader) + ".visible .entry k() {\n" + body + "\n}\n";
}

inline std::string readSample(const std::string &name) {
  std::ifstream file(std::string(BLOCKSCALE_SOURCE_DIR "/test/Emulator/ptx/") +
                     name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The module, or a failed test and an empty module.
inline Module parsed(const std::string &text) {
  ParseResult result = parsePtx(text);
  for (const Diagnostic &error : result.errors)
    ADD_FAILURE() << error.format();
  return result ? std::move(*result.module) : Module();
}

/// The first error as text; empty when there is none.
inline std::string firstError(const std::string &text) {
  ParseResult result = parsePtx(text);
  EXPECT_EQ(result.errors.empty(), bool(result));
  return result.errors.empty() ? "" : result.errors.front().format();
}

} // namespace blockscale::emulator

#endif // BLOCKSCALE_UNITTESTS_EMULATOR_PTXTESTING_H
