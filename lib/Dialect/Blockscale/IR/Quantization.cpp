//===- Quantization.cpp - what a quantisation kernel writes ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "KernelElements.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/GivenScales.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace blockscale;

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

Type blockscale::plainScaleType(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  Type format =
      spec.scale ? getBuiltinType(type.getContext(), *spec.scale) : Type();
  bool isFloat =
      isa_and_nonnull<Float32Type, Float16Type, BFloat16Type>(format);
  bool isPower = isa_and_nonnull<Float8E8M0FNUType>(format) && spec.coversK();
  return isFloat || isPower ? format : Type();
}

static bool hasPlainScales(ScaledTensorType type) {
  return bool(plainScaleType(type));
}

bool blockscale::hasFloatScales(ScaledTensorType type) {
  Type scale = plainScaleType(type);
  return scale && scale.isF32();
}

Type QuantizedStorage::scaleMemory() const {
  constexpr unsigned kByte = 8;
  if (!plainScale || plainScale.getIntOrFloatBitWidth() == kByte)
    return IntegerType::get(k.getContext(), kByte);
  return plainScale;
}

/// What a kernel has in place of elements that are stored as others.
static std::string nearestElements(ScaledTensorType type) {
  Type element = type.getElementType();
  if (element.isSignlessInteger(8))
    return "'float32_t0' or 'float32'";
  if (element.isSignlessInteger(4))
    return hasPlainScales(type) ? "f8E4M3FN" : "f6E2M3FN";
  return isa<Float8E5M2FNUZType>(element) ? "f8E5M2" : "f8E4M3FN";
}

std::optional<std::string> blockscale::whyNotStoredAsIs(ScaledTensorType type,
                                                        StringRef verb) {
  Type element = type.getElementType();
  std::optional<hw::OperandType> stored = getOperandType(element);
  bool isFloat = isa<FloatType>(element) && stored;
  // Whole numbers under a scale for all of K.
  bool isByte = element.isSignlessInteger(8) && hasPlainScales(type) &&
                type.getSpec().getValue().coversK();
  if (isFloat || isByte || type.getSpec().getValue().zero)
    return std::nullopt;
  return "a kernel " + verb.str() + " elements as products read them, but " +
         textOf(element) + " under '" + std::string(type.getSpec().getText()) +
         "' is stored as another format when it is packed; nearest legal: " +
         nearestElements(type) +
         ", or a whole function ('--emit=host-llvm'), whose host " + verb.str();
}

std::optional<Reason> blockscale::whyNotAlongK(ScaledTensorType type,
                                               StringRef does, StringRef what) {
  if (type.getOrder() == DataOrder::KMajor)
    return std::nullopt;
  return "a kernel " + does.str() + " along K, but " + what.str() +
         " is in order 'mn_major'; nearest legal: 'k_major', from and to which "
         "a kernel of 'blockscale.relayout' brings it, as whole functions do "
         "by "
         "themselves ('--emit=host-llvm --quantize-on-device')";
}

