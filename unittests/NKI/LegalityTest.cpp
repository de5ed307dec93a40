//===- LegalityTest.cpp - rules of nc_matmul_mx and quantize_mx -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/NKI/Legality.h"
#include "Formats/TextOf.h"
#include "gtest/gtest.h"
#include <functional>

using namespace blockscale;
using namespace blockscale::nki;
using blockscale::test::textOf;

namespace {

Target target(const char *name) { return *parseTarget(name); }

/// A query that breaks one rule, and the start of its complaint.
struct MatmulCase {
  const char *complaint;
  std::function<void(MatmulQuery &)> change;
};

const std::vector<MatmulCase> &matmulCases() {
  using Q = MatmulQuery;
  static const std::vector<MatmulCase> cases{
      {"type 'e2m3' of the stationary is not legal for 'nc_matmul_mx' on "
       "'trn3': expected 'e4m3' (float8_e4m3fn_x4), 'e5m2' (float8_e5m2_x4) or "
       "'e2m1' (float4_e2m1fn_x4) (NKI API reference, nki.isa.nc_matmul_mx, "
       "Data types); nearest legal: type 'e4m3' of the stationary",
       [](Q &q) { q.stationary = ElementFormat::E2M3; }},
      {"type 'int8' of the moving is not legal",
       [](Q &q) { q.moving = ElementFormat::INT8; }},
      {"scale 'ue4m3' is not legal for 'nc_matmul_mx' on 'trn3': expected "
       "'ue8m0' (NKI API reference, nki.isa.nc_matmul_mx, introduction); "
       "nearest legal: scale 'ue8m0'",
       [](Q &q) { q.scale = ElementFormat::UE4M3; }},
      {"scale tile of type 'float32' is not legal for 'nc_matmul_mx' on "
       "'trn3': expected 'uint8' or 'float8_e8m0fnu'",
       [](Q &q) { q.scaleType = PlainType::F32; }},
      {"block 16 is not legal for 'nc_matmul_mx' on 'trn3': expected 32: 8 "
       "partitions by 4 packed elements",
       [](Q &q) { q.block = 16; }},
      {"dst of type 'float16' is not legal",
       [](Q &q) { q.dst = PlainType::F16; }},
      {"dst in 'sbuf' is not legal for 'nc_matmul_mx' on 'trn3': expected "
       "'psum'",
       [](Q &q) { q.dstBuffer = Buffer::Sbuf; }},
      {"an operand in 'psum' is not legal",
       [](Q &q) { q.operandBuffer = Buffer::Psum; }},
      {"P = 48 is not legal for 'nc_matmul_mx' on 'trn3': expected a multiple "
       "of 32 from 32 to 128 (NKI API reference, nki.isa.nc_matmul_mx, Tile "
       "size); nearest legal: P = 64",
       [](Q &q) {
         q.partitions = q.movingPartitions = q.scalePartitions = 48;
       }},
      {"P = 160 is not legal",
       [](Q &q) {
         q.partitions = q.movingPartitions = q.scalePartitions = 160;
       }},
      {"P = 0 is not legal",
       [](Q &q) { q.partitions = q.movingPartitions = q.scalePartitions = 0; }},
      {"P = 64 of the moving tile is not legal for 'nc_matmul_mx' on 'trn3': "
       "expected 128, as of the stationary tile",
       [](Q &q) { q.movingPartitions = 64; }},
      {"M = 127 is not legal for 'nc_matmul_mx' on 'trn3': expected an even "
       "number from 2 to 128 (NKI API reference, nki.isa.nc_matmul_mx, Tile "
       "size); nearest legal: M = 128",
       [](Q &q) { q.m = 127; }},
      {"M = 130 is not legal", [](Q &q) { q.m = 130; }},
      {"M = 0 is not legal", [](Q &q) { q.m = 0; }},
      {"N = 4097 is not legal for 'nc_matmul_mx' on 'trn3': expected 1 to 4096 "
       "with dst of type 'float32'",
       [](Q &q) { q.n = 4097; }},
      {"N = 0 is not legal", [](Q &q) { q.n = 0; }},
      {"tile_size = (64, 128) with no tile_position is not legal for "
       "'nc_matmul_mx' on 'trn3': expected both or neither (NKI API reference, "
       "nki.isa.nc_matmul_mx, Tiling mode)",
       [](Q &q) {
         q.partitions = q.movingPartitions = 64;
         q.tileSize = {64, 128};
       }},
      {"no tile_size with tile_position = (0, 0) is not legal",
       [](Q &q) { q.tilePosition = {0, 0}; }},
      {"tile_size = (96, 128) is not legal",
       [](Q &q) {
         q.tileSize = {96, 128};
         q.tilePosition = {0, 0};
       }},
      {"tile_size = (128, 64) is not legal",
       [](Q &q) {
         q.tileSize = {128, 64};
         q.tilePosition = {0, 0};
       }},
      {"P = 64 in tile_size = (32, 128) is not legal for 'nc_matmul_mx' on "
       "'trn3': expected at most the 32 rows of the tile",
       [](Q &q) {
         q.partitions = q.movingPartitions = 64;
         q.tileSize = {32, 128};
         q.tilePosition = {0, 0};
       }},
      // "must not exceed 128" in the text; 128 itself leaves no rows.
      {"tile_position = (128, 0) is not legal for 'nc_matmul_mx' on 'trn3': "
       "expected (start_row, 0) with start_row 0, 32, 64, 96",
       [](Q &q) {
         q.partitions = q.movingPartitions = 32;
         q.tileSize = {32, 128};
         q.tilePosition = {128, 0};
         q.operandPartition = 128;
       }},
      {"tile_position = (32, 0) is not legal for 'nc_matmul_mx' on 'trn3': "
       "expected (start_row, 0) with start_row 0, 64",
       [](Q &q) {
         q.partitions = q.movingPartitions = 64;
         q.tileSize = {64, 128};
         q.tilePosition = {32, 0};
       }},
      {"tile_position = (0, 32) is not legal",
       [](Q &q) {
         q.tileSize = {128, 128};
         q.tilePosition = {0, 32};
       }},
      {"operands from partition 0 is not legal for 'nc_matmul_mx' on 'trn3': "
       "expected partition 64, the tile's first row",
       [](Q &q) {
         q.partitions = q.movingPartitions = 64;
         q.tileSize = {64, 128};
         q.tilePosition = {64, 0};
       }},
      {"scale tile of 16 partitions is not legal for 'nc_matmul_mx' on 'trn3': "
       "expected at least 128 for P = 128 (MXFP Matrix Multiplication with "
       "NKI, Scale Tensor)",
       [](Q &q) { q.scalePartitions = 16; }},
      {"scale offset 16 is not legal for 'nc_matmul_mx' on 'trn3': expected 0, "
       "4, 8 or 12",
       [](Q &q) { q.scaleOffset = 16; }},
      {"scale offset 2 is not legal", [](Q &q) { q.scaleOffset = 2; }},
      {"scale offset -4 is not legal", [](Q &q) { q.scaleOffset = -4; }},
      {"structured sparsity is not legal for 'nc_matmul_mx' on 'trn3': "
       "expected dense operands, such as those of 'blockscale.densify': there "
       "is no operand for metadata (NKI API reference, nki.isa.nc_matmul_mx, "
       "Parameters); nearest legal: dense operands",
       [](Q &q) { q.sparse = true; }},
      {"a zero point is not legal for 'nc_matmul_mx' on 'trn3': expected "
       "scales alone: there is no operand for zero points (NKI API reference, "
       "nki.isa.nc_matmul_mx, Parameters); nearest legal: no zero points",
       [](Q &q) { q.zeroPoints = true; }},
      {"an operand without scales is not legal",
       [](Q &q) { q.scaled = false; }},
      {"dst of 64 partitions is not legal for 'nc_matmul_mx' on 'trn3': "
       "expected 128, M of the stationary tile",
       [](Q &q) { q.dstPartitions = 64; }},
      {"dst of free size 64 is not legal", [](Q &q) { q.dstFree = 64; }},
      {"stationary_scale of free size 512 is not legal",
       [](Q &q) { q.stationaryScaleFree = 512; }},
      {"moving_scale of free size 128 is not legal",
       [](Q &q) { q.movingScaleFree = 128; }},
      {"moving tile from partition 64 is not legal for 'nc_matmul_mx' on "
       "'trn3': expected 0, as of the stationary tile",
       [](Q &q) { q.movingPartition = 64; }},
      {"data without an index and scales through an index from partition 0 is "
       "not legal for 'nc_matmul_mx' on 'trn3': expected the same index or "
       "none",
       [](Q &q) { q.scaleIndex = 0; }},
      {"data through an index from partition 48 and scales through an index "
       "from partition 48 is not legal for 'nc_matmul_mx' on 'trn3': expected "
       "an index from partition 0, 32, 64 or 96",
       [](Q &q) { q.dataIndex = q.scaleIndex = 48; }},
      {"an index with tile_size = (128, 128) is not legal",
       [](Q &q) {
         q.dataIndex = q.scaleIndex = 0;
         q.tileSize = {128, 128};
         q.tilePosition = {0, 0};
       }},
      {"psum_accumulate_flag = 3 is not legal for 'nc_matmul_mx' on 'trn3': "
       "expected 'accumulate' or nothing (NKI API reference, "
       "nki.isa.nc_matmul_mx, Parameters); nearest legal: accumulate = False",
       [](Q &q) { q.accumulateFlags = {3}; }},
      {"accumulate = True is not legal for 'nc_matmul_mx' on "
       "'trn3@2025-12-19': expected nothing: the first write to a tile "
       "overwrites",
       [](Q &q) {
         q.target = target("trn3@2025-12-19");
         q.accumulate = {true};
       }},
      {"psum_accumulate_flag = 5 is not legal for 'nc_matmul_mx' on "
       "'trn3@2025-12-01': expected 1 first, 0 middle, 2 last or 3 only "
       "instruction of its group",
       [](Q &q) {
         q.target = target("trn3@2025-12-01");
         q.accumulateFlags = {5};
       }},
      {"N = 513 is not legal for 'nc_matmul_mx' on 'trn3@2026-04': expected 1 "
       "to 512 with dst of type 'float32'",
       [](Q &q) {
         q.target = target("trn3@2026-04");
         q.n = 513;
       }},
      {"scale tile of type 'float8_e8m0fnu' is not legal for 'nc_matmul_mx' on "
       "'trn3@2026-04': expected 'uint8'",
       [](Q &q) {
         q.target = target("trn3@2026-04");
         q.scaleType = PlainType::E8M0;
       }},
  };
  return cases;
}

} // namespace

