//===- MachineReduceTest.cpp - loads that reduce, multimem ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"
#include "MachineHarness.h"

#include "blockscale/Emulator/Hazards.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// Four words of a thread go to tensor memory and come back with `load`;
/// what they were reduced to is stored.
std::string reduction(const std::string &load, bool waits = true) {
  std::string text = body(
      "mov.u32 %r10, slot;\n"
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r10], 32;\n"
      "bar.sync 0;\nld.shared.b32 %r11, [%r10];\n"
      "ld.global.b32 %r20, [%rd2];\nld.global.b32 %r21, [%rd2+128];\n"
      "ld.global.b32 %r22, [%rd2+256];\nld.global.b32 %r23, [%rd2+384];\n"
      "tcgen05.st.sync.aligned.32x32b.x4.b32 [%r11], {%r20, %r21, %r22, "
      "%r23};\ntcgen05.wait::st.sync.aligned;\n" +
          load + ";\n" + (waits ? "tcgen05.wait::ld.sync.aligned;\n" : "") +
          "st.global.b32 [%rd1], %r34;\n"
          "tcgen05.wait::ld.sync.aligned;\n"
          "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r11, 32;",
      ".shared .align 4 .b32 slot;\n");
  return text.replace(text.find("sm_100a"), 7, "sm_103a");
}

RunResult runReduction(const std::string &text, std::vector<uint32_t> &out,
                       const uint32_t (&words)[4]) {
  std::vector<uint32_t> in(128);
  for (unsigned i = 0; i != 128; ++i)
    in[i] = words[(i / 32 + i % 32) % 4]; // each thread another order
  out.assign(32, 0);
  return runWords(text, out, in, 32);
}

#define LD_RED "tcgen05.ld.red.sync.aligned."
#define INTO " {%r30, %r31, %r32, %r33}, %r34, [%r11]"

const struct {
  const char *load;
  uint32_t words[4], result;
} kReductions[] = {
    {LD_RED "32x32b.x4.max.f32" INTO,
     {0x3F800000, 0xC0400000, 0x40000000, 0x3E800000},
     0x40000000},
    {LD_RED "32x32b.x4.min.f32" INTO,
     {0x3F800000, 0xC0400000, 0x40000000, 0x3E800000},
     0xC0400000},
    {LD_RED "32x32b.x4.max.abs.f32" INTO,
     {0x3F800000, 0xC0400000, 0x40000000, 0x3E800000},
     0x40400000},
    {LD_RED "32x32b.x4.f32.min.abs" INTO,
     {0x3F800000, 0xC0400000, 0x40000000, 0xBE800000},
     0x3E800000},
    // NaN is left out, or it is the result.
    {LD_RED "32x32b.x4.min.f32" INTO,
     {0x7FC00000, 0x40400000, 0xFF800000, 0x7F800000},
     0xFF800000},
    {LD_RED "32x32b.x4.max.NaN.f32" INTO,
     {0x7FC00000, 0x40400000, 0xFF800000, 0x7F800000},
     0x7FFFFFFF},
    {LD_RED "32x32b.x4.min.f32" INTO, {0, 0x80000000, 0, 0}, 0x80000000},
    {LD_RED "32x32b.x4.max.s32" INTO, {5, 0xFFFFFFF0, 3, 0x80000000}, 5},
    {LD_RED "32x32b.x4.min.s32" INTO,
     {5, 0xFFFFFFF0, 3, 0x80000000},
     0x80000000},
    {LD_RED "32x32b.x4.u32.max" INTO,
     {5, 0xFFFFFFF0, 3, 0x80000000},
     0xFFFFFFF0},
    {LD_RED "32x32b.x4.min.u32" INTO, {5, 0xFFFFFFF0, 3, 0x80000000}, 3},
};

} // namespace

TEST(MachineReduce, LoadsOfTensorMemory) {
  for (const auto &one : kReductions) {
    std::vector<uint32_t> out;
    std::string text = reduction(one.load);
    expectClean(runReduction(text, out, one.words));
    for (uint32_t word : out)
      ASSERT_EQ(word, one.result) << one.load;
    if (hasAssembler()) {
      EXPECT_TRUE(assembles(text, "sm_103a")) << one.load;
    }
  }
}

