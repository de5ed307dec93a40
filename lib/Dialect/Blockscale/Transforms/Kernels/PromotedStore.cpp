//===- PromotedStore.cpp - the epilogue that adds up blocks of K ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PromotedStore.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/HW/Throughput.h"
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

/// Columns that are finished at once: fewer where more than the sums is loaded
/// for each, kept of it or computed of it, and fewest beside twice as many
/// sums.
static int64_t finishedAtOnce(KernelFrame &frame) {
  if (auto map = dyn_cast<TensorMapType>(frame.op.getD().getType()))
    return map.getBox().front();
  constexpr int64_t kFewest = 4, kFew = 8;
  int64_t width = widthOf(frame);
  if (promotedColumns(frame.geometry.tileN) > kPromotedColumns)
    return kFewest;
  bool loadsMore =
      frame.op.getBias() || frame.op.getC() || frame.op.getRowTerms();
  bool hasMore = frame.quantizes() || loadsMore ||
                 (!frame.hasPairs() && EpilogueMath::mostValues(frame) > 1);
  bool isCrowded = promotingGroups(frame.geometry.tileN) > 2;
  return isCrowded && hasMore ? std::min(width, kFew) : width;
}

PromotedStore::PromotedStore(KernelFrame &frame, TensorMemory &memory,
                             AccumulatorRing &accumulators, FactorRing &scales,
                             TileSource &source,
                             std::optional<LargestOfGroups> &largest,
                             std::optional<RowExchange> &turning,
                             std::optional<TileMates> &mates)
    : frame(frame), b(frame.b), memory(memory), accumulators(accumulators),
      scales(scales), source(source), largest(largest), turning(turning),
      mates(mates), math(frame, widthOf(frame)),
      finishing(frame, finishedAtOnce(frame)),
      columns(promotedColumns(frame.geometry.tileN)),
      isPacked(hw::multipliesPairs(getTarget(frame.op).chip)) {
  if (turning)
    rows.emplace(frame, turning->columnsOfThread(), mates);
  else if (frame.quantizes())
    quantized.emplace(frame, columns / frame.sumsOfElement());
  if (frame.schedule.getStores() == Stores::Tma)
    boxes.emplace(frame, columns / finishing.getWidth());
}

bool PromotedStore::isCrowded() const { return columns > kPromotedColumns; }

