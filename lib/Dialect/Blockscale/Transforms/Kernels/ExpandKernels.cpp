//===- ExpandKernels.cpp - expand a product into warp roles and tile loops ===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Six warps: 0 to 3 are the epilogue, 4 loads by TMA, 5 copies scales and
// issues MMAs; dynamic scheduling takes a seventh. Each walks the same list of
// output tiles; rings of mbarriers join them:
//
//   full[s]   stage s holds A, B and their scales      (TMA -> MMA)
//   empty[s]  the MMAs and copies of stage s are done  (MMA -> TMA)
//   accumulator_full[i]   accumulator i is complete    (MMA -> epilogue)
//   accumulator_empty[i]  it may be overwritten        (epilogue -> MMA)
//
// In a pair of CTAs the first one, the leader, issues the MMAs of both: full
// and accumulator_empty count there what happens in either CTA, empty and
// accumulator_full are signalled in both. Where a cluster shares operands,
// empty counts every MMA that reads what the CTA loads.

#include "K96Plan.h"
#include "KernelBuilder.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/HW/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace blockscale {
#define GEN_PASS_DEF_EXPANDKERNELS
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct ExpandKernels : blockscale::impl::ExpandKernelsBase<ExpandKernels> {
  using ExpandKernelsBase::ExpandKernelsBase;
  void runOnOperation() override;
};
} // namespace

static constexpr int64_t kProducerWarp = 4, kMmaWarp = 5;

//===----------------------------------------------------------------------===//
// KernelBuilder
//===----------------------------------------------------------------------===//

KernelBuilder::KernelBuilder(KernelMatmulOp op)
    : b(op.getLoc(), op), op(op), geometry(op.getMma(), op.getSchedule()),
      swap(op.getSchedule().getSwapOperands().getValue()) {}

Value KernelBuilder::constant(int64_t value) {
  return arith::ConstantIntOp::create(b, b.getI32Type(), value);
}
Value KernelBuilder::add(Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(x, y);
}
Value KernelBuilder::sub(Value x, Value y) {
  return b.createOrFold<arith::SubIOp>(x, y);
}
Value KernelBuilder::mul(Value x, Value y) {
  return b.createOrFold<arith::MulIOp>(x, y);
}
Value KernelBuilder::ceilDiv(Value x, int64_t divisor) {
  return b.createOrFold<arith::DivUIOp>(add(x, constant(divisor - 1)),
                                        constant(divisor));
}
Value KernelBuilder::isEqual(Value x, int64_t value) {
  return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, x,
                                       constant(value));
}
Value KernelBuilder::div(Value x, int64_t divisor) {
  return b.createOrFold<arith::DivUIOp>(x, constant(divisor));
}
Value KernelBuilder::rem(Value x, int64_t divisor) {
  return b.createOrFold<arith::RemUIOp>(x, constant(divisor));
}
Value KernelBuilder::flip(Value parity) {
  return b.createOrFold<arith::XOrIOp>(parity, constant(1));
}
Value KernelBuilder::extend(Value x) {
  return b.createOrFold<arith::ExtSIOp>(b.getI64Type(), x);
}

RingPosition KernelBuilder::next(RingPosition position, int64_t size) {
  Value following = add(position.slot, constant(1));
  Value wraps = isEqual(following, size);
  Value slot = b.createOrFold<arith::SelectOp>(wraps, constant(0), following);
  Value parity = b.createOrFold<arith::SelectOp>(wraps, flip(position.parity),
                                                 position.parity);
  return {slot, parity};
}

void KernelBuilder::warps(StringRef role, int64_t first, int64_t last,
                          function_ref<void()> body) {
  auto region = WarpsOp::create(b, role, first, last);
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&region.getBody());
  body();
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

