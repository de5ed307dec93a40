//===- MachineAluTest.cpp - integer and float instructions ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected values come from the rules of the PTX ISA, section 9.7.
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// One instruction that leaves its result in %r10.
struct Case {
  const char *instructions;
  uint32_t expected;
};

class Alu : public testing::TestWithParam<Case> {};

TEST_P(Alu, Result) {
  Simple s = runBody(std::string(GetParam().instructions) +
                     "\nst.global.b32 [%rd1], %r10;");
  expectClean(s.result);
  EXPECT_EQ(s.out[0], GetParam().expected) << GetParam().instructions;
  EXPECT_EQ(s.out[31], GetParam().expected) << GetParam().instructions;
}

INSTANTIATE_TEST_SUITE_P(
    Integer, Alu,
    testing::Values(
        Case{
            "mov.b32 %r5, 0x80000000; mov.b32 %r6, 32; shl.b32 %r10, %r5, %r6;",
            0},
        Case{"mov.b32 %r5, 0x80000000; shr.s32 %r10, %r5, 255;", 0xFFFFFFFF},
        Case{"mov.b32 %r5, 0x80000000; shr.u32 %r10, %r5, 31;", 1},
        Case{"mov.b32 %r5, 0x12345678; mov.b32 %r6, 0x9ABCDEF0; shf.l.wrap.b32 "
             "%r10, %r5, %r6, 40;",
             0xBCDEF012},
        Case{"mov.b32 %r5, 0x12345678; mov.b32 %r6, 0x9ABCDEF0; "
             "shf.r.clamp.b32 %r10, %r5, %r6, 40;",
             0x9ABCDEF0},
        Case{"mov.b32 %r5, 0xF0000000; bfe.s32 %r10, %r5, 28, 8;", 0xFFFFFFFF},
        Case{"mov.b32 %r5, 0xF0000000; bfe.u32 %r10, %r5, 28, 8;", 0xF},
        Case{
            "mov.b32 %r5, 0xABC; mov.b32 %r6, 0; bfi.b32 %r10, %r5, %r6, 8, 8;",
            0xBC00},
        Case{"mov.b32 %r5, 0xFFFFFFFF; mul.hi.u32 %r10, %r5, %r5;", 0xFFFFFFFE},
        Case{"mov.b32 %r5, 0xFFFFFFFF; mul.hi.s32 %r10, %r5, %r5;", 0},
        Case{"mov.b32 %r5, -7; div.s32 %r10, %r5, 2;", 0xFFFFFFFD},
        Case{"mov.b32 %r5, -7; rem.s32 %r10, %r5, 2;", 0xFFFFFFFF},
        Case{"mov.b32 %r5, 0x80000000; abs.s32 %r10, %r5;", 0x80000000},
        Case{"mov.b32 %r5, 0x33221100; mov.b32 %r6, 0x77665544; prmt.b32 %r10, "
             "%r5, %r6, 0x7250;",
             0x77225500},
        Case{"mov.b32 %r5, 0x80; mov.b32 %r6, 0; prmt.b32 %r10, %r5, %r6, "
             "0x8880;",
             0xFFFFFF80},
        Case{"mov.b32 %r5, 0xF0F0F0F0; mov.b32 %r6, 0xCCCCCCCC; mov.b32 %r7, "
             "0xAAAAAAAA; lop3.b32 %r10, %r5, %r6, %r7, 0x96;",
             0xF0F0F0F0 ^ 0xCCCCCCCC ^ 0xAAAAAAAA},
        Case{"mov.b32 %r5, 0; clz.b32 %r10, %r5;", 32},
        Case{"mov.b32 %r5, 0; bfind.u32 %r10, %r5;", 0xFFFFFFFF},
        Case{"mov.b32 %r5, 0x00F0; popc.b32 %r10, %r5;", 4},
        Case{"mov.b32 %r5, 0x01020304; mov.b32 %r6, 0xFF010101; dp4a.u32.s32 "
             "%r10, %r5, %r6, 10;",
             18},
        Case{"mov.b32 %r5, -1; mov.b32 %r6, 1; add.cc.u32 %r7, %r5, %r6; "
             "addc.u32 %r10, 5, 0;",
             6}));

