//===- TileReduction.cpp - what threads of a tile find together -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Lanes of a warp have an instruction for it. What several warps have found
// they leave in shared memory, as f32 of its own each time, so that nobody
// waits before the next.

#include "TileReduction.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

Value TileReduction::allocate(int64_t words) {
  return SharedAllocOp::create(e,
                               SharedType::get(e.getContext(), {1, words},
                                               e.getF32Type(), /*container=*/32,
                                               hw::Swizzle::None),
                               /*offset=*/IntegerAttr());
}

Value TileReduction::threadInCta() {
  return arith::IndexCastUIOp::create(
      e, e.getI32Type(), gpu::ThreadIdOp::create(e, gpu::Dimension::x));
}

Value TileReduction::joined(Value x, Value y, gpu::AllReduceOperation how) {
  if (!x)
    return y;
  if (how == gpu::AllReduceOperation::ADD)
    return arith::AddIOp::create(e, x, y);
  return arith::MaxUIOp::create(e, x, y);
}

Value TileReduction::ofNeighbours(Value own, int64_t threads,
                                  gpu::AllReduceOperation how) {
  auto lanes = uint32_t(std::min<int64_t>(threads, hw::kWarpSize));
  return gpu::SubgroupReduceOp::create(e, own, how, /*uniform=*/true,
                                       std::optional<uint32_t>(lanes));
}

/// Of a tile of whole warps, each of which has found the same in all lanes.
Value TileReduction::ofWarps(Value own, int64_t warps,
                             gpu::AllReduceOperation how) {
  constexpr int64_t kAtomWarps = hw::kAtomBytes / hw::kWarpSize, kWords = 4;
  Type f32 = e.getF32Type();
  Value shared = allocate(std::max(kAtomWarps, warps));
  Value thread = threadInCta();
  Value size = e.i32(hw::kWarpSize), count = e.i32(warps);
  Value warp = arith::DivUIOp::create(e, thread, size);
  Value isFirst =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq,
                            arith::RemUIOp::create(e, thread, size), e.i32(0));
  auto condition = scf::IfOp::create(e, isFirst);
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(condition.thenBlock());
    Value word = vector::FromElementsOp::create(e, VectorType::get({1}, f32),
                                                e.fromBits(own));
    StoreSharedOp::create(e, word, shared, warp);
  }
  gpu::BarrierOp::create(e);
  Value first =
      arith::MulIOp::create(e, arith::DivUIOp::create(e, warp, count), count);
  Value all;
  for (int64_t begin = 0; begin < warps; begin += kWords) {
    int64_t words = std::min(kWords, warps);
    Value place = begin ? arith::AddIOp::create(e, first, e.i32(begin)) : first;
    Value loaded =
        LoadSharedOp::create(e, VectorType::get({words}, f32), shared, place);
    for (int64_t i = 0; i < words; ++i)
      all = joined(all, e.bits(vector::ExtractOp::create(e, loaded, i)), how);
  }
  return all;
}

/// Of blocks that are as many rows of threads apart as an atom has. Lanes of a
/// warp have found the same as far as they have rows of one tile.
Value TileReduction::ofBlocks(Value own, gpu::AllReduceOperation how) {
  auto word = VectorType::get({1}, e.getF32Type());
  Value shared = allocate(hw::kAtomBytes);
  Value thread = threadInCta();
  StoreSharedOp::create(
      e, vector::FromElementsOp::create(e, word, e.fromBits(own)), shared,
      thread);
  gpu::BarrierOp::create(e);
  int64_t distance = hw::kAtomRows, warp = hw::kWarpSize;
  int64_t inTile = (storage.tileBlocks - 1) * distance +
                   (std::max(storage.rowTile, warp) - warp);
  Value first = arith::AndIOp::create(e, thread, e.i32(~inTile));
  Value all;
  for (int64_t block = 0; block < storage.tileBlocks; ++block)
    for (int64_t row = 0; row < std::max(storage.rowTile, warp); row += warp) {
      Value place =
          arith::AddIOp::create(e, first, e.i32(block * distance + row));
      Value loaded = LoadSharedOp::create(e, word, shared, place);
      all = joined(all, e.bits(vector::ExtractOp::create(e, loaded, 0)), how);
    }
  return all;
}

/// Of rows, between which there are the other blocks of an atom. Warps leave
/// what they have found beside what the others of the tile have.
Value TileReduction::ofRows(Value own, gpu::AllReduceOperation how) {
  constexpr int64_t kBlocks = hw::kAtomScales;
  for (int64_t distance = kBlocks; distance < hw::kWarpSize; distance *= 2)
    own = joined(own,
                 gpu::ShuffleOp::create(e, own, int32_t(distance),
                                        int32_t(hw::kWarpSize),
                                        gpu::ShuffleMode::XOR)
                     .getShuffleResult(),
                 how);
  int64_t warps = storage.rowTile * kBlocks / hw::kWarpSize;
  if (warps == 1)
    return own;
  Type f32 = e.getF32Type();
  Value shared = allocate(hw::kAtomBytes / hw::kWarpSize * kBlocks);
  Value thread = threadInCta(), size = e.i32(hw::kWarpSize),
        count = e.i32(warps);
  Value warp = arith::DivUIOp::create(e, thread, size);
  Value lane = arith::RemUIOp::create(e, thread, size);
  Value tile = arith::AddIOp::create(
      e,
      arith::MulIOp::create(e, arith::DivUIOp::create(e, warp, count),
                            e.i32(kBlocks)),
      arith::RemUIOp::create(e, lane, e.i32(kBlocks)));
  Value first = arith::MulIOp::create(e, tile, count);
  Value isFirst =
      arith::CmpIOp::create(e, arith::CmpIPredicate::ult, lane, e.i32(kBlocks));
  auto condition = scf::IfOp::create(e, isFirst);
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(condition.thenBlock());
    Value place =
        arith::AddIOp::create(e, first, arith::RemUIOp::create(e, warp, count));
    StoreSharedOp::create(e,
                          vector::FromElementsOp::create(
                              e, VectorType::get({1}, f32), e.fromBits(own)),
                          shared, place);
  }
  gpu::BarrierOp::create(e);
  Value loaded =
      LoadSharedOp::create(e, VectorType::get({warps}, f32), shared, first);
  Value all;
  for (int64_t i = 0; i < warps; ++i)
    all = joined(all, e.bits(vector::ExtractOp::create(e, loaded, i)), how);
  return all;
}

Value TileReduction::reduce(Value own, gpu::AllReduceOperation how) {
  if (order == TileOrder::BlocksFirst)
    return ofRows(own, how);
  if (order == TileOrder::RowsFirst && storage.tileBlocks > 1) {
    if (storage.rowTile > 1)
      own = ofNeighbours(own, storage.rowTile, how);
    return ofBlocks(own, how);
  }
  return ofThreads(own, storage.repetitions(), how);
}

Value TileReduction::ofThreads(Value own, int64_t threads,
                               gpu::AllReduceOperation how) {
  own = ofNeighbours(own, threads, how);
  return threads > hw::kWarpSize ? ofWarps(own, threads / hw::kWarpSize, how)
                                 : own;
}
