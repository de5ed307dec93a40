//===- MmaOp.cpp - the verifier of one stage's products -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/HW/Check.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The metadata of a sparse instruction lie in their region: the columns that
/// it reads, which start `selector` behind an even one.
static LogicalResult verifyMetadataColumn(MmaOp op, StepAttr step) {
  int64_t column = step.getMetadataColumn(), selector = step.getSelector();
  if (!op.getMetadata()) {
    if (column == 0 && selector == 0)
      return success();
    return op.emitOpError() << "a dense instruction has no 'metadata_column' "
                               "and no 'selector'";
  }
  constexpr int64_t kColumns = 2;
  hw::MmaKind kind = op.getInstruction().getKind();
  int64_t read = hw::metadataColumns(kind, 1);
  int64_t columns = op.getMetadata().getType().getColumns();
  if (column < 0 || column % kColumns != 0 ||
      column + selector + read > columns)
    return op.emitOpError()
           << "expected a metadata column that is a multiple of " << kColumns
           << " within a region of " << columns << ", found " << column;
  if (selector < 0 || selector + read > kColumns)
    return op.emitOpError()
           << "expected a 'selector' of 0" << (read == kColumns ? "" : " or 1")
           << " for kind '" << StringRef(hw::kindName(kind)) << "', found "
           << selector;
  return success();
}

/// Scales of a step: the regions and bytes that they start at.
static LogicalResult verifyScales(MmaOp op, StepAttr step,
                                  ArrayRef<unsigned> ids) {
  bool has = op.getSfa() != nullptr;
  for (std::optional<int64_t> number : {step.getSfaColumn(), step.getSfaId(),
                                        step.getSfbColumn(), step.getSfbId()})
    if (number.has_value() != has)
      return op.emitOpError() << "expected columns and ids of scales in each "
                                 "step of a block-scaled kind, and only there";
  if (!has)
    return success();
  auto legalId = [&](int64_t id) {
    return id >= 0 && id < 4 &&
           llvm::is_contained(ids, static_cast<unsigned>(id));
  };
  for (int64_t id : {*step.getSfaId(), *step.getSfbId()})
    if (!legalId(id))
      return op.emitOpError()
             << "scale id " << id << " is not legal for kind '"
             << StringRef(hw::kindName(op.getInstruction().getKind()))
             << "' with blocks of " << op.getInstruction().getBlock();
  auto within = [](int64_t column, TensorMemoryType region) {
    return column >= 0 && column < region.getColumns();
  };
  if (within(*step.getSfaColumn(), op.getSfa().getType()) &&
      within(*step.getSfbColumn(), op.getSfb().getType()))
    return success();
  return op.emitOpError() << "scale columns " << *step.getSfaColumn() << " and "
                          << *step.getSfbColumn()
                          << " are not within regions of "
                          << op.getSfa().getType().getColumns() << " and "
                          << op.getSfb().getType().getColumns();
}

static LogicalResult verifyStep(MmaOp op, StepAttr step,
                                ArrayRef<unsigned> ids) {
  constexpr int64_t kDescriptorUnit = 16;
  for (int64_t offset : {step.getA(), step.getB()})
    if (offset < 0 || offset % kDescriptorUnit != 0)
      return op.emitOpError()
             << "expected operand offsets in whole 16 bytes, found " << offset;
  if (failed(verifyScales(op, step, ids)))
    return failure();
  return verifyMetadataColumn(op, step);
}

/// An instruction that takes its last scales from the next word, as those of
/// K = 96 and wide ones with blocks of 16 do, finds it where the hardware looks
/// for it.
static LogicalResult verifyNextWord(MmaOp op, StringRef name,
                                    TensorMemoryType region, int64_t rows,
                                    int64_t column, int64_t id) {
  MmaAttr mma = op.getInstruction();
  auto stride = cast<TmemScalesAttr>(region.getLayout()).getWordStride();
  auto expected =
      hw::scaleRegion(isRowPerLane(region) ? hw::ScalePath::RowPerLane
                                           : hw::ScalePath::FourByOne,
                      rows);
  if (!expected || stride != expected->wordStride)
    return op.emitOpError()
           << "K = " << mma.getK() << " reads the words of '" << name << "' "
           << (expected ? expected->wordStride : 0)
           << " columns apart, found a word stride of " << stride;
  hw::ConsumedBytes consumed =
      hw::consumedBytes(hw::scalesPerMma(mma.getKind(), mma.getBlock(),
                                         mma.getK(), mma.getSparse()),
                        id);
  int64_t last = consumed.count ? consumed.bytes[consumed.count - 1].word : 0;
  if (column + last * stride >= region.getColumns())
    return op.emitOpError() << "the scales of '" << name << "' from column "
                            << column << " on continue behind the region of "
                            << region.getColumns() << " columns";
  return success();
}

