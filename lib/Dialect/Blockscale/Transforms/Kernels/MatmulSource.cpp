//===- MatmulSource.cpp - a matmul as the source of a kernel --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulSource.h"
#include "OperandMaps.h"
#include "SplitK.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/GivenScales.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/StoredElements.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/IR/ZeroTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static bool hasTensorScale(ScaledTensorType type) {
  return type.getSpec().getValue().tensorScale.has_value();
}

static int64_t promotionBlockOf(MatmulOp op) {
  return promotionBlock(op.getA().getType(), op.getB().getType());
}

/// Whether the epilogue reads the scales of an operand of this type.
static bool hasFactors(ScaledTensorType type, ScaledTensorType other) {
  return type.getSpec().getValue().coversK() || hasPromotedScales(type, other);
}

/// The memory of scales that the epilogue reads. Powers of two are bytes there,
/// and so are the numbers of ue5m3, which no builtin type has.
static GlobalType factorMemory(ScaledTensorType type) {
  MLIRContext *context = type.getContext();
  const ScaleSpec &spec = type.getSpec().getValue();
  std::optional<ElementFormat> format = scaleFormat(*spec.scale);
  if (format == ElementFormat::UE8M0)
    return GlobalType::get(context, IntegerType::get(context, 8));
  if (format == ElementFormat::UE4M3)
    return GlobalType::get(context, Float8E4M3FNType::get(context));
  if (format == ElementFormat::UE5M3)
    return GlobalType::get(context,
                           IntegerType::get(context, 8, IntegerType::Unsigned));
  return GlobalType::get(context, getBuiltinType(context, *spec.scale));
}

/// D as the kernel stores it, or C as it loads it, by threads or in boxes of
/// TMA. Scales of columns, which are there for each sum of a thread, count as
/// one of the epilogue's values.
static Type resultMemory(MatmulOp op, const TileGeometry &geometry,
                         RankedTensorType type, bool isByTma) {
  Type element = type.getElementType();
  if (!isByTma)
    return GlobalType::get(op.getContext(), element);
  const ScaleSpec &ofColumns = op.getB().getType().getSpec().getValue();
  unsigned values =
      Epilogue(op).mostValues() + ofColumns.coversK() + hasZeroTerms(op);
  HostSizes sizes = hostSizes(op);
  return storeMap(element, geometry.epilogueColumns(values),
                  {sizes.m, sizes.n, sizes.batch});
}

/// D as codes and scales, and the tensor scale that they are chosen under, or
/// the one scale of a matrix, which is given.
static void addQuantized(QuantizeOp op, SmallVector<KernelParameter> &list) {
  MLIRContext *context = op.getContext();
  Type i8 = GlobalType::get(context, IntegerType::get(context, 8)),
       f32 = GlobalType::get(context, Float32Type::get(context));
  list.push_back({i8, ParameterRole::DData});
  list.push_back({GlobalType::get(context, scaleMemory(op.getType())),
                  ParameterRole::DScales});
  if (op.getTensorScale())
    list.push_back({f32, ParameterRole::TensorScale});
  if (hasTensorScale(op.getType()))
    list.push_back({f32, ParameterRole::DTensorScale});
}

/// What the numbers of its groups are.
static ParameterRole roleOfGroups(MatmulOp op) {
  if (op.isGrouped())
    return ParameterRole::Offsets;
  return op.isMasked() ? ParameterRole::RowCounts : ParameterRole::KOffsets;
}

static GlobalType globalMemory(Value tensor) {
  auto type = cast<ShapedType>(tensor.getType());
  return GlobalType::get(type.getContext(), type.getElementType());
}

/// What becomes of the product, and what is added to it.
static void addResult(MatmulOp op, const TileGeometry &geometry,
                      SmallVector<KernelParameter> &list) {
  if (QuantizeOp quantizer = quantizerOf(op))
    addQuantized(quantizer, list);
  else
    list.push_back({resultMemory(op, geometry, op.getType(),
                                 getSchedule(op).getStores() == Stores::Tma),
                    ParameterRole::D});
  if (op.getC())
    list.push_back({resultMemory(op, geometry, op.getC().getType(),
                                 getSchedule(op).getCLoads() == Loads::Tma),
                    ParameterRole::C});
  if (op.getBias())
    list.push_back({globalMemory(op.getBias()), ParameterRole::Bias});
}

