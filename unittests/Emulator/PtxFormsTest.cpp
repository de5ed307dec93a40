//===- PtxFormsTest.cpp - every form of real kernels is known -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// test/Emulator/ptx/instruction-forms.csv lists the instruction forms of seven
// published kernels compiled by nvcc 13.0, with their operand shapes.
//
//===----------------------------------------------------------------------===//

#include "PtxFormRows.h"
#include "PtxTesting.h"

using namespace blockscale::emulator;

namespace {

const char kDeclarations[] = ".reg .pred %p<8>, user;\n"
                             ".reg .b16 %rs<8>; .reg .b32 %r<300>;\n"
                             ".reg .b32 %f<8>; .reg .b64 %rd<16>;\n"
                             ".reg .b128 %rq<4>;\n"
                             ".shared .align 16 .b8 smem[64];\n"
                             "target:\n";

} // namespace

TEST(PtxForms, EveryFormOfTheListIsParsedAndSupported) {
  std::vector<FormRow> rows = formRows(readSample("instruction-forms.csv"));
  ASSERT_EQ(rows.size(), 196u);
  unsigned tried = 0;
  for (const FormRow &row : rows)
    for (const std::string &shape : row.shapes) {
      std::string line = instructionOf(row.form, shape);
      Module module = parsed(std::string(kHeader) + ".func callee();\n" +
                             ".entry k() {\n" + kDeclarations + line + "\n}");
      ASSERT_EQ(module.functions.size(), 2u) << line;
      const Function &function = module.functions[1];
      ASSERT_EQ(function.instructions.size(), 1u) << line;
      EXPECT_NE(function.instructions[0].opcode, Opcode::Unknown) << line;
      for (const Diagnostic &refusal : checkSupported(module, function))
        ADD_FAILURE() << refusal.format();
      ++tried;
    }
  EXPECT_EQ(tried, 245u);
}

TEST(PtxForms, FormsOfLlvmAndTriton) {
  const char *lines[] = {
      "ld.volatile.global.b32 %r1, [%rd1]",
      "ld.global.v4.b64 {%rd1, %rd2, %rd3, _}, [%rd4]",
      "mov.b64 {%r1, _}, %rd1",
      "cvta.to.shared::cluster.u64 %rd1, %rd2",
      "fma.rn.f32 %f1, %f2, %f3, 0f00000000",
      "add.rn.f32x2 %rd1, %rd2, %rd3",
      "max.NaN.f32 %f1, %f2, %f3",
      "shf.l.wrap.b32 %r1, %r2, %r3, 7",
      "prmt.b32 %r1, %r2, 0, 0x7770U",
      "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1",
      "elect.sync _|%p1, -1",
      "atom.acquire.cta.global.cas.b32 %r1, [%rd1], %r2, %r3",
      "atom.add.global.u32 %r1, [%rd1], %r2",
      "fence.sc.gpu",
      "mbarrier.init.shared.b64 [smem], %r1",
      "mbarrier.arrive.expect_tx.shared.b64 %rd1, [smem], %r1",
      ("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_"
       "tx::bytes [%rd1], [%rd2, {%r1, %r2}], [smem]"),
      ("tcgen05.mma.cta_group::1.kind::mxf4.block_scale.collector::a::discard "
       "[%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1"),
      ("tcgen05.mma.cta_group::2.kind::f16 [ %r1 + 1048640 ], %rd1, %rd2, "
       "%r2, !%p1"),
      "tcgen05.mma.cta_group::1.kind::f16 [%r1], [%r2], %rd2, %r2, %p1",
      "tcgen05.mma.cta_group::1.kind::i8.ashift [%r1], [%r2], %rd2, %r2, %p1",
      ("tcgen05.mma.sp.cta_group::2.kind::f8f6f4.ashift.collector::a::lastuse "
       "[%r1], [%r2], %rd2, [%r3], %r2, %p1"),
      "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%r1, %r2}, [%r3+64], 8",
      "tcgen05.cp.warpx4.32x128b.cta_group::1 [%r1], %rd1",
      "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [smem], 1, %r1",
      ("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release."
       "gpu.sync.aligned [%rd1], [%rd2], 128"),
      "fence.proxy.tensormap::generic.acquire.gpu [%rd1 + 0], 0x80",
      "cp.async.cg.shared.global [%r1 + 64], [%rd1 + 16], 0x10, %r2",
      ("cp.async.bulk.tensor.2d.tile::scatter4.global.shared::cta.bulk_group "
       "[%rd1, {%r1, %r2, %r3, %r4, %r5}], [%r6]"),
      "ex2.approx.ftz.f32 %f1, %f2",
      "redux.sync.add.s32 %r1, %r2, -1",
      ("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r1], "
       "{%r2, %r3, %r4, %r5}"),
      "cvt.rn.satfinite.e2m1x2.f32 %rb1, %f1, %f2",
      "cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2",
      "cvt.rp.satfinite.ue8m0x2.f32 %rs1, %f1, %f2",
      "lop3.b32 %r1, %r2, %r3, %r4, 0xE2",
      "setp.ge.and.s32 %p1|%p2, %r1, 7, !%p3",
      "mov.v4.u32 {%r1, %r2, %r3, %r4}, %ctaid",
      "mov.b128 %rq1, {%rd1, %rd2}",
  };
  for (const char *line : lines) {
    Module module = parsed(kernelOf(std::string(kDeclarations) +
                                    ".reg .b8 %rb<4>;\n" + line + ";"));
    ASSERT_EQ(module.functions.size(), 1u) << line;
    for (const Diagnostic &refusal :
         checkSupported(module, module.functions[0]))
      ADD_FAILURE() << refusal.format();
  }
}

