//===- MatmulRules.cpp - what the documents demand of nc_matmul_mx --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::nki;

namespace {

using Query = MatmulQuery;

bool isPacked(ElementFormat element) { return findPackedType(element); }

std::string elementText(const char *who, ElementFormat element) {
  return "type '" + std::string(formatName(element)) + "' of the " + who;
}

std::string packedNames(const Query &) {
  return "'e4m3' (float8_e4m3fn_x4), 'e5m2' (float8_e5m2_x4) or 'e2m1' "
         "(float4_e2m1fn_x4)";
}

/// The packed type that holds all values of a format without one of its own.
ElementFormat nearestPacked(ElementFormat element) {
  return isPacked(element) ? element : ElementFormat::E4M3;
}

unsigned maxMoving(const Query &q) {
  const RevisionInfo &info = revisionInfo(q.target.revision);
  return q.dst == PlainType::BF16 ? info.maxMovingBF16 : info.maxMovingF32;
}

AccumulateControl control(const Query &q) {
  return revisionInfo(q.target.revision).control;
}

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

std::string accumulateText(const Query &q) {
  if (q.accumulateFlag)
    return "psum_accumulate_flag = " + number(*q.accumulateFlag);
  if (q.accumulate)
    return std::string("accumulate = ") + (*q.accumulate ? "True" : "False");
  return "no accumulation argument";
}

} // namespace

