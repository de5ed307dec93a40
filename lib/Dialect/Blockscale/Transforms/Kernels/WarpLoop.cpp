//===- WarpLoop.cpp - the role that multiplies in registers ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpLoop.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

/// Rows or columns that one register of scales serves.
static constexpr int64_t kScaleRows = 32;

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
  if (turns) {
    turns->locate(thread);
    warp = b.rem(warp, warpsOfTile(frame.schedule));
  }
  row = b.mul(b.div(warp, tile.along), tile.rows);
  column = b.mul(b.rem(warp, tile.along), tile.columns);
  leader = ElectOp::create(b);
}

void WarpLoop::loadScales(Value stage, int64_t step, Value valid) {
  int64_t first =
      step * hw::scalesPerMma(frame.mma.getKind(), frame.mma.getBlock(),
                              frame.mma.getK(), frame.mma.getSparse());
  if (first % hw::kAtomScales != 0)
    return;
  int64_t word = first / hw::kAtomScales;
  auto groups = [](int64_t extent) {
    return llvm::divideCeil(extent, kScaleRows);
  };
  if (!hw::isBlockScaled(frame.mma.getKind())) {
    operands.sfa.assign(groups(tile.rows), Value());
    operands.sfb.assign(groups(tile.columns), Value());
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
  operands.sfa = load(rings && !rings->a.empty() ? rings->a.front() : Value(),
                      row, tile.rows);
  operands.sfb = load(rings && !rings->b.empty() ? rings->b.front() : Value(),
                      scaleRow, tile.columns);
}

void WarpLoop::loadColumns(Value stage, int64_t step, int64_t first,
                           int64_t last) {
  Type type = VectorType::get({2}, b.getI32Type());
  operands.columns.resize(columnTiles());
  operands.columnsHigh.resize(columnTiles());
  auto load = [&](int64_t piece, SmallVector<Value> &fragments) {
    for (int64_t i = first; i < last; ++i) {
      auto pair = LoadBFragmentsOp::create(b, type, type, stages.b.front(),
                                           stage, column, i, piece);
      fragments[2 * i] = pair.getLow();
      fragments[2 * i + 1] = pair.getHigh();
    }
  };
  load(frame.mma.getSparse() ? 2 * step : step, operands.columns);
  if (frame.mma.getSparse())
    load(2 * step + 1, operands.columnsHigh);
}

void WarpLoop::loadRow(Value stage, int64_t tile, int64_t step,
                       Value validSteps) {
  operands.rows.resize(rowTiles());
  operands.metadata.resize(rowTiles());
  Type type = VectorType::get({4}, b.getI32Type());
  operands.rows[tile] = LoadAFragmentOp::create(b, type, stages.a.front(),
                                                stage, row, tile, step);
  if (frame.mma.getSparse())
    operands.metadata[tile] =
        LoadWarpMetadataOp::create(b, b.getI32Type(), *stages.metadata, stage,
                                   row, tile, step, validSteps);
}

void WarpLoop::loadStep(Value stage, int64_t step, StageExtent extent) {
  loadScales(stage, step, extent.validScales);
  loadColumns(stage, step, 0, columnTiles() / 2);
  for (int64_t i = 0; i < rowTiles(); ++i)
    loadRow(stage, i, step, extent.validSteps);
}

/// Not where steps may be left out.
bool WarpLoop::loadsAhead(StageExtent extent) {
  return turns && !(frame.isGroupedAlongK() && extent.validSteps);
}

void WarpLoop::multiplyRow(State &state, int64_t tile, int64_t step,
                           const StepOperands &from) {
  constexpr int64_t kRowTilesPerScale = kScaleRows / kRows;
  constexpr int64_t kColumnTilesPerScale = kScaleRows / kColumns;
  for (int64_t j = 0; j < columnTiles(); ++j) {
    Value &sum = state.accumulators[tile * columnTiles() + j];
    sum = WarpMmaOp::create(b, sum.getType(), from.rows[tile], from.columns[j],
                            sum, from.columnsHigh[j], from.metadata[tile],
                            from.sfa[tile / kRowTilesPerScale],
                            from.sfb[j / kColumnTilesPerScale], frame.mma, tile,
                            j, step, ScaleSelectorAttr(), ScaleSelectorAttr());
  }
}

void WarpLoop::multiplyStep(State &state, int64_t step, Value validSteps) {
  loadColumns(state.stage.slot, step, 0, columnTiles() / 2);
  for (int64_t i = 0; i < rowTiles(); ++i) {
    loadRow(state.stage.slot, i, step, validSteps);
    multiplyRow(state, i, step, operands);
  }
}

void WarpLoop::multiplyLoaded(State &state, int64_t step, StageExtent extent) {
  StepOperands loaded = operands;
  int64_t next = step + 1, pairs = columnTiles() / 2;
  bool isLast = next == extent.steps;
  if (!isLast)
    loadScales(state.stage.slot, next, extent.validScales);
  for (int64_t i = 0; i < rowTiles(); ++i) {
    multiplyRow(state, i, step, loaded);
    if (isLast)
      continue;
    loadRow(state.stage.slot, i, next, extent.validSteps);
    loadColumns(state.stage.slot, next, i * pairs / rowTiles(),
                (i + 1) * pairs / rowTiles());
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
  int64_t stepsPerBlock = stepsPerStage() / blocksPerStage();
  // The first ones come while the warp waits.
  SmallVector<Value> factors = loadFactors(number, 0, extent);
  SmallVector<Value> sums = state.accumulators;
  WaitOp::create(b, stages.full, state.stage.slot, state.stage.parity);
  if (turns)
    b.onlyIf(b.compare(arith::CmpIPredicate::eq, b.add(number, b.constant(1)),
                       kTiles),
             [&] { turns->pass(leader); });
  bool isAhead = loadsAhead(extent);
  if (isAhead)
    loadStep(state.stage.slot, 0, extent);
  for (int64_t step = 0; step < extent.steps; ++step) {
    if (frame.promotionBlock() && step % stepsPerBlock == 0) {
      state.accumulators.assign(sums.size(), zeroSums());
      if (step > 0)
        factors = loadFactors(number, step / stepsPerBlock, extent);
    }
    if (!isAhead)
      loadScales(state.stage.slot, step, extent.validScales);
    if (isAhead)
      multiplyLoaded(state, step, extent);
    else if (frame.isGroupedAlongK() && extent.validSteps && step > 0)
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
  // Of no stage none is the last one.
  if (turns && !b.known(kTiles))
    b.onlyIf(b.isEqual(kTiles, 0), [&] { turns->pass(leader); });
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
// The role
//===----------------------------------------------------------------------===//

StagePosition WarpLoop::computeTile(TilePosition position, Value number,
                                    StagePosition at) {
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
  State state{SmallVector<Value>(rowTiles() * columnTiles(), none), at};
  if (turns)
    turns->await(number);
  state = multiplyTile(std::move(state));
  storeTile(position, state.accumulators);
  return state.stage;
}

StagePosition WarpLoop::takeTurn(TilePosition position, Value number,
                                 StagePosition at) {
  kTiles = b.ceilDiv(frame.partOfK(position).size, frame.geometry.tileK);
  return b.choose(
      turns->isMine(number), at,
      [&] { return computeTile(position, number, at); },
      [&] { return turns->behind(at, kTiles); });
}

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
    none = zeroSums();
    Value zero = b.constant(0);
    SmallVector<Value> first{zero, zero};
    if (turns)
      first.push_back(zero);
    source.forEach(first, [&](TilePosition position, ValueRange carried) {
      StagePosition at = StagePosition::of(carried.take_front(2));
      if (!turns)
        return computeTile(position, /*number=*/Value(), at).values();
      Value number = carried.back();
      SmallVector<Value> next = takeTurn(position, number, at).values();
      next.push_back(b.add(number, b.constant(1)));
      return next;
    });
  });
}
