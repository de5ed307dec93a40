//===- WideTest.cpp - answers about the wide instructions of sm_107 -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By hand from the layout of scales in test/oracle/rubin/scale_layout.csv: word
// w of row group g at column w * W + 4 * g, W being 4 for up to 128 rows.
//
//===----------------------------------------------------------------------===//

#include "Formats/TextOf.h"
#include "blockscale/Explain/Explain.h"
#include "blockscale/Explain/Layouts.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::explain;
using blockscale::test::textOf;

namespace {

std::string answer(const LayoutQuestion &question) {
  Result<std::string> text = layoutText(question);
  return text ? *text : text.why().text;
}

LayoutQuestion nvfp4(std::uint64_t row, std::uint64_t block) {
  LayoutQuestion question;
  question.kind = "mxf4nvf4";
  question.k = 128;
  question.memory = "tensor";
  question.row = row;
  question.block = block;
  return question;
}

TEST(Wide, ScalesOfAInTensorMemory) {
  EXPECT_EQ(
      answer(nvfp4(37, 5)),
      "scale of row 37, block 5 of A: elements 80 to 95 along K; kind "
      "mxf4nvf4, K = 128, blocks of 16\n"
      "  tensor     lanes 5, 37, 69 and 101, column 5, byte 1; read by MMA "
      "0 along K: scale address column 0, id 0\n");
  EXPECT_NE(answer(nvfp4(37, 13))
                .find("column 13, byte 1; read by MMA 1 along K: scale address "
                      "column 8, id 0"),
            std::string::npos)
      << answer(nvfp4(37, 13));
}

TEST(Wide, ScalesOfBHaveWiderWords) {
  LayoutQuestion question = nvfp4(200, 8);
  question.operand = "b";
  question.n = 256;
  EXPECT_NE(answer(question).find("lanes 8, 40, 72 and 104, column 22, byte 0; "
                                  "read by MMA 1 along K: scale address column "
                                  "16, id 0"),
            std::string::npos)
      << answer(question);
}

TEST(Wide, OneRowToALane) {
  LayoutQuestion question = nvfp4(37, 13);
  question.rowPerLane = true;
  EXPECT_NE(answer(question).find("lanes 37, column 3, byte 1; read by MMA 1 "
                                  "along K: scale address column 2, id 0"),
            std::string::npos)
      << answer(question);
  // In memory rows of 16 bytes: 37 * 16 + 13.
  question.memory = "shared";
  question.blocks = 40;
  EXPECT_NE(answer(question).find(
                "byte 605 of the 2048 of tile (0, 0), 128 rows by 16 blocks; "
                "byte 605 of the operand's"),
            std::string::npos)
      << answer(question);
  question.operand = "b";
  EXPECT_EQ(answer(question), "'--row-per-lane' is of the scales of A");
}

TEST(Wide, PicturesShowEveryRow) {
  LayoutQuestion question;
  question.kind = "mxf4nvf4";
  question.k = 128;
  question.memory = "tensor";
  EXPECT_TRUE(layoutMap(question)) << textOf(layoutMap(question));
  question.rowPerLane = true;
  Result<pictures::ByteMap> map = layoutMap(question);
  ASSERT_TRUE(map) << textOf(map);
  // Two words of one column, each in four quarters of the lanes.
  EXPECT_EQ(map->panels.size(), 8u);
  question.memory = "shared";
  EXPECT_FALSE(layoutMap(question));
}

TEST(Wide, DescriptorsInTables) {
  constexpr const char *kHeader =
      "kind,block_size,cta_group,sparse,M,N,K,a_type,b_type,sf_type,a_major,"
      "b_major,negate_a,negate_b,sfa_id,sfb_id\n";
  struct {
    const char *row, *bits;
  } rows[] = {
      {"mxf4nvf4,16,1,0,128,128,128,e2m1,e2m1,ue4m3,K,K,0,0,0,0", "0x08200488"},
      {"mxf4nvf4,16,2,0,256,256,128,e2m1,e2m1,ue5m3,K,K,0,0,0,0", "0x11400488"},
      {"mxf8f6f4,32,2,0,256,256,64,e4m3,e2m1,ue8m0,K,K,0,0,0,0", "0x90c01400"},
  };
  for (const auto &row : rows) {
    CsvResult csv = parseCsv(std::string(kHeader) + row.row + "\n");
    ExplainResult result = explainTable("idesc", *csv.table);
    ASSERT_TRUE(result.table) << row.row;
    EXPECT_NE(writeCsv(*result.table).find(row.bits), std::string::npos)
        << writeCsv(*result.table);
  }
  CsvResult csv =
      parseCsv(std::string(kHeader) +
               "mxf4nvf4,16,2,0,128,128,128,e2m1,e2m1,ue4m3,K,K,0,0,"
               "0,0\n");
  ExplainResult result = explainTable("idesc", *csv.table);
  EXPECT_NE(writeCsv(*result.table).find("illegal: column 'M'"),
            std::string::npos)
      << writeCsv(*result.table);
}

} // namespace
