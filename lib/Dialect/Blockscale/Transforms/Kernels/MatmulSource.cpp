//===- MatmulSource.cpp - a matmul as the source of a kernel --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulSource.h"
#include "SplitK.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/StoredElements.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/IR/ZeroTerms.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace blockscale;

namespace {
/// Sizes of the source matmul as symbols of the host's maps. A size that is
/// static is a constant.
struct Sizes {
  AffineExpr m, n, k, batch;
  /// Rows of A that are gathered from; null where none are.
  AffineExpr tokens;
};
} // namespace

//===----------------------------------------------------------------------===//
// Recipes of tensor maps
//===----------------------------------------------------------------------===//

static Sizes sizesOf(MatmulOp op) {
  MLIRContext *context = op.getContext();
  auto size = [&](int64_t extent, unsigned symbol) {
    return ShapedType::isDynamic(extent)
               ? getAffineSymbolExpr(symbol, context)
               : getAffineConstantExpr(extent, context);
  };
  ProductSizes sizes = op.getSizes();
  Sizes found{size(sizes.m, 0), size(sizes.n, 1), size(sizes.k, 2),
              size(sizes.batch, 3), AffineExpr()};
  if (op.isGathered())
    found.tokens = size(op.getA().getType().getNumRows(), kTokensSymbol);
  return found;
}

/// The sizes of `a`, which is one matrix where its rows or K are in groups, and
/// of `b`, which is where K is; and the rows that its scales have with the
/// padding of the groups: at most so many.
static Sizes sizesOfA(MatmulOp op) {
  Sizes sizes = sizesOf(op);
  if (op.isGrouped() || op.isGroupedAlongK())
    sizes.batch = getAffineConstantExpr(1, op.getContext());
  return sizes;
}

static Sizes sizesOfB(MatmulOp op) {
  return op.isGroupedAlongK() ? sizesOfA(op) : sizesOf(op);
}

static AffineExpr scaleRowsOfA(MatmulOp op) {
  Sizes sizes = sizesOf(op);
  return op.isGrouped() ? groupedScaleRows(sizes.m, sizes.batch) : sizes.m;
}

static AffineMap hostMap(ArrayRef<AffineExpr> results) {
  constexpr unsigned kSymbols = 4;
  return AffineMap::get(0, kSymbols, results, results.front().getContext());
}

namespace {
/// Elements of a line in memory, with what pads them, and its bytes.
struct Line {
  AffineExpr elements, pitch;
};
} // namespace

/// Rows are padded in memory to TMA's alignment, and their extent to whole
/// bytes for packed pairs and to 128 elements for the padded types.
static Line lineOf(const OperandGeometry &operand, AffineExpr elements) {
  const hw::TensorMapDataTypeInfo &info =
      hw::tensorMapDataTypeInfo(operand.dataType);
  AffineExpr padded = elements.ceilDiv(int64_t(info.innerMultiple)) *
                      int64_t(info.innerMultiple);
  AffineExpr bytes = (padded * int64_t(info.globalBits)).ceilDiv(8);
  return {padded,
          bytes.ceilDiv(int64_t(info.alignment)) * int64_t(info.alignment)};
}

/// The map of an operand's elements.
static TensorMapType dataMap(const OperandGeometry &operand, AffineExpr rows,
                             const Sizes &sizes, bool isCompressed) {
  bool mnMajor = operand.tile.major == hw::OperandMajor::MN;
  AffineExpr stored = isCompressed
                          ? sizes.k.floorDiv(int64_t(hw::kSparseCompression))
                          : sizes.k;
  AffineExpr outer = mnMajor ? stored : rows;
  auto [padded, pitch] = lineOf(operand, mnMajor ? rows : stored);
  int64_t innerBox = mnMajor ? operand.boxRows : operand.boxK;
  int64_t outerBox = mnMajor ? operand.boxK : operand.boxRows;
  return TensorMapType::get(rows.getContext(), operand.dataType,
                            hostMap({padded, outer, sizes.batch}),
                            hostMap({pitch, pitch * outer}),
                            {innerBox, outerBox, 1}, operand.tile.swizzle);
}

/// The map of the elements of A whose rows are gathered, four of them at a
/// time: one matrix, in boxes of a part of one row.
static TensorMapType gatheredMap(const OperandGeometry &operand,
                                 const Sizes &sizes) {
  MLIRContext *context = sizes.k.getContext();
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(0, kSymbolsOfGathered, results, context);
  };
  auto [elements, pitch] = lineOf(operand, sizes.k);
  return TensorMapType::get(context, operand.dataType,
                            map({elements, sizes.tokens}), map({pitch}),
                            {operand.boxK, 1}, operand.tile.swizzle);
}