/// Why no kernel writes tensors that are arranged as `type` is.
static std::optional<Reason> whyNotArranged(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  std::string name = "'" + std::string(type.getSpec().getText()) + "'";
  if (spec.isUnscaled())
    return "a kernel quantises to elements with scales of tiles along K, but "
           "the result has none";
  if (spec.isSparse())
    return "a kernel writes dense elements, but " + name +
           " prunes; nearest legal: '" + print(denseForm(spec)) +
           "', of which kernels of 'blockscale.prune' before and of "
           "'blockscale.compress' behind make the other";
  bool isFactor = spec.coversK() && hasPlainScales(type) &&
                  (spec.isTensor() || type.getRowTile() == 1);
  if (!isFactor && (!spec.isTile() || type.getRowTile() < 1))
    return "a kernel chooses scales for tiles along K of one row or several, "
           "but those of " +
           name +
           " are for all rows or all of K; nearest legal: 'e8m0_t32', "
           "'e8m0_t32_t32', 'float32_t0' or 'float32'";
  if (auto why = whyNotAlongK(type, "writes elements", "the result"))
    return why;
  if (!hasPlainScales(type) && !scaleFormat(*spec.scale))
    return "a kernel writes float scales of float32, float16 and bfloat16, but "
           "those of " +
           name + " are others; nearest legal: 'float32_t128'";
  if (spec.zero)
    return "a kernel writes no zero points, which " + name +
           " has; nearest legal: 'float32_t0' of i8, or a whole function "
           "('--emit=host-llvm'), whose host quantises";
  if (auto why = whyNotStoredAsIs(type, "quantises"))
    return Reason(*why);
  // Those of floats are always plain.
  if (!hasPlainScales(type) && type.getLayout() != ScaleLayout::Tiled128x4 &&
      type.getLayout() != ScaleLayout::Grouped128x4)
    return "a kernel writes scales in layout 'tiled_128x4', as the tensor core "
           "reads them, but the result has '" +
           stringifyScaleLayout(type.getLayout()).str() + "'";
  if (hasPlainScales(type) && spec.tensorScale)
    return "a kernel writes no tensor scale beside float scales, but " + name +
           " has one; nearest legal: 'float32_t128'";
  if (spec.tensorScale &&
      !getBuiltinType(type.getContext(), *spec.tensorScale).isF32())
    return "a kernel writes tensor scales of float32, but those of " + name +
           " are others";
  return std::nullopt;
}