/// What sums are multiplied by, and the terms of zero points.
static void addFactors(MatmulOp op, SmallVector<KernelParameter> &list) {
  Type f32 = Float32Type::get(op.getContext());
  Type numbers = GlobalType::get(op.getContext(), f32);
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  for (auto [type, other, tensorScale, scales] :
       {std::tuple(a, b, ParameterRole::ATensorScale, ParameterRole::AScales),
        {b, a, ParameterRole::BTensorScale, ParameterRole::BScales}}) {
    if (hasTensorScale(type))
      list.push_back({numbers, tensorScale});
    if (hasFactors(type, other))
      list.push_back({factorMemory(type), scales});
  }
  if (hasZeroTerms(op)) {
    list.push_back({numbers, ParameterRole::ATerms});
    list.push_back({numbers, ParameterRole::BTerms});
  }
  if (op.getAlpha())
    list.push_back({f32, ParameterRole::Alpha});
  if (op.getBeta())
    list.push_back({f32, ParameterRole::Beta});
}

/// The sizes that are not static.
static void addSizes(MatmulOp op, SmallVector<KernelParameter> &list) {
  Type i32 = IntegerType::get(op.getContext(), 32);
  auto addSize = [&](AffineExpr size, ParameterRole role) {
    if (!isa<AffineConstantExpr>(size))
      list.push_back({i32, role});
  };
  HostSizes sizes = hostSizes(op);
  addSize(sizes.m, ParameterRole::SizeM);
  addSize(sizes.n, ParameterRole::SizeN);
  addSize(sizes.k, ParameterRole::SizeK);
  addSize(sizes.batch, ParameterRole::Batch);
  if (op.isGathered())
    addSize(sizes.tokens, ParameterRole::SizeTokens);
}

static SmallVector<KernelParameter> parametersOf(MatmulOp op,
                                                 const TileGeometry &geometry) {
  SmallVector<KernelParameter> list = operandMaps(op, geometry);
  addResult(op, geometry, list);
  addFactors(op, list);
  if (getSchedule(op).hasWorkspace())
    list.push_back(
        {GlobalType::get(op.getContext(), accumulatorType(getMma(op))),
         ParameterRole::Workspace});
  if (op.hasGroups())
    list.push_back({globalMemory(op.getOffsets()), roleOfGroups(op)});
  if (op.isGathered())
    list.push_back(
        {globalMemory(op.getRowNumbers()), ParameterRole::RowNumbers});
  addSizes(op, list);
  return list;
}

/// Output tiles, counted in those of a whole cluster.
static AffineExpr tilesOf(MatmulOp op, const TileGeometry &geometry) {
  HostSizes sizes = hostSizes(op);
  bool swap = getSchedule(op).getSwapOperands().getValue();
  AffineExpr rows = swap ? sizes.n : sizes.m,
             columns = swap ? sizes.m : sizes.n;
  AffineExpr rowTiles =
      rows.ceilDiv(geometry.rowsOfTile() * geometry.clusterTilesM());
  AffineExpr columnTiles = columns.ceilDiv(geometry.tileN * geometry.clusterN);
  if (!op.isGrouped())
    return rowTiles * columnTiles * sizes.batch;
  // Each group may end inside of a tile, so there are at most so many.
  AffineExpr &along = swap ? columnTiles : rowTiles;
  along = along + sizes.batch;
  return rowTiles * columnTiles;
}

static AffineMap workspaceOf(MatmulOp op, const TileGeometry &geometry) {
  ScheduleAttr schedule = getSchedule(op);
  if (!schedule.hasWorkspace())
    return {};
  if (int64_t shares = schedule.shares(); shares > 1) {
    int64_t shared =
        op.hasGroups() ? StreamedTiles::mostSharedTiles(shares)
                       : StreamedTiles::of(getMma(op), schedule, op.getSizes())
                             .sharedTiles();
    return Workspace::sizes(shared, shares, geometry, op.getContext());
  }
  int64_t splits = schedule.splits();
  return Workspace::sizes(tilesOf(op, geometry), geometry, splits);
}

/// CTAs in x: a cluster per tile of it, or part of one; unless running clusters
/// take tiles over from those that wait, at most one CTA per SM and no more
/// clusters than run at once: a cluster that had to wait for another's end
/// would start its tiles when all others have done theirs. Where tiles are
/// shared out a cluster for each share.
static AffineMap gridOf(MatmulOp op, const TileGeometry &geometry) {
  MLIRContext *context = op.getContext();
  int64_t cluster = geometry.clusterSize();
  AffineExpr tiles =
      tilesOf(op, geometry) * (getSchedule(op).splits() / geometry.clusterK);
  if (getSchedule(op).shares() > 1)
    tiles = getAffineConstantExpr(getSchedule(op).shares(), context);
  if (getSchedule(op).getScheduler() == Scheduler::Dynamic)
    return AffineMap::get(0, 6, tiles * cluster);
  AffineExpr sms = getAffineSymbolExpr(4, context);
  SmallVector<AffineExpr> bounds{tiles * cluster,
                                 sms.floorDiv(cluster) * cluster};
  if (cluster > 1)
    bounds.push_back(getAffineSymbolExpr(5, context) * cluster);
  return AffineMap::get(0, 6, bounds, context);
}

