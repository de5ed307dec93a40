//===- PtxTargetsTest.cpp - which target has which instruction ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxTesting.h"

using namespace blockscale::emulator;

namespace {

const char *const kTargets[] = {
    "sm_90a",  "sm_100",  "sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110",
    "sm_110a", "sm_110f", "sm_120",  "sm_120a", "sm_120f", "sm_121a"};

/// What the assembler of CUDA 13.0 (ptxas 13.0.88) accepts: one letter per
/// target.
const struct {
  const char *instruction, *accepted;
} kRows[] = {
    {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32",
     "--YYYY-YY----"},
    {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r1]", "--YYYY-YY----"},
    {"tcgen05.shift.cta_group::1.down [%r1]", "--Y-Y--Y-----"},
    {"tcgen05.cp.cta_group::1.32x128b.warpx4 [%r1], %rd1", "--YYYY-YY----"},
    {"tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1",
     "--YYYY-YY----"},
    {"tcgen05.mma.cta_group::1.kind::i8 [%r1], %rd1, %rd2, %r2, %p1",
     "--Y----Y-----"},
    {"tcgen05.mma.cta_group::1.kind::f8f6f4 [%r1], %rd1, %rd2, %r2, %p1",
     "--YYYY-YY----"},
    {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r1], %rd1, %rd2, "
     "%r2, [%r3], [%r4], %p1",
     "--YYYY-YY----"},
    {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r1], "
     "%rd1, %rd2, %r2, [%r3], [%r4], %p1",
     "--Y-Y--Y-----"},
    {"tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%r1], "
     "%rd1, %rd2, %r2, [%r3], [%r4], %p1",
     "--Y-Y--Y-----"},
    {"tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%r1], "
     "%rd1, %rd2, %r2, [%r3], [%r4], %p1",
     "--Y-Y--Y-----"},
    {"tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%r1], %rd1, "
     "%rd2, %r2, [%r3], [%r4], %p1",
     "--YYYY-YY----"},
    {"tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale.block32 [%r1], "
     "%rd1, %rd2, [%r5], %r2, [%r3], [%r4], %p1",
     "--YYYY-YY----"},
    {"tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale.block32 [%r1], %rd1, "
     "%rd2, [%r5], %r2, [%r3], [%r4], %p1",
     "--Y-Y--Y-----"},
    {"tcgen05.mma.sp.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%r1], "
     "%rd1, %rd2, [%r5], %r2, [%r3], [%r4], %p1",
     "--Y-Y--Y-----"},
    {"tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, [%r5], %r2, %p1",
     "--YYYY-YY----"},
    {"tcgen05.mma.sp.cta_group::2.kind::tf32 [%r1], %rd1, %rd2, [%r5], %r2, "
     "%p1",
     "--YYYY-YY----"},
    {"tcgen05.mma.sp.cta_group::1.kind::f8f6f4 [%r1], %rd1, %rd2, [%r5], %r2, "
     "%p1",
     "--YYYY-YY----"},
    {"tcgen05.mma.sp.cta_group::2.kind::i8 [%r1], %rd1, %rd2, [%r5], %r2, %p1",
     "--Y----Y-----"},
    {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
     "[%r1]",
     "--YYYY-YY----"},
    {"tcgen05.fence::after_thread_sync", "--YYYY-YY----"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
     "bytes [%r1], [%rd1, {%r2,%r3}], [%r4]",
     "YYYYYYYYYYYYY"},
    {"cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::"
     "complete_tx::bytes [%r1], [%rd1, {%r2,%r3}], [%r4]",
     "--YYYY-YY----"},
    {"cp.async.bulk.tensor.2d.tile::gather4.shared::cluster.global.mbarrier::"
     "complete_tx::bytes [%r1], [%rd1, {%r2,%r3,%r2,%r3,%r2}], [%r4]",
     "--YYYY-YY----"},
    {"cp.async.bulk.tensor.2d.tile::gather4.shared::cta.global.mbarrier::"
     "complete_tx::bytes [%r1], [%rd1, {%r2,%r3,%r2,%r3,%r2}], [%r4]",
     "-YYYYYYYYYYYY"},
    {"cp.async.bulk.tensor.2d.tile::scatter4.global.shared::cta.bulk_group "
     "[%rd1, {%r2,%r3,%r2,%r3,%r2}], [%r4]",
     "--YYYY-YY----"},
    {"tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd1], 1",
     "Y-YYYY-YY-YYY"},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 "
     "{%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4}",
     "--YYYY-YY-YYY"},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f1,%f2,%f3,%f4}, "
     "{%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4}",
     "YYYYYYYYYYYYY"},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32 "
     "{%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4}",
     "----------YYY"},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::"
     "1X.f32.e4m3.e4m3.f32.ue8m0 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
     "{%r5,%r6}, {%f1,%f2,%f3,%f4}, {%r7}, {%h1,%h2}, {%r8}, {%h1,%h2}",
     "----------YYY"},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4."
     "block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 {%f1,%f2,%f3,%f4}, "
     "{%r1,%r2,%r3,%r4}, {%r5,%r6,%r7,%r8}, {%f1,%f2,%f3,%f4}, %r9, 0, {%r7}, "
     "{%h1,%h2}, {%r8}, {%h1,%h2}",
     "----------YYY"},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_"
     "scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {%f1,%f2,%f3,%f4}, "
     "{%r1,%r2,%r3,%r4}, {%r5,%r6,%r7,%r8}, {%f1,%f2,%f3,%f4}, %r9, 0, {%r7}, "
     "{%h1,%h2}, {%r8}, {%h1,%h2}",
     "----------Y-Y"},
    {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1,%r2}, [%r3]",
     "--YYYY-YY-YYY"},
    {"ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r1}, [%r3]",
     "--YYYY-YY-YYY"},
    {"stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r3], {%r1}",
     "--YYYY-YY-YYY"},
    {"cvt.rn.satfinite.e2m1x2.f32 %b1, %f1, %f2", "--YYYY-YY-YYY"},
    {"cvt.rn.satfinite.e2m3x2.f32 %h1, %f1, %f2", "--YYYY-YY-YYY"},
    {"cvt.rp.satfinite.ue8m0x2.f32 %h1, %f1, %f2", "--YYYY-YY-YYY"},
    {"cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2", "YYYYYYYYYYYYY"},
    {"cvt.rs.satfinite.e2m1x4.f32 %h1, {%f1,%f2,%f3,%f4}, %r1",
     "--Y-Y--------"},
    {"redux.sync.min.f32 %f1, %f2, -1", "--YYYY-------"},
    {"redux.sync.min.u32 %r1, %r2, -1", "YYYYYYYYYYYYY"},
    {"add.rn.f32x2 %rd1, %rd2, %rd3", "-YYYYYYYYYYYY"},
    {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::"
     "bytes.b128 [%r1], [%r2]",
     "-YYYYYYYYYYYY"},
    {"setmaxnreg.inc.sync.aligned.u32 64", "Y-YYYY-YY-YYY"},
    {"elect.sync %r1|%p1, -1", "YYYYYYYYYYYYY"},
    {"griddepcontrol.wait", "YYYYYYYYYYYYY"},
    {"st.bulk.weak.shared::cta [%rd1], %rd2, 0", "-YYYYYYYYYYYY"},
    {"wgmma.fence.sync.aligned", "Y------------"},
    {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f1,%f2,%f3,%f4}, "
     "%rd1, %rd2, %p1, 1, 1",
     "Y------------"},
    {"wgmma.wait_group.sync.aligned 1", "Y------------"},
    {"wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 {%r1,%r2,%r3,%r4}, "
     "[%rd1]",
     "YYYYYYYYYYYYY"},
    {"wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 "
     "{%r1,%r2}, {%r3}, {%r4}, {%r5,%r6}",
     "YYYYYYYYYYYYY"},
    {"mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
     "{%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3,%r4}, {%f1,%f2,%f3,%f4}, %r5, 0",
     "YYYYYYYYYYYYY"},
    {"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%rd1,%rd2,%rd3,%rd4}, "
     "{%rd1,%rd2}, {%rd3}, {%rd1,%rd2,%rd3,%rd4}",
     "YYYYYYYYYYYYY"},
    {"multimem.ld_reduce.relaxed.gpu.global.add.f32 %f1, [%rd1]",
     "YYYYYYYYYYYYY"},
    {"multimem.ld_reduce.relaxed.gpu.global.add.acc::f16.v4.e4m3x4 "
     "{%r1,%r2,%r3,%r4}, [%rd1]",
     "--YYYY-YY-Y-Y"},
    {"tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%f1,%f2}, %f3, [%r1]",
     "----YY-YY----"},
    {"vabsdiff4.u32.u32.u32 %r1, %r2, %r3, %r4", "YYYYYYYYYYYYY"},
    {"cvt.rn.satfinite.e2m1x2.f16x2 %b1, %r1", "--YYYY-YY-YYY"},
    {"cvt.rn.satfinite.e4m3x2.f16x2 %h1, %r1", "YYYYYYYYYYYYY"},
};

