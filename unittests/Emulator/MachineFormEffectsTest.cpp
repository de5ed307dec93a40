//===- MachineFormEffectsTest.cpp - what every form of real kernels does --===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MachineFormsTest runs each row of instruction-forms.csv; here is what the row
// must do, worked out by hand. The rows whose effect another test checks, and
// those that have none, are listed at the end.
//
//===----------------------------------------------------------------------===//

#include "CudaHarness.h"
#include "PtxFormRows.h"

#include <map>
#include <set>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// A form, a program that ends with its result, and the result in lanes 0 and
/// 31. The program leaves the result in %rd50, %r50, %rs50, %f50 or %p5: `d`,
/// `w`, `h`, `f`, `p`.
struct Effect {
  const char *form, *text;
  char kind;
  uint64_t first, last;

  Effect(const char *form, const char *text, char kind, uint64_t result)
      : Effect(form, text, kind, result, result) {}
  Effect(const char *form, const char *text, char kind, uint64_t first,
         uint64_t last)
      : form(form), text(text), kind(kind), first(first), last(last) {}
};

// %rs1 = 0x8001, %rs2 = 3; %r1 = -10, %r2 = 7, %r3 = 0x12345678, %r4 = lane;
// %rd1 = -6, %rd2 = 0x100000003; %f1 = 1.5, %f2 = -2; %p1 true, %p2 false.
// Byte i of `blob` and of the memory at %rd10 is i + 1. %rd11, %r11 and `stack`
// are 64 bytes of the thread in global, shared and local memory, all zero.
const Effect kEffects[] = {
    {"add.s16", "add.s16 %rs50, %rs1, %rs2;", 'h', 0x8004},
    {"add.s32", "add.s32 %r50, %r1, %r2;", 'w', 0xFFFFFFFD},
    {"add.s64", "add.s64 %rd50, %rd1, %rd2;", 'd', 0xFFFFFFFD},
    {"add.u64", "add.u64 %rd50, %rd2, 1;", 'd', 0x100000004},
    {"and.b16", "and.b16 %rs50, %rs1, %rs2;", 'h', 1},
    {"and.b32", "and.b32 %r50, %r3, %r1;", 'w', 0x12345670},
    {"and.b64", "and.b64 %rd50, %rd1, %rd2;", 'd', 0x100000002},
    {"and.pred", "and.pred %p5, %p1, %p2;", 'p', 0},
    {"bfe.u32", "bfe.u32 %r50, %r3, 8, 12;", 'w', 0x456},
    {"bra", "mov.u32 %r50, 1;\nbra L;\nmov.u32 %r50, 2;\nL:", 'w', 1},
    {"bra.uni", "mov.u32 %r50, 1;\nbra.uni L;\nmov.u32 %r50, 2;\nL:", 'w', 1},
    {"call.uni",
     "{ .param .b64 p0; .param .b64 q0;\nst.param.b64 [p0], %rd2;\n"
     "call.uni (q0), next, (p0);\nld.param.b64 %rd50, [q0]; }",
     'd', 0x100000004},
    {"cvt.rn.bf16x2.f32", "cvt.rn.bf16x2.f32 %r50, %f1, %f2;", 'w', 0x3FC0C000},
    {"cvt.s64.s32", "cvt.s64.s32 %rd50, %r1;", 'd', 0xFFFFFFFFFFFFFFF6},
    {"cvt.u16.u32", "cvt.u16.u32 %rs50, %r3;", 'h', 0x5678},
    {"cvt.u32.u16", "cvt.u32.u16 %r50, %rs1;", 'w', 0x8001},
    {"cvt.u32.u64", "cvt.u32.u64 %r50, %rd2;", 'w', 3},
    {"cvt.u64.u16", "cvt.u64.u16 %rd50, %rs1;", 'd', 0x8001},
    {"cvt.u64.u32", "cvt.u64.u32 %rd50, %r1;", 'd', 0xFFFFFFF6},
    {"cvta.global.u64",
     "mov.u64 %rd40, bytes;\ncvta.global.u64 %rd40, %rd40;\n"
     "ld.u32 %r50, [%rd40];",
     'w', 0x44332211},
    {"cvta.param.u64",
     "mov.b64 %rd40, blob;\ncvta.param.u64 %rd40, %rd40;\n"
     "ld.u32 %r50, [%rd40+4];",
     'w', 0x08070605},
    {"cvta.to.global.u64",
     "cvta.to.global.u64 %rd40, %rd10;\nld.global.u32 %r50, [%rd40+4];", 'w',
     0x08070605},
    {"div.s32", "div.s32 %r50, %r1, %r2;", 'w', 0xFFFFFFFF},
    {"div.u16", "div.u16 %rs50, %rs1, %rs2;", 'h', 0x2AAB},
    {"elect.sync", "elect.sync %r50|%p5, -1;", 'p', 1, 0},
    {"fma.rn.f32", "fma.rn.f32 %f50, %f1, %f2, %f1;", 'f', 0xBFC00000},
    {"ld.global.f32", "ld.global.f32 %f50, [%rd10+4];", 'f', 0x08070605},
    {"ld.global.u32", "ld.global.u32 %r50, [%rd10+8];", 'w', 0x0C0B0A09},
    {"ld.global.u8", "ld.global.u8 %r50, [%rd10+5];", 'w', 6},
    {"ld.global.v4.u32",
     "ld.global.v4.u32 {%r40, %r41, %r50, %r43}, [%rd10+16];", 'w', 0x1C1B1A19},
    {"ld.local.u32",
     "st.local.u32 [stack+4], %r3;\nld.local.u32 %r50, "
     "[stack+4];",
     'w', 0x12345678},
    {"ld.param.f32", "ld.param.f32 %f50, [blob+4];", 'f', 0x08070605},
    {"ld.param.u32", "ld.param.u32 %r50, [blob+8];", 'w', 0x0C0B0A09},
    {"ld.param.u64", "ld.param.u64 %rd50, [blob+8];", 'd', 0x100F0E0D0C0B0A09},
    {"ld.param.v2.u32", "ld.param.v2.u32 {%r40, %r50}, [blob+8];", 'w',
     0x100F0E0D},
    {"ld.param.v2.u64", "ld.param.v2.u64 {%rd40, %rd50}, [blob+16];", 'd',
     0x201F1E1D1C1B1A19},
    {"ld.param.v4.u32", "ld.param.v4.u32 {%r40, %r41, %r42, %r50}, [blob+16];",
     'w', 0x201F1E1D},
    {"ld.shared.b128",
     "st.shared.v4.b32 [%r11], {%r1, %r2, %r3, %r2};\n"
     "ld.shared.b128 %q1, [%r11];\nmov.b128 {%rd40, %rd50}, %q1;",
     'd', 0x0000000712345678},
    {"ld.shared.u32",
     "st.shared.u32 [%r11+4], %r3;\nld.shared.u32 %r50, "
     "[%r11+4];",
     'w', 0x12345678},
    {"ld.shared.u8",
     "st.shared.u32 [%r11+4], %r3;\nld.shared.u8 %r50, "
     "[%r11+6];",
     'w', 0x34},
    {"ld.shared.v2.u64",
     "st.shared.v4.b32 [%r11], {%r1, %r2, %r3, %r2};\n"
     "ld.shared.v2.u64 {%rd50, %rd40}, [%r11];",
     'd', 0x00000007FFFFFFF6},
    {"ld.shared.v4.b32",
     "st.shared.v4.b32 [%r11], {%r1, %r2, %r3, %r4};\n"
     "ld.shared.v4.b32 {%r40, %r41, %r42, %r50}, [%r11];",
     'w', 0, 31},
    {"ld.shared.v4.u32",
     "st.shared.v4.b32 [%r11], {%r1, %r2, %r3, %r4};\n"
     "ld.shared.v4.u32 {%r40, %r50, %r42, %r43}, [%r11];",
     'w', 7},
    // Word i of a row of 16 bytes is its number among all words; matrix j gives
    // lane t the word 32 j + t.
    {"ldmatrix.sync.aligned.x2.m8n8.shared.b16",
     "ldmatrix.sync.aligned.x2.m8n8.shared.b16 {%r40, %r50}, [%r13];", 'w', 32,
     63},
    {"ldmatrix.sync.aligned.x4.m8n8.shared.b16",
     "ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r40, %r41, %r42, %r50}, "
     "[%r13];",
     'w', 96, 127},
    {"mad.lo.s32", "mad.lo.s32 %r50, %r1, %r2, %r3;", 'w', 0x12345632},
    {"mad.lo.s64", "mad.lo.s64 %rd50, %rd1, %rd2, %rd1;", 'd',
     0xFFFFFFF9FFFFFFE8},
    {"max.s32", "max.s32 %r50, %r1, %r2;", 'w', 7},
    {"max.u32", "max.u32 %r50, %r1, %r2;", 'w', 0xFFFFFFF6},
    {"min.s32", "min.s32 %r50, %r1, %r2;", 'w', 0xFFFFFFF6},
    {"min.u32", "min.u32 %r50, %r1, %r2;", 'w', 7},
    // Barriers of one thread: a phase ends with its last arrival and its bytes.
    {"mbarrier.init.shared::cta.b64",
     "mbarrier.init.shared::cta.b64 [%r11], 2;\n"
     "mbarrier.arrive.shared::cta.b64 _, [%r11];\n"
     "mbarrier.test_wait.parity.shared::cta.b64 %p5, [%r11], 0;",
     'p', 0},
    {"mbarrier.arrive.shared::cta.b64",
     "mbarrier.init.shared::cta.b64 [%r11], 2;\n"
     "mbarrier.arrive.shared::cta.b64 _, [%r11];\n"
     "mbarrier.arrive.shared::cta.b64 _, [%r11];\n"
     "mbarrier.test_wait.parity.shared::cta.b64 %p5, [%r11], 0;",
     'p', 1},
    {"mbarrier.arrive.shared::cluster.b64",
     "mbarrier.init.shared::cta.b64 [%r11], 1;\n"
     "mbarrier.arrive.shared::cluster.b64 _, [%r11];\n"
     "mbarrier.test_wait.parity.shared::cta.b64 %p5, [%r11], 0;",
     'p', 1},
    {"mbarrier.test_wait.parity.shared::cta.b64",
     "mbarrier.init.shared::cta.b64 [%r11], 1;\n"
     "mbarrier.test_wait.parity.shared::cta.b64 %p5, [%r11], 1;",
     'p', 1},
    {"mbarrier.try_wait.parity.shared::cta.b64",
     "mbarrier.init.shared::cta.b64 [%r11], 1;\n"
     "mbarrier.arrive.shared::cta.b64 _, [%r11];\n"
     "mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r11], 0;",
     'p', 1},
    {"mbarrier.expect_tx.shared::cta.b64",
     "mbarrier.init.shared::cta.b64 [%r11], 1;\n"
     "mbarrier.expect_tx.shared::cta.b64 [%r11], 16;\n"
     "mbarrier.arrive.shared::cta.b64 _, [%r11];\n"
     "mbarrier.test_wait.parity.shared::cta.b64 %p5, [%r11], 0;\n"
     "mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%r11], 16;",
     'p', 0},
    {"mbarrier.arrive.expect_tx.shared::cta.b64",
     "mbarrier.init.shared::cta.b64 [%r11], 1;\n"
     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 16;\n"
     "mbarrier.test_wait.parity.shared::cta.b64 %p5, [%r11], 0;\n"
     "mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%r11], 16;",
     'p', 0},
    {"mbarrier.arrive.expect_tx.shared::cluster.b64",
     "mbarrier.init.shared::cta.b64 [%r11], 1;\n"
     "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%r11], 16;\n"
     "mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%r11], 16;\n"
     "mbarrier.test_wait.parity.shared::cta.b64 %p5, [%r11], 0;",
     'p', 1},
    {"mov.b16", "mov.b16 %rs50, %rs1;", 'h', 0x8001},
    {"mov.b32", "mov.b32 %r50, %r3;", 'w', 0x12345678},
    {"mov.b64", "mov.b64 %rd50, {%r2, %r3};", 'd', 0x1234567800000007},
    {"mov.f32", "mov.f32 %f50, %f2;", 'f', 0xC0000000},
    {"mov.pred", "mov.pred %p5, %p1;", 'p', 1},
    {"mov.s32", "mov.s32 %r50, %r1;", 'w', 0xFFFFFFF6},
    {"mov.u16", "mov.u16 %rs50, %rs2;", 'h', 3},
    {"mov.u32", "mov.u32 %r50, %laneid;", 'w', 0, 31},
    {"mov.u64", "mov.u64 %rd50, %rd2;", 'd', 0x100000003},
    {"mul.f32", "mul.f32 %f50, %f1, %f2;", 'f', 0xC0400000},
    {"mul.hi.s32", "mul.hi.s32 %r50, %r1, %r2;", 'w', 0xFFFFFFFF},
    {"mul.hi.u32", "mul.hi.u32 %r50, %r1, %r2;", 'w', 6},
    {"mul.lo.s16", "mul.lo.s16 %rs50, %rs1, %rs2;", 'h', 0x8003},
    {"mul.lo.s32", "mul.lo.s32 %r50, %r1, %r2;", 'w', 0xFFFFFFBA},
    {"mul.lo.s64", "mul.lo.s64 %rd50, %rd1, %rd2;", 'd', 0xFFFFFFF9FFFFFFEE},
    {"mul.wide.s32", "mul.wide.s32 %rd50, %r1, %r2;", 'd', 0xFFFFFFFFFFFFFFBA},
    {"mul.wide.u16", "mul.wide.u16 %r50, %rs1, %rs2;", 'w', 0x18003},
    {"mul.wide.u32", "mul.wide.u32 %rd50, %r1, %r2;", 'd', 0x6FFFFFFBA},
    {"neg.s32", "neg.s32 %r50, %r1;", 'w', 10},
    {"not.b32", "not.b32 %r50, %r3;", 'w', 0xEDCBA987},
    {"not.pred", "not.pred %p5, %p1;", 'p', 0},
    {"or.b16", "or.b16 %rs50, %rs1, %rs2;", 'h', 0x8003},
    {"or.b32", "or.b32 %r50, %r3, %r2;", 'w', 0x1234567F},
    {"or.b64", "or.b64 %rd50, %rd1, %rd2;", 'd', 0xFFFFFFFFFFFFFFFB},
    {"or.pred", "or.pred %p5, %p1, %p2;", 'p', 1},
    {"prmt.b32", "prmt.b32 %r50, %r3, %r1, 0x5140;", 'w', 0xFF56F678},
    {"rem.s32", "rem.s32 %r50, %r1, %r2;", 'w', 0xFFFFFFFD},
    // The store of the result is never reached.
    {"ret", "mov.u32 %r50, 1;\nret;", 'w', 0xAAAAAAAAAAAAAAAA},
    {"selp.b16", "selp.b16 %rs50, %rs1, %rs2, %p1;", 'h', 0x8001},
    {"selp.b32", "selp.b32 %r50, %r1, %r2, %p2;", 'w', 7},
    {"selp.b64", "selp.b64 %rd50, %rd1, %rd2, %p2;", 'd', 0x100000003},
    {"selp.s32", "selp.s32 %r50, %r1, %r2, %p1;", 'w', 0xFFFFFFF6},
    {"selp.u16", "selp.u16 %rs50, %rs1, %rs2, %p2;", 'h', 3},
    {"selp.u32", "selp.u32 %r50, %r3, %r2, %p1;", 'w', 0x12345678},
    {"setp.eq.b32", "setp.eq.b32 %p5, %r1, %r2;", 'p', 0},
    {"setp.eq.b64", "setp.eq.b64 %p5, %rd1, -6;", 'p', 1},
    {"setp.eq.f32", "setp.eq.f32 %p5, %f1, 0f3FC00000;", 'p', 1},
    {"setp.eq.s16", "setp.eq.s16 %p5, %rs1, %rs2;", 'p', 0},
    {"setp.eq.s32", "setp.eq.s32 %p5, %r1, -10;", 'p', 1},
    {"setp.eq.s64", "setp.eq.s64 %p5, %rd1, %rd2;", 'p', 0},
    {"setp.eq.u32", "setp.eq.u32 %p5, %r4, 31;", 'p', 0, 1},
    {"setp.ge.s32", "setp.ge.s32 %p5, %r1, %r2;", 'p', 0},
    {"setp.ge.u32", "setp.ge.u32 %p5, %r1, %r2;", 'p', 1},
    {"setp.gt.s32", "setp.gt.s32 %p5, %r1, %r2;", 'p', 0},
    {"setp.gt.u32", "setp.gt.u32 %p5, %r1, %r2;", 'p', 1},
    {"setp.le.s32", "setp.le.s32 %p5, %r1, %r2;", 'p', 1},
    {"setp.lt.s32", "setp.lt.s32 %p5, %r1, %r2;", 'p', 1},
    {"setp.lt.u32", "setp.lt.u32 %p5, %r1, %r2;", 'p', 0},
    {"setp.ne.b32", "setp.ne.b32 %p5, %r1, %r2;", 'p', 1},
    {"setp.ne.s16", "setp.ne.s16 %p5, %rs2, 3;", 'p', 0},
    {"setp.ne.s32", "setp.ne.s32 %p5, %r2, 7;", 'p', 0},
    {"setp.ne.s64", "setp.ne.s64 %p5, %rd1, %rd2;", 'p', 1},
    {"shfl.sync.idx.b32", "shfl.sync.idx.b32 %r50|%p5, %r4, 7, 31, -1;", 'w',
     7},
    {"shl.b16", "shl.b16 %rs50, %rs1, 4;", 'h', 0x10},
    {"shl.b32", "shl.b32 %r50, %r3, 4;", 'w', 0x23456780},
    {"shl.b64", "shl.b64 %rd50, %rd2, 4;", 'd', 0x1000000030},
    {"shr.s32", "shr.s32 %r50, %r1, 1;", 'w', 0xFFFFFFFB},
    {"shr.s64", "shr.s64 %rd50, %rd1, 1;", 'd', 0xFFFFFFFFFFFFFFFD},
    {"shr.u16", "shr.u16 %rs50, %rs1, 1;", 'h', 0x4000},
    {"shr.u32", "shr.u32 %r50, %r1, 1;", 'w', 0x7FFFFFFB},
    {"shr.u64", "shr.u64 %rd50, %rd1, 1;", 'd', 0x7FFFFFFFFFFFFFFD},
    {"st.global.u8",
     "st.global.u8 [%rd11+3], %r3;\nld.global.u64 %rd50, "
     "[%rd11];",
     'd', 0x78000000},
    {"st.global.v2.u64",
     "st.global.v2.u64 [%rd11], {%rd1, %rd2};\nld.global.u64 %rd50, "
     "[%rd11+8];",
     'd', 0x100000003},
    {"st.global.v4.u32",
     "st.global.v4.u32 [%rd11], {%r1, %r2, %r3, %r1};\n"
     "ld.global.u64 %rd50, [%rd11+8];",
     'd', 0xFFFFFFF612345678},
    {"st.local.u32",
     "st.local.u32 [stack+4], %r3;\nld.local.u64 %rd50, "
     "[stack];",
     'd', 0x1234567800000000},
    {"st.local.v2.u32",
     "st.local.v2.u32 [stack], {%r2, %r3};\nld.local.u64 "
     "%rd50, [stack];",
     'd', 0x1234567800000007},
    {"st.param.b32",
     "{ .param .b32 p0; .param .b32 q0;\nst.param.b32 [p0], %r3;\n"
     "call.uni (q0), next32, (p0);\nld.param.b32 %r50, [q0]; }",
     'w', 0x12345679},
    {"st.param.b64",
     "{ .param .b64 p0; .param .b64 q0;\nst.param.b64 [p0], %rd1;\n"
     "call.uni (q0), next, (p0);\nld.param.b64 %rd50, [q0]; }",
     'd', 0xFFFFFFFFFFFFFFFB},
    {"st.shared.u8",
     "st.shared.u8 [%r11+3], %r3;\nld.shared.u64 %rd50, "
     "[%r11];",
     'd', 0x78000000},
    {"st.shared.v2.u8",
     "st.shared.v2.u8 [%r11+2], {%r3, %r2};\n"
     "ld.shared.u64 %rd50, [%r11];",
     'd', 0x07780000},
    {"st.shared.v4.b32",
     "st.shared.v4.b32 [%r11], {%r1, %r2, %r3, %r1};\n"
     "ld.shared.u64 %rd50, [%r11+8];",
     'd', 0xFFFFFFF612345678},
    {"st.shared.v4.u32",
     "st.shared.v4.u32 [%r11], {%r2, %r1, %r3, %r1};\n"
     "ld.shared.u64 %rd50, [%r11];",
     'd', 0xFFFFFFF600000007},
    {"stmatrix.sync.aligned.x2.m8n8.shared.b16",
     "add.u32 %r40, %r4, 100;\nadd.u32 %r41, %r4, 200;\n"
     "stmatrix.sync.aligned.x2.m8n8.shared.b16 [%r13], {%r40, %r41};\n"
     "bar.warp.sync -1;\nld.shared.u32 %r50, [%r14+128];",
     'w', 200, 231},
    {"sub.s16", "sub.s16 %rs50, %rs1, %rs2;", 'h', 0x7FFE},
    {"sub.s32", "sub.s32 %r50, %r1, %r2;", 'w', 0xFFFFFFEF},
    {"xor.b32", "xor.b32 %r50, %r1, %r3;", 'w', 0xEDCBA98E},
    {"xor.pred", "xor.pred %p5, %p1, %p2;", 'p', 1},
};

