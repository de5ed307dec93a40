//===- RubinTest.cpp - what is new on sm_107 ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Literal numbers of the tables that test/oracle/README.md describes under
// "rubin", and its tables.
//
//===----------------------------------------------------------------------===//

#include "Formats/OracleCsv.h"
#include "Formats/TextOf.h"
#include "blockscale/HW/Check.h"
#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Part.h"
#include "blockscale/HW/ScaleLayout.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::hw;
using blockscale::test::CsvRow;
using blockscale::test::readOracle;
using blockscale::test::textOf;

namespace {

using F = ElementFormat;

constexpr TargetVariant kA = TargetVariant::ArchSpecific;
constexpr TargetVariant kF = TargetVariant::Family;
constexpr Target kRubin{Chip::SM107, kA};

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(part);
  return parts;
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

TEST(Rubin, IsTheThirdChipOfItsFamily) {
  EXPECT_EQ(targetName(kRubin), "sm_107a");
  EXPECT_EQ(targetName({Chip::SM107, kF}), "sm_107f");
  EXPECT_EQ(*parseTarget("sm_107a"), kRubin);
  EXPECT_EQ(minPtxVersion(kRubin), 94u);
  EXPECT_EQ(minPtxVersion({Chip::SM107, kF}), 94u);
  struct {
    Target target;
    Chip chip;
    bool runs;
  } rows[] = {
      {{Chip::SM100, kF}, Chip::SM107, true},
      {{Chip::SM103, kF}, Chip::SM107, true},
      {{Chip::SM107, kF}, Chip::SM107, true},
      {{Chip::SM107, kF}, Chip::SM100, false},
      {{Chip::SM107, kF}, Chip::SM103, false},
      {{Chip::SM103, kF}, Chip::SM100, false},
      {{Chip::SM100, kF}, Chip::SM103, true},
      {{Chip::SM100, kF}, Chip::SM110, false},
      {{Chip::SM107, kF}, Chip::SM110, false},
      {{Chip::SM110, kF}, Chip::SM107, false},
      {{Chip::SM100, kA}, Chip::SM107, false},
      {{Chip::SM103, kA}, Chip::SM107, false},
      {{Chip::SM107, kA}, Chip::SM107, true},
      {{Chip::SM120, kF}, Chip::SM121, true},
  };
  for (const auto &row : rows)
    EXPECT_EQ(runsOn(row.target, row.chip), row.runs)
        << targetName(row.target) << " on " << chipInfo(row.chip).name;
}

TEST(Rubin, Limits) {
  const ChipInfo &info = chipInfo(Chip::SM107);
  EXPECT_EQ(info.sharedMemoryPerCta, 232448u);
  EXPECT_EQ(info.oversizedSharedPerCta, 334848u);
  EXPECT_EQ(info.sharedMemoryPerSm, 228u * 1024);
  EXPECT_EQ(info.oversizedSharedPerSm, 328u * 1024);
  EXPECT_EQ(info.maxThreadsPerSm, 1024u);
  EXPECT_EQ(info.maxCtasPerSm, 16u);
  EXPECT_EQ(info.tensorMemoryColumns, 576u);
  EXPECT_EQ(chipInfo(Chip::SM100).tensorMemoryColumns, 512u);
  EXPECT_EQ(chipInfo(Chip::SM120).tensorMemoryColumns, 0u);
}

TEST(Rubin, SharedMemory) {
  EXPECT_EQ(mostSharedMemory(Chip::SM107), 334848u);
  EXPECT_EQ(mostSharedMemory(Chip::SM100), 232448u);
  EXPECT_FALSE(needsOversizedShared(Chip::SM107, 232448));
  EXPECT_TRUE(needsOversizedShared(Chip::SM107, 232449));
  EXPECT_FALSE(needsOversizedShared(Chip::SM100, 232449));
  EXPECT_FALSE(whyNotSharedMemory(kRubin, 334848));
  EXPECT_EQ(textOf(whyNotSharedMemory(kRubin, 334849)),
            "334849 bytes of shared memory do not fit on 'sm_107a': at most "
            "232448 bytes per CTA, 334848 if the launcher sets the oversized "
            "mode (CUDA programming guide 13.4 [T])");
  Target blackwell{Chip::SM100, kA};
  EXPECT_FALSE(whyNotSharedMemory(blackwell, 232448));
  EXPECT_EQ(textOf(whyNotSharedMemory(blackwell, 334848)),
            "334848 bytes of shared memory do not fit on 'sm_100a': at most "
            "232448 bytes per CTA; sm_107a has 334848 in its oversized mode "
            "(CUDA programming guide 13.4 [T])");
  EXPECT_EQ(textOf(whyNotSharedMemory(blackwell, 334849)),
            "334849 bytes of shared memory do not fit on 'sm_100a': at most "
            "232448 bytes per CTA");
}

TEST(Rubin, Part) {
  std::optional<Part> part = parsePart("VR200");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->chip, Chip::SM107);
  EXPECT_EQ(part->smCount, 212u);
  EXPECT_EQ(part->boostMhz, 2376u);
  // FlashInfer's occupancy query: 106, 46 and 22 clusters.
  EXPECT_EQ(residentClusters(*part, 2), 106u);
  EXPECT_EQ(residentClusters(*part, 4), 46u);
  EXPECT_EQ(residentClusters(*part, 8), 22u);
}

