//===- KernelMatmulOp.cpp - what a kernel's product must be ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/GivenScales.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Pairs.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/ScalesOfOne.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/Dialect/Blockscale/IR/StreamK.h"
#include "blockscale/Dialect/Blockscale/IR/WarpSchedules.h"
#include "blockscale/Dialect/Blockscale/IR/WideTiles.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace blockscale;

bool blockscale::isTileM(MmaAttr mma, int64_t tileM) {
  bool mayShare = mma.getCtaGroup() == 2 && !mma.getSparse();
  return tileM == mma.getM() || (mayShare && tileM == 2 * mma.getM());
}

hw::MmaQuery blockscale::legalityQuery(MmaAttr mma, hw::Target target) {
  auto major = [](BoolAttr mnMajor) {
    return mnMajor && mnMajor.getValue() ? hw::OperandMajor::MN
                                         : hw::OperandMajor::K;
  };
  // What is out of range must not wrap into it.
  auto size = [](int64_t value) -> unsigned {
    constexpr int64_t kIllegal = 1 << 30;
    return value < 0 || value > kIllegal ? kIllegal : value;
  };
  hw::MmaQuery query;
  query.target = target;
  query.kind = mma.getKind();
  query.a = mma.getA();
  query.b = mma.getB();
  query.scale = mma.getScale();
  query.block = size(mma.getBlock());
  query.m = size(mma.getM());
  query.n = size(mma.getN());
  query.k = size(mma.getK());
  query.aMajor = major(mma.getAMnMajor());
  query.bMajor = major(mma.getBMnMajor());
  query.ctaGroup = size(mma.getCtaGroup());
  query.sparse = mma.getSparse();
  return query;
}

std::optional<Reason> blockscale::whyNotStages(MmaAttr mma, int64_t stages) {
  if (mma.getK() != hw::kK96 || stages > 1)
    return std::nullopt;
  return "instructions of K = 96 read two stages at once: expected at least 2 "
         "'stages', found " +
         std::to_string(stages);
}

std::optional<Reason> blockscale::whyNotScaleRing(MmaAttr mma,
                                                  ScheduleAttr schedule,
                                                  hw::Target target) {
  if (!schedule.hasScaleRing())
    return std::nullopt;
  std::string ring = "'scale_stages' of " +
                     std::to_string(schedule.getScaleStages()) +
                     " is a ring of scales alone: ";
  if (!mma.getScale())
    return ring + "kind '" + std::string(hw::kindName(mma.getKind())) +
           "' has no scales; nearest legal: no 'scale_stages'";
  if (!hw::hasTensorMemory(target))
    return ring + "on " + hw::targetName(target) +
           " nothing copies scales elsewhere before the operands are read; "
           "nearest legal: no 'scale_stages'";
  return std::nullopt;
}

LogicalResult blockscale::verifyInstruction(Operation *op, MmaAttr mma,
                                            hw::Target otherwise) {
  // Kernels have a target, be it the default; a loose op suits any.
  auto function = op->getParentOfType<FunctionOpInterface>();
  bool inKernel = function && function->hasAttr(KernelAttr::name);
  hw::Target target =
      inKernel ? getTarget(op) : findTarget(op).value_or(otherwise);
  if (auto why = hw::whyNot(legalityQuery(mma, target)))
    return op->emitOpError() << why->text;
  return success();
}

/// The exact product of integers has no epilogue.
static LogicalResult verifyIntegerResult(KernelMatmulOp op) {
  if (op.getMma().getKind() != hw::MmaKind::I8)
    return op.emitOpError()
           << "expected 'd' of f32, bf16 or f16 for kind '"
           << StringRef(hw::kindName(op.getMma().getKind())) << "', found i32";
  if (op.getC() || op.getBias() || op.getAlpha() || op.getBeta() ||
      !op.getEpilogue().empty() || !op.getTensorScales().empty() ||
      op.getRowScales() || op.getColumnScales() || op.getRowTerms())
    return op.emitOpError() << "a result of i32 is the product as it is: it "
                               "takes no alpha, beta, c, bias or epilogue";
  return success();
}

