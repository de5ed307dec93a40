//===- PromotedStore.cpp - the epilogue that adds up blocks of K ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PromotedStore.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

/// Columns that are loaded and finished at once, beside the sums, which count
/// as two values of each. Threads of several groups have some hundred
/// registers.
static int64_t widthOf(KernelFrame &frame) {
  constexpr unsigned kSums = 2, kFewValues = 2;
  unsigned values = EpilogueMath::mostValues(frame);
  int64_t width = frame.geometry.epilogueColumns(values + kSums);
  bool isCrowded = promotingGroups(frame.geometry.tileN) > 2;
  // More would spill beside twice as many sums.
  if (promotedColumns(frame.geometry.tileN) > kPromotedColumns)
    return std::min<int64_t>(width, 8);
  return isCrowded && values > kFewValues ? std::min<int64_t>(width, 16)
                                          : width;
}

PromotedStore::PromotedStore(KernelFrame &frame, TensorMemory &memory,
                             AccumulatorRing &accumulators, TileSource &source,
                             std::optional<LargestOfGroups> &largest)
    : frame(frame), b(frame.b), memory(memory), accumulators(accumulators),
      source(source), largest(largest), math(frame, widthOf(frame)),
      columns(promotedColumns(frame.geometry.tileN)) {
  if (frame.quantizes())
    quantized.emplace(frame, columns / frame.sumsOfElement());
}