Value PromotedStore::columnOf(int64_t chunk) {
  return b.add(firstColumn, b.constant(chunk * math.getWidth()));
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// One lane of each warp arrives: with each block, all would take too long.
void PromotedStore::release(RingPosition copy) {
  TensorFenceOp::create(b, FenceSide::Before);
  SyncWarpOp::create(b);
  b.onlyIf(ElectOp::create(b), [&] {
    ArriveOp::create(b, accumulators.signalEmpty, copy.slot);
    scales.release(copy.slot);
  });
}

void PromotedStore::leaveAfterLast(TilePosition tile) {
  if (!frame.leavesEarly())
    return;
  b.onlyIf(arith::XOrIOp::create(b, source.hasNext(tile), b.always()),
           [&] { frame.leave(); });
}

SmallVector<Value> PromotedStore::zeroSums() {
  Type type = isPacked ? Type(math.getVectorType()) : b.getF32Type();
  TypedAttr zero = b.getZeroAttr(type);
  return SmallVector<Value>(chunks() * valuesOfChunk(),
                            arith::ConstantOp::create(b, zero));
}

void PromotedStore::add(Value loaded, Value factor,
                        MutableArrayRef<Value> sums) {
  if (isPacked) {
    sums.front() = math::FmaOp::create(b, loaded, factor, sums.front());
    return;
  }
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = math::FmaOp::create(
        b, vector::ExtractOp::create(b, loaded, int64_t(i)),
        vector::ExtractOp::create(b, factor, int64_t(i)), sum);
}

Value PromotedStore::sumsOf(ValueRange sums, int64_t first) {
  int64_t width = finishing.getWidth();
  if (!isPacked)
    return vector::FromElementsOp::create(b, finishing.getVectorType(),
                                          sums.slice(first, width));
  Value chunk = sums[first / math.getWidth()];
  if (width == math.getWidth())
    return chunk;
  int64_t begin = first % math.getWidth();
  auto places = llvm::to_vector(llvm::seq(begin, begin + width));
  return vector::ShuffleOp::create(b, chunk, chunk, places);
}

void PromotedStore::addBlock(RingPosition copy, MutableArrayRef<Value> sums) {
  WaitOp::create(b, accumulators.full, copy.slot, copy.parity);
  TensorFenceOp::create(b, FenceSide::After);
  Value ofRow = scales.loadOfRow(copy.slot, row);
  for (int64_t chunk = 0; chunk < chunks(); ++chunk) {
    Value factors =
        scales.factors(copy.slot, ofRow, columnOf(chunk), math.getVectorType());
    Value loaded =
        LoadAccumulatorOp::create(b, math.getVectorType(), memory.accumulator,
                                  copy.slot, columnOf(chunk));
    if (chunk + 1 == chunks())
      release(copy);
    add(loaded, factors, sums.slice(chunk * valuesOfChunk(), valuesOfChunk()));
  }
}

bool PromotedStore::finishesInTurn() const {
  return isCrowded() && Epilogue(frame.op).valuesOfFunctions();
}

/// Through the loop the sums move up, and what becomes of them comes behind
/// those that are left: else ptxas works on many at once.
SmallVector<Value> PromotedStore::finishInTurn(ValueRange sums,
                                               EpilogueFragment place) {
  int64_t width = math.getWidth(), step = finishing.getWidth();
  auto loop = scf::ForOp::create(b, b.constant(0), b.constant(chunks()),
                                 b.constant(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> carried(loop.getRegionIterArgs()), elements;
  Value distance = b.mul(loop.getInductionVar(), width);
  place.column = b.add(place.column, distance);
  place.count = b.sub(place.count, distance);
  for (int64_t first = 0; first < width; first += step) {
    Value value = finishing.finish(sumsOf(carried, first),
                                   EpilogueMath::behind(b, place, first));
    for (int64_t i = 0; i < step / frame.sumsOfElement(); ++i)
      elements.push_back(vector::ExtractOp::create(b, value, i));
  }
  // Of pairs there are half as many.
  elements.resize(width, elements.front());
  if (isPacked)
    elements = {
        vector::FromElementsOp::create(b, math.getVectorType(), elements)};
  carried.append(elements);
  scf::YieldOp::create(b, ArrayRef(carried).drop_front(valuesOfChunk()));
  return llvm::to_vector(ValueRange(loop.getResults()));
}

Value PromotedStore::finishedOf(ValueRange chunks, int64_t first) {
  int64_t size = finishing.getWidth() / frame.sumsOfElement(),
          width = math.getWidth(),
          begin = first % width / frame.sumsOfElement();
  auto type = VectorType::get({size}, b.getF32Type());
  if (!isPacked)
    return vector::FromElementsOp::create(
        b, type, chunks.slice(first / width * width + begin, size));
  Value chunk = chunks[first / width];
  return vector::ShuffleOp::create(
      b, chunk, chunk, llvm::to_vector(llvm::seq(begin, begin + size)));
}

/// A thread's elements of D, in blocks.
void PromotedStore::quantize(const Fragments &fragments, ValueRange sums,
                             Value parity) {
  bool keepsParts = quantized->keepsParts(), inTurn = finishesInTurn();
  SmallVector<Value> elements, finished;
  if (inTurn)
    finished = finishInTurn(sums, fragments(0));
  for (int64_t first = 0; first < columns; first += finishing.getWidth()) {
    Value value = inTurn
                      ? finishedOf(finished, first)
                      : finishing.finish(sumsOf(sums, first), fragments(first));
    if (keepsParts) {
      elements.append(quantized->narrowed(value));
      continue;
    }
    if (finishing.getWidth() < math.getWidth())
      value = vectorKnownFromHere(b, value);
    for (int64_t i = 0; i < cast<VectorType>(value.getType()).getDimSize(0);
         ++i)
      elements.push_back(vector::ExtractOp::create(b, value, i));
  }
  int64_t size = quantized->partElements();
  auto type = VectorType::get({size}, b.getF32Type());
  auto largestOfGroups = [&](Emitter &e, Value own, gpu::AllReduceOperation) {
    return e.bits(largest->find(e, e.fromBits(own), parity));
  };
  QuantizedStore::Together together = togetherBy(mates);
  if (largest)
    together = largestOfGroups;
  for (int64_t first = 0; first < int64_t(elements.size()); first += size) {
    ArrayRef<Value> block = ArrayRef(elements).slice(first, size);
    EpilogueFragment fragment =
        math.inResult(fragments(first * frame.sumsOfElement()));
    if (keepsParts)
      quantized->storeParts({{SmallVector<Value>(block), fragment}}, together);
    else
      quantized->store({vector::FromElementsOp::create(b, type, block)},
                       fragment, together);
  }
}

void PromotedStore::turn(TilePosition tile, ValueRange sums) {
  int64_t width = std::min(finishing.getWidth(), turning->rowsOfChunk());
  for (int64_t chunk = 0; chunk < columns; chunk += turning->rowsOfChunk()) {
    for (int64_t first = 0; first < turning->rowsOfChunk(); first += width)
      turning->put(sumsOf(sums, chunk + first), first);
    turning->awaitAll();
    Value inTile = b.add(firstColumn, b.constant(chunk));
    rows->store(
        tile, {b.add(inTile, turning->row), turning->column, turning->isThere},
        [&](int64_t first, int64_t count) {
          return turning->take(first, count);
        });
    turning->leave();
  }
  // Groups have rows of their own.
  int64_t step = turning->columnsOfThread(),
          groups = frame.geometry.tileN / columns;
  Value group = b.div(firstColumn, columns);
  rows->storePadding(tile,
                     {b.add(turning->row, b.mul(group, step)), turning->column,
                      turning->isThere},
                     step * groups);
}

void PromotedStore::storeChunks(TilePosition tile, const Fragments &fragments,
                                ValueRange sums) {
  int64_t width = finishing.getWidth();
  for (int64_t chunk = 0; chunk < columns / width; ++chunk) {
    EpilogueFragment fragment = fragments(chunk * width);
    Value value = finishing.finish(sumsOf(sums, chunk * width), fragment);
    if (boxes)
      boxes->store(tile, thread, b.constant(chunk), fragment.column,
                   finishing.converted(value));
    else
      finishing.store(value, fragment);
  }
}

RingPosition PromotedStore::storeTile(TilePosition tile, RingPosition copy,
                                      Value parity) {
  Value blocks =
      frame.partsOfK(frame.partOfK(tile).size, frame.promotionBlock());
  Extent around = frame.columnsAround(tile);
  std::optional<EpilogueFragment> place;
  if (isCrowded())
    place = math.known(math.fragmentAt(tile, row, firstColumn), around);
  SmallVector<Value> initial{copy.slot, copy.parity};
  llvm::append_range(initial, zeroSums());
  auto loop =
      scf::ForOp::create(b, b.constant(0), blocks, b.constant(1), initial);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> carried(loop.getRegionIterArgs());
    RingPosition current{carried[0], carried[1]};
    addBlock(current, MutableArrayRef(carried).drop_front(2));
    RingPosition next = b.next(current, accumulators.count());
    carried[0] = next.slot;
    carried[1] = next.parity;
    scf::YieldOp::create(b, carried);
  }
  leaveAfterLast(tile);
  if (place && !turning)
    place = math.known(*place, around);
  finishTile(tile, loop.getResults().drop_front(2), parity, place);
  return {loop.getResult(0), loop.getResult(1)};
}

void PromotedStore::finishTile(TilePosition tile, ValueRange sums, Value parity,
                               std::optional<EpilogueFragment> place) {
  if (turning)
    return turn(tile, sums);
  finishing.prepareRow(tile, row);
  auto fragments = [&](int64_t distance) {
    return place ? EpilogueMath::behind(b, *place, distance)
                 : math.fragmentAt(tile, row,
                                   b.add(firstColumn, b.constant(distance)));
  };
  if (quantized)
    return quantize(fragments, sums, parity);
  storeChunks(tile, fragments, sums);
}

void PromotedStore::emitRole() {
  b.warps("epilogue", frame.warps.epilogue, [&] {
    frame.takeRegisters();
    thread = b.toI32(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
    row = b.rem(thread, hw::kTmemLanes);
    firstColumn = columns == frame.geometry.tileN
                      ? b.constant(0)
                      : b.mul(b.div(thread, hw::kTmemLanes), columns);
    if (columns == frame.geometry.tileN)
      row = thread;
    if (turning) {
      turning->locate(thread);
      rows->prepareKernel();
    } else {
      finishing.prepareKernel();
    }
    if (quantized)
      quantized->prepareKernel();
    if (mates)
      mates->locate();
    if (frame.leavesEarly())
      b.onlyIf(arith::XOrIOp::create(b, source.hasFirst(), b.always()),
               [&] { frame.leave(); });
    Value zero = b.constant(0);
    // The position in the ring of accumulators, and the parity of the tile
    // where threads choose scales together.
    SmallVector<Value> initial(largest ? 3 : 2, zero);
    source.forEach(initial, [&](TilePosition tile, ValueRange carried) {
      if (isCrowded()) {
        Value same = knownFromHere(b, thread).front();
        row = b.rem(same, hw::kTmemLanes);
        firstColumn = b.mul(b.div(same, hw::kTmemLanes), columns);
      }
      if (turning)
        rows->prepareTile(tile);
      else
        finishing.prepareTile(tile);
      if (quantized)
        quantized->prepareTile(tile);
      Value parity = largest ? carried[2] : Value();
      RingPosition copy = storeTile(tile, {carried[0], carried[1]}, parity);
      SmallVector<Value> next{copy.slot, copy.parity};
      if (largest)
        next.push_back(b.flip(parity));
      return next;
    });
    if (boxes)
      boxes->drain();
  });
}
