//===- CudaHarness.h - kernels that nvcc compiled ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of test/Emulator/cuda run twice: from the PTX kept beside them,
// and from PTX that nvcc makes on the spot, which ptxas must accept as well.
// Without nvcc the second half fails, unless BLOCKSCALE_NO_NVCC is set in the
// environment: then it is skipped.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_EMULATOR_CUDAHARNESS_H
#define BLOCKSCALE_UNITTESTS_EMULATOR_CUDAHARNESS_H

#include "MachineHarness.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <unistd.h>

namespace blockscale::emulator::test {

enum class PtxSource { Kept, Fresh };

inline std::string readFile(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// PTX of `test/Emulator/cuda/<name>.cu` compiled now for `arch`; empty, with a
/// failed test, if that does not work.
inline std::string compileCuda(const std::string &name,
                               const std::string &arch) {
  std::string stem = testing::TempDir() + "blockscale-" + name + "-" +
                     std::to_string(getpid());
  std::string command =
      std::string(BLOCKSCALE_NVCC " -std=c++17 -ptx -arch=") + arch +
      " " BLOCKSCALE_SOURCE_DIR "/test/Emulator/cuda/" + name + ".cu -o " +
      stem + ".ptx && " BLOCKSCALE_PTXAS " -arch=" + arch + " " + stem +
      ".ptx -o " + stem + ".cubin";
  int status = std::system(command.c_str());
  EXPECT_EQ(status, 0) << "cannot compile '" << name
                       << ".cu': this test needs nvcc and ptxas; set "
                          "BLOCKSCALE_NO_NVCC to skip it\n"
                       << command;
  std::string text = status == 0 ? readFile(stem + ".ptx") : "";
  std::remove((stem + ".ptx").c_str());
  std::remove((stem + ".cubin").c_str());
  return text;
}

/// The module of `name`, parsed once per source.
inline const Module *cudaModule(PtxSource source, const std::string &name,
                                const std::string &arch) {
  static std::map<std::pair<PtxSource, std::string>, ParseResult> modules;
  auto [entry, isNew] = modules.try_emplace({source, name});
  if (isNew) {
    std::string text =
        source == PtxSource::Fresh
            ? compileCuda(name, arch)
            : readFile(BLOCKSCALE_SOURCE_DIR "/test/Emulator/cuda/" + name +
                       ".ptx");
    entry->second = parsePtx(text);
    for (const Diagnostic &error : entry->second.errors)
      ADD_FAILURE() << name << ".ptx: " << error.format();
  }
  return entry->second ? &*entry->second.module : nullptr;
}

/// Runs `launch` on a kernel of the module; the run must be clean.
inline RunResult runCuda(PtxSource source, const std::string &name,
                         const std::string &arch, const Launch &launch,
                         const Options &options = {}) {
  const Module *module = cudaModule(source, name, arch);
  if (!module) {
    ADD_FAILURE() << "no module '" << name << "'";
    return {};
  }
  RunResult result = run(*module, launch, options);
  expectClean(result);
  return result;
}

class CudaTest : public testing::TestWithParam<PtxSource> {
protected:
  void SetUp() override {
    if (GetParam() == PtxSource::Fresh && std::getenv("BLOCKSCALE_NO_NVCC"))
      GTEST_SKIP() << "BLOCKSCALE_NO_NVCC is set";
  }
};

inline std::string
sourceName(const testing::TestParamInfo<PtxSource> &information) {
  return information.param == PtxSource::Kept ? "Kept" : "Fresh";
}

#define INSTANTIATE_CUDA(SUITE)                                                \
  INSTANTIATE_TEST_SUITE_P(Ptx, SUITE,                                         \
                           testing::Values(PtxSource::Kept, PtxSource::Fresh), \
                           sourceName)

} // namespace blockscale::emulator::test

#endif // BLOCKSCALE_UNITTESTS_EMULATOR_CUDAHARNESS_H
