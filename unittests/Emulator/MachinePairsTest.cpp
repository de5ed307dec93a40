//===- MachinePairsTest.cpp - conversions and comparisons of pairs --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Codes are typed from the definitions of the formats. The conversions from
// narrow floats to bf16x2 are of PTX 9.2, which the assembler of CUDA 13.0 does
// not know; that of 13.5 takes them on the targets tested here.
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"
#include "MachineHarness.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// Runs one instruction with %r5 = in[0], %r6 = in[1] and gives %r7.
uint32_t run(const std::string &instruction, uint32_t first, uint32_t second,
             const std::string &version = "9.0") {
  std::string text =
      body("ld.global.b32 %r5, [%rd2];\nld.global.b32 %r6, [%rd2+128];\n"
           "mov.b32 {%h1, _}, %r5;\nmov.b32 {%h2, _}, %r6;\n"
           "cvt.u8.u16 %b1, %h1;\nmov.u32 %r7, 0;\n" +
               instruction + ";\nst.global.b32 [%rd1], %r7;",
           "");
  text.replace(text.find("9.0"), 3, version);
  text.replace(text.find(".reg .pred"), 10, ".reg .b8 %b<2>;\n.reg .pred");
  std::vector<uint32_t> out(32), in(64, first);
  std::fill(in.begin() + 32, in.end(), second);
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 32;
  launch.buffers = {bufferOf(out), bufferOf(in, false)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  expectClean(runText(text, launch));
  return out[31];
}

struct Conversion {
  const char *instruction;
  uint32_t packed, scales, result;
};

constexpr uint32_t kNone = 0;

const Conversion kConversions[] = {
    // e4m3: 1.5 and -0.001953125 (the smallest), NaN, -448.
    {"cvt.rn.bf16x2.e4m3x2 %r7, %h1", 0x3C81, kNone, 0x3FC0BB00},
    {"cvt.rn.bf16x2.e4m3x2 %r7, %h1", 0x7FFE, kNone, 0x7FFFC3E0},
    {"cvt.rn.relu.bf16x2.e4m3x2 %r7, %h1", 0xFE3C, kNone, 0x00003FC0},
    {"cvt.rn.relu.bf16x2.e4m3x2 %r7, %h1", 0xFF80, kNone, 0x7FFF0000},
    // e5m2: infinity, with and without saturation; 57344.
    {"cvt.rn.bf16x2.e5m2x2 %r7, %h1", 0x7CFC, kNone, 0x7F80FF80},
    {"cvt.rn.satfinite.bf16x2.e5m2x2 %r7, %h1", 0x7CFC, kNone, 0x7F7FFF7F},
    {"cvt.rn.satfinite.relu.bf16x2.e5m2x2 %r7, %h1", 0xFC7B, kNone, 0x00004760},
    // e2m3: 7.5 and -0.125; e3m2: 28 and -0.0625; e2m1: 6 and -0.5.
    {"cvt.rn.bf16x2.e2m3x2 %r7, %h1", 0x1F21, kNone, 0x40F0BE00},
    {"cvt.rn.bf16x2.e3m2x2 %r7, %h1", 0x1F21, kNone, 0x41E0BD80},
    {"cvt.rn.bf16x2.e2m1x2 %r7, %b1", 0x79, kNone, 0x40C0BF00},
    // Scales: 2^3 for the high element, 2^-1 for the low one.
    {"cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %r7, %h1, %h2", 0x3CBC, 0x827E,
     0x4140BF40},
    {"cvt.rn.scaled::n2::ue8m0.bf16x2.e2m1x2 %r7, %b1, %h2", 0x79, 0x827E,
     0x4240BE80},
    {"cvt.rn.relu.scaled::n2::ue8m0.bf16x2.e3m2x2 %r7, %h1, %h2", 0x1F21,
     0x807F, 0x42600000},
    // A product beyond bf16, and a scale that is NaN.
    {"cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %r7, %h1, %h2", 0x7E3C, 0xFEFF,
     0x7F807FFF},
    {"cvt.rn.satfinite.scaled::n2::ue8m0.bf16x2.e4m3x2 %r7, %h1, %h2", 0x7E38,
     0xFE00, 0x7F7F0040},
};

} // namespace

