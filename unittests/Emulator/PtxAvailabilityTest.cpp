//===- PtxAvailabilityTest.cpp - forms of PTX 9.5 by target ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/Emulator/ptx/ptx-9.5-forms.csv lists 429 instructions with what the
// assembler of CUDA 13.5 (ptxas 13.5.37) says of them under .version 9.5 on ten
// targets: one letter each, Y or n. The emulator says the same.
//
//===----------------------------------------------------------------------===//

#include "PtxFormRows.h"
#include "PtxTesting.h"

#include "Assembler.h"

#include "blockscale/Emulator/Machine.h"

#include <map>
#include <set>

using namespace blockscale::emulator;

namespace {

const char *const kTargets[] = {"sm_100a", "sm_100f", "sm_103a", "sm_103f",
                                "sm_107a", "sm_107f", "sm_107",  "sm_110a",
                                "sm_120a", "sm_120f"};

struct Row {
  std::string group, form, accepted, instruction;
};

std::vector<Row> rows() {
  std::vector<Row> all;
  std::vector<std::string> lines = split(readSample("ptx-9.5-forms.csv"), "\n");
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    std::vector<std::string> cells = split(lines[i], ";");
    EXPECT_EQ(cells.size(), 4u) << lines[i];
    if (cells.size() == 4)
      all.push_back({cells[0], cells[1], cells[2], cells[3]});
  }
  return all;
}

std::string moduleOf(const std::string &target, const std::string &line,
                     const std::string &version = "9.5") {
  return ".version " + version + "\n.target " + target +
         "\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
         ".reg .pred %p<8>;\n.reg .b8 %b<8>;\n.reg .b16 %h<16>;\n"
         ".reg .b32 %r<160>;\n.reg .f32 %f<80>;\n.reg .b64 %rd<16>;\n"
         ".reg .f64 %d<8>;\n.reg .b128 %q<8>;\n" +
         line + ";\nret;\n}\n";
}

/// Lines of text that the assembler of CUDA 13.5 refuses.
std::set<unsigned> refusedLines(const std::string &target,
                                const std::string &text) {
  std::string stem = testing::TempDir() + "blockscale-availability-" +
                     std::to_string(getpid()) + "-" + target;
  std::ofstream(stem + ".ptx") << text;
  FILE *pipe = popen((BLOCKSCALE_NEWEST_PTXAS " -O0 -arch=" + target + " " +
                      stem + ".ptx -o " + stem + ".cubin 2>&1")
                         .c_str(),
                     "r");
  std::set<unsigned> lines;
  char buffer[4096];
  while (pipe && std::fgets(buffer, sizeof buffer, pipe)) {
    std::string said = buffer;
    size_t at = said.find(", line ");
    if (at != std::string::npos && said.find("; error") != std::string::npos)
      lines.insert(unsigned(std::stoul(said.substr(at + 7))));
  }
  EXPECT_TRUE(pipe);
  if (pipe && pclose(pipe) == 0) {
    EXPECT_TRUE(lines.empty());
  }
  std::remove((stem + ".ptx").c_str());
  std::remove((stem + ".cubin").c_str());
  return lines;
}

/// Why the emulator refuses the text; empty if it takes it.
std::string refusalOf(const std::string &text) {
  ParseResult parsed = parsePtx(text);
  if (!parsed.module)
    return parsed.errors.front().format();
  Kernel kernel(*parsed.module, "k");
  return kernel.refusals().empty() ? "" : kernel.refusals().front().message;
}

} // namespace

TEST(PtxAvailability, TheEmulatorTakesWhatTheAssemblerTakes) {
  std::vector<Row> all = rows();
  ASSERT_EQ(all.size(), 429u);
  for (const Row &row : all) {
    ASSERT_EQ(row.accepted.size(), std::size(kTargets)) << row.form;
    for (size_t i = 0; i != std::size(kTargets); ++i) {
      std::string why = refusalOf(moduleOf(kTargets[i], row.instruction));
      EXPECT_EQ(why.empty(), row.accepted[i] == 'Y')
          << kTargets[i] << ": " << row.instruction << "\n"
          << why;
    }
  }
}

// A kernel to a line, from line 4 on: what is refused is told by its line.
TEST(PtxAvailability, TheTableIsTheAssemblers) {
  if (!test::hasAssembler())
    GTEST_SKIP() << "BLOCKSCALE_NO_NVCC is set";
  std::vector<Row> all = rows();
  for (size_t i = 0; i != std::size(kTargets); ++i) {
    std::string text = std::string(".version 9.5\n.target ") + kTargets[i] +
                       "\n.address_size 64\n";
    for (size_t k = 0; k != all.size(); ++k)
      text += ".visible .entry k" + std::to_string(k) +
              "() { .reg .pred %p<8>; .reg .b8 %b<8>; .reg .b16 %h<16>; "
              ".reg .b32 %r<160>; .reg .f32 %f<80>; .reg .b64 %rd<16>; .reg "
              ".f64 %d<8>; .reg .b128 %q<8>; " +
              all[k].instruction + "; ret; }\n";
    std::set<unsigned> refused = refusedLines(kTargets[i], text);
    for (size_t k = 0; k != all.size(); ++k) {
      // This one breaks the assembler off without a line.
      if (all[k].form == "kind::ti16 scale-input-d 3")
        continue;
      EXPECT_EQ(refused.count(unsigned(k + 4)) == 0, all[k].accepted[i] == 'Y')
          << kTargets[i] << ": " << all[k].instruction;
    }
  }
}

