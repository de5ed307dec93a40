//===- MachineReportTest.cpp - reports of copies on mbarriers -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.4, "Tracking successful completion" and "Report mechanisms for
// asynchronous copy operations": copies that look for a number in their data,
// the phases that end without such a report, and layouts of mbarriers.
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"
#include "MachineHarness.h"

#include "blockscale/Emulator/Hazards.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// One thread with an mbarrier of the layout in %r10, 256 bytes of shared
/// memory in %r11, an output in %rd1, an input in %rd2 and a map in %rd3.
std::string kernelOf(const std::string &instructions,
                     const std::string &layout = "layout::v1",
                     const std::string &target = "sm_107f") {
  return ".version 9.4\n.target " + target +
         "\n.address_size 64\n.shared .align 8 .b64 bar;\n"
         ".shared .align 128 .b8 buf[256];\n"
         ".visible .entry k(.param .u64 out, .param .u64 in, .param .align 128 "
         ".b8 map[128])\n{\n.reg .pred %p<8>;\n.reg .b8 %b<4>;\n"
         ".reg .b32 %r<32>;\n.reg .b64 %rd<8>;\n"
         "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\n"
         "mov.b64 %rd3, map;\ncvta.param.u64 %rd3, %rd3;\n"
         "mov.u32 %r10, bar;\nmov.u32 %r11, buf;\n"
         "mbarrier.init." +
         layout + ".shared.b64 [%r10], 1;\n" + instructions + "\nret;\n}\n";
}

/// `phase` ends with a copy of 64 bytes from `offset` on that looks for
/// `pattern`, or without a report where that is empty.
std::string copyPhase(unsigned phase, const std::string &pattern,
                      unsigned offset) {
  std::string words =
      pattern.empty() ? "" : ".mbarrier::report::validity::" + pattern;
  std::string label = "W" + std::to_string(phase);
  return "mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 64;\n"
         "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes" +
         words + " [%r11], [%rd2+" + std::to_string(offset) +
         "], 64, [%r10];\n" + label +
         ": mbarrier.try_wait.parity.phase_type::primary.shared.b64 %p1|%p2, "
         "%b1, [%r10], " +
         std::to_string(phase & 1) + ";\n@!%p1 bra " + label +
         ";\nselp.u32 %r1, 1, 0, %p2;\ncvt.u32.u8 %r2, %b1;\n"
         "st.global.v2.b32 [%rd1+" +
         std::to_string(8 * phase) + "], {%r1, %r2};\n";
}

/// The state of the conditional phase: whether it is past the parity.
std::string conditional(unsigned word, unsigned parity) {
  return "mbarrier.test_wait.parity.phase_type::conditional.shared.b64 %p3, "
         "[%r10], " +
         std::to_string(parity) +
         ";\nselp.u32 %r3, 1, 0, %p3;\nst.global.b32 [%rd1+" +
         std::to_string(4 * word) + "], %r3;\n";
}

struct Outcome {
  RunResult result;
  std::vector<uint32_t> out;
};

Outcome runKernel(const std::string &text, std::vector<uint32_t> in,
                  TensorMap map = {},
                  Completion completion = Completion::Random) {
  Outcome outcome;
  outcome.out.assign(32, 0xAAAAAAAA);
  if (!map.globalDim[0]) {
    map.type = TensorMapType::U32;
    map.rank = 1;
    map.globalDim = {16, 0, 0, 0, 0};
    map.boxDim = {16, 0, 0, 0, 0};
  }
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 1;
  launch.buffers = {bufferOf(outcome.out), bufferOf(in, false)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0},
                      TensorMapArgument{map, 1, 0}};
  Options options;
  options.completion = completion;
  outcome.result = runText(text, launch, options);
  return outcome;
}

/// Whether a copy of 16 words that are 0x01010101 but for one reports.
uint32_t reported(const std::string &pattern, unsigned word, uint32_t value) {
  std::vector<uint32_t> in(16, 0x01010101);
  in[word] = value;
  Outcome o = runKernel(kernelOf(copyPhase(0, pattern, 0)), in);
  expectClean(o.result);
  EXPECT_EQ(o.out[1], 0u) << "the value is left as it is";
  return o.out[0];
}

