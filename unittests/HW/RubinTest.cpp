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
#include "blockscale/HW/TensorMap.h"
#include "blockscale/HW/Throughput.h"

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

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

BlockScaledInstr scaled(InstrVariant variant, F a, F b, F scale, unsigned m,
                        unsigned n) {
  BlockScaledInstr instr;
  instr.variant = variant;
  instr.a = a;
  instr.b = b;
  instr.scale = scale;
  instr.m = m;
  instr.n = n;
  instr.kSize = KSize::Wide;
  return instr;
}

// The values of section 3, read in compiled PTX.
TEST(Rubin, InstructionDescriptors) {
  auto fp4 = [](F scale, unsigned m, unsigned n) {
    return scaled(InstrVariant::MXF4, F::E2M1, F::E2M1, scale, m, n);
  };
  auto fp8 = [](F b, unsigned m, unsigned n) {
    return scaled(InstrVariant::MXF8F6F4, F::E4M3, b, F::UE8M0, m, n);
  };
  struct {
    BlockScaledInstr instr;
    std::uint32_t bits;
  } rows[] = {
      {fp4(F::UE4M3, 128, 128), 0x08200488},
      {fp4(F::UE4M3, 128, 192), 0x08300488},
      {fp4(F::UE4M3, 256, 256), 0x10400488},
      {fp4(F::UE5M3, 128, 128), 0x09200488},
      {fp4(F::UE5M3, 256, 256), 0x11400488},
      {fp4(F::UE8M0, 256, 256), 0x10C00488},
      {fp8(F::E4M3, 128, 128), 0x88A00000},
      {fp8(F::E4M3, 256, 256), 0x90C00000},
      {fp8(F::E2M1, 256, 256), 0x90C01400},
  };
  for (const auto &row : rows) {
    Result<std::uint32_t> bits = encode(row.instr);
    ASSERT_TRUE(bits) << textOf(bits);
    EXPECT_EQ(*bits, row.bits) << hex(row.bits, 8);
    Result<BlockScaledInstr> back =
        decodeBlockScaled(row.instr.variant, row.bits);
    ASSERT_TRUE(back) << textOf(back);
    EXPECT_TRUE(*back == row.instr) << hex(row.bits, 8);
  }
}

TEST(Rubin, BitsOfWhatIsNew) {
  BlockScaledInstr fp4 =
      scaled(InstrVariant::MXF4, F::E2M1, F::E2M1, F::UE4M3, 128, 128);
  fp4.rowPerLaneA = true;
  EXPECT_EQ(*encode(fp4), 0x08200488u | 1u << 26);
  fp4.rowPerLaneA = false;
  fp4.kSize = KSize::Long;
  EXPECT_EQ(*encode(fp4), 0x88200480u);
  fp4.kSize = KSize::Narrow;
  EXPECT_EQ(*encode(fp4), 0x08200480u);
  fp4.sparse = true;
  fp4.elementMetadata = true;
  EXPECT_EQ(*encode(fp4), 0x08200484u | 1u << 12);
  fp4.sparse = false;
  EXPECT_FALSE(encode(fp4));
  // K code 3, scale format 3.
  EXPECT_FALSE(decodeBlockScaled(InstrVariant::MXF4, 0x88200488));
  EXPECT_FALSE(decodeBlockScaled(InstrVariant::MXF4, 0x09A00488));
  // mxf8f6f4 has one scale format, whose bit 24 is 0.
  EXPECT_FALSE(decodeBlockScaled(InstrVariant::MXF8F6F4, 0x89A00000));
  PlainInstr plain;
  plain.kind = MmaKind::F8F6F4;
  plain.a = plain.b = PlainType::E4M3;
  plain.m = 128;
  plain.n = 128;
  Result<std::uint32_t> narrow = encode(plain);
  plain.isWide = true;
  Result<std::uint32_t> wide = encode(plain);
  ASSERT_TRUE(narrow && wide);
  EXPECT_EQ(*wide, *narrow | 1u << 29);
  EXPECT_TRUE(decodePlain(MmaKind::F8F6F4, *wide)->isWide);
  plain.sparse = true;
  EXPECT_FALSE(encode(plain));
}

