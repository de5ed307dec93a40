//===- CheckTest.cpp - legal or why not, and what else --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Check.h"
#include "Formats/TextOf.h"
#include "blockscale/HW/LegalityTable.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::hw;
using blockscale::test::textOf;

namespace {

using EF = ElementFormat;

Target target(const char *name) { return *parseTarget(name); }

/// A legal dense mxf4 instruction of `name`, to be spoilt by the tests.
MmaQuery mxf4(const char *name) {
  MmaQuery query;
  query.target = target(name);
  query.kind = MmaKind::MXF4;
  query.a = query.b = EF::E2M1;
  query.k = 64;
  if (!hasTensorMemory(query.target)) {
    query.m = 16;
    query.n = 8;
  }
  return query;
}

MmaQuery mxf8(const char *name) {
  MmaQuery query = mxf4(name);
  query.kind = MmaKind::MXF8F6F4;
  query.a = query.b = EF::E4M3;
  query.k = 32;
  return query;
}

std::string reason(MmaQuery query,
                   const std::function<void(MmaQuery &)> &spoil) {
  EXPECT_EQ(whyNot(query), std::nullopt);
  spoil(query);
  return textOf(whyNot(query));
}

TEST(WhyNot, SentencesOfTheCommonMistakes) {
  EXPECT_EQ(reason(mxf4("sm_100a"), [](MmaQuery &q) { q.k = 96; }),
            "K = 96 is not legal for dense 'mxf4' on 'sm_100a': expected 64; "
            "it exists on sm_103a, sm_107a only; nearest legal: K = 64");
  EXPECT_EQ(reason(mxf8("sm_100a"), [](MmaQuery &q) { q.m = 64; }),
            "M = 64 is not legal for dense 'mxf8f6f4' with cta_group 1 on "
            "'sm_100a': expected 128; nearest legal: M = 128");
  EXPECT_EQ(reason(mxf4("sm_103a"),
                   [](MmaQuery &q) {
                     q.sparse = true;
                     q.k = 96;
                   }),
            "K = 96 is not legal for sparse 'mxf4' on 'sm_103a': expected 128; "
            "nearest legal: K = 128");
  EXPECT_EQ(
      reason(mxf4("sm_120a"),
             [](MmaQuery &q) { q.family = MmaFamily::Tcgen05; }),
      "tcgen05.mma is not legal on 'sm_120a': expected mma.sync; it exists on "
      "sm_100a, sm_103a, sm_107a, sm_110a, sm_100f, sm_103f, sm_107f, sm_110f "
      "only; nearest legal: mma.sync");
  EXPECT_EQ(reason(mxf4("sm_120f"),
                   [](MmaQuery &q) {
                     q.sparse = true;
                     q.k = 128;
                   }),
            "a sparse A is not legal for 'mxf4' (mma.sync) on 'sm_120f': "
            "expected dense; it exists on sm_100a, sm_103a, sm_110a, sm_120a, "
            "sm_121a only; nearest legal: target = sm_120a");
  EXPECT_EQ(
      reason(mxf4("sm_120a"), [](MmaQuery &q) { q.ctaGroup = 2; }),
      "cta_group 2 is not legal for dense 'mxf4' (mma.sync) on 'sm_120a': "
      "expected 1; it exists on sm_100a, sm_103a, sm_107a, sm_110a, sm_100f, "
      "sm_103f, sm_107f, sm_110f only; nearest legal: cta_group = 1");
  EXPECT_EQ(reason(mxf4("sm_100a"), [](MmaQuery &q) { q.scale = EF::UE4M3; }),
            "scale type 'ue4m3' is not legal for 'mxf4' on 'sm_100a': expected "
            "ue8m0; nearest legal: scale = ue8m0");
  EXPECT_EQ(reason(mxf8("sm_100a"), [](MmaQuery &q) { q.block = 16; }),
            "block 16 with ue8m0 is not legal for 'mxf8f6f4' on 'sm_100a': "
            "expected 32; nearest legal: block = 32");
}

TEST(WhyNot, SentencesOfTypesAndPositions) {
  EXPECT_EQ(reason(mxf4("sm_100a"), [](MmaQuery &q) { q.b = EF::E4M3; }),
            "type 'e4m3' of B with 'e2m1' of A is not legal for 'mxf4' on "
            "'sm_100a': expected e2m1; nearest legal: kind = mxf8f6f4, K = 32");
  EXPECT_EQ(
      reason(mxf4("sm_100a"), [](MmaQuery &q) { q.bMajor = OperandMajor::MN; }),
      "N-major B of type 'e2m1' is not legal for dense 'mxf4' with cta_group 1 "
      "on 'sm_100a': expected K-major; nearest legal: K-major B");
  EXPECT_EQ(reason(mxf8("sm_100a"),
                   [](MmaQuery &q) {
                     q.bMajor = OperandMajor::MN;
                     q.n = 24;
                   }),
            "N = 24 of an N-major B is not legal for dense 'mxf8f6f4' with "
            "cta_group 1 on 'sm_100a': expected 16..256 step 16; nearest "
            "legal: N = 32");
  EXPECT_EQ(reason(mxf4("sm_100a"), [](MmaQuery &q) { q.sfbId = 1; }),
            "SFB_ID = 1 at K = 64 is not legal for dense 'mxf4' with cta_group "
            "1 on 'sm_100a': expected 0, 2; nearest legal: SFB_ID = 0");
  MmaQuery plain = mxf4("sm_100a");
  plain.target = target("sm_100");
  EXPECT_EQ(textOf(whyNot(plain)), textOf(whyNotTarget(target("sm_100"))));
}

TEST(WhyNot, UnscaledKinds) {
  MmaQuery query;
  query.target = target("sm_103a");
  query.kind = MmaKind::I8;
  query.a = query.b = EF::INT8;
  query.scale = std::nullopt;
  query.block = 0;
  EXPECT_EQ(textOf(whyNot(query)).find("kind 'i8' is not legal on 'sm_103a'"),
            0u);
  query.target = target("sm_100a");
  EXPECT_EQ(whyNot(query), std::nullopt);
  query.scale = EF::UE8M0;
  query.block = 32;
  EXPECT_EQ(textOf(whyNot(query)),
            "scale type 'ue8m0' is not legal for 'i8' on 'sm_100a': expected "
            "no scale; nearest legal: no scale");
  query = {};
  query.kind = MmaKind::TF32;
  query.a = query.b = OperandType::tf32();
  query.scale = std::nullopt;
  query.block = 0;
  query.k = 16;
  query.sparse = true;
  EXPECT_EQ(whyNot(query), std::nullopt);
}

TEST(WhyNot, WildNumbersOnlyGetASentence) {
  for (unsigned wild : {0u, 1u, 7u, 255u, 257u, 0x7fffffffu, 0xffffffffu}) {
    for (auto spoil : {+[](MmaQuery &q, unsigned v) { q.m = v; },
                       +[](MmaQuery &q, unsigned v) { q.n = v; },
                       +[](MmaQuery &q, unsigned v) { q.k = v; },
                       +[](MmaQuery &q, unsigned v) { q.block = v; },
                       +[](MmaQuery &q, unsigned v) { q.ctaGroup = v; },
                       +[](MmaQuery &q, unsigned v) { q.sfaId = v + 4; }}) {
      MmaQuery query = mxf4("sm_103a");
      spoil(query, wild);
      if (!whyNot(query))
        continue;
      std::optional<MmaQuery> nearest = nearestLegal(query);
      ASSERT_TRUE(nearest);
      EXPECT_EQ(whyNot(*nearest), std::nullopt);
    }
  }
}

/// PTX ISA 9.7.16.2.1 and 9.7.16.10.7.1 and what ptxas takes, as conditions
/// instead of rows.
bool isLegalByTheDocument(const MmaQuery &q) {
  std::string name = targetName(q.target);
  bool arch = name.back() == 'a';
  bool plain = name.back() != 'a' && name.back() != 'f';
  bool warp = name.find("sm_12") == 0;
  bool fp4Kind = q.kind != MmaKind::MXF8F6F4;
  if (plain || (fp4Kind && (q.a != EF::E2M1 || q.b != EF::E2M1)))
    return false;
  if (q.kind != MmaKind::MXF4NVF4 && (q.block != 32 || q.scale != EF::UE8M0))
    return false;
  // PTX ISA 9.4, the table of scale types.
  bool rubin = name.find("sm_107") == 0;
  bool isNew = q.scale == EF::UE5M3 || (q.scale == EF::UE4M3 && q.block != 16);
  if (isNew && !rubin)
    return false;
  if (q.sparse && fp4Kind && (!arch || rubin))
    return false;
  unsigned k = (fp4Kind ? 64 : 32) * (q.sparse ? 2 : 1);
  if (warp)
    return q.k == k && q.m == 16 && q.n == 8 && q.ctaGroup == 1;
  unsigned step = q.ctaGroup == 2 ? 16 : 8;
  if (q.k == 96) {
    if (!fp4Kind || q.sparse || isNew ||
        (name != "sm_103a" && name != "sm_107a"))
      return false;
    if (q.m != (q.ctaGroup == 2 ? 256u : 128u))
      return false;
    // Of blocks of 16 with ue8m0 the facts on sm_107 say nothing.
    if (rubin && q.scale == EF::UE8M0 && q.block == 16)
      return false;
    if (!rubin)
      step = 16;
  } else if (rubin && !q.sparse && q.k == 2 * k) {
    if (q.m != (q.ctaGroup == 2 ? 256u : 128u))
      return false;
  } else if (q.k != k) {
    return false;
  }
  bool rows =
      q.ctaGroup == 1 ? q.m == 128 : q.m == 256 || (q.m == 128 && !q.sparse);
  return rows && q.n % step == 0 && q.n >= step && q.n <= 256;
}

/// Calls `visit` with every combination of the fields that rules relate.
void sweep(const std::function<void(const MmaQuery &)> &visit) {
  const OperandType types[] = {EF::E2M1, EF::E3M2, EF::E4M3};
  MmaQuery q;
  for (Target t : allTargets())
    for (MmaKind kind : {MmaKind::MXF4, MmaKind::MXF4NVF4, MmaKind::MXF8F6F4})
      for (OperandType a : types)
        for (OperandType b : types)
          for (EF scale : {EF::UE8M0, EF::UE4M3, EF::UE5M3})
            for (unsigned block : {16, 32})
              for (bool sparse : {false, true})
                for (unsigned k : {32, 64, 96, 128})
                  for (unsigned group : {1, 2})
                    for (unsigned m : {16, 64, 128, 256})
                      for (unsigned n : {8, 16, 24, 248, 256, 264}) {
                        q.target = t;
                        q.kind = kind;
                        q.a = a;
                        q.b = b;
                        q.scale = scale;
                        q.block = block;
                        q.sparse = sparse;
                        q.k = k;
                        q.ctaGroup = group;
                        q.m = m;
                        q.n = n;
                        visit(q);
                      }
}

TEST(WhyNot, ExactlyTheRowsAreLegal) {
  size_t legal = 0, wrong = 0;
  sweep([&](const MmaQuery &query) {
    bool expected = isLegalByTheDocument(query);
    legal += expected;
    if ((findRow(query) != nullptr) != expected && ++wrong < 5)
      ADD_FAILURE() << targetName(query.target) << " " << kindName(query.kind)
                    << " M=" << query.m << " N=" << query.n << " K=" << query.k
                    << ": expected " << expected;
  });
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(legal, 1000u);
}

TEST(NearestLegal, IsLegalAndOnTheChip) {
  size_t index = 0, refused = 0;
  sweep([&](const MmaQuery &query) {
    if (++index % 101)
      return;
    std::optional<MmaQuery> nearest = nearestLegal(query);
    ASSERT_TRUE(nearest);
    EXPECT_NE(findRow(*nearest), nullptr);
    EXPECT_EQ(nearest->target.chip, query.target.chip);
    std::optional<Reason> why = whyNot(query);
    EXPECT_EQ(why.has_value(), !isLegalByTheDocument(query));
    if (!why) {
      EXPECT_EQ(describeChange(query, *nearest), "");
      return;
    }
    ++refused;
    EXPECT_NE(why->text.find("nearest legal"), std::string::npos) << why->text;
    EXPECT_NE(describeChange(query, *nearest), "");
  });
  EXPECT_GT(refused, 1000u);
}

TEST(NearestLegal, KeepsTheDataAndChangesTheShape) {
  MmaQuery query = mxf8("sm_100a");
  query.kind = MmaKind::MXF4;
  MmaQuery nearest = nearestLegal(query).value();
  EXPECT_EQ(nearest.kind, MmaKind::MXF8F6F4);
  EXPECT_TRUE(nearest.a == EF::E4M3);
  query = mxf4("sm_100a");
  query.scale = EF::UE4M3;
  query.block = 16;
  nearest = nearestLegal(query).value();
  EXPECT_EQ(nearest.kind, MmaKind::MXF4NVF4);
  EXPECT_EQ(nearest.block, 16u);
  query = mxf4("sm_100a");
  query.n = 250;
  EXPECT_EQ(nearestLegal(query)->n, 248u);
  query.n = 12;
  EXPECT_EQ(nearestLegal(query)->n, 16u);
  query.n = 1000;
  EXPECT_EQ(nearestLegal(query)->n, 256u);
  query = mxf4("sm_103a");
  query.target = target("sm_103f");
  query.k = 96;
  nearest = nearestLegal(query).value();
  EXPECT_EQ(targetName(nearest.target), "sm_103a");
  EXPECT_EQ(nearest.k, 96u);
}

TEST(WhyNotScaleSpan, SparseCoversTwice) {
  Target chip = target("sm_100a");
  EXPECT_EQ(whyNotScaleSpan(EF::E4M3, EF::E4M3, EF::UE8M0, 32, false, chip),
            std::nullopt);
  EXPECT_EQ(
      textOf(whyNotScaleSpan(EF::E4M3, EF::E4M3, EF::UE8M0, 32, true, chip)),
      "no sparse instruction on 'sm_100a' multiplies 'e4m3' by 'e4m3' with one "
      "'ue8m0' scale per 32 elements of K: expected one ue8m0 per 64");
  EXPECT_EQ(whyNotScaleSpan(EF::E2M1, EF::E2M1, EF::UE4M3, 32, true, chip),
            std::nullopt);
  EXPECT_TRUE(whyNotScaleSpan(EF::BF16, EF::E2M1, EF::UE8M0, 32, false, chip));
}

TEST(ExplainLegality, FillsWhatIsMissing) {
  LegalityQuestion question;
  question.target = "sm_100a";
  question.a = question.b = "f4E2M1FN";
  question.scale = "ue4m3";
  Result<Legality> answer = explainLegality(question);
  ASSERT_TRUE(answer) << textOf(answer);
  EXPECT_TRUE(answer->legal);
  EXPECT_EQ(
      answer->text,
      "legal: tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 "
      "on sm_100a, e2m1 x e2m1, ue4m3 per 16 elements of K, 4 scales per "
      "row, ids 0, M = 128, N = 128 of 8..256 step 8, K = 64, PTX 8.8 or "
      "newer (source: ISA table; PTX ISA 9.7.16.2.1, 9.7.16.10.7)");
  question.k = 96;
  answer = explainLegality(question);
  ASSERT_TRUE(answer) << textOf(answer);
  EXPECT_FALSE(answer->legal);
  EXPECT_EQ(answer->text.find("illegal: K = 96 is not legal for dense"), 0u);
  question = {};
  question.target = "sm_100a";
  question.kind = "mxf8f6f4";
  question.block = 16;
  EXPECT_EQ(explainLegality(question)->text,
            "illegal: block 16 with ue8m0 is not legal for 'mxf8f6f4' on "
            "'sm_100a': expected 32; nearest legal: block = 32");
}

// int4 counts in 1/4 up to 7/4: e2m1 does not hold 5/4, e2m3 and e4m3 hold all.
TEST(Check, NearestTypeHoldsAllValues) {
  MmaQuery query;
  query.target = *parseTarget("sm_100a");
  query.a = query.b = ElementFormat::INT4;
  std::optional<MmaQuery> nearest = nearestLegal(query);
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->a, OperandType(ElementFormat::E2M3));
  EXPECT_EQ(nearest->b, OperandType(ElementFormat::E2M3));
  EXPECT_EQ(nearest->kind, MmaKind::MXF8F6F4);
  EXPECT_EQ(whyNot(*nearest), std::nullopt);
}

