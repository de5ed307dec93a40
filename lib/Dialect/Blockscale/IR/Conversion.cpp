//===- Conversion.cpp - what kernels that convert read --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Conversion.h"
#include "KernelElements.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"

using namespace mlir;
using namespace blockscale;

bool blockscale::isConversion(Operation *op) {
  return isa<DequantizeOp, RelayoutOp, PruneOp, CompressOp, DensifyOp,
             TileSumsOp>(op);
}

ConversionAttr blockscale::conversionOf(Operation *op, StringRef source) {
  MLIRContext *context = op->getContext();
  auto prune = dyn_cast<PruneOp>(op);
  auto sums = dyn_cast<TileSumsOp>(op);
  int64_t group = prune ? int64_t(prune.getGroup()) : 0;
  if (sums)
    group = int64_t(sums.getTile().value_or(0));
  return ConversionAttr::get(
      context, StringAttr::get(context, source),
      StringAttr::get(context, op->getName().stripDialect()),
      op->getOperand(0).getType(), op->getResult(0).getType(),
      prune ? int64_t(prune.getKeep()) : 0, group, prune && prune.getPairs());
}

//===----------------------------------------------------------------------===//
// Dequantize
//===----------------------------------------------------------------------===//

/// Elements along K that a kernel reads under one zero point are whole blocks
/// of so many.
static constexpr int64_t kZeroBlock = 16;

/// Why no kernel subtracts the zero points of `type`.
static std::optional<Reason> whyNotZeros(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  std::string name = "'" + std::string(type.getSpec().getText()) + "'";
  Type scale = plainScaleType(type);
  if (!scale || isa<Float8E8M0FNUType>(scale))
    return "a kernel subtracts zero points under scales of float32, float16 "
           "and bfloat16, but those of " +
           name + " are others; nearest legal: 'float32_int8_t128'";
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  if (bits != 4 && bits != 8)
    return "a kernel subtracts zero points from elements of 4 and 8 bits, but "
           "these have " +
           std::to_string(bits) + "; nearest legal: ui4";
  Type zero = getBuiltinType(type.getContext(), *spec.zero);
  bool isInteger =
      zero && (zero.isInteger(8) || zero.isInteger(16) || zero.isInteger(32));
  if (!isInteger &&
      !isa_and_nonnull<Float32Type, Float16Type, BFloat16Type>(zero))
    return "a kernel subtracts zero points of int8, int16, int32, float32, "
           "float16 and bfloat16, but those of " +
           name + " are others";
  if (type.getKTile() % kZeroBlock != 0)
    return "a kernel subtracts zero points from whole blocks of " +
           std::to_string(kZeroBlock) + " elements along K, which tiles of " +
           name + " are not; nearest legal: 'float32_int8_t128'";
  return std::nullopt;
}

/// The storage of elements with zero points, in lines of whole accesses.
static QuantizedStorage storageWithZeros(ScaledTensorType type) {
  constexpr int64_t kBlock = 32;
  bool isByte = type.getElementType().getIntOrFloatBitWidth() == 8;
  QuantizedStorage storage = sizesInMemory(type);
  storage.element = isByte ? ElementFormat::INT8 : ElementFormat::INT4;
  storage.plainScale = plainScaleType(type);
  storage.block = type.getKTile() % kBlock == 0 ? kBlock : kZeroBlock;
  storage.tileBlocks = type.getKTile() / storage.block;
  setLines(storage,
           hw::tensorMapDataTypeInfo(isByte
                                         ? hw::TensorMapDataType::U8
                                         : hw::TensorMapDataType::U4x16Align8B),
           storage.k);
  return storage;
}

/// Why no kernel reads tensors that are arranged as `type` is.
static std::optional<Reason> whyNotArranged(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  std::string name = "'" + std::string(type.getSpec().getText()) + "'";
  if (spec.isUnscaled())
    return Reason("a kernel dequantises elements with scales of tiles along K, "
                  "but the operand has none");
  if (spec.isSparse())
    return "a kernel dequantises dense elements, but those of " + name +
           " are pruned; nearest legal: what 'blockscale.densify' makes of "
           "them, by a kernel of its own";
  bool isFloat = bool(plainScaleType(type));
  bool isFactor =
      spec.coversK() && isFloat && (spec.isTensor() || type.getRowTile() == 1);
  if (!isFactor && (!spec.isTile() || type.getRowTile() < 1))
    return "a kernel dequantises under scales of tiles along K, or float "
           "scales of single rows or of a matrix, but those of " +
           name +
           " are others; nearest legal: 'e8m0_t32', "
           "'float32_t0' or 'float32'";
  if (auto why = whyNotAlongK(type, "dequantises elements", "the operand"))
    return why;
  if (auto why = whyNotStoredAsIs(type, "dequantises"))
    return Reason(*why);
  bool isTiled = type.getLayout() == ScaleLayout::Tiled128x4;
  bool isPlain = type.getLayout() == ScaleLayout::Plain;
  if (!isTiled && !isPlain)
    return "a kernel dequantises under scales in layout 'tiled_128x4' or "
           "'plain', but the operand has '" +
           stringifyScaleLayout(type.getLayout()).str() +
           "'; nearest legal: 'tiled_128x4', which a kernel of "
           "'blockscale.relayout' makes of it";
  if (isPlain && !isFloat && type.getRowTile() != 1)
    return "a kernel reads a scale for each row, but those of " + name +
           " are stored once for " + std::to_string(type.getRowTile()) +
           " rows in layout 'plain'; nearest legal: 'tiled_128x4', where they "
           "are repeated";
  if (spec.zero)
    return whyNotZeros(type);
  if (spec.tensorScale && isFloat)
    return "a kernel reads no tensor scale beside float scales, but " + name +
           " has one; nearest legal: 'float32_t128'";
  if (spec.tensorScale &&
      !getBuiltinType(type.getContext(), *spec.tensorScale).isF32())
    return "a kernel reads tensor scales of float32, but those of " + name +
           " are others";
  return std::nullopt;
}

Result<QuantizedStorage> blockscale::dequantizedStorage(ScaledTensorType type,
                                                        hw::Target target) {
  if (auto why = whyNotArranged(type))
    return *why;
  if (type.getSpec().getValue().zero)
    return storageWithZeros(type);
  std::optional<QuantizedStorage> storage = operandStorage(type, target);
  if (storage)
    return *std::move(storage);
  std::string element;
  llvm::raw_string_ostream(element) << type.getElementType();
  return Reason("no instruction of '" + hw::targetName(target) +
                "' reads elements of " + element + " with scales as '" +
                type.getSpec().getText() +
                "' says, so that no kernel dequantises them; nearest legal: "
                "'e8m0_t32', or for f4E2M1FN 'multi_float32_e4m3fn_t16'");
}

int64_t blockscale::elementsPerThread(const QuantizedStorage &storage,
                                      Type result) {
  constexpr int64_t kAccessBits = 128, kWordBits = 32, kWholeWords = 16;
  int64_t bits = storage.data->globalBits;
  int64_t count = kAccessBits / result.getIntOrFloatBitWidth();
  return std::max(count, bits == 6 ? kWholeWords : kWordBits / bits);
}

AffineExpr blockscale::threadsToDequantize(const QuantizedStorage &storage,
                                           Type result) {
  return storage.k.floorDiv(elementsPerThread(storage, result)) * storage.rows *
         storage.batch;
}
