//===- MeasuredTest.cpp - what an H100 computes ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bits that test/Hardware measured on an H100 (driver 580.159, ptxas 13.0), of
// everything in which the emulator once differed.
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

struct Measured {
  std::string
      instruction; ///< %r10, %h10 or %rd10 and on to %r20, %h20 or %rd20
  std::vector<uint64_t> operands;
  uint64_t result;
};

/// What the emulator makes of it.
uint64_t emulated(const Measured &m) {
  std::string text = "setp.eq.u32 %p1, %r1, 0;\n";
  for (size_t i = 0; i != m.operands.size(); ++i) {
    std::string at = std::to_string(10 + i);
    text += "mov.b64 %rd" + at + ", " + std::to_string(m.operands[i]) +
            ";\ncvt.u32.u64 %r" + at + ", %rd" + at + ";\ncvt.u16.u64 %h" + at +
            ", %rd" + at + ";\n";
  }
  text += m.instruction + ";\n";
  auto uses = [&](const char *name) {
    return m.instruction.find(name) != std::string::npos;
  };
  if (uses("%h20"))
    text += "cvt.u64.u16 %rd20, %h20;\n";
  else if (uses("%r20"))
    text += "cvt.u64.u32 %rd20, %r20;\n";
  text += "@%p1 st.global.b64 [%rd1], %rd20;";
  Simple s =
      runBody(text, {}, 32, 1, {}, 1, ".shared .align 8 .b8 place[8];\n");
  expectClean(s.result);
  return uint64_t(s.out[1]) << 32 | s.out[0];
}

void expectAll(const std::vector<Measured> &all) {
  for (const Measured &m : all) {
    std::string operands;
    for (uint64_t operand : m.operands)
      operands += " " + std::to_string(operand);
    EXPECT_EQ(emulated(m), m.result) << m.instruction << operands;
  }
}

} // namespace

TEST(Measured, BitFieldsOf64BitsHaveLongPositions) {
  expectAll({
      {"bfe.u64 %rd20, %rd10, %r11, %r12",
       {0x837d47a6f2b31ead, 0x10e, 0xe9},
       0},
      {"bfe.s64 %rd20, %rd10, %r11, %r12",
       {0x837d47a6f2b31ead, 0x10e, 0xe9},
       ~uint64_t(0)},
      {"bfe.u64 %rd20, %rd10, %r11, %r12", {1, 0, 0x100}, 1},
      {"bfi.b64 %rd20, %rd10, %rd11, %r12, %r13",
       {0x2720747188eccf, 0x14583d25d9d2abfd, 0x11a, 0x8a},
       0x14583d25d9d2abfd},
      {"bfi.b64 %rd20, %rd10, %rd11, %r12, %r13",
       {0x5ce2, 0xada24a923b64f1a0, 0x14, 0x11f},
       0x5ce24f1a0},
  });
}

TEST(Measured, SecondOperationsOfVideo) {
  expectAll({
      {"vadd.s32.s32.s32.min %r20, %r10, %r11, %r12",
       {0x80000001, 0xfffffffd, 3},
       3},
      {"vadd.s32.u32.s32.min %r20, %r10, %r11, %r12",
       {0x80000001, 7, 3},
       0x80000008},
      {"vadd.u32.s32.u32.min %r20, %r10, %r11, %r12", {0x80000001, 7, 3}, 3},
      {"vmin.u32.s32.u32.max %r20, %r10, %r11, %r12",
       {0x80000001, 7, 3},
       0x80000001},
      {"vabsdiff.s32.s32.s32.min %r20, %r10, %r11, %r12",
       {0x80000001, 7, 3},
       3},
  });
}

TEST(Measured, SelectionFlushes) {
  expectAll({
      {"slct.ftz.b32.f32 %r20, %r10, %r11, %r12", {0, 1, 0x80000001}, 0},
      {"slct.b32.f32 %r20, %r10, %r11, %r12", {0, 1, 0x80000001}, 1},
  });
}

TEST(Measured, ZerosAreNormal) {
  for (const char *kind : {"f32 p, %r10", "f64 p, %rd10"})
    expectAll({{"{\n.reg .pred p;\ntestp.normal." + std::string(kind) +
                    ";\nselp.b32 %r20, 1, 0, p;\n}\n mov.b32 %r20, %r20",
                {0},
                1}});
}