INSTANTIATE_TEST_SUITE_P(
    Float, Alu,
    testing::Values(
        // NaN loses in min and max, -0 is below +0.
        Case{"mov.b32 %r5, 0x7FC00000; mov.b32 %r6, 0x3F800000; min.f32 %r10, "
             "%r5, %r6;",
             0x3F800000},
        Case{"mov.b32 %r5, 0x7FC00000; mov.b32 %r6, 0x3F800000; min.NaN.f32 "
             "%r10, %r5, %r6;",
             0x7FFFFFFF},
        Case{"mov.b32 %r5, 0x80000000; mov.b32 %r6, 0; max.f32 %r10, %r5, %r6;",
             0},
        // Magnitudes of three: the largest is the first, or the last, or a NaN.
        Case{"mov.b32 %r5, 0xC0400000; mov.b32 %r6, 0x3F800000; "
             "max.NaN.abs.f32 %r10, %r5, %r6, %r6;",
             0x40400000},
        Case{"mov.b32 %r5, 0x3F800000; mov.b32 %r6, 0xFF800000; "
             "max.NaN.abs.f32 %r10, %r5, %r5, %r6;",
             0x7F800000},
        Case{"mov.b32 %r5, 0xFFC00000; mov.b32 %r6, 0x7F800000; "
             "max.NaN.abs.f32 %r10, %r6, %r5, %r6;",
             0x7FFFFFFF},
        // 1 + 2^-24 (1 ulp is 2^-23): a tie to nearest even.
        Case{"mov.b32 %r5, 0x3F800000; mov.b32 %r6, 0x33800000; add.rn.f32 "
             "%r10, %r5, %r6;",
             0x3F800000},
        Case{"mov.b32 %r5, 0x3F800000; mov.b32 %r6, 0x33800000; add.rp.f32 "
             "%r10, %r5, %r6;",
             0x3F800001},
        Case{"mov.b32 %r5, 0x3F800000; mov.b32 %r6, 0xB3800000; add.rz.f32 "
             "%r10, %r5, %r6;",
             0x3F7FFFFF},
        // (1 + 2^-23)^2 - (1 + 2^-22) = 2^-46 only with one rounding.
        Case{"mov.b32 %r5, 0x3F800001; mov.b32 %r6, 0xBF800002; fma.rn.f32 "
             "%r10, %r5, %r5, %r6;",
             0x28800000},
        Case{"mov.b32 %r5, 0x00000001; mov.b32 %r6, 0x3F800000; mul.f32 %r10, "
             "%r5, %r6;",
             1},
        Case{"mov.b32 %r5, 0x00000001; mov.b32 %r6, 0x3F800000; mul.ftz.f32 "
             "%r10, %r5, %r6;",
             0},
        Case{"mov.b32 %r5, 0x40000000; mul.sat.f32 %r10, %r5, %r5;",
             0x3F800000},
        Case{"mov.b32 %r5, 0x3F800000; mov.b32 %r6, 0x40400000; div.rn.f32 "
             "%r10, %r5, %r6;",
             0x3EAAAAAB},
        Case{"mov.b32 %r5, 0x3F800000; mov.b32 %r6, 0x40400000; div.rz.f32 "
             "%r10, %r5, %r6;",
             0x3EAAAAAA},
        Case{"mov.b32 %r5, 0; ex2.approx.f32 %r10, %r5;", 0x3F800000},
        // 1 + 2^-11 in f16 is a tie; lanes are independent.
        Case{"mov.b32 %r5, 0x3C003C00; mov.b32 %r6, 0x14001000; add.rn.f16x2 "
             "%r10, %r5, %r6;",
             0x3C013C00},
        Case{"mov.b32 %r5, 0x3F803F80; mov.b32 %r6, 0x3F804000; mul.rn.bf16x2 "
             "%r10, %r5, %r6;",
             0x3F804000}));

