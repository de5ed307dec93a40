//===- ScaleStream.cpp - scales of blocks of K, loaded ahead --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaleStream.h"
#include "blockscale/HW/Target.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace blockscale;

/// No more than there are where their number is known.
static int64_t windowOf(const EpilogueMath::TileScales &scales, int64_t most) {
  std::optional<int64_t> length = KernelBuilder::known(scales.length);
  if (!length)
    return most;
  return std::min<int64_t>(most, llvm::PowerOf2Ceil(uint64_t(*length)));
}

ScaleStream::ScaleStream(KernelBuilder &b, EpilogueMath &math,
                         const TileScales &scales, int64_t window)
    : b(b), math(math), scales(scales), window(windowOf(scales, window)) {}

ScaleStream::ScaleStream(KernelBuilder &b, EpilogueMath &math,
                         const TileScales &scales, Value lane)
    : b(b), math(math), scales(scales), window(1), lane(lane) {}

void ScaleStream::Window::appendTo(SmallVectorImpl<Value> &values) const {
  llvm::append_range(values, scales);
  llvm::append_range(values, codes);
}

ValueRange ScaleStream::Window::takeFrom(ValueRange values) {
  for (auto *part : {&scales, &codes}) {
    llvm::copy(values.take_front(part->size()), part->begin());
    values = values.drop_front(part->size());
  }
  return values;
}

int64_t ScaleStream::length() const { return lane ? hw::kWarpSize : window; }

ScaleStream::Place ScaleStream::placeAt(const TileScales &scales, Value number,
                                        Value isThere) {
  if (lane)
    number = b.add(number, lane);
  Value none = b.constant(0);
  Value hasAny = b.compare(arith::CmpIPredicate::sgt, scales.count, none);
  hasAny = b.createOrFold<arith::AndIOp>(hasAny, isThere);
  return {b.add(scales.first, b.toI64(number)),
          b.select(hasAny, b.sub(scales.length, number), none)};
}

SmallVector<Value> ScaleStream::load(const Place &place) {
  return math.loadTileCodes(scales, window, place.first, place.second);
}

SmallVector<Value> ScaleStream::loadFirst(Value isThere) {
  return load(placeAt(scales, b.constant(0), isThere));
}

ScaleStream::Window ScaleStream::before(ValueRange codes) {
  Window result;
  Value zero =
      arith::ConstantOp::create(b, b.getZeroAttr(Type(b.getF32Type())));
  result.scales.assign(window, zero);
  llvm::append_range(result.codes, codes);
  return result;
}

ScaleStream::Place ScaleStream::placeBehind(Value number, Next next) {
  Value behind = b.add(number, b.constant(length()));
  if (!next)
    return placeAt(scales, behind, b.always());
  Value isEnd = b.compare(arith::CmpIPredicate::sge, behind, scales.length);
  auto choice =
      scf::IfOp::create(b, TypeRange{b.getI64Type(), b.getI32Type()}, isEnd,
                        /*withElseRegion=*/true);
  auto yield = [&](const Place &place) {
    scf::YieldOp::create(b, ValueRange{place.first, place.second});
  };
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  auto [scalesOfNext, isThere] = next();
  yield(placeAt(scalesOfNext, b.constant(0), isThere));
  b.setInsertionPointToStart(choice.elseBlock());
  yield(placeAt(scales, behind, b.always()));
  return {choice.getResult(0), choice.getResult(1)};
}

void ScaleStream::moveOn(Window &window, Value block, Next next) {
  SmallVector<Value> fresh =
      math.tileScalesOfCodes(scales, ValueRange(window.codes));
  llvm::append_range(fresh,
                     load(placeBehind(b.div(block, scales.blocks), next)));
  window.takeFrom(ValueRange(fresh));
}

void ScaleStream::begin(Window &window, Value block, int64_t step, Next next) {
  if (blocksOfWindow() == step)
    return moveOn(window, block, next);
  SmallVector<Value> kept;
  window.appendTo(kept);
  Value isNew = b.isEqual(b.rem(block, blocksOfWindow()), 0);
  auto choice = scf::IfOp::create(b, TypeRange(ValueRange(kept)), isNew,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    moveOn(window, block, next);
    SmallVector<Value> fresh;
    window.appendTo(fresh);
    scf::YieldOp::create(b, fresh);
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, kept);
  }
  window.takeFrom(choice.getResults());
}

Value ScaleStream::take(MutableArrayRef<Value> window, Value block) {
  Value taken = window.front();
  if (lane) {
    Value owner = b.rem(b.div(block, scales.blocks), length());
    return gpu::ShuffleOp::create(b, taken, owner, b.constant(hw::kWarpSize),
                                  gpu::ShuffleMode::IDX)
        .getShuffleResult();
  }
  Value isLast = b.isEqual(b.rem(block, scales.blocks), scales.blocks - 1);
  for (size_t i = 0; i + 1 < window.size(); ++i)
    window[i] = b.select(isLast, window[i + 1], window[i]);
  return taken;
}
