//===- LaunchControl.cpp - tiles of clusters that did not start -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A scheduler warp asks one tile ahead; two rings of barriers join it to all
// threads that walk tiles:
//
//   full[i]   response i is there             (launch control -> all)
//   empty[i]  every thread has read it        (all -> scheduler)
//
// In a cluster the first CTA asks for all, and the response goes to each.

#include "LaunchControl.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

static constexpr int64_t kResponses = 2, kResponseBytes = 16;

/// A loop while the first carried value holds.
static scf::WhileOp
buildWhile(KernelBuilder &b, ValueRange initial,
           function_ref<SmallVector<Value>(ValueRange)> body) {
  auto before = [](OpBuilder &builder, Location loc, ValueRange carried) {
    scf::ConditionOp::create(builder, loc, carried.front(), carried);
  };
  auto after = [&](OpBuilder &builder, Location loc, ValueRange carried) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(builder.getInsertionBlock(),
                        builder.getInsertionPoint());
    SmallVector<Value> next = body(carried);
    scf::YieldOp::create(b, next);
  };
  return scf::WhileOp::create(b, initial.getTypes(), initial, before, after);
}

/// Threads of a cluster that read a response: per CTA the epilogue, or the
/// consumers, and one each of scheduler and producer, or all of the producer
/// where rows are gathered, the whole warp that loads scales, and that which
/// issues the MMAs of a CTA or pair, if there is one.
int64_t LaunchControl::countReaders() const {
  int64_t ctas = frame.geometry.clusterSize();
  int64_t loading = frame.isGathered() ? frame.warps.producer.threads() : 1;
  int64_t storing = frame.warps.epilogue.threads() +
                    frame.warps.consumers.threads() +
                    frame.warps.factorLoader.threads();
  return ctas * (storing + 1 + loading) +
         ctas / frame.geometry.ctaGroup * frame.warps.issuer.threads();
}

LaunchControl::LaunchControl(KernelFrame &frame) : TileSource(frame) {
  responses =
      b.shared(SharedType::get(b.getContext(), {kResponses, kResponseBytes},
                               b.getI8Type(), 8, hw::Swizzle::None));
  full = b.barriers(kResponses, 1);
  empty = signalEmpty = b.barriers(kResponses, countReaders());
  if (frame.isCluster())
    signalEmpty = RemoteBarrierOp::create(b, empty, b.constant(0));
  if (frame.isGrouped() || frame.isMasked())
    groups.emplace(frame);
}

/// Reads the response at `ring`, which may then be overwritten.
LaunchControl::Response LaunchControl::read(RingPosition ring) {
  WaitOp::create(b, full, ring.slot, ring.parity);
  auto query = QueryCancelOp::create(b, responses, ring.slot);
  ArriveOp::create(b, signalEmpty, ring.slot);
  return {b.div(query.getCta(), frame.geometry.clusterSize()),
          query.getFound()};
}

SmallVector<Value> LaunchControl::inGroup(Value number, ValueRange before,
                                          ValueRange carried, Body body) {
  using Group = GroupedTiles::Group;
  Group group = groups->find(number, groups->from(number, Group::from(before)));
  auto condition = scf::IfOp::create(b, carried.getTypes(),
                                     groups->isThere(group), /*else=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(condition.thenBlock());
  scf::YieldOp::create(b, body(groups->positionIn(group, number), carried));
  b.setInsertionPointToStart(condition.elseBlock());
  scf::YieldOp::create(b, carried);
  SmallVector<Value> results = group.before();
  llvm::append_range(results, condition.getResults());
  return results;
}

SmallVector<Value> LaunchControl::forEach(ValueRange carried, Body body) {
  constexpr unsigned kOwn = 4;
  const unsigned ofGroup = groups ? GroupedTiles::Group::kBefore : 0;
  Value zero = b.constant(0);
  SmallVector<Value> initial{b.always(), frame.place.number, zero, zero};
  initial.append(ofGroup, zero);
  llvm::append_range(initial, carried);
  auto loop = buildWhile(b, initial, [&](ValueRange values) {
    ValueRange before = values.slice(kOwn, ofGroup);
    ValueRange theirs = values.drop_front(kOwn + ofGroup);
    SmallVector<Value> results = groups
                                     ? inGroup(values[1], before, theirs, body)
                                     : body(position(values[1]), theirs);
    RingPosition ring{values[2], values[3]};
    Response response = read(ring);
    RingPosition following = b.next(ring, kResponses);
    SmallVector<Value> next{response.found, response.tile, following.slot,
                            following.parity};
    llvm::append_range(next, results);
    return next;
  });
  return llvm::to_vector(
      ValueRange(loop.getResults()).drop_front(kOwn + ofGroup));
}

/// The first CTA asks; each expects the response.
void LaunchControl::ask(RingPosition ring, Value isFirst) {
  ArriveExpectOp::create(b, full, ring.slot, kResponseBytes);
  b.onlyIf(isFirst, [&] {
    WaitOp::create(b, empty, ring.slot, b.flip(ring.parity));
    TryCancelOp::create(b, responses, ring.slot, full, frame.isCluster());
  });
}

void LaunchControl::emitRole() {
  b.warps("scheduler", frame.warps.scheduler, [&] {
    b.onlyIf(ElectOp::create(b), [&] {
      Value zero = b.constant(0);
      Value isFirst =
          frame.isCluster() ? b.isEqual(frame.place.rank, 0) : b.always();
      SmallVector<Value> initial{b.always(), zero, zero};
      buildWhile(b, initial, [&](ValueRange values) {
        RingPosition ring{values[1], values[2]};
        ask(ring, isFirst);
        Response response = read(ring);
        RingPosition following = b.next(ring, kResponses);
        return SmallVector<Value>{response.found, following.slot,
                                  following.parity};
      });
    });
  });
}
