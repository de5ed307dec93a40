//===- RowStore.cpp - the epilogue that stores row by row -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowStore.h"
#include "StreamTiles.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/WideTiles.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace blockscale;

/// Lets the MMA overwrite the accumulator.
void RowStore::release(RingPosition copy) {
  TensorFenceOp::create(b, FenceSide::Before);
  Value slot = frame.geometry.overlap ? b.constant(0) : copy.slot;
  // One lane for all of its warp: arrivals take turns at the barrier.
  b.onlyIf(ElectOp::create(b),
           [&] { ArriveOp::create(b, accumulators.signalEmpty, slot); });
}

/// The same once the warp's chunk of round `lastRound` is loaded.
void RowStore::releaseAfter(int64_t lastRound, Value index, RingPosition copy) {
  b.onlyIf(b.isEqual(roundOf(index), lastRound), [&] { release(copy); });
}

Value RowStore::chunkOf(Value round) {
  return b.add(b.mul(round, sharers()), firstChunk);
}

void RowStore::findRow() {
  thread = b.toI32(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  row = sharers() == 1 ? thread : b.rem(thread, hw::kTmemLanes);
  firstChunk = sharers() == 1 ? b.constant(0) : b.div(thread, hw::kTmemLanes);
}

/// Lets the cluster end once the last chunk of the last tile is loaded.
void RowStore::leaveAfterLast(TilePosition tile, Value number, Value index) {
  Value isLastPart = b.isEqual(number, frame.geometry.accumulatorsOfTile() - 1);
  if (!frame.leavesEarly() || b.known(isLastPart) == 0)
    return;
  Value isLastChunk = b.createOrFold<arith::AndIOp>(
      b.isEqual(roundOf(index), rounds() - 1), isLastPart);
  Value isLastTile = arith::XOrIOp::create(b, source.hasNext(tile), b.always());
  b.onlyIf(arith::AndIOp::create(b, isLastChunk, isLastTile),
           [&] { frame.leave(); });
}

Value RowStore::pieceOf(Value values, int64_t first, int64_t count) {
  auto places = llvm::to_vector(llvm::seq(first, first + count));
  return vector::ShuffleOp::create(b, values, values, places);
}

Value RowStore::finishedBlock(Value sum, const EpilogueFragment &fragment) {
  auto load = [&](int64_t first, int64_t count) -> Value {
    if (count == math.getWidth())
      return sum;
    return pieceOf(sum, first, count);
  };
  return math.finishPieces(load, fragment, math.getWidth());
}

void RowStore::finishChunk(TilePosition tile, Value index, Value column,
                           Value sum, bool isPiece) {
  EpilogueFragment fragment = math.fragmentAt(tile, row, column);
  if (quantized)
    return quantized->store({finishedBlock(sum, fragment)},
                            math.inResult(fragment), togetherBy(mates));
  Value value = math.finish(sum, fragment);
  if (ahead && !isPiece)
    value = ahead->passOn(math.converted(value));
  if (boxes)
    boxes->store(tile, thread, roundOf(index), fragment.column,
                 math.converted(value));
  else
    math.store(value, fragment);
}

void RowStore::finishPieces(TilePosition tile, Value index, Value column,
                            Value sum) {
  int64_t width = math.getWidth();
  SmallVector<Value> pieces;
  for (int64_t first = 0; first < chunkColumns(); first += width)
    pieces.push_back(pieceOf(sum, first, width));
  if (pieces.size() == 1)
    return finishChunk(tile, index, column, sum);
  if (!quantized || !quantized->areTogether(int64_t(pieces.size())))
    return finishInTurn(tile, index, column, pieces);
  SmallVector<Value> values;
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    Value at = b.add(column, b.constant(int64_t(i) * width));
    values.push_back(math.finish(piece, math.fragmentAt(tile, row, at)));
  }
  quantized->store(values, math.inResult(math.fragmentAt(tile, row, column)));
}