TEST(NKIMatmul, TheDefaultIsLegal) { EXPECT_FALSE(whyNot(MatmulQuery{})); }

TEST(NKIMatmul, EachRuleComplainsAndNamesALegalNeighbour) {
  for (const MatmulCase &test : matmulCases()) {
    MatmulQuery query;
    test.change(query);
    std::optional<Reason> why = whyNot(query);
    ASSERT_TRUE(why) << test.complaint;
    EXPECT_EQ(why->text.substr(0, std::string(test.complaint).size()),
              test.complaint);
    EXPECT_NE(why->text.find("; nearest legal: "), std::string::npos)
        << why->text;
    EXPECT_NE(why->text.back(), ' ') << why->text;
    std::optional<Reason> still = whyNot(nearestLegal(query));
    EXPECT_FALSE(still) << why->text << "\n" << still->text;
  }
}

TEST(NKIMatmul, AllMixesOfTypesAreLegal) {
  for (ElementFormat a :
       {ElementFormat::E4M3, ElementFormat::E5M2, ElementFormat::E2M1})
    for (ElementFormat b :
         {ElementFormat::E4M3, ElementFormat::E5M2, ElementFormat::E2M1}) {
      MatmulQuery query;
      query.stationary = a;
      query.moving = b;
      EXPECT_FALSE(whyNot(query));
    }
}

