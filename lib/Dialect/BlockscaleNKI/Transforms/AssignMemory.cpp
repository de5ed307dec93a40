//===- AssignMemory.cpp - give every tile a place -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile lives from its alloc to the last op of the same block in or below
// which it is used. Places are offsets in a partition; partitions are not
// divided.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/BlockscaleNKI/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace blockscale::nki {
#define GEN_PASS_DEF_NKIASSIGNMEMORY
#include "blockscale/Dialect/BlockscaleNKI/Transforms/Passes.h.inc"
} // namespace blockscale::nki

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nki;

namespace {
struct NKIAssignMemory
    : blockscale::nki::impl::NKIAssignMemoryBase<NKIAssignMemory> {
  using NKIAssignMemoryBase::NKIAssignMemoryBase;
  void runOnOperation() override;
};

/// A tile that has a place.
struct Placed {
  AllocOp tile;
  int64_t begin, end;
  /// Last op of the tile's block that needs it.
  Operation *last;
};
} // namespace

static Buffer memoryOf(AllocOp op) {
  return op.getResult().getType().getMemory();
}

/// Room that a tile takes: SBUF in lines of 64 bytes, PSUM in whole banks.
static int64_t granule(Buffer memory) {
  constexpr int64_t kSbufLine = 64;
  return memory == Buffer::Psum ? int64_t(kPsumBankBytes) : kSbufLine;
}

static int64_t capacity(Buffer memory) {
  return memory == Buffer::Psum ? kPsumBanks * kPsumBankBytes
                                : kSbufBytesPerPartition;
}

/// Adds the users of `value`, also through views of it.
static void collectUsers(Value value, SmallVectorImpl<Operation *> &users) {
  for (Operation *user : value.getUsers()) {
    users.push_back(user);
    if (isa<SliceOp, AccessOp, ReshapeOp>(user))
      collectUsers(user->getResult(0), users);
  }
}

static Operation *lastUse(AllocOp tile) {
  SmallVector<Operation *> users;
  collectUsers(tile.getResult(), users);
  Operation *last = tile;
  for (Operation *user : users) {
    Operation *ancestor = tile->getBlock()->findAncestorOpInBlock(*user);
    if (last->isBeforeInBlock(ancestor))
      last = ancestor;
  }
  return last;
}

/// The first free place for `bytes` among the tiles of one memory.
static int64_t firstFree(ArrayRef<Placed> placed, Buffer memory,
                         int64_t bytes) {
  SmallVector<std::pair<int64_t, int64_t>> taken;
  for (const Placed &other : placed)
    if (memoryOf(AllocOp(other.tile)) == memory)
      taken.push_back({other.begin, other.end});
  llvm::sort(taken);
  int64_t place = 0;
  for (auto [begin, end] : taken) {
    if (place + bytes <= begin)
      break;
    place = std::max(place, end);
  }
  return place;
}

static LogicalResult place(AllocOp tile, SmallVectorImpl<Placed> &placed) {
  Buffer memory = memoryOf(tile);
  int64_t bytes = llvm::alignTo(tile.getResult().getType().getPartitionBytes(),
                                granule(memory));
  int64_t begin = firstFree(placed, memory, bytes);
  if (begin + bytes > capacity(memory)) {
    InFlightDiagnostic diag = tile.emitOpError()
                              << "'" << tile.getName() << "' of " << bytes
                              << " bytes a partition does not fit into '"
                              << StringRef(bufferName(memory))
                              << "', which has " << capacity(memory)
                              << " (Trainium3 Architecture Guide for NKI)";
    for (const Placed &other : placed)
      if (memoryOf(AllocOp(other.tile)) == memory)
        diag.attachNote(other.tile->getLoc())
            << "'" << AllocOp(other.tile).getName() << "' has bytes "
            << other.begin << " to " << other.end;
    return diag;
  }
  tile.setAddress(begin);
  placed.push_back({tile, begin, begin + bytes, lastUse(tile)});
  return success();
}

static LogicalResult assign(Block &block, ArrayRef<Placed> outer) {
  SmallVector<Placed> placed(outer);
  for (Operation &op : block) {
    llvm::erase_if(placed, [&](const Placed &other) {
      return other.tile->getBlock() == &block &&
             other.last->isBeforeInBlock(&op);
    });
    auto tile = dyn_cast<AllocOp>(op);
    if (tile && memoryOf(tile) != Buffer::Hbm && failed(place(tile, placed)))
      return failure();
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        if (failed(assign(inner, placed)))
          return failure();
  }
  return success();
}

void NKIAssignMemory::runOnOperation() {
  if (failed(assign(getOperation().getBody().front(), {})))
    signalPassFailure();
}