/// In a loop, through which the pieces move up, and those of C: code for each
/// would take long to compile.
void RowStore::finishInTurn(TilePosition tile, Value index, Value column,
                            ArrayRef<Value> pieces) {
  SmallVector<Value> ofC;
  int64_t size = math.getWidth() / frame.sumsOfElement();
  if (ahead)
    for (size_t i = 0; i < pieces.size(); ++i)
      ofC.push_back(pieceOf(ahead->loaded(), int64_t(i) * size, size));
  SmallVector<Value> moving(pieces.drop_back());
  llvm::append_range(moving, ArrayRef(ofC).drop_back(!ofC.empty()));
  {
    auto loop =
        scf::ForOp::create(b, b.constant(0), b.constant(int64_t(pieces.size())),
                           b.constant(1), moving);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = b.add(column, b.mul(loop.getInductionVar(), math.getWidth()));
    ValueRange left = loop.getRegionIterArgs();
    SmallVector<Value> next(left.take_front(pieces.size() - 1)),
        nextOfC(left.drop_front(pieces.size() - 1));
    if (ahead)
      math.provideC(nextOfC.front());
    finishChunk(tile, index, at, next.front(), /*isPiece=*/true);
    next.push_back(pieces.back());
    llvm::append_range(nextOfC, ArrayRef(ofC).take_back(!ofC.empty()));
    SmallVector<Value> yielded(llvm::drop_begin(next));
    llvm::append_range(yielded, ArrayRef(nextOfC).drop_front(!ofC.empty()));
    scf::YieldOp::create(b, yielded);
  }
  if (ahead)
    ahead->passOn();
}

/// Loaded and finished piece after piece.
QuantizedStore::Part RowStore::partOf(TilePosition tile, Value column,
                                      Value distance, int64_t columns,
                                      function_ref<Value(Value)> load) {
  SmallVector<Value> elements;
  for (int64_t i = 0; i < columns; i += math.getWidth()) {
    Value from = b.add(distance, b.constant(i)), at = b.add(column, from);
    Value value = math.finish(load(from), math.fragmentAt(tile, row, at));
    elements.append(quantized->narrowed(value));
  }
  Value first = b.add(column, distance);
  return {elements, math.inResult(math.fragmentAt(tile, row, first))};
}

void RowStore::storeKeptTile(TilePosition tile, Value column,
                             function_ref<Value(Value)> load,
                             function_ref<void()> released) {
  if (!QuantizedStore::makesPartsAgain(frame)) {
    QuantizedStore::Part all =
        partOf(tile, column, b.constant(0), chunkColumns(), load);
    released();
    return quantized->storeParts(all, togetherBy(mates));
  }
  int64_t columns = columnsOfPart();
  quantized->storePartsAgain(
      chunkColumns() / columns,
      [&](Value index) {
        return partOf(tile, column, b.mul(index, columns), columns, load);
      },
      togetherBy(mates));
  released();
}

int64_t RowStore::columnsOfPart() const {
  return std::max(math.getWidth(), resultTile(frame.op).blockColumns);
}

void RowStore::turnChunk(TilePosition tile, Value column,
                         function_ref<Value(int64_t)> load,
                         function_ref<void()> released) {
  for (int64_t first = 0; first < chunkColumns(); first += keptColumns())
    turning->put(load(first), first);
  released();
  turning->awaitAll();
  rows->store(tile,
              {b.add(column, turning->row), turning->column, turning->isThere},
              [&](int64_t first, int64_t width) {
                return turning->take(first, width);
              });
  turning->leave();
}

int64_t RowStore::keptColumns() const {
  // Of what is given away no more than an instruction loads at most beside what
  // a thread finishes, and whole parts of it.
  constexpr int64_t kLoaded = 32;
  if (!turning)
    return math.getWidth();
  int64_t rows = turning->rowsOfChunk();
  return rows <= kLoaded ? rows : std::gcd(kLoaded, rows);
}