namespace {
/// Memory of the scales that the epilogue reads.
struct Factors {
  /// One for each matrix, A's first.
  SmallVector<Value> ofTensors;
  /// How many of them belong to A.
  int64_t ofA = 0;
  Value ofRows, ofColumns;
};
} // namespace

static Factors factorsOf(MatmulOp op,
                         function_ref<Value(ParameterRole)> argument) {
  Factors factors;
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  for (auto [type, other, tensorScale, scales, vector] :
       {std::tuple(a, b, ParameterRole::ATensorScale, ParameterRole::AScales,
                   &factors.ofRows),
        {b, a, ParameterRole::BTensorScale, ParameterRole::BScales,
         &factors.ofColumns}}) {
    const ScaleSpec &spec = type.getSpec().getValue();
    if (Value scale = argument(tensorScale))
      factors.ofTensors.push_back(scale);
    if (spec.isTensor())
      factors.ofTensors.push_back(argument(scales));
    else if (hasFactors(type, other))
      *vector = argument(scales);
    if (scales == ParameterRole::AScales)
      factors.ofA = int64_t(factors.ofTensors.size());
  }
  return factors;
}

/// Alpha with what values are multiplied by beside those that are stored for
/// them: powers of two.
static Value alphaOf(MatmulOp op, ImplicitLocOpBuilder &b, Value alpha) {
  float factor = 1;
  ScaledTensorType ofA = op.getA().getType(), ofB = op.getB().getType();
  hw::MmaKind kind = getMma(op).getKind();
  for (const std::optional<packing::Recoding> &recoding :
       {recodingOf(ofA, ofB, kind), recodingOf(ofB, ofA, kind)})
    if (recoding)
      factor *= recoding->factor;
  if (factor == 1)
    return alpha;
  Value constant = arith::ConstantOp::create(b, b.getF32FloatAttr(factor));
  return alpha ? arith::MulFOp::create(b, alpha, constant).getResult()
               : constant;
}

/// How many of the tensor scales all groups have in common: those of A, or of
/// both operands where K is in groups, but for those in layout 'grouped', which
/// whyNotGroupsAlongK() has behind others.
static int64_t sharedScales(MatmulOp op, const Factors &factors) {
  if (!op.isGroupedAlongK())
    return op.isGrouped() ? factors.ofA : 0;
  auto shared = int64_t(factors.ofTensors.size());
  for (ScaledTensorType type : {op.getA().getType(), op.getB().getType()})
    shared -= type.getSpec().getValue().isTensor() &&
              type.getLayout() == ScaleLayout::Grouped;
  return shared;
}

static StringRef functionAround(MatmulOp op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return function ? function.getName() : StringRef();
}

static void buildBody(MatmulOp op, ImplicitLocOpBuilder &b,
                      function_ref<Value(ParameterRole)> argument) {
  auto size = [&](ParameterRole role, AffineExpr expr) -> Value {
    if (Value value = argument(role))
      return value;
    return arith::ConstantIntOp::create(
        b, b.getI32Type(), cast<AffineConstantExpr>(expr).getValue());
  };
  HostSizes sizes = hostSizes(op);
  bool swap = getSchedule(op).getSwapOperands().getValue();
  Factors factors = factorsOf(op, argument);
  ScaledTensorType ofA = op.getA().getType(), ofB = op.getB().getType();
  auto groupAttr = [&](ScaledTensorType type, ScaledTensorType other) {
    int64_t ofAll = hasPromotedScales(type, other) ? kMaxProductSize : 1;
    return b.getI64IntegerAttr(type.getRowTile() ? type.getRowTile() : ofAll);
  };
  auto blockAttr = [&](ScaledTensorType type, ScaledTensorType other) {
    bool isPromoted = hasPromotedScales(type, other);
    return b.getI64IntegerAttr(isPromoted ? type.getKTile() : 0);
  };
  Value beta = argument(ParameterRole::Beta);
  if (op.getC() && !beta)
    beta = arith::ConstantOp::create(b, b.getF32FloatAttr(1.0f));
  Value data[] = {argument(ParameterRole::AData),
                  argument(ParameterRole::BData)};
  Value scales[] = {Value(), Value()};
  if (hasBlockScales(ofA, ofB))
    scales[0] = argument(ParameterRole::AScales);
  if (hasBlockScales(ofB, ofA))
    scales[1] = argument(ParameterRole::BScales);
  QuantizeOp quantizer = quantizerOf(op);
  Value d = argument(quantizer ? ParameterRole::DData : ParameterRole::D);
  Value k = size(ParameterRole::SizeK, sizes.k);
  auto product = KernelMatmulOp::create(
      b, data[swap], data[!swap], scales[swap], scales[!swap],
      argument(swap ? ParameterRole::BMetadata : ParameterRole::AMetadata), d,
      argument(ParameterRole::C), argument(ParameterRole::Bias),
      alphaOf(op, b, argument(ParameterRole::Alpha)), beta, factors.ofTensors,
      factors.ofRows, factors.ofColumns, argument(ParameterRole::ATerms),
      argument(ParameterRole::BTerms), numZeroTerms(b, op, k),
      argument(ParameterRole::Workspace), argument(ParameterRole::Offsets),
      argument(ParameterRole::KOffsets), argument(ParameterRole::RowCounts),
      argument(ParameterRole::RowNumbers),
      op.isGathered() ? size(ParameterRole::SizeTokens, sizes.tokens) : Value(),
      argument(ParameterRole::DScales), argument(ParameterRole::TensorScale),
      argument(ParameterRole::DTensorScale),
      size(ParameterRole::SizeM, sizes.m), size(ParameterRole::SizeN, sizes.n),
      k, size(ParameterRole::Batch, sizes.batch), getMma(op), getSchedule(op),
      op.getBiasKindAttr(), op.getPairsAttr(), groupAttr(ofA, ofB),
      groupAttr(ofB, ofA), b.getI64IntegerAttr(sharedScales(op, factors)),
      blockAttr(ofA, ofB), blockAttr(ofB, ofA),
      quantizer ? quantizationOf(quantizer, functionAround(op))
                : QuantizationAttr());
  IRMapping mapping;
  op.getEpilogue().cloneInto(&product.getEpilogue(), mapping);
}

