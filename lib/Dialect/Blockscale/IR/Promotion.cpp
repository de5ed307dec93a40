//===- Promotion.cpp - tile scales applied in registers -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/WideTiles.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/Packing/Recode.h"

using namespace mlir;
using namespace blockscale;

/// Sums that a thread keeps over all of K: at most half of its 255 registers,
/// so that what it loads and the epilogue find room beside them. Where there
/// are several groups of warps it is a quarter of that, or all of it where a
/// result has blocks of twice as many columns: while one group multiplies
/// others load, so that the port to tensor memory is never idle.
static constexpr int64_t kMostSums = 128, kSharedSums = kPromotedColumns;
/// Columns of a tile: more groups of warps would have too few registers.
static constexpr int64_t kMostColumns = kMostPromotedColumns;
/// The same where columns have factors of their own, which take registers too.
static constexpr int64_t kFewColumns = 64;
/// And where a stage holds several blocks, on warps that multiply.
static constexpr int64_t kFewestColumns = 32;

/// Accumulators of kernels that promote nothing.
static constexpr int64_t kAccumulators = 2;

/// Whether instructions scale such elements by powers of two, at all or in
/// tiles as short as those of the type.
static bool hasPowersOfTwo(ScaledTensorType type) {
  Type element = type.getElementType();
  if (element.isSignlessInteger(8))
    return false;
  // Of 4 bits alone there are instructions that take tiles of 16.
  constexpr int64_t kShort = 16;
  if (auto codebook = dyn_cast<CodebookType>(element)) {
    auto narrow = packing::narrowCodebook(std::string_view(codebook.getName()));
    return narrow &&
           (type.getKTile() > kShort || narrow->to == ElementFormat::E2M1);
  }
  return isa<Float4E2M1FNType>(element) || type.getKTile() > kShort;
}

std::optional<ElementFormat> blockscale::byteFactor(const NumberSpec &scale) {
  if (std::optional<ElementFormat> format = scaleFormat(scale))
    return format;
  std::optional<ElementFormat> format = elementFormat(scale);
  return format == ElementFormat::E5M2 ? format : std::nullopt;
}

bool blockscale::isDecodedFactor(Type type) {
  return isa_and_nonnull<Float8E4M3FNUZType, Float8E5M2FNUZType,
                         Float8E4M3B11FNUZType, Float8E3M4Type>(type);
}

bool blockscale::isFactor(MLIRContext *context, const NumberSpec &scale) {
  Type type = getBuiltinType(context, scale);
  return byteFactor(scale) || isDecodedFactor(type) ||
         (type && (type.isF32() || type.isF16() || type.isBF16()));
}

/// Whether scales of such a format are bytes with a fraction.
static bool hasFractions(std::optional<ElementFormat> format) {
  return format == ElementFormat::UE4M3 || format == ElementFormat::UE5M3;
}

bool blockscale::hasPromotedFractions(const ScaleSpec &spec, Type element) {
  return spec.isTile() && hasFractions(scaleFormat(*spec.scale)) &&
         !isa<Float4E2M1FNType, CodebookType>(element);
}

bool blockscale::hasPromotedScales(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  if (!spec.isTile())
    return false;
  std::optional<ElementFormat> format = scaleFormat(*spec.scale);
  if (!format)
    return true;
  if (format != ElementFormat::UE8M0)
    return hasPromotedFractions(spec, type.getElementType());
  // Beside metadata instructions read those of floats, or none is lowered.
  constexpr unsigned kByte = 8;
  bool isFloat = !type.getElementType().isSignlessInteger(kByte);
  return !hasPowersOfTwo(type) && !(spec.isSparse() && isFloat);
}

/// Elements of K that the shortest instruction adds up, and one of elements of
/// 8 bits and fewer.
static constexpr int64_t kShortestTile = 16, kShortTile = 32;

/// Whether instructions multiply its elements as those of 4 bits, and so read
/// scales that they read beside no others.
static bool isE2M1(ScaledTensorType type) {
  if (auto codebook = dyn_cast<CodebookType>(type.getElementType())) {
    auto narrow = packing::narrowCodebook(std::string_view(codebook.getName()));
    return narrow && narrow->to == ElementFormat::E2M1;
  }
  return isa<Float4E2M1FNType>(type.getElementType());
}

/// Whether scales that instructions of some chips alone read lie as sums are
/// multiplied by them, in rows: those of either operand where both have them.
static bool areForSums(ScaledTensorType type, ScaledTensorType other) {
  const ScaleSpec &spec = type.getSpec().getValue(),
                  &ofOther = other.getSpec().getValue();
  if (scaleFormat(*spec.scale) != ElementFormat::UE5M3 || ofOther.isSparse())
    return false;
  return type.getLayout() == ScaleLayout::Plain ||
         (ofOther.isTile() && other.getLayout() == ScaleLayout::Plain);
}