int64_t RowStore::chunkColumns() const {
  if (turning)
    return turning->rowsOfChunk();
  if (frame.keepsTiles())
    return frame.sumsOfElement() *
           frame.op.getQuantization()->getD().getKTile();
  constexpr int64_t kColumns = 32;
  int64_t width = math.getWidth();
  // Parts of K are added up as they are kept.
  if (frame.geometry.hasHalves && !frame.isStreamed())
    return kColumnsOfHalfChunk;
  bool isShared = sharers() > 1 && frame.quantizes();
  return isShared && kColumns % width == 0 ? kColumns : width;
}

Value RowStore::columnOf(RingPosition copy, Value index) {
  Value ordered = index;
  if (frame.geometry.overlap) {
    // The columns that both accumulators share come first: the last ones of
    // accumulator 0, the first ones of accumulator 1.
    Value reversed = b.sub(b.constant(chunks() - 1), index);
    ordered = b.select(b.isEqual(copy.slot, 0), reversed, index);
  }
  return b.mul(ordered, chunkColumns());
}

Value RowStore::columnInTile(Value number, RingPosition copy, Value index) {
  Value column = columnOf(copy, index);
  if (!frame.geometry.hasHalves)
    return column;
  return b.add(column, b.mul(number, frame.geometry.accumulatorColumns()));
}

void RowStore::beginAhead(TilePosition tile, ColumnOf columnOf) {
  if (ahead)
    ahead->begin({tile, row, columnOf(firstChunk), b.always()});
}

void RowStore::takeAhead(TilePosition tile, Value index, int64_t count,
                         ColumnOf columnOf) {
  if (!ahead)
    return;
  math.provideC(ahead->loaded());
  Value next = b.add(index, b.constant(sharers()));
  Value isThere = count > sharers() ? b.compare(arith::CmpIPredicate::slt, next,
                                                b.constant(count))
                                    : Value();
  ahead->expect({tile, row, columnOf(next), isThere});
}

void RowStore::storeChunk(TilePosition tile, Value number, RingPosition copy,
                          Value index, bool isPartOfK) {
  int64_t overlap = frame.geometry.overlap;
  int64_t lastRound = rounds() - 1;
  if (overlap)
    lastRound = llvm::divideCeil(overlap, chunkColumns() * sharers()) - 1;
  Value inAccumulator = columnOf(copy, index);
  Value column = columnInTile(number, copy, index);
  auto released = [&] {
    releaseAfter(lastRound, index, copy);
    leaveAfterLast(tile, number, index);
  };
  if (isPartOfK)
    return keepChunk(tile, number, copy, inAccumulator, column, released);
  if (turning)
    return turnChunk(
        tile, column,
        [&](int64_t first) {
          return loadSums(copy, b.add(inAccumulator, b.constant(first)),
                          keptColumns());
        },
        released);
  if (frame.keepsTiles())
    return storeKeptTile(
        tile, column,
        [&](Value distance) {
          return loadSums(copy, b.add(inAccumulator, distance),
                          math.getWidth());
        },
        released);
  takeAhead(tile, index, chunks(),
            [&](Value chunk) { return columnInTile(number, copy, chunk); });
  Value sum = loadSums(copy, inAccumulator, chunkColumns());
  released();
  if (addends)
    math.provideC(addends->take(roundOf(index), [&](Value round) {
      return columnOf(copy, chunkOf(round));
    }));
  finishPieces(tile, index, column, sum);
}

void RowStore::keepChunk(TilePosition tile, Value number, RingPosition copy,
                         Value inAccumulator, Value column,
                         function_ref<void()> released) {
  // Both halves are beside each other.
  int64_t instruction = frame.geometry.hasHalves ? 0 : *b.known(number);
  int64_t width = keptColumns();
  for (int64_t first = 0; first < chunkColumns(); first += width) {
    Value distance = b.constant(first);
    Value sum = loadSums(copy, b.add(inAccumulator, distance), width);
    if (first + width == chunkColumns())
      released();
    partials.store(tile, {instruction, thread, b.add(column, distance)}, sum);
  }
}

