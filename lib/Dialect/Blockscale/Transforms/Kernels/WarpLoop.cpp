//===- WarpLoop.cpp - the role that multiplies in registers ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpLoop.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

/// Extents of one instruction, and of what one register of scales serves.
static constexpr int64_t kRows = 16, kColumns = 8, kScaleRows = 32;
/// A lane has elements of two rows of a fragment, so many apart.
static constexpr int64_t kHalfRows = 8;
/// And two neighbouring ones of a row.
static constexpr int64_t kPair = 2;
/// Fragments whose columns the lanes of a warp share out.
static constexpr int64_t kFragments = kLanesOfColumn / kPair;

int64_t WarpLoop::rowTiles() const { return tile.rows / kRows; }

int64_t WarpLoop::columnTiles() const { return tile.columns / kColumns; }

int64_t WarpLoop::stepsPerStage() const {
  return frame.geometry.tileK / frame.mma.getK();
}

SmallVector<Value> WarpLoop::State::values() const {
  SmallVector<Value> all(accumulators);
  llvm::append_range(all, stage.values());
  return all;
}

WarpLoop::State WarpLoop::State::from(ValueRange all) {
  return {SmallVector<Value>(all.drop_back(2)),
          StagePosition::of(all.take_back(2))};
}

//===----------------------------------------------------------------------===//
// The main loop
//===----------------------------------------------------------------------===//

