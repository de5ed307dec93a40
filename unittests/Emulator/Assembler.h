//===- Assembler.h - what ptxas takes ---------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_EMULATOR_ASSEMBLER_H
#define BLOCKSCALE_UNITTESTS_EMULATOR_ASSEMBLER_H

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

namespace blockscale::emulator::test {

/// Whether tests may call the tools of CUDA.
inline bool hasAssembler() { return !std::getenv("BLOCKSCALE_NO_NVCC"); }

/// Whether ptxas takes a module. `target` replaces sm_100a in the text.
inline bool assembles(std::string ptx, const std::string &target = "sm_100a",
                      const std::string &ptxas = BLOCKSCALE_PTXAS) {
  static unsigned count = 0;
  if (size_t at = ptx.find("sm_100a"); at != std::string::npos)
    ptx.replace(at, 7, target);
  std::string stem = testing::TempDir() + "blockscale-ptx-" +
                     std::to_string(getpid()) + "-" + std::to_string(count++);
  std::ofstream(stem + ".ptx") << ptx;
  int status = std::system((ptxas + " -arch=" + target + " " + stem +
                            ".ptx -o " + stem + ".cubin 2>&1")
                               .c_str());
  std::remove((stem + ".ptx").c_str());
  std::remove((stem + ".cubin").c_str());
  return status == 0;
}

} // namespace blockscale::emulator::test

#endif // BLOCKSCALE_UNITTESTS_EMULATOR_ASSEMBLER_H