TEST(NKIMatmul, LimitsByRevision) {
  MatmulQuery query;
  query.n = 4096;
  EXPECT_FALSE(whyNot(query));
  query.dst = PlainType::BF16;
  query.n = 8192;
  EXPECT_FALSE(whyNot(query));
  query.target = target("trn3@2025-12-01");
  EXPECT_EQ(nearestLegal(query).n, 1024u);
  query.n = 1024;
  EXPECT_FALSE(whyNot(query));
}

TEST(NKIMatmul, RowTiles) {
  for (auto [rows, start] : {std::pair(32u, 0u),
                             {32, 32},
                             {32, 64},
                             {32, 96},
                             {64, 0},
                             {64, 64},
                             {128, 0}}) {
    MatmulQuery query;
    query.partitions = query.movingPartitions = query.scalePartitions = 32;
    query.tileSize = {rows, 128};
    query.tilePosition = {start, 0};
    query.operandPartition = start;
    EXPECT_FALSE(whyNot(query)) << rows << " at " << start;
  }
}

TEST(NKIMatmul, OlderCoresHaveNone) {
  MatmulQuery query;
  query.target = target("trn2");
  EXPECT_TRUE(whyNot(query));
}

TEST(NKIQuantize, EachRuleComplainsAndNamesALegalNeighbour) {
  using Q = QuantizeQuery;
  const std::vector<std::pair<const char *, std::function<void(Q &)>>> cases{
      {"src of type 'float32' is not legal for 'quantize_mx' on 'trn3': "
       "expected 'float16' or 'bfloat16' (NKI API reference, "
       "nki.isa.quantize_mx, Data types); nearest legal: src of type "
       "'bfloat16'",
       [](Q &q) { q.src = PlainType::F32; }},
      {"dst of 'e2m1' is not legal for 'quantize_mx' on 'trn3': expected "
       "'e4m3' (float8_e4m3fn_x4) or 'e5m2' (float8_e5m2_x4); narrower "
       "elements are quantised by the host",
       [](Q &q) { q.dst = ElementFormat::E2M1; }},
      {"dst_scale of type 'uint16' is not legal",
       [](Q &q) { q.scaleType = PlainType::U16; }},
      {"src in 'psum' is not legal", [](Q &q) { q.srcBuffer = Buffer::Psum; }},
      {"dst in 'hbm' is not legal", [](Q &q) { q.dstBuffer = Buffer::Hbm; }},
      {"P = 16 is not legal",
       [](Q &q) { q.partitions = q.scalePartitions = 16; }},
      {"F = 6 is not legal for 'quantize_mx' on 'trn3': expected a multiple of "
       "4 from 4 to 131072",
       [](Q &q) { q.free = 6; }},
      {"F = 0 is not legal", [](Q &q) { q.free = 0; }},
      {"dst_scale of 16 partitions is not legal",
       [](Q &q) { q.scalePartitions = 16; }},
      {"scale offset 3 is not legal", [](Q &q) { q.scaleOffset = 3; }},
      {"dst of 64 partitions is not legal for 'quantize_mx' on 'trn3': "
       "expected 128, as of src",
       [](Q &q) { q.dstPartitions = 64; }},
      {"dst of free size 512 is not legal", [](Q &q) { q.dstFree = 512; }},
      {"dst_scale of free size 127 is not legal",
       [](Q &q) { q.scaleFree = 127; }},
  };
  EXPECT_FALSE(whyNot(Q{}));
  for (const auto &[complaint, change] : cases) {
    Q query;
    change(query);
    std::optional<Reason> why = whyNot(query);
    ASSERT_TRUE(why) << complaint;
    EXPECT_EQ(why->text.substr(0, std::string(complaint).size()), complaint);
    EXPECT_FALSE(whyNot(nearestLegal(query))) << complaint;
  }
}

TEST(NKIExplain, Answers) {
  LegalityQuestion question;
  question.target = "trn3";
  Result<Legality> answer = explainLegality(question);
  ASSERT_TRUE(answer) << textOf(answer);
  EXPECT_TRUE(answer->legal);
  EXPECT_EQ(answer->text, "legal: 'nc_matmul_mx' on 'trn3': 'e4m3' by 'e4m3', "
                          "one 'ue8m0' per 32, M = 128, N = 512, P = 128 (K = "
                          "512)");
  question.k = 128;
  question.rowSize = 32;
  question.startRow = 96;
  EXPECT_EQ(explainLegality(question)->text,
            "legal: 'nc_matmul_mx' on 'trn3': 'e4m3' by 'e4m3', one 'ue8m0' "
            "per 32, M = 128, N = 512, P = 32 (K = 128), rows 96 to 127 of the "
            "array");
  question.m = 3;
  EXPECT_FALSE(explainLegality(question)->legal);
  question.kind = "mxf4";
  EXPECT_EQ(textOf(explainLegality(question)),
            "unknown kind 'mxf4', legal on 'trn3' are "
            "'nc_matmul_mx' and 'quantize_mx'");
  question.target = "trn7";
  EXPECT_FALSE(explainLegality(question));
}