/// The builtin type of an operand's elements in shared memory.
static Type elementType(MLIRContext *context, hw::OperandType type) {
  std::optional<ElementFormat> format = type.format();
  if (type == hw::OperandType::tf32())
    return FloatTF32Type::get(context);
  if (!format)
    return IntegerType::get(context, type.bits());
  switch (*format) {
  case ElementFormat::E2M1:
    return Float4E2M1FNType::get(context);
  case ElementFormat::E2M3:
    return Float6E2M3FNType::get(context);
  case ElementFormat::E3M2:
    return Float6E3M2FNType::get(context);
  case ElementFormat::E4M3:
    return Float8E4M3FNType::get(context);
  case ElementFormat::E5M2:
    return Float8E5M2Type::get(context);
  case ElementFormat::F16:
    return Float16Type::get(context);
  case ElementFormat::BF16:
    return BFloat16Type::get(context);
  default:
    return IntegerType::get(context, formatInfo(*format).storageBits);
  }
}

/// K-major: stages x rows x K. MN-major: stages x groups of 128 rows x K x 128.
static SharedType operandRing(MLIRContext *context, int64_t stages,
                              const OperandGeometry &operand,
                              hw::OperandType format) {
  Type element = elementType(context, format);
  SmallVector<int64_t> shape{stages, operand.tile.mn, operand.tile.k};
  if (operand.tile.major == hw::OperandMajor::MN)
    shape = {stages, operand.boxes, operand.tile.k, operand.boxRows};
  return SharedType::get(context, shape, element, operand.tile.containerBits,
                         operand.tile.swizzle);
}

static SharedType scaleRing(MLIRContext *context, const TileGeometry &geometry,
                            const OperandGeometry &operand) {
  return SharedType::get(context,
                         {geometry.stages, operand.scaleGroups,
                          geometry.scaleWords, hw::kAtomBytes},
                         IntegerType::get(context, 8), 8, hw::Swizzle::None);
}

static SharedType metadataRing(MLIRContext *context,
                               const TileGeometry &geometry) {
  return SharedType::get(context,
                         {geometry.stages, geometry.metadataTiles,
                          hw::kMetadataTileRows, hw::kMetadataTileBytes},
                         IntegerType::get(context, 8), 8, hw::Swizzle::None);
}

static TensorMemoryType metadataRegion(MLIRContext *context,
                                       const TileGeometry &geometry) {
  return TensorMemoryType::get(
      context,
      {hw::kTmemLanes, geometry.metadataTiles * hw::kMetadataTileBytes},
      IntegerType::get(context, 8), TmemMetadataAttr::get(context));
}

static TensorMemoryType scaleRegion(MLIRContext *context,
                                    const TileGeometry &geometry,
                                    const OperandGeometry &operand) {
  int64_t rows = operand.scaleGroups * hw::kAtomRows;
  hw::Answer<hw::ScaleRegion> region =
      hw::scaleRegion(hw::ScalePath::FourByOne, rows);
  int64_t stride = region ? region->wordStride : rows / 32;
  return TensorMemoryType::get(
      context, {rows, geometry.scaleRegionWords * hw::kAtomScales},
      IntegerType::get(context, 8), TmemScalesAttr::get(context, stride));
}

Value KernelBuilder::shared(SharedType type) {
  return SharedAllocOp::create(b, type, IntegerAttr());
}

Value KernelBuilder::barriers(int64_t count, int64_t arrivals) {
  return BarrierAllocOp::create(b, BarrierType::get(b.getContext(), count),
                                arrivals, IntegerAttr());
}

void blockscale::buildRings(KernelBuilder &t) {
  MLIRContext *context = t.b.getContext();
  const TileGeometry &g = t.geometry;
  t.sharedA =
      t.shared(operandRing(context, g.stages, g.a, t.op.getMma().getA()));
  t.sharedB =
      t.shared(operandRing(context, g.stages, g.b, t.op.getMma().getB()));
  if (t.isScaled()) {
    t.sharedSfa = t.shared(scaleRing(context, g, g.a));
    t.sharedSfb = t.shared(scaleRing(context, g, g.b));
  }
  if (g.metadataTiles)
    t.sharedMetadata = t.shared(metadataRing(context, g));
}

/// A barrier of all threads that can reach this CTA's memory.
static void buildBarrier(KernelBuilder &t) {
  if (t.isCluster())
    ClusterBarrierOp::create(t.b);
  else
    gpu::BarrierOp::create(t.b);
}

