//===- ScaleReasons.cpp - why scales are not lowered, and what is ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaleReasons.h"
#include "../Kernels/MatmulSource.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Packing/Recode.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Specs
//===----------------------------------------------------------------------===//

/// Scales that the tensor core takes with such elements, in words.
static std::string directScales(Type element) {
  std::string text = "'e8m0_t32'";
  return isa<Float4E2M1FNType>(element) ? text + " or 'e4m3fn_t16'" : text;
}

/// Elements of K that the shortest instruction adds up, one of kind f16, as
/// whose elements those of shorter tiles than others take are stored.
static constexpr int64_t kShortestTile = 16;

static bool isFloat32(const NumberSpec &spec) {
  return spec.exponentBits == 8 && spec.mantissaBits == 23;
}

std::optional<Reason> blockscale::whyNotFactor(const ScaleSpec &spec,
                                               Type element) {
  if (isFactor(element.getContext(), *spec.scale))
    return std::nullopt;
  return "scales of '" + print(*spec.scale) +
         "' for all of K are no factors of the epilogue; expected float32, "
         "float16, bfloat16, e8m0, e4m3fn, e5m3fn, e5m2, e4m3b8fnuz, "
         "e5m2b16fnuz, e4m3b11fnuz or e3m4";
}

/// Such a spec of one scale for each row, in quotes.
static std::string floatOfRows(const ScaleSpec &spec) {
  std::string zero = spec.zero ? "_" + print(*spec.zero) : "";
  return "'float32" + zero + "_t0'";
}

/// Why the sum of a tile is not one of whole instructions; empty if it is, or
/// if the tiles are those of an instruction.
static std::optional<Reason> whyTooShort(const ScaleSpec &spec, Type element) {
  int64_t size = spec.columns->size;
  if (size >= kShortestTile)
    return std::nullopt;
  return "tiles of " + std::to_string(size) + " elements under scales of '" +
         print(*spec.scale) +
         "', by which the sum of each tile is multiplied in registers, are "
         "shorter than what one instruction adds up, " +
         std::to_string(kShortestTile) +
         " elements; expected tiles of 16, 32, 64, 128 or 256" +
         (spec.zero ? "" : ", scales of " + directScales(element)) +
         ", or one for all of K (" + floatOfRows(spec) +
         "). Scales that are rounded to powers of two are other values";
}

/// Why tile scales that no instruction reads cannot be multiplied into the sums
/// of blocks of K, in registers; empty if they can.
static std::optional<Reason> whyNotPromoted(const ScaleSpec &spec,
                                            Type element) {
  if (!isFactor(element.getContext(), *spec.scale))
    return "tile scales of '" + print(*spec.scale) +
           "' are not a hardware scale format; expected " +
           (spec.zero ? "" : "scales of " + directScales(element) + ", ") +
           "one for all of K (" + floatOfRows(spec) +
           "), or tile scales of float32, float16, bfloat16, e4m3fn, e5m3fn, "
           "e5m2, e4m3b8fnuz, e5m2b16fnuz, e4m3b11fnuz or e3m4, by which the "
           "sum "
           "of each tile is multiplied in registers";
  return whyTooShort(spec, element);
}

/// Why zero points in real units are no terms of the epilogue; empty if they
/// are.
static std::optional<Reason> whyNotRealZeros(const ScaleSpec &spec,
                                             Type element) {
  Type zero = getBuiltinType(element.getContext(), *spec.zero);
  if (!zero || !(zero.isF32() || zero.isF16() || zero.isBF16()))
    return "zero points of '" + print(*spec.zero) +
           "' in real units are no numbers of the epilogue; expected float32, "
           "float16 or bfloat16, or ones that count in steps of the scale, "
           "such as 'int8'";
  if (spec.tensorScale)
    return "a tensor scale over zero points in real units is not lowered; "
           "expected scales that have it as a factor";
  return std::nullopt;
}

/// Why zero points cannot be subtracted from the elements where they are stored
/// for the kernel, or from their products; empty if they can.
static std::optional<Reason> whyNotZeros(const ScaleSpec &spec, Type element) {
  const std::string instead = "; subtract it from the elements, which bf16 "
                              "without scales holds exactly up to 256, and "
                              "multiply the product by the scales";
  if (!spec.hasIntegerZero())
    if (auto why = whyNotRealZeros(spec, element))
      return why;
  if (!llvm::is_contained({2, 3, 4, 8}, element.getIntOrFloatBitWidth()))
    return "a zero point of elements of " +
           std::to_string(element.getIntOrFloatBitWidth()) +
           " bits needs a correction term that is not lowered yet" + instead;
  // Each row keeps others, so that no sum of a column goes with it.
  if (spec.isSparse() && !spec.hasIntegerZero())
    return "a zero point in real units of sparse elements is multiplied by the "
           "sum of what a row of the other operand has beside the elements "
           "that are kept, which is no product of a term of the row and one of "
           "the column; expected zero points that count in steps of the scale, "
           "such as 'int8', or dense elements, or 'dense-fallback', with which "
           "another product subtracts them";
  return std::nullopt;
}

/// Why the values of a codebook are not those of elements that are multiplied.
static std::optional<Reason> whyNotTables(CodebookType codebook) {
  std::string_view name(codebook.getName());
  if (packing::recodeCodebook(name, ElementFormat::BF16) ||
      packing::narrowCodebook(name))
    return std::nullopt;
  return "the tables of '" + std::string(name) +
         "' are multiplied as elements of an instruction when together they "
         "have at most 512 values, all of which are bf16's divided by one "
         "power of two; these are not. 'blockscale.dequantize' gives them as "
         "floats, which 'linalg.matmul' multiplies";
}

std::optional<Reason> blockscale::whyNotDirect(const ScaleSpec &spec,
                                               Type element) {
  if (spec.isUnscaled())
    return std::nullopt;
  if (spec.zero)
    if (auto why = whyNotZeros(spec, element))
      return why;
  if (spec.tensorScale && !isFloat32(*spec.tensorScale))
    return "a tensor scale must be float32 to become a factor of the epilogue";
  if (spec.coversK())
    return whyNotFactor(spec, element);
  if (auto codebook = dyn_cast<CodebookType>(element))
    if (auto why = whyNotTables(codebook))
      return why;
  if (!scaleFormat(*spec.scale) || hasPromotedFractions(spec, element))
    return whyNotPromoted(spec, element);
  // Shorter ones of e2m1 and of sparse elements are not those of instructions.
  bool isRead = isa<Float4E2M1FNType>(element) || spec.isSparse();
  return isRead ? std::nullopt : whyTooShort(spec, element);
}

//===----------------------------------------------------------------------===//
// What works
//===----------------------------------------------------------------------===//

std::string blockscale::otherScales(hw::OperandType a, hw::OperandType b,
                                    std::optional<ElementFormat> scale,
                                    unsigned span) {
  auto isOne = [&](ElementFormat format) { return a == format || b == format; };
  if (scale && isOne(ElementFormat::INT8))
    return "; int8 is multiplied by kind i8, under float scales for all of K";
  if (scale == ElementFormat::UE5M3)
    return "; or the same scales in layout 'plain', by which sums are "
           "multiplied in registers";
  // Eight bits of fraction and the exponents of f32.
  if (scale == ElementFormat::UE8M0 && span < 32)
    return "; bf16 elements without scales hold the same values";
  return "";
}
