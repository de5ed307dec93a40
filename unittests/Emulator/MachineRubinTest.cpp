//===- MachineRubinTest.cpp - what sm_107 and PTX 9.1 to 9.5 brought ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// The kernel of MachineHarness.h for sm_107a.
std::string rubinBody(const std::string &instructions,
                      const std::string &module = "") {
  std::string text = body("@%p0 bra NEVER;\nNEVER:\n" + instructions, module);
  text.replace(0, kHeader.size(),
               ".version 9.5\n.target sm_107a\n.address_size 64\n");
  size_t place = text.find(".reg .pred");
  return text.insert(place, ".reg .b8 %b<8>;\n");
}

/// The first word that one thread stores.
uint32_t resultOf(const std::string &instructions) {
  std::vector<uint32_t> out(1, 0xAAAAAAAA), in(1);
  expectClean(runWords(rubinBody("setp.ne.u32 %p0, 0, 0;\n" + instructions +
                                 "\nst.global.u32 [%rd1], %r10;"),
                       out, in, 1));
  return out[0];
}

std::string floats(uint32_t a, uint32_t b) {
  return "mov.b32 %f1, " + std::to_string(a) + "; mov.b32 %f2, " +
         std::to_string(b) + ";\n";
}

TEST(MachineRubin, Conversions) {
  const struct {
    uint32_t a, b; ///< bits of f32
    const char *line;
    uint32_t expected;
  } rows[] = {
      // 1 and -3: the sign is dropped.
      {0x3F800000, 0xC0400000, "rn.satfinite.ue5m3x2.f32", 0x7884},
      // 2^-30 and 1 + 1/16.
      {0x30800000, 0x3F880000, "rp.satfinite.ue5m3x2.f32", 0x0179},
      {0x30800000, 0x3F880000, "rz.satfinite.ue5m3x2.f32", 0x0078},
      {0x30800000, 0x3F880000, "rn.satfinite.ue5m3x2.f32", 0x0078},
      // -1 - 1/16 rounds up by its magnitude.
      {0xBF880000, 0x80000000, "rp.satfinite.ue5m3x2.f32", 0x7900},
      // Infinity and NaN, with saturation and without.
      {0x7F800000, 0x7FC00000, "rn.satfinite.ue5m3x2.f32", 0xFEFF},
      {0x7F800000, 0x7FC00000, "rn.ue5m3x2.f32", 0xFFFF},
      // 118784 and 131072.
      {0x47E80000, 0x48000000, "rn.ue5m3x2.f32", 0xFEFF},
      {0x47E80000, 0x48000000, "rp.satfinite.ue5m3x2.f32", 0xFEFE},
      // 5.9 and -0.9.
      {0x40BCCCCD, 0xBF666666, "rz.satfinite.e2m1x2.f32", 0x69},
      {0x40BCCCCD, 0xBF666666, "rn.satfinite.e2m1x2.f32", 0x7A},
      {0x40BCCCCD, 0xBF666666, "rz.satfinite.e4m3x2.f32", 0x4BB6},
      {0x40BCCCCD, 0xBF666666, "rz.satfinite.e5m2x2.f32", 0x45BB},
      {0x40BCCCCD, 0xBF666666, "rz.satfinite.e2m3x2.f32", 0x1B27},
      {0x40BCCCCD, 0xBF666666, "rz.satfinite.e3m2x2.f32", 0x152B},
      // 500: the largest number, of infinity NaN is made without saturation.
      {0x43FA0000, 0xFF800000, "rz.satfinite.e4m3x2.f32", 0x7EFE},
      // -0 and -1, -2^-20 and 2^-20.
      {0x80000000, 0xBF800000, "rn.satfinite.e4m3x2.f32", 0x80B8},
      {0x80000000, 0xBF800000, "rn.satfinite.pzo.e4m3x2.f32", 0x00B8},
      {0xB5800000, 0x35800000, "rn.satfinite.pzo.e4m3x2.f32", 0x0000},
  };
  for (const auto &row : rows) {
    bool fp4 = std::string(row.line).find("e2m1") != std::string::npos;
    std::string to = fp4 ? "%b1" : "%h1";
    EXPECT_EQ(resultOf(floats(row.a, row.b) + "cvt." + row.line + " " + to +
                       ", %f1, %f2;\ncvt.u32." + (fp4 ? "u8" : "u16") +
                       " %r10, " + to + ";"),
              row.expected)
        << row.line << std::hex << " " << row.a << " " << row.b;
  }
}