static void buildStorage(KernelBuilder &t) {
  ImplicitLocOpBuilder &b = t.b;
  MLIRContext *context = b.getContext();
  const TileGeometry &g = t.geometry;
  buildRings(t);
  t.slot = t.shared(
      SharedType::get(context, {1, 1}, b.getI32Type(), 32, hw::Swizzle::None));
  t.full = t.signalFull = t.barriers(g.stages, 1);
  t.empty = t.barriers(g.stages, t.readers());
  t.accumulatorFull = t.barriers(g.accumulators, 1);
  buildSchedulerStorage(t);
  t.accumulatorEmpty = t.signalAccumulatorEmpty =
      t.barriers(t.accumulatorEmptyCount(), g.ctaGroup * kEpilogueThreads);

  // Allocating for a pair takes that both CTAs run.
  if (t.isPair())
    ClusterBarrierOp::create(b);
  t.warps("mma", kMmaWarp, kMmaWarp + 1,
          [&] { TmemAllocOp::create(b, t.slot, IntegerAttr(), t.isPair()); });
  buildBarrier(t);
  if (t.isPair()) {
    Value leader = t.sub(t.rank, t.rem(t.rank, 2));
    t.signalFull = RemoteBarrierOp::create(b, t.full, leader);
    t.signalAccumulatorEmpty =
        RemoteBarrierOp::create(b, t.accumulatorEmpty, leader);
  }
  auto view = [&](TensorMemoryType type) -> Value {
    return TmemViewOp::create(b, type, t.slot, IntegerAttr());
  };
  int64_t stride = g.overlap ? g.accumulatorStride() : 0;
  t.accumulator = view(
      TensorMemoryType::get(context, {g.accumulators, g.rowsPerCta(), g.tileN},
                            accumulatorType(t.op.getMma()),
                            TmemAccumulatorAttr::get(context, stride)));
  if (t.isScaled()) {
    t.sfa = view(scaleRegion(context, g, g.a));
    t.sfb = view(scaleRegion(context, g, g.b));
  }
  if (g.metadataTiles)
    t.metadata = view(metadataRegion(context, g));
}

void blockscale::buildSizes(KernelBuilder &t) {
  ImplicitLocOpBuilder &b = t.b;
  auto toI32 = [&](Value index) -> Value {
    return arith::IndexCastUIOp::create(b, b.getI32Type(), index);
  };
  t.rows = t.swap ? t.op.getN() : t.op.getM();
  t.columns = t.swap ? t.op.getM() : t.op.getN();
  const TileGeometry &g = t.geometry;
  t.rowTiles = t.ceilDiv(t.rows, g.tileM * g.clusterTilesM());
  t.columnTiles = t.ceilDiv(t.columns, g.tileN * g.clusterN);
  t.tiles = t.mul(t.mul(t.rowTiles, t.columnTiles), t.op.getBatch());
  t.firstTile = toI32(gpu::BlockIdOp::create(b, gpu::Dimension::x));
  t.tileStep = toI32(gpu::GridDimOp::create(b, gpu::Dimension::x));
  if (!t.isCluster())
    return;
  t.firstTile = t.div(t.firstTile, g.clusterSize());
  t.tileStep = t.div(t.tileStep, g.clusterSize());
  t.rank = ClusterRankOp::create(b);
  t.rankM = t.rem(t.rank, g.clusterM);
  t.rankN = t.div(t.rank, g.clusterM);
}

//===----------------------------------------------------------------------===//
// MMA issuer
//===----------------------------------------------------------------------===//

void blockscale::maskScales(KernelBuilder &t, Value stage, Value valid) {
  // The other CTA of a pair does not know when its stage is full.
  SmallVector<Value> ranks{Value()};
  if (t.isPair())
    ranks.push_back(t.add(t.rank, t.constant(1)));
  for (Value rank : ranks) {
    MaskScalesOp::create(t.b, t.sharedSfa, stage, valid, rank);
    MaskScalesOp::create(t.b, t.sharedSfb, stage, valid, rank);
  }
}

