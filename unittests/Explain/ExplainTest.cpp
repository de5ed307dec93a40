//===- ExplainTest.cpp - answers against the reference tables===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Explain/Explain.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

using namespace blockscale::explain;

namespace {

std::string readOracle(const std::string &file) {
  std::ifstream in(std::string(BLOCKSCALE_ORACLE_DIR) + "/" + file,
                   std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

bool isAnswer(const std::vector<TableColumn> &columns,
              const std::string &name) {
  for (const TableColumn &column : columns)
    if (column.name == name)
      return column.isAnswer;
  return false;
}

/// The question half of a table: answer columns removed.
Csv strip(const Csv &full, const std::vector<TableColumn> &columns) {
  Csv question;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < full.header.size(); ++i)
    if (!isAnswer(columns, full.header[i])) {
      kept.push_back(i);
      question.header.push_back(full.header[i]);
    }
  for (const Csv::Row &row : full.rows) {
    Csv::Row out;
    out.line = row.line;
    for (std::size_t i : kept)
      out.fields.push_back(row.fields[i]);
    question.rows.push_back(out);
  }
  return question;
}

struct OracleFile {
  const char *table, *file;
  std::size_t rows;
};

void PrintTo(const OracleFile &file, std::ostream *out) { *out << file.file; }

class ExplainOracle : public testing::TestWithParam<OracleFile> {};

/// Strips the answers, asks, and wants the very bytes of the file back.
TEST_P(ExplainOracle, GivesTheFileBack) {
  auto [table, file, rows] = GetParam();
  std::string text = readOracle(file);
  CsvResult full = parseCsv(text);
  ASSERT_TRUE(full.table) << file;
  ASSERT_EQ(full.table->rows.size(), rows);
  Csv question = strip(*full.table, tableColumns(table));
  ASSERT_LT(question.header.size(), full.table->header.size());
  ExplainResult result = explainTable(table, question);
  ASSERT_TRUE(result.table);
  EXPECT_TRUE(result.diagnostics.empty()) << result.diagnostics.at(0);
  if (writeCsv(*result.table) == text)
    return;
  ASSERT_EQ(result.table->header, full.table->header);
  for (std::size_t i = 0; i < rows; ++i)
    ASSERT_EQ(result.table->rows[i].fields, full.table->rows[i].fields)
        << file << " line " << full.table->rows[i].line;
  FAIL() << "the fields agree but the bytes do not";
}

/// Puts junk into every question column in turn. Every row must come back
/// whole, either answered or refused in all its answer columns; a negative
/// number is good in no column but a remark.
TEST_P(ExplainOracle, SurvivesJunk) {
  auto [table, file, rows] = GetParam();
  std::vector<TableColumn> columns = tableColumns(table);
  Csv clean = strip(*parseCsv(readOracle(file)).table, columns);
  clean.rows.resize(std::min<std::size_t>(clean.rows.size(), 40));
  for (std::size_t c = 0; c < clean.header.size(); ++c)
    for (const char *junk : {"-1", "", "0", "1", "3", "255", "65536",
                             "4294967295", "4294967296", "9223372036854775807",
                             "18446744073709551616", "1e3", "x", " 1", "0x"}) {
      Csv question = clean;
      for (Csv::Row &row : question.rows)
        row.fields[c] = junk;
      ExplainResult result = explainTable(table, question);
      ASSERT_TRUE(result.table);
      for (const Csv::Row &row : result.table->rows) {
        ASSERT_EQ(row.fields.size(), columns.size());
        unsigned answers = 0, refusals = 0;
        for (std::size_t i = 0; i < columns.size(); ++i)
          if (columns[i].isAnswer) {
            ++answers;
            refusals += row.fields[i].rfind("illegal: ", 0) == 0;
          }
        ASSERT_TRUE(refusals == 0 || refusals == answers);
        if (std::string(junk) == "-1") {
          ASSERT_EQ(refusals, answers) << clean.header[c];
        }
      }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Files, ExplainOracle,
    testing::Values(
        OracleFile{"idesc", "idesc.csv", 163},
        OracleFile{"smem_desc", "smem_desc.csv", 47},
        OracleFile{"k96_smem_desc", "k96_smem_desc.csv", 24},
        OracleFile{"utccp_desc", "utccp_desc.csv", 15},
        OracleFile{"smem_swizzle_offsets", "smem_swizzle_offsets.csv", 300},
        OracleFile{"sf_gmem_offsets", "sf_gmem_offsets.csv", 420},
        OracleFile{"tmem_sf_layout", "tmem_sf_layout.csv", 2649},
        OracleFile{"k96_sequence", "k96_sequence.csv", 24},
        OracleFile{"k96_scale_positions", "k96_scale_positions.csv", 475},
        OracleFile{"tmem_accumulator", "tmem_accumulator.csv", 280},
        OracleFile{"tcgen05_ld_fragments", "tcgen05_ld_fragments.csv", 713},
        OracleFile{"sparse_meta_gmem_offsets", "sparse_meta_gmem_offsets.csv",
                   416},
        OracleFile{"tmem_sparse_meta", "tmem_sparse_meta.csv", 146},
        OracleFile{"mma_sync_fragments", "mma_sync_fragments.csv", 5344},
        OracleFile{"decode", "numerics/decode.csv", 520},
        OracleFile{"encode", "numerics/encode.csv", 10140},
        OracleFile{"decode_tables", "decode_tables.csv", 520},
        OracleFile{"encode_samples", "encode_samples.csv", 549}),
    [](const auto &info) {
      std::string name = info.param.table;
      return name;
    });

/// The reference writes nibble 0 for an empty chunk, which is no legal
/// encoding (its README); we write 4 there and agree on all the rest.
TEST(Explain, SparseCompress) {
  CsvResult full = parseCsv(readOracle("sparse_compress.csv"));
  ASSERT_TRUE(full.table);
  ASSERT_EQ(full.table->rows.size(), 33u);
  Csv question = strip(*full.table, tableColumns("sparse_compress"));
  ExplainResult result = explainTable("sparse_compress", question);
  ASSERT_TRUE(result.table);
  EXPECT_TRUE(result.diagnostics.empty());
  unsigned empty = 0;
  for (std::size_t i = 0; i < full.table->rows.size(); ++i) {
    std::vector<std::string> expected = full.table->rows[i].fields;
    if (expected[4] == "high")
      expected[3][2] = '4', ++empty;
    if (expected[4] == "low")
      expected[3][3] = '4', ++empty;
    EXPECT_EQ(result.table->rows[i].fields, expected);
  }
  EXPECT_EQ(empty, 6u);
}

TEST(Explain, DecodeAndEncodeTakeBothForms) {
  CsvResult codes = parseCsv("format,code\ne2m1,0x0d\n");
  ExplainResult decoded = explainTable("decode", *codes.table);
  ASSERT_TRUE(decoded.table);
  EXPECT_EQ(writeCsv(*decoded.table),
            "format,code,f32_bits\ne2m1,0x0d,0xc0400000\n");
  CsvResult values = parseCsv("f32_bits\n0x40200000\n");
  ExplainResult encoded = explainTable("encode", *values.table);
  ASSERT_TRUE(encoded.table);
  EXPECT_EQ(writeCsv(*encoded.table),
            "f32_bits,e2m1,e2m3,e3m2,e4m3,e5m2,ue8m0_round_up,"
            "ue8m0_round_down\n0x40200000,0x4,0x12,0x11,0x42,0x41,0x81,0x80\n");
}

/// The answer of the only row of a question, all answer columns joined.
std::string ask(const std::string &table, const std::string &question) {
  CsvResult csv = parseCsv(question);
  ExplainResult result = explainTable(table, *csv.table);
  if (!result.table)
    return "no table: " + result.diagnostics.at(0);
  std::string joined;
  std::vector<TableColumn> columns = tableColumns(table);
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].isAnswer)
      joined +=
          (joined.empty() ? "" : "|") + result.table->rows.at(0).fields[i];
  return joined;
}

const std::string kIdescHeader =
    "kind,block_size,cta_group,sparse,M,N,K,a_type,b_type,sf_type,a_major,"
    "b_major,negate_a,negate_b,sfa_id,sfb_id\n";

// Descriptors that CUTLASS makes (docs/sources.md, [cutlass]).
TEST(Explain, WorkedInstructionDescriptors) {
  auto idesc = [](const std::string &row) {
    return ask("idesc", kIdescHeader + row + "\n");
  };
  EXPECT_EQ(idesc("mxf8f6f4,32,1,0,128,64,32,e5m2,e5m2,ue8m0,K,K,0,0,1,1"),
            "0x28900490");
  EXPECT_EQ(idesc("mxf8f6f4,32,1,1,128,72,64,e5m2,e5m2,ue8m0,K,K,1,0,2,2"),
            "0x489224a4");
  EXPECT_EQ(idesc("mxf4,32,2,0,256,128,96,e2m1,e2m1,ue8m0,K,K,0,0,3,1"),
            "0xf0a00490");
  EXPECT_EQ(idesc("mxf4nvf4,16,1,1,128,64,128,e2m1,e2m1,ue4m3,K,K,1,0,0,0"),
            "0x08102484");
}

TEST(Explain, RefusesIllegalRows) {
  auto refusal = [](const std::string &row) {
    std::string answer = ask("idesc", kIdescHeader + row + "\n");
    EXPECT_EQ(answer.rfind("illegal: ", 0), 0u) << row << " gave " << answer;
    return answer;
  };
  EXPECT_EQ(refusal("mxf8f6f4,32,1,0,64,64,32,e5m2,e5m2,ue8m0,K,K,0,0,1,1"),
            "illegal: m is 64, block-scaled instructions have m 128 or 256");
  refusal("mxf8f6f4,32,1,0,128,260,32,e5m2,e5m2,ue8m0,K,K,0,0,1,1");
  refusal("mxf8f6f4,16,1,0,128,64,32,e5m2,e5m2,ue8m0,K,K,0,0,1,1");
  refusal("mxf8f6f4,32,1,0,128,64,32,e2m1,e5m2,ue8m0,MN,K,0,0,1,1");
  refusal("mxf8f6f4,32,1,0,128,64,64,e5m2,e5m2,ue8m0,K,K,0,0,1,1");
  refusal("mxf8f6f4,32,1,0,128,64,32,e5m2,e5m2,ue4m3,K,K,0,0,1,1");
  refusal("mxf8f6f4,32,1,0,128,64,32,e5m2,e5m2,ue8m0,K,K,0,0,4,1");
  refusal("mxf8f6f4,32,1,0,-128,64,32,e5m2,e5m2,ue8m0,K,K,0,0,1,1");
  refusal("mxf8f6f4,32,1,0,99999999999999999999,64,32,e5m2,e5m2,ue8m0,K,K,0,"
          "0,1,1");
  refusal("mxf8f6f4,32,1,0,,64,32,e5m2,e5m2,ue8m0,K,K,0,0,1,1");
  refusal("mxf4,32,1,0,128,64,64,e4m3,e2m1,ue8m0,K,K,0,0,0,0");
  refusal("mxf4,32,1,1,128,64,96,e2m1,e2m1,ue8m0,K,K,0,0,0,0");
  refusal("mxf4nvf4,16,1,0,128,64,64,e2m1,e2m1,ue4m3,K,K,0,0,1,0");
  refusal("mxf4nvf4,16,2,1,128,64,128,e2m1,e2m1,ue4m3,K,K,0,0,0,0");
  refusal("mxf8f6f4,32,1,0");
}

TEST(Explain, RefusesImpossiblePlaces) {
  EXPECT_EQ(ask("sf_gmem_offsets",
                "block_size,mn_extent,k_extent,batch_extent,mn,k_element,batch"
                "\n32,128,128,1,128,0,0\n"),
            "illegal: element (128, 0) of batch 0 lies outside 1 x 128 x 128");
  EXPECT_EQ(ask("sf_gmem_offsets",
                "block_size,mn_extent,k_extent,batch_extent,mn,k_element,batch"
                "\n32,9223372036854775807,9223372036854775807,9,1,0,0\n"),
            "illegal: the scale tensor does not fit in memory");
  EXPECT_EQ(ask("k96_sequence",
                "operand,block_size,mn_extent,k_tile,mma_index\nA,16,128,768,8"
                "\n")
                .rfind("illegal: column 'mma_index'", 0),
            0u);
  EXPECT_EQ(ask("tmem_accumulator",
                "layout_id,cta_group,M,N,cta_rank,m,n\nA,2,256,256,0,200,3\n"),
            "illegal: row 200 lies in CTA 1 of the pair, found 0|"
            "illegal: row 200 lies in CTA 1 of the pair, found 0");
  EXPECT_EQ(ask("sparse_compress",
                "kind,logical_elements_hex_low_k_first,empty_chunk\n"
                "mxf8f6f4,01 02 03 00 00 00 00 00,none\n")
                .rfind("illegal: the chunk at element 0 has 3 nonzero", 0),
            0u);
  EXPECT_EQ(ask("utccp_desc", "copy,smem_base\n128x128b x,8\n")
                .rfind("illegal: start address is 8", 0),
            0u);
  EXPECT_EQ(ask("decode", "format,code_hex\ne2m1,10\n").rfind("illegal:", 0),
            0u);
}

TEST(Explain, ReportsUnknownTablesAndMissingColumns) {
  EXPECT_EQ(ask("nonsense", "a\n1\n").rfind("no table: no table is called", 0),
            0u);
  EXPECT_EQ(ask("utccp_desc", "copy\n128x128b\n"),
            "no table: line 1: the table has no column 'smem_base'");
}

TEST(Explain, KeepsColumnsThatItDoesNotKnow) {
  CsvResult csv =
      parseCsv("id,copy,smem_base,descriptor\n7,128x128b,16,junk\n");
  ExplainResult result = explainTable("utccp_desc", *csv.table);
  EXPECT_EQ(writeCsv(*result.table),
            "copy,smem_base,lbo_bytes,sbo_bytes,layout_type,descriptor,id\n"
            "128x128b,16,16,128,0,0x0000400800010001,7\n");
}

} // namespace