TEST(MachineReport, PatternsOf16Bytes) {
  const struct {
    const char *pattern;
    uint32_t found, missed, beside; ///< the last one in another place
  } rows[] = {
      {"per_16bytes::80000000", 0x80000000, 0x80000001, 0x00800000},
      {"per_16bytes::8000", 0xFFFF8000, 0xFFFF8001, 0x80000101},
      {"per_16bytes::80", 0xFFFFFF80, 0xFFFFFF88, 0x80808001},
      {"per_16bytes::8", 0xFFFFFFF8, 0xFFFFFF87, 0x88888881},
  };
  for (const auto &row : rows) {
    SCOPED_TRACE(row.pattern);
    for (unsigned chunk = 0; chunk != 4; ++chunk) {
      EXPECT_EQ(reported(row.pattern, 4 * chunk, row.found), 1u) << chunk;
      EXPECT_EQ(reported(row.pattern, 4 * chunk, row.missed), 0u) << chunk;
      EXPECT_EQ(reported(row.pattern, 4 * chunk, row.beside), 0u) << chunk;
      // Only one element of 16 bytes is looked at.
      EXPECT_EQ(reported(row.pattern, 4 * chunk + 1, row.found), 0u) << chunk;
      EXPECT_EQ(reported(row.pattern, 4 * chunk + 3, row.found), 0u) << chunk;
    }
  }
}

TEST(MachineReport, BytesOfOnes) {
  for (unsigned word : {0, 5, 15})
    for (unsigned byte = 0; byte != 4; ++byte)
      EXPECT_EQ(reported("per_element::ff", word, 0xFFu << 8 * byte), 1u);
  EXPECT_EQ(reported("per_element::ff", 3, 0x7FFEF77F), 0u);
  // A byte that is made of halves of two others is none.
  EXPECT_EQ(reported("per_element::ff", 3, 0x0FF00FF0), 0u);
}