// The table of section 1.1.
TEST(Rubin, Features) {
  struct {
    Feature feature;
    bool sm100a, sm100f, sm103a, sm103f, sm107a, sm107f;
  } rows[] = {
      {Feature::Tcgen05, true, true, true, true, true, true},
      {Feature::Tcgen05ScaleVector, true, false, true, false, true, false},
      {Feature::Tcgen05Shift, true, false, true, false, true, false},
      {Feature::Tcgen05LoadReduce, false, false, true, true, true, true},
      {Feature::StochasticConvert, true, false, true, false, true, false},
      {Feature::TensorAllocExclusive, true, true, true, true, true, true},
      {Feature::AbsoluteLeadingOffset, false, false, true, false, false, false},
      {Feature::RowPerLaneScales, false, false, false, false, true, true},
      {Feature::CollectorB, false, false, false, false, true, true},
      {Feature::CommitReadOfA, false, false, false, false, true, true},
      {Feature::Multicast32, false, false, false, false, true, true},
      {Feature::TensorMapOverride, false, false, false, false, true, true},
      {Feature::Ue5m3Convert, false, false, false, false, true, true},
      {Feature::LutB, false, false, false, false, true, true},
      {Feature::KindTi16, false, false, false, false, true, true},
      {Feature::LoadCompressed, false, false, false, false, true, false},
      {Feature::MmaSyncBlockScale, false, false, false, false, false, false},
  };
  for (const auto &row : rows) {
    auto has = [&](Chip chip, TargetVariant variant) {
      return isAvailable(row.feature, {chip, variant});
    };
    std::string_view name = featureName(row.feature);
    EXPECT_EQ(has(Chip::SM100, kA), row.sm100a) << name;
    EXPECT_EQ(has(Chip::SM100, kF), row.sm100f) << name;
    EXPECT_EQ(has(Chip::SM103, kA), row.sm103a) << name;
    EXPECT_EQ(has(Chip::SM103, kF), row.sm103f) << name;
    EXPECT_EQ(has(Chip::SM107, kA), row.sm107a) << name;
    EXPECT_EQ(has(Chip::SM107, kF), row.sm107f) << name;
  }
  EXPECT_TRUE(isAvailable(Feature::TensorAllocExclusive, {Chip::SM110, kA}));
  EXPECT_FALSE(isAvailable(Feature::TensorAllocExclusive, {Chip::SM120, kA}));
}

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

/// "sm_100f;sm_103f;sm_107f and a-targets", "sm_103a (8.8);sm_107a (9.4)".
std::vector<Target> targetsOf(const std::string &text) {
  std::vector<Target> targets;
  for (std::string name : split(text, ';')) {
    bool andArch = name.find("and a-targets") != std::string::npos;
    if (name.find("and later of the family") != std::string::npos) {
      for (Chip chip : {Chip::SM100, Chip::SM103, Chip::SM107})
        targets.insert(targets.end(), {{chip, kF}, {chip, kA}});
      continue;
    }
    Result<Target> target = parseTarget(name.substr(0, name.find(' ')));
    EXPECT_TRUE(target) << name;
    if (target)
      targets.push_back(*target);
    if (andArch)
      for (Chip chip : {Chip::SM100, Chip::SM103, Chip::SM107})
        targets.push_back({chip, kA});
  }
  return targets;
}

std::vector<F> formatsOf(const std::string &text) {
  if (text == "any" || text == "same set" || text == "any narrow")
    return {F::E4M3, F::E5M2, F::E2M3, F::E3M2, F::E2M1};
  std::vector<F> formats;
  for (const std::string &name : split(text, ';'))
    formats.push_back(*parseFormat(name));
  return formats;
}

/// Whether we have the row: not what is beyond our kinds, and of the sparse
/// ones none whose scales or metadata the sheet only infers.
bool isOurs(const CsvRow &row) {
  return row.at("sparse") == "dense" && row.at("kind") != "f8f6f4 .ws" &&
         row.at("kind") != "ti16" && row.at("kind") != "f16" &&
         row.at("kind") != "tf32";
}

