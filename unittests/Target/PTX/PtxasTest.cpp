//===- PtxasTest.cpp - finding, running and reading ptxas -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Target/PTX/Ptxas.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace blockscale;

namespace {

constexpr const char *kGoodPTX = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry copy(.param .u64 p) {
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  .shared .align 4 .b8 buffer[64];
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [%rd1];
  st.shared.u32 [buffer], %r1;
  bar.sync 0;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

/// An empty folder that is TMPDIR during a test, to see what is left there.
class TemporaryFolder {
public:
  TemporaryFolder() {
    llvm::sys::fs::createUniqueDirectory("blockscale-test", path);
    setenv("TMPDIR", path.c_str(), 1);
  }
  ~TemporaryFolder() {
    unsetenv("TMPDIR");
    llvm::sys::fs::remove_directories(path);
  }
  unsigned countFiles() const {
    std::error_code code;
    unsigned count = 0;
    for (llvm::sys::fs::directory_iterator it(path, code), end;
         it != end && !code; it.increment(code))
      ++count;
    return count;
  }
  llvm::SmallString<128> path;
};

PtxasOptions getOptions(const char *chip) {
  PtxasOptions options;
  llvm::Expected<std::string> program = findPtxas();
  if (program)
    options.program = *program;
  else
    ADD_FAILURE() << llvm::toString(program.takeError());
  options.chip = chip;
  return options;
}

TEST(FindPtxas, NamesTheProgramThatIsMissing) {
  llvm::Expected<std::string> program = findPtxas("/no/such/ptxas");
  ASSERT_FALSE(bool(program));
  EXPECT_EQ(llvm::toString(program.takeError()),
            "cannot run ptxas: '/no/such/ptxas' is not a program that can be "
            "executed");
}

TEST(RunPtxas, AssemblesAndReadsTheResources) {
  TemporaryFolder folder;
  llvm::Expected<PtxasResult> result =
      runPtxas(kGoodPTX, getOptions("sm_100a"));
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  EXPECT_EQ(result->cubin.substr(0, 4), "\x7f"
                                        "ELF");
  ASSERT_EQ(result->functions.size(), 1u);
  const PtxasFunctionInfo &info = result->functions[0];
  EXPECT_EQ(info.name, "copy");
  EXPECT_GT(info.registers, 0u);
  EXPECT_EQ(info.barriers, 1u);
  EXPECT_EQ(info.sharedBytes, 64u);
  EXPECT_EQ(info.spillStoreBytes, 0u);
  EXPECT_EQ(folder.countFiles(), 0u);
}

TEST(RunPtxas, QuotesTheLineThatIsWrong) {
  TemporaryFolder folder;
  std::string bad = kGoodPTX;
  bad.replace(bad.find("bar.sync"), 8, "bar.synk");
  llvm::Expected<PtxasResult> result = runPtxas(bad, getOptions("sm_100a"));
  ASSERT_FALSE(bool(result));
  std::string message = llvm::toString(result.takeError());
  EXPECT_EQ(message.find("ptxas rejects the PTX for 'sm_100a':"), 0u);
  EXPECT_NE(message.find("\n  line 11: Unknown modifier '.synk'\n"
                         "    bar.synk 0;"),
            std::string::npos)
      << message;
  EXPECT_EQ(folder.countFiles(), 0u);
}

TEST(RunPtxas, PassesOnWhyTheChipDoesNotFit) {
  llvm::Expected<PtxasResult> result =
      runPtxas(kGoodPTX, getOptions("sm_110a"));
  ASSERT_FALSE(bool(result));
  std::string message = llvm::toString(result.takeError());
  EXPECT_NE(message.find("'sm_100a' cannot be compiled"), std::string::npos)
      << message;
}

TEST(RunPtxas, SaysThatItCouldNotRun) {
  TemporaryFolder folder;
  PtxasOptions options;
  options.program = "/no/such/ptxas";
  llvm::Expected<PtxasResult> result = runPtxas(kGoodPTX, options);
  ASSERT_FALSE(bool(result));
  std::string message = llvm::toString(result.takeError());
  EXPECT_EQ(message.find("cannot run '/no/such/ptxas'"), 0u) << message;
  EXPECT_EQ(folder.countFiles(), 0u);
}

// Typed from outputs of ptxas 13.0: one entry that calls a function, one with
// spills.
/// What running a program of ours in place of ptxas gives as an error.
std::string errorOf(const char *script, unsigned timeoutSeconds) {
  TemporaryFolder folder;
  llvm::SmallString<128> program = folder.path;
  llvm::sys::path::append(program, "program");
  {
    std::error_code code;
    llvm::raw_fd_ostream stream(program, code);
    stream << "#!/bin/sh\n" << script << "\n";
  }
  llvm::sys::fs::setPermissions(program, llvm::sys::fs::all_all);
  PtxasOptions options;
  options.program = program.str().str();
  options.timeoutSeconds = timeoutSeconds;
  llvm::Expected<PtxasResult> result = runPtxas(kGoodPTX, options);
  EXPECT_EQ(folder.countFiles(), 1u);
  return result ? "" : llvm::toString(result.takeError());
}

TEST(RunPtxas, EndsAProgramThatDoesNot) {
  std::string error = errorOf("exec sleep 1000", 1);
  EXPECT_NE(error.find("no end after 1 seconds"), std::string::npos) << error;
}

TEST(RunPtxas, SaysHowAProgramEnded) {
  std::string error = errorOf("kill -SEGV $$", 100);
  EXPECT_NE(error.find("ended by signal Segmentation fault"), std::string::npos)
      << error;
  error = errorOf("exit 3", 0);
  EXPECT_NE(error.find("exit status 3"), std::string::npos) << error;
}

TEST(ParsePtxasLog, KeepsEntriesAndCalleesApart) {
  std::vector<PtxasFunctionInfo> functions = parsePtxasLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_100a'\n"
      "ptxas info    : Function properties for a\n"
      "    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 3 barriers, 16 bytes "
      "cumulative "
      "stack size, 1024 bytes smem\n"
      "ptxas info    : Function properties for callee\n"
      "    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_100a'\n"
      "ptxas info    : Function properties for b\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers\n"
      "ptxas info    : Compile time = 3.549 ms\n");
  ASSERT_EQ(functions.size(), 3u);
  EXPECT_EQ(functions[0].name, "a");
  EXPECT_EQ(functions[0].registers, 255u);
  EXPECT_EQ(functions[0].barriers, 3u);
  EXPECT_EQ(functions[0].stackBytes, 16u);
  EXPECT_EQ(functions[0].spillStoreBytes, 24u);
  EXPECT_EQ(functions[0].spillLoadBytes, 32u);
  EXPECT_EQ(functions[0].sharedBytes, 1024u);
  EXPECT_EQ(functions[1].name, "callee");
  EXPECT_EQ(functions[1].stackBytes, 8u);
  EXPECT_EQ(functions[1].registers, 0u);
  EXPECT_EQ(functions[2].name, "b");
  EXPECT_EQ(functions[2].registers, 8u);
  EXPECT_EQ(functions[2].sharedBytes, 0u);
}

} // namespace