TEST(MachineRubin, ConversionsNameTheirChoices) {
  auto points = [](const std::string &line) {
    std::vector<uint32_t> out(1), in(1);
    return runWords(rubinBody("setp.ne.u32 %p0, 0, 0;\nmov.b32 %f1, 0;\n" +
                              line +
                              "\ncvt.u32.u16 %r10, %h1;\n"
                              "st.global.u32 [%rd1], %r10;"),
                    out, in, 1)
        .openPoints;
  };
  OpenPointSet ue5m3 = points("cvt.rn.satfinite.ue5m3x2.f32 %h1, %f1, %f1;"),
               plus = points("cvt.rn.satfinite.pzo.e4m3x2.f32 %h1, %f1, %f1;");
  EXPECT_TRUE(ue5m3.contains(OpenPoint::Ue5m3Sign));
  EXPECT_FALSE(ue5m3.contains(OpenPoint::PlusZeroOfRounding));
  EXPECT_TRUE(plus.contains(OpenPoint::PlusZeroOfRounding));
  EXPECT_FALSE(plus.contains(OpenPoint::Ue5m3Sign));
}

TEST(MachineRubin, ConversionsFromAndToHalves) {
  const struct {
    uint32_t source;
    const char *line;
    uint32_t expected;
  } rows[] = {
      {0x3C004200, "cvt.rn.satfinite.ue5m3x2.f16x2 %h1, %r5;", 0x7884},
      {0x3F804040, "cvt.rp.satfinite.ue5m3x2.bf16x2 %h1, %r5;", 0x7884},
      {0xBF884040, "cvt.rp.satfinite.ue5m3x2.bf16x2 %h1, %r5;", 0x7984},
      {0x46004600, "cvt.rz.satfinite.e2m3x2.f16x2 %h1, %r5;", 0x1C1C},
      {0x3FFF3FFF, "cvt.rz.satfinite.e4m3x2.f16x2 %h1, %r5;", 0x3F3F},
      {0x3FFF3FFF, "cvt.rn.satfinite.e4m3x2.f16x2 %h1, %r5;", 0x4040},
  };
  for (const auto &row : rows)
    EXPECT_EQ(resultOf("mov.b32 %r5, " + std::to_string(row.source) + ";\n" +
                       row.line + "\ncvt.u32.u16 %r10, %h1;"),
              row.expected)
        << row.line;
  auto widened = [](uint32_t codes, const std::string &line) {
    return resultOf("mov.b16 %h1, " + std::to_string(codes) +
                    "; mov.b16 %h2, 0x807E;\n" + line);
  };
  EXPECT_EQ(widened(0x78FE, "cvt.rn.bf16x2.ue5m3x2 %r10, %h1;"), 0x3F8047E0u);
  // 61440 is in the range of f16, what follows is not.
  EXPECT_EQ(widened(0xF7F8, "cvt.rn.f16x2.ue5m3x2 %r10, %h1;"), 0x7B807C00u);
  // Twice the upper one, half of the lower one.
  EXPECT_EQ(widened(0x7878, "cvt.rn.satfinite.scaled::n2::ue8m0.bf16x2.ue5m3x2 "
                            "%r10, %h1, %h2;"),
            0x40003F00u);
}

