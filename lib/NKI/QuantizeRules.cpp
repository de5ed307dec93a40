//===- QuantizeRules.cpp - what the documents demand of quantize_mx -------===//
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

using Query = QuantizeQuery;

/// Values of a partition that fit into SBUF, a multiple of four.
unsigned maxFree() {
  constexpr unsigned kBytesPerValue = 2;
  return kSbufBytesPerPartition / kBytesPerValue;
}

} // namespace

const std::vector<Rule<QuantizeQuery>> &blockscale::nki::quantizeRules() {
  static const std::vector<Rule<Query>> rules{
      {"type of src", kQuantizeTypes,
       [](const Query &q) {
         return q.src == PlainType::BF16 || q.src == PlainType::F16;
       },
       [](const Query &q) {
         return "src of type '" + std::string(plainTypeName(q.src)) + "'";
       },
       [](const Query &) { return quotedList({"float16", "bfloat16"}); },
       [](Query &q) { q.src = PlainType::BF16; }},
      {"elements of dst", kQuantizeTypes,
       [](const Query &q) {
         return q.dst == ElementFormat::E4M3 || q.dst == ElementFormat::E5M2;
       },
       [](const Query &q) {
         return "dst of '" + std::string(formatName(q.dst)) + "'";
       },
       [](const Query &) {
         return std::string("'e4m3' (float8_e4m3fn_x4) or 'e5m2' "
                            "(float8_e5m2_x4); narrower elements are "
                            "quantised by the host");
       },
       [](Query &q) { q.dst = ElementFormat::E4M3; }},
      {"type of dst_scale", kQuantizeTypes,
       [](const Query &q) {
         return q.scaleType == PlainType::U8 ||
                (q.scaleType == PlainType::E8M0 &&
                 revisionInfo(q.target.revision).hasE8M0Scales);
       },
       [](const Query &q) {
         return "dst_scale of type '" +
                std::string(plainTypeName(q.scaleType)) + "'";
       },
       [](const Query &q) {
         return revisionInfo(q.target.revision).hasE8M0Scales
                    ? quotedList({"uint8", "float8_e8m0fnu"})
                    : quotedList({"uint8"});
       },
       [](Query &q) { q.scaleType = PlainType::U8; }},
      {"memory of src", kQuantizeMemory,
       [](const Query &q) { return q.srcBuffer == Buffer::Sbuf; },
       [](const Query &q) {
         return "src in '" + std::string(bufferName(q.srcBuffer)) + "'";
       },
       [](const Query &) { return quotedList({"sbuf"}); },
       [](Query &q) { q.srcBuffer = Buffer::Sbuf; }},
      {"memory of dst and dst_scale", kQuantizeMemory,
       [](const Query &q) { return q.dstBuffer == Buffer::Sbuf; },
       [](const Query &q) {
         return "dst in '" + std::string(bufferName(q.dstBuffer)) + "'";
       },
       [](const Query &) { return quotedList({"sbuf"}); },
       [](Query &q) { q.dstBuffer = Buffer::Sbuf; }},
      {"partitions P", kQuantizeSize,
       [](const Query &q) { return isPartitionCount(q.partitions); },
       [](const Query &q) { return "P = " + number(q.partitions); },
       [](const Query &) {
         return std::string("a multiple of 32 from 32 to 128");
       },
       [](Query &q) { q.partitions = nearestPartitionCount(q.partitions); }},
      {"free size F of src", kQuantizeSize,
       [](const Query &q) {
         return q.free % kPack == 0 && q.free != 0 && q.free <= maxFree();
       },
       [](const Query &q) { return "F = " + number(q.free); },
       [](const Query &) {
         return "a multiple of 4 from 4 to " + number(maxFree()) +
                ", what a partition of SBUF holds";
       },
       [](Query &q) {
         q.free = std::clamp((q.free + 3) / kPack * kPack, kPack, maxFree());
       }},
      {"partitions of dst_scale", kScaleTensor,
       [](const Query &q) {
         return q.scalePartitions >= minScalePartitions(q.partitions);
       },
       [](const Query &q) {
         return "dst_scale of " + number(q.scalePartitions) + " partitions";
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
  };
  return rules;
}
