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
// A cluster may have all of these once for each part of K: the ranks of a part
// follow each other, and CTAs share operands with others of their part only.

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
  rankK = b.div(rank, geometry.ctasOfPart());
  rankN =
      geometry.clusterN > 1 ? b.rem(rankN, geometry.clusterN) : b.constant(0);
}

Value ClusterPlace::firstOfPart() const {
  return b.mul(rankK, geometry.ctasOfPart());
}

Value ClusterPlace::withinPart(Value number) const {
  return rankK ? b.add(firstOfPart(), number) : number;
}

Value ClusterPlace::firstBeside() const {
  return withinPart(b.mul(rankN, geometry.clusterM));
}

Value ClusterPlace::rankOfPart(Value part) const {
  int64_t ctas = geometry.ctasOfPart();
  Value first = b.mul(part, ctas);
  return ctas > 1 ? b.add(first, b.rem(rank, ctas)) : first;
}

Value ClusterPlace::indexInPair() const { return b.rem(rank, 2); }

Value ClusterPlace::isLeader() const { return b.isEqual(indexInPair(), 0); }

Value ClusterPlace::leader() const { return b.sub(rank, indexInPair()); }

Value ClusterPlace::sharersOfA() const {
  if (geometry.a.sharers == 1)
    return {};
  return b.shiftLeft(bitsOf(geometry.clusterN, geometry.clusterM),
                     withinPart(rankM));
}

Value ClusterPlace::sharersOfB() const {
  if (geometry.b.sharers == 1)
    return {};
  Value first = firstBeside();
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
  if (geometry.ctasOfPart() == 1)
    return {};
  int64_t column = bitsOf(geometry.clusterM, 1);
  int64_t row = bitsOf(geometry.ctaGroup, 1) *
                bitsOf(geometry.clusterN, geometry.clusterM);
  Value beside = b.shiftLeft(row, withinPart(rankM));
  Value above = b.shiftLeft(column, firstBeside());
  return b.createOrFold<arith::OrIOp>(beside, above);
}

Value ClusterPlace::indexOfB() const {
  return geometry.b.sharers > 1 ? b.div(rankM, geometry.ctaGroup) : Value();
}