const char kPrologue[] = R"(
.global .align 4 .b8 bytes[4] = {0x11, 0x22, 0x33, 0x44};
.func (.param .b64 q) next(.param .b64 a) {
  .reg .b64 %t; ld.param.b64 %t, [a]; add.s64 %t, %t, 1;
  st.param.b64 [q], %t; ret;
}
.func (.param .b32 q) next32(.param .b32 a) {
  .reg .b32 %t; ld.param.b32 %t, [a]; add.s32 %t, %t, 1;
  st.param.b32 [q], %t; ret;
}
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 scratch,
                  .param .align 16 .b8 blob[64]) {
.reg .pred %p<8>; .reg .b16 %rs<64>; .reg .b32 %r<64>; .reg .b32 %f<64>;
.reg .b64 %rd<64>; .reg .b128 %q<4>;
.shared .align 128 .b8 slots[2048];
.shared .align 128 .b8 words[512];
.local .align 16 .b8 stack[64];
mov.b16 %rs1, 0x8001; mov.b16 %rs2, 3;
mov.b32 %r1, -10; mov.b32 %r2, 7; mov.b32 %r3, 0x12345678;
mov.u32 %r4, %tid.x;
mov.b64 %rd1, -6; mov.b64 %rd2, 0x100000003;
mov.b32 %f1, 0f3FC00000; mov.b32 %f2, 0fC0000000;
setp.eq.s32 %p1, %r2, 7; setp.eq.s32 %p2, %r2, 8;
ld.param.u64 %rd10, [in]; ld.param.u64 %rd11, [scratch];
shl.b32 %r12, %r4, 6; cvt.u64.u32 %rd12, %r12; add.s64 %rd11, %rd11, %rd12;
mov.u32 %r11, slots; add.u32 %r11, %r11, %r12;
mov.b32 %r20, 0;
st.shared.v4.b32 [%r11], {%r20, %r20, %r20, %r20};
st.local.v4.b32 [stack], {%r20, %r20, %r20, %r20};
mov.u32 %r13, words; shl.b32 %r15, %r4, 2; add.u32 %r14, %r13, %r15;
st.shared.b32 [%r14], %r4;
add.u32 %r16, %r4, 32; st.shared.b32 [%r14+128], %r16;
add.u32 %r16, %r4, 64; st.shared.b32 [%r14+256], %r16;
add.u32 %r16, %r4, 96; st.shared.b32 [%r14+384], %r16;
shl.b32 %r15, %r4, 4; add.u32 %r13, %r13, %r15;
bar.warp.sync -1;
)";

