//===- QuantizeRules.cpp - what the documents demand of quantize_mx -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedRules.h"

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

unsigned packedFree(const Query &q) { return q.free / kPack; }

Rule<Query> elementsRule() {
  return {"elements of dst",
          kQuantizeTypes,
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
          [](Query &q) { q.dst = ElementFormat::E4M3; }};
}

Rule<Query> freeRule() {
  return {"free size F of src",
          kQuantizeSize,
          [](const Query &q) {
            return q.free % kPack == 0 && q.free != 0 && q.free <= maxFree();
          },
          [](const Query &q) { return "F = " + number(q.free); },
          [](const Query &) {
            return "a multiple of 4 from 4 to " + number(maxFree()) +
                   ", what a partition of SBUF holds";
          },
          [](Query &q) {
            q.free = std::min(q.free, maxFree());
            q.free = std::max((q.free + kPack - 1) / kPack * kPack, kPack);
          }};
}

} // namespace

const std::vector<Rule<QuantizeQuery>> &blockscale::nki::quantizeRules() {
  static const std::vector<Rule<Query>> rules{
      typeRule("type of src", kQuantizeTypes, "src", &Query::src,
               {PlainType::F16, PlainType::BF16}, PlainType::BF16),
      elementsRule(),
      scaleTypeRule<Query>("type of dst_scale", kQuantizeTypes, "dst_scale"),
      memoryRule("memory of src", kQuantizeMemory, "src", &Query::srcBuffer,
                 Buffer::Sbuf),
      memoryRule("memory of dst and dst_scale", kQuantizeMemory, "dst",
                 &Query::dstBuffer, Buffer::Sbuf),
      partitionsRule<Query>("partitions P", kQuantizeSize),
      freeRule(),
      sizeRule<Query>(
          "partitions of dst", kQuantizeSize, "dst of ", " partitions",
          &Query::dstPartitions, [](const Query &q) { return q.partitions; },
          "as of src"),
      sizeRule<Query>("free size of dst", kQuantizeSize, "dst of free size ",
                      "", &Query::dstFree, packedFree,
                      "a quarter of the free size of src"),
      sizeRule<Query>("free size of dst_scale", kQuantizeLayout,
                      "dst_scale of free size ", "", &Query::scaleFree,
                      packedFree, "a quarter of the free size of src"),
      scalePartitionsRule<Query>("partitions of dst_scale", "dst_scale"),
      scaleOffsetRule<Query>("first scale row of each quadrant",
                             kQuantizeLayout),
  };
  return rules;
}
