//===- Layout.cpp - where scales and elements of K lie --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/NKI/Legality.h"

using namespace blockscale;
using namespace blockscale::nki;

/// Scale rows of one quadrant: 32 partitions by 8 of a group.
static constexpr unsigned kGroupsPerQuadrant = kQuadrant / kGroupPartitions;

unsigned blockscale::nki::scalePartition(unsigned group, unsigned offset) {
  return kQuadrant * (group / kGroupsPerQuadrant) + group % kGroupsPerQuadrant +
         offset;
}

unsigned blockscale::nki::minScalePartitions(unsigned partitions) {
  return partitions <= kQuadrant ? kGroupsPerQuadrant : partitions;
}

ContractionPosition blockscale::nki::contractionPosition(unsigned k) {
  return {k / kPack, k % kPack};
}