/// Ours under the oracle's name of a field.
const Field *fieldOf(FieldList list, const std::string &name) {
  static const std::map<std::string, const char *> kNames{
      {"sparsity selector", "sparsity_selector"},
      {"sparse", "sparse"},
      {"D format", "d_format"},
      {"A format", "a_format"},
      {"B format", "b_format"},
      {"N / 8", "n_div_8"},
      {"M / 16", "m_div_16"},
      {"M / 128", "m_div_128"},
      {"K size", "k_size"},
      {"K size, upper bit", "k_size_high"},
      {"K size, lower bit", "k_size"},
      {"max shift (.ws)", "max_shift"},
      {"SFA id", "sfa_id"},
      {"SFB id", "sfb_id"},
      {"SFA layout", "sfa_layout"},
      {"scale format", "scale_format"},
      {"sparsity version", "sparsity_version"},
      {"start address / 16", "start"},
      {"leading byte offset / 16, or absolute next-buffer address / 16", "lbo"},
      {"stride byte offset / 16", "sbo"},
      {"version", "version"},
      {"base offset", "base_offset"},
      {"leading mode", "lbo_absolute"},
      {"swizzle", "swizzle"},
  };
  auto found = kNames.find(name);
  return found == kNames.end() ? nullptr : findField(list, found->second);
}

TEST(Rubin, FieldsLieWhereTheOracleSays) {
  std::vector<CsvRow> rows = readOracle("rubin/descriptors.csv");
  ASSERT_EQ(rows.size(), 48u);
  unsigned compared = 0;
  for (const CsvRow &row : rows) {
    const std::string &word = row.at("descriptor");
    FieldList list = word == "mxf8f6f4" ? instrFields(InstrVariant::MXF8F6F4)
                     : word == "mxf4 mxf4nvf4" ? instrFields(InstrVariant::MXF4)
                     : word == "shared memory descriptor"
                         ? fieldList(kSmemFields, 64)
                         : instrFields(InstrVariant::Plain);
    const Field *field = fieldOf(list, row.at("field"));
    if (!field)
      continue;
    ++compared;
    EXPECT_EQ(field->offset, std::stoul(row.at("offset")))
        << word << ": " << row.at("field");
    EXPECT_EQ(field->width, std::stoul(row.at("width")))
        << word << ": " << row.at("field");
  }
  EXPECT_EQ(compared, 38u);
}