/// Whether scales that instructions read beside e2m1 alone, of short tiles or
/// with fractions, are beside other elements, or beside scales of another
/// format, or lie as no instruction reads them.
static bool isUnreadBeside(ScaledTensorType type, ScaledTensorType other) {
  const ScaleSpec &spec = type.getSpec().getValue(),
                  &ofOther = other.getSpec().getValue();
  std::optional<ElementFormat> format = scaleFormat(*spec.scale), formatOfOther;
  if (ofOther.isTile())
    formatOfOther = scaleFormat(*ofOther.scale);
  bool isOther = formatOfOther && formatOfOther != format;
  // Instructions that skip elements read scales of both operands or of neither.
  if (ofOther.isSparse() && (isOther || formatOfOther == ElementFormat::UE8M0))
    return false;
  if (hasFractions(format))
    return !isE2M1(other) || isOther || areForSums(type, other);
  return format == ElementFormat::UE8M0 && type.getKTile() < kShortTile &&
         type.getKTile() >= kShortestTile && !isE2M1(other);
}

/// Whether an operand is multiplied in elements of 16 bits whatever is beside
/// it: it has such, or bytes of integers under scales, or sums are multiplied
/// by its powers of two, or of tiles shorter than other instructions add up.
static bool isLong(ScaledTensorType type) {
  constexpr unsigned kByte = 8;
  Type element = type.getElementType();
  const ScaleSpec &spec = type.getSpec().getValue();
  if (element.isF16() || element.isBF16())
    return true;
  if (element.isInteger(kByte))
    return !spec.isUnscaled();
  return hasPromotedScales(type) && type.getKTile() >= kShortestTile &&
         (type.getKTile() < kShortTile ||
          scaleFormat(*spec.scale) == ElementFormat::UE8M0);
}

bool blockscale::hasPromotedScales(ScaledTensorType type,
                                   ScaledTensorType other) {
  const ScaleSpec &spec = type.getSpec().getValue(),
                  &ofOther = other.getSpec().getValue();
  if (hasPromotedScales(type) || !spec.isTile() || spec.isSparse())
    return hasPromotedScales(type);
  bool isSkipped = ofOther.isSparse() &&
                   sparsePattern(other) != hw::SparsePattern::TwoOfFour;
  if ((isLong(other) && !isSkipped) || isUnreadBeside(type, other))
    return true;
  // What is promoted in tiles as short as no other instruction adds up is
  // multiplied in 16 bits, and so is what is beside it.
  return ofOther.isTile() && !ofOther.isSparse() &&
         other.getKTile() < kShortTile && isUnreadBeside(other, type);
}

bool blockscale::hasBlockScales(ScaledTensorType type, ScaledTensorType other) {
  return type.getSpec().getValue().isTile() && !hasPromotedScales(type, other);
}

int64_t blockscale::promotionBlock(int64_t aBlock, int64_t bBlock) {
  return aBlock && bBlock ? std::min(aBlock, bBlock) : std::max(aBlock, bBlock);
}

int64_t blockscale::promotionBlock(ScaledTensorType a, ScaledTensorType b) {
  auto blockOf = [](ScaledTensorType type, ScaledTensorType other) {
    return hasPromotedScales(type, other) ? type.getKTile() : 0;
  };
  return promotionBlock(blockOf(a, b), blockOf(b, a));
}

int64_t blockscale::columnsOfScale(ScaledTensorType a, ScaledTensorType b,
                                   bool swap) {
  ScaledTensorType along = swap ? a : b, other = swap ? b : a;
  return hasPromotedScales(along, other) ? along.getRowTile() : 0;
}

int64_t blockscale::promotingGroups(int64_t tileN) {
  constexpr int64_t kMostGroups = kMostColumns / kSharedSums;
  // As many groups that have twice as many sums each have no registers for what
  // becomes of them.
  if (tileN > kMostColumns)
    return tileN / kMostSums;
  return tileN % kSharedSums == 0 ? std::min(tileN / kSharedSums, kMostGroups)
                                  : 1;
}

int64_t blockscale::promotedColumns(int64_t tileN) {
  return tileN / promotingGroups(tileN);
}

/// Blocks are whole stages, or whole instructions that divide one.
static std::optional<Reason> whyNotBlock(MmaAttr mma, int64_t block,
                                         const std::string &what) {
  int64_t stage = mma.getTileK(), step = mma.getK();
  bool isPart = stage % block == 0 && block % step == 0;
  if (block % stage == 0 || isPart)
    return std::nullopt;
  return Reason(what +
                "are applied after whole instructions that divide a "
                "stage, or after whole stages; an instruction takes " +
                std::to_string(step) + " elements along K, a stage is " +
                std::to_string(stage) + ", and a tile " +
                std::to_string(block));
}

/// Whether so few columns share a scale that a thread has several.
static bool hasScalesOfColumns(int64_t columnsOfScale) {
  return columnsOfScale && columnsOfScale < kSharedSums;
}

int64_t blockscale::mostPromotedColumns(MmaAttr mma, int64_t block,
                                        int64_t columnsOfScale,
                                        int64_t columnsOfResult) {
  bool isCrowded =
      hasScalesOfColumns(columnsOfScale) || (mma && block < mma.getTileK());
  return isCrowded ? kFewColumns : mostPromotedColumns(columnsOfResult);
}