/// How the result of each kind reaches %rd50.
const char *moveOf(char kind) {
  switch (kind) {
  case 'w':
    return "cvt.u64.u32 %rd50, %r50;";
  case 'h':
    return "cvt.u64.u16 %rd50, %rs50;";
  case 'f':
    return "mov.b32 %r50, %f50;\ncvt.u64.u32 %rd50, %r50;";
  case 'p':
    return "selp.b64 %rd50, 1, 0, %p5;";
  default:
    return "";
  }
}

class MachineFormEffects : public testing::TestWithParam<Effect> {};

TEST_P(MachineFormEffects, Result) {
  const Effect &effect = GetParam();
  std::vector<uint64_t> out(32, 0xAAAAAAAAAAAAAAAA);
  std::vector<uint8_t> in(64), scratch(32 * 64);
  for (size_t i = 0; i != in.size(); ++i)
    in[i] = uint8_t(i + 1);
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 32;
  launch.buffers = {bufferOf(out), bufferOf(in, false), bufferOf(scratch)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0},
                      BufferArgument{2, 0}, in};
  Options options;
  options.strict = false; // the programs order nothing but what they show
  expectClean(runText(kHeader + kPrologue + effect.text + "\n" +
                          moveOf(effect.kind) +
                          "\nld.param.u64 %rd60, [out];\n"
                          "shl.b32 %r60, %r4, 3;\ncvt.u64.u32 %rd61, %r60;\n"
                          "add.s64 %rd60, %rd60, %rd61;\n"
                          "st.global.u64 [%rd60], %rd50;\nret;\n}\n",
                      launch, options));
  EXPECT_EQ(out.front(), effect.first) << effect.text;
  EXPECT_EQ(out.back(), effect.last) << effect.text;
}

