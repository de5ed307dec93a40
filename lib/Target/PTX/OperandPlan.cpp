//===- OperandPlan.cpp - how operands of a product lie in memory ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperandPlan.h"
#include "PlanExpressions.h"
#include "PlanParts.h"
#include "StoragePlan.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/StoredElements.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/Dialect/Blockscale/IR/ZeroTerms.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/HW/TensorMap.h"
#include "blockscale/Plan/Sizes.h"
#include "blockscale/Target/PTX/LaunchPlan.h"

using namespace mlir;
using namespace blockscale;

std::string blockscale::bitOrder(unsigned bits) {
  if (bits == 8)
    return "byte i of a line holds element i";
  return "element i of a line lies in bits " + std::to_string(bits) +
         " * i to " + std::to_string(bits) + " * i + " +
         std::to_string(bits - 1) + ", bit 0 being the lowest of byte 0";
}

/// What whoever packs the operand subtracts from its elements.
static std::optional<plan::ZeroPoints> zeroPointsOf(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  if (!spec.hasIntegerZero())
    return std::nullopt;
  return plan::ZeroPoints{spec.zero->bits(), unsigned(type.getRowTile()),
                          spec.isTile() ? unsigned(type.getKTile()) : 0};
}

plan::DataPacking blockscale::dataPacking(const PlannedProduct &product,
                                          bool isA, TensorMapType map) {
  ScaledTensorType type = isA ? product.a : product.b;
  SymbolicSizes sizes = sizesOf(product);
  const hw::TensorMapDataTypeInfo &info =
      hw::tensorMapDataTypeInfo(map.getDataType());
  bool kMajor = type.getOrder() == DataOrder::KMajor;
  AffineExpr rows = isA ? sizes.rowsOfA : sizes.n;
  AffineExpr stored = isA != product.swap && product.mma.getSparse()
                          ? sizes.k.floorDiv(int64_t(hw::kSparseCompression))
                          : sizes.k;
  plan::DataPacking data;
  data.operand = isA ? "a" : "b";
  data.format =
      (isA != product.swap ? product.mma.getA() : product.mma.getB()).name();
  data.order = stringifyDataOrder(type.getOrder()).str();
  data.bits = info.globalBits;
  data.elementMultiple = info.innerMultiple;
  // Scales keep the padding out of the sum, but in the block that a dynamic K
  // ends in.
  data.zeroPadding = !hasBlockScales(product.a, product.b) ||
                     !hasBlockScales(product.b, product.a) ||
                     !isa<AffineConstantExpr>(sizes.k);
  data.lines = printExpression(kMajor ? rows : stored);
  data.elements = printExpression(kMajor ? stored : rows);
  data.linePitch = printExpression(map.getStrides().getResult(0));
  AffineMap strides = map.getStrides();
  data.batchPitch = printExpression(strides.getNumResults() > 1
                                        ? strides.getResult(1)
                                        : strides.getResult(0) * rows);
  data.alignment = info.alignment;
  data.bitOrder = bitOrder(info.globalBits);
  if (std::optional<packing::Recoding> recoding = recodingOf(
          type, isA ? product.b : product.a, product.mma.getKind())) {
    std::vector<int> codes = packing::storedCodes(*recoding);
    data.source = {std::string(recoding->from),
                   {codes.begin(), codes.end()},
                   zeroPointsOf(type)};
  }
  return data;
}

