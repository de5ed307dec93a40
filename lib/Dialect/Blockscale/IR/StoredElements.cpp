//===- StoredElements.cpp - elements that kernels hold as others ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/StoredElements.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"

using namespace mlir;
using namespace blockscale;

/// Whether there are scales and they are powers of two, under which integers
/// are fixed-point numbers.
static bool hasPowers(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  return !spec.isUnscaled() && scaleFormat(*spec.scale) == ElementFormat::UE8M0;
}

/// Whether sums are multiplied by its powers of two, as no instruction of so
/// few bits, or of so few elements of K, does.
static bool hasPromotedPowers(ScaledTensorType type, ScaledTensorType other) {
  return hasPromotedScales(type, other) && hasPowers(type);
}

/// Whether it lacks elements that are 0 and has no code for them.
static bool isSparseWithZeros(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  return spec.isSparse() && spec.zero;
}

/// Whether elements of 16 bits are the shortest in which the operand can be
/// multiplied with the other one: kind i8 takes no floats beside integers, no
/// zero points, no fixed-point numbers and no scales of tiles, and others no
/// tiles as short as those of kind f16.
static bool needsHalf(ScaledTensorType type, ScaledTensorType other) {
  Type element = type.getElementType();
  const ScaleSpec &spec = type.getSpec().getValue();
  // Elements of K that an instruction of shorter elements adds up, with those
  // that it skips where nothing makes them dense.
  constexpr int64_t kLong = 32;
  bool isSkipped = isSparseWithZeros(type) || isSparseWithZeros(other);
  int64_t added = isSkipped ? kLong * int64_t(hw::kSparseCompression) : kLong;
  bool isPromoted = hasPromotedScales(type, other);
  if (hasPromotedPowers(type, other) || (isPromoted && type.getKTile() < added))
    return true;
  if (!element.isInteger(8))
    return false;
  return spec.zero || hasPowers(type) || isPromoted ||
         hasPromotedScales(other, type) || !other.getElementType().isInteger(8);
}

/// Whether both have whole bytes, which kind i8 multiplies.
static bool areBytes(ScaledTensorType type, ScaledTensorType other) {
  constexpr unsigned kByte = 8;
  return type.getElementType().isInteger(kByte) &&
         other.getElementType().isInteger(kByte);
}

/// Whether bytes lack the largest of its numbers: those without a negative zero
/// have one more.
static bool hasNumberMore(ScaledTensorType type) {
  return isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(type.getElementType());
}

/// Whether kernels may read the operand in elements of 16 bits.
static bool isReadInHalf(ScaledTensorType type) {
  Type element = type.getElementType();
  bool isSparse = type.getSpec().getValue().isSparse();
  if (type.getOrder() == DataOrder::MNMajor)
    return !isSparse && (element.isF16() || element.isBF16());
  return !isSparse || sparsePattern(type) == hw::SparsePattern::TwoOfFour;
}

/// The 16-bit format in which both operands are multiplied: that of one of
/// them, or one that has the elements of both. None if fewer bits do, or for
/// what no kernel reads in 16 bits: bytes and sparse operands along the rows,
/// and those that keep pairs or are of tf32.
static std::optional<ElementFormat>
halfFormat(ScaledTensorType type, ScaledTensorType other,
           std::optional<hw::MmaKind> kind) {
  if (hasBlockScales(type, other) || hasBlockScales(other, type))
    return std::nullopt;
  for (ScaledTensorType either : {type, other}) {
    if (!isReadInHalf(either))
      return std::nullopt;
  }
  for (ScaledTensorType either : {type, other}) {
    if (either.getElementType().isF16())
      return ElementFormat::F16;
    if (either.getElementType().isBF16())
      return ElementFormat::BF16;
  }
  // Sparse elements of 8 bits are multiplied on more chips.
  bool isSparse = type.getSpec().getValue().isSparse() ||
                  other.getSpec().getValue().isSparse();
  bool isWhole = kind.value_or(hw::MmaKind::F16) == hw::MmaKind::F16;
  if (isWhole && !isSparse && (hasNumberMore(type) || hasNumberMore(other)))
    return ElementFormat::BF16;
  if (needsHalf(type, other) || needsHalf(other, type))
    return ElementFormat::BF16;
  if (kind == hw::MmaKind::F16 && areBytes(type, other))
    return ElementFormat::BF16;
  return std::nullopt;
}

