//===- PromotedStore.cpp - the epilogue that adds up blocks of K ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PromotedStore.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/HW/Throughput.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

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
                             AccumulatorRing &accumulators, TileSource &source,
                             std::optional<LargestOfGroups> &largest,
                             std::optional<RowExchange> &turning,
                             std::optional<TileMates> &mates)
    : frame(frame), b(frame.b), memory(memory), accumulators(accumulators),
      source(source), largest(largest), turning(turning), mates(mates),
      math(frame, widthOf(frame)), finishing(frame, finishedAtOnce(frame)),
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
// Scales
//===----------------------------------------------------------------------===//

/// Sets the windows to values that are carried, in their order.
static void setWindows(MutableArrayRef<ScaleStream::Window> windows,
                       ValueRange values) {
  for (ScaleStream::Window &window : windows)
    values = window.takeFrom(values);
}

PromotedStore::Scales PromotedStore::scalesOf(TilePosition tile) {
  Scales scales;
  scales.row = math.tileScalesOfRow(tile, row);
  for (int64_t chunk = 0; chunk < chunks(); ++chunk)
    scales.along.push_back(math.tileScalesAlong(tile, columnOf(chunk)));
  return scales;
}

PromotedStore::Scales PromotedStore::scalesOf(EpilogueFragment place,
                                              Extent columnsAround) {
  Scales scales;
  scales.row = math.tileScalesOfRow(place);
  // Lanes whose row lies outside have some for the others.
  place.count = b.sub(columnsAround.end, place.column);
  bool isShared = int64_t(frame.op.getColumnGroup()) % columns == 0;
  for (int64_t chunk = 0; chunk < (isShared ? 1 : chunks()); ++chunk)
    scales.along.push_back(math.tileScalesAlong(
        EpilogueMath::behind(b, place, chunk * math.getWidth())));
  return scales;
}

bool PromotedStore::isAhead(const Scales &scales, int64_t chunk) const {
  const TileScales &along = scales.along[chunk];
  return along.memory && along.rows == 1;
}

/// Scales that a thread of a row loads at once: a sector, if they are f32 and
/// it has the registers.
int64_t PromotedStore::scalesAtOnce() const {
  constexpr int64_t kFloatBytes = 4;
  return isCrowded() ? 1 : int64_t(hw::kSectorBytes) / kFloatBytes;
}

std::vector<ScaleStream> PromotedStore::streamsOf(const Scales &scales) {
  std::vector<ScaleStream> streams;
  if (scales.row.memory)
    streams.emplace_back(b, math, scales.row, scalesAtOnce());
  Value lane = b.rem(thread, hw::kWarpSize);
  for (int64_t chunk = 0; chunk < int64_t(scales.along.size()); ++chunk)
    if (isAhead(scales, chunk))
      streams.emplace_back(b, math, scales.along[chunk], lane);
  return streams;
}

SmallVector<Value> PromotedStore::firstCodes(TilePosition tile, Value isThere) {
  SmallVector<Value> codes;
  Scales scales = scalesOf(tile);
  for (ScaleStream &stream : streamsOf(scales))
    llvm::append_range(codes, stream.loadFirst(isThere));
  return codes;
}

int64_t PromotedStore::blocksAtOnce(ArrayRef<ScaleStream> streams) {
  // Without streams there is nothing to do between blocks.
  int64_t result = streams.empty() ? kMaxProductSize : 0;
  for (const ScaleStream &stream : streams)
    result = std::gcd(result, stream.blocksOfWindow());
  return result;
}

void PromotedStore::beginWindows(MutableArrayRef<ScaleStream> streams,
                                 MutableArrayRef<ScaleStream::Window> windows,
                                 TilePosition tile, const Scales &scales,
                                 Value block, int64_t step) {
  size_t i = 0;
  auto begin = [&](llvm::function_ref<TileScales(TilePosition)> placeOf) {
    auto next = [&]() -> std::pair<TileScales, Value> {
      TilePosition known = tile;
      // Else what leads to the place would be found between tiles.
      known.number = knownFromHere(b, tile.number).front();
      return {placeOf(source.next(known)), source.hasNext(known)};
    };
    streams[i].begin(windows[i], block, step,
                     loadsNext() ? ScaleStream::Next(next)
                                 : ScaleStream::Next());
    ++i;
  };
  if (scales.row.memory)
    begin([&](TilePosition at) { return math.tileScalesOfRow(at, row); });
  for (int64_t chunk = 0; chunk < int64_t(scales.along.size()); ++chunk)
    if (isAhead(scales, chunk))
      begin([&](TilePosition at) {
        return math.tileScalesAlong(at, columnOf(chunk));
      });
}