/// Scales of few columns take registers, too.
static std::optional<Reason> whyNotScaleColumns(int64_t columns,
                                                int64_t columnsOfScale,
                                                int64_t most,
                                                const std::string &what) {
  if (hasScalesOfColumns(columnsOfScale) && columns > most)
    return Reason(what + "take a register for each column where fewer than " +
                  std::to_string(kSharedSums) + " share one; 'tile_n' of " +
                  std::to_string(columns) +
                  " is too many then, nearest legal: " + std::to_string(most));
  return std::nullopt;
}

/// The scales of all blocks of a stage are in registers together.
static std::optional<Reason> whyNotShort(MmaAttr mma, int64_t columns,
                                         int64_t block, int64_t most,
                                         const std::string &what) {
  if (block >= mma.getTileK() || columns <= most)
    return std::nullopt;
  return Reason(what +
                "take registers for each block of a stage, which holds several "
                "of " +
                std::to_string(block) + " elements; 'tile_n' of " +
                std::to_string(columns) +
                " is too many then, nearest legal: " + std::to_string(most));
}

/// The rules of kernels whose warps multiply: they keep two sums of each
/// element. Where groups of them take tiles in turns a warp has a larger part
/// of one.
static std::optional<Reason> whyNotOnWarps(MmaAttr mma, ScheduleAttr schedule,
                                           int64_t block,
                                           int64_t columnsOfScale,
                                           const std::string &what) {
  if (!hw::isBlockScaled(mma.getKind()) && mma.getKind() != hw::MmaKind::F16)
    return Reason(what + "belong to products of kind 'f16', and of kinds whose "
                         "instructions read other scales, or scales of 1");
  int64_t groups = schedule.consumerGroups();
  int64_t most = kMostColumns / groups;
  if (schedule.getTileN() > most)
    return Reason(what +
                  "keep the sums of a stage beside those of all of K; "
                  "'tile_n' of " +
                  std::to_string(schedule.getTileN()) +
                  " is too many, nearest legal: " + std::to_string(most));
  if (auto why = whyNotScaleColumns(schedule.getTileN(), columnsOfScale,
                                    kFewColumns / groups, what))
    return why;
  if (auto why = whyNotBlock(mma, block, what))
    return why;
  return whyNotShort(mma, schedule.getTileN(), block, kFewestColumns / groups,
                     what);
}

std::optional<Reason>
blockscale::whyNotPromotion(MmaAttr mma, ScheduleAttr schedule, int64_t block,
                            int64_t columnsOfScale, int64_t columnsOfResult,
                            hw::Target target) {
  if (!block &&
      (schedule.getAccumulators() <= kAccumulators || hasHalves(mma, schedule)))
    return std::nullopt;
  if (!block)
    return Reason("'accumulators' of " +
                  std::to_string(schedule.getAccumulators()) +
                  ": more than 2 are for scales of tiles along K that are "
                  "applied in registers, and 3 for tiles of " +
                  std::to_string(kHalvedColumns) +
                  " columns of a pair of CTAs in halves; nearest legal: 2");
  std::string what = "scales of tiles along K that are applied in registers ";
  if (!hw::hasTensorMemory(target))
    return whyNotOnWarps(mma, schedule, block, columnsOfScale, what);
  bool isKind = mma.getKind() == hw::MmaKind::F8F6F4 ||
                mma.getKind() == hw::MmaKind::F16 ||
                hw::isBlockScaled(mma.getKind());
  if (!isKind)
    return Reason(what + "belong to products of kinds 'f8f6f4' and 'f16', and "
                         "of kinds whose instructions read other scales");
  if (schedule.splits() > 1)
    return Reason(what + "keep the sums of all of K in one CTA; 'split_k' of " +
                  std::to_string(schedule.splits()) +
                  " is not lowered with them, nearest legal: 1");
  if (schedule.shares() > 1)
    return Reason(what +
                  "keep the sums of all of K in one CTA; 'stream_k' of " +
                  std::to_string(schedule.shares()) +
                  " is not lowered with them, nearest legal: 1");
  if (schedule.getTileM() > mma.getM())
    return Reason(what + "take one instruction's rows at once; 'tile_m' of " +
                  std::to_string(schedule.getTileM()) +
                  " is not lowered with them, nearest legal: " +
                  std::to_string(mma.getM()));
  int64_t columns = schedule.getTileN();
  // Threads of swapped operands have rows of a block, whatever its columns.
  bool swap =
      schedule.getSwapOperands() && schedule.getSwapOperands().getValue();
  int64_t most = mostPromotedColumns(swap ? 0 : columnsOfResult);
  if (promotedColumns(columns) > kMostSums || columns > most)
    return Reason(
        what +
        "keep the sums of a row in registers of a thread, or "
        "of one for every " +
        std::to_string(kSharedSums) + " columns; 'tile_n' of " +
        std::to_string(columns) + " is not, nearest legal: " +
        std::to_string(std::min(columns, most) / kSharedSums * kSharedSums));
  if (auto why = whyNotScaleColumns(columns, columnsOfScale, kFewColumns, what))
    return why;
  if (auto why = whyNotBlock(mma, block, what))
    return why;
  return whyNotShort(mma, columns, block, kFewColumns, what);
}