/// The byte of row `r` and block `j` of matrix `l` in `storage`; of element `k`
/// instead, if blocks of `blockSize` are counted in elements. Storage may have
/// a line for `rowsOfLine` rows, or one for all if these are 0.
plan::Expression
blockscale::placeFormula(const hw::StorageLayout<AffineExpr> &storage,
                         int64_t blockSize, int64_t rowsOfLine) {
  std::string text = "l * " + printAt(storage.matrixBytes, Binding::Atom);
  hw::StorageLayout<AffineExpr> whole = hw::joined(storage);
  for (const auto &digit : whole.digits) {
    hw::Dim source = digit.term.source;
    if (source == hw::Dim::Row && rowsOfLine == 0)
      continue;
    if (source == hw::Dim::Row && rowsOfLine != 1)
      text += " + " + hw::printDigit(digit.term, hw::dimName(source),
                                     uint64_t(rowsOfLine));
    else if (source == hw::Dim::Block && blockSize != 1)
      text += " + " +
              hw::printDigit(digit.term, hw::dimName(hw::Dim::K), blockSize);
    else
      text += " + " + hw::printDigit(digit.term, hw::dimName(source));
    auto stride = dyn_cast<AffineConstantExpr>(digit.stride);
    if (!stride || stride.getValue() != 1)
      text += " * " + printAt(digit.stride, Binding::Atom);
  }
  return text;
}

/// The extent of `source` with padding, times `unit`.
plan::Expression
blockscale::paddedExtent(const hw::StorageLayout<AffineExpr> &storage,
                         hw::Dim source, int64_t unit) {
  for (const auto &digit : storage.digits)
    if (digit.term.source == source && !digit.term.modulus)
      return printExpression(digit.extent * int64_t(digit.term.divisor * unit));
  llvm_unreachable("each source has a digit without end");
}

/// Where scales of groups along K lie: the tiles of a group follow each other,
/// and `offset` counts within tile number `l`, as only the offsets tell it.
static void placeInGroups(const PlannedProduct &product, bool isA,
                          plan::ScalePacking &scales) {
  SymbolicSizes sizes = sizesOf(product);
  AffineExpr rows = (isA ? sizes.m : sizes.n).ceilDiv(int64_t(hw::kAtomRows));
  int64_t unit = int64_t(hw::kAtomScales) * product.mma.getScaleSpan();
  AffineExpr tiles = groupedScaleTilesAlongK(sizes.k, sizes.batch, unit);
  auto constant = [&](int64_t value) {
    return getAffineConstantExpr(value, product.a.getContext());
  };
  scales.offset = placeFormula(getStorageBytes(
      getScaleStorage(ScaleLayout::Tiled128x4), constant(hw::kAtomRows),
      constant(unit), product.mma.getScaleSpan()));
  scales.paddedRows = printExpression(rows * int64_t(hw::kAtomRows));
  scales.paddedScales = printExpression(tiles * int64_t(hw::kAtomScales));
  scales.bytes = printExpression(rows * tiles * int64_t(hw::kAtomBytes));
}

plan::ScalePacking blockscale::scalePacking(const PlannedProduct &product,
                                            bool isA, TensorMapType map) {
  SymbolicSizes sizes = sizesOf(product);
  ScaledTensorType type = isA ? product.a : product.b;
  ScaleLayout layout = type.getLayout();
  AffineExpr rows = isA ? sizes.m : sizes.n;
  if (isA && product.isGrouped)
    rows = groupedScaleRows(rows, sizes.batch);
  auto storage = getStorageBytes(getScaleStorage(layout), rows, sizes.k,
                                 product.mma.getScaleSpan());
  plan::ScalePacking scales;
  scales.operand = isA ? "a" : "b";
  scales.format = std::string(formatName(*product.mma.getScale()));
  scales.block = product.mma.getScaleSpan();
  scales.rows = type.getRowTile();
  if (type.getKTile() != int64_t(scales.block))
    scales.elements = type.getKTile();
  scales.layout = stringifyScaleLayout(layout).str();
  scales.offset = placeFormula(storage);
  scales.paddedRows = paddedExtent(storage, hw::Dim::Row);
  scales.paddedScales = paddedExtent(storage, hw::Dim::Block);
  scales.bytes =
      printExpression(storage.matrixBytes * matricesOf(product, !isA));
  if (product.kGroups)
    placeInGroups(product, isA, scales);
  // Bits that the format does not have must be clear; what NaNs and infinities
  // would reach, the kernel clears.
  scales.largestPaddingValue = formatInfo(*product.mma.getScale()).codeMask();
  scales.alignment = hw::tensorMapDataTypeInfo(map.getDataType()).alignment;
  return scales;
}