Module moduleOf(const std::string &target, const std::string &instruction) {
  return parsed(".version 9.2\n.target " + target +
                "\n.address_size 64\n.entry k() {\n"
                ".reg .pred %p<4>; .reg .b8 %b<4>; .reg .b16 %h<8>;\n"
                ".reg .b32 %r<16>; .reg .f32 %f<16>; .reg .b64 %rd<8>;\n" +
                instruction + ";\nret;\n}");
}

} // namespace

TEST(PtxTargets, AgreeWithTheAssembler) {
  for (const auto &row : kRows)
    for (size_t i = 0; i != std::size(kTargets); ++i) {
      Module module = moduleOf(kTargets[i], row.instruction);
      ASSERT_EQ(module.functions.size(), 1u) << row.instruction;
      EXPECT_EQ(checkTarget(module, module.functions[0]).empty(),
                row.accepted[i] == 'Y')
          << row.instruction << " on " << kTargets[i];
    }
}

TEST(PtxTargets, TheRefusalNamesTheTargets) {
  Module module = moduleOf("sm_120a", "redux.sync.min.f32 %f1, %f2, -1");
  std::vector<Diagnostic> found = checkTarget(module, module.functions[0]);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].position.line, 7u);
  EXPECT_EQ(found[0].message,
            "'redux.sync.min.f32' does not exist on sm_120a; it does on "
            "sm_100a, sm_100f, sm_103a, sm_103f, sm_107a and sm_107f");
}
