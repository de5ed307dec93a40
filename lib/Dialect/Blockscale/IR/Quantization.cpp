//===- Quantization.cpp - what a quantisation kernel writes ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/HW/ScaleLayout.h"

using namespace mlir;
using namespace blockscale;

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Rows of a tile are threads of a CTA that has those of an atom of scales.
static constexpr int64_t kMostTileRows = hw::kAtomRows;

/// Why no kernel writes tensors that are arranged as `type` is.
static std::optional<Reason> whyNotArranged(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  std::string name = "'" + std::string(type.getSpec().getText()) + "'";
  if (spec.isUnscaled())
    return "a kernel quantises to elements with scales of tiles along K, but "
           "the result has none";
  if (spec.isSparse())
    return "a kernel writes dense elements, but " + name +
           " prunes; prune on the host first";
  int64_t rowTile = type.getRowTile();
  if (!spec.isTile() || !llvm::isPowerOf2_64(rowTile) ||
      rowTile > kMostTileRows)
    return "a kernel chooses scales for blocks along K of 1, 4, 8, 16, 32, 64 "
           "or 128 rows, but those of " +
           name +
           " are for other tiles; nearest legal: 'e8m0_t32' or "
           "'e8m0_t32_t32'";
  if (type.getOrder() != DataOrder::KMajor)
    return Reason(
        "a kernel writes elements along K, but the result is in order "
        "'mn_major'; nearest legal: 'k_major'");
  if (type.getLayout() != ScaleLayout::Tiled128x4 &&
      type.getLayout() != ScaleLayout::Grouped128x4)
    return "a kernel writes scales in layout 'tiled_128x4', as the tensor core "
           "reads them, but the result has '" +
           stringifyScaleLayout(type.getLayout()).str() + "'";
  if (spec.zero)
    return "a kernel writes no zero points, which " + name + " has";
  if (spec.tensorScale &&
      !getBuiltinType(type.getContext(), *spec.tensorScale).isF32())
    return "a kernel writes tensor scales of float32, but those of " + name +
           " are others";
  return std::nullopt;
}

static std::optional<hw::Scheme> schemeOf(hw::OperandType element,
                                          std::optional<ElementFormat> scale,
                                          int64_t block, hw::Target target) {
  if (!scale || element.bits() > 8)
    return std::nullopt;
  std::vector<hw::Scheme> schemes =
      hw::findSchemes(element, element, *scale, unsigned(block),
                      /*sparse=*/false, target);
  return schemes.empty() ? std::nullopt : std::optional(schemes.front());
}

void blockscale::setLines(QuantizedStorage &storage,
                          const hw::TensorMapDataTypeInfo &data,
                          AffineExpr elements) {
  storage.data = &data;
  int64_t multiple = data.innerMultiple;
  AffineExpr padded = elements.ceilDiv(multiple) * multiple;
  AffineExpr bytes = (padded * int64_t(data.globalBits)).ceilDiv(8);
  int64_t alignment = data.alignment;
  storage.linePitch = bytes.ceilDiv(alignment) * alignment;
  storage.batchPitch = storage.linePitch * storage.rows;
}

std::optional<QuantizedStorage>
blockscale::operandStorage(ScaledTensorType type, hw::Target target) {
  const ScaleSpec &spec = type.getSpec().getValue();
  std::optional<hw::OperandType> element =
      getOperandType(type.getElementType());
  std::optional<ElementFormat> scale = scaleFormat(*spec.scale);
  int64_t block = type.getKTile();
  std::optional<hw::Scheme> scheme;
  if (element)
    scheme = schemeOf(*element, scale, block, target);
  if (!scheme || !isa<FloatType>(type.getElementType()))
    return std::nullopt;
  MLIRContext *context = type.getContext();
  auto size = [&](int64_t extent, unsigned symbol) -> AffineExpr {
    if (ShapedType::isDynamic(extent))
      return getAffineSymbolExpr(symbol, context);
    return getAffineConstantExpr(extent, context);
  };
  QuantizedStorage storage;
  storage.rows = size(type.getNumRows(), 0);
  storage.k = size(type.getK(), 2);
  storage.batch = size(type.isBatched() ? type.getShape().front() : 1, 3);
  storage.element = *element->format();
  storage.scale = *scale;
  storage.block = block;
  storage.rowTile = type.getRowTile();
  unsigned container = hw::containerBits(scheme->kind);
  setLines(
      storage,
      hw::tensorMapDataTypeInfo(*hw::tensorMapDataType(*element, container)),
      storage.k);
  storage.scales = getStorageBytes(getScaleStorage(type.getLayout()),
                                   storage.rows, storage.k, block);
  return storage;
}

/// Each group of rows has tiles of scales of its own.
static void padGroups(QuantizedStorage &storage, ScaledTensorType type,
                      AffineExpr groups) {
  constexpr unsigned kGroups = 3;
  if (!groups)
    groups = getAffineSymbolExpr(kGroups, type.getContext());
  storage.scales = getStorageBytes(getScaleStorage(type.getLayout()),
                                   groupedScaleRows(storage.rows, groups),
                                   storage.k, storage.block);
}

Result<QuantizedStorage> blockscale::quantizedStorage(ScaledTensorType type,
                                                      hw::Target target,
                                                      AffineExpr groups) {
  if (auto why = whyNotArranged(type))
    return *why;
  std::optional<QuantizedStorage> storage = operandStorage(type, target);
  if (!storage || storage->scale == ElementFormat::UE5M3)
    return Reason("no instruction of '" + hw::targetName(target) +
                  "' reads elements of " + textOf(type.getElementType()) +
                  " with scales as '" + type.getSpec().getText() +
                  "' says, so that no kernel writes them; nearest legal: "
                  "'e8m0_t32', or for f4E2M1FN 'multi_float32_e4m3fn_t16'");
  if (type.getLayout() == ScaleLayout::Grouped128x4)
    padGroups(*storage, type, groups);
  return *std::move(storage);
}

std::optional<Reason>
blockscale::whyNotEpilogue(const QuantizedStorage &storage) {
  if (storage.rowTile == 1)
    return std::nullopt;
  return "a product quantises its result in blocks of one row, but a scale is "
         "for " +
         std::to_string(storage.rowTile) +
         " rows; nearest legal: one row, as in 'e8m0_t32', or a kernel of its "
         "own that quantises";
}