/// The groups along K, -1 if the host counts them.
static int64_t kGroupsOf(MatmulOp op) {
  if (!op.isGroupedAlongK())
    return 0;
  int64_t groups = op.getSizes().batch;
  return ShapedType::isDynamic(groups) ? -1 : groups;
}

/// The rows that are gathered, -1 if the host counts them.
static int64_t gatheredOf(MatmulOp op) {
  if (!op.isGathered())
    return 0;
  int64_t rows = op.getSizes().m;
  return ShapedType::isDynamic(rows) ? -1 : rows;
}

static KernelOutline outlineOf(MatmulOp op, StringRef source) {
  MLIRContext *context = op.getContext();
  MmaAttr mma = getMma(op);
  ScheduleAttr schedule = getSchedule(op);
  TileGeometry geometry(mma, schedule, getTarget(op).chip,
                        hasRowPerLaneScales(op));
  KernelOutline outline;
  outline.parameters = parametersOf(op, geometry);
  outline.launch = KernelAttr::get(
      context, gridOf(op, geometry),
      WarpPlan(getTarget(op), schedule,
               {promotionBlockOf(op) > 0, quantizerOf(op) != nullptr,
                bool(op.getC()) + bool(op.getBias()) + hasZeroTerms(op),
                op.getPairs()})
          .threads(),
      0, 0, schedule.clusterSize(), schedule.isDependent(),
      workspaceOf(op, geometry), /*cooperative=*/false);
  outline.product = ProductAttr::get(
      context, StringAttr::get(context, source), op.getA().getType(),
      op.getB().getType(), mma, schedule.getSwapOperands().getValue(),
      op.getBiasKind(), Epilogue(op).getAttr(),
      /*most_rows=*/0, /*variant_of=*/{}, kGroupsOf(op), gatheredOf(op),
      op.getPairs());
  if (QuantizeOp quantizer = quantizerOf(op)) {
    outline.quantization = quantizationOf(quantizer, source);
    outline.isForSparse = scaleReader(quantizer) == ScaleReader::Sparse;
  }
  return outline;
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

namespace {
struct MatmulSource
    : KernelSourceOpInterface::ExternalModel<MatmulSource, MatmulOp> {
  LogicalResult legalize(Operation *op, hw::Target target,
                         bool denseFallback) const {
    return legalizeMatmul(cast<MatmulOp>(op), target, denseFallback);
  }
  LogicalResult selectSchedule(Operation *op, hw::Target target,
                               int64_t expectedRows) const {
    return selectMatmulSchedule(cast<MatmulOp>(op), target, expectedRows);
  }
  LogicalResult checkReady(Operation *op) const {
    return blockscale::checkReady(cast<MatmulOp>(op));
  }
  KernelOutline getOutline(Operation *op, StringRef source) const {
    return outlineOf(cast<MatmulOp>(op), source);
  }
  void buildBody(Operation *op, ImplicitLocOpBuilder &b,
                 function_ref<Value(ParameterRole)> argument) const {
    ::buildBody(cast<MatmulOp>(op), b, argument);
  }
};
} // namespace

void blockscale::attachMatmulSource(MLIRContext &context) {
  MatmulOp::attachInterface<MatmulSource>(context);
}
