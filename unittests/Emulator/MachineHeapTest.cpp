//===- MachineHeapTest.cpp - malloc and free of kernels -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

#include <set>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

const char kModule[] =
    ".extern .func (.param .b64 result) malloc (.param .b64 size);\n"
    ".extern .func free (.param .b64 pointer);\n";

/// %rd10 = malloc(size)
std::string allocate(const std::string &size) {
  return "{ .param .b64 s; .param .b64 r;\nst.param.b64 [s], " + size +
         ";\ncall.uni (r), malloc, (s);\nld.param.b64 %rd10, [r];\n}\n";
}
const std::string kFree =
    "{ .param .b64 s;\nst.param.b64 [s], %rd10;\ncall.uni free, (s);\n}\n";

/// Stores the lower half of %rd10.
const std::string kTell = "cvt.u32.u64 %r20, %rd10;\nst.global.b32 [%rd1], "
                          "%r20;\n";

Simple runHeap(const std::string &text, uint32_t threads = 64,
               uint32_t ctas = 2) {
  return runBody(text, {}, threads, ctas, {}, 1, kModule);
}

} // namespace

TEST(MachineHeap, GivesEachThreadItsOwn) {
  // Each thread writes its number three times and reads it again.
  Simple s = runHeap(allocate("24") +
                     "cvt.u64.u32 %rd11, %r4;\nst.b64 [%rd10], %rd11;\n"
                     "st.b64 [%rd10+8], %rd11;\nst.b64 [%rd10+16], %rd11;\n"
                     "ld.b64 %rd12, [%rd10+16];\ncvt.u32.u64 %r21, %rd12;\n" +
                     kFree + "st.global.b32 [%rd1], %r21;");
  expectClean(s.result);
  for (uint32_t i = 0; i != 128; ++i)
    EXPECT_EQ(s.out[i], i);
}

TEST(MachineHeap, AddressesDifferAndAreAligned) {
  Simple s = runHeap(allocate("5") + kTell);
  expectClean(s.result);
  std::set<uint32_t> seen(s.out.begin(), s.out.end());
  EXPECT_EQ(seen.size(), 128u);
  for (uint32_t address : seen)
    EXPECT_EQ(address % 16, 0u);
}

TEST(MachineHeap, EndsWithNull) {
  // Sixteen times 500 KB fit into 8 MiB, with their heads.
  Simple s = runHeap(allocate("500000") + kTell, 32, 1);
  expectClean(s.result);
  EXPECT_EQ(std::count(s.out.begin(), s.out.end(), 0u), 16);
  s = runHeap(allocate("0") + kTell, 32, 1);
  expectClean(s.result);
  EXPECT_EQ(s.out[0], 0u);
}

/// What was freed is given again, also in one piece with what lies beside it.
TEST(MachineHeap, TakesBackWhatIsFreed) {
  Simple s =
      runHeap("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra E;\n"
              "mov.u32 %r15, 0;\nL:\n" +
                  allocate("3000000") + kFree + allocate("7000000") + kFree +
                  "add.u32 %r15, %r15, 1;\nsetp.lt.u32 %p2, %r15, 100;\n"
                  "@%p2 bra L;\n" +
                  kTell + "E:",
              32, 1);
  expectClean(s.result);
  EXPECT_NE(s.out[0], 0u);
}

/// Memory that one thread frees and one of another cluster gets needs no other
/// edge, however close upon each other that is.
TEST(MachineHeap, OrdersClustersThatShareABlock) {
  Simple s =
      runHeap("mov.u32 %r15, 0;\nL:\n" + allocate("24") +
                  "st.b32 [%rd10], %r4;\nst.b32 [%rd10+16], %r15;\n" + kFree +
                  "add.u32 %r15, %r15, 1;\nsetp.lt.u32 %p2, %r15, "
                  "2000;\n@%p2 bra L;\n",
              32, 8);
  expectClean(s.result);
}

/// Memory that one warp frees and another one gets needs no other edge.
TEST(MachineHeap, OrdersThoseWhoShareABlock) {
  Simple s = runHeap("setp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r1, 32;\n"
                     "mov.u64 %rd10, 0;\n@!%p1 bra A;\n" +
                     allocate("64") + "st.b32 [%rd10], %r1;\n" + kFree +
                     "A: @!%p2 bra E;\n" + allocate("64") +
                     "st.b32 [%rd10], %r1;\nE:");
  expectClean(s.result);
}

TEST(MachineHeap, RefusesWhatItHasNotGiven) {
  Simple s = runHeap(allocate("64") + "add.u64 %rd10, %rd10, 16;\n" + kFree);
  ASSERT_FALSE(s.result.clean());
  EXPECT_EQ(s.result.findings[0].kind, FindingKind::BadAddress);
  s = runHeap(allocate("64") + kFree + kFree, 1, 1);
  ASSERT_FALSE(s.result.clean());
  EXPECT_EQ(s.result.findings[0].message,
            "free of an address that malloc has not given, or that was freed "
            "before");
  s = runHeap("mov.u64 %rd10, 0;\n" + allocate("8") + "mov.u64 %rd10, 0;\n" +
              kFree);
  expectClean(s.result);
}

TEST(MachineHeap, StaysFromOneLaunchToTheNext) {
  std::string text =
      kHeader + kModule +
      ".global .align 8 .u64 kept;\n"
      ".visible .entry first() {\n.reg .b64 %rd<12>;\n.reg .b32 %r<2>;\n" +
      allocate("32") +
      "mov.u32 %r1, 1234;\nst.b32 [%rd10], %r1;\nst.global.b64 [kept], "
      "%rd10;\nret;\n}\n"
      ".visible .entry second(.param .u64 out) {\n.reg .b64 %rd<12>;\n"
      ".reg .b32 %r<2>;\nld.global.b64 %rd10, [kept];\nld.b32 %r1, [%rd10];\n"
      "ld.param.u64 %rd1, [out];\nst.global.b32 [%rd1], %r1;\n" +
      kFree + "ret;\n}\n";
  ParseResult parsed = parsePtx(text);
  ASSERT_TRUE(parsed);
  ModuleVariables variables = initialVariables(*parsed.module);
  ASSERT_TRUE(variables.refusals.empty());
  std::vector<uint32_t> out(1);
  Launch launch;
  launch.kernel = "first";
  launch.globals = variables.global.data();
  launch.constants = variables.constant.data();
  expectClean(run(*parsed.module, launch));
  launch.kernel = "second";
  launch.buffers = {bufferOf(out)};
  launch.arguments = {BufferArgument{0, 0}};
  expectClean(run(*parsed.module, launch));
  EXPECT_EQ(out[0], 1234u);
}