plan::MetadataPacking blockscale::metadataOf(const PlannedProduct &product,
                                             TensorMapType map) {
  SymbolicSizes sizes = sizesOf(product);
  hw::SparsePattern pattern = hw::sparsePattern(product.mma.getKind());
  auto storage = getStorageBytes(getMetadataStorage(ScaleLayout::Tiled128x4),
                                 product.swap ? sizes.n : sizes.m, sizes.k,
                                 hw::elementsPerMetadataByte(pattern));
  plan::MetadataPacking metadata =
      metadataPacking(pattern, storage, sizes.batch, product.swap ? "b" : "a");
  metadata.alignment = hw::tensorMapDataTypeInfo(map.getDataType()).alignment;
  return metadata;
}

/// What the numbers of its groups are.
static ParameterRole roleOfGroups(const PlannedProduct &product) {
  if (product.isGrouped)
    return ParameterRole::Offsets;
  return product.isMasked ? ParameterRole::RowCounts : ParameterRole::KOffsets;
}

/// Numbers one behind the other, of a type that the plan calls `type`.
static plan::PlainOperand numbersOf(StringRef name, StringRef type,
                                    AffineExpr elements, unsigned bytes) {
  plan::PlainOperand numbers;
  numbers.operand = name.str();
  numbers.type = type.str();
  numbers.elements = printExpression(elements);
  numbers.alignment = bytes;
  return numbers;
}

static plan::PlainOperand biasOf(const PlannedProduct &product,
                                 const SymbolicSizes &sizes) {
  bool isOfRows = product.biasKind == BiasKind::Row;
  AffineExpr length = isOfRows ? sizes.m : sizes.n;
  if ((product.isGrouped && !isOfRows) || product.isMasked || product.kGroups)
    length = length * sizes.batch;
  return numbersOf("bias", planTypeName(product.bias), length,
                   product.bias.getIntOrFloatBitWidth() / 8);
}

/// The terms of zero points, of rows of A and of B.
static void addZeroTerms(const PlannedProduct &product,
                         const SymbolicSizes &sizes,
                         std::vector<plan::PlainOperand> &operands) {
  if (!hasRealZeros(product.a) && !hasRealZeros(product.b))
    return;
  for (auto [role, rows, isB] :
       {std::tuple(ParameterRole::ATerms, sizes.rowsOfA, false),
        {ParameterRole::BTerms, sizes.n, true}}) {
    AffineExpr count =
        zeroTerms(product.a, sizes.k) + zeroTerms(product.b, sizes.k);
    operands.push_back(numbersOf(stringifyParameterRole(role), "f32",
                                 count * rows * matricesOf(product, isB),
                                 sizeof(float)));
  }
}

std::vector<plan::PlainOperand>
blockscale::plainOperands(const PlannedProduct &product) {
  SymbolicSizes sizes = sizesOf(product);
  AffineExpr columns = product.hasPairs ? sizes.n.floorDiv(2) : sizes.n;
  auto matrix = [&](StringRef name, Type element) {
    plan::PlainOperand operand;
    operand.operand = name.str();
    operand.type = planTypeName(element);
    operand.rowPitch = printExpression(columns);
    operand.batchPitch = printExpression(sizes.m * columns);
    AffineExpr matrices = product.kGroups ? sizes.batch : matricesOf(product);
    operand.elements = printExpression(sizes.m * columns * matrices);
    operand.alignment = element.getIntOrFloatBitWidth() / 8;
    return operand;
  };
  std::vector<plan::PlainOperand> operands;
  if (!product.isQuantized)
    operands.push_back(matrix("d", product.d));
  if (product.isStoredByTma)
    operands.front().alignment = storeAlignment();
  if (product.c)
    operands.push_back(matrix("c", product.c));
  if (product.isCLoadedByTma)
    operands.back().alignment = storeAlignment();
  if (product.bias)
    operands.push_back(biasOf(product, sizes));
  addZeroTerms(product, sizes, operands);
  if (product.isGrouped || product.isMasked || product.kGroups)
    operands.push_back(numbersOf(stringifyParameterRole(roleOfGroups(product)),
                                 "i32", sizes.batch, sizeof(int32_t)));
  if (product.gathered)
    operands.push_back(
        numbersOf(stringifyParameterRole(ParameterRole::RowNumbers), "i32",
                  sizes.m, sizeof(int32_t)));
  return operands;
}