Value PromotedStore::columnOf(int64_t chunk) {
  return b.add(firstColumn, b.constant(chunk * math.getWidth()));
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

PromotedStore::Scales PromotedStore::scalesOf(TilePosition tile) {
  Scales scales;
  scales.row = math.tileScalesOfRow(tile, row);
  // A thread of many columns has no registers for what its chunks share.
  bool isShared = columns > kPromotedColumns &&
                  int64_t(frame.op.getColumnGroup()) % columns == 0;
  int64_t numbers = isShared ? 1 : chunks();
  for (int64_t chunk = 0; chunk < numbers; ++chunk)
    scales.along.push_back(math.tileScalesAlong(tile, columnOf(chunk)));
  return scales;
}

bool PromotedStore::isAhead(const Scales &scales, int64_t chunk) const {
  const TileScales &along = scales.along[chunk];
  return along.memory && along.rows == 1;
}

SmallVector<Value> PromotedStore::loadAhead(const Scales &scales, Value block,
                                            Value blocks) {
  Value isThere = b.compare(arith::CmpIPredicate::slt, block, blocks);
  SmallVector<Value> ahead;
  if (scales.row.memory)
    ahead.push_back(math.loadTileScales(scales.row, block, isThere));
  for (int64_t chunk = 0; chunk < int64_t(scales.along.size()); ++chunk)
    if (isAhead(scales, chunk))
      ahead.push_back(math.loadTileScales(scales.along[chunk], block, isThere));
  return ahead;
}

Value PromotedStore::factorOf(const Scales &scales, int64_t chunk, Value block,
                              ValueRange ahead) {
  auto splat = [&](Value number) -> Value {
    return vector::BroadcastOp::create(b, math.getVectorType(), number);
  };
  Value ofRow = scales.row.memory ? ahead.front() : Value();
  chunk = std::min(chunk, int64_t(scales.along.size()) - 1);
  if (!scales.along[chunk].memory)
    return splat(ofRow);
  if (isAhead(scales, chunk)) {
    Value along = ahead[(ofRow ? 1 : 0) + chunk];
    return splat(ofRow ? arith::MulFOp::create(b, ofRow, along) : along);
  }
  Value along = math.loadTileScales(scales.along[chunk], block, b.always());
  return ofRow ? arith::MulFOp::create(b, splat(ofRow), along) : along;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// One lane of each warp arrives: with each block, all would take too long.
void PromotedStore::release(RingPosition copy) {
  TensorFenceOp::create(b, FenceSide::Before);
  b.onlyIf(ElectOp::create(b),
           [&] { ArriveOp::create(b, accumulators.signalEmpty, copy.slot); });
}

void PromotedStore::addBlock(const Scales &scales, Value block,
                             RingPosition copy, ValueRange ahead,
                             MutableArrayRef<Value> sums) {
  WaitOp::create(b, accumulators.full, copy.slot, copy.parity);
  TensorFenceOp::create(b, FenceSide::After);
  for (auto [chunk, sum] : llvm::enumerate(sums)) {
    Value factor = factorOf(scales, chunk, block, ahead);
    Value loaded =
        LoadAccumulatorOp::create(b, math.getVectorType(), memory.accumulator,
                                  copy.slot, columnOf(chunk));
    if (chunk + 1 == sums.size())
      release(copy);
    sum = math::FmaOp::create(b, loaded, factor, sum);
  }
}

/// A thread's elements of D, in blocks.
void PromotedStore::quantize(TilePosition tile, ValueRange sums, Value parity) {
  bool isUnderFloats = quantized->isUnderFloats();
  SmallVector<Value> elements;
  for (auto [chunk, sum] : llvm::enumerate(sums)) {
    Value value =
        math.finish(sum, math.fragmentAt(tile, row, columnOf(int64_t(chunk))));
    if (isUnderFloats)
      elements.append(quantized->narrowed(value));
    else
      for (int64_t i = 0; i < cast<VectorType>(value.getType()).getDimSize(0);
           ++i)
        elements.push_back(vector::ExtractOp::create(b, value, i));
  }
  int64_t size = quantized->blockElements();
  auto type = VectorType::get({size}, b.getF32Type());
  auto largestOfParts = [&](Emitter &e, Value own) {
    return largest ? largest->find(e, own, parity) : own;
  };
  for (int64_t first = 0; first < int64_t(elements.size()); first += size) {
    ArrayRef<Value> block = ArrayRef(elements).slice(first, size);
    Value column =
        b.add(firstColumn, b.constant(first * frame.sumsOfElement()));
    EpilogueFragment fragment =
        math.inResult(math.fragmentAt(tile, row, column));
    if (isUnderFloats)
      quantized->storeTilePart(block, fragment, largestOfParts);
    else
      quantized->store({vector::FromElementsOp::create(b, type, block)},
                       fragment);
  }
}

RingPosition PromotedStore::storeTile(TilePosition tile, RingPosition copy,
                                      Value parity) {
  Scales scales = scalesOf(tile);
  Value blocks = b.ceilDiv(frame.op.getK(), frame.promotionBlock());
  Value zeros = arith::ConstantOp::create(
      b, DenseElementsAttr::get(math.getVectorType(), 0.0f));
  SmallVector<Value> initial{copy.slot, copy.parity};
  initial.append(chunks(), zeros);
  llvm::append_range(initial, loadAhead(scales, b.constant(0), blocks));
  auto loop =
      scf::ForOp::create(b, b.constant(0), blocks, b.constant(1), initial);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value block = loop.getInductionVar();
    SmallVector<Value> carried(loop.getRegionIterArgs());
    RingPosition current{carried[0], carried[1]};
    SmallVector<Value> ahead =
        loadAhead(scales, b.add(block, b.constant(1)), blocks);
    auto sums = MutableArrayRef(carried).slice(2, chunks());
    addBlock(scales, block, current, ArrayRef(carried).drop_front(2 + chunks()),
             sums);
    RingPosition next = b.next(current, accumulators.count());
    carried[0] = next.slot;
    carried[1] = next.parity;
    llvm::copy(ahead, carried.begin() + 2 + chunks());
    scf::YieldOp::create(b, carried);
  }
  math.prepareRow(tile, row);
  if (quantized) {
    quantize(tile, loop.getResults().slice(2, chunks()), parity);
    return {loop.getResult(0), loop.getResult(1)};
  }
  for (int64_t chunk = 0; chunk < chunks(); ++chunk) {
    EpilogueFragment fragment = math.fragmentAt(tile, row, columnOf(chunk));
    math.store(math.finish(loop.getResult(2 + chunk), fragment), fragment);
  }
  return {loop.getResult(0), loop.getResult(1)};
}

void PromotedStore::emitRole() {
  b.warps("epilogue", frame.warps.epilogue, [&] {
    Value thread = b.toI32(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
    row = b.rem(thread, hw::kTmemLanes);
    firstColumn = columns == frame.geometry.tileN
                      ? b.constant(0)
                      : b.mul(b.div(thread, hw::kTmemLanes), columns);
    if (columns == frame.geometry.tileN)
      row = thread;
    math.prepareKernel();
    if (quantized)
      quantized->prepareKernel();
    Value zero = b.constant(0);
    // The position in the ring of accumulators, and the parity of the tile
    // where threads choose scales together.
    SmallVector<Value> initial(largest ? 3 : 2, zero);
    source.forEach(initial, [&](TilePosition tile, ValueRange carried) {
      math.prepareTile(tile);
      if (quantized)
        quantized->prepareTile(tile);
      Value parity = largest ? carried[2] : Value();
      RingPosition copy = storeTile(tile, {carried[0], carried[1]}, parity);
      SmallVector<Value> next{copy.slot, copy.parity};
      if (largest)
        next.push_back(b.flip(parity));
      return next;
    });
  });
}