TEST(Measured, ZerosRoundedDown) {
  expectAll({
      {"add.rm.f32 %r20, %r10, %r11", {0, 0x80000000}, 0x80000000},
      {"add.rm.ftz.f32 %r20, %r10, %r11", {0, 0x80000001}, 0x80000000},
      {"sub.rm.f32 %r20, %r10, %r11", {0, 0}, 0x80000000},
      {"fma.rm.ftz.f32 %r20, %r10, %r11, %r12",
       {0, 0x7fffff, 0x80000001},
       0x80000000},
      {"add.rn.f32 %r20, %r10, %r11", {0, 0x80000000}, 0},
  });
}

TEST(Measured, WhatIsFlushedIsTinyAfterRounding) {
  expectAll({
      {"mul.ftz.f32 %r20, %r10, %r11", {0x800000, 0x3f7fffff}, 0},
      {"mul.rm.ftz.f32 %r20, %r10, %r11", {0x800000, 0xbf7fffff}, 0x80000000},
      {"div.rp.ftz.f32 %r20, %r10, %r11", {0x800000, 0x3f800001}, 0},
      {"mul.ftz.f16 %h20, %h10, %h11", {0x400, 0xbbff}, 0x8000},
      {"fma.rn.ftz.f16 %h20, %h10, %h11, %h12", {0xbbff, 0x8400, 1}, 0},
      {"fma.rn.ftz.f16 %h20, %h10, %h11, %h12", {0x401, 0x401, 0x8400}, 0x8400},
      {"ex2.approx.ftz.bf16 %h20, %h10", {0xc2fd}, 0},
  });
}

TEST(Measured, SignsOfNan) {
  expectAll({
      {"neg.f32 %r20, %r10", {0x7fc00000}, 0x7fffffff},
      {"abs.f32 %r20, %r10", {0xff800001}, 0x7fffffff},
      {"neg.f16 %h20, %h10", {0x7c01}, 0x7fff},
      {"abs.ftz.f16 %h20, %h10", {0x8001}, 0},
      {"neg.ftz.f16 %h20, %h10", {1}, 0x8000},
      {"neg.bf16 %h20, %h10", {0x7f81}, 0x7fff},
      {"neg.f64 %rd20, %rd10", {0x7ff0000000000001}, 0x7ff8000000000001},
      {"abs.f64 %rd20, %rd10", {0xfff8000000000000}, 0xfff8000000000000},
      {"sub.f64 %rd20, %rd10, %rd11",
       {0, 0x7ff0000000000001},
       0x7ff8000000000001},
      {"add.f64 %rd20, %rd10, %rd11",
       {0x7ff8000000000000, 0x7fffffffffffffff},
       0x7fffffffffffffff},
  });
}

TEST(Measured, OneNanOfTensorCores) {
  // Infinity times zero, and a NaN with bits of its own in C.
  const char *product = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                        "{%r20, %r21, %r22, %r23}, {%r10, %r10}, {%r11}, "
                        "{%r12, %r12, %r12, %r12}";
  expectAll({
      {product, {0x7c007c00, 0, 0}, 0x7fffffff},
      {product, {0x3c003c00, 0x3c003c00, 0xffc00005}, 0x7fffffff},
  });
}

TEST(Measured, FactorsThatCopiesFilledIn) {
  expectAll({
      {"fma.rn.oob.f16 %h20, %h10, %h11, %h12", {0x7ff7, 0x3c00, 0x3c00}, 0},
      {"fma.rn.oob.f16 %h20, %h10, %h11, %h12", {0x7fff, 0xfff7, 0x7ff7}, 0},
      {"fma.rn.oob.f16 %h20, %h10, %h11, %h12", {0, 0x3c00, 0x7ff7}, 0x7fff},
      {"fma.rn.oob.relu.bf16 %h20, %h10, %h11, %h12", {0x7ff7, 0, 0}, 0},
      {"fma.rn.oob.f16 %h20, %h10, %h11, %h12",
       {0x3c00, 0x3c00, 0x3c00},
       0x4000},
      {"fma.rn.f64 %rd20, %rd10, %rd11, %rd12",
       {0x7ff8000000000000, 0x3ff0000000000000, 0xfff0000000000123},
       0xfff8000000000123},
  });
}