/// Whether its integers are whole numbers, which no instruction scales.
static bool isWhole(ScaledTensorType type) {
  return type.getSpec().getValue().hasPlainIntegers();
}

/// As recodings name them: "uint4", "e4m3".
static std::string elementName(Type element) {
  if (isa<Float8E4M3FNUZType>(element))
    return "e4m3b8fnuz";
  if (isa<Float8E5M2FNUZType>(element))
    return "e5m2b16fnuz";
  if (isa<Float8E4M3Type>(element))
    return "e4m3ieee";
  if (element.isUnsignedInteger())
    return "uint" + std::to_string(element.getIntOrFloatBitWidth());
  std::optional<hw::OperandType> type = getOperandType(element);
  return type ? type->name() : "";
}

/// Elements that are stored in fewer bits than 16.
static std::optional<packing::Recoding> narrowRecoding(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  Type element = type.getElementType();
  if (auto codebook = dyn_cast<CodebookType>(element))
    return packing::narrowCodebook(std::string_view(codebook.getName()));
  if (isa<Float8E4M3FNUZType, Float8E4M3Type>(element))
    return packing::findRecoding(elementName(element), ElementFormat::E4M3);
  if (isa<Float8E5M2FNUZType>(element))
    return packing::findRecoding(elementName(element), ElementFormat::E5M2);
  // Up to 16 e4m3 has all whole numbers.
  constexpr unsigned kNibble = 4;
  if (element.isUnsignedInteger() &&
      element.getIntOrFloatBitWidth() <= kNibble && spec.zero && isWhole(type))
    return packing::findRecoding(elementName(element), ElementFormat::E4M3,
                                 /*isInteger=*/true, spec.hasIntegerZero());
  if (!element.isSignlessInteger(4) || spec.isUnscaled() || spec.zero)
    return std::nullopt;
  if (hasPowers(type))
    return packing::findRecoding("int4", ElementFormat::E2M3);
  if (!isWhole(type))
    return std::nullopt;
  return packing::findRecoding("int4", ElementFormat::E4M3,
                               /*isInteger=*/true);
}

std::optional<packing::Recoding>
blockscale::recodingOf(ScaledTensorType type, ScaledTensorType other,
                       std::optional<hw::MmaKind> kind) {
  std::optional<ElementFormat> half = halfFormat(type, other, kind);
  if (!half)
    return narrowRecoding(type);
  if (auto codebook = dyn_cast<CodebookType>(type.getElementType()))
    return packing::recodeCodebook(std::string_view(codebook.getName()), *half);
  bool isInteger = isa<IntegerType>(type.getElementType()) && !hasPowers(type);
  if (isInteger && !isWhole(type))
    return std::nullopt;
  return packing::findRecoding(elementName(type.getElementType()), *half,
                               isInteger,
                               type.getSpec().getValue().hasIntegerZero());
}

std::optional<hw::OperandType>
blockscale::storedElements(ScaledTensorType type, ScaledTensorType other,
                           std::optional<hw::MmaKind> kind) {
  if (std::optional<packing::Recoding> recoding = recodingOf(type, other, kind))
    return hw::OperandType(recoding->to);
  // Instructions know whole numbers alone; of tiles the refusal says more.
  const ScaleSpec &spec = type.getSpec().getValue();
  bool isFixedPoint = isa<IntegerType>(type.getElementType()) &&
                      hasPowers(type) && spec.coversK();
  if (spec.zero || isFixedPoint)
    return std::nullopt;
  return getOperandType(type.getElementType());
}