static LogicalResult verifyNextWords(MmaOp op, StepAttr step) {
  MmaAttr mma = op.getInstruction();
  unsigned scales = hw::scalesPerMma(mma.getKind(), mma.getBlock(), mma.getK(),
                                     mma.getSparse());
  bool readsNext = mma.getK() == hw::kK96 || scales > hw::kAtomScales;
  if (!readsNext)
    return success();
  if (failed(verifyNextWord(op, "sfa", op.getSfa().getType(), hw::kAtomRows,
                            *step.getSfaColumn(), *step.getSfaId())))
    return failure();
  return verifyNextWord(op, "sfb", op.getSfb().getType(), mma.getN(),
                        *step.getSfbColumn(), *step.getSfbId());
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A range is instructions that start in the op's stage, or one that starts in
/// the stage before.
static LogicalResult verifyRange(MmaOp op) {
  KRangeAttr range = op.getRangeAttr();
  if (!range) {
    if (op.getPrevious())
      return op.emitOpError() << "expected a 'range' with 'previous'";
    return success();
  }
  int64_t k = op.getInstruction().getK();
  int64_t stage = op.getB().getType().getShape()[2];
  int64_t first = stage * range.getPart(), last = first + stage;
  int64_t begin = range.getBegin(), end = range.getEnd();
  if (begin % k != 0 || end > last)
    return op.emitOpError()
           << "expected a range that begins at a multiple of " << k
           << " and ends by " << last << ", where the stage does; found "
           << begin << " to " << end;
  int64_t readEnd = llvm::alignTo(end, k);
  if (readEnd > last)
    return op.emitOpError() << "the last instruction reads up to element "
                            << readEnd << ", the stage ends at " << last;
  if (!op.getPrevious() && begin < first)
    return op.emitOpError()
           << "element " << begin << " lies in the stage before part "
           << range.getPart() << "; expected 'previous'";
  if (op.getPrevious() && (k != hw::kK96 || begin + k != readEnd ||
                           begin >= first || readEnd <= first))
    return op.emitOpError() << "expected one instruction of K = 96 that starts "
                               "in the stage before part "
                            << range.getPart() << " and ends in it, found "
                            << begin << " to " << end << " with K = " << k;
  return success();
}

/// What is kept in the collector is for one more instruction.
static LogicalResult verifyCollector(MmaOp op) {
  if (!op.getCollector())
    return success();
  MmaAttr mma = op.getInstruction();
  if (auto why = hw::whyNotFeature(hw::Feature::CollectorB, getTarget(op)))
    return op.emitOpError() << why->text;
  KRangeAttr range = op.getRangeAttr();
  if (mma.getSparse() || !range || op.getPrevious() ||
      range.getEnd() - range.getBegin() > mma.getK())
    return op.emitOpError() << "'collector' goes with one dense instruction; "
                               "expected a 'range' of at most "
                            << mma.getK() << " elements in one stage";
  return success();
}

/// One stage of `ring` must be a canonical tile of at least `extent` rows.
static LogicalResult verifyOperandRing(MmaOp op, StringRef name,
                                       hw::OperandType type, SharedType ring,
                                       BoolAttr mnMajor, int64_t extent) {
  bool isMNMajor = mnMajor && mnMajor.getValue();
  if (ring.getShape().size() != (isMNMajor ? 4u : 3u))
    return op.emitOpError()
           << "expected '" << name << "' to be a ring of stages x "
           << (isMNMajor ? "row groups x K x rows" : "rows x K");
  int64_t container = op.getInstruction().getContainerBits(type);
  if (ring.getContainer() != container)
    return op.emitOpError()
           << "expected '" << name << "' in containers of " << container
           << " bits, found " << ring.getContainer();
  hw::OperandTile tile = operandTile(ring, isMNMajor);
  if (auto why = hw::whyNot(tile))
    return op.emitOpError() << "operand '" << name << "': " << why->text;
  if (tile.mn < extent)
    return op.emitOpError() << "expected at least " << extent << " rows in '"
                            << name << "', found " << tile.mn;
  return success();
}

/// Whether an instruction with `columns` columns has its sums there. Where
/// accumulators overlap, one of them may be wider: of instructions beside each
/// other the narrower one writes its first columns.
static bool isAccumulatorOf(TensorMemoryType type, int64_t columns) {
  auto layout = dyn_cast<TmemAccumulatorAttr>(type.getLayout());
  if (!layout)
    return false;
  int64_t width = type.getShape()[2], stride = layout.getCopyStride();
  bool overlaps = stride && stride < width;
  return columns == width || (overlaps && columns < width);
}

/// Accumulator, scales and metadata are those that the instruction has.
static LogicalResult verifyTensorMemory(MmaOp op) {
  MmaAttr mma = op.getInstruction();
  TensorMemoryType accumulator = op.getAccumulator().getType();
  if (!isAccumulatorOf(accumulator, mma.getN()))
    return op.emitOpError()
           << "expected an accumulator of " << mma.getN() << " columns";
  Type element = accumulatorType(mma);
  if (accumulator.getElementType() != element)
    return op.emitOpError()
           << "expected an accumulator of " << element << " for kind '"
           << StringRef(hw::kindName(mma.getKind())) << "', found "
           << accumulator.getElementType();
  bool isScaled = hw::isBlockScaled(mma.getKind());
  if (isScaled != static_cast<bool>(op.getSfa()))
    return op.emitOpError() << "expected 'scales' with a block-scaled kind, "
                               "and only then";
  for (Value scales : {Value(op.getSfa()), Value(op.getSfb())})
    if (scales && !isa<TmemScalesAttr>(
                      cast<TensorMemoryType>(scales.getType()).getLayout()))
      return op.emitOpError() << "expected scales behind 'scales'";
  if (isScaled && isRowPerLane(op.getSfb().getType()))
    return op.emitOpError() << "only scales of 'a' have one row to a lane";
  if (isScaled && isRowPerLane(op.getSfa().getType()))
    if (auto why =
            hw::whyNotFeature(hw::Feature::RowPerLaneScales, getTarget(op)))
      return op.emitOpError() << why->text;
  if (!isScaled && op.getShift())
    return op.emitOpError()
           << "'shift' moves the scales of 'b', which kind '"
           << StringRef(hw::kindName(mma.getKind())) << "' does not have";
  if (mma.getSparse() != static_cast<bool>(op.getMetadata()))
    return op.emitOpError() << "expected 'metadata' with a sparse instruction, "
                               "and only then";
  if (op.getMetadata() &&
      !isa<TmemMetadataAttr>(op.getMetadata().getType().getLayout()))
    return op.emitOpError() << "expected metadata behind 'metadata'";
  return success();
}

LogicalResult MmaOp::verify() {
  MmaAttr mma = getInstruction();
  if (failed(verifyInstruction(*this, mma)) ||
      failed(verifyTensorMemory(*this)))
    return failure();
  SharedType a = getA().getType(), b = getB().getType();
  int64_t ctas = mma.getCtaGroup();
  if (failed(verifyOperandRing(*this, "a", mma.getA(), a, mma.getAMnMajor(),
                               mma.getM() / ctas)) ||
      failed(verifyOperandRing(*this, "b", mma.getB(), b, mma.getBMnMajor(),
                               mma.getN() / ctas)))
    return failure();
  if (a.getShape()[2] != mma.getStoredK(b.getShape()[2]))
    return emitOpError() << "expected "
                         << (mma.getSparse()
                                 ? "half as many elements of K in "
                                   "a stage of 'a' as of 'b', found "
                                 : "the same elements of K in a "
                                   "stage of 'a' and 'b', found ")
                         << a.getShape()[2] << " and " << b.getShape()[2];
  if (failed(verifyRange(*this)) || failed(verifyCollector(*this)))
    return failure();
  if (!getSteps())
    return success();
  std::vector<unsigned> ids = hw::legalScaleIds(mma.getKind(), mma.getBlock(),
                                                mma.getK(), mma.getSparse());
  for (auto step : getSteps()->getAsRange<StepAttr>())
    if (failed(verifyStep(*this, step, ids)) ||
        failed(verifyNextWords(*this, step)))
      return failure();
  return success();
}
