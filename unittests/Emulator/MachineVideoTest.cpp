//===- MachineVideoTest.cpp - SIMD video instructions ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The results were made by a few lines of Python from the semantics of the PTX
// ISA 9.1, "SIMD video instructions", of a = 0x7F80FF01, b = 0x0281FE7F and
// c = 1000.
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"
#include "MachineHarness.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

const struct {
  const char *mnemonic;
  uint32_t result;
} kCases[] = {
    {"vadd2.u32.u32.u32", 0x8201FD80},
    {"vadd2.s32.s32.s32.sat", 0x7FFFFD80},
    {"vadd2.u32.s32.u32.sat", 0x8201FD80},
    {"vadd2.s32.s32.u32.add", 0x00018369},
    {"vadd4.u32.u32.u32", 0x8101FD80},
    {"vadd4.s32.s32.s32.sat", 0x7F80FD7F},
    {"vadd4.u32.s32.u32.sat", 0x8101FD80},
    {"vadd4.s32.s32.u32.add", 0x000005E7},
    {"vsub2.u32.u32.u32", 0x7CFF0082},
    {"vsub2.s32.s32.s32.sat", 0x7CFF0082},
    {"vsub2.u32.s32.u32.sat", 0x7CFF0000},
    {"vsub2.s32.s32.u32.add", 0xFFFF8169},
    {"vsub4.u32.u32.u32", 0x7DFF0182},
    {"vsub4.s32.s32.s32.sat", 0x7DFF0182},
    {"vsub4.u32.s32.u32.sat", 0x7D000000},
    {"vsub4.s32.s32.u32.add", 0x000001E7},
    {"vavrg2.u32.u32.u32", 0x4101FEC0},
    {"vavrg2.s32.s32.s32.sat", 0x4101FEC0},
    {"vavrg2.u32.s32.u32.sat", 0x41017EC0},
    {"vavrg2.s32.s32.u32.add", 0x0000C3A9},
    {"vavrg4.u32.u32.u32", 0x4181FF40},
    {"vavrg4.s32.s32.s32.sat", 0x4180FE40},
    {"vavrg4.u32.s32.u32.sat", 0x41017F40},
    {"vavrg4.s32.s32.u32.add", 0x000004E9},
    {"vabsdiff2.u32.u32.u32", 0x7CFF0082},
    {"vabsdiff2.s32.s32.s32.sat", 0x7CFF0082},
    {"vabsdiff2.u32.s32.u32.sat", 0x7CFFFF7E},
    {"vabsdiff2.s32.s32.u32.add", 0x00018065},
    {"vabsdiff4.u32.u32.u32", 0x7D01017E},
    {"vabsdiff4.s32.s32.s32.sat", 0x7D01017E},
    {"vabsdiff4.u32.s32.u32.sat", 0x7DFFFF7E},
    {"vabsdiff4.s32.s32.u32.add", 0x000006E3},
    {"vmin2.u32.u32.u32", 0x0281FE7F},
    {"vmin2.s32.s32.s32.sat", 0x0281FE7F},
    {"vmin2.u32.s32.u32.sat", 0x02810000},
    {"vmin2.s32.s32.u32.add", 0x0000056A},
    {"vmin4.u32.u32.u32", 0x0280FE01},
    {"vmin4.s32.s32.s32.sat", 0x0280FE01},
    {"vmin4.u32.s32.u32.sat", 0x02000001},
    {"vmin4.s32.s32.u32.add", 0x0000036A},
    {"vmax2.u32.u32.u32", 0x7F80FF01},
    {"vmax2.s32.s32.s32.sat", 0x7F80FF01},
    {"vmax2.u32.s32.u32.sat", 0x7F80FE7F},
    {"vmax2.s32.s32.u32.add", 0x000181E7},
    {"vmax4.u32.u32.u32", 0x7F81FF7F},
    {"vmax4.s32.s32.s32.sat", 0x7F81FF7F},
    {"vmax4.u32.s32.u32.sat", 0x7F81FE7F},
    {"vmax4.s32.s32.u32.add", 0x00000665},
    {"vset2.s32.s32.lt", 0x00000000},
    {"vset2.s32.s32.lt.add", 0x000003E8},
    {"vset2.u32.s32.ge", 0x00010001},
    {"vset2.u32.s32.ge.add", 0x000003EA},
    {"vset2.u32.u32.ne", 0x00010001},
    {"vset2.u32.u32.ne.add", 0x000003EA},
    {"vset2.s32.u32.gt", 0x00010000},
    {"vset2.s32.u32.gt.add", 0x000003E9},
    {"vset4.s32.s32.lt", 0x00010001},
    {"vset4.s32.s32.lt.add", 0x000003EA},
    {"vset4.u32.s32.ge", 0x01010100},
    {"vset4.u32.s32.ge.add", 0x000003EB},
    {"vset4.u32.u32.ne", 0x01010101},
    {"vset4.u32.u32.ne.add", 0x000003EC},
    {"vset4.s32.u32.gt", 0x01000000},
    {"vset4.s32.u32.gt.add", 0x000003E9},
};

} // namespace

