//===- MatmulRules.cpp - what the documents demand of nc_matmul_mx --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedRules.h"

#include <algorithm>
#include <set>

using namespace blockscale;
using namespace blockscale::nki;

namespace {

using Query = MatmulQuery;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool isPacked(ElementFormat element) { return findPackedType(element); }

Rule<Query> elementsRule(std::string_view what, std::string who,
                         ElementFormat Query::*field) {
  return {
      what, kMatmulTypes, [=](const Query &q) { return isPacked(q.*field); },
      [=](const Query &q) {
        return "type '" + std::string(formatName(q.*field)) + "' of the " + who;
      },
      [](const Query &) {
        return std::string("'e4m3' (float8_e4m3fn_x4), 'e5m2' "
                           "(float8_e5m2_x4) or 'e2m1' (float4_e2m1fn_x4)");
      },
      // It holds all values of the narrower formats without a type.
      [=](Query &q) { q.*field = ElementFormat::E4M3; }};
}

/// Something that no parameter of the instruction stands for.
Rule<Query> absenceRule(std::string_view what, std::string present,
                        std::string absent, bool Query::*field,
                        std::string expected) {
  return {what,
          kMatmulParameters,
          [=](const Query &q) { return !(q.*field); },
          [=](const Query &q) { return q.*field ? present : absent; },
          [=](const Query &) { return expected; },
          [=](Query &q) { q.*field = false; }};
}

Rule<Query> scaledRule() {
  return {"presence of scales",
          kMatmulParameters,
          [](const Query &q) { return q.scaled; },
          [](const Query &q) {
            return std::string(q.scaled ? "one scale per 32, such as 1"
                                        : "an operand without scales");
          },
          [](const Query &) {
            return std::string("stationary_scale and moving_scale");
          },
          [](Query &q) { q.scaled = true; }};
}

Rule<Query> scaleFormatRule() {
  return {"scale format",
          kMatmulGroup,
          [](const Query &q) { return q.scale == ElementFormat::UE8M0; },
          [](const Query &q) {
            return "scale '" + std::string(formatName(q.scale)) + "'";
          },
          [](const Query &) { return std::string("'ue8m0'"); },
          [](Query &q) { q.scale = ElementFormat::UE8M0; }};
}

Rule<Query> blockRule() {
  return {"elements per scale",
          kMatmulGroup,
          [](const Query &q) { return q.block == kGroup; },
          [](const Query &q) { return "block " + number(q.block); },
          [](const Query &) {
            return std::string("32: 8 partitions by 4 packed elements");
          },
          [](Query &q) { q.block = kGroup; }};
}

//===----------------------------------------------------------------------===//
// The K map
//===----------------------------------------------------------------------===//

std::string mapText(ContractionMap map) {
  return "k = " + number(map.partitionStride) + " * p + " +
         number(map.elementStride) + " * q";
}

/// Whether partitions 0 to 7, which share a scale, hold 32 consecutive k.
bool keepsGroups(ContractionMap map) {
  std::set<unsigned> members;
  for (unsigned p = 0; p < kGroupPartitions; ++p)
    for (unsigned q = 0; q < kPack; ++q)
      members.insert(p * map.partitionStride + q * map.elementStride);
  return members.size() == kGroup && *members.rbegin() == kGroup - 1;
}

Rule<Query> sameMapRule() {
  return {
      "K map of both operands",
      kMatmulGroup,
      [](const Query &q) { return q.stationaryMap == q.movingMap; },
      [](const Query &q) { return mapText(q.movingMap) + " of the moving"; },
      [](const Query &q) {
        return mapText(q.stationaryMap) +
               ", as of the stationary tile: partitions and packed "
               "elements are multiplied by position";
      },
      [](Query &q) { q.movingMap = q.stationaryMap; }};
}

Rule<Query> groupMapRule() {
  return {"K map and scale groups",
          kQuantizeLayout,
          [](const Query &q) { return keepsGroups(q.stationaryMap); },
          [](const Query &q) {
            return mapText(q.stationaryMap) + " of the stationary";
          },
          [](const Query &) {
            return std::string("32 consecutive k in partitions 0 to 7, which "
                               "share a scale: k = 4 * p + 1 * q or k = 1 * p "
                               "+ 8 * q");
          },
          [](Query &q) { q.stationaryMap = q.movingMap = ContractionMap(); }};
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

unsigned maxMoving(const Query &q) {
  const RevisionInfo &info = revisionInfo(q.target.revision);
  return q.dst == PlainType::BF16 ? info.maxMovingBF16 : info.maxMovingF32;
}

Rule<Query> movingPartitionsRule() {
  return {"partitions P of the moving tile",
          kMatmulSize,
          [](const Query &q) { return q.movingPartitions == q.partitions; },
          [](const Query &q) {
            return "P = " + number(q.movingPartitions) + " of the moving tile";
          },
          [](const Query &q) {
            return number(q.partitions) + ", as of the stationary tile";
          },
          [](Query &q) { q.movingPartitions = q.partitions; }};
}

Rule<Query> rowsRule() {
  return {
      "free size M of the stationary tile",
      kMatmulSize,
      [](const Query &q) {
        return q.m % 2 == 0 && q.m >= 2 && q.m <= kPartitions;
      },
      [](const Query &q) { return "M = " + number(q.m); },
      [](const Query &) { return std::string("an even number from 2 to 128"); },
      [](Query &q) {
        q.m = std::clamp(q.m, 2u, kPartitions);
        q.m += q.m % 2;
      }};
}

Rule<Query> columnsRule() {
  return {"free size N of the moving tile",
          kMatmulSize,
          [](const Query &q) { return q.n >= 1 && q.n <= maxMoving(q); },
          [](const Query &q) { return "N = " + number(q.n); },
          [](const Query &q) {
            return "1 to " + number(maxMoving(q)) + " with dst of type '" +
                   std::string(plainTypeName(q.dst)) + "'";
          },
          [](Query &q) { q.n = std::clamp(q.n, 1u, maxMoving(q)); }};
}

//===----------------------------------------------------------------------===//
// Row tiling
//===----------------------------------------------------------------------===//

std::string pairText(const char *name,
                     const std::optional<std::pair<unsigned, unsigned>> &pair) {
  if (!pair)
    return std::string("no ") + name;
  return std::string(name) + " = (" + number(pair->first) + ", " +
         number(pair->second) + ")";
}

unsigned rowSize(const Query &q) {
  return q.tileSize ? q.tileSize->first : kPartitions;
}

bool isRowSize(unsigned rows) {
  return rows == 32 || rows == 64 || rows == kPartitions;
}

std::string startRows(unsigned rows) {
  std::string text;
  for (unsigned row = 0; row + rows <= kPartitions; row += rows)
    text += (text.empty() ? "" : ", ") + number(row);
  return text;
}

unsigned expectedPartition(const Query &q) {
  return q.tilePosition ? q.tilePosition->first : 0;
}

Rule<Query> tilingArgumentsRule() {
  return {"row tiling arguments",
          kMatmulTiling,
          [](const Query &q) {
            return q.tileSize.has_value() == q.tilePosition.has_value();
          },
          [](const Query &q) {
            return pairText("tile_size", q.tileSize) + " with " +
                   pairText("tile_position", q.tilePosition);
          },
          [](const Query &) { return std::string("both or neither"); },
          [](Query &q) {
            unsigned rows = nearestPartitionCount(q.partitions);
            if (q.tileSize)
              q.tilePosition = {0, 0};
            else
              q.tileSize = {isRowSize(rows) ? rows : kPartitions, 128};
          }};
}

Rule<Query> tileSizeRule() {
  return {"tile_size",
          kMatmulTiling,
          [](const Query &q) {
            return !q.tileSize ||
                   (isRowSize(q.tileSize->first) && q.tileSize->second == 128);
          },
          [](const Query &q) { return pairText("tile_size", q.tileSize); },
          [](const Query &) {
            return std::string("(32, 128), (64, 128) or (128, 128)");
          },
          [](Query &q) {
            unsigned rows = q.tileSize->first;
            q.tileSize = {rows <= 32 ? 32 : rows <= 64 ? 64 : 128, 128};
          }};
}

Rule<Query> tileRowsRule() {
  return {"P in a row tile",
          kMatmulTiling,
          [](const Query &q) { return q.partitions <= rowSize(q); },
          [](const Query &q) {
            return "P = " + number(q.partitions) + " in " +
                   pairText("tile_size", q.tileSize);
          },
          [](const Query &q) {
            return "at most the " + number(rowSize(q)) + " rows of the tile";
          },
          [](Query &q) { q.tileSize->first = q.partitions <= 64 ? 64 : 128; }};
}

Rule<Query> tilePositionRule() {
  return {
      "tile_position",
      kMatmulTiling,
      [](const Query &q) {
        return !q.tilePosition ||
               (q.tilePosition->second == 0 &&
                q.tilePosition->first % rowSize(q) == 0 &&
                q.tilePosition->first <= kPartitions - rowSize(q));
      },
      [](const Query &q) { return pairText("tile_position", q.tilePosition); },
      [](const Query &q) {
        return "(start_row, 0) with start_row " + startRows(rowSize(q));
      },
      [](Query &q) {
        unsigned row = q.tilePosition->first / rowSize(q) * rowSize(q);
        q.tilePosition = {std::min(row, kPartitions - rowSize(q)), 0};
      }};
}

Rule<Query> operandPartitionRule() {
  return {
      "first partition of the operands",
      kMatmulTiling,
      [](const Query &q) { return q.operandPartition == expectedPartition(q); },
      [](const Query &q) {
        return "operands from partition " + number(q.operandPartition);
      },
      [](const Query &q) {
        return "partition " + number(expectedPartition(q)) +
               ", the tile's first row";
      },
      [](Query &q) { q.operandPartition = expectedPartition(q); }};
}

//===----------------------------------------------------------------------===//
// Indirection
//===----------------------------------------------------------------------===//

bool isIndirect(const Query &q) { return q.dataIndex || q.scaleIndex; }

std::string indexText(const char *who, const std::optional<unsigned> &index) {
  return index ? std::string(who) + " through an index from partition " +
                     number(*index)
               : std::string(who) + " without an index";
}

std::string indexText(const Query &q) {
  return indexText("data", q.dataIndex) + " and " +
         indexText("scales", q.scaleIndex);
}

void dropIndex(Query &q) {
  q.dataIndex.reset();
  q.scaleIndex.reset();
}

Rule<Query> indirectionRule() {
  return {"indirection",
          kMatmulIndirect,
          [](const Query &q) {
            return !isIndirect(q) ||
                   revisionInfo(q.target.revision).hasIndirection;
          },
          [](const Query &q) { return indexText(q); },
          [](const Query &q) {
            return std::string(revisionInfo(q.target.revision).hasIndirection
                                   ? "an index of the operands or none"
                                   : "none: no index before 2026-07");
          },
          dropIndex};
}

Rule<Query> sameIndexRule() {
  return {"index of data and of scales",
          kMatmulIndirect,
          [](const Query &q) { return q.dataIndex == q.scaleIndex; },
          [](const Query &q) { return indexText(q); },
          [](const Query &) { return std::string("the same index or none"); },
          [](Query &q) { q.scaleIndex = q.dataIndex; }};
}

Rule<Query> indexStartRule() {
  return {"first partition of an index",
          kMatmulIndirect,
          [](const Query &q) {
            return !q.dataIndex || (*q.dataIndex % kQuadrant == 0 &&
                                    *q.dataIndex < kPartitions);
          },
          [](const Query &q) { return indexText(q); },
          [](const Query &) {
            return std::string("an index from partition 0, 32, 64 or 96");
          },
          [](Query &q) {
            unsigned last = kPartitions - kQuadrant;
            q.dataIndex = std::min(*q.dataIndex / kQuadrant * kQuadrant, last);
            q.scaleIndex = q.dataIndex;
          }};
}

Rule<Query> indexTilingRule() {
  return {"indirection with row tiling",
          kMatmulIndirect,
          [](const Query &q) { return !isIndirect(q) || !q.tileSize; },
          [](const Query &q) {
            return isIndirect(q) && q.tileSize
                       ? "an index with " + pairText("tile_size", q.tileSize)
                       : indexText(q);
          },
          [](const Query &) { return std::string("one of them"); },
          dropIndex};
}

} // namespace

const std::vector<Rule<MatmulQuery>> &blockscale::nki::matmulRules() {
  static const std::vector<Rule<Query>> rules{
      absenceRule("structured sparsity", "structured sparsity",
                  "dense operands", &Query::sparse,
                  "dense operands, such as those of 'blockscale.densify': "
                  "there is no operand for metadata"),
      absenceRule("zero points", "a zero point", "no zero points",
                  &Query::zeroPoints,
                  "scales alone: there is no operand for zero points"),
      scaledRule(),
      elementsRule("stationary elements", "stationary", &Query::stationary),
      elementsRule("moving elements", "moving", &Query::moving),
      scaleFormatRule(),
      scaleTypeRule<Query>("type of the scale tiles", kMatmulTypes,
                           "scale tile"),
      blockRule(),
      sameMapRule(),
      groupMapRule(),
      typeRule("type of dst", kMatmulTypes, "dst", &Query::dst,
               {PlainType::F32, PlainType::BF16}, PlainType::F32),
      memoryRule("memory of dst", kMatmulMemory, "dst", &Query::dstBuffer,
                 Buffer::Psum),
      memoryRule("memory of operands and scales", kMatmulMemory, "an operand",
                 &Query::operandBuffer, Buffer::Sbuf),
      partitionsRule<Query>("partitions P of the stationary tile", kMatmulSize),
      movingPartitionsRule(),
      rowsRule(),
      columnsRule(),
      sizeRule<Query>(
          "partitions of dst", kMatmulLayout, "dst of ", " partitions",
          &Query::dstPartitions, [](const Query &q) { return q.m; },
          "M of the stationary tile"),
      sizeRule<Query>(
          "free size of dst", kMatmulLayout, "dst of free size ", "",
          &Query::dstFree, [](const Query &q) { return q.n; },
          "N of the moving tile"),
      tilingArgumentsRule(),
      tileSizeRule(),
      tileRowsRule(),
      tilePositionRule(),
      operandPartitionRule(),
      sizeRule<Query>(
          "first partition of the moving tile", kMatmulLayout,
          "moving tile from partition ", "", &Query::movingPartition,
          [](const Query &q) { return q.operandPartition; },
          "as of the stationary tile: both feed the same rows of the array"),
      scalePartitionsRule<Query>("partitions of a scale tile", "scale tile"),
      sizeRule<Query>(
          "free size of stationary_scale", kQuantizeLayout,
          "stationary_scale of free size ", "", &Query::stationaryScaleFree,
          [](const Query &q) { return q.m; }, "M of its data"),
      sizeRule<Query>(
          "free size of moving_scale", kQuantizeLayout,
          "moving_scale of free size ", "", &Query::movingScaleFree,
          [](const Query &q) { return q.n; }, "N of its data"),
      scaleOffsetRule<Query>("first scale row of each quadrant",
                             kQuantizeLayout),
      indirectionRule(),
      sameIndexRule(),
      indexStartRule(),
      indexTilingRule(),
      accumulationArgumentRule(),
      accumulateFlagRule(),
      accumulationGroupRule(),
  };
  return rules;
}
