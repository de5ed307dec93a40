//===- OperandMaps.cpp - tensor maps of the operands of a product ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperandMaps.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"

using namespace mlir;
using namespace blockscale;

HostSizes blockscale::hostSizes(MatmulOp op) {
  MLIRContext *context = op.getContext();
  auto size = [&](int64_t extent, unsigned symbol) {
    return ShapedType::isDynamic(extent)
               ? getAffineSymbolExpr(symbol, context)
               : getAffineConstantExpr(extent, context);
  };
  ProductSizes sizes = op.getSizes();
  HostSizes found{size(sizes.m, 0), size(sizes.n, 1), size(sizes.k, 2),
                  size(sizes.batch, 3), AffineExpr()};
  if (op.isGathered())
    found.tokens = size(op.getA().getType().getNumRows(), kTokensSymbol);
  return found;
}

/// The sizes of `a`, which is one matrix where its rows or K are in groups.
static HostSizes sizesOfA(MatmulOp op) {
  HostSizes sizes = hostSizes(op);
  if (op.isGrouped() || op.isGroupedAlongK())
    sizes.batch = getAffineConstantExpr(1, op.getContext());
  return sizes;
}

/// Those of `b`, which is one where K is.
static HostSizes sizesOfB(MatmulOp op) {
  return op.isGroupedAlongK() ? sizesOfA(op) : hostSizes(op);
}

/// The rows that the scales of `a` have with the padding of groups: at most so
/// many.
static AffineExpr scaleRowsOfA(MatmulOp op) {
  HostSizes sizes = hostSizes(op);
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
                             const HostSizes &sizes, bool isCompressed) {
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
                                 const HostSizes &sizes) {
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
                              const HostSizes &sizes, MmaAttr mma,
                              int64_t along) {
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
static TensorMapType groupScaleMap(AffineExpr rows, const HostSizes &sizes,
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
static TensorMapType metadataMap(AffineExpr rows, const HostSizes &sizes,
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
// Those of a product
//===----------------------------------------------------------------------===//

/// Those of the scales of operands that have some for instructions.
static void addScales(MatmulOp op, const TileGeometry &geometry,
                      SmallVector<KernelParameter> &list) {
  HostSizes sizes = hostSizes(op);
  MmaAttr mma = getMma(op);
  bool swap = getSchedule(op).getSwapOperands().getValue();
  const OperandGeometry &a = swap ? geometry.b : geometry.a;
  const OperandGeometry &b = swap ? geometry.a : geometry.b;
  ScaledTensorType typeA = op.getA().getType(), typeB = op.getB().getType();
  int64_t words = geometry.scaleWords;
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
}

SmallVector<KernelParameter>
blockscale::operandMaps(MatmulOp op, const TileGeometry &geometry) {
  HostSizes sizes = hostSizes(op);
  MmaAttr mma = getMma(op);
  bool swap = getSchedule(op).getSwapOperands().getValue();
  const OperandGeometry &a = swap ? geometry.b : geometry.a;
  const OperandGeometry &b = swap ? geometry.a : geometry.b;
  SmallVector<KernelParameter> list{
      {op.isGathered()
           ? gatheredMap(a, sizes)
           : dataMap(a, sizes.m, sizesOfA(op), mma.getSparse() && !swap),
       ParameterRole::AData},
      {dataMap(b, sizes.n, sizesOfB(op), mma.getSparse() && swap),
       ParameterRole::BData}};
  addScales(op, geometry, list);
  if (mma.getSparse())
    list.push_back(
        {metadataMap(swap ? sizes.n : sizes.m, sizes, mma,
                     geometry.metadataTiles),
         swap ? ParameterRole::BMetadata : ParameterRole::AMetadata});
  return list;
}