void WarpLoop::locateWarp() {
  thread = b.toI32(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  Value warp = b.div(thread, hw::kWarpSize);
  row = b.mul(b.div(warp, tile.along), tile.rows);
  column = b.mul(b.rem(warp, tile.along), tile.columns);
  leader = ElectOp::create(b);
}

void WarpLoop::loadScales(Value stage, int64_t word, Value valid) {
  auto groups = [](int64_t extent) {
    return llvm::divideCeil(extent, kScaleRows);
  };
  if (!hw::isBlockScaled(frame.mma.getKind())) {
    sfa.assign(groups(tile.rows), Value());
    sfb.assign(groups(tile.columns), Value());
    return;
  }
  // Scales of 1, also behind the end of K, where elements are 0.
  auto ones = [&](int64_t extent) {
    constexpr int64_t kEachByte = 0x01010101;
    int64_t code = encode(*frame.mma.getScale(), 1.0f);
    return SmallVector<Value>(groups(extent), b.constant(code * kEachByte));
  };
  auto load = [&](Value ring, Value first, int64_t extent) {
    if (!ring)
      return ones(extent);
    SmallVector<Value> registers;
    for (int64_t group = 0; group < int64_t(groups(extent)); ++group)
      registers.push_back(LoadWarpScalesOp::create(
          b, b.getI32Type(), ring, stage, first, group, word, valid));
    return registers;
  };
  const std::optional<ScaleRings> &rings = stages.scales;
  sfa = load(rings && !rings->a.empty() ? rings->a.front() : Value(), row,
             tile.rows);
  sfb = load(rings && !rings->b.empty() ? rings->b.front() : Value(), scaleRow,
             tile.columns);
}

void WarpLoop::loadColumns(Value stage, int64_t step) {
  Type type = VectorType::get({2}, b.getI32Type());
  auto load = [&](int64_t piece) {
    SmallVector<Value> fragments;
    for (int64_t i = 0; i < columnTiles() / 2; ++i) {
      auto pair = LoadBFragmentsOp::create(b, type, type, stages.b.front(),
                                           stage, column, i, piece);
      fragments.append({pair.getLow(), pair.getHigh()});
    }
    return fragments;
  };
  columns = load(frame.mma.getSparse() ? 2 * step : step);
  columnsHigh = frame.mma.getSparse()
                    ? load(2 * step + 1)
                    : SmallVector<Value>(columnTiles(), Value());
}

void WarpLoop::multiplyStep(State &state, int64_t step, Value validSteps) {
  constexpr int64_t kRowTilesPerScale = kScaleRows / kRows;
  constexpr int64_t kColumnTilesPerScale = kScaleRows / kColumns;
  Type typeA = VectorType::get({4}, b.getI32Type());
  loadColumns(state.stage.slot, step);
  for (int64_t i = 0; i < rowTiles(); ++i) {
    Value a = LoadAFragmentOp::create(b, typeA, stages.a.front(),
                                      state.stage.slot, row, i, step);
    Value metadata;
    if (frame.mma.getSparse())
      metadata = LoadWarpMetadataOp::create(b, b.getI32Type(), *stages.metadata,
                                            state.stage.slot, row, i, step,
                                            validSteps);
    for (int64_t j = 0; j < columnTiles(); ++j) {
      Value &sum = state.accumulators[i * columnTiles() + j];
      sum = WarpMmaOp::create(
          b, sum.getType(), a, columns[j], sum, columnsHigh[j], metadata,
          sfa[i / kRowTilesPerScale], sfb[j / kColumnTilesPerScale], frame.mma,
          i, j, step, ScaleSelectorAttr(), ScaleSelectorAttr());
    }
  }
}

void WarpLoop::multiplyStepOfGroup(State &state, int64_t step,
                                   Value validSteps) {
  Value isThere =
      b.compare(arith::CmpIPredicate::sgt, validSteps, b.constant(step));
  state = advanceIf(isThere, state, [&] {
    State after = state;
    multiplyStep(after, step, Value());
    return after;
  });
}

/// Lets TMA overwrite the stage once all lanes have read it.
void WarpLoop::release(Value stage) {
  SyncWarpOp::create(b);
  b.onlyIf(leader, [&] { ArriveOp::create(b, stages.empty, stage); });
}

int64_t WarpLoop::blocksPerStage() const {
  return std::max<int64_t>(1, frame.geometry.tileK /
                                  std::max<int64_t>(1, frame.promotionBlock()));
}

/// One K tile: wait for its stage, multiply, release the stage.
WarpLoop::State WarpLoop::multiplyStage(State state, Value number,
                                        StageExtent extent) {
  MmaAttr mma = frame.mma;
  int64_t scales = hw::scalesPerMma(mma.getKind(), mma.getBlock(), mma.getK(),
                                    mma.getSparse());
  int64_t stepsPerBlock = stepsPerStage() / blocksPerStage();
  // The first ones come while the warp waits.
  SmallVector<Value> factors = loadFactors(number, 0, extent);
  SmallVector<Value> sums = state.accumulators;
  WaitOp::create(b, stages.full, state.stage.slot, state.stage.parity);
  for (int64_t step = 0; step < extent.steps; ++step) {
    if (frame.promotionBlock() && step % stepsPerBlock == 0) {
      state.accumulators.assign(sums.size(), zeroSums());
      if (step > 0)
        factors = loadFactors(number, step / stepsPerBlock, extent);
    }
    int64_t first = step * scales;
    if (first % hw::kAtomScales == 0)
      loadScales(state.stage.slot, first / hw::kAtomScales, extent.validScales);
    if (frame.isGroupedAlongK() && extent.validSteps && step > 0)
      multiplyStepOfGroup(state, step, extent.validSteps);
    else
      multiplyStep(state, step, extent.validSteps);
    bool isLast = step + 1 == extent.steps;
    if (frame.promotionBlock() && (isLast || (step + 1) % stepsPerBlock == 0))
      for (auto [ofBlock, factor, sum] :
           llvm::zip_equal(state.accumulators, factors, sums))
        sum = math::FmaOp::create(b, ofBlock, factor, sum);
  }
  if (frame.promotionBlock())
    state.accumulators = sums;
  release(state.stage.slot);
  state.stage = stages.next(state.stage);
  return state;
}

WarpLoop::State WarpLoop::advanceIf(Value condition, const State &state,
                                    NextState next) {
  SmallVector<Value> before = state.values();
  auto choice = scf::IfOp::create(b, TypeRange(ValueRange(before)), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, next().values());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, before);
  return State::from(choice.getResults());
}