// Section 4.2.
TEST(Rubin, SharedMemoryDescriptors) {
  EXPECT_EQ(smemAddressBits(Chip::SM107), 19u);
  EXPECT_EQ(smemAddressBits(Chip::SM103), 18u);
  SmemDescriptor tile;
  tile.lbo = 16;
  tile.sbo = 1024;
  tile.swizzle = Swizzle::B128;
  EXPECT_EQ(*encode(tile), 0x4000404000010000u);
  tile.sbo = 512;
  tile.swizzle = Swizzle::B64;
  EXPECT_EQ(*encode(tile), 0x8000402000010000u);
  EXPECT_EQ(*encode(*copyDescriptor(0)), 0x0000400800010000u);
  // 256 KiB and beyond.
  tile.start = 1u << 18;
  EXPECT_FALSE(encode(tile));
  Result<std::uint64_t> bits = encode(tile, smemAddressBits(Chip::SM107));
  ASSERT_TRUE(bits) << textOf(bits);
  EXPECT_EQ(*bits, 0x8000402000014000u);
  EXPECT_FALSE(decodeSmem(*bits));
  EXPECT_TRUE(*decodeSmem(*bits, 19) == tile);
  tile.start = 1u << 19;
  EXPECT_FALSE(encode(tile, 19));
  EXPECT_FALSE(copyDescriptor(300032));
  EXPECT_TRUE(copyDescriptor(300032, 19));
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

// Columns from the scales of one MMA to those of the next, ids, and where the
// second word lies.
TEST(Rubin, ScaleStepsOfTheOracle) {
  std::vector<CsvRow> rows = readOracle("rubin/scale_layout.csv");
  ASSERT_EQ(rows.size(), 8u);
  struct {
    unsigned row, scales;
    /// Column and id of MMA 1 with word strides of 4 and of 8.
    unsigned narrow, wide, id;
    unsigned words;
  } expected[] = {
      {0, 8, 8, 16, 0, 2}, {1, 4, 4, 8, 0, 1}, {4, 4, 4, 8, 0, 1},
      {5, 2, 0, 0, 2, 1},  {6, 2, 0, 0, 2, 1}, {7, 1, 0, 0, 1, 1},
  };
  for (const auto &one : expected) {
    const CsvRow &row = rows[one.row];
    EXPECT_EQ(std::to_string(one.scales), row.at("scales per row and MMA"));
    Result<ScaleStep> narrow = scaleStep(one.scales, 4, 1);
    Result<ScaleStep> wide = scaleStep(one.scales, 8, 1);
    ASSERT_TRUE(narrow && wide) << row.at("form");
    EXPECT_EQ(narrow->column, one.narrow) << row.at("form");
    EXPECT_EQ(wide->column, one.wide) << row.at("form");
    EXPECT_EQ(narrow->id, one.id) << row.at("form");
    EXPECT_EQ(wordsPerMma(one.scales, narrow->id), one.words) << row.at("form");
  }
  // W depends on N <= 128, not on N.
  EXPECT_EQ(scaleRegion(ScalePath::FourByOne, 64)->wordStride, 4u);
  EXPECT_EQ(scaleRegion(ScalePath::FourByOne, 128)->wordStride, 4u);
  EXPECT_EQ(scaleRegion(ScalePath::FourByOne, 136)->wordStride, 8u);
  EXPECT_EQ(scaleRegion(ScalePath::FourByOne, 192)->wordStride, 8u);
  ConsumedBytes bytes = consumedBytes(8, 0);
  ASSERT_EQ(bytes.count, 8u);
  EXPECT_EQ(bytes.bytes[3].word, 0u);
  EXPECT_EQ(bytes.bytes[3].byte, 3u);
  EXPECT_EQ(bytes.bytes[4].word, 1u);
  EXPECT_EQ(bytes.bytes[4].byte, 0u);
  EXPECT_EQ(consumedBytes(8, 2).count, 0u);
}

TEST(Rubin, OneRowToALane) {
  Result<ScaleRegion> region = scaleRegion(ScalePath::RowPerLane, 128);
  ASSERT_TRUE(region) << textOf(region);
  EXPECT_EQ(region->wordStride, 1u);
  EXPECT_EQ(replicas(ScalePath::RowPerLane), 1u);
  EXPECT_FALSE(scaleRegion(ScalePath::RowPerLane, 64));
  for (unsigned row : {0u, 1u, 37u, 127u})
    for (unsigned scale : {0u, 3u, 4u, 13u}) {
      Result<ScalePosition> at = scalePosition(*region, row, scale, 0);
      ASSERT_TRUE(at) << textOf(at);
      EXPECT_EQ(at->lane, row);
      EXPECT_EQ(at->column, scale / 4);
      EXPECT_EQ(at->byte, scale % 4);
      Result<ScaleIndex> back = scaleIndex(*region, *at);
      ASSERT_TRUE(back) << textOf(back);
      EXPECT_EQ(back->row, row);
      EXPECT_EQ(back->scale, scale);
    }
  EXPECT_FALSE(scalePosition(*region, 0, 0, 1));
  // Columns for each MMA: 2, 1 and half of one.
  EXPECT_EQ(scaleStep(8, region->wordStride, 1)->column, 2u);
  EXPECT_EQ(scaleStep(4, region->wordStride, 1)->column, 1u);
  EXPECT_EQ(scaleStep(2, region->wordStride, 2)->column, 1u);
  EXPECT_EQ(scaleStep(2, region->wordStride, 1)->id, 2u);
}

// What a 128x128b copy takes from memory: 128 rows of 16 bytes.
TEST(Rubin, RowTilesInMemory) {
  Coordinates extents{{Dim::Row, 300}, {Dim::Block, 40}};
  StorageLayout<std::uint64_t> storage =
      storageLayout(kRowTiledScales, extents);
  EXPECT_EQ(storage.matrixBytes, 3u * 3 * 2048);
  EXPECT_EQ(storage.offset({{Dim::Row, 0}, {Dim::Block, 15}}), 15u);
  EXPECT_EQ(storage.offset({{Dim::Row, 1}, {Dim::Block, 0}}), 16u);
  EXPECT_EQ(storage.offset({{Dim::Row, 0}, {Dim::Block, 16}}), 2048u);
  EXPECT_EQ(storage.offset({{Dim::Row, 128}, {Dim::Block, 0}}), 3u * 2048);
  EXPECT_EQ(storage.offset({{Dim::Row, 165}, {Dim::Block, 35}}),
            3u * 2048 + 2 * 2048 + 37 * 16 + 3);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(Rubin, TensorMemory) {
  auto of = [](Chip chip, unsigned columns) {
    Result<TmemAllocation> made = allocationOn(chip, columns);
    return made ? std::to_string(made->columns) +
                      (made->isExclusive ? " exclusive" : "")
                : made.why().text;
  };
  EXPECT_EQ(of(Chip::SM107, 1), "32");
  EXPECT_EQ(of(Chip::SM107, 300), "512");
  EXPECT_EQ(of(Chip::SM107, 512), "512");
  EXPECT_EQ(of(Chip::SM107, 513), "544 exclusive");
  EXPECT_EQ(of(Chip::SM107, 560), "576 exclusive");
  EXPECT_EQ(of(Chip::SM107, 577),
            "tensor memory of sm_107 has 576 columns, 577 are asked for (PTX "
            "ISA 9.4, tcgen05.alloc [T]; ptxas takes more [P])");
  EXPECT_EQ(of(Chip::SM100, 513),
            "tensor memory has 512 columns, 513 are asked for");
  EXPECT_EQ(of(Chip::SM107, 0),
            "tensor memory has 512 columns, 0 are asked for");
}

// Section 4.3.
TEST(Rubin, OperandsInSharedMemory) {
  EXPECT_EQ(storedBits(MmaKind::MXF8F6F4, 32, false, 4), 8u);
  EXPECT_EQ(storedBits(MmaKind::MXF8F6F4, 64, false, 4), 4u);
  EXPECT_EQ(storedBits(MmaKind::MXF8F6F4, 64, false, 6), 6u);
  EXPECT_EQ(storedBits(MmaKind::MXF8F6F4, 64, false, 8), 8u);
  EXPECT_EQ(storedBits(MmaKind::MXF8F6F4, 64, true, 4), 8u);
  EXPECT_EQ(storedBits(MmaKind::MXF4NVF4, 128, false, 4), 4u);
  EXPECT_EQ(storedBits(MmaKind::F8F6F4, 64, false, 8), 8u);
  OperandType fp4 = F::E2M1, fp6 = F::E2M3;
  EXPECT_EQ(tensorMapDataType(fp4, 8), TensorMapDataType::U4x16Align16B);
  EXPECT_EQ(tensorMapDataType(fp4, 4), TensorMapDataType::U4x16Align8B);
  EXPECT_EQ(tensorMapDataType(fp6, 8), TensorMapDataType::U6x16Align16B);
  // None brings packed elements of 6 bits without gaps.
  EXPECT_EQ(tensorMapDataType(fp6, 6), std::nullopt);
  // The descriptor advances by 64 bytes of each row; by 32 where 4-bit elements
  // of mxf8f6f4 are packed.
  OperandTile tile;
  tile.mn = 128;
  tile.k = 256;
  tile.containerBits = 4;
  EXPECT_EQ(stepAddress(tile, {128, 128, 0, 1})->startOffset, 64u);
  tile.k = 128;
  tile.swizzle = Swizzle::B64;
  EXPECT_EQ(stepAddress(tile, {128, 64, 0, 1})->startOffset, 32u);
  EXPECT_EQ(stepAddress(tile, {128, 64, 0, 1})->sbo, 512u);
  tile.containerBits = 8;
  tile.swizzle = Swizzle::B128;
  EXPECT_EQ(stepAddress(tile, {128, 64, 0, 1})->startOffset, 64u);
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

// Section 11.3, rounded up to whole cycles.
TEST(Rubin, IntervalsOfWideInstructions) {
  struct {
    unsigned n, array, one, pair, oneShared, pairShared;
  } rows[] = {
      {64, 32, 96, 86, 80, 78},
      {128, 64, 128, 104, 96, 86},
      {192, 96, 160, 121, 112, 96},
      {256, 128, 192, 138, 128, 128},
  };
  for (const auto &row : rows) {
    auto cycles = [&](unsigned ctaGroup, unsigned sharers) {
      MmaStep step = mmaStep(MmaKind::MXF4NVF4, 128, false, ctaGroup,
                             128 * ctaGroup, row.n);
      EXPECT_EQ(step.bytesA, 64u);
      EXPECT_EQ(mmaArrayCycles(step), row.array);
      step.sharersOfB = sharers;
      return mmaIntervalCycles(step);
    };
    EXPECT_NEAR(cycles(1, 1), row.one, 0.5);
    EXPECT_NEAR(cycles(2, 1), row.pair, 0.5);
    EXPECT_NEAR(cycles(1, 2), row.oneShared, 0.5);
    EXPECT_NEAR(cycles(2, 2), row.pairShared, 0.5);
  }
  MmaStep mixed = mmaStep(MmaKind::MXF8F6F4, 64, false, 2, 256, 256, 8, 4);
  EXPECT_EQ(mixed.bytesA, 64u);
  EXPECT_EQ(mixed.bytesB, 32u);
  MmaStep padded = mmaStep(MmaKind::MXF8F6F4, 32, false, 2, 256, 256, 8, 4);
  EXPECT_EQ(padded.bytesA, 32u);
  EXPECT_EQ(padded.bytesB, 32u);
}

} // namespace