TEST(ExplainLegality, TableAsJson) {
  std::string all = legalityTableJson(std::nullopt);
  EXPECT_EQ(all.find("{\n  \"targets\": [\"sm_100a\", \"sm_103a\", "), 0u);
  EXPECT_NE(
      all.find("{\"family\": \"tcgen05.mma\", \"kind\": \"mxf4nvf4\", "
               "\"sparse\": true, \"pattern\": \"4:8 in pairs\", \"types\": "
               "[\"e2m1\"], \"same_types\": false, \"scale\": \"ue4m3\", "
               "\"block\": 16, \"k_per_scale\": 32, \"scales_per_mma\": 4, "
               "\"scale_ids\": [0], \"cta_group\": 1, \"m\": 128, \"n\": "
               "{\"min\": 8, \"max\": 256, \"step\": 8}, \"k\": 128, "
               "\"mn_major\": [], \"targets\": [\"sm_100a\", \"sm_103a\", "
               "\"sm_110a\"], \"ptx\": \"8.8\", \"written\": true, "
               "\"source\": \"ISA table\", \"sections\": "
               "\"9.7.16.2.1, 9.7.16.10.7, 9.7.16.10.8\", "
               "\"evidence\": \"\"}"),
      std::string::npos);
  std::string warp = legalityTableJson(*parseTarget("sm_120a"));
  EXPECT_EQ(warp.find("tcgen05"), std::string::npos);
  EXPECT_NE(warp.find("\"kind\": \"f16\""), std::string::npos);
}

