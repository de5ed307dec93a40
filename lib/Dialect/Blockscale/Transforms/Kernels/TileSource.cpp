//===- TileSource.cpp - how roles find their next output tile -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Static: clusters take the tiles in turn. Dynamic: the grid has a cluster per
// tile, and one that runs takes over others that have not started, by cluster
// launch control. A scheduler warp asks one tile ahead; two more rings join it
// to all threads that walk tiles:
//
//   response_full[i]   response i is there             (launch control -> all)
//   response_empty[i]  every thread has read it        (all -> scheduler)
//
// In a cluster the first CTA asks for all, and the response goes to each.

#include "KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

static constexpr int64_t kResponses = 2, kResponseBytes = 16;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

TilePosition KernelBuilder::position(Value tile) {
  int64_t rows = geometry.clusterTilesM(), columns = geometry.clusterN;
  int64_t group = llvm::divideCeil(op.getSchedule().getGroupM(), rows);
  auto first = TileCoordinatesOp::create(b, tile, rowTiles, columnTiles, group);
  Value row = first.getRow(), column = first.getColumn();
  if (rows > 1)
    row = add(mul(row, constant(rows)), div(rankM, geometry.ctaGroup));
  if (columns > 1)
    column = add(mul(column, constant(columns)), rankN);
  return {row, column, first.getBatch()};
}

static SmallVector<Value> staticLoop(KernelBuilder &t, ValueRange carried,
                                     KernelBuilder::LoopBody body) {
  auto loop =
      scf::ForOp::create(t.b, t.firstTile, t.tiles, t.tileStep, carried);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results =
      body(t.position(loop.getInductionVar()), loop.getRegionIterArgs());
  scf::YieldOp::create(t.b, results);
  return loop.getResults();
}

//===----------------------------------------------------------------------===//
// Responses
//===----------------------------------------------------------------------===//

namespace {
/// What a response says: the next tile, if there is one.
struct Response {
  Value tile, found;
};
} // namespace

/// Reads the response at `ring`, which may then be overwritten.
static Response readResponse(KernelBuilder &t, RingPosition ring) {
  WaitOp::create(t.b, t.responseFull, ring.slot, ring.parity);
  auto query = QueryCancelOp::create(t.b, t.responses, ring.slot);
  ArriveOp::create(t.b, t.signalResponseEmpty, ring.slot);
  return {t.div(query.getCta(), t.geometry.clusterSize()), query.getFound()};
}

/// A loop while the first carried value holds.
static scf::WhileOp
buildWhile(KernelBuilder &t, ValueRange initial,
           function_ref<SmallVector<Value>(ValueRange)> body) {
  auto before = [](OpBuilder &builder, Location loc, ValueRange carried) {
    scf::ConditionOp::create(builder, loc, carried.front(), carried);
  };
  auto after = [&](OpBuilder &builder, Location loc, ValueRange carried) {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPoint(builder.getInsertionBlock(),
                          builder.getInsertionPoint());
    SmallVector<Value> next = body(carried);
    scf::YieldOp::create(t.b, next);
  };
  return scf::WhileOp::create(t.b, initial.getTypes(), initial, before, after);
}

static Value alwaysTrue(KernelBuilder &t) {
  return arith::ConstantIntOp::create(t.b, t.b.getI1Type(), 1);
}

static SmallVector<Value> dynamicLoop(KernelBuilder &t, ValueRange carried,
                                      KernelBuilder::LoopBody body) {
  constexpr unsigned kOwn = 4;
  Value zero = t.constant(0);
  SmallVector<Value> initial{alwaysTrue(t), t.firstTile, zero, zero};
  llvm::append_range(initial, carried);
  auto loop = buildWhile(t, initial, [&](ValueRange values) {
    SmallVector<Value> results =
        body(t.position(values[1]), values.drop_front(kOwn));
    RingPosition ring{values[2], values[3]};
    Response response = readResponse(t, ring);
    RingPosition following = t.next(ring, kResponses);
    SmallVector<Value> next{response.found, response.tile, following.slot,
                            following.parity};
    llvm::append_range(next, results);
    return next;
  });
  return llvm::to_vector(ValueRange(loop.getResults()).drop_front(kOwn));
}

SmallVector<Value> KernelBuilder::tileLoop(ValueRange carried, LoopBody body) {
  return isDynamic() ? dynamicLoop(*this, carried, body)
                     : staticLoop(*this, carried, body);
}

//===----------------------------------------------------------------------===//
// The role
//===----------------------------------------------------------------------===//

/// Threads of a cluster that read a response: per CTA the epilogue, the
/// scheduler's and the producer's one, and the warp that issues MMAs.
static int64_t countReaders(const TileGeometry &g) {
  constexpr int64_t kWarp = 32;
  return g.clusterSize() * (kEpilogueThreads + 2) +
         g.clusterSize() / g.ctaGroup * kWarp;
}

void blockscale::buildSchedulerStorage(KernelBuilder &t) {
  if (!t.isDynamic())
    return;
  ImplicitLocOpBuilder &b = t.b;
  auto type = SharedType::get(b.getContext(), {kResponses, kResponseBytes},
                              b.getI8Type(), 8, hw::Swizzle::None);
  t.responses = t.shared(type);
  t.responseFull = t.barriers(kResponses, 1);
  t.responseEmpty = t.barriers(kResponses, countReaders(t.geometry));
  t.signalResponseEmpty = t.responseEmpty;
  if (t.isCluster())
    t.signalResponseEmpty =
        RemoteBarrierOp::create(b, t.responseEmpty, t.constant(0));
}

void blockscale::buildScheduler(KernelBuilder &t) {
  if (!t.isDynamic())
    return;
  ImplicitLocOpBuilder &b = t.b;
  t.warps("scheduler", kSchedulerWarp, kSchedulerWarp + 1, [&] {
    Value elected = ElectOp::create(b);
    t.onlyIf(elected, [&] {
      Value zero = t.constant(0);
      Value isFirst = t.isCluster() ? t.isEqual(t.rank, 0) : alwaysTrue(t);
      SmallVector<Value> initial{alwaysTrue(t), zero, zero};
      buildWhile(t, initial, [&](ValueRange values) {
        RingPosition ring{values[1], values[2]};
        ArriveExpectOp::create(b, t.responseFull, ring.slot, kResponseBytes);
        t.onlyIf(isFirst, [&] {
          WaitOp::create(b, t.responseEmpty, ring.slot, t.flip(ring.parity));
          TryCancelOp::create(b, t.responses, ring.slot, t.responseFull,
                              t.isCluster());
        });
        Response response = readResponse(t, ring);
        RingPosition following = t.next(ring, kResponses);
        return SmallVector<Value>{response.found, following.slot,
                                  following.parity};
      });
    });
  });
}