/// Scales that cover all of K.
static LogicalResult verifyFactors(KernelMatmulOp op) {
  SmallVector<Value> all(op.getTensorScales());
  for (auto [name, scales, group] :
       {std::tuple("row", Value(op.getRowScales()), op.getRowGroup()),
        std::tuple("column", Value(op.getColumnScales()),
                   op.getColumnGroup())}) {
    if (group < 1 || group > kMaxProductSize)
      return op.emitOpError()
             << "expected a '" << name << "_group' of 1 to " << kMaxProductSize
             << " " << name << "s that share a scale, found " << group;
    if (scales)
      all.push_back(scales);
  }
  for (Value scale : all) {
    Type element = cast<GlobalType>(scale.getType()).getElementType();
    if (!element.isF32() && !element.isBF16() && !element.isF16() &&
        !isa<Float8E4M3FNType, Float8E5M2Type>(element) &&
        !isDecodedFactor(element) && !element.isInteger(8))
      return op.emitOpError()
             << "expected scales of f32, f16, bf16, a float of "
                "8 bits or, for codes of ue8m0 and of ue5m3, "
                "i8 and ui8, found "
             << element;
  }
  return success();
}

/// Scales of tiles along K.
static LogicalResult verifyPromotion(KernelMatmulOp op) {
  for (auto [name, scales, block] :
       {std::tuple("row", Value(op.getRowScales()), op.getRowBlock()),
        std::tuple("column", Value(op.getColumnScales()),
                   op.getColumnBlock())}) {
    if (!block)
      continue;
    if (!scales)
      return op.emitOpError() << "expected '" << name << "_scales' with a '"
                              << name << "_block'";
  }
  int64_t rows = op.getRowBlock(), columns = op.getColumnBlock();
  int64_t block = promotionBlock(rows, columns);
  if (rows < 0 || columns < 0 ||
      (block && (rows % block != 0 || columns % block != 0)))
    return op.emitOpError() << "expected blocks of which one divides the "
                               "other, found 'row_block' of "
                            << rows << " and 'column_block' of " << columns;
  auto rowGroup = int64_t(op.getRowGroup());
  if (rows && op.getOffsets() && rowGroup != 1 && rowGroup != kMaxProductSize)
    return op.emitOpError()
           << "with 'offsets' expected row scales of tiles along K of single "
              "rows or of all, found 'row_group' of "
           << rowGroup;
  bool swap = op.getSchedule().getSwapOperands().getValue();
  int64_t ofScale = swap ? (rows ? op.getRowGroup() : 0)
                         : (columns ? op.getColumnGroup() : 0);
  std::optional<QuantizationAttr> quantization = op.getQuantization();
  int64_t ofResult = quantization ? elementsTogether(quantization->getD()) : 0;
  if (auto why = whyNotPromotion(op.getMma(), op.getSchedule(), block, ofScale,
                                 op.getPairs() ? 2 * ofResult : ofResult,
                                 getTarget(op)))
    return op.emitOpError() << why->text;
  return success();
}

/// The elements of D before they are stored, or quantised.
static Type elementOfResult(KernelMatmulOp op) {
  if (std::optional<QuantizationAttr> quantization = op.getQuantization())
    return quantization->getX();
  return resultElement(op.getD().getType());
}

/// The epilogue computes in f32 and converts to and from these.
static LogicalResult verifyMemory(KernelMatmulOp op) {
  if (resultElement(op.getD().getType()).isInteger(32))
    return verifyIntegerResult(op);
  SmallVector<Type> elements{elementOfResult(op)};
  for (Value memory : {Value(op.getC()), Value(op.getBias())})
    if (memory)
      elements.push_back(resultElement(memory.getType()));
  for (Type element : elements)
    if (!element.isF32() && !element.isBF16() && !element.isF16())
      return op.emitOpError()
             << "expected 'd', 'c' and 'bias' of f32, bf16 or f16, found "
             << element;
  return failure(failed(verifyFactors(op)) || failed(verifyPromotion(op)));
}

LogicalResult KernelMatmulOp::verifyRegions() {
  return Epilogue(*this).verify(*this);
}

/// The value where it is known.
static int64_t knownSize(Value size) {
  APInt known;
  return matchPattern(size, m_ConstantInt(&known)) ? known.getSExtValue()
                                                   : ShapedType::kDynamic;
}

