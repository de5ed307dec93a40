//===- ScaleSpecTest.cpp - number and scale specs -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Formats/ScaleSpec.h"
#include "Formats/OracleCsv.h"
#include "Formats/TextOf.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::test;
using blockscale::test::textOf;

namespace {

/// The value of a key in the flat JSON of `reference_detail`, unquoted.
std::string jsonField(const std::string &json, const std::string &key) {
  size_t begin = json.find("\"" + key + "\": ");
  if (begin == std::string::npos)
    return "absent";
  begin += key.size() + 4;
  if (json[begin] == '"')
    return json.substr(begin + 1, json.find('"', begin + 1) - begin - 1);
  return json.substr(begin, json.find_first_of(",}", begin) - begin);
}

std::string kindName(NumberKind kind) {
  switch (kind) {
  case NumberKind::Float:
    return "float";
  case NumberKind::Int:
    return "int";
  case NumberKind::Uint:
    return "uint";
  case NumberKind::Exponent:
    return "exponent";
  }
  return "";
}

std::string specialsName(NumberSpecials specials) {
  const char *names[] = {"ieee", "fn", "fnuz", "inuz", "none"};
  return names[static_cast<unsigned>(specials)];
}

void expectNumber(const CsvRow &row) {
  const std::string &text = row.at("spec");
  const std::string &detail = row.at("reference_detail");
  auto number = parseNumberSpec(text);
  ASSERT_TRUE(number) << text << ": " << textOf(number);
  auto field = [&](const char *key) { return jsonField(detail, key); };
  EXPECT_EQ(canonicalName(*number), field("canon")) << text;
  EXPECT_EQ(kindName(number->kind), field("kind")) << text;
  EXPECT_EQ(specialsName(number->specials), field("infnan")) << text;
  EXPECT_EQ(std::to_string(number->bits()), field("bits")) << text;
  EXPECT_EQ(std::to_string(number->exponentBits), field("e")) << text;
  EXPECT_EQ(std::to_string(number->mantissaBits), field("m")) << text;
  EXPECT_EQ(number->isSigned() ? "true" : "false", field("signed")) << text;
  EXPECT_EQ(std::to_string(number->maxInt()), field("maxint")) << text;
  EXPECT_EQ(std::to_string(number->minInt()), field("minint")) << text;
  EXPECT_EQ(number->maxFloat(), std::stod(field("maxfloat"))) << text;
  EXPECT_EQ(number->midMax(), std::stod(field("midmax"))) << text;
  EXPECT_EQ(number->minSubnormal(), std::stod(field("minsub"))) << text;
  if (number->kind != NumberKind::Uint) {
    EXPECT_EQ(std::to_string(number->bias), field("bias")) << text;
    EXPECT_EQ(std::to_string(number->emax()), field("emax")) << text;
    EXPECT_EQ(std::to_string(number->emin()), field("emin")) << text;
  }
  for (const std::string &name : {print(*number), canonicalName(*number)}) {
    auto again = parseNumberSpec(name);
    ASSERT_TRUE(again) << name;
    EXPECT_TRUE(*again == *number) << name;
    EXPECT_EQ(hash_value(*again), hash_value(*number));
  }
}

std::string nameOrNull(const std::optional<NumberSpec> &number) {
  return number ? canonicalName(*number) : "null";
}

/// The reference writes 1 for an absent row tile and null for an absent column
/// tile; a subtile of a whole dimension is null, that of an undivided tile its
/// size.
std::string tileName(const std::optional<TileSpec> &tile, const char *absent) {
  return tile ? std::to_string(tile->size) : absent;
}

std::string subtileName(const std::optional<TileSpec> &tile,
                        const char *absent) {
  if (!tile)
    return absent;
  return tile->size ? std::to_string(tile->subtile) : "null";
}

void expectScale(const CsvRow &row) {
  const std::string &text = row.at("spec");
  auto scale = parseScaleSpec(text);
  ASSERT_TRUE(scale) << text << ": " << textOf(scale);
  std::string printed = print(*scale);
  auto again = parseScaleSpec(printed);
  ASSERT_TRUE(again) << text << " -> " << printed;
  EXPECT_TRUE(*again == *scale) << printed;
  EXPECT_EQ(hash_value(*again), hash_value(*scale));
  EXPECT_EQ(print(*again), printed);
  if (row.at("reference_verdict") != "accept")
    return;
  auto field = [&](const char *key) {
    return jsonField(row.at("reference_detail"), key);
  };
  auto flag = [](bool value) { return value ? "true" : "false"; };
  EXPECT_EQ(tileName(scale->rows, "1"), field("tile0")) << text;
  EXPECT_EQ(tileName(scale->columns, "null"), field("tile1")) << text;
  EXPECT_EQ(subtileName(scale->rows, "1"), field("sub0")) << text;
  EXPECT_EQ(subtileName(scale->columns, "null"), field("sub1")) << text;
  EXPECT_EQ(std::to_string(scale->isSparse() ? scale->keepN : 1), field("n"));
  EXPECT_EQ(std::to_string(scale->isSparse() ? scale->ofM : 1), field("m"));
  EXPECT_EQ(canonicalName(*scale->scale), field("scale")) << text;
  EXPECT_EQ(nameOrNull(scale->zero), field("zero")) << text;
  EXPECT_EQ(nameOrNull(scale->tensorScale), field("tenscale")) << text;
  EXPECT_EQ(flag(scale->isTensor()), field("tensor")) << text;
  EXPECT_EQ(flag(scale->isChannel()), field("channel")) << text;
  EXPECT_EQ(flag(scale->isTile()), field("tile")) << text;
  EXPECT_EQ(flag(scale->is2D()), field("is2d")) << text;
  EXPECT_EQ(flag(scale->isSquare()), field("square")) << text;
  EXPECT_EQ(flag(scale->hasSubtile()), field("subtile")) << text;
  EXPECT_EQ(flag(scale->isSparse()), field("sparse")) << text;
  EXPECT_EQ(flag(scale->isMultiscale()), field("multi")) << text;
}

/// `number|scale`, the scale being None for unscaled data.
std::optional<Reason> whyNotPair(const std::string &text) {
  size_t bar = text.find('|');
  auto number = parseNumberSpec(text.substr(0, bar));
  if (!number)
    return number.why();
  if (text.substr(bar + 1) == "None")
    return whyNotDataType(*number);
  auto scale = parseScaleSpec(text.substr(bar + 1));
  if (!scale)
    return scale.why();
  return whyNotDataType(*number, *scale);
}

/// The tables as the JSON of the oracle spells them.
std::string tablesText(const NumberSpec &spec) {
  auto tables = codebookTables(spec);
  std::ostringstream out;
  out.precision(17);
  const char *tableMark = "";
  for (const auto &table : *tables) {
    out << tableMark << "[";
    tableMark = ", ";
    const char *valueMark = "";
    for (double value : table) {
      out << valueMark << value << (value == std::floor(value) ? ".0" : "");
      valueMark = ", ";
    }
    out << "]";
  }
  return "[" + out.str() + "]";
}

TEST(ScaleSpec, VerdictsOfEveryRow) {
  std::vector<CsvRow> rows = readOracle("numerics/spec_verdicts.csv");
  ASSERT_EQ(rows.size(), 154u);
  for (const CsvRow &row : rows) {
    const std::string &kind = row.at("kind"), &text = row.at("spec");
    // TensorCast casts to no unscaled integers, and its scales of sparse data
    // are of tiles; products take both.
    bool isOurs =
        text == "int8|None" || text == "e8m0_t0n2m4" || text == "float32_n2m4";
    bool accepted = row.at("recommended_verdict") == "accept" || isOurs;
    std::optional<Reason> reason;
    if (kind == "dtype") {
      reason = whyNotPair(text);
    } else if (kind == "sspec") {
      auto scale = parseScaleSpec(text);
      if (!scale)
        reason = scale.why();
    } else {
      ASSERT_TRUE(kind == "nspec" || kind == "codebook") << kind;
      auto number = parseNumberSpec(text);
      if (!number)
        reason = number.why();
    }
    EXPECT_EQ(!reason.has_value(), accepted)
        << kind << " " << text << ": " << textOf(reason);
    EXPECT_NE(textOf(reason), "") << text;
    if (reason) {
      EXPECT_LE(reason->place, text.size()) << text;
    }
  }
}

TEST(ScaleSpec, FieldsOfEveryAcceptedRow) {
  unsigned checked = 0;
  for (const CsvRow &row : readOracle("numerics/spec_verdicts.csv")) {
    if (row.at("recommended_verdict") != "accept")
      continue;
    if (row.at("kind") == "nspec")
      expectNumber(row), ++checked;
    if (row.at("kind") == "sspec")
      expectScale(row), ++checked;
  }
  EXPECT_GT(checked, 60u);
}

TEST(ScaleSpec, CodebookTablesOfEveryAcceptedRow) {
  unsigned compared = 0;
  for (const CsvRow &row : readOracle("numerics/spec_verdicts.csv")) {
    if (row.at("kind") != "codebook" ||
        row.at("recommended_verdict") != "accept")
      continue;
    const std::string &detail = row.at("reference_detail");
    auto number = parseNumberSpec(row.at("spec"));
    ASSERT_TRUE(number) << row.at("spec") << ": " << textOf(number);
    EXPECT_EQ(std::to_string(number->indexBits), jsonField(detail, "index"));
    EXPECT_EQ(std::to_string(number->metaBits), jsonField(detail, "meta"));
    size_t begin = detail.find("\"positive\": ") + 12;
    if (detail[begin] == '"')
      continue;
    EXPECT_EQ(tablesText(*number),
              detail.substr(begin, detail.size() - begin - 1))
        << row.at("spec");
    ++compared;
  }
  EXPECT_GE(compared, 8u);
}

// The tables that TensorCast's documentation of 0.3.0 lists.
TEST(ScaleSpec, CodebooksMoveAlongTheirNumberLine) {
  auto mxfp4m = codebookTables(*parseNumberSpec("cb41f01_e2m2fnuz"));
  ASSERT_TRUE(mxfp4m);
  EXPECT_EQ((*mxfp4m)[0],
            (std::vector<double>{0, .75, 1.25, 1.75, 2.5, 3.5, 5, 7}));
  EXPECT_EQ((*mxfp4m)[1], (std::vector<double>{0, .5, 1, 1.5, 2, 3, 4, 6}));
  auto mx9 = codebookTables(*parseNumberSpec("cb81ie_int9"));
  ASSERT_TRUE(mx9);
  ASSERT_EQ(mx9->size(), 2u);
  ASSERT_EQ((*mx9)[0].size(), 128u);
  EXPECT_EQ((*mx9)[0][127], 127.0 / 64);
  EXPECT_EQ((*mx9)[1][1], 1.0 / 128);
}

// Rules that TensorCast breaks or leaves out (docs/sources.md, [tensorcast]).
TEST(ScaleSpec, RefusesWhatTheReferenceGetsWrong) {
  for (const char *text : {"e8m0_t16s4_t16",
                           "e8m0_t16_t16s4",
                           "e8m0_t16s0",
                           "e8m0_t16s32",
                           "e8m0_t0s4",
                           "multi_float32_e4m3",
                           "multi_e8m0_t32",
                           "uint8_int8_t32",
                           "e8m0_t512",
                           "e8m0_t2",
                           "e8m0_t16m4n2",
                           "e8m0_t16n4m4",
                           "e8m0_t16n0m4",
                           "e8m0_t16n2",
                           "cb41fi_e2m2fnuz_t16",
                           "float8_e4m3fn_t16",
                           "",
                           "multi_",
                           "e8m0_t99999999999999999999",
                           "e8m0_t32 ",
                           "e8m0_\xff"})
    EXPECT_FALSE(parseScaleSpec(text)) << text;
  for (const char *text : {"e9m3",
                           "e0m4",
                           "e1m2fn_x",
                           "uint1",
                           "int1",
                           "int33",
                           "bfloat9",
                           "float8",
                           "e4m3b",
                           "e4m3xyz",
                           "e4m",
                           "e",
                           "",
                           "cb",
                           "cb4",
                           "cb41p_int8",
                           "cb41s12_int8",
                           "cb41fi_uint8",
                           "cb41fi_e8m0",
                           "cb41fi_",
                           "cb44_e4m3fn_",
                           "cb44_e4m3fn_a-b",
                           "cb44_e4m3fn_a_b",
                           "cb41f09_e2m1fnuz",
                           "cb41fi_float32",
                           "e1m0fn",
                           "e4m3b99999999999999999999",
                           "float8_int8",
                           "torch.",
                           "binary8p7",
                           "binary8p0"})
    EXPECT_FALSE(parseNumberSpec(text)) << text;
}

TEST(ScaleSpec, PrintsOneSpelling) {
  auto spelling = [](const char *text) {
    auto spec = parseScaleSpec(text);
    return spec ? print(*spec) : "error: " + textOf(spec);
  };
  EXPECT_EQ(spelling("E8M0_T"), "e8m0_t0");
  EXPECT_EQ(spelling("e8m23"), "float32");
  EXPECT_EQ(spelling("e8m0_t32s32"), "e8m0_t32");
  EXPECT_EQ(spelling("e8m0_t16s4_t16s16"), "e8m0_t16s4_t16s16");
  EXPECT_EQ(spelling("float32_float16_int8_t32"),
            "multi_float32_float16_int8_t32");
  EXPECT_EQ(spelling("multi_float32_e4m3_t16_t16n2m4"),
            "multi_float32_e4m3_t16_t16n2m4");
  EXPECT_EQ(spelling("Float16_n1m2"), "float16_n1m2");
  EXPECT_EQ(spelling("multi_float32_e8m0_t4_tn2m4"),
            "multi_float32_e8m0_t4_t0n2m4");
  EXPECT_EQ(spelling("e5m3b15ieee_t4"), "e5m3_t4");
}

TEST(ScaleSpec, ErrorsPointAtTheSegment) {
  EXPECT_EQ(parseScaleSpec("e8m0_t33").why().place, 5u);
  EXPECT_EQ(parseScaleSpec("multi_float32_xyz_t32").why().place, 14u);
  EXPECT_EQ(parseScaleSpec("e8m0_t16n2x4").why().place, 5u);
  EXPECT_EQ(parseScaleSpec("e8m0_t16m4n2").why().place, 8u);
  EXPECT_EQ(parseNumberSpec("cb41fi_e9m2").why().place, 7u);
  EXPECT_EQ(textOf(parseScaleSpec("e8m0_t33")),
            "tile 't33' has size 33, expected a power of two from 4 to 256, "
            "or 0 for the whole dimension");
  EXPECT_EQ(textOf(parseScaleSpec("e8m0_t1_t32")),
            "tile 't1' has size 1, expected a power of two from 4 to 256, or 0 "
            "for the whole dimension; tiles of single rows do not name them, "
            "such as 't32' for 1 x 32");
  for (auto [spec, offset] :
       {std::pair("n2m4_t32", 0u), {"e8m0_t32_n2m4", 9u}}) {
    EXPECT_EQ(textOf(parseScaleSpec(spec)),
              "sparsity 'n2m4' stands beside a tile, expected it in the tile "
              "of the scale, such as 't32n2m4', behind one scale for the "
              "tensor, such as 'float32_n2m4', or alone for a tensor without "
              "scales");
    EXPECT_EQ(parseScaleSpec(spec).why().place, offset);
  }
  EXPECT_EQ(textOf(parseScaleSpec("float32_n4m4")),
            "sparsity 'n4m4' keeps 4 of 4 elements, expected 1 to 3");
  EXPECT_EQ(parseScaleSpec("float32_n4m4").why().place, 8u);
  EXPECT_FALSE(parseScaleSpec("float32_n2m4_float32"));
  EXPECT_EQ(textOf(parseScaleSpec("e8m0_t32n2")),
            "tile 't32n2' is malformed at '', expected t[T][sS][nNmM]");
  EXPECT_EQ(textOf(parseNumberSpec("mxfp8e4")),
            "'mxfp8e4' is not a number spec but a scaled data type: number "
            "spec 'e4m3fn' with scale spec 'e8m0_t32'");
}

TEST(ScaleSpec, SomeScalesCoverAllOfK) {
  for (const char *text :
       {"float32", "e8m0_t0", "float16_t32_t0", "multi_float32_bfloat16_t0",
        "float32_n2m4", "e4m3_t0n1m2"})
    EXPECT_TRUE(parseScaleSpec(text)->coversK()) << text;
  for (const char *text :
       {"e8m0_t32", "float32_t0_t32", "n2m4", "float32_t128_t128"})
    EXPECT_FALSE(parseScaleSpec(text)->coversK()) << text;
  EXPECT_FALSE(ScaleSpec().coversK());
  // Powers of two make integers fixed-point numbers.
  for (const char *text : {"float32", "float16_t32", "n2m4"})
    EXPECT_TRUE(parseScaleSpec(text)->hasPlainIntegers()) << text;
  for (const char *text : {"e8m0", "e8m0_t32", "multi_float32_e8m0_t32"})
    EXPECT_FALSE(parseScaleSpec(text)->hasPlainIntegers()) << text;
}

TEST(ScaleSpec, SparsityAloneIsUnscaled) {
  auto spec = parseScaleSpec("N2M4");
  ASSERT_TRUE(spec) << textOf(spec);
  EXPECT_TRUE(spec->isUnscaled());
  EXPECT_TRUE(spec->isSparse());
  EXPECT_EQ(spec->keepN, 2u);
  EXPECT_EQ(spec->ofM, 4u);
  EXPECT_FALSE(spec->isTensor());
  EXPECT_FALSE(spec->isTile());
  EXPECT_FALSE(spec->isChannel());
  EXPECT_EQ(print(*spec), "n2m4");
  EXPECT_TRUE(*parseScaleSpec("n1m2") != *spec);
  EXPECT_NE(hash_value(*parseScaleSpec("n1m2")), hash_value(*spec));
  EXPECT_EQ(textOf(parseScaleSpec("n4m4")),
            "sparsity 'n4m4' keeps 4 of 4 elements, expected 1 to 3");
  EXPECT_EQ(textOf(parseScaleSpec("n2m6")),
            "sparsity 'n2m6' keeps elements of groups of 6, expected 2, 4, 8 "
            "or 16");
  // Dense and unscaled is the spec without a text.
  EXPECT_TRUE(ScaleSpec().isUnscaled());
  EXPECT_FALSE(ScaleSpec().isTensor());
  EXPECT_EQ(print(ScaleSpec()), "");
  EXPECT_FALSE(parseScaleSpec(""));
}

TEST(ScaleSpec, FloatsAndBytesGoUnscaled) {
  for (const char *data : {"float16", "bfloat16", "e8m10", "e4m3fn", "e5m2",
                           "e3m2fnuz", "e2m1fnuz", "int8", "uint8"}) {
    EXPECT_FALSE(whyNotDataType(*parseNumberSpec(data))) << data;
    EXPECT_FALSE(
        whyNotDataType(*parseNumberSpec(data), *parseScaleSpec("n2m4")))
        << data;
  }
  for (const char *data : {"int4", "uint4", "e8m0", "cb41fi_e2m2fnuz"})
    EXPECT_TRUE(whyNotDataType(*parseNumberSpec(data), ScaleSpec())) << data;
  EXPECT_EQ(
      textOf(whyNotDataType(*parseNumberSpec("int4"), *parseScaleSpec("n2m4"))),
      "data 'int4' cannot go unscaled, only floats and integers of 8 "
      "bits can");
}

TEST(ScaleSpec, TwoNumbersAreSettledByTheData) {
  auto scale = parseScaleSpec("e4m3_float32_t16_t16");
  ASSERT_TRUE(scale);
  EXPECT_FALSE(whyNotDataType(*parseNumberSpec("uint8"), *scale));
  EXPECT_EQ(textOf(whyNotDataType(*parseNumberSpec("e4m3fn"), *scale)),
            "data 'e4m3fn' cannot be scaled by 'e4m3_float32_t16_t16': a zero "
            "point is for unsigned integer data; for a tensor scale over tile "
            "scales write 'multi_float32_e4m3_t16_t16'");
  // Subtiles belong to codebooks.
  EXPECT_TRUE(whyNotDataType(*parseNumberSpec("e2m1fnuz"),
                             *parseScaleSpec("e8m0_t32s4")));
  EXPECT_FALSE(whyNotDataType(*parseNumberSpec("cb41fi_e2m2fnuz"),
                              *parseScaleSpec("e8m0_t32s4")));
}

/// The names that TensorCast 0.3.0 predefines.
static std::vector<std::string> predefinedNames() {
  std::vector<std::string> names = {
      "fp8",      "bf8",      "fp8n",      "bf8n",     "fp8F32s", "fp8f32s",
      "fp8nF32s", "fp8nf32s", "bf8b32s",   "bf8nb32s", "mxint8",  "mxint4",
      "bfp16",    "bfp16t16", "mx9",       "mx6",      "mx4",     "mxfp4m",
      "mxfp4e",   "mxfp4f4",  "mxfi4",     "mxfp8e5",  "mxfp8e4", "mxfp6e3",
      "mxfp6e2",  "mxfp4e2",  "mxint8t16", "mxint4t16"};
  auto add = [&](std::initializer_list<const char *> stems,
                 std::initializer_list<const char *> ends) {
    for (const char *stem : stems)
      for (const char *end : ends)
        names.push_back(std::string(stem) + end);
  };
  add({"mxbf8", "mxfp8", "mxbf6", "mxfp6", "mxfp4"}, {"", "t16"});
  add({"mxfp4", "mxbf6", "mxfp6", "mxfp8"}, {"s", "s16"});
  add({"nvb8", "nvf8", "nvb6", "nvf6", "nvf4"}, {"", "s"});
  add({"int8_", "fp8_", "bf8_", "fp8n_", "bf8n_"}, {"F", "f", "b", "n", "e"});
  add({"int8_", "int4_", "fp8_", "fp8n_"}, {"Fc", "fc", "bc", "nc", "ec"});
  add({"uint8_"}, {"FF", "ff", "bb", "Fi", "fi", "bi", "ni"});
  add({"uint8_", "uint4_"}, {"FFc", "ffc", "bbc", "Fic", "fic", "bic", "nic"});
  return names;
}

TEST(ScaleSpec, PredefinedTypesAreLegal) {
  for (const std::string &name : predefinedNames()) {
    const NamedDataType *type = findDataType(name);
    ASSERT_TRUE(type) << name;
    auto number = parseNumberSpec(type->number);
    ASSERT_TRUE(number) << name << ": " << textOf(number);
    if (type->scale.empty()) {
      EXPECT_FALSE(whyNotDataType(*number)) << name;
      continue;
    }
    auto scale = parseScaleSpec(type->scale);
    ASSERT_TRUE(scale) << name << ": " << textOf(scale);
    EXPECT_FALSE(whyNotDataType(*number, *scale)) << name;
  }
  EXPECT_EQ(findDataType("mxfp4")->number, "e2m1fnuz");
  EXPECT_EQ(findDataType("fp8f32s")->scale, "float16_t32_t32");
  EXPECT_EQ(findDataType("int8_n")->scale, "e4m3");
  EXPECT_EQ(findDataType("int4_bc")->number, "int4");
  EXPECT_EQ(findDataType("int4_bc")->scale, "bfloat16_t0");
  EXPECT_EQ(findDataType("fp8n_F")->number, "e4m3b8fnuz");
  EXPECT_EQ(findDataType("uint8_Fi")->scale, "float32_int8");
  EXPECT_EQ(findDataType("uint4_bbc")->scale, "bfloat16_bfloat16_t0");
  EXPECT_EQ(findDataType("mxfp5"), nullptr);
}

TEST(ScaleSpec, HardwareFormats) {
  auto element = [](const char *text) {
    return elementFormat(*parseNumberSpec(text));
  };
  EXPECT_EQ(element("e2m1fnuz"), ElementFormat::E2M1);
  EXPECT_EQ(element("e4m3fn"), ElementFormat::E4M3);
  EXPECT_EQ(element("float8_e5m2"), ElementFormat::E5M2);
  EXPECT_EQ(element("e8m7"), ElementFormat::BF16);
  EXPECT_EQ(element("int8"), ElementFormat::INT8);
  EXPECT_EQ(element("e4m3"), std::nullopt);
  EXPECT_EQ(element("e2m1"), std::nullopt);
  EXPECT_EQ(element("cb41fi_e2m3fnuz"), std::nullopt);
  EXPECT_EQ(scaleFormat(*parseNumberSpec("e4m3")), ElementFormat::UE4M3);
  EXPECT_EQ(scaleFormat(*parseNumberSpec("e8m0")), ElementFormat::UE8M0);
  EXPECT_EQ(scaleFormat(*parseNumberSpec("e5m3fn")), ElementFormat::UE5M3);
  EXPECT_EQ(scaleFormat(*parseNumberSpec("e5m3")), ElementFormat::UE5M3);
  EXPECT_EQ(scaleFormat(*parseNumberSpec("e5m3b16fn")), std::nullopt);
  EXPECT_EQ(elementFormat(*parseNumberSpec("e5m3fn")), std::nullopt);
  EXPECT_EQ(print(*parseScaleSpec("e5m3fn_t16")), "e5m3fn_t16");
  EXPECT_EQ(textOf(parseNumberSpec("ue5m3")),
            "'ue5m3' is not a number spec; write 'e5m3fn'");
  EXPECT_EQ(scaleFormat(*parseNumberSpec("float32")), std::nullopt);
}

TEST(ScaleSpec, RoundsToAnyFormat) {
  auto round = [](const char *text, double value) {
    return roundTo(*parseNumberSpec(text), value);
  };
  EXPECT_EQ(round("e2m1fnuz", 2.5), 2.0);
  EXPECT_EQ(round("e2m1fnuz", -0.75), -1.0);
  EXPECT_EQ(round("e2m1fnuz", 100), 6.0);
  EXPECT_EQ(round("e4m3", 1000), 240.0);
  EXPECT_EQ(round("e5m3", 1.0625), 1.0);
  EXPECT_EQ(round("float16", 0x1.8p-25), 0x1p-24);
  EXPECT_EQ(round("float16", 0x1p-25), 0.0);
  EXPECT_EQ(round("int4", 1.125), 1.0);
  EXPECT_EQ(round("uint4", 3.5), 4.0);
  EXPECT_EQ(round("uint4", -2), 0.0);
  EXPECT_EQ(round("uint4", 99), 15.0);
  EXPECT_EQ(round("e8m0", 3.9), 2.0);
  EXPECT_EQ(round("e8m0", 0), 0x1p-127);
  EXPECT_TRUE(std::signbit(round("e2m1fnuz", -0.1)));
  EXPECT_TRUE(std::isnan(round("float16", NAN)));
  EXPECT_EQ(round("float16", -INFINITY), -65504.0);
}

} // namespace