const std::vector<Rule<MatmulQuery>> &blockscale::nki::matmulRules() {
  static const std::vector<Rule<Query>> rules{
      {"stationary elements", kMatmulTypes,
       [](const Query &q) { return isPacked(q.stationary); },
       [](const Query &q) { return elementText("stationary", q.stationary); },
       packedNames,
       [](Query &q) { q.stationary = nearestPacked(q.stationary); }},
      {"moving elements", kMatmulTypes,
       [](const Query &q) { return isPacked(q.moving); },
       [](const Query &q) { return elementText("moving", q.moving); },
       packedNames, [](Query &q) { q.moving = nearestPacked(q.moving); }},
      {"scale format", kMatmulGroup,
       [](const Query &q) { return q.scale == ElementFormat::UE8M0; },
       [](const Query &q) {
         return "scale '" + std::string(formatName(q.scale)) + "'";
       },
       [](const Query &) { return std::string("'ue8m0'"); },
       [](Query &q) { q.scale = ElementFormat::UE8M0; }},
      {"type of the scale tiles", kMatmulTypes,
       [](const Query &q) {
         return q.scaleType == PlainType::U8 ||
                (q.scaleType == PlainType::E8M0 &&
                 revisionInfo(q.target.revision).hasE8M0Scales);
       },
       [](const Query &q) {
         return "scale tile of type '" +
                std::string(plainTypeName(q.scaleType)) + "'";
       },
       [](const Query &q) {
         return revisionInfo(q.target.revision).hasE8M0Scales
                    ? quotedList({"uint8", "float8_e8m0fnu"})
                    : quotedList({"uint8"});
       },
       [](Query &q) { q.scaleType = PlainType::U8; }},
      {"elements per scale", kMatmulGroup,
       [](const Query &q) { return q.block == kGroup; },
       [](const Query &q) { return "block " + number(q.block); },
       [](const Query &) {
         return std::string("32: 8 partitions by 4 packed elements");
       },
       [](Query &q) { q.block = kGroup; }},
      {"type of dst", kMatmulTypes,
       [](const Query &q) {
         return q.dst == PlainType::F32 || q.dst == PlainType::BF16;
       },
       [](const Query &q) {
         return "dst of type '" + std::string(plainTypeName(q.dst)) + "'";
       },
       [](const Query &) { return quotedList({"float32", "bfloat16"}); },
       [](Query &q) { q.dst = PlainType::F32; }},
      {"memory of dst", kMatmulMemory,
       [](const Query &q) { return q.dstBuffer == Buffer::Psum; },
       [](const Query &q) {
         return "dst in '" + std::string(bufferName(q.dstBuffer)) + "'";
       },
       [](const Query &) { return quotedList({"psum"}); },
       [](Query &q) { q.dstBuffer = Buffer::Psum; }},
      {"memory of operands and scales", kMatmulMemory,
       [](const Query &q) { return q.operandBuffer == Buffer::Sbuf; },
       [](const Query &q) {
         return "an operand in '" + std::string(bufferName(q.operandBuffer)) +
                "'";
       },
       [](const Query &) { return quotedList({"sbuf"}); },
       [](Query &q) { q.operandBuffer = Buffer::Sbuf; }},
      {"partitions P of the stationary tile", kMatmulSize,
       [](const Query &q) { return isPartitionCount(q.partitions); },
       [](const Query &q) { return "P = " + number(q.partitions); },
       [](const Query &) {
         return std::string("a multiple of 32 from 32 to 128");
       },
       [](Query &q) { q.partitions = nearestPartitionCount(q.partitions); }},
      {"partitions P of the moving tile", kMatmulSize,
       [](const Query &q) { return q.movingPartitions == q.partitions; },
       [](const Query &q) {
         return "P = " + number(q.movingPartitions) + " of the moving tile";
       },
       [](const Query &q) {
         return number(q.partitions) + ", as of the stationary tile";
       },
       [](Query &q) { q.movingPartitions = q.partitions; }},
      {"free size M of the stationary tile", kMatmulSize,
       [](const Query &q) { return q.m % 2 == 0 && q.m >= 2 && q.m <= 128; },
       [](const Query &q) { return "M = " + number(q.m); },
       [](const Query &) {
         return std::string("an even number from 2 to 128");
       },
       [](Query &q) { q.m = std::clamp(q.m + q.m % 2, 2u, 128u); }},
      {"free size N of the moving tile", kMatmulSize,
       [](const Query &q) { return q.n >= 1 && q.n <= maxMoving(q); },
       [](const Query &q) { return "N = " + number(q.n); },
       [](const Query &q) {
         return "1 to " + number(maxMoving(q)) + " with dst of type '" +
                std::string(plainTypeName(q.dst)) + "'";
       },
       [](Query &q) { q.n = std::clamp(q.n, 1u, maxMoving(q)); }},
      {"row tiling arguments", kMatmulTiling,
       [](const Query &q) {
         return q.tileSize.has_value() == q.tilePosition.has_value();
       },
       [](const Query &q) {
         return pairText("tile_size", q.tileSize) + " with " +
                pairText("tile_position", q.tilePosition);
       },
       [](const Query &) { return std::string("both or neither"); },
       [](Query &q) {
         if (!q.tileSize)
           q.tileSize = {nearestPartitionCount(q.partitions) == 96
                             ? 128
                             : nearestPartitionCount(q.partitions),
                         128};
         else
           q.tilePosition = {0, 0};
       }},
      {"tile_size", kMatmulTiling,
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
       }},
      {"P in a row tile", kMatmulTiling,
       [](const Query &q) { return q.partitions <= rowSize(q); },
       [](const Query &q) {
         return "P = " + number(q.partitions) + " in " +
                pairText("tile_size", q.tileSize);
       },
       [](const Query &q) {
         return "at most the " + number(rowSize(q)) + " rows of the tile";
       },
       [](Query &q) { q.tileSize->first = q.partitions <= 64 ? 64 : 128; }},
      {"tile_position", kMatmulTiling,
       [](const Query &q) {
         return !q.tilePosition ||
                (q.tilePosition->second == 0 &&
                 q.tilePosition->first % rowSize(q) == 0 &&
                 q.tilePosition->first + rowSize(q) <= kPartitions);
       },
       [](const Query &q) { return pairText("tile_position", q.tilePosition); },
       [](const Query &q) {
         return "(start_row, 0) with start_row " + startRows(rowSize(q));
       },
       [](Query &q) {
         unsigned row = q.tilePosition->first / rowSize(q) * rowSize(q);
         q.tilePosition = {std::min(row, kPartitions - rowSize(q)), 0};
       }},
      {"first partition of the operands", kMatmulTiling,
       [](const Query &q) {
         return q.operandPartition == expectedPartition(q);
       },
       [](const Query &q) {
         return "operands from partition " + number(q.operandPartition);
       },
       [](const Query &q) {
         return "partition " + number(expectedPartition(q)) +
                ", the tile's first row";
       },
       [](Query &q) { q.operandPartition = expectedPartition(q); }},
      {"partitions of a scale tile", kScaleTensor,
       [](const Query &q) {
         return q.scalePartitions >= minScalePartitions(q.partitions);
       },
       [](const Query &q) {
         return "scale tile of " + number(q.scalePartitions) + " partitions";
       },
       [](const Query &q) {
         return "at least " + number(minScalePartitions(q.partitions)) +
                " for P = " + number(q.partitions);
       },
       [](Query &q) { q.scalePartitions = q.partitions; }},
      {"first scale row of each quadrant", kQuantizeLayout,
       [](const Query &q) { return isScaleOffset(q.scaleOffset); },
       [](const Query &q) { return "scale offset " + number(q.scaleOffset); },
       [](const Query &) { return std::string("0, 4, 8 or 12"); },
       [](Query &q) { q.scaleOffset = nearestScaleOffset(q.scaleOffset); }},
      {"accumulation argument", kMatmulParameters,
       [](const Query &q) {
         return (!q.accumulateFlag || control(q) == AccumulateControl::Flag) &&
                (!q.accumulate || control(q) == AccumulateControl::Argument) &&
                (!q.accumulateFlag || !q.accumulate);
       },
       [](const Query &q) { return accumulateText(q); },
       [](const Query &q) {
         switch (control(q)) {
         case AccumulateControl::Flag:
           return std::string("'psum_accumulate_flag' or nothing");
         case AccumulateControl::Inferred:
           return std::string("nothing: the first write to a tile overwrites");
         case AccumulateControl::Argument:
           return std::string("'accumulate' or nothing");
         }
         return std::string();
       },
       [](Query &q) {
         bool adds = q.accumulate
                         ? *q.accumulate
                         : q.accumulateFlag && *q.accumulateFlag != 1 &&
                               *q.accumulateFlag != 3;
         q.accumulateFlag.reset();
         q.accumulate.reset();
         if (control(q) == AccumulateControl::Flag)
           q.accumulateFlag = adds ? 0 : kFlagFirst;
         if (control(q) == AccumulateControl::Argument)
           q.accumulate = adds;
       }},
      {"psum_accumulate_flag", kMatmulParameters,
       [](const Query &q) {
         static constexpr unsigned kLegal[] = {0, 1, 2, 3, 4, 6};
         return !q.accumulateFlag ||
                std::count(std::begin(kLegal), std::end(kLegal),
                           *q.accumulateFlag) != 0;
       },
       [](const Query &q) { return accumulateText(q); },
       [](const Query &) {
         return std::string("1 first, 0 middle, 2 last or 3 only instruction "
                            "of its group, or 4 first or 6 only instruction "
                            "onto what is there");
       },
       [](Query &q) {
         q.accumulateFlag = *q.accumulateFlag % 2 ? *q.accumulateFlag % 4 : 6;
       }},
  };
  return rules;
}