/// The map of bytes in `storage`: what lies together in memory, as far as a box
/// has room for it, and the rest of that; then each digit that has no end, then
/// batches. `box` says how many values of each source.
static TensorMapType storageMap(const hw::StorageLayout<AffineExpr> &storage,
                                hw::TensorMapDataType dataType,
                                AffineExpr batch, const hw::Coordinates &box) {
  MLIRContext *context = batch.getContext();
  constexpr int64_t kMostBoxExtent = 256;
  int64_t bytes = hw::tensorMapDataTypeInfo(dataType).globalBits / 8;
  int64_t together = 1;
  SmallVector<AffineExpr> dims, strides;
  SmallVector<int64_t> extents;
  hw::StorageLayout<AffineExpr> whole = hw::joined(storage);
  for (const auto &digit : llvm::reverse(whole.digits)) {
    if (digit.term.modulus && dims.empty() &&
        together * int64_t(digit.term.modulus) / bytes <= kMostBoxExtent) {
      together *= digit.term.modulus;
      continue;
    }
    if (digit.term.modulus) {
      // Whole, behind what lies together.
      dims.push_back(getAffineConstantExpr(digit.term.modulus, context));
      strides.push_back(getAffineConstantExpr(together, context));
      extents.push_back(digit.term.modulus);
      continue;
    }
    dims.push_back(digit.extent);
    strides.push_back(digit.stride);
    extents.push_back(box[digit.term.source]);
  }
  dims.insert(dims.begin(), getAffineConstantExpr(together / bytes, context));
  extents.insert(extents.begin(), together / bytes);
  dims.push_back(batch);
  strides.push_back(storage.matrixBytes);
  extents.push_back(1);
  return TensorMapType::get(context, dataType, hostMap(dims), hostMap(strides),
                            extents, hw::Swizzle::None);
}

/// The map of an operand's scales in `layout`: a stage takes whole atoms,
/// `along` of them along K.
static TensorMapType scaleMap(const OperandGeometry &operand,
                              ScaleLayout layout, AffineExpr rows,
                              const Sizes &sizes, MmaAttr mma, int64_t along) {
  auto storage = getStorageBytes(getScaleStorage(layout), rows, sizes.k,
                                 mma.getScaleSpan());
  return storageMap(
      storage, hw::TensorMapDataType::U32, sizes.batch,
      {{hw::Dim::Block, static_cast<uint64_t>(along)},
       {hw::Dim::Row, static_cast<uint64_t>(operand.groupsOfScaleBox)}});
}

/// The map of an operand's scales where K is in groups: those of a group are
/// tiles of 128 rows and 4 blocks, the ones of its first 128 rows first. A box
/// has so many of them as a stage takes along K.
static TensorMapType groupScaleMap(AffineExpr rows, const Sizes &sizes,
                                   MmaAttr mma, int64_t along) {
  MLIRContext *context = rows.getContext();
  constexpr int64_t kWords = hw::kAtomBytes / sizeof(uint32_t);
  auto constant = [&](int64_t value) {
    return getAffineConstantExpr(value, context);
  };
  int64_t unit = int64_t(hw::kAtomScales) * mma.getScaleSpan();
  AffineExpr tiles = rows.ceilDiv(int64_t(hw::kAtomRows)) *
                     groupedScaleTilesAlongK(sizes.k, sizes.batch, unit);
  return TensorMapType::get(
      context, hw::TensorMapDataType::U32, hostMap({constant(kWords), tiles}),
      hostMap({constant(hw::kAtomBytes)}), {kWords, along}, hw::Swizzle::None);
}

/// The map of the metadata: a stage takes whole tiles, their rows one by one.
static TensorMapType metadataMap(AffineExpr rows, const Sizes &sizes,
                                 MmaAttr mma, int64_t tiles) {
  int64_t perByte =
      hw::elementsPerMetadataByte(hw::sparsePattern(mma.getKind()));
  auto storage = getStorageBytes(getMetadataStorage(ScaleLayout::Tiled128x4),
                                 rows, sizes.k, perByte);
  return storageMap(storage, hw::TensorMapDataType::U8, sizes.batch,
                    {{hw::Dim::Block, static_cast<uint64_t>(tiles)},
                     {hw::Dim::Row, hw::kMetadataTileRows}});
}

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
  Sizes sizes = sizesOf(op);
  return storeMap(element, geometry.epilogueColumns(values),
                  {sizes.m, sizes.n, sizes.batch});
}

/// D as codes and scales, and the tensor scale that they are chosen under.
static void addQuantized(QuantizeOp op, SmallVector<KernelParameter> &list) {
  MLIRContext *context = op.getContext();
  Type i8 = GlobalType::get(context, IntegerType::get(context, 8)),
       f32 = GlobalType::get(context, Float32Type::get(context));
  list.push_back({i8, ParameterRole::DData});
  list.push_back(
      {hasFloatScales(op.getType()) ? f32 : i8, ParameterRole::DScales});
  if (!hasTensorScale(op.getType()))
    return;
  list.push_back({f32, ParameterRole::TensorScale});
  list.push_back({f32, ParameterRole::DTensorScale});
}