/// A workspace belongs to parts of K that several clusters have; any split has
/// to be possible, as has any sharing out of tiles.
static LogicalResult verifySplit(KernelMatmulOp op) {
  MmaAttr mma = op.getMma();
  ScheduleAttr schedule = op.getSchedule();
  int64_t splits = schedule.splits();
  if (static_cast<bool>(op.getWorkspace()) != schedule.hasWorkspace())
    return op.emitOpError() << "expected a workspace with 'split_k' above "
                               "'cluster_k' or 'stream_k' above 1, and only "
                               "then";
  if (splits == 1 && schedule.shares() == 1)
    return success();
  if (auto why = whyNotClusterK(schedule, getTarget(op)))
    return op.emitOpError() << why->text;
  Type element = op.getWorkspace()
                     ? op.getWorkspace().getType().getElementType()
                     : accumulatorType(mma);
  if (element != accumulatorType(mma))
    return op.emitOpError() << "expected a workspace of the accumulator's type "
                            << accumulatorType(mma) << ", found " << element;
  if (auto why = whyNotSplit(mma, knownSize(op.getK()), splits))
    return op.emitOpError() << why->text;
  ProductSizes sizes{knownSize(op.getM()), knownSize(op.getN()),
                     knownSize(op.getK()), knownSize(op.getBatch())};
  auto groups = op.getKOffsets()                       ? TileGroups::K
                : op.getOffsets() || op.getRowCounts() ? TileGroups::Rows
                                                       : TileGroups::None;
  if (auto why = whyNotStreamed(mma, schedule, sizes, groups, getTarget(op)))
    return op.emitOpError() << why->text;
  return success();
}

/// Rows of groups may be gathered from those of A, through a map of their own.
static LogicalResult verifyGatheredRows(KernelMatmulOp op) {
  bool isGathered = static_cast<bool>(op.getRowNumbers());
  if (isGathered != static_cast<bool>(op.getTokens()))
    return op.emitOpError() << "expected 'rows' and their 'tokens' together";
  if (!isGathered)
    return success();
  if (!op.getOffsets())
    return op.emitOpError() << "expected 'groups' with 'rows'";
  Type element = op.getRowNumbers().getType().getElementType();
  if (!element.isInteger(32))
    return op.emitOpError()
           << "expected numbers of rows of i32, found " << element;
  bool swap = op.getSchedule().getSwapOperands().getValue();
  TensorMapType map = (swap ? op.getB() : op.getA()).getType();
  if (map.getBox().size() != 2 || map.getBox()[1] != 1)
    return op.emitOpError()
           << "with 'rows' expected a tensor map of '" << (swap ? "b" : "a")
           << "' of 2 dimensions with a box of one row";
  if (auto why = whyNotGathered(swap, op.getRowScales() &&
                                          op.getRowGroup() != kMaxProductSize))
    return op.emitOpError() << why->text;
  return success();
}

/// Terms are numbers of f32 for each row and column, not of rows that are
/// gathered or groups along K, whose sums nobody knows before.
static LogicalResult verifyTerms(KernelMatmulOp op) {
  bool hasTerms = static_cast<bool>(op.getRowTerms());
  if (hasTerms != static_cast<bool>(op.getColumnTerms()) ||
      hasTerms != static_cast<bool>(op.getNumTerms()))
    return op.emitOpError()
           << "expected terms of rows and of columns and their number together";
  if (!hasTerms)
    return success();
  for (Value terms : {Value(op.getRowTerms()), Value(op.getColumnTerms())}) {
    Type element = cast<GlobalType>(terms.getType()).getElementType();
    if (!element.isF32())
      return op.emitOpError() << "expected terms of f32, found " << element;
  }
  if (op.getKOffsets() || op.getRowNumbers())
    return op.emitOpError() << "with 'terms' expected neither 'k_groups' nor "
                               "'rows'";
  return success();
}

/// Groups of rows have their ends in memory.
static LogicalResult verifyGroups(KernelMatmulOp op) {
  bool hasGroups = op.getOffsets() || op.getKOffsets();
  int64_t shared = int64_t(op.getSharedScales());
  int64_t scales = int64_t(op.getTensorScales().size());
  if (shared < 0 || shared > (hasGroups ? scales : 0))
    return op.emitOpError()
           << "expected 'shared_scales' of at most the "
           << (hasGroups ? scales : 0)
           << " tensor scales of a product with groups, found " << shared;
  if (!op.getOffsets())
    return success();
  Type element = op.getOffsets().getType().getElementType();
  if (!element.isInteger(32))
    return op.emitOpError() << "expected offsets of i32, found " << element;
  ScheduleAttr schedule = op.getSchedule();
  if (auto why =
          whyNotGrouped(op.getMma(), schedule.getSwapOperands().getValue(),
                        schedule.splits()))
    return op.emitOpError() << why->text;
  return success();
}