TEST(ExplainLegality, UnknownNames) {
  LegalityQuestion question;
  question.target = "sm_90a";
  EXPECT_EQ(textOf(explainLegality(question)).find("unknown target 'sm_90a'"),
            0u);
  question.target = "sm_100a";
  question.kind = "mxf6";
  EXPECT_EQ(textOf(explainLegality(question)),
            "unknown kind 'mxf6'; known kinds: mxf4, mxf4nvf4, mxf8f6f4, "
            "f8f6f4, f16, tf32, i8");
  question.kind = "mxf4";
  question.a = "e1m2";
  EXPECT_EQ(textOf(explainLegality(question)), "unknown type of A 'e1m2'");
}

TEST(LegalityTable, MarkdownAndCsv) {
  std::string markdown = legalityTableMarkdown();
  EXPECT_EQ(std::count(markdown.begin(), markdown.end(), '\n'), 122);
  EXPECT_NE(markdown.find(
                "| tcgen05.mma | mxf4nvf4 | e2m1 | ue4m3 | 16 | 16 | 6 | 0, 2 "
                "| 1 | 128 | 16..256 step 16 | 96 | | | "
                ".block_scale.block16 | sm_103a | 8.8 | public kernels | "),
            std::string::npos);
  std::string csv = legalityTableCsv();
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 121);
  EXPECT_EQ(csv.find("instruction,kind,A and B,scale,block,"), 0u);
}

} // namespace
