//===- SplitK.cpp - several CTAs for one output tile ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Where parts of a tile are those of several clusters no CTA waits for another
// one, so that it does not matter how many run at once: each stores its sums,
// and the one that finds by the counter that it is the last has everything
// there. It reads its own sums back like the others', so that the order of the
// additions is that of K in every run.
//
// The CTAs of one cluster run at once, whatever else does. There each waits for
// the sums of all others, but adds up only a slice of the columns, in the same
// order. Its own sums of that slice it takes from tensor memory.

#include "SplitK.h"
#include "StreamTiles.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Workspace
//===----------------------------------------------------------------------===//

int64_t Workspace::sumsOfPart(const TileGeometry &geometry) {
  return geometry.rowInstructions * geometry.rowsPerCta() * geometry.tileN;
}

AffineMap Workspace::sizes(AffineExpr tiles, const TileGeometry &geometry,
                           int64_t splits) {
  constexpr int64_t kElementBytes = 4;
  AffineExpr ctas = tiles * geometry.clusterSize();
  AffineExpr counters = ctas.ceilDiv(kCounterMultiple) * kCounterMultiple;
  AffineExpr sums = ctas * (splits * sumsOfPart(geometry));
  constexpr unsigned kSymbols = 6;
  return AffineMap::get(0, kSymbols,
                        {counters * kElementBytes,
                         (counters + sums) * kElementBytes,
                         getAffineConstantExpr(splits, tiles.getContext())},
                        tiles.getContext());
}

AffineMap Workspace::sizes(int64_t sharedTiles, int64_t shares,
                           const TileGeometry &geometry, MLIRContext *context) {
  constexpr int64_t kElementBytes = 4;
  int64_t counters =
      llvm::alignTo(sharedTiles * geometry.clusterSize(), kCounterMultiple);
  int64_t sums =
      shares * kPartsOfShare * geometry.clusterSize() * sumsOfPart(geometry);
  auto constant = [&](int64_t value) {
    return getAffineConstantExpr(value, context);
  };
  constexpr unsigned kSymbols = 6;
  return AffineMap::get(0, kSymbols,
                        {constant(counters * kElementBytes),
                         constant((counters + sums) * kElementBytes),
                         constant(0)},
                        context);
}

static Value added(KernelBuilder &b, Value sums, Value more) {
  if (cast<VectorType>(sums.getType()).getElementType().isInteger())
    return arith::AddIOp::create(b, sums, more);
  return arith::AddFOp::create(b, sums, more);
}

//===----------------------------------------------------------------------===//
// PartialSums
//===----------------------------------------------------------------------===//

Value PartialSums::numberOf(TilePosition tile) {
  if (!frame.isCluster())
    return tile.number;
  return b.add(b.mul(tile.number, frame.geometry.clusterSize()),
               frame.place.rank);
}

Value PartialSums::countersOf() {
  int64_t multiple = Workspace::kCounterMultiple;
  Value tiles =
      frame.isStreamed() ? b.constant(frame.mostSharedTiles()) : frame.tiles;
  Value ctas = b.mul(tiles, frame.geometry.clusterSize());
  return b.mul(b.ceilDiv(ctas, multiple), multiple);
}

Value PartialSums::blockOf(TilePosition tile, Value part) {
  if (!frame.isStreamed()) {
    Value splits = arith::ConstantIntOp::create(b, b.getI64Type(),
                                                frame.schedule.splits());
    return b.add(b.mul(b.toI64(numberOf(tile)), splits), b.toI64(part));
  }
  Value block = Shares(frame).placeOf(tile, part);
  if (frame.isCluster())
    block = b.add(b.mul(block, frame.geometry.clusterSize()), frame.place.rank);
  return b.toI64(block);
}

Value PartialSums::offset(TilePosition tile, Value part, const Place &place) {
  const TileGeometry &g = frame.geometry;
  auto wide = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  };
  Value counters = countersOf();
  Value block = blockOf(tile, part);
  Value inside = b.add(
      b.add(b.mul(place.column, g.rowsPerCta()), b.mul(place.thread, width)),
      b.constant(place.number * g.rowsPerCta() * g.tileN));
  return b.add(
      b.add(b.toI64(counters), b.mul(block, wide(Workspace::sumsOfPart(g)))),
      b.toI64(inside));
}