/// Counts of rows are in memory, one for each product of the batch.
static LogicalResult verifyRowCounts(KernelMatmulOp op) {
  if (!op.getRowCounts())
    return success();
  if (op.getOffsets() || op.getKOffsets())
    return op.emitOpError() << "expected 'masked' or groups, found both";
  Type element = op.getRowCounts().getType().getElementType();
  if (!element.isInteger(32))
    return op.emitOpError() << "expected counts of i32, found " << element;
  if (op.getBias() && op.getBiasKind() != BiasKind::Column)
    return op.emitOpError()
           << "with 'masked' expected a bias along the columns";
  if (auto why = whyNotMasked(op.getSchedule().splits()))
    return op.emitOpError() << why->text;
  return success();
}

/// A thread must have both sums of a pair.
static LogicalResult verifyPairs(KernelMatmulOp op) {
  if (!op.getPairs())
    return success();
  int64_t n = knownSize(op.getN());
  if (!ShapedType::isDynamic(n) && n % 2 != 0)
    return op.emitOpError() << "with 'pairs' expected an even n, found " << n;
  if (op.getKOffsets())
    return op.emitOpError() << "groups along K have no 'pairs'";
  if (op.getBias() && op.getBiasKind() != BiasKind::Column)
    return op.emitOpError() << "with 'pairs' expected a bias along the columns";
  if (auto why = whyNotPairs(op.getSchedule(), getTarget(op)))
    return op.emitOpError() << why->text;
  return success();
}

/// A tensor map of D belongs to stores by TMA, which have to be possible.
static LogicalResult verifyStores(KernelMatmulOp op) {
  ScheduleAttr schedule = op.getSchedule();
  Type type = op.getD().getType();
  if (isa<TensorMapType>(type) != (schedule.getStores() == Stores::Tma))
    return op.emitOpError()
           << "expected a tensor map of 'd' with 'stores' of 'tma', and only "
              "then";
  bool isPromoting = op.getRowBlock() > 0 || op.getColumnBlock() > 0;
  bool hasFactorOfColumn = op.getColumnScales() && !op.getColumnBlock();
  unsigned values = Epilogue(op).mostValues() + hasFactorOfColumn +
                    static_cast<bool>(op.getRowTerms());
  StoredResult result{resultElement(type),
                      knownSize(op.getN()),
                      op.getOffsets() || op.getRowCounts(),
                      isPromoting,
                      op.getPairs(),
                      values};
  if (auto why = whyNotStores(schedule, result, getTarget(op)))
    return op.emitOpError() << why->text;
  if (auto why = whyNotEpilogueWarps(schedule, isPromoting, getTarget(op)))
    return op.emitOpError() << why->text;
  if (auto why = whyNotConsumerGroups(schedule, result.element, getTarget(op)))
    return op.emitOpError() << why->text;
  return success();
}

/// As one of C belongs to loads of it by TMA.
static LogicalResult verifyLoadsOfC(KernelMatmulOp op) {
  ScheduleAttr schedule = op.getSchedule();
  Type type = op.getC() ? op.getC().getType() : Type();
  if (type && isa<TensorMapType>(type) != (schedule.getCLoads() == Loads::Tma))
    return op.emitOpError()
           << "expected a tensor map of 'c' with 'c_loads' of 'tma', and only "
              "then";
  bool isPromoting = op.getRowBlock() > 0 || op.getColumnBlock() > 0;
  StoredResult addend{type ? resultElement(type) : Type(), knownSize(op.getN()),
                      op.getOffsets() || op.getRowCounts(), isPromoting,
                      op.getPairs()};
  if (auto why = whyNotLoadsOfC(schedule, addend, getTarget(op)))
    return op.emitOpError() << why->text;
  return success();
}

