//===- UnitsRubinFormsTest.cpp - the forms of tcgen05.mma on sm_107 -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each dense form of test/oracle/rubin/mma_forms.csv as a descriptor whose bits
// lie where rubin/descriptors.csv says, with each N, type and scale id; and
// what is beside it.
//
//===----------------------------------------------------------------------===//

#include "UnitsOracle.h"
#include "UnitsRubin.h"

#include <optional>
#include <set>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

std::optional<MmaKind> kindOf(const std::string &name) {
  if (name == "mxf4nvf4")
    return MmaKind::MXF4NVF4;
  if (name == "mxf4")
    return MmaKind::MXF4;
  if (name == "mxf8f6f4")
    return MmaKind::MXF8F6F4;
  if (name == "f8f6f4")
    return MmaKind::F8F6F4;
  return std::nullopt;
}

std::vector<std::string> parts(const std::string &text) {
  std::vector<std::string> all;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ';');)
    all.push_back(part);
  return all;
}

/// Codes of 8-bit kinds in the descriptor.
std::vector<uint32_t> codesOf(const std::string &types) {
  static const std::map<std::string, uint32_t> kCodes = {
      {"e4m3", 0}, {"e5m2", 1}, {"e2m3", 3}, {"e3m2", 4}, {"e2m1", 5}};
  std::vector<uint32_t> codes;
  for (const std::string &type : parts(types))
    if (auto code = kCodes.find(type); code != kCodes.end())
      codes.push_back(code->second);
  return codes.empty() ? std::vector<uint32_t>{0, 1, 3, 4, 5} : codes;
}

/// A form of the table without what the loops below add.
struct Form {
  MmaForm form;
  bool fp4, scaled;
  uint32_t bits;

  explicit Form(const CsvRow &row) {
    MmaKind kind = *kindOf(row.at("kind"));
    fp4 = kind == MmaKind::MXF4 || kind == MmaKind::MXF4NVF4;
    scaled = kind != MmaKind::F8F6F4;
    unsigned m = num(row.at("m")), code = num(row.at("k_code"));
    form = formOf(kind, scaled ? num(row.at("block")) : 0,
                  num(row.at("cta_group")));
    if (!scaled) {
      bits = 1 << 4 | m / 16 << 24 | code << 29;
      return;
    }
    uint32_t scale = row.at("scale") == "ue4m3"   ? 0
                     : row.at("scale") == "ue8m0" ? 1
                                                  : 2;
    bits = scale << 23 | m / 128 << 27;
    bits |=
        fp4 ? (code & 1) << 31 | code >> 1 << 3 | 1 << 7 | 1 << 10 : code << 31;
  }

  bool isLegal(uint32_t more, InstructionDescriptor &out, bool wide = true) {
    MmaForm on = form;
    on.wide = wide;
    OpenPointSet points;
    return !decodeInstructionDescriptor(bits | more, on, out, points);
  }
};

TEST(UnitsRubinForms, OfTheTable) {
  unsigned forms = 0;
  for (const CsvRow &row : readCsv("rubin/mma_forms.csv")) {
    if (row.at("sparse") != "dense" || !kindOf(row.at("kind")))
      continue;
    ++forms;
    SCOPED_TRACE(row.at("kind") + " " + row.at("scale") + " " +
                 row.at("block") + " K " + row.at("k") + " M " + row.at("m"));
    Form form(row);
    unsigned step = num(row.at("n_step")), most = num(row.at("n_max"));
    InstructionDescriptor out;
    for (unsigned n = num(row.at("n_min")); n <= most; n += step) {
      ASSERT_TRUE(form.isLegal(n / 8 << 17, out)) << n;
      EXPECT_EQ(out.k, num(row.at("k")));
      EXPECT_EQ(out.m, num(row.at("m")));
      EXPECT_EQ(out.n, n);
      EXPECT_EQ(out.scaleCount, num(row.at("scales_per_row")));
      if (step == 16) {
        EXPECT_FALSE(form.isLegal((n / 8 + 1) << 17, out)) << n;
      }
    }
    uint32_t n = most / 8 << 17;
    EXPECT_FALSE(form.isLegal(n + (step / 8 << 17), out))
        << "above the largest";
    // What began with sm_107 is illegal on the chips before.
    EXPECT_EQ(form.isLegal(n, out, /*wide=*/false),
              row.at("targets").find("sm_10") !=
                  row.at("targets").find("sm_107"));
    std::set<unsigned> ids;
    for (const std::string &id : parts(row.at("scale_ids")))
      ids.insert(num(id));
    for (unsigned id = 0; form.scaled && id != 4; ++id) {
      EXPECT_EQ(form.isLegal(n | id << 29, out), ids.count(id) != 0) << id;
      EXPECT_EQ(form.isLegal(n | id << 4, out), ids.count(id) != 0) << id;
    }
    for (uint32_t a : codesOf(row.at("a_types")))
      for (uint32_t b : codesOf(row.at("b_types"))) {
        if (!form.fp4) {
          EXPECT_TRUE(form.isLegal(n | a << 7 | b << 10, out)) << a << " " << b;
        }
      }
  }
  EXPECT_EQ(forms, 36u);
}

} // namespace