void PartialSums::store(TilePosition tile, const Place &place, Value sums) {
  StoreRowOp::create(b, sums, frame.op.getWorkspace(),
                     offset(tile, tile.part, place), b.constant(width),
                     /*stride=*/Value(), /*aligned=*/true);
}

Value PartialSums::arrive(TilePosition tile, Value thread) {
  Value parts = frame.isStreamed() ? Shares(frame).partsOf(tile)
                                   : b.constant(frame.schedule.splits());
  return CountArrivalOp::create(
      b, frame.op.getWorkspace(), b.toI64(numberOf(tile)), parts,
      frame.warps.storers().threads(),
      b.isEqual(thread, frame.warps.storers().first * hw::kWarpSize));
}

Value PartialSums::load(TilePosition tile, Value part, const Place &place) {
  Value memory = frame.op.getWorkspace();
  Type element = cast<GlobalType>(memory.getType()).getElementType();
  return LoadRowOp::create(b, VectorType::get({width}, element), memory,
                           offset(tile, part, place), b.constant(width),
                           /*stride=*/Value(), /*aligned=*/true);
}

SmallVector<Value> PartialSums::addParts(TilePosition tile, ValueRange sums,
                                         Value first, int64_t count,
                                         ArrayRef<Place> places) {
  // All of them are on their way before the first is waited for.
  SmallVector<SmallVector<Value>> loaded;
  for (int64_t i = 0; i < count; ++i) {
    Value part = b.add(first, b.constant(i));
    loaded.push_back(llvm::map_to_vector(
        places, [&](const Place &place) { return load(tile, part, place); }));
  }
  SmallVector<Value> after(sums);
  for (const SmallVector<Value> &ofPart : loaded)
    for (auto [sum, next] : llvm::zip_equal(after, ofPart))
      sum = added(b, sum, next);
  return after;
}

SmallVector<Value> PartialSums::sumsOfShares(TilePosition tile,
                                             ArrayRef<Place> places) {
  Shares shares(frame);
  Value first = shares.firstOf(tile), one = b.constant(1);
  SmallVector<Value> sums = llvm::map_to_vector(
      places, [&](const Place &place) { return load(tile, first, place); });
  Value second = b.add(first, one);
  sums = addParts(tile, sums, second, /*count=*/1, places);
  if (frame.mostPartsOfTile() == 2)
    return sums;
  auto loop =
      scf::ForOp::create(b, b.add(second, one), shares.endOf(tile), one, sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b,
                       addParts(tile, loop.getRegionIterArgs(),
                                loop.getInductionVar(), /*count=*/1, places));
  return llvm::to_vector(ValueRange(loop.getResults()));
}

