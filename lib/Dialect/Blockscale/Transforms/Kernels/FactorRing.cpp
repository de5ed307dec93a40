//===- FactorRing.cpp - factors of promoted sums in shared memory ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A lane loads the scales of every 32nd row, those of a window of blocks in one
// piece, a sector if they are f32. It keeps them in registers while it writes
// those of one block after the other to shared memory, and those of the next
// window are under way. Of columns, which have few scales, each lane has one of
// one block. Where all columns share theirs, it is multiplied by those of the
// rows.

#include "FactorRing.h"
#include "LoadedNumbers.h"
#include "blockscale/HW/Throughput.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>
#include <tuple>

using namespace mlir;
using namespace blockscale;

/// Numbers that are loaded from shared memory at once, at most.
static constexpr int64_t kLoaded = 4;

/// Columns of a tile that share a scale wherever it begins.
static int64_t sharingColumns(int64_t tileN, int64_t columnsOfScale) {
  bool isOfAll = !columnsOfScale || columnsOfScale == kMaxProductSize;
  return isOfAll ? tileN : std::gcd(tileN, columnsOfScale);
}

/// Numbers of an accumulator, which begin where so many can be loaded at once.
static int64_t numbersOf(int64_t columnScales) {
  return hw::kTmemLanes +
         (columnScales > 1 ? llvm::alignTo(columnScales, kLoaded) : 0);
}

int64_t blockscale::factorRingBytes(int64_t accumulators, int64_t tileN,
                                    int64_t columnsOfScale) {
  int64_t columnScales = tileN / sharingColumns(tileN, columnsOfScale);
  return accumulators * numbersOf(columnScales) * int64_t(sizeof(float));
}

/// Columns that share a scale as the product has them; 0 if all do, or none has
/// one.
static int64_t columnsOfScaleOf(KernelFrame &frame, EpilogueMath &math) {
  if (!math.hasTileScalesAlong())
    return 0;
  return int64_t(frame.isSwapped() ? frame.op.getRowGroup()
                                   : frame.op.getColumnGroup());
}

/// Blocks of a window: a sector of f32, or half of one where columns have many
/// scales, or a quarter where the warp has passed on registers, which more
/// would spill; no more than there are.
static int64_t windowOf(KernelFrame &frame, int64_t columnScales) {
  int64_t most = int64_t(hw::kSectorBytes) / int64_t(sizeof(float));
  if (columnScales > hw::kWarpSize)
    most /= 2;
  if (frame.warps.registers)
    most /= 4;
  std::optional<int64_t> k = KernelBuilder::known(frame.op.getK());
  if (!k)
    return most;
  auto blocks = uint64_t(llvm::divideCeil(*k, frame.promotionBlock()));
  return std::min<int64_t>(most, llvm::PowerOf2Ceil(blocks));
}

FactorRing::FactorRing(KernelFrame &frame, AccumulatorRing &accumulators)
    : frame(frame), b(frame.b), accumulators(accumulators),
      math(frame, frame.sumsOfElement()),
      columnsOfScale(
          sharingColumns(frame.geometry.tileN, columnsOfScaleOf(frame, math))),
      columnScales(frame.geometry.tileN / columnsOfScale),
      window(windowOf(frame, columnScales)),
      ring(b.shared(SharedType::get(
          b.getContext(), {1, accumulators.count() * numbersOf(columnScales)},
          b.getF32Type(), /*container=*/32, hw::Swizzle::None))),
      empty(b.barriers(accumulators.count(), frame.warps.epilogue.count())) {}

Value FactorRing::at(Value slot, Value place) {
  return b.add(b.mul(slot, numbersOf(columnScales)), place);
}

//===----------------------------------------------------------------------===//
// The epilogue
//===----------------------------------------------------------------------===//

Value FactorRing::loadOfRow(Value slot, Value row) {
  if (!math.hasTileScalesOfRow() && columnScales > 1)
    return {};
  auto one = VectorType::get({1}, b.getF32Type());
  return vector::ExtractOp::create(
      b, LoadSharedOp::create(b, one, ring, at(slot, row)), 0);
}

