//===- MmaTest.cpp - the legality table against the document --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Mma.h"
#include "Formats/TextOf.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::hw;
using blockscale::test::textOf;

namespace {

using EF = ElementFormat;

Target target(const char *name) { return *parseTarget(name); }

TEST(MmaTable, RowsPerTarget) {
  EXPECT_EQ(allRows().size(), 120u);
  struct Case {
    const char *name;
    size_t rows;
  };
  for (const Case &c : {Case{"sm_100a", 59},
                        {"sm_103a", 57},
                        {"sm_110a", 59},
                        {"sm_100f", 41},
                        {"sm_103f", 41},
                        {"sm_110f", 41},
                        {"sm_107a", 76},
                        {"sm_107f", 70},
                        {"sm_120a", 18},
                        {"sm_121a", 18},
                        {"sm_120f", 14},
                        {"sm_121f", 14},
                        {"sm_100", 0},
                        {"sm_120", 0}})
    EXPECT_EQ(rowsFor(target(c.name)).size(), c.rows) << c.name;
}

/// One line of the table of shapes, PTX ISA 9.7.16.2.1.
struct ShapeLine {
  MmaKind kind;
  bool sparse;
  unsigned ctaGroup, m, k;
  unsigned nMin, nMax, nStep;
};

const MmaRow *find(const ShapeLine &line) {
  for (const MmaRow *row : rowsFor(target("sm_103a")))
    if (row->kind == line.kind && row->sparse == line.sparse &&
        row->ctaGroup == line.ctaGroup && row->m == line.m && row->k == line.k)
      return row;
  return nullptr;
}

TEST(MmaTable, ShapesOfSection1_2) {
  for (const ShapeLine &line :
       {ShapeLine{MmaKind::MXF8F6F4, false, 1, 128, 32, 8, 256, 8},
        {MmaKind::MXF8F6F4, true, 1, 128, 64, 8, 256, 8},
        {MmaKind::MXF8F6F4, false, 2, 128, 32, 16, 256, 16},
        {MmaKind::MXF8F6F4, false, 2, 256, 32, 16, 256, 16},
        {MmaKind::MXF8F6F4, true, 2, 256, 64, 16, 256, 16},
        {MmaKind::MXF4, false, 1, 128, 64, 8, 256, 8},
        {MmaKind::MXF4, true, 1, 128, 128, 8, 256, 8},
        {MmaKind::MXF4, false, 2, 256, 64, 16, 256, 16},
        {MmaKind::MXF4NVF4, false, 2, 128, 64, 16, 256, 16},
        {MmaKind::MXF4NVF4, true, 2, 256, 128, 16, 256, 16},
        {MmaKind::MXF4, false, 2, 256, 96, 16, 256, 16},
        {MmaKind::MXF4NVF4, false, 1, 128, 96, 16, 256, 16}}) {
    const MmaRow *row = find(line);
    ASSERT_NE(row, nullptr) << kindName(line.kind) << " M=" << line.m;
    EXPECT_EQ(row->nMin, line.nMin);
    EXPECT_EQ(row->nMax, line.nMax);
    EXPECT_EQ(row->nStep, line.nStep);
  }
  for (const ShapeLine &line :
       {ShapeLine{MmaKind::MXF8F6F4, false, 1, 64, 32, 0, 0, 0},
        {MmaKind::MXF4, false, 1, 64, 64, 0, 0, 0},
        {MmaKind::MXF4, false, 1, 256, 64, 0, 0, 0},
        {MmaKind::MXF4, true, 2, 128, 128, 0, 0, 0},
        {MmaKind::MXF4, false, 2, 128, 96, 0, 0, 0},
        {MmaKind::MXF4, true, 1, 128, 96, 0, 0, 0},
        {MmaKind::MXF4, true, 1, 128, 192, 0, 0, 0},
        {MmaKind::MXF8F6F4, false, 1, 128, 96, 0, 0, 0}})
    EXPECT_EQ(find(line), nullptr) << kindName(line.kind) << " M=" << line.m;
}

// PTX ISA 9.7.16.10.7.1 and 9.7.16.10.7.2: scales per MMA and legal ids.
TEST(MmaTable, ScalesAndIds) {
  using Ids = std::vector<unsigned>;
  EXPECT_EQ(scalesPerMma(MmaKind::MXF8F6F4, 32, 32), 1u);
  EXPECT_EQ(scalesPerMma(MmaKind::MXF8F6F4, 32, 64, true), 1u);
  EXPECT_EQ(scalesPerMma(MmaKind::MXF4, 32, 64), 2u);
  EXPECT_EQ(scalesPerMma(MmaKind::MXF4NVF4, 16, 64), 4u);
  EXPECT_EQ(scalesPerMma(MmaKind::MXF4NVF4, 16, 128, true), 4u);
  EXPECT_EQ(scalesPerMma(MmaKind::MXF4, 32, 96), 3u);
  EXPECT_EQ(scalesPerMma(MmaKind::MXF4NVF4, 16, 96), 6u);
  EXPECT_EQ(scalesPerMma(MmaKind::MXF4, 16, 64), 0u);
  EXPECT_EQ(legalScaleIds(MmaKind::MXF8F6F4, 32, 32), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(legalScaleIds(MmaKind::MXF8F6F4, 32, 64, true), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(legalScaleIds(MmaKind::MXF4, 32, 64), (Ids{0, 2}));
  EXPECT_EQ(legalScaleIds(MmaKind::MXF4NVF4, 16, 64), (Ids{0}));
  EXPECT_EQ(legalScaleIds(MmaKind::MXF4, 32, 96), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(legalScaleIds(MmaKind::MXF4NVF4, 16, 96), (Ids{0, 2}));
  EXPECT_EQ(legalScaleIds(MmaKind::MXF4NVF4, 16, 32), Ids{});
}

TEST(MmaTable, InstructionK) {
  EXPECT_EQ(instructionK(MmaKind::MXF8F6F4, false), 32u);
  EXPECT_EQ(instructionK(MmaKind::MXF8F6F4, true), 64u);
  EXPECT_EQ(instructionK(MmaKind::MXF4, false), 64u);
  EXPECT_EQ(instructionK(MmaKind::MXF4NVF4, true), 128u);
  EXPECT_EQ(instructionK(MmaKind::F16, false), 16u);
  EXPECT_EQ(instructionK(MmaKind::TF32, true), 16u);
  EXPECT_EQ(instructionK(MmaKind::I8, false), 32u);
}

// PTX ISA 9.7.16.10.1: N of an N-major B of 8-bit elements.
TEST(MmaTable, NMajorB) {
  const MmaRow *one = find({MmaKind::MXF8F6F4, false, 1, 128, 32, 0, 0, 0});
  const MmaRow *two = find({MmaKind::MXF8F6F4, false, 2, 256, 32, 0, 0, 0});
  ASSERT_TRUE(one && two);
  NRange range = nRange(*one, EF::E4M3, OperandMajor::MN);
  EXPECT_EQ(range.min, 16u);
  EXPECT_EQ(range.step, 16u);
  range = nRange(*two, EF::E5M2, OperandMajor::MN);
  EXPECT_EQ(range.min, 32u);
  EXPECT_EQ(range.max, 256u);
  EXPECT_EQ(range.step, 32u);
  EXPECT_TRUE(one->mnMajor.contains(EF::E4M3));
  EXPECT_FALSE(one->mnMajor.contains(EF::E3M2));
  EXPECT_FALSE(one->mnMajor.contains(EF::E2M1));
  EXPECT_TRUE(
      find({MmaKind::MXF4, false, 1, 128, 64, 0, 0, 0})->mnMajor.empty());
}

TEST(MmaTable, SchemesInOrderOfPreference) {
  using Schemes = std::vector<Scheme>;
  EXPECT_EQ(findSchemes(EF::E2M1, EF::E2M1, EF::UE8M0, 32),
            (Schemes{{MmaKind::MXF4, 32},
                     {MmaKind::MXF4NVF4, 32},
                     {MmaKind::MXF8F6F4, 32}}));
  EXPECT_EQ(findSchemes(EF::E2M1, EF::E2M1, EF::UE4M3, 16),
            (Schemes{{MmaKind::MXF4NVF4, 16}}));
  EXPECT_EQ(findSchemes(EF::E2M1, EF::E2M1, EF::UE8M0, 16),
            (Schemes{{MmaKind::MXF4NVF4, 16}}));
  EXPECT_EQ(findSchemes(EF::E4M3, EF::E2M1, EF::UE8M0, 32),
            (Schemes{{MmaKind::MXF8F6F4, 32}}));
  EXPECT_EQ(findSchemes(EF::E4M3, EF::E4M3, EF::UE8M0, 16), Schemes{});
  // On sm_107 alone.
  EXPECT_EQ(findSchemes(EF::E2M1, EF::E2M1, EF::UE4M3, 32),
            (Schemes{{MmaKind::MXF4NVF4, 32}}));
  EXPECT_EQ(
      findSchemes(EF::E2M1, EF::E2M1, EF::UE4M3, 32, false, target("sm_100a")),
      Schemes{});
  // Sparse: one scale covers twice the logical K.
  EXPECT_EQ(findSchemes(EF::E4M3, EF::E4M3, EF::UE8M0, 32, true), Schemes{});
  EXPECT_EQ(findSchemes(EF::E4M3, EF::E4M3, EF::UE8M0, 64, true),
            (Schemes{{MmaKind::MXF8F6F4, 32}}));
  EXPECT_EQ(findSchemes(EF::E2M1, EF::E2M1, EF::UE4M3, 32, true),
            (Schemes{{MmaKind::MXF4NVF4, 16}}));
  EXPECT_EQ(
      findSchemes(EF::E2M1, EF::E2M1, EF::UE8M0, 16, false, target("sm_120a")),
      (Schemes{{MmaKind::MXF4NVF4, 16}}));
}

// The ISA's tables of types: kind::f16 and kind::tf32 take A and B of one type,
// kind::f8f6f4 and kind::i8 (u8 and s8) any two.
TEST(MmaTable, SchemesWithoutScales) {
  using Schemes = std::vector<Scheme>;
  auto find = [](OperandType a, OperandType b, const char *name) {
    return findSchemes(a, b, std::nullopt, 0, true, target(name));
  };
  OperandType s8 = EF::INT8, u8 = OperandType::uint8(),
              tf32 = OperandType::tf32();
  EXPECT_EQ(find(EF::F16, EF::F16, "sm_100a"), (Schemes{{MmaKind::F16, 0}}));
  EXPECT_EQ(find(EF::BF16, EF::BF16, "sm_103a"), (Schemes{{MmaKind::F16, 0}}));
  EXPECT_EQ(find(EF::F16, EF::BF16, "sm_100a"), Schemes{});
  EXPECT_EQ(find(tf32, tf32, "sm_110a"), (Schemes{{MmaKind::TF32, 0}}));
  EXPECT_EQ(find(EF::E2M1, EF::E5M2, "sm_100f"),
            (Schemes{{MmaKind::F8F6F4, 0}}));
  for (OperandType a : {s8, u8})
    for (OperandType b : {s8, u8}) {
      EXPECT_EQ(find(a, b, "sm_100a"), (Schemes{{MmaKind::I8, 0}}));
      EXPECT_EQ(find(a, b, "sm_103a"), Schemes{});
    }
  EXPECT_EQ(find(s8, EF::E4M3, "sm_100a"), Schemes{});
}

TEST(MmaTable, OperandTypes) {
  EXPECT_EQ(OperandType::uint8().name(), "uint8");
  EXPECT_EQ(OperandType::uint8().bits(), 8u);
  EXPECT_EQ(OperandType::uint8().format(), std::nullopt);
  EXPECT_EQ(OperandType::tf32().bits(), 32u);
  for (const char *name : {"uint8", "ui8", "u8"})
    EXPECT_EQ(parseOperandType(name), OperandType::uint8()) << name;
  for (const char *name : {"int8", "i8", "s8"})
    EXPECT_EQ(parseOperandType(name), OperandType(EF::INT8)) << name;
  EXPECT_NE(OperandType::uint8(), OperandType(EF::INT8));
}

TEST(MmaTable, Spellings) {
  auto spell = [](const char *name, MmaKind kind, unsigned block, bool sparse,
                  unsigned ctaGroup, OperandType a, OperandType b) {
    for (const MmaRow *row : rowsFor(target(name)))
      if (row->kind == kind && row->block == block && row->sparse == sparse &&
          row->ctaGroup == ctaGroup)
        return ptxSpelling(*row, a, b);
    return std::string();
  };
  EXPECT_EQ(spell("sm_100a", MmaKind::MXF4, 32, false, 1, EF::E2M1, EF::E2M1),
            "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32");
  EXPECT_EQ(
      spell("sm_100a", MmaKind::MXF4NVF4, 16, true, 2, EF::E2M1, EF::E2M1),
      "tcgen05.mma.sp.cta_group::2.kind::mxf4nvf4.block_scale.block16");
  EXPECT_EQ(spell("sm_100f", MmaKind::F16, 0, false, 1, EF::F16, EF::F16),
            "tcgen05.mma.cta_group::1.kind::f16");
  EXPECT_EQ(
      spell("sm_120a", MmaKind::MXF4NVF4, 16, false, 1, EF::E2M1, EF::E2M1),
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::"
      "4X.f32.e2m1.e2m1.f32.ue4m3");
  EXPECT_EQ(
      spell("sm_121a", MmaKind::MXF8F6F4, 32, true, 1, EF::E4M3, EF::E2M1),
      "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4."
      "block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0");
  EXPECT_EQ(spell("sm_120a", MmaKind::I8, 0, false, 1, EF::INT8, EF::INT8),
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32");
}

TEST(MmaTable, SourcesAndVersions) {
  const MmaRow *one = find({MmaKind::MXF4, false, 1, 128, 96, 0, 0, 0});
  const MmaRow *two = find({MmaKind::MXF4, false, 2, 256, 96, 0, 0, 0});
  const MmaRow *dense = find({MmaKind::MXF4, false, 1, 128, 64, 0, 0, 0});
  ASSERT_TRUE(one && two && dense);
  EXPECT_EQ(one->source, Source::PublicKernels);
  EXPECT_EQ(two->source, Source::IsaTable);
  EXPECT_EQ(sourceOn(*dense, target("sm_110a")), Source::IsaTable);
  EXPECT_EQ(sourceOn(*dense, target("sm_110f")), Source::Inferred);
  EXPECT_EQ(minPtxVersion(*dense, target("sm_100a")), 88u);
  EXPECT_EQ(minPtxVersion(*dense, target("sm_110a")), 90u);
}

// What ptxas takes (docs/sources.md, [ptxas]), row by row: 100a 103a 110a 100f
// 103f 120a 121a 120f.
TEST(Features, AsPtxasTakesThem) {
  const char *names[] = {"sm_100a", "sm_103a", "sm_110a", "sm_100f",
                         "sm_103f", "sm_120a", "sm_121a", "sm_120f"};
  struct Line {
    Feature feature;
    const char *answers;
  };
  const Line lines[] = {{Feature::Tcgen05, "YYYYY---"},
                        {Feature::Tcgen05ScaleVector, "YYY-----"},
                        {Feature::Tcgen05Shift, "YYY-----"},
                        {Feature::Tcgen05LoadReduce, "-YY-Y---"},
                        {Feature::TmaCtaGroup2, "YYYYY---"},
                        {Feature::TmaSubByteToCluster, "YYYYY---"},
                        {Feature::AbsoluteLeadingOffset, "-Y------"},
                        {Feature::MmaSyncF8, "YYYYYYYY"},
                        {Feature::MmaSyncF6F4, "-----YYY"},
                        {Feature::MmaSyncBlockScale, "-----YYY"},
                        {Feature::MmaSyncSparseMxf8f6f4, "-----YYY"},
                        {Feature::MmaSyncSparseFp4, "-----YY-"},
                        {Feature::LdmatrixSubByte, "YYYYYYYY"},
                        {Feature::NarrowConvert, "YYYYYYYY"},
                        {Feature::StochasticConvert, "YY------"},
                        {Feature::ReduxF32, "YY-YY---"},
                        {Feature::PackedF32, "YYYYYYYY"},
                        {Feature::ClusterLaunchControl, "YYYYYYYY"},
                        {Feature::TensorAllocExclusive, "YYYYY---"},
                        {Feature::RowPerLaneScales, "--------"},
                        {Feature::CollectorB, "--------"},
                        {Feature::CommitReadOfA, "--------"},
                        {Feature::Multicast32, "--------"},
                        {Feature::TensorMapOverride, "--------"},
                        {Feature::Ue5m3Convert, "--------"},
                        {Feature::LutB, "--------"},
                        {Feature::KindTi16, "--------"},
                        {Feature::LoadCompressed, "--------"},
                        {Feature::OversizedShared, "--------"}};
  EXPECT_EQ(allFeatures().size(), std::size(lines));
  for (const Line &line : lines) {
    for (size_t i = 0; i < std::size(names); ++i)
      EXPECT_EQ(isAvailable(line.feature, target(names[i])),
                line.answers[i] == 'Y')
          << featureName(line.feature) << " on " << names[i];
    EXPECT_FALSE(isAvailable(line.feature, target("sm_100")));
  }
  EXPECT_EQ(textOf(whyNotFeature(Feature::ReduxF32, target("sm_120a"))),
            "'redux.sync on f32' does not exist on 'sm_120a'; it exists on "
            "sm_100a, sm_103a, sm_107a, sm_100f, sm_103f, sm_107f");
  EXPECT_FALSE(whyNotFeature(Feature::ReduxF32, target("sm_103a")));
}

// A feature's row must sit at its enumerator.
TEST(Features, EveryFeatureIsItsOwnRow) {
  for (size_t i = 0; i < allFeatures().size(); ++i)
    EXPECT_EQ(static_cast<size_t>(allFeatures()[i]), i);
  for (size_t i = 0; i < allKinds().size(); ++i)
    EXPECT_EQ(static_cast<size_t>(allKinds()[i]), i);
  for (size_t i = 0; i < allChips().size(); ++i)
    EXPECT_EQ(static_cast<size_t>(chipInfo(allChips()[i]).chip), i);
}

// One scale covers 64 or 32 elements of K where A is sparse (PTX ISA
// 9.7.16.10.7.1).
TEST(Mma, ScaleSpans) {
  EXPECT_EQ(scaleSpan(32, false), 32u);
  EXPECT_EQ(scaleSpan(16, false), 16u);
  EXPECT_EQ(scaleSpan(32, true), 64u);
  EXPECT_EQ(scaleSpan(16, true), 32u);
  for (const MmaRow &row : allRows()) {
    if (row.scalesPerMma) {
      EXPECT_EQ(row.scaleSpan(), scaleSpan(row.block, row.sparse))
          << row.qualifier << " K = " << row.k;
    }
  }
}

} // namespace