TEST(MachinePairs, NarrowFloatsBecomeBf16) {
  for (const Conversion &one : kConversions)
    EXPECT_EQ(run(one.instruction, one.packed, one.scales, "9.2"), one.result)
        << one.instruction << " " << std::hex << one.packed;
}

TEST(MachinePairs, HalvesBecomeNarrowFloats) {
  // 1.5 and -3 of f16 and bf16 in all narrow formats.
  const struct {
    const char *instruction;
    uint32_t packed, result;
  } kCases[] = {
      {"cvt.rn.satfinite.e4m3x2.bf16x2 %h3, %r5", 0x3FC0C040, 0x3CC4},
      {"cvt.rn.satfinite.e5m2x2.bf16x2 %h3, %r5", 0x3FC0C040, 0x3EC2},
      {"cvt.rn.satfinite.e2m3x2.f16x2 %h3, %r5", 0x3E00C200, 0x0C34},
      {"cvt.rn.satfinite.e3m2x2.bf16x2 %h3, %r5", 0x3FC0C040, 0x0E32},
      {"cvt.rn.satfinite.relu.e3m2x2.f16x2 %h3, %r5", 0x3E00C200, 0x0E00},
  };
  for (const auto &one : kCases)
    EXPECT_EQ(run(std::string(one.instruction) + ";\ncvt.u32.u16 %r7, %h3",
                  one.packed, 0, "9.2"),
              one.result)
        << one.instruction;
  EXPECT_EQ(run("cvt.rn.satfinite.e2m1x2.bf16x2 %b1, %r5;\ncvt.u32.u8 %r7, %b1",
                0x3FC0C040, 0, "9.2"),
            0x3Du);
}

/// bf16x2 is there on the targets that have the narrow floats of the tensor
/// cores, as ptxas 13.5 has it.
TEST(MachinePairs, TargetsOfBf16) {
  const struct {
    const char *target;
    bool has;
  } kTargets[] = {{"sm_90a", false}, {"sm_100", false}, {"sm_100a", true},
                  {"sm_100f", true}, {"sm_103a", true}, {"sm_110a", true},
                  {"sm_120", false}, {"sm_120a", true}, {"sm_121a", true}};
  for (const auto &one : kTargets) {
    std::string text = body("mov.b16 %h1, 0;\ncvt.rn.bf16x2.e5m2x2 %r7, %h1;");
    text.replace(text.find("9.0"), 3, "9.2");
    text.replace(text.find("sm_100a"), 7, one.target);
    ParseResult parsed = parsePtx(text);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(checkTarget(*parsed.module, parsed.module->functions[0]).empty(),
              one.has)
        << one.target;
  }
}

TEST(MachinePairs, SetOfPairs) {
  const struct {
    const char *instruction;
    uint32_t a, b, result;
  } kCases[] = {
      // 1 and NaN against 1 and 2.
      {"set.eq.f16x2.f16x2 %r7, %r5, %r6", 0x3C007E00, 0x3C004000, 0x3C000000},
      {"set.neu.f16x2.f16x2 %r7, %r5, %r6", 0x3C007E00, 0x3C004000, 0x00003C00},
      {"set.gtu.bf16x2.bf16x2 %r7, %r5, %r6", 0x3F807FC0, 0x40003F80,
       0x00003F80},
      {"set.le.u32.bf16x2 %r7, %r5, %r6", 0x3F807FC0, 0x40003F80, 0xFFFF0000},
      {"set.lt.s32.f16x2 %r7, %r5, %r6", 0x3C004000, 0x40003C00, 0xFFFF0000},
      {"setp.eq.u32 %p1, %r5, 0;\nset.le.or.f16x2.f16x2 %r7, %r5, %r6, !%p1",
       0x40003C00, 0x3C004000, 0x3C003C00},
      {"set.eq.f16.f16 %h3, %h1, %h2;\ncvt.u32.u16 %r7, %h3", 0x4000, 0x4000,
       0x3C00},
      {"set.eq.u16.bf16 %h3, %h1, %h2;\ncvt.u32.u16 %r7, %h3", 0x4000, 0x4000,
       0xFFFF},
  };
  for (const auto &one : kCases) {
    EXPECT_EQ(run(one.instruction, one.a, one.b), one.result)
        << one.instruction;
    if (hasAssembler()) {
      EXPECT_TRUE(assembles(body(std::string(one.instruction) + ";")))
          << one.instruction;
    }
  }
}