TEST(MachineReport, ConditionalPhases) {
  std::vector<uint32_t> in(32, 0x01010101);
  in[16] = 0x80000000;
  // Phase 0 without a report, 1 with one, 2 and 3 without.
  std::string f32 = "per_16bytes::80000000";
  Outcome o = runKernel(
      kernelOf(conditional(10, 0) + copyPhase(0, f32, 0) + conditional(11, 0) +
               conditional(12, 1) + copyPhase(1, f32, 64) + conditional(13, 1) +
               conditional(14, 0) + copyPhase(2, f32, 0) + conditional(15, 1) +
               copyPhase(3, "", 64) + conditional(16, 1) + conditional(17, 0)),
      in);
  expectClean(o.result);
  EXPECT_TRUE(o.result.openPoints.contains(OpenPoint::ReportSample));
  EXPECT_EQ((std::vector<uint32_t>(o.out.begin(), o.out.begin() + 8)),
            (std::vector<uint32_t>{0, 0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ((std::vector<uint32_t>(o.out.begin() + 10, o.out.begin() + 18)),
            (std::vector<uint32_t>{0, 1, 0, 0, 1, 1, 0, 1}));
}

TEST(MachineReport, ATokenNamesThePhaseOfAReport) {
  std::vector<uint32_t> in(16, 0x80);
  Outcome o = runKernel(
      kernelOf("mbarrier.arrive.expect_tx.shared.b64 %rd4, [%r10], 64;\n"
               "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes."
               "mbarrier::report::validity::per_16bytes::80 [%r11], [%rd2], "
               "64, [%r10];\nW: mbarrier.test_wait.phase_type::primary.shared."
               "b64 %p1|%p2, [%r10], %rd4;\n@!%p1 bra W;\n"
               "selp.u32 %r1, 5, 6, %p2;\nst.global.b32 [%rd1], %r1;"),
      in);
  expectClean(o.result);
  EXPECT_EQ(o.out[0], 5u);
}

// Where the phase is not over, what was reported is undefined.
TEST(MachineReport, ReportsOfAnOpenPhase) {
  std::string text =
      "mbarrier.test_wait.parity.phase_type::primary.shared.b64 %p1|%p2, %b1, "
      "[%r10], 0;\n";
  Outcome predicate =
      runKernel(kernelOf(text + "@%p2 st.global.b32 [%rd1], %r10;"), {0});
  EXPECT_EQ(firstKind(predicate.result), FindingKind::Uninitialised);
  Outcome value = runKernel(
      kernelOf(text + "cvt.u32.u8 %r2, %b1;\nst.global.b32 [%rd1], %r2;"), {0});
  EXPECT_EQ(firstKind(value.result), FindingKind::Uninitialised);
  expectClean(
      runKernel(kernelOf(text + "@!%p1 st.global.b32 [%rd1], %r10;"), {0})
          .result);
}

TEST(MachineReport, Layouts) {
  auto check = [](const std::string &init, const std::string &asked) {
    Outcome o = runKernel(
        kernelOf("mbarrier.check_layout." + asked +
                     ".shared::cta.b64 %p1, [%r10];\nselp.u32 %r1, 1, 0, %p1;\n"
                     "st.global.b32 [%rd1], %r1;",
                 init),
        {0});
    expectClean(o.result);
    return o.out[0];
  };
  EXPECT_EQ(check("layout::v0", "layout::v0"), 1u);
  EXPECT_EQ(check("layout::v0", "layout::v1"), 0u);
  EXPECT_EQ(check("layout::v1", "layout::v0"), 0u);
  EXPECT_EQ(check("layout::v1", "layout::v1"), 1u);
  // Both phases of layout v0 end together, and nothing is reported.
  Outcome o = runKernel(
      kernelOf(copyPhase(0, "", 0) + conditional(4, 0) + conditional(5, 1),
               "layout::v0"),
      std::vector<uint32_t>(16, 0x80000000));
  expectClean(o.result);
  EXPECT_EQ((std::vector<uint32_t>(o.out.begin(), o.out.begin() + 6)),
            (std::vector<uint32_t>{0, 0, 0xAAAAAAAA, 0xAAAAAAAA, 1, 0}));
}

TEST(MachineReport, WhatIsRefused) {
  auto first = [](const RunResult &result) {
    return result.findings.empty() ? "" : result.findings.front().message;
  };
  // The layout has no room, whether or not there is something to report.
  for (uint32_t value : {0u, 0xFFu}) {
    Outcome o =
        runKernel(kernelOf(copyPhase(0, "per_element::ff", 0), "layout::v0"),
                  std::vector<uint32_t>(16, value));
    EXPECT_EQ(first(o.result),
              "a copy with a report needs an mbarrier of layout v1, found v0");
  }
  // Nothing follows, so that the conditional phase never ends.
  Outcome stuck = runKernel(
      kernelOf(copyPhase(0, "per_element::ff", 0) +
               "V: mbarrier.try_wait.parity.phase_type::conditional.shared.b64 "
               "%p3, [%r10], 0;\n@!%p3 bra V;\n"),
      std::vector<uint32_t>(16, 0xFF));
  EXPECT_EQ(firstKind(stuck.result), FindingKind::Deadlock);
  EXPECT_NE(first(stuck.result).find("phase 1, "), std::string::npos)
      << first(stuck.result);
  EXPECT_NE(first(stuck.result).find("conditional phase 0"), std::string::npos)
      << first(stuck.result);
  const struct {
    const char *line, *why;
  } rows[] = {
      {"mbarrier.test_wait.phase_type::conditional.shared.b64 %p1, [%r10], "
       "%rd4;",
       "'.phase_type::conditional' needs '.parity'"},
      {"mbarrier.test_wait.parity.shared.b64 %p1|%p2, [%r10], 0;",
       "a report needs '.phase_type::primary'"},
      {"mbarrier.test_wait.parity.phase_type::conditional.shared.b64 %p1|%p2, "
       "[%r10], 0;",
       "a report needs '.phase_type::primary'"},
  };
  for (const auto &row : rows) {
    ParseResult parsed = parsePtx(kernelOf(row.line));
    ASSERT_TRUE(parsed.module) << row.line;
    Kernel kernel(*parsed.module, "k");
    ASSERT_FALSE(kernel.refusals().empty()) << row.line;
    EXPECT_EQ(kernel.refusals().front().message.find(row.why), 0u);
  }
  ParseResult other = parsePtx(
      kernelOf(copyPhase(0, "per_element::ff", 0), "layout::v1", "sm_107a"));
  ASSERT_TRUE(other.module);
  other.module->target = "sm_100a";
  EXPECT_NE(
      Kernel(*other.module, "k")
          .refusals()
          .front()
          .message.find(
              "does not exist on sm_100a; it does on sm_107a and sm_107f"),
      std::string::npos);
}

/// Loads 16 x 2 elements of a map of rank 2 whose rows are 64 bytes apart.
uint32_t reportedByMap(TensorMapType type, const std::string &pattern,
                       std::vector<uint32_t> in, int32_t x, unsigned bytes) {
  TensorMap map;
  map.type = type;
  map.rank = 2;
  map.globalDim = {type == TensorMapType::U32 ? 16u : 128u, 2, 0, 0, 0};
  map.globalStrides = {64, 0, 0, 0};
  map.boxDim = {type == TensorMapType::U32 ? 16u : 128u, 2, 0, 0, 0};
  Outcome o = runKernel(
      kernelOf("mbarrier.arrive.expect_tx.shared.b64 _, [%r10], " +
               std::to_string(bytes) +
               ";\ncp.async.bulk.tensor.2d.shared::cta.global.mbarrier::"
               "complete_tx::bytes.mbarrier::report::validity::" +
               pattern + " [%r11], [%rd3, {" + std::to_string(x) +
               ", 0}], [%r10];\nW: mbarrier.try_wait.parity.phase_type::"
               "primary.shared.b64 %p1|%p2, [%r10], 0;\n@!%p1 bra W;\n"
               "selp.u32 %r1, 1, 0, %p2;\nst.global.b32 [%rd1], %r1;"),
      std::move(in), map);
  expectClean(o.result);
  bool ones = pattern == "per_element::ff";
  EXPECT_EQ(o.result.openPoints.contains(OpenPoint::ReportElements), ones);
  EXPECT_NE(o.result.openPoints.contains(OpenPoint::ReportSample), ones);
  return o.out[0];
}

TEST(MachineReport, CopiesOfBoxes) {
  const std::string f32 = "per_16bytes::80000000", ones = "per_element::ff";
  std::vector<uint32_t> in(32, 0x01010101);
  in[20] = 0x80000000;
  EXPECT_EQ(reportedByMap(TensorMapType::U32, f32, in, 0, 128), 1u);
  // From the ninth column on it is not copied.
  EXPECT_EQ(reportedByMap(TensorMapType::U32, f32, in, 8, 128), 0u);
  EXPECT_EQ(reportedByMap(TensorMapType::U32, f32, in, 4, 128), 1u);
  // What lies outside of the tensor is filled, and nothing to be found.
  EXPECT_EQ(reportedByMap(TensorMapType::U32, f32, in, -4, 128), 1u);
  // Elements of 4 bits, and the same bytes as words.
  in.assign(32, 0x10101010);
  in[17] = 0x1010F010;
  EXPECT_EQ(reportedByMap(TensorMapType::U4Align8, ones, in, 0, 128), 1u);
  EXPECT_EQ(reportedByMap(TensorMapType::U32, ones, in, 0, 128), 0u);
  in[17] = 0x1010FF10;
  EXPECT_EQ(reportedByMap(TensorMapType::U32, ones, in, 0, 128), 1u);
}

TEST(MachineReport, TheAssemblerTakesTheTexts) {
  if (!hasAssembler())
    GTEST_SKIP() << "BLOCKSCALE_NO_NVCC is set";
  std::string text = kernelOf(
      copyPhase(0, "per_16bytes::80000000", 0) + conditional(4, 0) +
      copyPhase(1, "per_16bytes::8000", 0) +
      copyPhase(2, "per_16bytes::80", 0) + copyPhase(3, "per_16bytes::8", 0) +
      copyPhase(4, "per_element::ff", 0) +
      "mbarrier.check_layout.layout::v1.shared::cta.b64 %p1, [%r10];\n"
      "mbarrier.expect_tx.relaxed.cluster.shared::cluster.multicast::cluster::"
      "32b.b64 [%r10], 64, 1;\n"
      "mbarrier.complete_tx.relaxed.cluster.shared::cluster.multicast::"
      "cluster::32b.b64 [%r10], 64, 1;\n"
      "mbarrier.arrive_drop.shared::cluster.multicast::cluster::32b.b64 _, "
      "[%r10], 1;\nmbarrier.arrive.shared::cluster.multicast::cluster::32b.b64 "
      "_, [%r10], 1;\n");
  EXPECT_TRUE(assembles(text, "sm_107f", BLOCKSCALE_NEWEST_PTXAS));
}

} // namespace