Value FactorRing::factors(Value slot, Value ofRow, Value column,
                          VectorType type) {
  auto splat = [&](Value number) -> Value {
    return vector::BroadcastOp::create(b, type, number);
  };
  if (columnScales == 1)
    return splat(ofRow);
  int64_t width = type.getDimSize(0),
          scales = std::max<int64_t>(1, width / columnsOfScale);
  assert(std::max(width, columnsOfScale) % std::min(width, columnsOfScale) ==
             0 &&
         "columns that are loaded at once share scales alike");
  Value first = at(
      slot, b.add(b.constant(hw::kTmemLanes), b.div(column, columnsOfScale)));
  int64_t piece = std::gcd(scales, kLoaded);
  auto loadedType = VectorType::get({piece}, b.getF32Type());
  SmallVector<Value> along;
  for (int64_t i = 0; i < scales; i += piece) {
    Value loaded =
        LoadSharedOp::create(b, loadedType, ring, b.add(first, b.constant(i)));
    for (int64_t k = 0; k < piece; ++k)
      along.push_back(vector::ExtractOp::create(b, loaded, k));
  }
  if (scales == 1)
    return splat(ofRow ? arith::MulFOp::create(b, ofRow, along.front())
                       : along.front());
  SmallVector<Value> ofColumns;
  for (Value scale : along)
    ofColumns.append(columnsOfScale, scale);
  Value all = vector::FromElementsOp::create(b, type, ofColumns);
  return ofRow ? arith::MulFOp::create(b, splat(ofRow), all) : all;
}

void FactorRing::release(Value slot) { ArriveOp::create(b, empty, slot); }

//===----------------------------------------------------------------------===//
// The warp that loads
//===----------------------------------------------------------------------===//

int64_t FactorRing::columnScalesAtOnce() const {
  return hw::kWarpSize / window;
}

Value FactorRing::columnScaleOf(int64_t part) {
  return b.add(b.div(lane, window), b.constant(part * columnScalesAtOnce()));
}

Value FactorRing::hasColumnScale(int64_t part) {
  return b.compare(arith::CmpIPredicate::ult, columnScaleOf(part),
                   b.constant(columnScales));
}

FactorRing::Places FactorRing::placesOf(TilePosition tile) {
  Places places;
  if (math.hasTileScalesOfRow())
    for (int64_t first = 0; first < hw::kTmemLanes; first += hw::kWarpSize)
      places.rows.push_back(
          math.tileScalesOfRow(tile, b.add(lane, b.constant(first))));
  int64_t parts = llvm::divideCeil(columnScales, columnScalesAtOnce());
  if (math.hasTileScalesAlong())
    for (int64_t part = 0; part < parts; ++part)
      places.columns.push_back(math.tileScalesAlong(
          tile, b.mul(columnScaleOf(part), columnsOfScale)));
  return places;
}

int64_t FactorRing::scalesOfWindow(int64_t blocks) const {
  if (window % blocks == 0 || blocks % window == 0)
    return std::max<int64_t>(1, window / blocks);
  // It may begin with the last block of a scale.
  auto scales = uint64_t(1 + llvm::divideCeil(window - 1, blocks));
  return int64_t(llvm::PowerOf2Ceil(scales));
}

FactorRing::Places FactorRing::placesIf(Value isThere, Places places) {
  for (TileScales &scales :
       llvm::concat<TileScales>(places.rows, places.columns))
    scales.count = b.select(isThere, scales.count, b.constant(0));
  return places;
}

FactorRing::Window FactorRing::load(const Places &places, Value first) {
  Window codes;
  for (const TileScales &scales : places.rows)
    codes.push_back(math.loadTileCodes(scales, b.div(first, scales.blocks),
                                       scalesOfWindow(scales.blocks),
                                       b.always()));
  Value block = b.add(first, b.rem(lane, window));
  for (auto [part, scales] : llvm::enumerate(places.columns))
    codes.push_back(math.loadTileCodes(scales, b.div(block, scales.blocks),
                                       /*size=*/1,
                                       hasColumnScale(int64_t(part))));
  return codes;
}