TEST(PtxAvailability, RefusalsNameTheTargetsThatHaveIt) {
  EXPECT_EQ(refusalOf(moduleOf(
                "sm_103a", "tcgen05.mma.cta_group::1.kind::f16.collector::b::"
                           "fill [%r1], %rd1, %rd2, %r2, %p1")),
            "'tcgen05.mma.cta_group::1.kind::f16.collector::b::fill' does not "
            "exist on sm_103a; it does on sm_107a and sm_107f");
  EXPECT_EQ(refusalOf(moduleOf("sm_107a", "tcgen05.mma.cta_group::1.kind::i8 "
                                          "[%r1], %rd1, %rd2, %r2, %p1")),
            "'tcgen05.mma.cta_group::1.kind::i8' does not exist on sm_107a; it "
            "does on sm_100a, sm_101a and sm_110a");
  EXPECT_EQ(refusalOf(moduleOf(
                "sm_107f", "tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale."
                           "block32 [%r1], %rd1, %rd2, [%r5], %r2, [%r3], "
                           "[%r4], %p1")),
            "'tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale.block32' does "
            "not exist on sm_107f; it does on sm_100a, sm_101a, sm_103a, "
            "sm_107a and sm_110a");
  EXPECT_EQ(
      refusalOf(moduleOf("sm_110a", "tcgen05.mma.cta_group::1.kind::f16 [%r1], "
                                    "%rd1, %rd2, %r2, %p1, 3")),
      "'tcgen05.mma.cta_group::1.kind::f16' does not exist on sm_110a; "
      "it does on sm_100a, sm_100f, sm_103a, sm_103f, sm_107a and "
      "sm_107f");
}

/// Each with the version of PTX that brings it, as ptxas 13.5 says.
const struct {
  const char *target, *instruction, *before, *since;
} kVersions[] = {
    {"sm_107a", "ret", "9.3", "9.4"},
    {"sm_107f", "ret", "9.3", "9.4"},
    {"sm_107", "ret", "9.3", "9.4"},
    {"sm_100a", "cvt.rn.satfinite.e4m3x2.bf16x2 %h1, %r2", "9.0", "9.1"},
    {"sm_100a", "cvt.rn.satfinite.e2m1x2.bf16x2 %b1, %r2", "9.0", "9.1"},
    {"sm_100a", "cvt.rn.bf16x2.e4m3x2 %r1, %h2", "9.1", "9.2"},
    {"sm_100a", "cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %r1, %h2, %h3", "9.1",
     "9.2"},
    {"sm_120a",
     "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::"
     "4X.f32.e2m1.e2m1.f32.ue8m0 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
     "{%r5,%r6}, {%f1,%f2,%f3,%f4}, {%r7}, {%h1,%h2}, {%r8}, {%h1,%h2}",
     "9.0", "9.1"},
    {"sm_100a", "clmad.lo.u64 %rd1, %rd2, %rd3, %rd4", "9.2", "9.3"},
    {"sm_100a", "mbarrier.init.layout::v1.shared.b64 [%r1], %r2", "9.2", "9.3"},
    {"sm_100a",
     "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster."
     "multicast::cluster::16b.b64 [%r1], %h1",
     "9.3", "9.4"},
    {"sm_100a",
     "tcgen05.alloc.exclusive.cta_group::1.sync.aligned.shared::cta.b32 [%r1], "
     "96",
     "9.3", "9.4"},
    {"sm_100a", "ld.proxy::readonly.b32 %r1, [%rd1]", "9.3", "9.4"},
    {"sm_100a", "mov.u32 %r1, %locality_domain_id", "9.4", "9.5"},
};

TEST(PtxAvailability, FormsComeWithAVersion) {
  for (const auto &row : kVersions) {
    EXPECT_NE(refusalOf(moduleOf(row.target, row.instruction, row.before)), "")
        << row.instruction;
    EXPECT_EQ(refusalOf(moduleOf(row.target, row.instruction, row.since)), "")
        << row.instruction;
  }
  EXPECT_EQ(refusalOf(moduleOf("sm_107a", "ret", "9.3")),
            "PTX 9.3 does not have sm_107a; PTX 9.4 and later do");
  EXPECT_EQ(refusalOf(moduleOf("sm_100a", "ret", "9.6")),
            "PTX 9.6 is not known here; the newest is PTX 9.5");
  EXPECT_EQ(refusalOf(moduleOf("sm_100a", "clmad.lo.u64 %rd1, %rd2, %rd3, %rd4",
                               "9.0")),
            "'clmad.lo.u64' needs PTX 9.3, the module is PTX 9.0");
}

// The assembler's limits of static shared memory: 0x38c00 bytes on sm_107a.
TEST(PtxAvailability, SharedMemoryOfRubin) {
  auto run = [](uint32_t bytes, bool oversized) {
    std::string text = moduleOf("sm_107a", ".shared .align 16 .b8 all[" +
                                               std::to_string(bytes) +
                                               "];\nst.shared.u32 [all], 1");
    ParseResult parsed = parsePtx(text);
    EXPECT_TRUE(parsed.module);
    Launch launch;
    launch.kernel = "k";
    launch.arguments = {scalar(uint64_t(0))};
    launch.oversizedShared = oversized;
    RunResult result = ::blockscale::emulator::run(*parsed.module, launch);
    return result.findings.empty() ? std::string()
                                   : result.findings.front().message;
  };
  EXPECT_EQ(run(232448, false), "");
  EXPECT_EQ(run(233472, false),
            "the kernel needs 233472 bytes of shared memory, sm_107a has "
            "232448; 334848 where the launch allows oversized shared memory");
  EXPECT_EQ(run(334848, true), "");
  EXPECT_EQ(run(334864, true),
            "the kernel needs 334864 bytes of shared memory, sm_107a has "
            "334848");
  EXPECT_EQ(oversizedSharedCapacity("sm_100a"), 0u);
  EXPECT_EQ(oversizedSharedCapacity("sm_107f"), 334848u);
}