/// The K tile that K does not fill, if there is one.
WarpLoop::State WarpLoop::multiplyTail(State state, Value number) {
  if (frame.hasWhole(frame.geometry.tileK))
    return state;
  int64_t step = frame.mma.getK();
  Value rest = b.rem(k.size, frame.geometry.tileK);
  // Elements behind the end of K are 0; scales there may be anything. Groups
  // along K end with whole instructions.
  Value scales;
  if (frame.isScaled() && !frame.isGroupedAlongK())
    scales = b.ceilDiv(rest, frame.mma.getScaleSpan());
  StageExtent extent{stepsPerStage(), scales, b.ceilDiv(rest, step)};
  Value isThere;
  if (std::optional<int64_t> known = b.known(rest)) {
    if (*known == 0)
      return state;
    bool isRagged = *known % step != 0;
    extent = {int64_t(llvm::divideCeil(*known, step)),
              isRagged ? scales : Value(), Value()};
    isThere = k.isLast;
  } else {
    // Of whole instructions a stage that is not full lacks one at least.
    if (frame.isGroupedAlongK())
      extent.steps = std::max<int64_t>(1, extent.steps - 1);
    isThere = b.isNotZero(rest);
    if (k.isLast)
      isThere = b.createOrFold<arith::AndIOp>(isThere, k.isLast);
  }
  auto multiply = [&] { return multiplyStage(state, number, extent); };
  return isThere ? advanceIf(isThere, state, multiply) : multiply();
}

WarpLoop::State WarpLoop::skipBehind(State state) {
  Value tiles = b.ceilDiv(k.size, frame.geometry.tileK);
  Value begin = b.createOrFold<arith::MaxUIOp>(k.begin, tiles);
  state.stage =
      b.repeat(begin, k.end, state.stage, [&](Value, StagePosition current) {
        WaitOp::create(b, stages.full, current.slot, current.parity);
        release(current.slot);
        return stages.next(current);
      });
  return state;
}

/// All K tiles of one output tile, or of its part of K.
WarpLoop::State WarpLoop::multiplyTile(State state) {
  Value fullTiles = b.div(k.size, frame.geometry.tileK);
  Value end =
      k.end ? b.createOrFold<arith::MinUIOp>(k.end, fullTiles) : fullTiles;
  auto loop =
      scf::ForOp::create(b, k.begin, end, b.constant(1), state.values());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    State after = multiplyStage(State::from(loop.getRegionIterArgs()),
                                loop.getInductionVar(),
                                {stepsPerStage(), Value(), Value()});
    scf::YieldOp::create(b, after.values());
  }
  state = multiplyTail(State::from(loop.getResults()), fullTiles);
  return frame.isSplitLate() ? skipBehind(std::move(state)) : state;
}

//===----------------------------------------------------------------------===//
// Scales of tiles along K
//===----------------------------------------------------------------------===//

void WarpLoop::locateTileScales(TilePosition position) {
  rowScales.clear();
  columnScales.clear();
  auto lane = FragmentPositionOp::create(b);
  Value firstRow = b.add(row, lane.getRow());
  Value firstColumn = b.add(column, lane.getColumn());
  for (int64_t i = 0; i < 2 * rowTiles(); ++i)
    rowScales.push_back(epilogue.tileScalesOfRow(
        position, b.add(firstRow, b.constant(i * kHalfRows))));
  for (int64_t j = 0; j < columnTiles(); ++j)
    columnScales.push_back(epilogue.tileScalesAlong(
        position, b.add(firstColumn, b.constant(j * kColumns))));
}

SmallVector<Value> WarpLoop::loadFactors(Value number, int64_t part,
                                         StageExtent extent) {
  int64_t size = frame.promotionBlock();
  if (!size)
    return {};
  int64_t parts = blocksPerStage();
  Value block = parts > 1 ? b.add(b.mul(number, parts), b.constant(part))
                          : b.div(number, size / frame.geometry.tileK);
  // A stage that K fills in part may end before its last block.
  Value isThere = b.always();
  if (extent.validSteps && part > 0)
    isThere =
        b.compare(arith::CmpIPredicate::slt, block, b.ceilDiv(k.size, size));
  auto load = [&](const EpilogueMath::TileScales &scales) -> Value {
    return scales.memory ? epilogue.loadTileScales(scales, block, isThere)
                         : Value();
  };
  SmallVector<Value> ofRows(llvm::map_range(rowScales, load));
  SmallVector<Value> ofColumns(llvm::map_range(columnScales, load));
  auto product = [&](Value x, Value y) -> Value {
    return x && y ? arith::MulFOp::create(b, x, y).getResult() : x ? x : y;
  };
  // The scale of the column `i` of a pair.
  auto ofColumn = [&](Value scale, int64_t i) -> Value {
    if (!scale || !isa<VectorType>(scale.getType()))
      return scale;
    return vector::ExtractOp::create(b, scale, i);
  };
  auto type = cast<VectorType>(warpSumsOf(frame.mma));
  SmallVector<Value> factors;
  for (int64_t i = 0; i < rowTiles(); ++i)
    for (int64_t j = 0; j < columnTiles(); ++j) {
      SmallVector<Value> elements;
      for (int64_t element = 0; element < type.getNumElements(); ++element)
        elements.push_back(product(ofRows[2 * i + element / 2],
                                   ofColumn(ofColumns[j], element % 2)));
      factors.push_back(vector::FromElementsOp::create(b, type, elements));
    }
  return factors;
}