static SmallVector<Value> valuesOf(ArrayRef<SmallVector<Value>> window) {
  SmallVector<Value> values;
  for (ArrayRef<Value> own : window)
    llvm::append_range(values, own);
  return values;
}

/// Of what is carried as single values.
static void setWindow(MutableArrayRef<SmallVector<Value>> window,
                      ValueRange values) {
  for (SmallVector<Value> &own : window) {
    llvm::copy(values.take_front(own.size()), own.begin());
    values = values.drop_front(own.size());
  }
}

void FactorRing::store(Value number, Value slot, Value place) {
  auto one = VectorType::get({1}, b.getF32Type());
  StoreSharedOp::create(b, vector::FromElementsOp::create(b, one, number), ring,
                        at(slot, place));
}

Value FactorRing::scaleOf(const TileScales &scales, ValueRange own, Value first,
                          int64_t number) {
  if (window % scales.blocks == 0)
    return own[number / scales.blocks];
  Value place = b.div(b.add(b.rem(first, scales.blocks), b.constant(number)),
                      scales.blocks);
  Value found = own.front();
  for (size_t i = 1; i < own.size(); ++i)
    found = b.select(b.isEqual(place, int64_t(i)), own[i], found);
  return found;
}

void FactorRing::fill(const Places &places, const Window &scales, Value first,
                      int64_t number, Value slot) {
  ArrayRef<SmallVector<Value>> columns =
      ArrayRef(scales).drop_front(places.rows.size());
  Value ofAll;
  if (columnScales == 1 && !columns.empty())
    ofAll =
        gpu::ShuffleOp::create(b, columns.front().front(), b.constant(number),
                               b.constant(hw::kWarpSize), gpu::ShuffleMode::IDX)
            .getShuffleResult();
  constexpr size_t kRows = hw::kTmemLanes / hw::kWarpSize;
  for (size_t i = 0; i < kRows && (ofAll || !places.rows.empty()); ++i) {
    Value scale = ofAll;
    if (!places.rows.empty()) {
      Value ofRow = scaleOf(places.rows[i], scales[i], first, number);
      scale = ofAll ? arith::MulFOp::create(b, ofRow, ofAll) : ofRow;
    }
    store(scale, slot, b.add(lane, b.constant(int64_t(i) * hw::kWarpSize)));
  }
  if (columnScales == 1)
    return;
  Value isOwn = b.isEqual(b.rem(lane, window), number);
  for (auto [i, own] : llvm::enumerate(columns)) {
    auto part = int64_t(i);
    Value isThere = b.createOrFold<arith::AndIOp>(isOwn, hasColumnScale(part));
    b.onlyIf(isThere, [&, scale = own.front()] {
      store(scale, slot,
            b.add(b.constant(hw::kTmemLanes), columnScaleOf(part)));
    });
  }
}

RingPosition FactorRing::fillBlock(const Places &places, const Window &scales,
                                   Value first, int64_t number,
                                   RingPosition ring) {
  WaitOp::create(b, empty, ring.slot, b.flip(ring.parity));
  fill(places, scales, first, number, ring.slot);
  SyncWarpOp::create(b);
  b.onlyIf(ElectOp::create(b),
           [&] { ArriveOp::create(b, accumulators.full, ring.slot); });
  return b.next(ring, accumulators.count());
}

RingPosition FactorRing::fillOthers(const Places &places, const Window &scales,
                                    Value first, Value blocks,
                                    RingPosition ring) {
  bool isWhole = b.known(b.rem(blocks, window)) == 0;
  for (int64_t number = 1; number < window; ++number) {
    if (isWhole) {
      ring = fillBlock(places, scales, first, number, ring);
      continue;
    }
    Value isThere = b.compare(arith::CmpIPredicate::slt,
                              b.add(first, b.constant(number)), blocks);
    auto choice =
        scf::IfOp::create(b, TypeRange{b.getI32Type(), b.getI32Type()}, isThere,
                          /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    RingPosition next = fillBlock(places, scales, first, number, ring);
    scf::YieldOp::create(b, ValueRange{next.slot, next.parity});
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, ValueRange{ring.slot, ring.parity});
    ring = {choice.getResult(0), choice.getResult(1)};
  }
  return ring;
}

