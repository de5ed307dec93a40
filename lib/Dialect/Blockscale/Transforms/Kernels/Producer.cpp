//===- Producer.cpp - the role that loads operands ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One thread waits until a stage is free and has TMA fill it: A, B, their
// scales where the kind has any, and the metadata of a sparse A.

#include "KernelBuilder.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

namespace {
/// Where a K tile of one output tile comes from and goes to.
struct KTile {
  Value k, batch, stage;
};
} // namespace

/// Loads this CTA's slice of an operand for all `sharers`; `index` is the CTA's
/// number among them.
static void loadOperand(KernelBuilder &t, Value map, Value ring,
                        const OperandGeometry &operand, Value row, KTile tile,
                        Value sharers, Value index) {
  bool isMNMajor = operand.tile.major == hw::OperandMajor::MN;
  Value k = t.mul(tile.k, t.constant(operand.tile.k));
  Value slice = operand.slices > 1 ? index : Value();
  if (slice && isMNMajor)
    k = t.add(k, t.mul(slice, t.constant(operand.boxK)));
  if (slice && !isMNMajor)
    row = t.add(row, t.mul(slice, t.constant(operand.boxRows)));
  auto load = [&] {
    for (int64_t box = 0; box < operand.boxes; ++box) {
      Value inner = isMNMajor ? row : k;
      int64_t step = isMNMajor ? operand.boxRows : operand.boxK;
      SmallVector<Value> coordinates{t.add(inner, t.constant(box * step)),
                                     isMNMajor ? k : row, tile.batch};
      TmaLoadOp::create(t.b, map, coordinates, ring, t.signalFull, tile.stage,
                        slice, sharers, box * operand.slices);
    }
  };
  if (operand.slices == operand.sharers)
    return load();
  Value hasSlice = t.b.createOrFold<arith::CmpIOp>(
      arith::CmpIPredicate::ult, index, t.constant(operand.slices));
  t.onlyIf(hasSlice, load);
}

/// Loads scales whole, in the first of the CTAs that share them: they are too
/// small for slices.
static void loadScales(KernelBuilder &t, Value map, Value ring, Value row,
                       KTile tile, Value sharers, Value index) {
  auto load = [&] {
    Value group = t.div(row, hw::kAtomRows);
    Value word = t.mul(tile.k, t.constant(t.geometry.scaleWords));
    SmallVector<Value> coordinates{t.constant(0), word, group, tile.batch};
    TmaLoadOp::create(t.b, map, coordinates, ring, t.signalFull, tile.stage,
                      /*slice=*/Value(), sharers, 0);
  };
  if (!sharers)
    return load();
  t.onlyIf(t.isEqual(index, 0), load);
}

/// Loads metadata, which belongs to rows of A as its scales do. What TMA fills
/// in behind the last row is no pattern, so CTAs whose rows lie there read that
/// of the last rows.
static void loadMetadata(KernelBuilder &t, Value row, KTile tile, Value sharers,
                         Value index) {
  if (t.geometry.clusterM > 1) {
    Value last = t.mul(t.div(t.sub(t.rows, t.constant(1)), hw::kAtomRows),
                       t.constant(hw::kAtomRows));
    row = t.b.createOrFold<arith::MinUIOp>(row, last);
  }
  auto load = [&] {
    Value first = t.mul(tile.k, t.constant(t.geometry.metadataTiles));
    SmallVector<Value> coordinates{t.constant(0), row, first, tile.batch};
    TmaLoadOp::create(t.b, t.op.getMetadata(), coordinates, t.sharedMetadata,
                      t.signalFull, tile.stage, /*slice=*/Value(), sharers, 0);
  };
  if (!sharers)
    return load();
  t.onlyIf(t.isEqual(index, 0), load);
}

namespace {
/// What the loads of one output tile have in common: the first rows of A, of
/// B's part in this CTA and of B's scales.
struct LoadedTile {
  Value row, rowOfB, column;
};

/// The CTAs that share each operand with this one, as bits, and its number
/// among those that share B.
struct Sharers {
  Value a, b, sfb, indexOfB;
};
} // namespace

static void loadStage(KernelBuilder &t, const LoadedTile &from, KTile tile,
                      const Sharers &sharers) {
  const TileGeometry &g = t.geometry;
  loadOperand(t, t.op.getA(), t.sharedA, g.a, from.row, tile, sharers.a,
              t.rankN);
  loadOperand(t, t.op.getB(), t.sharedB, g.b, from.rowOfB, tile, sharers.b,
              sharers.indexOfB);
  if (t.isScaled()) {
    loadScales(t, t.op.getSfa(), t.sharedSfa, from.row, tile, sharers.a,
               t.rankN);
    loadScales(t, t.op.getSfb(), t.sharedSfb, from.column, tile, sharers.sfb,
               t.rankM);
  }
  if (t.op.getMetadata())
    loadMetadata(t, from.row, tile, sharers.a, t.rankN);
}

/// The leader of a pair announces the bytes of both CTAs.
static void announceStage(KernelBuilder &t, Value stage) {
  auto announce = [&] {
    ArriveExpectOp::create(t.b, t.full, stage, t.geometry.countedBytes());
  };
  if (!t.isPair())
    return announce();
  t.onlyIf(t.isEqual(t.rem(t.rank, 2), 0), announce);
}

/// Waits until all readers have released every stage, so that none of them
/// signals a CTA that has ended.
static void drainStages(KernelBuilder &t, RingPosition ring) {
  ImplicitLocOpBuilder &b = t.b;
  auto loop =
      scf::ForOp::create(b, t.constant(0), t.constant(t.geometry.stages),
                         t.constant(1), ValueRange{ring.slot, ring.parity});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  RingPosition current{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
  WaitOp::create(b, t.empty, current.slot, t.flip(current.parity));
  RingPosition following = t.next(current, t.geometry.stages);
  scf::YieldOp::create(b, ValueRange{following.slot, following.parity});
}

void blockscale::buildProducer(KernelBuilder &t, int64_t warp) {
  ImplicitLocOpBuilder &b = t.b;
  const TileGeometry &g = t.geometry;
  t.warps("producer", warp, warp + 1, [&] {
    Value elected = ElectOp::create(b);
    t.onlyIf(elected, [&] {
      Value kTiles = t.ceilDiv(t.op.getK(), g.tileK);
      Value zero = t.constant(0);
      Sharers sharers{t.sharersOfA(), t.sharersOfB(), t.sharersOfSfb(),
                      g.b.sharers > 1 ? t.div(t.rankM, g.ctaGroup) : Value()};
      auto ring = t.tileLoop({zero, zero}, [&](TilePosition tile,
                                               ValueRange carried) {
        LoadedTile from{t.firstRow(tile), t.firstRowOfB(tile),
                        t.firstColumn(tile)};
        auto loop = scf::ForOp::create(b, zero, kTiles, t.constant(1), carried);
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPointToStart(loop.getBody());
        RingPosition ring{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
        WaitOp::create(b, t.empty, ring.slot, t.flip(ring.parity));
        announceStage(t, ring.slot);
        loadStage(t, from, {loop.getInductionVar(), tile.batch, ring.slot},
                  sharers);
        RingPosition following = t.next(ring, g.stages);
        scf::YieldOp::create(b, ValueRange{following.slot, following.parity});
        return SmallVector<Value>(loop.getResults());
      });
      // What follows uses this CTA's resources, so there is no point in
      // starting it earlier.
      if (t.op.getSchedule().getDependentLaunch())
        LaunchDependentsOp::create(b);
      if (t.isCluster())
        drainStages(t, {ring[0], ring[1]});
    });
  });
}
