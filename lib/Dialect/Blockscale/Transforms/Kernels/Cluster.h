//===- Cluster.h - where a CTA stands and who shares what -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_CLUSTER_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_CLUSTER_H

#include "Geometry.h"
#include "KernelBuilder.h"

namespace blockscale {

/// The place of the executing CTA in the grid and in its cluster, and the CTAs
/// that it shares operands with, as bits by rank. A CTA that is a cluster of
/// its own has no rank, and nobody shares with it: those values are null.
class ClusterPlace {
public:
  /// Emits the values.
  ClusterPlace(KernelBuilder &b, const TileGeometry &geometry);

  bool isCluster() const { return geometry.clusterSize() > 1; }
  bool isPair() const { return geometry.ctaGroup == 2; }

  /// The number of the cluster in the grid, and how many there are.
  mlir::Value number, count;
  /// The rank of the CTA, and its place along rows and columns of D and along
  /// the parts of K; `rankK` is null where a cluster has one part.
  mlir::Value rank, rankM, rankN, rankK;

  /// Number of the CTA in its pair, 0 for the leader.
  mlir::Value indexInPair() const;
  mlir::Value isLeader() const;
  mlir::Value leader() const;
  /// The CTA at the same place among those that compute part `part` of K.
  mlir::Value rankOfPart(mlir::Value part) const;

  mlir::Value sharersOfA() const;
  mlir::Value sharersOfB() const;
  mlir::Value sharersOfSfb() const;
  /// The CTAs whose loads a stage's MMAs wait for; null if the CTA's own only.
  mlir::Value feeders() const;
  /// The number of the CTA among those that share B.
  mlir::Value indexOfB() const;

private:
  /// The first rank of the CTAs of this one's part of K.
  mlir::Value firstOfPart() const;
  /// The rank of the one that is number `number` of them.
  mlir::Value withinPart(mlir::Value number) const;
  /// The first rank of the CTAs above and below.
  mlir::Value firstBeside() const;

  KernelBuilder &b;
  const TileGeometry &geometry;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_CLUSTER_H