VectorType RowStore::sumsType(int64_t columns) {
  Type element =
      cast<TensorMemoryType>(memory.accumulator.getType()).getElementType();
  return VectorType::get({columns}, element);
}

Value RowStore::loadSums(RingPosition copy, Value column, int64_t columns) {
  return LoadAccumulatorOp::create(b, sumsType(columns), memory.accumulator,
                                   memory.accumulatorOf(copy.slot), column);
}

void RowStore::forEachChunk(int64_t columns, function_ref<void(Value)> body) {
  int64_t count = columns / chunkColumns();
  if (!ahead || !ahead->loaded())
    return forEachChunk(firstChunk, count, body);
  auto loop = scf::ForOp::create(b, firstChunk, b.constant(count),
                                 b.constant(sharers()), ahead->loaded());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ahead->carry(loop.getRegionIterArg(0));
  body(loop.getInductionVar());
  scf::YieldOp::create(b, ahead->loaded());
  ahead->carry({});
}

void RowStore::forEachChunk(Value begin, int64_t count,
                            function_ref<void(Value)> body) {
  auto loop =
      scf::ForOp::create(b, begin, b.constant(count), b.constant(sharers()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void RowStore::awaitPart(TilePosition tile, RingPosition copy, bool isPartOfK) {
  if (!isPartOfK && !turning)
    math.prepareRow(tile, row);
  WaitOp::create(b, accumulators.full, copy.slot, copy.parity);
  TensorFenceOp::create(b, FenceSide::After);
}

RingPosition RowStore::storePart(TilePosition tile, Value number,
                                 RingPosition copy, bool isPartOfK) {
  if (!isPartOfK)
    beginAhead(tile,
               [&](Value chunk) { return columnInTile(number, copy, chunk); });
  awaitPart(tile, copy, isPartOfK);
  forEachChunk(frame.geometry.accumulatorColumns(), [&](Value index) {
    storeChunk(tile, number, copy, index, isPartOfK);
  });
  if (turning && !frame.geometry.hasHalves && !isPartOfK)
    storePadding(tile);
  return b.next(copy, accumulators.count());
}

void RowStore::storePadding(TilePosition tile) {
  int64_t step = turning->columnsOfThread();
  Value first = b.add(turning->row, b.mul(firstChunk, step));
  rows->storePadding(tile, {first, turning->column, turning->isThere},
                     step * sharers());
}

/// Halves are stored by the same code, which is half of a kernel's.
RingPosition RowStore::storeHalves(TilePosition tile, RingPosition copy,
                                   bool isPartOfK) {
  auto loop = scf::ForOp::create(
      b, b.constant(0), b.constant(frame.geometry.accumulatorsOfTile()),
      b.constant(1), ValueRange{copy.slot, copy.parity});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    RingPosition next = storePart(
        tile, loop.getInductionVar(),
        {loop.getRegionIterArg(0), loop.getRegionIterArg(1)}, isPartOfK);
    scf::YieldOp::create(b, ValueRange{next.slot, next.parity});
  }
  // Both halves have the same rows.
  if (turning && !isPartOfK)
    storePadding(tile);
  return {loop.getResult(0), loop.getResult(1)};
}

RingPosition RowStore::storeParts(TilePosition tile, RingPosition copy,
                                  bool isPartOfK) {
  if (frame.geometry.hasHalves)
    return storeHalves(tile, copy, isPartOfK);
  for (int64_t i = 0; i < frame.geometry.accumulatorsOfTile(); ++i)
    copy = storePart(frame.partOf(tile, i), b.constant(i), copy, isPartOfK);
  return copy;
}

RingPosition RowStore::addPart(TilePosition tile, int64_t number,
                               RingPosition copy, Value &parity) {
  addends->begin(tile, thread, parity,
                 [&](Value round) { return columnOf(copy, chunkOf(round)); });
  copy = storePart(tile, b.constant(number), copy, /*isPartOfK=*/false);
  parity = addends->parityBehind();
  return copy;
}

void RowStore::sendSums(RingPosition copy) {
  int64_t width = keptColumns();
  forEachChunk(exchange->firstSent(width), frame.geometry.tileN / width,
               [&](Value index) {
                 Value column = b.mul(exchange->orderOf(index, width), width);
                 exchange->send(column, thread, loadSums(copy, column, width));
               });
}

void RowStore::storeSlice(TilePosition tile, RingPosition copy, Value first) {
  int64_t owned = frame.geometry.ownedColumns();
  auto columnOfChunk = [&](Value index) {
    return b.add(first, b.mul(index, chunkColumns()));
  };
  forEachChunk(owned, [&](Value index) {
    Value column = columnOfChunk(index);
    takeAhead(tile, index, owned / chunkColumns(), columnOfChunk);
    storeSums(tile, index, column, [&](Value at) {
      Value own = loadSums(copy, at, keptColumns());
      return exchange->sum(b.sub(at, first), thread, own);
    });
  });
  // All parts have the same rows.
  if (turning)
    b.onlyIf(b.isEqual(frame.place.rankK, 0), [&] { storePadding(tile); });
}

RingPosition RowStore::exchangePart(TilePosition tile, int64_t number,
                                    RingPosition copy, Value parity) {
  exchange->begin(parity, thread);
  if (ahead)
    ahead->begin(
        {tile, row,
         b.add(exchange->firstOwned(), b.mul(firstChunk, chunkColumns())),
         exchange->isOwner()});
  awaitPart(tile, copy, /*isPartOfK=*/false);
  sendSums(copy);
  bool isLastOfTile = number + 1 == frame.geometry.rowInstructions;
  Value more =
      isLastOfTile && frame.meetsLate() ? source.hasNext(tile) : Value();
  exchange->receive(parity, more,
                    [&](Value first) { storeSlice(tile, copy, first); });
  release(copy);
  return b.next(copy, accumulators.count());
}

void RowStore::storeSums(TilePosition tile, Value index, Value column,
                         function_ref<Value(Value)> load) {
  auto loadFrom = [&](Value distance) { return load(b.add(column, distance)); };
  if (turning)
    turnChunk(
        tile, column,
        [&](int64_t first) { return loadFrom(b.constant(first)); }, [] {});
  else if (frame.keepsTiles())
    storeKeptTile(tile, column, loadFrom, [] {});
  else
    finishChunk(tile, index, column, load(column));
}

void RowStore::reducePart(TilePosition tile, int64_t number, Value &parity) {
  auto columnOfChunk = [&](Value index) {
    return b.mul(index, chunkColumns());
  };
  if (addends)
    addends->begin(tile, thread, parity, columnOfChunk);
  if (!turning)
    math.prepareRow(tile, row);
  beginAhead(tile, columnOfChunk);
  forEachChunk(frame.geometry.tileN, [&](Value index) {
    takeAhead(tile, index, frame.geometry.tileN / chunkColumns(),
              columnOfChunk);
    storeSums(tile, index, columnOfChunk(index), [&](Value at) {
      Value sum = partials.sum(tile, {number, thread, at});
      if (addends)
        math.provideC(addends->take(index, columnOfChunk));
      return sum;
    });
  });
  if (addends)
    parity = addends->parityBehind();
  if (turning)
    storePadding(tile);
}

void RowStore::addUp(TilePosition tile, Value &parity) {
  Value isLast = partials.arrive(tile, thread);
  auto reduce = [&] {
    for (int64_t i = 0; i < frame.geometry.rowInstructions; ++i)
      reducePart(frame.partOf(tile, i), i, parity);
  };
  if (!addends)
    return b.onlyIf(isLast, reduce);
  // The ring of C goes on only where C was loaded.
  auto choice = scf::IfOp::create(b, TypeRange(parity.getType()), isLast,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, parity);
  b.setInsertionPointToStart(choice.thenBlock());
  reduce();
  scf::YieldOp::create(b, parity);
  parity = choice.getResult(0);
}

RingPosition RowStore::storeWhole(TilePosition tile, RingPosition copy,
                                  Value &parity) {
  if (!addends)
    return storeParts(tile, copy, /*isPartOfK=*/false);
  for (int64_t i = 0; i < frame.geometry.accumulatorsOfTile(); ++i)
    copy = addPart(frame.partOf(tile, i), i, copy, parity);
  return copy;
}

RingPosition RowStore::storeShare(TilePosition tile, RingPosition copy,
                                  Value &parity) {
  SmallVector<Type> carried(addends ? 1 : 0, b.getI32Type());
  auto choice = scf::IfOp::create(b, carried, Shares(frame).isWhole(tile),
                                  /*withElseRegion=*/true);
  auto inBranch = [&](Block *branch, auto store) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch);
    Value next = parity;
    store(next);
    if (addends)
      scf::YieldOp::create(b, next);
  };
  inBranch(choice.thenBlock(),
           [&](Value &next) { storeWhole(tile, copy, next); });
  inBranch(choice.elseBlock(), [&](Value &next) {
    storeParts(tile, copy, /*isPartOfK=*/true);
    addUp(tile, next);
  });
  if (addends)
    parity = choice.getResult(0);
  for (int64_t i = 0; i < frame.geometry.accumulatorsOfTile(); ++i)
    copy = b.next(copy, accumulators.count());
  return copy;
}

