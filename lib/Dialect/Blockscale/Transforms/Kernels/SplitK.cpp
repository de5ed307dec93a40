//===- SplitK.cpp - several CTAs for one output tile ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// No CTA waits for another one, so that it does not matter how many run at
// once: each stores its sums, and the one that finds by the counter that it is
// the last has everything there. It reads its own sums back like the others',
// so that the order of the additions is that of K in every run.

#include "SplitK.h"
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

//===----------------------------------------------------------------------===//
// PartialSums
//===----------------------------------------------------------------------===//

Value PartialSums::numberOf(TilePosition tile) {
  if (!frame.isCluster())
    return tile.number;
  return b.add(b.mul(tile.number, frame.geometry.clusterSize()),
               frame.place.rank);
}

Value PartialSums::offset(TilePosition tile, Value part, const Place &place) {
  const TileGeometry &g = frame.geometry;
  auto wide = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  };
  int64_t multiple = Workspace::kCounterMultiple;
  Value ctas = b.mul(frame.tiles, g.clusterSize());
  Value counters = b.mul(b.ceilDiv(ctas, multiple), multiple);
  Value block =
      b.add(b.mul(b.toI64(numberOf(tile)), wide(frame.schedule.splits())),
            b.toI64(part));
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
  return CountArrivalOp::create(
      b, frame.op.getWorkspace(), b.toI64(numberOf(tile)),
      frame.schedule.splits(), frame.warps.epilogue.threads(),
      b.isEqual(thread, frame.warps.epilogue.first * hw::kWarpSize));
}

Value PartialSums::load(TilePosition tile, Value part, const Place &place) {
  Value memory = frame.op.getWorkspace();
  Type element = cast<GlobalType>(memory.getType()).getElementType();
  return LoadRowOp::create(b, VectorType::get({width}, element), memory,
                           offset(tile, part, place), b.constant(width),
                           /*stride=*/Value(), /*aligned=*/true);
}

Value PartialSums::addParts(TilePosition tile, Value sums, Value first,
                            int64_t count, const Place &place) {
  // All of them are on their way before the first is waited for.
  SmallVector<Value> loaded;
  for (int64_t i = 0; i < count; ++i)
    loaded.push_back(load(tile, b.add(first, b.constant(i)), place));
  bool isInteger =
      cast<VectorType>(sums.getType()).getElementType().isInteger();
  for (Value next : loaded)
    sums = isInteger ? arith::AddIOp::create(b, sums, next).getResult()
                     : arith::AddFOp::create(b, sums, next).getResult();
  return sums;
}

Value PartialSums::sum(TilePosition tile, const Place &place) {
  // Registers of a thread for sums that it waits for.
  constexpr int64_t kRegisters = 64;
  int64_t together = std::max<int64_t>(1, kRegisters / width);
  int64_t added = frame.schedule.splits() - 1;
  int64_t inLoop = added / together * together;
  if (inLoop == together)
    inLoop = 0;
  Value sums = load(tile, b.constant(0), place);
  if (inLoop > 0) {
    auto loop = scf::ForOp::create(b, b.constant(1), b.constant(1 + inLoop),
                                   b.constant(together), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value after = addParts(tile, loop.getRegionIterArg(0),
                           loop.getInductionVar(), together, place);
    scf::YieldOp::create(b, after);
    sums = loop.getResult(0);
  }
  for (int64_t part = inLoop; part < added; part += together)
    sums = addParts(tile, sums, b.constant(1 + part),
                    std::min(together, added - part), place);
  return sums;
}