SmallVector<Value> PartialSums::sums(TilePosition tile,
                                     ArrayRef<Place> places) {
  if (frame.isStreamed())
    return sumsOfShares(tile, places);
  // Registers of a thread for sums that it waits for.
  constexpr int64_t kRegisters = 64;
  int64_t together =
      std::max<int64_t>(1, kRegisters / (width * int64_t(places.size())));
  int64_t added = frame.schedule.splits() - 1;
  int64_t inLoop = added / together * together;
  if (inLoop == together)
    inLoop = 0;
  Value zero = b.constant(0);
  SmallVector<Value> sums = llvm::map_to_vector(
      places, [&](const Place &place) { return load(tile, zero, place); });
  if (inLoop > 0) {
    auto loop = scf::ForOp::create(b, b.constant(1), b.constant(1 + inLoop),
                                   b.constant(together), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(b, addParts(tile, loop.getRegionIterArgs(),
                                     loop.getInductionVar(), together, places));
    sums = llvm::to_vector(ValueRange(loop.getResults()));
  }
  for (int64_t part = inLoop; part < added; part += together)
    sums = addParts(tile, sums, b.constant(1 + part),
                    std::min(together, added - part), places);
  return sums;
}

Value PartialSums::sum(TilePosition tile, const Place &place) {
  return sums(tile, place).front();
}

//===----------------------------------------------------------------------===//
// SumExchange
//===----------------------------------------------------------------------===//

/// Columns whose sums lie together: 16 bytes, the most that a thread sends at
/// once.
static constexpr int64_t kTogether = 4;

static SharedType inboxType(KernelFrame &frame) {
  const TileGeometry &g = frame.geometry;
  constexpr int64_t kSumBits = 32;
  return SharedType::get(
      frame.b.getContext(),
      {g.clusterK - 1, g.ownedColumns() / kTogether, g.rowsPerCta(), kTogether},
      accumulatorType(frame.mma), kSumBits, hw::Swizzle::None);
}

SumExchange::SumExchange(KernelFrame &frame)
    : frame(frame), b(frame.b), inbox(b.shared(inboxType(frame))),
      full(b.barriers(1, 1)),
      empty(b.barriers(1, frame.geometry.owners() *
                              frame.warps.epilogue.count())) {}

Value SumExchange::rowOf(Value thread) {
  int64_t first = frame.warps.epilogue.first * hw::kWarpSize;
  return b.sub(thread, b.constant(first));
}

void SumExchange::begin(Value parity, Value thread) {
  Value zero = b.constant(0);
  WaitOp::create(b, empty, zero, b.flip(parity));
  Value announces =
      b.createOrFold<arith::AndIOp>(b.isEqual(rowOf(thread), 0), isOwner());
  b.onlyIf(announces, [&] {
    ArriveExpectOp::create(b, full, zero, frame.geometry.inboxBytes());
  });
}

Value SumExchange::isOwner() {
  const TileGeometry &g = frame.geometry;
  if (g.owners() == g.clusterK)
    return b.always();
  return b.compare(arith::CmpIPredicate::ult, frame.place.rankK,
                   b.constant(g.owners()));
}

Value SumExchange::firstOwned() {
  return b.mul(frame.place.rankK, frame.geometry.ownedColumns());
}

Value SumExchange::orderOf(Value index, int64_t width) {
  int64_t chunks = frame.geometry.tileN / width;
  int64_t ofSlice = frame.geometry.ownedColumns() / width;
  return b.rem(b.add(index, b.mul(frame.place.rankK, ofSlice)), chunks);
}

Value SumExchange::firstSent(int64_t width) {
  const TileGeometry &g = frame.geometry;
  Value own = b.constant(g.ownedColumns() / width);
  return g.owners() == g.clusterK ? own
                                  : b.select(isOwner(), own, b.constant(0));
}

void SumExchange::send(Value column, Value thread, Value sums) {
  int64_t owned = frame.geometry.ownedColumns();
  Value owner = b.div(column, owned), part = frame.place.rankK;
  // The owner's own part has no block.
  Value isBehind = b.compare(arith::CmpIPredicate::ugt, part, owner);
  Value block = b.select(isBehind, b.sub(part, b.constant(1)), part);
  SendSumsOp::create(b, sums, inbox, block, b.rem(column, owned), rowOf(thread),
                     frame.place.rankOfPart(owner), full);
}

void SumExchange::receive(Value parity, Value more,
                          function_ref<void(Value)> body) {
  const TileGeometry &g = frame.geometry;
  Value zero = b.constant(0);
  auto receive = [&] {
    WaitOp::create(b, full, zero, parity);
    body(firstOwned());
    auto release = [&] {
      ReleaseSumsOp::create(b, empty, frame.place.rankOfPart(zero), g.clusterK,
                            g.ctasOfPart());
    };
    if (more)
      b.onlyIf(more, release);
    else
      release();
  };
  if (g.owners() == g.clusterK)
    return receive();
  b.onlyIf(isOwner(), receive);
}

Value SumExchange::sum(Value column, Value thread, Value own) {
  Value sums;
  for (int64_t part = 0; part < frame.geometry.clusterK; ++part) {
    Value rank = frame.place.rankK, block = b.constant(part);
    // In place of this CTA's part another one's is read, and not used.
    if (part > 0)
      block =
          b.select(b.compare(arith::CmpIPredicate::ule, rank, b.constant(part)),
                   b.constant(part - 1), block);
    Value sent = ReceiveSumsOp::create(b, own.getType(), inbox, block, column,
                                       rowOf(thread));
    Value next = b.select(b.isEqual(rank, part), own, sent);
    sums = sums ? added(b, sums, next) : next;
  }
  return sums;
}
