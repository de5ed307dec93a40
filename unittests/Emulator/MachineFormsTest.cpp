//===- MachineFormsTest.cpp - every form of real kernels runs -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each row of instruction-forms.csv is executed: by a program of its own here,
// or by a kernel of test/Emulator/cuda in which the form must then occur.
//
//===----------------------------------------------------------------------===//

#include "CudaHarness.h"
#include "PtxFormRows.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

std::vector<FormRow> allRows() {
  return formRows(readFile(BLOCKSCALE_SOURCE_DIR
                           "/test/Emulator/ptx/instruction-forms.csv"));
}

bool startsWith(const std::string &text, const std::string &prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

/// A kernel of two CTAs in a cluster whose registers all have values; %rd1 is
/// the address of `space`, and `text` runs in all threads.
std::string program(const std::string &space, const std::string &text) {
  std::string all = kHeader + ".func callee() { ret; }\n"
                              ".func taker(.param .b64 a) { ret; }\n"
                              ".visible .entry k(.param .u64 out,\n"
                              ".param .align 128 .b8 map[128],\n"
                              ".param .align 16 .b8 blob[64]) .reqntid 128\n{\n"
                              ".reg .pred %p<8>, user;\n.reg .b16 %rs<8>;\n"
                              ".reg .b32 %r<300>;\n.reg .b32 %f<8>;\n"
                              ".reg .b64 %rd<16>;\n.reg .b128 %rq<4>;\n"
                              ".shared .align 1024 .b8 smem[4096];\n"
                              ".shared .align 8 .b64 bar;\n"
                              ".shared .align 4 .b32 slot;\n"
                              ".local .align 16 .b8 stack[64];\n";
  for (unsigned i = 0; i != 136; ++i)
    all +=
        "mov.b32 %r" + std::to_string(i) + ", " + std::to_string(i + 1) + ";\n";
  for (unsigned i = 0; i != 8; ++i)
    all += "mov.b32 %f" + std::to_string(i) + ", 0f3F800000;\nmov.b16 %rs" +
           std::to_string(i) + ", " + std::to_string(i + 3) +
           ";\nsetp.eq.s32 %p" + std::to_string(i) + ", %r1, %r2;\n";
  for (unsigned i = 0; i != 16; ++i)
    all += "mov.b64 %rd" + std::to_string(i) + ", " + std::to_string(i + 5) +
           ";\n";
  all += "setp.eq.s32 user, %r1, %r1;\nmov.b128 %rq1, {%rd1, %rd2};\n"
         "mov.u32 %r200, %tid.x;\nmov.u32 %r201, smem;\nmov.u32 %r202, bar;\n"
         "mov.u32 %r203, slot;\nld.param.u64 %rd15, [out];\n"
         "mov.b64 %rd14, map;\ncvta.param.u64 %rd14, %rd14;\n"
         "setp.eq.u32 %p7, %r200, 0;\nsetp.lt.u32 %p6, %r200, 32;\n"
         // Every byte of shared and local memory is written once.
         "shl.b32 %r204, %r200, 5;\nadd.u32 %r204, %r204, %r201;\n"
         "st.shared.v4.b32 [%r204], {%r200, %r200, %r200, %r200};\n"
         "st.shared.v4.b32 [%r204+16], {%r200, %r200, %r200, %r200};\n"
         "st.local.v4.b32 [stack], {%r1, %r1, %r1, %r1};\n"
         "st.local.v4.b32 [stack+16], {%r1, %r1, %r1, %r1};\n"
         "@%p7 mbarrier.init.shared::cta.b64 [%r202], 1;\n"
         "fence.mbarrier_init.release.cluster;\n"
         "fence.proxy.async.shared::cta;\n"
         "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  if (space == "shared")
    all += "mov.b64 %rd1, smem;\n";
  else if (space == "local")
    all += "mov.b64 %rd1, stack;\n";
  else if (space == "param")
    all += "mov.b64 %rd1, blob;\n";
  else if (space == "global")
    all += "mov.b64 %rd1, %rd15;\n";
  return all + text +
         "\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
         "target:\nret;\n}\n";
}

/// A map of `rank` dimensions over bytes; its box has 32 x 4 elements.
TensorMap mapOf(unsigned rank) {
  TensorMap map;
  map.type = TensorMapType::U8;
  map.rank = rank;
  map.globalDim = {64, 16, 1, 1, 1};
  map.globalStrides = {64, 1024, 1024, 1024};
  map.boxDim = {32, 4, 1, 1, 1};
  return map;
}

struct Outcome {
  std::vector<uint8_t> data;
  RunResult result;
};

Outcome execute(const std::string &text, unsigned rank = 2) {
  Outcome outcome;
  outcome.data.resize(4096);
  for (size_t i = 0; i != outcome.data.size(); ++i)
    outcome.data[i] = uint8_t(i * 7 + i / 64);
  Launch launch;
  launch.kernel = "k";
  launch.grid.x = launch.cluster.x = 2;
  launch.block.x = 128;
  launch.buffers = {bufferOf(outcome.data)};
  launch.arguments = {BufferArgument{0, 0},
                      TensorMapArgument{mapOf(rank), 0, 0},
                      std::vector<uint8_t>(64, 1)};
  ParseResult parsed = parsePtx(text);
  for (const Diagnostic &error : parsed.errors)
    ADD_FAILURE() << error.format();
  // The forms come one by one, without the order that a kernel would give
  // them.
  Options options;
  options.strict = false;
  if (parsed)
    outcome.result = run(*parsed.module, launch, options);
  return outcome;
}

/// The space of an address in a load or store, or nothing.
std::string spaceOf(const std::string &form) {
  for (const char *space : {"global", "shared", "local", "param"})
    if (contains(form, (std::string(".") + space).c_str()))
      return space;
  return "";
}

/// `tcgen05` forms of one CTA group: what goes around and what is between.
std::string tensorProgram(const std::string &form, const std::string &group) {
  std::string head = "@%p6 tcgen05.alloc.cta_group::" + group +
                     ".sync.aligned.shared::cta.b32 [%r203], %r127;\n"
                     "@%p6 tcgen05.relinquish_alloc_permit.cta_group::" +
                     group +
                     ".sync.aligned;\nbar.sync 0;\n"
                     "ld.shared.u32 %r210, [%r203];\n"
                     "shl.b32 %r211, %r200, 16;\n"
                     "and.b32 %r211, %r211, 0x600000;\n"
                     "add.u32 %r211, %r211, %r210;\n";
  std::string body;
  if (startsWith(form, "tcgen05.ld")) {
    std::string count = split(form, ".x")[1];
    count = count.substr(0, count.find('.'));
    std::string registers = vectorOf("tcgen05", unsigned(std::stoi(count)));
    body = "tcgen05.st.sync.aligned.32x32b.x" + count + ".b32 [%r211], " +
           registers + ";\ntcgen05.wait::st.sync.aligned;\n";
    for (int i = 0; i != std::stoi(count); ++i)
      body += "mov.b32 %r" + std::to_string(i) + ", 0;\n";
    body += form + " " + registers +
            ", [%r211];\ntcgen05.wait::ld.sync.aligned;\n"
            // Register i held i + 1.
            "shl.b32 %r212, %r200, 2;\ncvt.u64.u32 %rd2, %r212;\n"
            "add.s64 %rd2, %rd2, %rd15;\nst.global.b32 [%rd2], %r7;\n";
  } else if (startsWith(form, "tcgen05.commit")) {
    body = contains(form, "multicast") ? "@%p7 " + form + " [%r202], 3;\n"
                                       : "@%p7 " + form + " [%r202];\n";
  } else if (startsWith(form, "tcgen05.fence")) {
    body = form + ";\n";
  }
  return head + body +
         "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
         "@%p6 tcgen05.dealloc.cta_group::" +
         group + ".sync.aligned.b32 %r210, %r127;\n";
}

/// Bulk copies of tensors: loads must bring the box, stores must put it.
void runTensorCopy(const std::string &form) {
  unsigned rank = unsigned(form[form.find("d.") - 1] - '0');
  std::string coordinates = rank == 2   ? "{%r15, %r3}"
                            : rank == 3 ? "{%r15, %r3, %r220}"
                                        : "{%r15, %r3, %r220, %r220}";
  std::string text = "mov.b32 %r220, 0;\n";
  std::string address = "[%rd14, " + coordinates + "]";
  if (contains(form, "prefetch")) {
    expectClean(
        execute(program("", text + form + " " + address + ";"), rank).result);
    return;
  }
  if (contains(form, "bulk_group")) {
    Outcome outcome = execute(
        program("", text + "@%p7 " + form + " " + address + ", [%r201];\n" +
                        "@%p7 cp.async.bulk.commit_group;\n"
                        "@%p7 cp.async.bulk.wait_group.read 0;\n"),
        rank);
    expectClean(outcome.result);
    // Thread t filled 32 bytes with words of t; the box starts at (16, 4).
    for (unsigned y = 0; y != 4; ++y)
      EXPECT_EQ(outcome.data[(4 + y) * 64 + 16 + 4], y) << form;
    return;
  }
  std::string operands = " [%r201], " + address + ", [%r202]";
  if (contains(form, "multicast"))
    operands += ", %rs7";
  if (contains(form, "cache_hint"))
    operands += ", %rd2";
  Outcome outcome = execute(
      program("", text +
                      "mov.u32 %r221, %cluster_ctarank;\nshl.b32 %r222, 1, "
                      "%r221;\ncvt.u16.u32 %rs7, %r222;\n"
                      "mov.b64 %rd2, 0x1000000000000000;\n"
                      "@%p7 mbarrier.arrive.expect_tx.shared::cta.b64 _, "
                      "[%r202], 128;\n@%p7 " +
                      form + operands +
                      ";\nW: mbarrier.try_wait.parity.shared::cta.b64 %p1, "
                      "[%r202], 0;\n@!%p1 bra W;\nbar.sync 0;\n"
                      "add.u32 %r223, %r201, %r200;\nld.shared.u8 %r224, "
                      "[%r223];\ncvt.u64.u32 %rd3, %r200;\n"
                      "add.s64 %rd3, %rd3, %rd15;\nst.global.u8 [%rd3+2048], "
                      "%r224;\n"),
      rank);
  expectClean(outcome.result);
  for (unsigned i = 0; i != 128; ++i) {
    unsigned at = (4 + i / 32) * 64 + 16 + i % 32;
    EXPECT_EQ(outcome.data[2048 + i], uint8_t(at * 7 + at / 64)) << form;
  }
}

/// Programs of the forms that need a certain surrounding.
std::string special(const std::string &form, const std::string &shape) {
  if (form == "bar.arrive")
    return "mov.b32 %r230, 3;\nmov.b32 %r231, 128;\n@%p6 bra A;\n"
           "setp.ge.u32 %p1, %r200, 64;\n@%p1 bra S;\n"
           "A: setp.lt.u32 %p2, %r200, 64;\nbar.arrive %r230, %r231;\nbra E;\n"
           "S: bar.sync %r230, %r231;\nE:\nbar.sync 0;";
  if (form == "bar.sync")
    return shape == "imm" ? "bar.sync 5;"
                          : "mov.b32 %r230, 5;\nmov.b32 %r231, 128;\n"
                            "bar.sync %r230, %r231;";
  if (form == "bar.warp.sync")
    return "bar.warp.sync -1;";
  if (startsWith(form, "barrier.cluster"))
    return "barrier.cluster.arrive.relaxed.aligned;\n"
           "barrier.cluster.wait.aligned;";
  if (startsWith(form, "bra"))
    return form + " F;\ntrap;\nF:";
  if (form == "call.uni")
    return "call.uni callee, ();";
  if (startsWith(form, "st.param"))
    return "{ .param .b64 p0;\n" + form + " [p0], " +
           (shape == "[],imm" ? "16" : "%rd1") + ";\ncall.uni taker, (p0);\n}";
  if (startsWith(form, "clusterlaunchcontrol"))
    return "@%p7 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r202], 16;\n"
           "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
           "mov.u32 %r221, %cluster_ctarank;\nor.b32 %r222, %r221, %r200;\n"
           "setp.eq.u32 %p1, %r222, 0;\n@%p1 "
           "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::"
           "complete_tx::bytes.multicast::cluster::all.b128 [%r201], [%r202];\n"
           "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r202], 0;\n"
           "@!%p2 bra W;\nld.shared.b128 %rq1, [%r201];\n"
           "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 user, "
           "%rq1;\n@user clusterlaunchcontrol.query_cancel.get_first_ctaid.v4."
           "b32.b128 {%r1, %r2, %r3, %r4}, %rq1;";
  if (form == "cp.async.bulk.commit_group" ||
      form == "cp.async.bulk.wait_group.read")
    return "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;";
  if (form == "cvta.to.global.u64")
    return "mov.b64 %rd1, %rd15;\n" + form + " %rd1, %rd1;";
  if (form == "cvta.param.u64")
    return "mov.b64 %rd1, blob;\n" + form + " %rd1, %rd1;";
  if (form == "elect.sync")
    return "elect.sync %r1|%p1, -1;";
  if (startsWith(form, "shfl"))
    return "shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;\n"
           "shfl.sync.idx.b32 %r1|%p1, %r2, %r3, 31, -1;";
  if (startsWith(form, "ldmatrix") || startsWith(form, "stmatrix")) {
    std::string registers =
        contains(form, ".x2") ? "{%r1, %r2}" : "{%r1, %r2, %r3, %r4}";
    std::string address =
        "and.b32 %r204, %r200, 31;\nshl.b32 %r204, %r204, 4;\n"
        "add.u32 %r204, %r204, %r201;\n";
    return address + form + " " +
           (form[0] == 'l' ? registers + ", [%r204];"
                           : "[%r204], " + registers + ";");
  }
  if (startsWith(form, "mapa"))
    return form + " %r1, %r201, %r0;"; // %r0 is 1
  if (startsWith(form, "mbarrier.init"))
    return "@%p7 mbarrier.init.shared::cta.b64 [%r201], %r5;";
  if (startsWith(form, "mbarrier.expect_tx"))
    return "@%p7 " + form +
           " [%r202], %r15;\n@%p7 "
           "mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%r202], "
           "%r15;";
  if (startsWith(form, "mbarrier.arrive.expect_tx"))
    return "mov.b32 %r5, 0;\n@%p7 " + form + " _, [%r202], %r5;";
  if (startsWith(form, "mbarrier.arrive"))
    return "@%p7 " + form + " _, [%r202];";
  if (startsWith(form, "mbarrier."))
    return "mov.b32 %r5, 1;\n" + form + " user, [%r202], %r5;\n@!user trap;";
  if (form == "prefetch.tensormap")
    return "prefetch.tensormap [%rd14];";
  if (form == "brkpt" || form == "trap")
    return form + ";";
  if (startsWith(form, "setmaxnreg"))
    return "setmaxnreg.dec.sync.aligned.u32 24;\n"
           "setmaxnreg.inc.sync.aligned.u32 32;";
  if (startsWith(form, "tcgen05."))
    return tensorProgram(form, contains(form, "cta_group::2") ? "2" : "1");
  return "";
}

/// Opcode and modifiers of a line, in no order; empty for other lines.
std::set<std::string> modifiersOf(std::string line) {
  size_t start = line.find_first_not_of(" \t");
  if (start == std::string::npos)
    return {};
  line = line.substr(start);
  if (line[0] == '@')
    line = line.substr(std::min(line.find_first_of(" \t") + 1, line.size()));
  line = line.substr(0, line.find_first_of(" \t;"));
  std::vector<std::string> parts = split(line, ".");
  return std::set<std::string>(parts.begin(), parts.end());
}

/// The forms that occur in the kernels that CudaTensorTest and CudaWarpTest
/// run.
std::set<std::set<std::string>> formsOfKernels() {
  std::set<std::set<std::string>> forms;
  for (const char *name : {"tensor", "blockmma", "pipeline", "warp"})
    for (const std::string &line :
         split(readFile(
                   std::string(BLOCKSCALE_SOURCE_DIR "/test/Emulator/cuda/") +
                   name + ".ptx"),
               "\n"))
      forms.insert(modifiersOf(line));
  return forms;
}

class MachineForms : public testing::TestWithParam<FormRow> {};

TEST_P(MachineForms, Runs) {
  const FormRow &row = GetParam();
  const std::string &form = row.form;
  if (contains(form, "bulk.tensor") || contains(form, "prefetch.tensor.")) {
    runTensorCopy(form);
    return;
  }
  if (startsWith(form, "mma.sync") || startsWith(form, "tcgen05.mma") ||
      startsWith(form, "tcgen05.cp")) {
    static const std::set<std::set<std::string>> kernels = formsOfKernels();
    EXPECT_TRUE(kernels.count(modifiersOf(form))) << form;
    return;
  }
  for (const std::string &shape : row.shapes) {
    std::string text = special(form, shape);
    if (text.empty())
      text = instructionOf(form, shape);
    Outcome outcome = execute(program(spaceOf(form), text));
    if (form == "trap" || form == "brkpt") {
      EXPECT_EQ(firstKind(outcome.result), FindingKind::Trap);
    } else {
      expectClean(outcome.result);
    }
    if (startsWith(form, "tcgen05.ld")) {
      EXPECT_EQ(outcome.data[4 * 77], 8) << "register 7 of thread 77";
    }
  }
}

std::string nameOf(const testing::TestParamInfo<FormRow> &information) {
  std::string name = std::to_string(information.index) + "_";
  for (char c : information.param.form)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Csv, MachineForms, testing::ValuesIn(allRows()),
                         nameOf);

TEST(MachineFormsList, HasAllRows) { EXPECT_EQ(allRows().size(), 196u); }

} // namespace

namespace blockscale::emulator {
void PrintTo(const FormRow &row, std::ostream *stream) { *stream << row.form; }
} // namespace blockscale::emulator
