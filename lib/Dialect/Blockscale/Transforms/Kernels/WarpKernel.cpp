//===- WarpKernel.cpp - kernels of chips without tensor memory ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Nine warps: 0 to 7 multiply a tile together and store it, 8 loads by TMA. An
// accumulator stays in the registers of its warp from the first instruction to
// the store. The rings are those of the other kernels:
//
//   full[s]   stage s holds A, B and their scales   (TMA -> consumers)
//   empty[s]  every consumer has read stage s       (consumers -> TMA)
//
// 65,536 registers over 288 threads are 224 each, more than a consumer needs,
// so that moving registers between the roles (setmaxnreg) would gain nothing.

#include "EpilogueMath.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

/// Extents of one instruction, and of what one register of scales serves.
static constexpr int64_t kRows = 16, kColumns = 8, kScaleRows = 32;

namespace {
/// What a warp carries from K tile to K tile.
struct WarpState {
  SmallVector<Value> accumulators;
  RingPosition stage;

  SmallVector<Value> values() const {
    SmallVector<Value> all(accumulators);
    all.append({stage.slot, stage.parity});
    return all;
  }
  static WarpState from(ValueRange all) {
    return {SmallVector<Value>(all.drop_back(2)),
            {all[all.size() - 2], all.back()}};
  }
};

/// The part of K that one stage holds.
struct StageExtent {
  /// Instructions along K.
  int64_t steps;
  /// Scales per row, and instructions, that are not padding; null if all that
  /// are read.
  Value validScales, validSteps;
};

class WarpBuilder {
public:
  explicit WarpBuilder(KernelBuilder &t)
      : t(t), b(t.b), tile(warpTile(t.geometry)), mma(t.op.getMma()),
        epilogue(t, /*width=*/2) {}
  void build();

private:
  int64_t rowTiles() const { return tile.rows / kRows; }
  int64_t columnTiles() const { return tile.columns / kColumns; }
  int64_t stepsPerStage() const { return t.geometry.tileK / mma.getK(); }

  void locateWarp();
  WarpState multiplyTile(WarpState state);
  WarpState multiplyTail(WarpState state, Value fullTiles);
  WarpState multiplyStage(WarpState state, StageExtent extent);
  void multiplyStep(WarpState &state, int64_t step, Value validSteps);
  void loadColumns(Value stage, int64_t step);
  void loadScales(Value stage, int64_t word, Value valid);
  void release(Value stage);
  void storeTile(TilePosition position, ValueRange accumulators);

  KernelBuilder &t;
  ImplicitLocOpBuilder &b;
  WarpTile tile;
  MmaAttr mma;
  EpilogueMath epilogue;
  /// First row and column of the warp in the tile, and first row of its
  /// columns in their group of 128 rows of scales.
  Value row, column, scaleRow;
  Value leader;
  /// The registers of scales of the current word.
  SmallVector<Value> sfa, sfb;
  /// B for the current instruction, and its second half of K if A is sparse.
  SmallVector<Value> columns, columnsHigh;
};
} // namespace

//===----------------------------------------------------------------------===//
// The main loop
//===----------------------------------------------------------------------===//

