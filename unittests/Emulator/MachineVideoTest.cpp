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