std::vector<plan::TensorScales>
blockscale::tensorScales(const PlannedProduct &product) {
  std::vector<plan::TensorScales> list;
  for (bool isB : {false, true})
    if (hasTensorScale(isB ? product.b : product.a))
      list.push_back({isB ? "b" : "a",
                      printExpression(matricesOf(product, isB)),
                      sizeof(float)});
  return list;
}

std::vector<plan::VectorScales>
blockscale::vectorScales(const PlannedProduct &product) {
  SymbolicSizes sizes = sizesOf(product);
  std::vector<plan::VectorScales> list;
  for (bool isA : {true, false}) {
    ScaledTensorType type = isA ? product.a : product.b;
    const ScaleSpec &spec = type.getSpec().getValue();
    bool isPromoted = hasPromotedScales(type, isA ? product.b : product.a);
    if (!spec.coversK() && !isPromoted)
      continue;
    plan::VectorScales scales;
    scales.operand = isA ? "a" : "b";
    std::optional<ElementFormat> format = byteFactor(*spec.scale);
    Type element = getBuiltinType(type.getContext(), *spec.scale);
    scales.format = format ? std::string(formatName(*format))
                    : isDecodedFactor(element) ? print(*spec.scale)
                                               : planTypeName(element);
    scales.rows = type.getRowTile();
    AffineExpr count =
        scales.rows
            ? (isA ? sizes.rowsOfA : sizes.n).ceilDiv(int64_t(scales.rows))
            : getAffineConstantExpr(1, type.getContext());
    if (isPromoted) {
      scales.block = type.getKTile();
      count = count * sizes.k.ceilDiv(int64_t(scales.block));
    }
    // Where K is in groups each of them has its own, or all share one.
    AffineExpr matrices = type.getLayout() == ScaleLayout::Grouped
                              ? sizes.batch
                              : matricesOf(product, !isA);
    scales.matrixElements = printExpression(count);
    scales.elements = printExpression(count * matrices);
    scales.alignment = unsigned(plan::plainBytes(scales.format));
    list.push_back(std::move(scales));
  }
  return list;
}

std::vector<plan::ZeroTerms>
blockscale::zeroTermsOf(const PlannedProduct &product) {
  AffineExpr k = sizesOf(product).k;
  AffineExpr first = getAffineConstantExpr(0, product.a.getContext());
  std::vector<plan::ZeroTerms> list;
  for (bool isA : {true, false}) {
    ScaledTensorType type = isA ? product.a : product.b;
    if (!hasRealZeros(type))
      continue;
    const ScaleSpec &spec = type.getSpec().getValue();
    AffineExpr count = zeroTerms(type, k);
    plan::ZeroTerms terms;
    terms.operand = isA ? "a" : "b";
    terms.format = planTypeName(getBuiltinType(type.getContext(), *spec.zero));
    terms.rows = type.getRowTile();
    terms.block = spec.isTile() ? unsigned(type.getKTile()) : 0;
    terms.first = printExpression(first);
    terms.count = printExpression(count);
    first = first + count;
    list.push_back(std::move(terms));
  }
  return list;
}