TEST(MachineRubin, ConversionsWithADivisor) {
  auto divided = [](uint32_t a, uint32_t b, uint32_t scale, const char *type) {
    return resultOf(floats(a, b) + "mov.u32 %r5, " + std::to_string(scale) +
                    ";\ncvt.u8.u32 %b1, %r5;\ncvt.rn.satfinite.scaled::n1::"
                    "ue8m0." +
                    type + ".f32 %h1, %f1, %f2, %b1;\ncvt.u32.u16 %r10, %h1;");
  };
  // 6 and -1 by 2.
  EXPECT_EQ(divided(0x40C00000, 0xBF800000, 0x80, "e4m3x2"), 0x44B0u);
  // 1 by 2^-127 saturates, and a subnormal number is zero.
  EXPECT_EQ(divided(0x3F800000, 0x00400000, 0x00, "e4m3x2"), 0x7E00u);
  EXPECT_EQ(divided(0x40C00000, 0x3F800000, 0x7E, "ue5m3x2"), 0x9480u);
  EXPECT_EQ(divided(0x40C00000, 0x3F800000, 0xFF, "e4m3x2"), 0x7F7Fu);
  EXPECT_EQ(resultOf("mov.b32 %r5, 0x40C0BF80; mov.u32 %r6, 0x80;\n"
                     "cvt.u8.u32 %b1, %r6;\ncvt.rz.satfinite.scaled::n1::ue8m0."
                     "e4m3x2.bf16x2 %h1, %r5, %b1;\ncvt.u32.u16 %r10, %h1;"),
            0x44B0u);
}

// Sixty-fourths in two's complement.
TEST(MachineRubin, FixedPoint) {
  const struct {
    uint32_t a, b; ///< bits of f32
    const char *form;
    uint32_t expected;
  } rows[] = {
      // 1 and -1.5.
      {0x3F800000, 0xBFC00000, "satfinite", 0x40A0},
      {0x3F800000, 0xBFC00000, "satfinite.relu", 0x4000},
      // 1.984375 and more than that; -2 and less than that.
      {0x3FFE0000, 0x40000000, "satfinite", 0x7F7F},
      {0xC0000000, 0xFF800000, "satfinite", 0x8080},
      // 1/128 and 3/128: to even.
      {0x3C000000, 0x3CC00000, "satfinite", 0x0002},
      {0xBCC00000, 0xBC000000, "satfinite", 0xFE00},
      // NaN is the largest number.
      {0x7FC00000, 0xFFC00000, "satfinite.relu", 0x7F7F},
  };
  for (const auto &row : rows)
    EXPECT_EQ(resultOf(floats(row.a, row.b) + "cvt.rn." + row.form +
                       ".s2f6x2.f32 %h1, %f1, %f2;\ncvt.u32.u16 %r10, %h1;"),
              row.expected)
        << row.form << std::hex << " " << row.a << " " << row.b;
  auto scaled = [](uint32_t a, uint32_t b, uint32_t scales) {
    return resultOf(floats(a, b) + "mov.b16 %h2, " + std::to_string(scales) +
                    ";\ncvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.f32 %h1, "
                    "%f1, %f2, %h2;\ncvt.u32.u16 %r10, %h1;");
  };
  // 64 by 2^6 and -3 by 2; 2^-128, a subnormal number, by 2^-127; NaN.
  EXPECT_EQ(scaled(0x42800000, 0xC0400000, 0x8580), 0x40A0u);
  EXPECT_EQ(scaled(0x00200000, 0x3F800000, 0x007F), 0x2040u);
  EXPECT_EQ(scaled(0x3F800000, 0x3F800000, 0xFF7F), 0x7F40u);
  // From bf16, 1.5 and -0.5, and by 2 and 1/2.
  EXPECT_EQ(resultOf("mov.b32 %r5, 0x3FC0BF00;\ncvt.rn.satfinite.s2f6x2.bf16x2 "
                     "%h1, %r5;\ncvt.u32.u16 %r10, %h1;"),
            0x60E0u);
  EXPECT_EQ(resultOf("mov.b32 %r5, 0x3FC0BF00; mov.b16 %h2, 0x807E;\n"
                     "cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.bf16x2 %h1, "
                     "%r5, %h2;\ncvt.u32.u16 %r10, %h1;"),
            0x30C0u);
  auto widened = [](const char *form, const char *more) {
    return resultOf("mov.b16 %h1, 0x7F81; mov.b16 %h2, 0x857F;\ncvt.rn." +
                    std::string(form) + "bf16x2.s2f6x2 %r10, %h1" + more + ";");
  };
  // 127/64 and -127/64; by 2^6 and 1: kernels make bf16 of integers so.
  EXPECT_EQ(widened("", ""), 0x3FFEBFFEu);
  EXPECT_EQ(widened("relu.", ""), 0x3FFE0000u);
  EXPECT_EQ(widened("satfinite.scaled::n2::ue8m0.", ", %h2"), 0x42FEBFFEu);
}