Value WarpLoop::zeroSums() {
  return arith::ConstantOp::create(b, b.getZeroAttr(warpSumsOf(frame.mma)));
}

//===----------------------------------------------------------------------===//
// The epilogue
//===----------------------------------------------------------------------===//

Value WarpLoop::pairOf(Value sums, int64_t half) {
  return vector::ShuffleOp::create(b, sums, sums,
                                   ArrayRef<int64_t>{2 * half, 2 * half + 1});
}

bool WarpLoop::finishesInTurn() {
  // A pair's own beside what is loaded for it: ptxas works on several at once,
  // and keeps what columns have for all rows.
  constexpr unsigned kMostValues = 5;
  return EpilogueMath::mostValues(frame) +
             Epilogue(frame.op).valuesOfFunctions() >
         kMostValues;
}

SmallVector<Value> WarpLoop::finishedPair(TilePosition position, Value ofRow,
                                          Value inRow, Value pair) {
  auto lane = FragmentPositionOp::create(b);
  Value firstColumn = b.add(column, lane.getColumn());
  EpilogueFragment fragment =
      epilogue.fragmentAt(position, ofRow, b.add(firstColumn, inRow));
  Value value = epilogue.finish(pair, fragment);
  SmallVector<Value> numbers;
  for (int64_t i = 0; i < kPair / frame.sumsOfElement(); ++i)
    numbers.push_back(vector::ExtractOp::create(b, value, i));
  return numbers;
}

/// Through the loop the sums of a row move up, and what becomes of them comes
/// behind those that are left.
SmallVector<Value> WarpLoop::finishInTurn(TilePosition position, Value ofRow,
                                          ArrayRef<Value> pairs) {
  SmallVector<Value> sums;
  for (Value pair : pairs)
    for (int64_t i = 0; i < kPair; ++i)
      sums.push_back(vector::ExtractOp::create(b, pair, i));
  auto loop = scf::ForOp::create(b, b.constant(0), b.constant(columnTiles()),
                                 b.constant(1), sums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> carried(loop.getRegionIterArgs());
    Value pair = vector::FromElementsOp::create(
        b, VectorType::get({kPair}, b.getF32Type()),
        ArrayRef(carried).take_front(kPair));
    SmallVector<Value> numbers = finishedPair(
        position, ofRow, b.mul(loop.getInductionVar(), kColumns), pair);
    numbers.resize(kPair, numbers.front());
    carried.append(numbers);
    scf::YieldOp::create(b, ArrayRef(carried).drop_front(kPair));
  }
  SmallVector<Value> numbers;
  for (int64_t i = 0; i < int64_t(sums.size()); i += frame.sumsOfElement())
    numbers.push_back(loop.getResult(unsigned(i)));
  return numbers;
}

SmallVector<Value> WarpLoop::finishedRow(TilePosition position, ValueRange sums,
                                         int64_t number) {
  auto lane = FragmentPositionOp::create(b);
  Value ofRow =
      b.add(b.add(row, lane.getRow()), b.constant(number * kHalfRows));
  epilogue.prepareRow(position, ofRow);
  SmallVector<Value> pairs;
  for (int64_t j = 0; j < columnTiles(); ++j)
    pairs.push_back(pairOf(sums[number / 2 * columnTiles() + j], number % 2));
  if (finishesInTurn())
    return finishInTurn(position, ofRow, pairs);
  SmallVector<Value> numbers;
  for (auto [j, pair] : llvm::enumerate(pairs))
    numbers.append(
        finishedPair(position, ofRow, b.constant(int64_t(j) * kColumns), pair));
  return numbers;
}