/// So have groups along K, which are no groups of rows.
static LogicalResult verifyGroupsAlongK(KernelMatmulOp op) {
  if (!op.getKOffsets())
    return success();
  if (op.getOffsets())
    return op.emitOpError() << "expected 'groups' or 'k_groups', found both";
  Type element = op.getKOffsets().getType().getElementType();
  if (!element.isInteger(32))
    return op.emitOpError() << "expected offsets of i32, found " << element;
  if (op.getBias() && op.getBiasKind() != BiasKind::Column)
    return op.emitOpError()
           << "with 'k_groups' expected a bias along the columns";
  if (auto why = whyNotGroupedAlongK(op.getMma(), stepAlongK(op),
                                     op.getSchedule().getScheduler(),
                                     op.getSchedule().splits()))
    return op.emitOpError() << why->text;
  return success();
}

LogicalResult KernelMatmulOp::verify() {
  ScheduleAttr schedule = getSchedule();
  if (!schedule.isComplete())
    return emitOpError() << "expected a complete schedule; "
                            "'blockscale-select-schedule' completes one";
  MmaAttr mma = getMma();
  bool inTensorMemory = hw::hasTensorMemory(getTarget(*this));
  if (inTensorMemory &&
      (!isTileM(mma, schedule.getTileM()) || !isTileN(mma, schedule)))
    return emitOpError() << "expected an instruction of the tile's shape "
                         << schedule.getTileM() << "x" << schedule.getTileN()
                         << ", found " << mma.getM() << "x" << mma.getN();
  if (inTensorMemory && (schedule.ctaGroup() != mma.getCtaGroup() ||
                         mma.getM() != hw::kTmemLanes * mma.getCtaGroup()))
    return emitOpError() << "expected an instruction of 'cta_group' "
                         << schedule.ctaGroup()
                         << " and M = " << hw::kTmemLanes * schedule.ctaGroup()
                         << ", found " << mma.getCtaGroup() << " and "
                         << mma.getM();
  if (auto why = whyNotWideTile(mma, schedule.getTileM(), schedule.getTileN()))
    return emitOpError() << why->text;
  if (schedule.getMmaK() && schedule.getMmaK() != mma.getK())
    return emitOpError() << "expected an instruction of the schedule's K = "
                         << schedule.getMmaK() << ", found K = " << mma.getK();
  if (auto why = whyNotStages(mma, schedule.getStages()))
    return emitOpError() << why->text;
  if (auto why = whyNotScaleRing(mma, schedule, getTarget(*this)))
    return emitOpError() << why->text;
  if (static_cast<bool>(getBeta()) != static_cast<bool>(getC()))
    return emitOpError() << "expected 'c' and 'beta' together";
  if (failed(verifyInstruction(*this, mma)))
    return failure();
  if (!inTensorMemory)
    if (auto why = whyNotWarpTile(mma, schedule.getTileM(), schedule.getTileN(),
                                  schedule.getTileK()))
      return emitOpError() << why->text;
  if (auto why = whyNotWarpSchedule(schedule, getTarget(*this)))
    return emitOpError() << why->text;
  if (schedule.getTileK() != mma.getTileK())
    return emitOpError() << "expected 'tile_k' of " << mma.getTileK()
                         << (mma.getSparse()
                                 ? " for a sparse "
                                 : ", one 128-byte row of shared memory for ")
                         << "kind '" << StringRef(hw::kindName(mma.getKind()))
                         << "', found " << schedule.getTileK();
  if (mma.getSparse() != static_cast<bool>(getMetadata()))
    return emitOpError() << "expected metadata of 'a' with a sparse "
                            "instruction, and only then";
  if (failed(verifySplit(*this)) || failed(verifyGroups(*this)) ||
      failed(verifyRowCounts(*this)) || failed(verifyGatheredRows(*this)) ||
      failed(verifyStores(*this)) || failed(verifyLoadsOfC(*this)) ||
      failed(verifyPairs(*this)) || failed(::verifyGroupsAlongK(*this)) ||
      failed(verifyTerms(*this)) || failed(verifyQuantization(*this)))
    return failure();
  bool hasSfa = static_cast<bool>(getSfa()),
       hasSfb = static_cast<bool>(getSfb());
  if (auto why = whyNotScalesOf(mma, hasSfa, hasSfb, getTarget(*this)))
    return emitOpError() << why->text;
  return verifyMemory(*this);
}