/// Each half of the warp has its columns of the same sixteen lanes.
TEST(MachineReduce, HalvesOfAWarp) {
  std::vector<uint32_t> out;
  std::string text =
      reduction(LD_RED "16x32bx2.x2.max.u32 {%r30, %r31}, %r34, [%r11], 2");
  const uint32_t words[4] = {10, 20, 30, 40};
  expectClean(runReduction(text, out, words));
  for (unsigned t = 0; t != 32; ++t) {
    unsigned lane = t % 16, first = t / 16 * 2;
    auto at = [&](unsigned column) { return words[(column + lane) % 4]; };
    EXPECT_EQ(out[t], std::max(at(first), at(first + 1))) << t;
  }
}

TEST(MachineReduce, FormsThatDoNotExist) {
  for (const char *load :
       {LD_RED "32x32b.x1.max.f32 {%r30}, %r34, [%r11]",
        LD_RED "32x32b.x2.min.abs.s32 {%r30, %r31}, %r34, [%r11]",
        LD_RED "16x64b.x2.min.s32 {%r30, %r31}, %r34, [%r11]"}) {
    std::vector<uint32_t> out;
    RunResult result = runReduction(reduction(load), out, {1, 2, 3, 4});
    ASSERT_FALSE(result.clean()) << load;
    EXPECT_EQ(result.findings[0].kind, FindingKind::Unsupported);
  }
  std::string text = reduction(kReductions[0].load);
  text.replace(text.find("sm_103a"), 7, "sm_100a");
  std::vector<uint32_t> out;
  RunResult result = runReduction(text, out, {1, 2, 3, 4});
  ASSERT_FALSE(result.clean());
  EXPECT_EQ(result.findings[0].hazard, unsigned(Hazard::TargetLacks));
}

/// Over one device a multicast address is that of the memory.
TEST(MachineReduce, MultimemOfOneDevice) {
  const struct {
    const char *text;
    uint32_t in, result;
  } kCases[] = {
      {"multimem.ld_reduce.relaxed.gpu.global.add.f32 %r5, [%rd2];\n"
       "st.global.b32 [%rd1], %r5",
       0x40490FDB, 0x40490FDB},
      {"multimem.ld_reduce.acquire.sys.global.add.acc::f32.bf16x2 %r5, "
       "[%rd2];\nst.global.b32 [%rd1], %r5",
       0x3F804000, 0x3F804000},
      {"multimem.ld_reduce.weak.global.and.b32 %r5, [%rd2];\n"
       "multimem.st.relaxed.gpu.global.b32 [%rd1], %r5",
       77, 77},
      {"ld.global.b32 %r5, [%rd2];\nmov.u32 %r6, 5;\nst.global.b32 [%rd1], "
       "%r6;\nmultimem.red.relaxed.gpu.global.add.u32 [%rd1], %r5",
       100, 105},
      {"ld.global.b32 %r5, [%rd2];\nmov.u32 %r6, 0x3F800000;\n"
       "st.global.b32 [%rd1], %r6;\n"
       "multimem.red.release.gpu.global.add.f32 [%rd1], %r5",
       0x40000000, 0x40400000},
      {"ld.global.b32 %r5, [%rd2];\nmov.u32 %r6, 5;\nst.global.b32 [%rd1], "
       "%r6;\nmultimem.red.relaxed.gpu.global.max.s32 [%rd1], %r5",
       0xFFFFFFFF, 5},
  };
  for (const auto &one : kCases) {
    std::string text = std::string(one.text) + ";";
    Simple s = runBody(text, std::vector<uint32_t>(32, one.in));
    expectClean(s.result);
    EXPECT_EQ(s.out[7], one.result) << one.text;
    if (hasAssembler()) {
      EXPECT_TRUE(assembles(body(text))) << one.text;
    }
  }
}