// Rows of 16 nibbles lie 8 bytes apart; element k of row r is r + 3k, of four
// bits with a sign. Lane l gets row l / 4, columns 4 (l % 4) on.
TEST(MachineRubin, MatricesOfSignedNibbles) {
  std::vector<uint32_t> in(32), out(32);
  for (unsigned r = 0; r != 8; ++r)
    for (unsigned k = 0; k != 16; ++k)
      in[r * 2 + k / 8] |= ((r + 3 * k) & 15) << k % 8 * 4;
  expectClean(runWords(
      rubinBody("setp.ne.u32 %p0, 0, 0;\nmov.u32 %r10, buf;\n"
                "setp.lt.u32 %p1, %r1, 16;\nshl.b32 %r11, %r1, 2;\n"
                "add.u32 %r12, %r10, %r11;\nld.global.b32 %r5, [%rd2];\n"
                "@%p1 st.shared.b32 [%r12], %r5;\nbar.sync 0;\n"
                "and.b32 %r13, %r1, 7;\nshl.b32 %r13, %r13, 3;\n"
                "add.u32 %r13, %r13, %r10;\nldmatrix.sync.aligned.m8n16.x1."
                "shared.s8.s4 {%r6}, [%r13];\nst.global.b32 [%rd1], %r6;",
                ".shared .align 16 .b8 buf[64];\n"),
      out, in, 32));
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned i = 0; i != 4; ++i) {
      unsigned nibble = (lane / 4 + 3 * (4 * (lane % 4) + i)) & 15;
      EXPECT_EQ(int8_t(out[lane] >> 8 * i), int(nibble) - (nibble > 7 ? 16 : 0))
          << lane << " " << i;
    }
}

TEST(MachineRubin, GroupsOfAFabricAreEmpty) {
  EXPECT_EQ(resultOf("fabric.submit.commit_group;\nmov.u32 %r10, 5;"), 5u);
}

TEST(MachineRubin, CarrylessProducts) {
  auto product = [](const char *half, const char *a, const char *b,
                    const char *c) {
    return resultOf("mov.u64 %rd5, " + std::string(a) + "; mov.u64 %rd6, " + b +
                    "; mov.u64 %rd7, " + c + ";\nclmad." + half +
                    ".u64 %rd8, %rd5, %rd6, %rd7;\ncvt.u32.u64 %r10, %rd8;");
  };
  EXPECT_EQ(product("lo", "3", "3", "1"), 4u);
  EXPECT_EQ(product("lo", "0xB", "0xD", "0"), 0x7Fu);
  EXPECT_EQ(product("hi", "0x8000000000000001", "6", "8"), 8u ^ 3u);
}

TEST(MachineRubin, PlacesOfLocality) {
  EXPECT_EQ(resultOf("mov.u32 %r10, %locality_domain_id;"), 0u);
  EXPECT_EQ(resultOf("mov.u32 %r10, %locality_domain_supplemental_sm;"), 0u);
}

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