QuantizedStore::Part WarpLoop::partOf(TilePosition position, const LaneRow &row,
                                      int64_t first) {
  int64_t fragments =
      quantized->partElements() * frame.sumsOfElement() / kColumns;
  int64_t perFragment = kPair / frame.sumsOfElement();
  QuantizedStore::Part part;
  for (int64_t j = first; j < first + fragments; ++j)
    for (const SmallVector<Value> &numbers : row.lanes)
      for (int64_t i = 0; i < perFragment; ++i)
        part.elements.push_back(numbers[j * perFragment + i]);
  part.fragment = epilogue.inResult(epilogue.fragmentAt(
      position, row.row, b.add(column, b.constant(first * kColumns))));
  return part;
}

void WarpLoop::storeBlocks(TilePosition position,
                           ArrayRef<LaneRow> rowsOfTile) {
  int64_t size = quantized->partElements();
  int64_t fragments = size * frame.sumsOfElement() / kColumns;
  auto type = VectorType::get({size}, b.getF32Type());
  for (int64_t first = 0; first < columnTiles(); first += fragments) {
    SmallVector<QuantizedStore::Part> parts;
    for (const LaneRow &each : rowsOfTile) {
      parts.push_back(partOf(position, each, first));
      QuantizedStore::Part &part = parts.back();
      Value all = vector::FromElementsOp::create(b, type, part.elements);
      if (rowsOfTile.size() == 1)
        quantized->store({all}, part.fragment, togetherBy(mates));
      else
        part.elements = quantized->narrowed(all);
    }
    if (rowsOfTile.size() > 1)
      quantized->storeParts(parts, togetherBy(mates));
  }
}

int64_t WarpLoop::rowsOfThread() {
  return mates ? mates->getParts().rowsOfThread : 1;
}

void WarpLoop::storeQuantized(TilePosition position, ValueRange sums) {
  auto lane = FragmentPositionOp::create(b);
  Value number = b.div(lane.getColumn(), kPair);
  int64_t rows = tile.rows / kHalfRows;
  std::vector<LaneRow> rowsOfTile;
  for (int64_t first = 0; first < rows; first += kQuad) {
    QuadNumbers ofRows;
    for (int64_t i = 0; i < kQuad; ++i)
      ofRows[i] = finishedRow(position, sums, first + i);
    QuadNumbers ofLanes = exchangeInQuad(b, ofRows, number);
    Value ofRow = b.add(b.add(row, lane.getRow()),
                        b.mul(b.add(number, b.constant(first)), kHalfRows));
    rowsOfTile.push_back({ofRow, ofLanes});
    if (int64_t(rowsOfTile.size()) < rowsOfThread())
      continue;
    storeBlocks(position, rowsOfTile);
    rowsOfTile.clear();
  }
}

ResultRows::Row WarpLoop::rowOfColumns(ValueRange sums, int64_t first) {
  auto lane = FragmentPositionOp::create(b);
  int64_t halves = tile.rows / kHalfRows;
  ColumnNumbers columns;
  for (int64_t j = first; j < first + kFragments; ++j)
    for (int64_t half = 0; half < halves; ++half) {
      Value pair = pairOf(sums[half / 2 * columnTiles() + j], half % 2);
      for (int64_t i = 0; i < kPair; ++i)
        columns[(j - first) * kPair + i].push_back(
            vector::ExtractOp::create(b, pair, i));
    }
  ColumnNumbers ofLanes =
      exchangeInColumn(b, std::move(columns), lane.getRow());
  // The lane has the column that has its number among those of its quads.
  Value fragment = b.add(b.div(lane.getRow(), kPair), b.constant(first));
  Value ofColumn = b.add(b.add(column, b.mul(fragment, kColumns)),
                         b.add(lane.getColumn(), b.rem(lane.getRow(), kPair)));
  auto load = [this, ofLanes](int64_t begin, int64_t count) -> Value {
    SmallVector<Value> numbers;
    for (int64_t n = begin; n < begin + count; ++n)
      numbers.push_back(ofLanes[n % kLanesOfColumn][n / kLanesOfColumn]);
    return vector::FromElementsOp::create(
        b, VectorType::get({count}, b.getF32Type()), numbers);
  };
  return {{ofColumn, row, b.always()}, load};
}

