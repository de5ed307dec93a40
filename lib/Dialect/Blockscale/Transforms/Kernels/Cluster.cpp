//===- Cluster.cpp - where a CTA stands and who shares what ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A cluster covers clusterM x clusterN CTAs of D; the rank of a CTA counts
// along the rows first, so that pairs, which share rows of a tile, have
// neighbouring ranks. CTAs beside each other along columns share A, CTAs above
// each other share B: each loads one slice and sends it to all of them.
//
// A cluster may instead have a CTA or pair for each part of K of one tile: the
// ranks of a part follow each other, and nobody shares operands.

#include "Cluster.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace blockscale;

/// `count` bits, every `step`-th from bit 0 on.
static int64_t bitsOf(int64_t count, int64_t step) {
  int64_t bits = 0;
  for (int64_t i = 0; i < count; ++i)
    bits |= int64_t(1) << (i * step);
  return bits;
}

ClusterPlace::ClusterPlace(KernelBuilder &b, const TileGeometry &geometry)
    : b(b), geometry(geometry) {
  number = b.toI32(gpu::BlockIdOp::create(b, gpu::Dimension::x));
  count = b.toI32(gpu::GridDimOp::create(b, gpu::Dimension::x));
  if (!isCluster())
    return;
  number = b.div(number, geometry.clusterSize());
  count = b.div(count, geometry.clusterSize());
  rank = ClusterRankOp::create(b);
  rankM = b.rem(rank, geometry.clusterM);
  rankN = b.div(rank, geometry.clusterM);
  if (geometry.clusterK == 1)
    return;
  assert(geometry.clusterN == 1 && "nobody shares operands");
  rankK = rankN;
  rankN = b.constant(0);
}

Value ClusterPlace::firstBeside() const {
  return b.mul(rankK ? rankK : rankN, geometry.clusterM);
}

Value ClusterPlace::rankOfPart(Value part) const {
  Value first = b.mul(part, geometry.ctasOfPart());
  return isPair() ? b.add(first, indexInPair()) : first;
}

Value ClusterPlace::indexInPair() const { return b.rem(rank, 2); }

Value ClusterPlace::isLeader() const { return b.isEqual(indexInPair(), 0); }

Value ClusterPlace::leader() const { return b.sub(rank, indexInPair()); }

Value ClusterPlace::sharersOfA() const {
  if (geometry.a.sharers == 1)
    return {};
  return b.shiftLeft(bitsOf(geometry.clusterN, geometry.clusterM), rankM);
}

Value ClusterPlace::sharersOfB() const {
  if (geometry.b.sharers == 1)
    return {};
  Value first = b.mul(rankN, geometry.clusterM);
  if (isPair())
    first = b.add(first, indexInPair());
  return b.shiftLeft(bitsOf(geometry.b.sharers, geometry.ctaGroup), first);
}

Value ClusterPlace::sharersOfSfb() const {
  if (geometry.clusterM == 1)
    return {};
  return b.shiftLeft(bitsOf(geometry.clusterM, 1), firstBeside());
}

Value ClusterPlace::feeders() const {
  if (!isCluster())
    return {};
  if (rankK && !isPair())
    return {};
  int64_t column = bitsOf(geometry.clusterM, 1);
  int64_t row = bitsOf(geometry.ctaGroup, 1) *
                bitsOf(geometry.clusterN, geometry.clusterM);
  Value beside = b.shiftLeft(row, rankK ? leader() : rankM);
  Value above = b.shiftLeft(column, firstBeside());
  return b.createOrFold<arith::OrIOp>(beside, above);
}

Value ClusterPlace::indexOfB() const {
  return geometry.b.sharers > 1 ? b.div(rankM, geometry.ctaGroup) : Value();
}