TEST(PtxForms, RefusalsNameWhatIsNotSupported) {
  auto refusal = [](const std::string &line) {
    Module module = parsed(kernelOf(kDeclarations + line + ";"));
    if (module.functions.empty())
      return std::string("no module");
    std::vector<Diagnostic> found = checkSupported(module, module.functions[0]);
    return found.empty() ? std::string() : found[0].format();
  };
  EXPECT_EQ(refusal("frobnicate.u32 %r1, 2"),
            "11:1: instruction 'frobnicate.u32' is not supported: "
            "frobnicate.u32 %r1, 2");
  EXPECT_EQ(refusal("add.banana.u32 %r1, %r2, 2"),
            "11:1: modifier '.banana' of 'add.banana.u32' is not supported: "
            "add.banana.u32 %r1, %r2, 2");
  EXPECT_EQ(refusal("fma.f32 %f1, %f1, %f1, %f1"),
            "11:1: combination of modifiers of 'fma.f32' is not supported: "
            "fma.f32 %f1, %f1, %f1, %f1");
  EXPECT_EQ(refusal("popc.f32 %r1, %f1"),
            "11:1: types of 'popc.f32' are not supported: popc.f32 %r1, %f1");
  EXPECT_EQ(refusal("add.u32 %r1, %p1, 2"),
            "11:1: operands of 'add.u32' are not of a supported form: "
            "add.u32 %r1, %p1, 2");
  EXPECT_EQ(refusal("ld.global.u32 %r1, %rd1"),
            "11:1: operands of 'ld.global.u32' are not of a supported form: "
            "ld.global.u32 %r1, %rd1");
}

TEST(PtxForms, SamplesOfCompilersAreSupported) {
  for (const char *name :
       {"nvcc-mixed.ptx", "nvcc-wait-loops.ptx", "llvm-mixed.ptx"}) {
    Module module = parsed(readSample(name));
    size_t count = 0;
    for (const Function &function : module.functions) {
      count += function.instructions.size();
      for (const Diagnostic &refusal : checkSupported(module, function))
        ADD_FAILURE() << name << ":" << refusal.format();
    }
    EXPECT_GE(count, 12u) << name;
  }
}