MmaQuery queryOf(const CsvRow &row) {
  MmaQuery query;
  query.kind = *parseKind(row.at("kind"));
  query.block = row.at("block").empty() ? 0 : std::stoul(row.at("block"));
  query.scale =
      row.at("scale").empty() ? std::nullopt : parseFormat(row.at("scale"));
  query.k = std::stoul(row.at("k"));
  query.ctaGroup = std::stoul(row.at("cta_group"));
  query.m = std::stoul(row.at("m"));
  query.family = MmaFamily::Tcgen05;
  return query;
}

TEST(Rubin, HasEveryFormOfTheOracle) {
  std::vector<CsvRow> rows = readOracle("rubin/mma_forms.csv");
  ASSERT_EQ(rows.size(), 45u);
  unsigned ours = 0;
  for (const CsvRow &row : rows) {
    if (!isOurs(row))
      continue;
    ++ours;
    MmaQuery query = queryOf(row);
    std::string name = row.at("kind") + " K = " + row.at("k") + " " +
                       row.at("scale") + " " + row.at("block") + " cta_group " +
                       row.at("cta_group");
    for (Target target : targetsOf(row.at("targets")))
      for (F a : formatsOf(row.at("a_types")))
        for (F b : formatsOf(row.at("b_types"))) {
          // Public kernels of pairs without scales go in steps of 32, those of
          // K = 96 on sm_103a of 16.
          unsigned step = std::stoul(row.at("n_step"));
          unsigned first = std::stoul(row.at("n_min"));
          if (query.k == 32 && !query.scale && query.ctaGroup == 2)
            first = step = 32;
          if (query.k == 96 && target.chip == Chip::SM103)
            first = step = 16;
          query.target = target;
          query.a = a;
          query.b = b;
          query.sfaId = query.sfbId = 0;
          for (unsigned n :
               {first, first + step, unsigned(std::stoul(row.at("n_max")))}) {
            query.n = n;
            const MmaRow *found = findRow(query);
            ASSERT_TRUE(found) << name << " on " << targetName(target) << ": "
                               << textOf(whyNot(query));
            if (query.scale) {
              EXPECT_EQ(found->scalesPerMma,
                        std::stoul(row.at("scales_per_row")))
                  << name;
            }
          }
          query.n = first;
          for (unsigned id = 0; query.scale && id < 4; ++id) {
            query.sfaId = id;
            bool legal = row.at("scale_ids").find(std::to_string(id)) !=
                         std::string::npos;
            EXPECT_EQ(findRow(query) != nullptr, legal) << name << " id " << id;
          }
          query.sfaId = 0;
          query.m = 64;
          if (query.k != 32 || query.scale) {
            EXPECT_FALSE(findRow(query)) << name;
          }
          query.m = std::stoul(row.at("m"));
        }
    EXPECT_EQ(
        static_cast<unsigned>(*kSize(query.kind, query.k, /*sparse=*/false)),
        unsigned(row.at("k_code")[0] - '0') *
            (query.kind == MmaKind::MXF8F6F4 || query.kind == MmaKind::F8F6F4
                 ? 2
                 : 1))
        << name;
  }
  EXPECT_EQ(ours, 36u);
}

TEST(Rubin, WideFormsExistNowhereElse) {
  for (const MmaRow &row : allRows()) {
    bool isNew = kSize(row.kind, row.k, row.sparse) == KSize::Wide ||
                 row.scale == F::UE5M3 ||
                 (row.scale == F::UE4M3 && row.block == 32);
    if (!isNew)
      continue;
    for (Target target : row.targets.members())
      EXPECT_EQ(target.chip, Chip::SM107) << targetName(target);
    EXPECT_EQ(row.minPtx, 94u);
    EXPECT_FALSE(row.evidence.empty());
  }
}

std::string answer(const LegalityQuestion &question) {
  Result<Legality> legality = explainLegality(question);
  return legality ? legality->text : legality.why().text;
}

LegalityQuestion ask(const char *target, const char *kind) {
  LegalityQuestion question;
  question.target = target;
  question.kind = kind;
  return question;
}

TEST(Rubin, AnswersSayHowTheyAreKnown) {
  LegalityQuestion question = ask("sm_107a", "mxf4nvf4");
  question.scale = "ue5m3";
  question.block = 16;
  question.k = 128;
  question.n = 256;
  EXPECT_EQ(
      answer(question),
      "legal: tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 "
      "on sm_107a, e2m1 x e2m1, ue5m3 per 16 elements of K, 8 scales per "
      "row, ids 0, M = 128, N = 256 of 8..256 step 8, K = 128, PTX 9.4 or "
      "newer (source: ISA table; PTX ISA 9.4, tables 48, 53 and 68); "
      "evidence: [T] PTX ISA 9.4, [C] vendor's DSL, [S] Triton, "
      "cuDNN-frontend; run by nobody here");
  // The old forms as well, and nothing of it on the chips that were there.
  question = ask("sm_107a", "mxf8f6f4");
  question.k = 32;
  EXPECT_NE(
      answer(question).find("; evidence: [T] PTX ISA 9.4, [P] ptxas 13.5, "
                            "[H] ThunderKittens' tests"),
      std::string::npos);
  question = ask("sm_100a", "mxf8f6f4");
  EXPECT_EQ(answer(question).find("evidence"), std::string::npos);
}