TEST(MachineVideo, OperatesOnHalvesAndBytes) {
  for (const auto &one : kCases) {
    std::string text = "mov.u32 %r5, 0x7F80FF01;\nmov.u32 %r6, 0x0281FE7F;\n"
                       "add.u32 %r8, %r1, 1000;\n" +
                       std::string(one.mnemonic) +
                       " %r7, %r5, %r6, %r8;\nst.global.b32 [%rd1], %r7;";
    Simple s = runBody(text);
    expectClean(s.result);
    bool adds = text.find(".add %r7") != std::string::npos;
    for (uint32_t t : {0u, 13u, 31u})
      EXPECT_EQ(s.out[t], one.result + (adds ? t : 0)) << one.mnemonic;
    if (hasAssembler()) {
      EXPECT_TRUE(assembles(body(text))) << one.mnemonic;
    }
  }
}

// By hand from the semantics of the PTX ISA 9.1, "Scalar video instructions",
// of the same a, b and c.
TEST(MachineVideo, OperatesOnOneValue) {
  const struct {
    const char *instruction;
    uint32_t result;
  } cases[] = {
      {"vadd.u32.u32.u32 %r7, %r5, %r6;", 0x8202FD80},
      {"vadd.s32.s32.s32.sat %r7, %r5, %r6;", 0x7FFFFFFF},
      {"vadd.s32.u32.s32.sat %r7, %r5.b1, %r6.h0;", uint32_t(255 - 385)},
      {"vadd.u32.u32.u32 %r7.b3, %r5.b0, %r6.b0, %r8;", 0x800003E8},
      {"vadd.s32.s32.s32.sat %r7.b0, %r5.h1, %r6.h1, %r8;", 0x0000037F},
      {"vsub.s32.s32.u32.sat %r7, %r5.h1, %r6.h1;", 0x7F80 - 0x0281},
      {"vsub.u32.u32.u32.sat %r7, %r6.h1, %r5.h1;", 0},
      {"vabsdiff.s32.s32.s32.sat %r7.h0, %r5.b0, %r6.b2, %r8;", 128},
      {"vmin.s32.s32.s32.sat.add %r7, %r5, %r6, %r8;", 0x02820267},
      {"vmax.u32.u32.s32.min %r7, %r5.b3, %r6.b1, %r8;", 127},
      {"vmax.u32.u32.s32.max %r7, %r5.b3, %r6.b1, %r8;", 1000},
      {"vshl.s32.u32.u32.clamp %r7, %r5.b1, %r6.b3;", 0x3FC},
      {"vshl.u32.u32.u32.sat.clamp %r7, %r5, %r6.b3;", 0xFFFFFFFF},
      {"vshl.u32.u32.u32.clamp %r7, %r5, %r6.b0;", 0},
      {"vshr.u32.u32.u32.wrap %r7, %r5, %r6.b3;", 0x1FE03FC0},
      {"vshr.s32.s32.u32.clamp %r7, %r5.h0, %r6.b3;", uint32_t(-64)},
      {"vset.s32.u32.lt %r7, %r5.b1, %r6.b1;", 1},
      {"vset.u32.u32.ne.add %r7, %r5, %r6.h1, %r8;", 1001},
      {"vset.u32.u32.gt %r7.b1, %r5, %r6, %r8;", 0x1E8},
      {"vmad.s32.s32.u32 %r7, %r5.b1, %r6.h1, %r8;", 1000 - 641},
      {"vmad.u32.u32.u32.sat %r7, %r5, %r6.b0, %r8;", 0xFFFFFFFF},
      {"vmad.s32.s32.s32.sat %r7, %r5, %r6.h0, %r8;", 0x80000000},
  };
  for (const auto &one : cases) {
    std::string text = "mov.u32 %r5, 0x7F80FF01;\nmov.u32 %r6, 0x0281FE7F;\n"
                       "mov.u32 %r8, 1000;\n" +
                       std::string(one.instruction) +
                       "\nst.global.b32 [%rd1], %r7;";
    Simple s = runBody(text);
    expectClean(s.result);
    EXPECT_EQ(s.out[3], one.result) << one.instruction;
    if (hasAssembler()) {
      EXPECT_TRUE(assembles(body(text))) << one.instruction;
    }
  }
}

TEST(MachineVideo, PartsElsewhereAreRefused) {
  for (const char *text : {"add.u32 %r7, %r5.b0, %r6;", "mov.b32 %r7, %r5.h1;",
                           "vadd2.u32.u32.u32 %r7, %r5.h1, %r6, %r8;",
                           "vadd.u32.u32.u32.add %r7.b0, %r5, %r6, %r8;",
                           "vadd.u32.u32.u32 %r7.b0, %r5, %r6;",
                           "vadd.u32.u32.u32 %r7, %r5, %r6, %r8;"}) {
    Simple s = runBody(std::string("mov.u32 %r5, 1;\nmov.u32 %r6, 2;\n"
                                   "mov.u32 %r8, 3;\n") +
                       text);
    EXPECT_EQ(firstKind(s.result), FindingKind::Unsupported) << text;
  }
}