/// What the numbers of its groups are.
static ParameterRole roleOfGroups(MatmulOp op) {
  if (op.isGrouped())
    return ParameterRole::Offsets;
  return op.isMasked() ? ParameterRole::RowCounts : ParameterRole::KOffsets;
}

static SmallVector<KernelParameter> parametersOf(MatmulOp op,
                                                 const TileGeometry &geometry) {
  MLIRContext *context = op.getContext();
  Sizes sizes = sizesOf(op);
  MmaAttr mma = getMma(op);
  bool swap = getSchedule(op).getSwapOperands().getValue();
  const OperandGeometry &a = swap ? geometry.b : geometry.a;
  const OperandGeometry &b = swap ? geometry.a : geometry.b;
  auto global = [](Type tensor) {
    return GlobalType::get(tensor.getContext(),
                           cast<ShapedType>(tensor).getElementType());
  };
  Type f32 = Float32Type::get(context), i32 = IntegerType::get(context, 32);
  int64_t words = geometry.scaleWords;

  SmallVector<KernelParameter> list{
      {op.isGathered()
           ? gatheredMap(a, sizes)
           : dataMap(a, sizes.m, sizesOfA(op), mma.getSparse() && !swap),
       ParameterRole::AData},
      {dataMap(b, sizes.n, sizesOfB(op), mma.getSparse() && swap),
       ParameterRole::BData}};
  ScaledTensorType typeA = op.getA().getType(), typeB = op.getB().getType();
  int64_t alongA = geometry.isRowPerLane ? geometry.scaleRowTiles() : words;
  if (hasBlockScales(typeA, typeB))
    list.push_back({op.isGroupedAlongK()
                        ? groupScaleMap(sizes.m, sizes, mma, words)
                        : scaleMap(a, typeA.getLayout(), scaleRowsOfA(op),
                                   sizesOfA(op), mma, alongA),
                    ParameterRole::AScales});
  if (hasBlockScales(typeB, typeA))
    list.push_back(
        {op.isGroupedAlongK()
             ? groupScaleMap(sizes.n, sizes, mma, words)
             : scaleMap(b, typeB.getLayout(), sizes.n, sizes, mma, words),
         ParameterRole::BScales});
  if (mma.getSparse())
    list.push_back(
        {metadataMap(swap ? sizes.n : sizes.m, sizes, mma,
                     geometry.metadataTiles),
         swap ? ParameterRole::BMetadata : ParameterRole::AMetadata});
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
    list.push_back({global(op.getBias().getType()), ParameterRole::Bias});
  for (auto [type, other, tensorScale, scales] :
       {std::tuple(typeA, typeB, ParameterRole::ATensorScale,
                   ParameterRole::AScales),
        {typeB, typeA, ParameterRole::BTensorScale, ParameterRole::BScales}}) {
    if (hasTensorScale(type))
      list.push_back({GlobalType::get(context, f32), tensorScale});
    if (hasFactors(type, other))
      list.push_back({factorMemory(type), scales});
  }
  if (hasZeroTerms(op)) {
    list.push_back({GlobalType::get(context, f32), ParameterRole::ATerms});
    list.push_back({GlobalType::get(context, f32), ParameterRole::BTerms});
  }
  if (op.getAlpha())
    list.push_back({f32, ParameterRole::Alpha});
  if (op.getBeta())
    list.push_back({f32, ParameterRole::Beta});
  if (getSchedule(op).hasWorkspace())
    list.push_back({GlobalType::get(context, accumulatorType(mma)),
                    ParameterRole::Workspace});
  if (op.hasGroups())
    list.push_back({global(op.getOffsets().getType()), roleOfGroups(op)});
  if (op.isGathered())
    list.push_back(
        {global(op.getRowNumbers().getType()), ParameterRole::RowNumbers});
  auto addSize = [&](AffineExpr size, ParameterRole role) {
    if (!isa<AffineConstantExpr>(size))
      list.push_back({i32, role});
  };
  addSize(sizes.m, ParameterRole::SizeM);
  addSize(sizes.n, ParameterRole::SizeN);
  addSize(sizes.k, ParameterRole::SizeK);
  addSize(sizes.batch, ParameterRole::Batch);
  if (op.isGathered())
    addSize(sizes.tokens, ParameterRole::SizeTokens);
  return list;
}

/// Output tiles, counted in those of a whole cluster.
static AffineExpr tilesOf(MatmulOp op, const TileGeometry &geometry) {
  Sizes sizes = sizesOf(op);
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
/// both operands where K is in groups.
static int64_t sharedScales(MatmulOp op, const Factors &factors) {
  if (op.isGroupedAlongK())
    return int64_t(factors.ofTensors.size());
  return op.isGrouped() ? factors.ofA : 0;
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
  Sizes sizes = sizesOf(op);
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