TEST(Rubin, RefusesWithRuleSourceAndNearest) {
  LegalityQuestion question = ask("sm_107a", "f8f6f4");
  question.k = 64;
  question.m = 64;
  EXPECT_EQ(answer(question),
            "illegal: M = 64 is not legal for dense 'f8f6f4' with cta_group 1 "
            "on 'sm_107a': expected 128 (source: [T] PTX ISA 9.4, [S] CUTLASS "
            "(pairs with N in steps of 32), Triton, TensorRT-LLM, [H] "
            "ThunderKittens' tests); nearest legal: K = 32");
  question = ask("sm_107a", "mxf4nvf4");
  question.k = 128;
  question.ctaGroup = 2;
  question.m = 128;
  std::string text = answer(question);
  EXPECT_NE(
      text.find("M = 128 is not legal for dense 'mxf4nvf4' with cta_group "
                "2 on 'sm_107a': expected 256 (source: [T]"),
      std::string::npos)
      << text;
  question = ask("sm_100a", "mxf4nvf4");
  question.k = 128;
  EXPECT_EQ(answer(question),
            "illegal: K = 128 is not legal for dense 'mxf4nvf4' on 'sm_100a': "
            "expected 64; it exists on sm_107a, sm_107f only (source: [T] PTX "
            "ISA 9.4, [C] vendor's DSL, [H] ThunderKittens' tests, [S] Triton, "
            "FlashInfer, TensorRT-LLM; one CTA by [C] and [H]); nearest legal: "
            "K = 64");
  question = ask("sm_103a", "mxf4nvf4");
  question.scale = "ue5m3";
  question.block = 16;
  text = answer(question);
  EXPECT_NE(text.find("scale type 'ue5m3' is not legal for 'mxf4nvf4' on "
                      "'sm_103a': expected ue4m3 or ue8m0; it exists on "
                      "sm_107a, sm_107f only (source: [T]"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("nearest legal: "), std::string::npos) << text;
  question = ask("sm_107a", "i8");
  text = answer(question);
  EXPECT_NE(text.find("kind 'i8' is not legal on 'sm_107a': expected mxf4"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("it exists on sm_100a, sm_110a, sm_120a, sm_121a, "
                      "sm_120f, sm_121f only (source: [P] ptxas 13.5 refuses "
                      "it); nearest legal: "),
            std::string::npos)
      << text;
  // FP4 with a sparse A: metadata that nothing here makes.
  question = ask("sm_107a", "mxf4");
  question.sparse = true;
  text = answer(question);
  EXPECT_NE(text.find("a sparse A is not legal for 'mxf4' on 'sm_107a'"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("2:4, descriptor bit 12"), std::string::npos) << text;
  // The longest one, and those of 8 bits with twice the K (certainty: low).
  question.k = 192;
  EXPECT_NE(answer(question).find("of which PTX ISA 9.4 alone tells and no "
                                  "kernel is public [T]; nearest legal: "),
            std::string::npos)
      << answer(question);
  for (const char *kind : {"mxf8f6f4", "f8f6f4"}) {
    question = ask("sm_107a", kind);
    question.a = question.b = "e4m3";
    question.sparse = true;
    question.k = 128;
    text = answer(question);
    EXPECT_NE(text.find("K = 128 is not legal for sparse '" +
                        std::string(kind) +
                        "' on 'sm_107a': expected 64 (source: [T]"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("; PTX ISA 9.4 lists the shape "), std::string::npos)
        << text;
    EXPECT_NE(text.find("no kernel is public; nearest legal: K = 64"),
              std::string::npos)
        << text;
    question.k = 64;
    EXPECT_EQ(answer(question).find("no kernel is public"), std::string::npos);
  }
}

TEST(Rubin, ScaleSpansSayWhereTheyAreNew) {
  OperandType fp4 = F::E2M1;
  EXPECT_FALSE(whyNotScaleSpan(fp4, fp4, F::UE4M3, 32, false, kRubin));
  EXPECT_FALSE(whyNotScaleSpan(fp4, fp4, F::UE5M3, 16, false, kRubin));
  std::string text =
      textOf(whyNotScaleSpan(fp4, fp4, F::UE4M3, 32, false, {Chip::SM100, kA}));
  EXPECT_NE(text.find("; it exists on sm_107a, sm_107f only (source: [T]"),
            std::string::npos)
      << text;
}

} // namespace