/// Clears the padding of the last scales where an instruction would read it.
static void maskTail(KernelBuilder &t, Value stage, Value valid) {
  int64_t instructionK = t.op.getMma().getK();
  int64_t span = t.op.getMma().getScaleSpan();
  if (!t.isScaled() || instructionK == span)
    return;
  ImplicitLocOpBuilder &b = t.b;
  Value rest = b.createOrFold<arith::RemUIOp>(valid, t.constant(instructionK));
  APInt known;
  if (matchPattern(rest, m_ConstantInt(&known)) && known.isZero())
    return;
  Value ragged = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, rest,
                                               t.constant(0));
  auto condition = scf::IfOp::create(b, ragged);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(condition.thenBlock());
  Value scales = b.createOrFold<arith::DivUIOp>(valid, t.constant(span));
  maskScales(t, stage, scales);
}

/// One K tile: wait for its stage, copy scales, multiply, release the stage.
static void multiplyStage(KernelBuilder &t, const MmaTile &tile,
                          RingPosition ring, Value accumulate, Value valid) {
  ImplicitLocOpBuilder &b = t.b;
  WaitOp::create(b, t.full, ring.slot, ring.parity);
  TensorFenceOp::create(b, FenceSide::After);
  if (valid)
    maskTail(t, ring.slot, valid);
  auto onlyLeader = scf::IfOp::create(b, tile.leader);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(onlyLeader.thenBlock());
  if (t.isScaled()) {
    CopyScalesOp::create(b, t.sharedSfa, ring.slot, t.sfa, t.isPair());
    CopyScalesOp::create(b, t.sharedSfb, ring.slot, t.sfb, t.isPair());
  }
  if (t.metadata)
    CopyMetadataOp::create(b, t.sharedMetadata, ring.slot, t.metadata,
                           t.isPair());
  MmaOp::create(b, t.accumulator, tile.copy, t.sharedA, t.sharedB, ring.slot,
                /*previous=*/Value(), t.sfa, t.sfb, t.metadata, accumulate,
                valid, tile.shift, t.op.getMma(), KRangeAttr(), ArrayAttr());
  CommitOp::create(b, t.empty, ring.slot, tile.feeders, t.isPair());
}

/// The K tile that K does not fill, if there is one; returns the next position.
static RingPosition multiplyTail(KernelBuilder &t, const MmaTile &tile,
                                 RingPosition ring, Value fullTiles) {
  ImplicitLocOpBuilder &b = t.b;
  Value rest =
      b.createOrFold<arith::RemUIOp>(t.op.getK(), t.constant(t.geometry.tileK));
  APInt known;
  bool isKnown = matchPattern(rest, m_ConstantInt(&known));
  if (isKnown && known.isZero())
    return ring;
  Value accumulate = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne,
                                                   fullTiles, t.constant(0));
  if (isKnown) {
    multiplyStage(t, tile, ring, accumulate, rest);
    return t.next(ring, t.geometry.stages);
  }
  Value hasRest = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, rest,
                                                t.constant(0));
  Type i32 = b.getI32Type();
  auto condition = scf::IfOp::create(b, TypeRange{i32, i32}, hasRest,
                                     /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(condition.thenBlock());
  multiplyStage(t, tile, ring, accumulate, rest);
  RingPosition following = t.next(ring, t.geometry.stages);
  scf::YieldOp::create(b, ValueRange{following.slot, following.parity});
  b.setInsertionPointToStart(condition.elseBlock());
  scf::YieldOp::create(b, ValueRange{ring.slot, ring.parity});
  return {condition.getResult(0), condition.getResult(1)};
}

/// All K tiles of one output tile; returns the next ring position.
static RingPosition multiplyTile(KernelBuilder &t, const MmaTile &tile,
                                 RingPosition ring) {
  ImplicitLocOpBuilder &b = t.b;
  Value fullTiles =
      b.createOrFold<arith::DivUIOp>(t.op.getK(), t.constant(t.geometry.tileK));
  Value zero = t.constant(0);
  auto loop = scf::ForOp::create(b, zero, fullTiles, t.constant(1),
                                 ValueRange{ring.slot, ring.parity});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    RingPosition current{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
    Value accumulate = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                             loop.getInductionVar(), zero);
    multiplyStage(t, tile, current, accumulate, Value());
    RingPosition following = t.next(current, t.geometry.stages);
    scf::YieldOp::create(b, ValueRange{following.slot, following.parity});
  }
  return multiplyTail(t, tile, {loop.getResult(0), loop.getResult(1)},
                      fullTiles);
}