INSTANTIATE_TEST_SUITE_P(
    Convert, Alu,
    testing::Values(
        Case{"mov.b32 %r5, 0x4F800000; cvt.rzi.s32.f32 %r10, %r5;", 0x7FFFFFFF},
        Case{"mov.b32 %r5, 0x7FC00000; cvt.rzi.s32.f32 %r10, %r5;", 0},
        Case{"mov.b32 %r5, 0xBFC00000; cvt.rni.s32.f32 %r10, %r5;", 0xFFFFFFFE},
        Case{"mov.b32 %r5, 0xBFC00000; cvt.rzi.u32.f32 %r10, %r5;", 0},
        Case{"mov.b32 %r5, 16777217; cvt.rn.f32.u32 %r10, %r5;", 0x4B800000},
        Case{"mov.b32 %r5, 300; cvt.u8.u32 %r10, %r5;", 44},
        Case{"mov.b32 %r5, 0x1FF; cvt.s8.s32 %r10, %r5;", 0xFFFFFFFF},
        Case{"mov.b32 %r5, 300; cvt.sat.u8.u32 %r10, %r5;", 255},
        // Operand a of a packed conversion goes to the upper half.
        Case{"mov.b32 %r5, 0x3F800000; mov.b32 %r6, 0x40000000; "
             "cvt.rn.bf16x2.f32 %r10, %r5, %r6;",
             0x3F804000},
        Case{"mov.b32 %r5, 0x3F800000; mov.b32 %r6, 0x40000000; "
             "cvt.rn.f16x2.f32 %r10, %r5, %r6;",
             0x3C004000},
        Case{
            "mov.b32 %r5, 0x3F800000; mov.b32 %r6, 0x40000000; "
            "cvt.rn.satfinite.e4m3x2.f32 %h1, %r5, %r6; cvt.u32.u16 %r10, %h1;",
            0x3840},
        Case{"mov.b32 %r5, 0x3F802000; cvt.rna.tf32.f32 %r10, %r5;",
             0x3F802000}));

TEST(MachineAlu, PackAndUnpack) {
  Simple s = runBody("mov.b64 %rd10, {0x11111111, 0x22222222};\n"
                     "mov.b64 {_, %r10}, %rd10;\nmov.b32 {%h1, %h2}, %r10;\n"
                     "mov.b32 %r11, {%h2, 7};\nst.global.b32 [%rd1], %r11;");
  expectClean(s.result);
  EXPECT_EQ(s.out[0], 0x00072222u);
}

TEST(MachineAlu, SetpGivesBothPredicates) {
  // q is (not cmp) combined with c; unordered comparison of NaN.
  Simple s = runBody("setp.ne.u32 %p3, %r1, 0;\nmov.b32 %r5, 0x7FC00000;\n"
                     "setp.ltu.and.f32 %p1|%p2, %r5, %r5, %p3;\n"
                     "selp.b32 %r10, 1, 0, %p1;\nselp.b32 %r11, 2, 0, !%p2;\n"
                     "or.b32 %r10, %r10, %r11;\nst.global.b32 [%rd1], %r10;");
  expectClean(s.result);
  EXPECT_EQ(s.out[0], 2u);
  EXPECT_EQ(s.out[1], 3u);
}

TEST(MachineAlu, DivisionByZeroIsReported) {
  Simple s = runBody("div.u32 %r10, 1, %r1;\nst.global.b32 [%rd1], %r10;");
  ASSERT_EQ(firstKind(s.result), FindingKind::Arithmetic);
  EXPECT_EQ(s.result.findings[0].lane, 0);
}

// PTX ISA, mul24 and mad24: the low 24 bits of each operand, and 32 of the 48
// bits of the product.
TEST(MachineAlu, ProductsOf24Bits) {
  auto value = [](const std::string &instruction) {
    return runBody("mov.b32 %r10, 0xAB800001;\nmov.b32 %r11, 0x12345678;\n"
                   "mov.b32 %r12, 0x7FFFFFFF;\n" +
                   instruction + "\nst.global.u32 [%rd1], %r20;")
        .out[0];
  };
  // 0x800001 * 0x345678 = 0x1A2B3C345678; signed, the first is -0x7FFFFF, and
  // the product -0x1A2B3BCBA988.
  EXPECT_EQ(value("mul24.lo.u32 %r20, %r10, %r11;"), 0x3C345678u);
  EXPECT_EQ(value("mul24.hi.u32 %r20, %r10, %r11;"), 0x1A2B3C34u);
  EXPECT_EQ(value("mul24.lo.s32 %r20, %r10, %r11;"), 0xC4345678u);
  EXPECT_EQ(value("mul24.hi.s32 %r20, %r10, %r11;"), 0xE5D4C434u);
  EXPECT_EQ(value("mad24.lo.u32 %r20, %r10, %r11, %r10;"), 0xE7B45679u);
  EXPECT_EQ(value("mad24.hi.s32 %r20, %r10, %r11, %r12;"), 0x65D4C433u);
  EXPECT_EQ(value("mad24.hi.sat.s32 %r20, %r11, %r11, %r12;"), 0x7FFFFFFFu);
}

} // namespace