SmallVector<Value *> FactorRing::startsOf(Places &places) {
  SmallVector<Value *> starts;
  for (TileScales &scales :
       llvm::concat<TileScales>(places.rows, places.columns))
    starts.append({&scales.first, &scales.count});
  return starts;
}

std::pair<FactorRing::Places, Value>
FactorRing::placesBehind(TileSource &source, TilePosition tile, Places places,
                         Value first, Value blocks) {
  auto valuesOf = [](Places places, Value first) {
    SmallVector<Value> values{first};
    for (Value *start : startsOf(places))
      values.push_back(*start);
    return values;
  };
  Value isInside = b.compare(arith::CmpIPredicate::slt, first, blocks);
  auto choice = scf::IfOp::create(
      b, TypeRange(ValueRange(valuesOf(places, first))), isInside,
      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, valuesOf(places, first));
  b.setInsertionPointToStart(choice.elseBlock());
  // Else what leads to the place would be found between tiles.
  TilePosition known = tile;
  known.number = knownFromHere(b, tile.number).front();
  Value hasNext = source.hasNext(known);
  Places next = placesIf(hasNext, placesOf(source.next(known)));
  scf::YieldOp::create(b, valuesOf(next, b.constant(0)));
  for (auto [start, value] :
       llvm::zip_equal(startsOf(places), choice.getResults().drop_front()))
    *start = value;
  return {places, choice.getResult(0)};
}

/// Loads behind the choice of where from, not within it: where the ways meet,
/// what they have loaded would be waited for.
FactorRing::Window FactorRing::loadBehind(TileSource &source, TilePosition tile,
                                          Places places, Value first,
                                          Value blocks) {
  if (source.knowsNext())
    std::tie(places, first) = placesBehind(source, tile, places, first, blocks);
  return load(places, first);
}

SmallVector<Value> FactorRing::fillTile(TileSource &source, TilePosition tile,
                                        RingPosition ring, Window codes) {
  Value blocks =
      frame.partsOfK(frame.partOfK(tile).size, frame.promotionBlock());
  Places places = placesOf(tile);
  auto carriedWith = [&](RingPosition at) {
    SmallVector<Value> carried{at.slot, at.parity};
    llvm::append_range(carried, valuesOf(codes));
    return carried;
  };
  auto loop = scf::ForOp::create(b, b.constant(0), blocks, b.constant(window),
                                 carriedWith(ring));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  ValueRange values = loop.getRegionIterArgs();
  setWindow(codes, values.drop_front(2));
  Window scales;
  for (auto [own, place] : llvm::zip_equal(
           codes, llvm::concat<TileScales>(places.rows, places.columns)))
    scales.push_back(math.tileScalesOfCodes(place, own));
  RingPosition next =
      fillBlock(places, scales, first, /*number=*/0, {values[0], values[1]});
  // Behind the first block there are registers for these.
  codes = loadBehind(source, tile, places, b.add(first, b.constant(window)),
                     blocks);
  next = fillOthers(places, scales, first, blocks, next);
  scf::YieldOp::create(b, carriedWith(next));
  return llvm::to_vector(ValueRange(loop.getResults()));
}

void FactorRing::emitRole(TileSource &source) {
  b.warps("factors", frame.warps.factorLoader, [&] {
    Value thread = b.toI32(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
    lane = b.rem(thread, hw::kWarpSize);
    Value zero = b.constant(0);
    SmallVector<Value> initial{zero, zero};
    Window codes;
    if (source.knowsNext()) {
      codes = load(placesIf(source.hasFirst(), placesOf(source.first())), zero);
      llvm::append_range(initial, valuesOf(codes));
    }
    source.forEach(initial, [&](TilePosition tile, ValueRange carried) {
      if (source.knowsNext())
        setWindow(codes, carried.drop_front(2));
      else
        codes = load(placesOf(tile), zero);
      SmallVector<Value> next =
          fillTile(source, tile, {carried[0], carried[1]}, codes);
      next.truncate(initial.size());
      return next;
    });
  });
}
