//===- PtxAssembledTest.cpp - forms that ptxas and the emulator take ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forms that none of the published kernels of instruction-forms.csv has. What
// they do is tested elsewhere; here, that ptxas knows the text.
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"
#include "MachineHarness.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

#define TMA "cp.async.bulk.tensor."
#define BYTES "mbarrier::complete_tx::bytes"
#define REDUCE "cp.reduce.async.bulk."

/// Assembled for sm_100a.
const char *const kForms[] = {
    // Tensor maps of images.
    TMA "3d.shared::cta.global.im2col." BYTES
        " [%r1], [%rd1, {%r1, %r2, %r3}], [%r2], {%h1}",
    TMA "4d.shared::cluster.global.im2col." BYTES
        " [%r1], [%rd1, {%r1, %r2, %r3, %r4}], [%r2], {%h1, 2}",
    TMA "5d.shared::cluster.global.im2col." BYTES
        ".multicast::cluster.L2::cache_hint [%r1], [%rd1, {%r1, %r2, %r3, %r4, "
        "%r5}], [%r2], {%h1, %h2, %h3}, %h4, %rd4",
    TMA "4d.shared::cluster.global.im2col::w." BYTES
        " [%r1], [%rd1, {%r1, %r2, %r3, %r4}], [%r2], {%h1, %h2}",
    TMA "5d.shared::cluster.global.im2col::w::128." BYTES
        ".cta_group::2 [%r1], [%rd1, {%r1, %r2, %r3, %r4, %r5}], [%r2], {%h1, "
        "%h2}",
    TMA "4d.global.shared::cta.im2col_no_offs.bulk_group [%rd1, {%r1, %r2, "
        "%r3, %r4}], [%r2]",
    "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs."
    "bulk_group [%rd1, {%r1, %r2, %r3, %r4}], [%r2]",
    "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%rd1, {%r1, %r2, %r3, "
    "%r4}], {%h1, %h2}",
    "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col::w.L2::cache_hint "
    "[%rd1, {%r1, %r2, %r3, %r4}], {%h1, %h2}, %rd4",
    // Bulk copies and reductions.
    "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r1], 32, "
    "%h1",
    "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask "
    "[%rd1], [%r1], 32, %rd2, %h1",
    REDUCE "shared::cluster.shared::cta." BYTES
           ".add.u64 [%r1], [%r2], 32, [%r3]",
    REDUCE "shared::cluster.shared::cta." BYTES
           ".xor.b32 [%r1], [%r2], %r4, [%r3]",
    REDUCE "shared::cluster.shared::cta." BYTES
           ".dec.u32 [%r1], [%r2], 32, [%r3]",
    REDUCE "global.shared::cta.bulk_group.max.s64 [%rd1], [%r2], 32",
    REDUCE "global.shared::cta.bulk_group.or.b64 [%rd1], [%r2], 32",
    REDUCE "global.shared::cta.bulk_group.add.noftz.bf16 [%rd1], [%r2], 32",
    REDUCE "global.shared::cta.bulk_group.min.f16 [%rd1], [%r2], 32",
    REDUCE "global.shared::cta.bulk_group.add.f64 [%rd1], [%r2], 32",
    // Atomics of 128 bits and of vectors.
    "atom.global.cas.b128 %q1, [%rd1], %q2, %q3",
    "atom.acq_rel.gpu.global.exch.b128 %q1, [%rd1], %q2",
    "atom.shared.cas.b128 %q1, [%r1], %q2, %q3",
    "atom.exch.b128 %q1, [%rd1+32], %q2",
    "atom.global.v2.f32.add {%f1, %f2}, [%rd1], {%f3, %f4}",
    "atom.global.v4.f32.add {%f1, %f2, %f3, %f4}, [%rd1], {%f5, %f6, %f7, "
    "%f8}",
    "atom.global.v8.bf16.add.noftz {%h1, %h2, %h3, %h4, %h5, %h6, %h7, %h1}, "
    "[%rd1], {%h1, %h2, %h3, %h4, %h5, %h6, %h7, %h1}",
    "atom.global.v4.f16.min.noftz {%h1, %h2, %h3, %h4}, [%rd1], {%h5, %h6, "
    "%h7, %h1}",
    "atom.global.v4.bf16x2.max.noftz {%r1, %r2, %r3, %r4}, [%rd1], {%r5, %r6, "
    "%r7, %r8}",
    "red.global.v2.f16x2.add.noftz [%rd1], {%r5, %r6}",
    "red.release.gpu.global.v4.f32.add [%rd1], {%f5, %f6, %f7, %f8}",
    "ld.global.b128 %q1, [%rd1]",
    "st.shared.b128 [%r1], %q1",
    // The stack.
    "alloca.u64 %rd1, %rd2, 16",
    "alloca.u64 %rd1, %rd2",
    "stacksave.u64 %rd1",
    "stackrestore.u64 %rd1",
    // Others.
    "red.async.relaxed.cluster.shared::cluster." BYTES ".add.u32 [%r1], %r2, "
    "[%r6]",
    "red.async.relaxed.cluster." BYTES ".add.s64 [%rd1], %rd2, [%rd6]",
    "red.async.relaxed.cluster." BYTES ".dec.u32 [%rd1], %r2, [%rd6]",
    "createpolicy.cvt.L2.b64 %rd1, 0x10000000",
    "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd1, "
    "[%rd2], 128, 256",
    "discard.global.L2 [%rd1], 128",
    "mul24.hi.s32 %r1, %r2, %r3",
    "mad24.lo.u32 %r1, %r2, %r3, %r4",
    "mad24.hi.sat.s32 %r1, %r2, %r3, %r4",
};

