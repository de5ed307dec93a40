//===- TileMates.cpp - threads that choose a scale together ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileMates.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

/// Warps that have all lanes of tensor memory.
static constexpr int64_t kQuarters = hw::kTmemLanes / hw::kWarpSize;
/// Numbers that are sent at once.
static constexpr int64_t kSent = 4;
static constexpr int64_t kNumberBytes = sizeof(float);

int64_t blockscale::bytesOfMates(const TileParts &parts, int64_t threads) {
  int64_t numbers = parts.warps.empty() ? 0 : 1;
  if (parts.ctas > 1)
    numbers += 1 + (parts.ctas - 1) * kSent;
  return numbers * threads * kNumberBytes;
}

static Value joined(Emitter &e, Value x, Value y, gpu::AllReduceOperation how) {
  if (how == gpu::AllReduceOperation::ADD)
    return arith::AddIOp::create(e, x, y);
  return arith::MaxUIOp::create(e, x, y);
}

std::optional<TileMates> TileMates::create(KernelFrame &frame) {
  if (!frame.quantizes())
    return std::nullopt;
  std::optional<TileParts> parts =
      tileParts(frame.schedule, resultTile(frame.op), getTarget(frame.op));
  assert(parts && "the verifier asks first");
  if (!parts->areSeveral())
    return std::nullopt;
  return TileMates(frame, *parts);
}

TileMates::TileMates(KernelFrame &frame, TileParts parts)
    : frame(frame), b(frame.b), parts(std::move(parts)),
      warps(frame.warps.storers().count()), team(warps) {
  auto memory = [&](ArrayRef<int64_t> shape) {
    return b.shared(SharedType::get(b.getContext(), shape, b.getF32Type(),
                                    /*container=*/32, hw::Swizzle::None));
  };
  int64_t threads = warps * hw::kWarpSize;
  if (!this->parts.warps.empty()) {
    int64_t farthest = 0;
    for (const TileParts::Digit &digit : this->parts.warps)
      farthest = std::max(farthest, digit.count * digit.distance);
    if (frame.warps.consumers.count())
      team = warpsOfTile(frame.schedule);
    else if (farthest <= kQuarters)
      team = kQuarters;
    numbers = memory({1, threads});
    barriers = b.barriers(warps / team, team);
  }
  if (this->parts.ctas > 1) {
    int64_t others = this->parts.ctas - 1;
    inbox = memory({others, 1, threads, kSent});
    parities = memory({1, threads});
    full = b.barriers(1, 1);
    empty = b.barriers(1, this->parts.ctas * warps);
  }
}

void TileMates::keep(Value memory, Value number) {
  Value word = vector::FromElementsOp::create(
      b, VectorType::get({1}, b.getF32Type()),
      arith::BitcastOp::create(b, b.getF32Type(), number).getResult());
  StoreSharedOp::create(b, word, memory, thread);
}

Value TileMates::kept(Value memory, Value place) {
  Value loaded = LoadSharedOp::create(b, VectorType::get({1}, b.getF32Type()),
                                      memory, place);
  return arith::BitcastOp::create(b, b.getI32Type(),
                                  vector::ExtractOp::create(b, loaded, 0));
}