void WarpBuilder::locateWarp() {
  Value thread = arith::IndexCastUIOp::create(
      b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  Value warp = b.createOrFold<arith::DivUIOp>(thread, t.constant(32));
  Value along = t.constant(tile.along);
  row =
      t.mul(b.createOrFold<arith::DivUIOp>(warp, along), t.constant(tile.rows));
  column = t.mul(b.createOrFold<arith::RemUIOp>(warp, along),
                 t.constant(tile.columns));
  leader = ElectOp::create(b);
}

void WarpBuilder::loadScales(Value stage, int64_t word, Value valid) {
  auto load = [&](Value ring, Value first, int64_t extent) {
    SmallVector<Value> registers;
    for (int64_t group = 0; group * kScaleRows < extent; ++group)
      registers.push_back(LoadWarpScalesOp::create(
          b, b.getI32Type(), ring, stage, first, group, word, valid));
    return registers;
  };
  sfa = load(t.sharedSfa, row, tile.rows);
  sfb = load(t.sharedSfb, scaleRow, tile.columns);
}

void WarpBuilder::loadColumns(Value stage, int64_t step) {
  Type type = VectorType::get({2}, b.getI32Type());
  auto load = [&](int64_t piece) {
    SmallVector<Value> fragments;
    for (int64_t i = 0; i < columnTiles() / 2; ++i) {
      auto pair = LoadBFragmentsOp::create(b, type, type, t.sharedB, stage,
                                           column, i, piece);
      fragments.append({pair.getLow(), pair.getHigh()});
    }
    return fragments;
  };
  columns = load(mma.getSparse() ? 2 * step : step);
  columnsHigh = mma.getSparse() ? load(2 * step + 1)
                                : SmallVector<Value>(columnTiles(), Value());
}

void WarpBuilder::multiplyStep(WarpState &state, int64_t step,
                               Value validSteps) {
  constexpr int64_t kRowTilesPerScale = kScaleRows / kRows;
  constexpr int64_t kColumnTilesPerScale = kScaleRows / kColumns;
  Type typeA = VectorType::get({4}, b.getI32Type());
  loadColumns(state.stage.slot, step);
  for (int64_t i = 0; i < rowTiles(); ++i) {
    Value a = LoadAFragmentOp::create(b, typeA, t.sharedA, state.stage.slot,
                                      row, i, step);
    Value metadata;
    if (mma.getSparse())
      metadata = LoadWarpMetadataOp::create(b, b.getI32Type(), t.sharedMetadata,
                                            state.stage.slot, row, i, step,
                                            validSteps);
    for (int64_t j = 0; j < columnTiles(); ++j) {
      Value &sum = state.accumulators[i * columnTiles() + j];
      sum = WarpMmaOp::create(
          b, sum.getType(), a, columns[j], sum, columnsHigh[j], metadata,
          sfa[i / kRowTilesPerScale], sfb[j / kColumnTilesPerScale], mma, i, j,
          step, ScaleSelectorAttr(), ScaleSelectorAttr());
    }
  }
}

/// Lets TMA overwrite the stage once all lanes have read it.
void WarpBuilder::release(Value stage) {
  SyncWarpOp::create(b);
  auto onlyLeader = scf::IfOp::create(b, leader);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(onlyLeader.thenBlock());
  ArriveOp::create(b, t.empty, stage);
}

/// One K tile: wait for its stage, multiply, release the stage.
WarpState WarpBuilder::multiplyStage(WarpState state, StageExtent extent) {
  int64_t scales = hw::scalesPerMma(mma.getKind(), mma.getBlock(), mma.getK(),
                                    mma.getSparse());
  WaitOp::create(b, t.full, state.stage.slot, state.stage.parity);
  for (int64_t step = 0; step < extent.steps; ++step) {
    int64_t first = step * scales;
    if (first % hw::kAtomScales == 0)
      loadScales(state.stage.slot, first / hw::kAtomScales, extent.validScales);
    multiplyStep(state, step, extent.validSteps);
  }
  release(state.stage.slot);
  state.stage = t.next(state.stage, t.geometry.stages);
  return state;
}

/// The K tile that K does not fill, if there is one.
WarpState WarpBuilder::multiplyTail(WarpState state, Value fullTiles) {
  Value rest =
      b.createOrFold<arith::RemUIOp>(t.op.getK(), t.constant(t.geometry.tileK));
  Value scales =
      b.createOrFold<arith::DivUIOp>(rest, t.constant(mma.getScaleSpan()));
  APInt known;
  if (matchPattern(rest, m_ConstantInt(&known))) {
    int64_t elements = known.getSExtValue();
    if (elements == 0)
      return state;
    bool isRagged = elements % mma.getK() != 0;
    return multiplyStage(std::move(state),
                         {int64_t(llvm::divideCeil(elements, mma.getK())),
                          isRagged ? scales : Value(), Value()});
  }
  Value hasRest = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, rest,
                                                t.constant(0));
  SmallVector<Value> before = state.values();
  auto condition = scf::IfOp::create(b, TypeRange(ValueRange(before)), hasRest,
                                     /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(condition.thenBlock());
  WarpState after = multiplyStage(
      state, {stepsPerStage(), scales, t.ceilDiv(rest, mma.getK())});
  scf::YieldOp::create(b, after.values());
  b.setInsertionPointToStart(condition.elseBlock());
  scf::YieldOp::create(b, before);
  return WarpState::from(condition.getResults());
}

/// All K tiles of one output tile.
WarpState WarpBuilder::multiplyTile(WarpState state) {
  Value fullTiles =
      b.createOrFold<arith::DivUIOp>(t.op.getK(), t.constant(t.geometry.tileK));
  auto loop = scf::ForOp::create(b, t.constant(0), fullTiles, t.constant(1),
                                 state.values());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    WarpState after = multiplyStage(WarpState::from(loop.getRegionIterArgs()),
                                    {stepsPerStage(), Value(), Value()});
    scf::YieldOp::create(b, after.values());
  }
  return multiplyTail(WarpState::from(loop.getResults()), fullTiles);
}