SmallVector<Value> RowStore::storeTile(TilePosition tile, ValueRange carried) {
  RingPosition copy{carried[0], carried[1]};
  Value parity = exchange || addends ? carried[2] : Value();
  if (exchange) {
    for (int64_t i = 0; i < frame.geometry.accumulatorsOfTile(); ++i) {
      copy = exchangePart(frame.partOf(tile, i), i, copy, parity);
      parity = b.flip(parity);
    }
    return {copy.slot, copy.parity, parity};
  }
  if (frame.isStreamed()) {
    copy = storeShare(tile, copy, parity);
  } else if (frame.isSplitOverGrid()) {
    copy = storeParts(tile, copy, /*isPartOfK=*/true);
    addUp(tile, parity);
  } else {
    copy = storeWhole(tile, copy, parity);
  }
  if (addends)
    return {copy.slot, copy.parity, parity};
  return {copy.slot, copy.parity};
}

void RowStore::emitRole() {
  if (frame.schedule.getStores() == Stores::Tma)
    boxes.emplace(frame, rounds());
  if (AddendAhead::isPossible(frame))
    ahead.emplace(frame, chunkColumns());
  if (turning)
    rows.emplace(frame, turning->columnsOfThread(), mates);
  else if (QuantizedStore::makesPartsAgain(frame))
    quantized.emplace(frame, columnsOfPart() / frame.sumsOfElement());
  else if (frame.quantizes())
    quantized.emplace(frame);
  b.warps("epilogue", frame.warps.epilogue, [&] {
    frame.takeRegisters();
    findRow();
    if (mates)
      mates->locate();
    if (frame.leavesEarly())
      b.onlyIf(arith::XOrIOp::create(b, source.hasFirst(), b.always()),
               [&] { frame.leave(); });
    if (turning) {
      turning->locate(thread);
      rows->prepareKernel();
    } else {
      math.prepareKernel();
    }
    if (quantized)
      quantized->prepareKernel();
    Value zero = b.constant(0);
    // The position in the ring of accumulators, and the parity of an exchange
    // or of the ring of C.
    SmallVector<Value> initial(exchange || addends ? 3 : 2, zero);
    source.forEach(initial, [&](TilePosition tile, ValueRange carried) {
      if (turning)
        rows->prepareTile(tile);
      else
        math.prepareTile(tile);
      if (quantized)
        quantized->prepareTile(tile);
      return storeTile(tile, carried);
    });
    if (boxes)
      boxes->drain();
  });
}