/// Columns between the start of a group of 128 scale rows and that of the
/// tile, for tiles that share groups.
static Value scaleShift(KernelBuilder &t, Value columnTile) {
  if (!t.isScaled() || t.geometry.tileN % hw::kAtomRows == 0)
    return {};
  if (t.geometry.clusterN == 1 && matchPattern(t.columnTiles, m_One()))
    return {};
  constexpr int64_t kRowsPerColumn = 32;
  Value row = t.mul(columnTile, t.constant(t.geometry.tileN));
  Value inGroup =
      t.b.createOrFold<arith::RemUIOp>(row, t.constant(hw::kAtomRows));
  return t.b.createOrFold<arith::DivUIOp>(inGroup, t.constant(kRowsPerColumn));
}

/// The loop over output tiles of the warp that issues their MMAs.
static void multiplyTiles(KernelBuilder &t) {
  ImplicitLocOpBuilder &b = t.b;
  int64_t copies = t.geometry.accumulators;
  int64_t emptyCount = t.accumulatorEmptyCount();
  Value leader = ElectOp::create(b);
  Value zero = t.constant(0);
  Value feeders = t.feeders();
  Value pair;
  if (t.isPair())
    pair = b.createOrFold<arith::ShLIOp>(t.constant(3), t.rank);
  SmallVector<Value> initial(6, zero);
  t.tileLoop(initial, [&](TilePosition position, ValueRange carried) {
    RingPosition stage{carried[0], carried[1]};
    RingPosition copy{carried[2], carried[3]};
    RingPosition free{carried[4], carried[5]};
    WaitOp::create(b, t.accumulatorEmpty, free.slot, t.flip(free.parity));
    TensorFenceOp::create(b, FenceSide::After);
    MmaTile tile{leader, copy.slot, scaleShift(t, position.column), feeders};
    stage = isK96(t.op.getMma()) ? multiplyK96Tile(t, tile, stage)
                                 : multiplyTile(t, tile, stage);
    t.onlyIf(leader, [&] {
      CommitOp::create(b, t.accumulatorFull, copy.slot, pair, t.isPair());
    });
    copy = t.next(copy, copies);
    free = t.next(free, emptyCount);
    return SmallVector<Value>{stage.slot,  stage.parity, copy.slot,
                              copy.parity, free.slot,    free.parity};
  });
}

static void buildMma(KernelBuilder &t) {
  t.warps("mma", kMmaWarp, kMmaWarp + 1, [&] {
    if (t.isPair())
      t.onlyIf(t.isEqual(t.rem(t.rank, 2), 0), [&] { multiplyTiles(t); });
    else
      multiplyTiles(t);
  });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static void expand(KernelMatmulOp op) {
  KernelBuilder t(op);
  if (!hw::hasTensorMemory(
          *hw::parseTarget(op.getSchedule().getTarget().getValue()))) {
    buildWarpKernel(t);
    op.erase();
    return;
  }
  buildSizes(t);
  buildStorage(t);
  if (op.getSchedule().getDependentLaunch())
    AwaitDependenciesOp::create(t.b);
  buildScheduler(t);
  buildProducer(t, kProducerWarp);
  buildMma(t);
  buildEpilogue(t);
  buildBarrier(t);
  t.warps("mma", kMmaWarp, kMmaWarp + 1, [&] {
    TensorFenceOp::create(t.b, FenceSide::After);
    TmemDeallocOp::create(t.b, t.slot, IntegerAttr(), t.isPair());
  });
  op.erase();
}

void ExpandKernels::runOnOperation() {
  SmallVector<KernelMatmulOp> products;
  getOperation()->walk([&](KernelMatmulOp op) { products.push_back(op); });
  llvm::for_each(products, expand);
}