void WarpLoop::storeRows(TilePosition position, ValueRange sums) {
  std::vector<ResultRows::Row> rowsOfTile;
  for (int64_t first = 0; first < columnTiles(); first += kFragments) {
    rowsOfTile.push_back(rowOfColumns(sums, first));
    if (rowsOfThread() == 1)
      rows->store(position, rowsOfTile.front().place, rowsOfTile.front().load);
    else if (int64_t(rowsOfTile.size()) == rowsOfThread())
      rows->storeRows(position, rowsOfTile);
    else
      continue;
    rowsOfTile.clear();
  }
  Value warp = b.rem(b.div(thread, hw::kWarpSize), tile.along);
  Value first = b.add(b.mul(warp, hw::kWarpSize), b.rem(thread, hw::kWarpSize));
  rows->storePadding(position, {first, row, b.always()},
                     tile.along * hw::kWarpSize);
}

void WarpLoop::storeTile(TilePosition position, ValueRange accumulators) {
  SmallVector<Type> types(accumulators.getTypes());
  auto finished = FinishFragmentsOp::create(b, types, accumulators);
  if (frame.isSplit())
    return storePart(position, finished.getResults());
  storeSums(position, finished.getResults());
}

PartialSums::Place WarpLoop::placeOf(int64_t number) {
  int64_t columns =
      frame.warps.consumers.threads() * kFragment / frame.geometry.rowsPerCta();
  return {/*number=*/0, thread, b.constant(number * columns)};
}

void WarpLoop::storePart(TilePosition position, ValueRange sums) {
  SmallVector<PartialSums::Place> places;
  for (auto [i, fragment] : llvm::enumerate(sums)) {
    places.push_back(placeOf(int64_t(i)));
    partials.store(position, places.back(), fragment);
  }
  b.onlyIf(partials.arrive(position, thread),
           [&] { storeSums(position, partials.sums(position, places)); });
}

void WarpLoop::storeSums(TilePosition position, ValueRange sums) {
  if (rows)
    return storeRows(position, sums);
  if (quantized)
    return storeQuantized(position, sums);
  auto lane = FragmentPositionOp::create(b);
  Value firstRow = b.add(row, lane.getRow());
  Value firstColumn = b.add(column, lane.getColumn());
  for (int64_t i = 0; i < rowTiles(); ++i)
    for (int64_t half = 0; half < 2; ++half) {
      Value ofRow = b.add(firstRow, b.constant(i * kRows + half * kHalfRows));
      epilogue.prepareRow(position, ofRow);
      for (int64_t j = 0; j < columnTiles(); ++j) {
        Value pair = pairOf(sums[i * columnTiles() + j], half);
        EpilogueFragment fragment = epilogue.fragmentAt(
            position, ofRow, b.add(firstColumn, b.constant(j * kColumns)));
        epilogue.store(epilogue.finish(pair, fragment), fragment);
      }
    }
}

//===----------------------------------------------------------------------===//
// The role
//===----------------------------------------------------------------------===//

void WarpLoop::emitRole() {
  if (frame.bringsRows())
    rows.emplace(frame, tile.rows, mates);
  else if (frame.quantizes())
    quantized.emplace(frame, tile.columns / frame.sumsOfElement());
  b.warps("consumer", frame.warps.consumers, [&] {
    frame.takeRegisters();
    locateWarp();
    if (mates)
      mates->locate();
    if (rows)
      rows->prepareKernel();
    else
      epilogue.prepareKernel();
    if (quantized)
      quantized->prepareKernel();
    Value none = zeroSums();
    Value zero = b.constant(0);
    source.forEach(
        {zero, zero}, [&](TilePosition position, ValueRange carried) {
          if (rows)
            rows->prepareTile(position);
          else
            epilogue.prepareTile(position);
          if (quantized)
            quantized->prepareTile(position);
          if (frame.promotionBlock())
            locateTileScales(position);
          Value inGroup = b.rem(frame.firstColumn(position), hw::kAtomRows);
          scaleRow = b.add(inGroup, column);
          k = frame.partOfK(position);
          State state{SmallVector<Value>(rowTiles() * columnTiles(), none),
                      StagePosition::of(carried)};
          state = multiplyTile(std::move(state));
          storeTile(position, state.accumulators);
          return state.stage.values();
        });
  });
}