std::string nameOf(const testing::TestParamInfo<Effect> &information) {
  std::string name = std::to_string(information.index) + "_";
  for (char c : std::string(information.param.form))
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, MachineFormEffects, testing::ValuesIn(kEffects),
                         nameOf);

/// Beginnings of the forms whose effect is checked elsewhere, with the test.
const std::pair<const char *, const char *> kElsewhere[] = {
    {"bar.arrive", "MachineControl.BarrierOrdersWarps"},
    {"bar.sync", "MachineControl.BarrierOrdersWarps"},
    {"bar.warp.sync", "MachineControl.LanesReconverge"},
    {"barrier.cluster.", "CudaPipeline"},
    {"brkpt", "MachineForms: ends the run"},
    {"clusterlaunchcontrol.", "CudaPipeline"},
    {"cp.async.bulk.commit_group", "CudaPipeline"},
    {"cp.async.bulk.tensor.", "MachineForms: bytes of the box"},
    {"cp.async.bulk.wait_group", "CudaPipeline"},
    {"mapa.", "MachineControl.RemoteSharedMemory"},
    {"mma.sync.", "CudaWarp: oracle products"},
    {"setmaxnreg.", "MachineFamilies: limits of the pool"},
    {"tcgen05.alloc.", "MachineForms, MachineTensor"},
    {"tcgen05.commit.", "CudaTensor"},
    {"tcgen05.cp.", "CudaTensor"},
    {"tcgen05.dealloc.", "MachineForms: leaks are findings"},
    {"tcgen05.ld.", "MachineForms: a register"},
    {"tcgen05.mma.", "CudaTensor: oracle products"},
    {"tcgen05.relinquish_alloc_permit.", "MachineTensor"},
    {"trap", "MachineForms: ends the run"},
    // These order others, warn or hint: the machine shows nothing of them but
    // that they run.
    {"cp.async.bulk.prefetch.", "no effect"},
    {"fence.", "no effect"},
    {"griddepcontrol.", "no effect"},
    {"prefetch.", "no effect"},
    {"tcgen05.fence::", "no effect"},
    {"tcgen05.wait::", "no effect"},
};

TEST(MachineFormEffectsList, EveryRowHasATest) {
  std::set<std::string> shown;
  for (const Effect &effect : kEffects)
    shown.insert(effect.form);
  std::set<std::string> used;
  for (const FormRow &row : formRows(readFile(
           BLOCKSCALE_SOURCE_DIR "/test/Emulator/ptx/instruction-forms.csv"))) {
    bool isElsewhere = false;
    for (const auto &[start, test] : kElsewhere)
      if (row.form.compare(0, std::string(start).size(), start) == 0) {
        used.insert(start);
        isElsewhere = true;
      }
    EXPECT_TRUE(isElsewhere || shown.count(row.form)) << row.form;
    shown.erase(row.form);
  }
  for (const std::string &form : shown)
    ADD_FAILURE() << "not a row of the list: " << form;
  EXPECT_EQ(used.size(), std::size(kElsewhere));
}

} // namespace