//===----------------------------------------------------------------------===//
// The epilogue
//===----------------------------------------------------------------------===//

void WarpBuilder::storeTile(TilePosition position, ValueRange accumulators) {
  SmallVector<Type> types(accumulators.getTypes());
  auto finished = FinishFragmentsOp::create(b, types, accumulators);
  auto lane = FragmentPositionOp::create(b);
  Value firstRow = t.add(row, lane.getRow());
  Value firstColumn = t.add(column, lane.getColumn());
  constexpr int64_t kHalfRows = 8;
  for (int64_t i = 0; i < rowTiles(); ++i)
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t j = 0; j < columnTiles(); ++j) {
        Value sums = finished.getResult(i * columnTiles() + j);
        Value pair = vector::ShuffleOp::create(
            b, sums, sums, ArrayRef<int64_t>{2 * half, 2 * half + 1});
        EpilogueFragment fragment = epilogue.fragmentAt(
            position, t.add(firstRow, t.constant(i * kRows + half * kHalfRows)),
            t.add(firstColumn, t.constant(j * kColumns)));
        epilogue.store(epilogue.finish(pair, fragment), fragment);
      }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void WarpBuilder::build() {
  t.warps("consumer", 0, kConsumerWarps, [&] {
    locateWarp();
    // Batches have tensor scales of their own.
    bool oneBatch = matchPattern(t.op.getBatch(), m_One());
    if (oneBatch)
      epilogue.loadScale(t.constant(0));
    auto sums = VectorType::get({4}, b.getF32Type());
    Value none = arith::ConstantOp::create(b, b.getZeroAttr(sums));
    Value zero = t.constant(0);
    t.tileLoop({zero, zero}, [&](TilePosition position, ValueRange carried) {
      if (!oneBatch)
        epilogue.loadScale(position.batch);
      Value first = t.mul(position.column, t.constant(t.geometry.tileN));
      scaleRow = t.add(
          b.createOrFold<arith::RemUIOp>(first, t.constant(hw::kAtomRows)),
          column);
      WarpState state{SmallVector<Value>(rowTiles() * columnTiles(), none),
                      {carried[0], carried[1]}};
      state = multiplyTile(std::move(state));
      storeTile(position, state.accumulators);
      return SmallVector<Value>{state.stage.slot, state.stage.parity};
    });
  });
}

void blockscale::buildWarpKernel(KernelBuilder &t) {
  buildSizes(t);
  buildRings(t);
  t.full = t.signalFull = t.barriers(t.geometry.stages, 1);
  t.empty = t.barriers(t.geometry.stages, kConsumerWarps);
  gpu::BarrierOp::create(t.b);
  buildProducer(t, /*warp=*/kConsumerWarps);
  WarpBuilder(t).build();
}