void TileMates::locate() {
  thread = b.toI32(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  if (parts.ctas > 1)
    keep(parities, b.constant(0));
}

/// One instruction has the maximum of neighbours.
Value TileMates::ofWarp(Emitter &e, Value own, gpu::AllReduceOperation how) {
  int64_t next = 1;
  for (int64_t distance : parts.lanes)
    next = distance == next ? 2 * next : 0;
  constexpr int64_t kPair = 2;
  if (next > kPair)
    return gpu::SubgroupReduceOp::create(e, own, how, /*uniform=*/true,
                                         std::optional(uint32_t(next)));
  for (int64_t distance : parts.lanes)
    own = joined(e, own,
                 gpu::ShuffleOp::create(e, own, int32_t(distance),
                                        int32_t(hw::kWarpSize),
                                        gpu::ShuffleMode::XOR)
                     .getShuffleResult(),
                 how);
  return own;
}

/// One lane arrives for all of its warp. Both phases of the barrier are those
/// of one exchange.
void TileMates::meet(int64_t parity) {
  SyncWarpOp::create(b);
  Value index =
      team == warps ? b.constant(0) : b.div(thread, team * hw::kWarpSize);
  b.onlyIf(ElectOp::create(b), [&] { ArriveOp::create(b, barriers, index); });
  WaitOp::create(b, barriers, index, b.constant(parity));
}

Value TileMates::ofWarps(Emitter &e, Value own, gpu::AllReduceOperation how) {
  keep(numbers, own);
  meet(0);
  // The same lane of the first one of the warps, and the distances of all.
  Value warp = b.div(thread, hw::kWarpSize), first = thread;
  SmallVector<int64_t> distances{0};
  for (const TileParts::Digit &digit : parts.warps) {
    Value number = b.rem(b.div(warp, digit.distance), digit.count);
    int64_t distance = digit.distance * hw::kWarpSize;
    first = b.sub(first, b.mul(number, distance));
    SmallVector<int64_t> all;
    for (int64_t i = 0; i < digit.count; ++i)
      for (int64_t other : distances)
        all.push_back(other + i * distance);
    distances = std::move(all);
  }
  Value found;
  for (int64_t distance : distances) {
    Value number = kept(numbers, b.add(first, b.constant(distance)));
    found = found ? joined(e, found, number, how) : number;
  }
  meet(1);
  return found;
}

/// Of the same thread of CTAs that follow each other along the columns of D.
Value TileMates::ofCluster(Emitter &e, Value own, gpu::AllReduceOperation how) {
  Value zero = b.constant(0), parity = kept(parities, thread);
  keep(parities, b.flip(parity));
  WaitOp::create(b, empty, zero, b.flip(parity));
  int64_t ctas = parts.ctas, others = ctas - 1;
  b.onlyIf(b.isEqual(thread, 0), [&] {
    ArriveExpectOp::create(
        b, full, zero, others * warps * hw::kWarpSize * kSent * kNumberBytes);
  });
  Value number = arith::BitcastOp::create(b, b.getF32Type(), own);
  Value sent = vector::BroadcastOp::create(
      b, VectorType::get({kSent}, b.getF32Type()), number);
  Value index = b.rem(frame.place.rank, ctas);
  Value first = b.sub(frame.place.rank, index);
  for (int64_t i = 1; i < ctas; ++i) {
    Value rank = b.add(first, b.rem(b.add(index, b.constant(i)), ctas));
    SendSumsOp::create(b, sent, inbox, b.constant(i - 1), zero, thread, rank,
                       full);
  }
  WaitOp::create(b, full, zero, parity);
  for (int64_t i = 0; i < others; ++i) {
    Value received = ReceiveSumsOp::create(b, sent.getType(), inbox,
                                           b.constant(i), zero, thread);
    own = joined(
        e, own,
        arith::BitcastOp::create(b, b.getI32Type(),
                                 vector::ExtractOp::create(b, received, 0)),
        how);
  }
  ReleaseSumsOp::create(b, empty, first, ctas, /*step=*/1);
  return own;
}

Value TileMates::operator()(Emitter &e, Value own,
                            gpu::AllReduceOperation how) {
  own = ofWarp(e, own, how);
  if (!parts.warps.empty())
    own = ofWarps(e, own, how);
  return parts.ctas > 1 ? ofCluster(e, own, how) : own;
}

function_ref<Value(Emitter &, Value, gpu::AllReduceOperation)>
blockscale::togetherBy(std::optional<TileMates> &mates) {
  if (mates)
    return *mates;
  return nullptr;
}