Value PromotedStore::factorOf(const Scales &scales, int64_t chunk, Value block,
                              ValueRange taken) {
  auto splat = [&](Value number) -> Value {
    return vector::BroadcastOp::create(b, math.getVectorType(), number);
  };
  Value ofRow = scales.row.memory ? taken.front() : Value();
  chunk = std::min(chunk, int64_t(scales.along.size()) - 1);
  if (!scales.along[chunk].memory)
    return splat(ofRow);
  if (isAhead(scales, chunk)) {
    Value along = taken[(ofRow ? 1 : 0) + chunk];
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

void PromotedStore::addBlock(const Scales &scales, Value block,
                             RingPosition copy, ValueRange taken,
                             MutableArrayRef<Value> sums) {
  WaitOp::create(b, accumulators.full, copy.slot, copy.parity);
  TensorFenceOp::create(b, FenceSide::After);
  for (int64_t chunk = 0; chunk < chunks(); ++chunk) {
    Value factor = factorOf(scales, chunk, block, taken);
    Value loaded =
        LoadAccumulatorOp::create(b, math.getVectorType(), memory.accumulator,
                                  copy.slot, columnOf(chunk));
    if (chunk + 1 == chunks())
      release(copy);
    add(loaded, factor, sums.slice(chunk * valuesOfChunk(), valuesOfChunk()));
  }
}

void PromotedStore::addBlocks(MutableArrayRef<ScaleStream> streams,
                              MutableArrayRef<ScaleStream::Window> windows,
                              const Scales &scales, Value first, Value end,
                              SmallVectorImpl<Value> &carried) {
  size_t own = carried.size();
  for (const ScaleStream::Window &window : windows)
    llvm::append_range(carried, window.scales);
  auto loop = scf::ForOp::create(b, first, end, b.constant(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  carried.assign(loop.getRegionIterArgs().begin(),
                 loop.getRegionIterArgs().end());
  Value block = loop.getInductionVar();
  SmallVector<Value> taken;
  auto left = MutableArrayRef(carried).drop_front(own);
  for (auto [stream, window] : llvm::zip_equal(streams, windows)) {
    taken.push_back(stream.take(left.take_front(window.scales.size()), block));
    left = left.drop_front(window.scales.size());
  }
  RingPosition current{carried[0], carried[1]};
  addBlock(scales, block, current, taken,
           MutableArrayRef(carried).slice(2, own - 2));
  RingPosition next = b.next(current, accumulators.count());
  carried[0] = next.slot;
  carried[1] = next.parity;
  scf::YieldOp::create(b, carried);
  // The scales of a window are used up, or the tile is at its end.
  ValueRange results = loop.getResults();
  carried.assign(results.begin(), results.begin() + own);
  results = results.drop_front(own);
  for (ScaleStream::Window &window : windows) {
    llvm::copy(results.take_front(window.scales.size()), window.scales.begin());
    results = results.drop_front(window.scales.size());
  }
}

/// A thread's elements of D, in blocks.
void PromotedStore::quantize(const Fragments &fragments, ValueRange sums,
                             Value parity) {
  bool keepsParts = quantized->keepsParts();
  SmallVector<Value> elements;
  for (int64_t first = 0; first < columns; first += finishing.getWidth()) {
    Value value = finishing.finish(sumsOf(sums, first), fragments(first));
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

std::pair<RingPosition, SmallVector<Value>>
PromotedStore::storeTile(TilePosition tile, RingPosition copy, Value parity,
                         ValueRange codes) {
  Value blocks = b.ceilDiv(frame.op.getK(), frame.promotionBlock());
  int64_t values = chunks() * valuesOfChunk();
  Extent around = frame.columnsAround(tile);
  std::optional<EpilogueFragment> place;
  if (isCrowded())
    place = math.known(math.fragmentAt(tile, row, firstColumn), around);
  Scales scales = place ? scalesOf(*place, around) : scalesOf(tile);
  SmallVector<Value> initial{copy.slot, copy.parity};
  llvm::append_range(initial, zeroSums());
  std::vector<ScaleStream> streams = streamsOf(scales);
  SmallVector<ScaleStream::Window> windows;
  for (ScaleStream &stream : streams) {
    SmallVector<Value> own =
        loadsNext()
            ? SmallVector<Value>(codes.take_front(stream.codesOfWindow()))
            : stream.loadFirst(b.always());
    codes = codes.drop_front(loadsNext() ? own.size() : 0);
    windows.push_back(stream.before(own));
    windows.back().appendTo(initial);
  }
  int64_t step = blocksAtOnce(streams);
  auto loop =
      scf::ForOp::create(b, b.constant(0), blocks, b.constant(step), initial);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value first = loop.getInductionVar();
    SmallVector<Value> carried(loop.getRegionIterArgs());
    setWindows(windows, ArrayRef(carried).drop_front(2 + values));
    beginWindows(streams, windows, tile, scales, first, step);
    carried.truncate(2 + values);
    Value end =
        b.createOrFold<arith::MinSIOp>(b.add(first, b.constant(step)), blocks);
    addBlocks(streams, windows, scales, first, end, carried);
    for (const ScaleStream::Window &window : windows)
      window.appendTo(carried);
    scf::YieldOp::create(b, carried);
  }
  leaveAfterLast(tile);
  setWindows(windows, loop.getResults().drop_front(2 + values));
  SmallVector<Value> nextCodes;
  if (loadsNext())
    for (const ScaleStream::Window &window : windows)
      llvm::append_range(nextCodes, window.codes);
  if (place && !turning)
    place = math.known(*place, around);
  finishTile(tile, loop.getResults().slice(2, values), parity, place);
  return {{loop.getResult(0), loop.getResult(1)}, nextCodes};
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
    // And the codes of the tile's first scales.
    size_t own = initial.size();
    if (loadsNext())
      llvm::append_range(initial,
                         firstCodes(source.first(), source.hasFirst()));
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
      auto [copy, codes] = storeTile(tile, {carried[0], carried[1]}, parity,
                                     carried.drop_front(own));
      SmallVector<Value> next{copy.slot, copy.parity};
      if (largest)
        next.push_back(b.flip(parity));
      llvm::append_range(next, codes);
      return next;
    });
    if (boxes)
      boxes->drain();
  });
}