TEST(MachineRubin, TheLastOf576Columns) {
  std::vector<uint32_t> out(128 * 8), in(1);
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 128;
  launch.buffers = {bufferOf(out), bufferOf(in)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  std::string text = "setp.ne.u32 %p0, 0, 0;\nmov.u32 %r13, slot;\n"
                     "setp.lt.u32 %p2, %r1, 32;\n"
                     "@%p2 tcgen05.alloc.exclusive.cta_group::1.sync.aligned."
                     "shared::cta.b32 [%r13], 576;\nbar.sync 0;\n"
                     "ld.shared.b32 %r14, [%r13];\nand.b32 %r17, %r1, 96;\n"
                     "shl.b32 %r17, %r17, 16;\nadd.u32 %r17, %r17, %r14;\n";
  for (unsigned i = 0; i != 8; ++i)
    text += "mad.lo.u32 %r" + std::to_string(32 + i) + ", %r1, 8, " +
            std::to_string(i) + ";\n";
  const char *registers = "{%r32, %r33, %r34, %r35, %r36, %r37, %r38, %r39}";
  text += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r17+568], " +
          std::string(registers) + ";\ntcgen05.wait::st.sync.aligned;\n";
  for (unsigned i = 0; i != 8; ++i)
    text += "mov.u32 %r" + std::to_string(32 + i) + ", 0;\n";
  text += "tcgen05.ld.sync.aligned.32x32b.x8.b32 " + std::string(registers) +
          ", [%r17+568];\ntcgen05.wait::ld.sync.aligned;\n"
          "mul.wide.u32 %rd4, %r1, 28;\nadd.s64 %rd4, %rd1, %rd4;\n"
          "st.global.v4.b32 [%rd4], {%r32, %r33, %r34, %r35};\n"
          "st.global.v4.b32 [%rd4+16], {%r36, %r37, %r38, %r39};\n"
          "bar.sync 0;\n@%p2 tcgen05.dealloc.exclusive.cta_group::1.sync."
          "aligned.b32 %r14, 576;\n";
  RunResult result =
      runText(rubinBody(text, ".shared .align 16 .b32 slot[4];\n"), launch);
  expectClean(result);
  EXPECT_TRUE(result.openPoints.contains(OpenPoint::ExclusiveElsewhere));
  for (uint32_t i = 0; i != out.size(); ++i)
    ASSERT_EQ(out[i], i);
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

/// Each CTA of a cluster of four stores what its threads have in %r10.
std::vector<uint32_t> inCluster(const std::string &instructions) {
  std::vector<uint32_t> out(128, 0xAAAAAAAA), in(256);
  for (size_t i = 0; i != in.size(); ++i)
    in[i] = uint32_t(100 + i);
  Launch launch;
  launch.kernel = "k";
  launch.grid.x = launch.cluster.x = 4;
  launch.block.x = 32;
  launch.buffers = {bufferOf(out), bufferOf(in, false)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  for (Completion completion :
       {Completion::Immediate, Completion::Random, Completion::Latest}) {
    Options options;
    options.completion = completion;
    expectClean(runText(
        rubinBody("setp.ne.u32 %p0, 0, 0;\nmov.u32 %r11, bar;\n"
                  "mov.u32 %r12, buf;\nsetp.eq.u32 %p1, %r1, 0;\n"
                  "setp.eq.and.u32 %p2, %r2, 1, %p1;\nmov.u32 %r10, 0;\n"
                  "@%p1 mbarrier.init.shared.b64 [%r11], 1;\n"
                  "fence.mbarrier_init.release.cluster;\n"
                  "barrier.cluster.arrive.aligned;\n"
                  "barrier.cluster.wait.aligned;\n" +
                      instructions +
                      "\nbarrier.cluster.arrive.aligned;\n"
                      "barrier.cluster.wait.aligned;\n"
                      "st.global.u32 [%rd1], %r10;",
                  ".shared .align 8 .b64 bar;\n"
                  ".shared .align 128 .b8 buf[128];\n"),
        launch, options));
  }
  return out;
}

#define WAIT_FOR_PHASE                                                         \
  "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r11], "  \
  "0;\n@!%p3 bra W;\n"

TEST(MachineRubin, MulticastOf32Bits) {
  // CTA 1 copies 128 bytes to CTAs 0, 2 and 3.
  std::vector<uint32_t> out = inCluster(
      "setp.ne.u32 %p4, %r2, 1;\n"
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r11], 128;\n"
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
      "ld.param.u64 %rd5, [in];\nmov.u32 %r7, 13;\n"
      "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
      "multicast::cluster::32b [%r12], [%rd5], 128, [%r11], %r7;\n"
      "@%p2 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
      "[%r12], [%rd5+512], 128, [%r11];\n" WAIT_FOR_PHASE
      "mad.lo.u32 %r8, %r1, 4, %r12;\nld.shared.u32 %r10, [%r8];\n");
  for (uint32_t i = 0; i != 128; ++i)
    EXPECT_EQ(out[i], (i / 32 == 1 ? 228 : 100) + i % 32) << i;
}

TEST(MachineRubin, ArrivalsOnSeveralCtas) {
  // CTA 1 arrives on all, on CTA 2 with the bytes of its copy.
  std::vector<uint32_t> out = inCluster(
      "@%p2 mbarrier.arrive.release.cluster.shared::cluster.multicast::cluster"
      "::32b.b64 _, [%r11], 1, 11;\n"
      "@%p2 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster."
      "multicast::cluster::32b.b64 _, [%r11], 128, 4;\n"
      "setp.eq.and.u32 %p4, %r2, 2, %p1;\nld.param.u64 %rd5, [in];\n"
      "@%p4 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
      "[%r12], [%rd5], 128, [%r11];\n" WAIT_FOR_PHASE
      "setp.eq.u32 %p5, %r2, 2;\nmad.lo.u32 %r8, %r1, 4, %r12;\n"
      "@%p5 ld.shared.u32 %r10, [%r8];\n@!%p5 add.u32 %r10, %r2, 7;\n");
  for (uint32_t i = 0; i != 128; ++i)
    EXPECT_EQ(out[i], i / 32 == 2 ? 100 + i % 32 : i / 32 + 7) << i;
}

TEST(MachineRubin, CountsOnSeveralCtas) {
  // CTA 1 takes two of the three arrivals of each barrier away, and does all
  // that ends the first phase; one arrival ends the next.
#define ON_ALL ".relaxed.cluster.shared::cluster.multicast::cluster::32b.b64 "
  std::vector<uint32_t> out = inCluster(
      "@%p1 mbarrier.inval.shared.b64 [%r11];\n"
      "@%p1 mbarrier.init.shared.b64 [%r11], 3;\n"
      "fence.mbarrier_init.release.cluster;\n"
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
      "@%p2 mbarrier.arrive_drop" ON_ALL "_, [%r11], 2, 15;\n"
      "@%p2 mbarrier.expect_tx" ON_ALL "[%r11], 64, 15;\n"
      "@%p2 mbarrier.arrive" ON_ALL "_, [%r11], 15;\n"
      "@%p2 mbarrier.complete_tx" ON_ALL "[%r11], 64, 15;\n" WAIT_FOR_PHASE
      "@%p1 mbarrier.arrive.shared.b64 _, [%r11];\n"
      "V: mbarrier.try_wait.parity.shared.b64 %p4, [%r11], 1;\n@!%p4 bra V;\n"
      "add.u32 %r10, %r2, 7;\n");
#undef ON_ALL
  for (uint32_t i = 0; i != 128; ++i)
    EXPECT_EQ(out[i], i / 32 + 7) << i;
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

struct Override {
  const char *words, *values;
  int32_t x = 0, y = 0;
  uint64_t offset = 0;
};

/// Loads a box of 32 x 4 words of a map over buffer 1 whose fields the
/// instruction replaces; buffer 2 is the other tensor, of 300 KiB.
RunResult load(const Override &o, std::vector<uint32_t> &out) {
  std::vector<uint32_t> mapped(32 * 64, 1), other(75 * 1024);
  for (size_t i = 0; i != other.size(); ++i)
    other[i] = uint32_t(i);
  out.assign(128, 0);
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 128;
  launch.buffers = {bufferOf(out), bufferOf(mapped, false),
                    bufferOf(other, false)};
  TensorMap map;
  map.type = TensorMapType::U32;
  map.rank = 2;
  map.globalDim = {32, 64, 0, 0, 0};
  map.globalStrides = {128, 0, 0, 0};
  map.boxDim = {32, 4, 0, 0, 0};
  launch.arguments = {BufferArgument{0, 0}, TensorMapArgument{map, 1, 0},
                      BufferArgument{2, o.offset}};
  std::string text =
      ".version 9.4\n.target sm_107f\n.address_size 64\n"
      ".shared .align 128 .b8 buf[512];\n.shared .align 8 .b64 bar;\n"
      ".visible .entry k(.param .u64 out, .param .align 128 .b8 map[128], "
      ".param .u64 other)\n{\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n"
      ".reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n"
      "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [other];\n"
      "mov.b64 %rd3, map;\ncvta.param.u64 %rd3, %rd3;\n"
      "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n"
      "mov.u32 %r10, bar;\nmov.u32 %r12, buf;\n"
      "mov.b16 %h1, 20;\nmov.b16 %h2, 3;\nmov.b16 %h3, 0;\nmov.u32 %r2, 16;\n"
      "@%p1 mbarrier.init.shared.b64 [%r10], 1;\n"
      "fence.mbarrier_init.release.cluster;\nbar.sync 0;\n"
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 512;\n"
      "@%p1 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::"
      "complete_tx::bytes" +
      std::string(o.words) + " [%r12], [%rd3" + o.values + ", {" +
      std::to_string(o.x) + ", " + std::to_string(o.y) +
      "}], [%r10];\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;\n@!%p2 bra W;\n"
      "mad.lo.u32 %r3, %r1, 4, %r12;\nld.shared.u32 %r4, [%r3];\n"
      "mul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd4, %rd1, %rd4;\n"
      "st.global.u32 [%rd4], %r4;\nret;\n}\n";
  return runText(text, launch);
}

#define ADDRESS ".override::global_address"
#define SIZES ADDRESS ".override::global_dim_stride"
#define VALUES ", %rd2, {%h1, %h2}, {%r2}, %h3"

TEST(MachineRubin, AddressOfAMapReplaced) {
  std::vector<uint32_t> out;
  expectClean(load({ADDRESS, ", %rd2", 0, 5, 4096}, out));
  for (uint32_t i = 0; i != 128; ++i)
    EXPECT_EQ(out[i], 1024 + (5 + i / 32) * 32 + i % 32);
}

TEST(MachineRubin, SizesAndStridesOfAMapReplaced) {
  // 20 x 3 words in rows of 256 bytes: beyond is zero.
  std::vector<uint32_t> out;
  expectClean(load({SIZES, VALUES, 0, 0, 2048}, out));
  for (uint32_t i = 0; i != 128; ++i) {
    bool inside = i % 32 < 20 && i / 32 < 3;
    EXPECT_EQ(out[i], inside ? 512 + i / 32 * 64 + i % 32 : 0) << i;
  }
}

TEST(MachineRubin, OverridesThatAreRefused) {
  std::vector<uint32_t> out;
  auto refusal = [&](const Override &o) {
    RunResult result = load(o, out);
    return result.findings.empty() ? std::string()
                                   : result.findings.front().message;
  };
  auto has = [](const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(
      has(refusal({ADDRESS, ", %rd2", 0, 0, 8}), "is not a multiple of 16"));
  // 300 KiB less 128 KiB is the last place.
  EXPECT_EQ(refusal({ADDRESS, ", %rd2", 0, 0, 172 << 10}), "");
  EXPECT_TRUE(has(refusal({ADDRESS, ", %rd2", 0, 0, (172 << 10) + 16}),
                  "128 KiB from the address that replaces the map's"));
  EXPECT_EQ(refusal({SIZES, VALUES, 0, 1, 0}),
            "coordinates must be 0 where the map's sizes are replaced, found "
            "1");
  EXPECT_TRUE(has(refusal({SIZES, ", %rd2, {%h3, %h2}, {%r2}, %h3", 0, 0, 0}),
                  "the tensor map with replaced fields: "));
  // The number of values is that of the words.
  EXPECT_TRUE(
      has(refusal({"", ", %rd2", 0, 0, 0}), "are not of a supported form"));
  EXPECT_TRUE(
      has(refusal({SIZES, ", %rd2", 0, 0, 0}), "are not of a supported form"));
  EXPECT_TRUE(has(refusal({SIZES, ", %rd2, {%h1}, {%r2}, %h3", 0, 0, 0}),
                  "expected 2 sizes that replace the map's"));
}

} // namespace