/// Neither ptxas nor the emulator takes these.
const char *const kIllegal[] = {
    TMA "2d.shared::cta.global.im2col." BYTES
        " [%r1], [%rd1, {%r1, %r2}], [%r2], {%h1}",
    TMA "4d.shared::cta.global.im2col." BYTES
        " [%r1], [%rd1, {%r1, %r2, %r3, %r4}], [%r2], {%h1}",
    TMA "4d.global.shared::cta.im2col.bulk_group [%rd1, {%r1, %r2, %r3, %r4}], "
        "[%r2]",
    "cp.async.bulk.shared::cluster.global." BYTES
    ".cp_mask [%r1], [%rd1], 32, [%r2], %h1",
    REDUCE "shared::cluster.shared::cta." BYTES
           ".min.u64 [%r1], [%r2], 32, [%r3]",
    REDUCE "global.shared::cta.bulk_group.add.f16 [%rd1], [%r2], 32",
    "atom.global.and.b128 %q1, [%rd1], %q2",
    "red.global.exch.b128 [%rd1], %q2",
    "discard.global.L2 [%rd1], 64",
    "red.async.relaxed.cluster.shared::cluster." BYTES ".min.u64 [%r1], %rd2, "
    "[%r6]",
};

std::string moduleOf(const std::string &lines) {
  return kHeader +
         ".visible .entry k(.param .u64 out)\n{\n"
         ".reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<16>;\n"
         ".reg .b32 %f<16>;\n.reg .b64 %rd<16>;\n.reg .b64 %d<8>;\n"
         ".reg .b128 %q<8>;\n" +
         lines + "ret;\n}\n";
}

bool taken(const std::string &line) {
  ParseResult parsed = parsePtx(moduleOf(line + ";\n"));
  EXPECT_TRUE(parsed.module) << line;
  return parsed.module && Kernel(*parsed.module, "k").refusals().empty();
}

TEST(PtxAssembled, TheEmulatorTakesTheForms) {
  for (const char *line : kForms) {
    ParseResult parsed = parsePtx(moduleOf(std::string(line) + ";\n"));
    ASSERT_TRUE(parsed.module) << line;
    Kernel kernel(*parsed.module, "k");
    for (const Finding &finding : kernel.refusals())
      ADD_FAILURE() << toString(finding);
  }
  for (const char *line : kIllegal)
    EXPECT_FALSE(taken(line)) << line;
}

TEST(PtxAssembled, PtxasTakesTheForms) {
  if (!hasAssembler())
    GTEST_SKIP() << "BLOCKSCALE_NO_NVCC is set";
  std::string lines;
  for (const char *line : kForms)
    lines += std::string(line) + ";\n";
  EXPECT_TRUE(assembles(moduleOf(lines)));
  for (const char *line : kIllegal)
    EXPECT_FALSE(assembles(moduleOf(std::string(line) + ";\n"))) << line;
}

} // namespace
