//===- PtxVersionTest.cpp - which PTX an instruction needs ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The assembler is the witness: it takes each instruction in the version that
// the table says and refuses it in the one before.
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/PtxVersion.h"
#include "blockscale/Target/PTX/Ptxas.h"
#include "gtest/gtest.h"

using namespace blockscale;

namespace {

struct Instruction {
  const char *name, *chip, *text;
  unsigned version;
};

constexpr Instruction kInstructions[] = {
    {"Fp4ByBlocksOf16", "sm_120a",
     "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale"
     ".scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 {%f0,%f1,%f2,%f3},"
     "{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3},%r0,{0,0},%r1,{0,0};",
     91},
    {"ToS2f6", "sm_100a", "cvt.rn.satfinite.s2f6x2.f32 %h0,%f0,%f1;", 91},
    {"ToS2f6Scaled", "sm_100a",
     "cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.f32 %h0,%f0,%f1,%h1;", 91},
    {"F16ToFp6", "sm_100a", "cvt.rn.satfinite.e2m3x2.f16x2 %h0,%r0;", 91},
    {"Bf16ToFp8", "sm_100a", "cvt.rn.satfinite.e4m3x2.bf16x2 %h0,%r0;", 91},
    {"Fp8ToBf16", "sm_100a", "cvt.rn.bf16x2.e4m3x2 %r0,%h0;", 92},
    {"Fp8ToBf16Scaled", "sm_100a",
     "cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 %r0,%h0,%h1;", 92},
    {"Clmad", "sm_100a", "clmad.lo.u64 %rd0,%rd1,%rd2,%rd0;", 93},
    {"AllocExclusive", "sm_100a",
     "tcgen05.alloc.exclusive.cta_group::1.sync.aligned.shared::cta.b32 [%r0],"
     "384;",
     94},
    {"AllocExclusiveLast", "sm_100a",
     "tcgen05.alloc.cta_group::1.sync.aligned.exclusive.shared::cta.b32 [%r0],"
     "384;",
     94},
    {"DeallocExclusive", "sm_100a",
     "tcgen05.dealloc.exclusive.cta_group::1.sync.aligned.b32 %r0,384;", 94},
    {"CommitMulticast16", "sm_100a",
     "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster"
     ".multicast::cluster::16b.b64 [%r0],%h0;",
     94},
    {"FabricCommit", "sm_100a", "fabric.submit.commit_group;", 95},
    {"LocalityDomain", "sm_100a", "mov.u32 %r0,%locality_domain_id;", 95},
};

/// What only sm_107a has: no version before 9.4 knows the chip.
constexpr Instruction kRubinInstructions[] = {
    {"ToUe5m3", "sm_107a", "cvt.rn.satfinite.ue5m3x2.f32 %h0,%f0,%f1;", 94},
    {"TowardZero", "sm_107a", "cvt.rz.satfinite.e4m3x2.f32 %h0,%f0,%f1;", 94},
    {"ReadA", "sm_107a",
     "tcgen05.commit.cta_group::1.mbarrier::arrive::one.sync_restrict::shared"
     "::read::mma::a.shared::cluster.b64 [%r0];",
     94},
    {"CollectorB", "sm_107a",
     "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16.collector::b"
     "::fill [%r0],%rd0,%rd1,%r1,[%r2],[%r3],%p0;",
     94},
    {"CommitMulticast32", "sm_107a",
     "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster"
     ".multicast::cluster::32b.b64 [%r0],%r1;",
     94},
};

std::string moduleOf(const Instruction &instruction, unsigned version) {
  return ".version " + hw::ptxVersionName(version) + "\n.target " +
         instruction.chip +
         "\n.address_size 64\n.visible .entry k() {\n"
         "  .reg .b32 %r<6>;\n  .reg .b64 %rd<3>;\n  .reg .f32 %f<4>;\n"
         "  .reg .b16 %h<2>;\n  .reg .pred %p<1>;\n  " +
         instruction.text + "\n  ret;\n}\n";
}

bool assembles(const Instruction &instruction, unsigned version) {
  PtxasOptions options;
  options.program = BLOCKSCALE_NEWEST_PTXAS;
  options.chip = instruction.chip;
  options.optLevel = 0;
  llvm::Expected<PtxasResult> result =
      runPtxas(moduleOf(instruction, version), options);
  if (!result)
    llvm::consumeError(result.takeError());
  return bool(result);
}

TEST(PtxVersion, IsTheSmallestThatTheAssemblerTakes) {
  for (const Instruction &one : kInstructions) {
    EXPECT_EQ(hw::ptxVersionUsed(one.text), one.version) << one.name;
    EXPECT_TRUE(assembles(one, one.version)) << one.name;
    EXPECT_FALSE(assembles(one, one.version - 1)) << one.name;
  }
}

TEST(PtxVersion, OfWhatOnlyRubinHas) {
  for (const Instruction &one : kRubinInstructions) {
    EXPECT_EQ(hw::ptxVersionUsed(one.text), one.version) << one.name;
    EXPECT_TRUE(assembles(one, one.version)) << one.name;
  }
}

TEST(PtxVersion, OfWhatIsOldIsNinePointZero) {
  EXPECT_EQ(hw::ptxVersionUsed(""), 90u);
  EXPECT_EQ(hw::ptxVersionUsed(
                "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0],"
                " 512;\n// .exclusive\n"),
            90u);
  EXPECT_EQ(
      hw::ptxVersionUsed("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4"
                         ".block_scale.scale_vec::4X.f32.e2m1.e2m1.f32"
                         ".ue4m3 {};"),
      90u);
  EXPECT_EQ(hw::ptxVersionUsed("cvt.rn.f16x2.e4m3x2 %r0, %h0;"), 90u);
  EXPECT_EQ(hw::ptxVersionUsed("cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r0;"), 90u);
}

// PTX ISA 9.4, "Release Notes".
TEST(PtxVersion, NeedsARelease) {
  EXPECT_EQ(hw::cudaReleaseOf(86), hw::CudaRelease(12, 7));
  EXPECT_EQ(hw::cudaReleaseOf(88), hw::CudaRelease(12, 9));
  EXPECT_EQ(hw::cudaReleaseOf(90), hw::CudaRelease(13, 0));
  EXPECT_EQ(hw::cudaReleaseOf(93), hw::CudaRelease(13, 3));
  EXPECT_EQ(hw::cudaReleaseOf(94), hw::CudaRelease(13, 4));
  EXPECT_EQ(hw::cudaReleaseOf(95), hw::CudaRelease(13, 5));
  EXPECT_EQ(hw::cudaReleaseOf(97), hw::CudaRelease(13, 7));
}

TEST(PtxVersion, IsReadFromTheHeader) {
  EXPECT_EQ(ptxVersionOf("//\n// .version 1.0\n.version 9.4\n.target sm_1\n"),
            94u);
  EXPECT_EQ(ptxVersionOf("  .version\t8.8\n"), 88u);
  EXPECT_EQ(ptxVersionOf(".version nine\n"), 0u);
  EXPECT_EQ(ptxVersionOf(""), 0u);
}

std::string errorOf(llvm::Expected<std::string> chosen) {
  return chosen ? "found " + *chosen : llvm::toString(chosen.takeError());
}

TEST(ChoosePtxas, TakesTheOneThatKnowsTheVersion) {
  // A name that nothing asks: PTX 9.0 needs no look.
  EXPECT_EQ(errorOf(choosePtxas("/no/such", true, ".version 9.0\n")),
            "found /no/such");
  EXPECT_EQ(
      errorOf(choosePtxas(BLOCKSCALE_NEWEST_PTXAS, false, ".version 9.5\n")),
      "found " BLOCKSCALE_NEWEST_PTXAS);
  EXPECT_EQ(
      errorOf(choosePtxas(BLOCKSCALE_NEWEST_PTXAS, false, ".version 9.9\n"))
          .substr(0, 38),
      "PTX 9.9 needs ptxas of CUDA 13.9 or ne");
  EXPECT_EQ(errorOf(choosePtxas("/no/such", false, ".version 9.4\n")),
            "PTX 9.4 needs ptxas of CUDA 13.4 or newer, which the wheel "
            "'nvidia-cuda-nvcc' has, too; '/no/such' is of no release that it "
            "tells");
}

} // namespace