static std::optional<hw::Scheme> schemeOf(hw::OperandType element,
                                          std::optional<ElementFormat> scale,
                                          int64_t block, ScaleReader reader,
                                          hw::Target target) {
  if (!scale || element.bits() > 8)
    return std::nullopt;
  std::vector<hw::Scheme> schemes =
      hw::findSchemes(element, element, *scale, unsigned(block),
                      reader == ScaleReader::Sparse, target);
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

static void setSizes(QuantizedStorage &storage, ScaledTensorType type) {
  MLIRContext *context = type.getContext();
  auto size = [&](int64_t extent, unsigned symbol) -> AffineExpr {
    if (ShapedType::isDynamic(extent))
      return getAffineSymbolExpr(symbol, context);
    return getAffineConstantExpr(extent, context);
  };
  storage.rows = size(type.getNumRows(), 0);
  storage.k = size(type.getK(), 2);
  storage.batch = size(type.isBatched() ? type.getShape().front() : 1, 3);
  storage.rowTile = type.getRowTile();
}

QuantizedStorage blockscale::sizesInMemory(ScaledTensorType type) {
  QuantizedStorage storage;
  setSizes(storage, type);
  return storage;
}

/// The same with a scale in memory for each `block` elements along K.
static std::optional<QuantizedStorage> storageInBlocks(ScaledTensorType type,
                                                       int64_t block,
                                                       ScaleReader reader,
                                                       hw::Target target) {
  const ScaleSpec &spec = type.getSpec().getValue();
  std::optional<hw::OperandType> element =
      getOperandType(type.getElementType());
  std::optional<ElementFormat> scale = scaleFormat(*spec.scale);
  std::optional<hw::Scheme> scheme;
  if (element)
    scheme = schemeOf(*element, scale, block, reader, target);
  if (!scheme || !isa<FloatType>(type.getElementType()))
    return std::nullopt;
  QuantizedStorage storage;
  setSizes(storage, type);
  storage.element = *element->format();
  storage.scale = *scale;
  storage.block = block;
  unsigned container = hw::containerBits(scheme->kind);
  setLines(
      storage,
      hw::tensorMapDataTypeInfo(*hw::tensorMapDataType(*element, container)),
      storage.k);
  storage.scales = getStorageBytes(getScaleStorage(type.getLayout()),
                                   storage.rows, storage.k, block);
  return storage;
}

/// Of tiles that are longer than the blocks of instructions the scales are
/// repeated for the longest block that some instruction reads.
static std::optional<QuantizedStorage>
repeatedStorage(ScaledTensorType type, ScaleReader reader, hw::Target target) {
  int64_t tile = type.getKTile();
  int64_t longest = reader == ScaleReader::Sparse ? 64 : 32;
  for (int64_t block : {tile, longest, longest / 2}) {
    if (tile % block != 0)
      continue;
    std::optional<QuantizedStorage> storage =
        storageInBlocks(type, block, reader, target);
    if (!storage)
      continue;
    storage->tileBlocks = tile / block;
    return storage;
  }
  return std::nullopt;
}

/// Why no kernel writes such elements under float scales.
static std::optional<Reason> whyNotElement(ScaledTensorType type,
                                           hw::Target target) {
  constexpr unsigned kMostBits = 8;
  std::optional<hw::OperandType> element =
      getOperandType(type.getElementType());
  bool isInteger = element == hw::OperandType(ElementFormat::INT8);
  if (!element || element->bits() > kMostBits ||
      !(isInteger || isa<FloatType>(type.getElementType())))
    return "a kernel quantises to floats of at most 8 bits or to i8 under "
           "float scales, but the elements of the result are " +
           textOf(type.getElementType());
  if (!isInteger)
    return std::nullopt;
  if (!type.getSpec().getValue().hasPlainIntegers())
    return "i8 under powers of two is a fixed-point number, which no product "
           "reads under scales of all of K; nearest legal: 'float32_t0' or "
           "'float32' in place of '" +
           std::string(type.getSpec().getText()) + "'";
  if (hw::findSchemes(*element, *element, std::nullopt, 0, /*sparse=*/false,
                      target)
          .empty())
    return "no instruction of '" + hw::targetName(target) +
           "' reads elements of i8, so that no kernel writes them; nearest "
           "legal: f8E4M3FN";
  return std::nullopt;
}

/// Under plain scales elements are those of kinds that take each in a byte. A
/// thread has as many as under the longest blocks of instructions.
static Result<QuantizedStorage> plainStorage(ScaledTensorType type,
                                             hw::Target target) {
  constexpr int64_t kBlock = 32;
  constexpr unsigned kContainer = 8;
  std::string name = "'" + std::string(type.getSpec().getText()) + "'";
  std::optional<hw::OperandType> element =
      getOperandType(type.getElementType());
  if (auto why = whyNotElement(type, target))
    return *why;
  if (type.getKTile() % kBlock != 0)
    return Reason(
        "tiles of fewer than " + std::to_string(kBlock) +
        " elements along K are multiplied as bf16, which no kernel writes "
        "for " +
        name + "; nearest legal: 'float32_t32'");
  if (auto why = hw::whyNotFeature(hw::Feature::NarrowConvert, target))
    return *why;
  QuantizedStorage storage;
  setSizes(storage, type);
  storage.element = *element->format();
  storage.plainScale = plainScaleType(type);
  storage.block = kBlock;
  storage.tileBlocks = type.getKTile() / kBlock;
  setLines(
      storage,
      hw::tensorMapDataTypeInfo(*hw::tensorMapDataType(*element, kContainer)),
      storage.k);
  return storage;
}

std::optional<QuantizedStorage>
blockscale::operandStorage(ScaledTensorType type, hw::Target target) {
  if (hasPlainScales(type)) {
    Result<QuantizedStorage> storage = plainStorage(type, target);
    return storage ? std::optional(*std::move(storage)) : std::nullopt;
  }
  // In rows a scale is there once.
  if (type.getLayout() == ScaleLayout::Plain)
    return storageInBlocks(type, type.getKTile(), ScaleReader::Dense, target);
  return repeatedStorage(type, ScaleReader::Dense, target);
}

/// The threads of a tile are those of a CTA at most.
static std::optional<Reason> whyNotTile(const QuantizedStorage &storage,
                                        ScaledTensorType type) {
  if (storage.repetitions() <= kMostTileThreads)
    return std::nullopt;
  return "a CTA of a kernel finds scales of at most " +
         std::to_string(kMostTileThreads) + " blocks of " +
         std::to_string(storage.block) + " elements, but tiles of '" +
         std::string(type.getSpec().getText()) + "' have " +
         std::to_string(storage.repetitions()) + "; nearest legal: tiles of " +
         std::to_string(kMostTileThreads / storage.tileBlocks) + " rows";
}

int64_t blockscale::threadsOfRow(const QuantizedStorage &storage) {
  constexpr int64_t kMost = 256;
  auto k = dyn_cast<AffineConstantExpr>(storage.k);
  if (!k)
    return hw::kWarpSize;
  auto blocks = int64_t(
      llvm::PowerOf2Ceil(uint64_t(k.getValue()) / uint64_t(storage.block)));
  return std::clamp<int64_t>(blocks, hw::kWarpSize, kMost);
}

AffineExpr blockscale::threadsToQuantize(const QuantizedStorage &storage) {
  constexpr int64_t kRows = hw::kAtomRows, kBlocks = hw::kAtomScales;
  if (storage.coversRow())
    return storage.rows * storage.batch * threadsOfRow(storage);
  if (storage.scale && storage.rowTile <= kRows &&
      storage.tileBlocks <= kBlocks)
    return storage.scales.matrixBytes * storage.batch;
  int64_t rows = std::max(storage.rowTile, kRows),
          blocks = std::max(storage.tileBlocks, kBlocks);
  return storage.rows.ceilDiv(rows) *
         storage.k.ceilDiv(storage.block * blocks) * storage.batch *
         (rows * blocks);
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
                                                      AffineExpr groups,
                                                      ScaleReader reader) {
  if (auto why = whyNotArranged(type))
    return *why;
  bool isForSparse = reader == ScaleReader::Sparse;
  if (hasPlainScales(type) && isForSparse)
    return Reason("no sparse instruction reads float scales, with which '" +
                  kForSparseName.str() + "' has no meaning");
  if (hasPlainScales(type)) {
    Result<QuantizedStorage> storage = plainStorage(type, target);
    if (storage)
      if (auto why = whyNotTile(*storage, type))
        return *why;
    return storage;
  }
  std::optional<QuantizedStorage> storage =
      repeatedStorage(type, reader, target);
  if (!storage || storage->scale == ElementFormat::UE5M3)
    return Reason(
        (isForSparse ? "no sparse instruction of '" : "no instruction of '") +
        hw::targetName(target) + "' reads elements of " +
        textOf(type.getElementType()) + " with scales as '" +
        type.getSpec().getText() +
        "' says, so that no kernel writes them; nearest legal: " +
        (isForSparse
             ? "'e8m0_t64', or for f4E2M1FN 'multi_float32_e4m3fn_t32'"
             : "'e8m0_t32', or for f4E2M1FN 'multi_float32_e4m3fn_t16'"));
  if (auto why = whyNotTile(*storage, type))
    return *why;
  if (type.getLayout() == ScaleLayout::Grouped128x4)
    padGroups(*storage, type, groups);
  return *std::move(storage);
}

ScaleReader blockscale::scaleReader(Operation *op) {
  return op->hasAttr(kForSparseName) ? ScaleReader::Sparse : ScaleReader::Dense;
}

LogicalResult blockscale::verifyForSparse(Operation *op, Attribute attribute) {
  if (isa<UnitAttr>(attribute) && isa<QuantizeOp, FunctionOpInterface>(op))
    return success();
  return op->emitOpError() << "'" << kForSparseName
                           << "' is a unit attribute of 'blockscale.quantize' "
                              "and of the kernel made from it";
}

std::optional<Reason>
blockscale::whyNotEpilogue(const QuantizedStorage &storage) {
  if (storage.coversMatrix())
    return whyNotWholeBlocks(storage);
  if (storage.coversK())
    return Reason("a product quantises its result in blocks of one row, of "
                  "which a CTA has all columns, but a scale is for all of a "
                  "row; nearest legal: 'float32_t128', or a kernel of its own "
                  "that quantises");
  if (!storage.scale && !storage.plainScale.isF32())
    return Reason("a product quantises its result under scales that "
                  "instructions read or those of float32, but these are " +
                  print(*getNumberSpec(storage.plainScale)) +
                  "; nearest legal: 'float32_t128', or a kernel of its own "
                  "that quantises");
  if (storage.rowTile <= hw::kTmemLanes)
    return std::nullopt;
  return Reason("a product quantises its result in tiles of at most " +
                std::to_string(hw::kTmemLanes) +
                " rows, which a CTA has, but a scale is for " +
                std::to_string(storage.rowTile) +
                " rows; nearest legal: tiles of " +
                std::to_string(hw::kTmemLanes) +
                " rows, or a kernel of its own that quantises");
}