TEST(Measured, ApproximateFunctions) {
  expectAll({
      {"div.approx.f32 %r20, %r10, %r11", {0x3f800000, 0xff000000}, 0x80000000},
      {"div.approx.ftz.f32 %r20, %r10, %r11",
       {0x7f800000, 0x7f000001},
       0x7fffffff},
      {"rcp.approx.ftz.f64 %rd20, %rd10",
       {0x3ff8000000000000},
       0x3fe5555500000000},
      {"rcp.approx.ftz.f64 %rd20, %rd10",
       {0xfffffffffffff},
       0x7ff0000000000000},
      {"rcp.approx.ftz.f64 %rd20, %rd10", {0x7ff0000000000001}, 0},
      {"rsqrt.approx.ftz.f64 %rd20, %rd10",
       {0x8000000000000001},
       0xfff0000000000000},
      {"rsqrt.approx.ftz.f64 %rd20, %rd10",
       {0xbff0000000000000},
       0x7fffffff00000000},
  });
}

TEST(Measured, ConversionsOfNan) {
  expectAll({
      {"cvt.rn.f32.f64 %r20, %rd10", {0x7ff668940847b9e5}, 0x7ff344a0},
      {"cvt.rn.f16.f64 %h20, %rd10", {0x7ff0000000000001}, 0x7e00},
      {"cvt.rz.bf16.f64 %h20, %rd10", {0xfff8000000000000}, 0xffc0},
      {"cvt.f64.f16 %rd20, %h10", {0x7c01}, 0x7ff8040000000000},
      {"cvt.ftz.f64.f32 %rd20, %r10", {0xff800001}, 0x7fffffffe0000000},
      {"cvt.rn.f32.bf16 %r20, %h10", {0x7f81}, 0x7f810000},
      {"cvt.rna.tf32.f32 %r20, %r10", {0x7f81363d}, 0x7f812000},
      {"cvt.rna.tf32.f32 %r20, %r10", {0x7f800001}, 0x7f800000},
      {"cvt.rni.f32.f32 %r20, %r10", {0x7fc00000}, 0x7fffffff},
  });
}

TEST(Measured, IntegersSaturateToOne) {
  expectAll({
      {"cvt.rn.sat.f64.u32 %rd20, %r10", {3}, 0x3ff0000000000000},
      {"cvt.rn.sat.f64.s32 %rd20, %r10", {0xffffffff}, 0},
  });
}

TEST(Measured, SumsInMemory) {
  auto shared = [](const std::string &type, const std::string &bits,
                   const std::string &reg) {
    return "st.shared.b" + bits + " [place], " + reg + "10;\nbar.sync 0;\n" +
           "@%p1 red.shared.add." + type + " [place], " + reg +
           "11;\nbar.sync 0;\nld.shared.b" + bits + " " + reg + "20, [place]";
  };
  auto global = [](const std::string &type, const std::string &bits,
                   const std::string &reg) {
    return "@%p1 st.global.b" + bits + " [%rd1], " + reg +
           "10;\n@%p1 red.global.add." + type + " [%rd1], " + reg +
           "11;\n@%p1 ld.global.b" + bits + " " + reg + "20, [%rd1]";
  };
  expectAll({
      {shared("f32", "32", "%r"), {0, 1}, 1},
      {global("f32", "32", "%r"), {0, 1}, 0},
      {global("f32", "32", "%r"), {0x800000, 0x80800001}, 0x80000000},
      {shared("f64", "64", "%rd"),
       {0x7ff0000000000001, 0x7ff8000000000005},
       0x7ff8000000000001},
      {global("f64", "64", "%rd"),
       {0x7ff8000000000000, 0xfff0000000000001},
       0xfff0000000000001},
      {"@%p1 st.global.b32 [%rd1], %r10;\n@%p1 red.global.v2.f16.min.noftz "
       "[%rd1], {%h11, %h12};\n@%p1 ld.global.b32 %r20, [%rd1]",
       {0x80000000, 0x8000, 0},
       0x80008000},
  });
}
