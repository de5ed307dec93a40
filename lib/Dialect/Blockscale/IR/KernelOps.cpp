//===- KernelOps.cpp - verifiers of the ops of kernels ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/HW/Check.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/HW/Target.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

LogicalResult blockscale::verifyKernelSymbol(Operation *launch,
                                             SymbolRefAttr symbol,
                                             Operation *kernel) {
  if (!kernel)
    return launch->emitOpError() << "there is no kernel " << symbol;
  if (kernel->hasAttrOfType<KernelAttr>(KernelAttr::name))
    return success();
  InFlightDiagnostic diag = launch->emitOpError()
                            << symbol << " is not a kernel: it has no '"
                            << KernelAttr::name << "' attribute";
  diag.attachNote(kernel->getLoc()) << "declared here";
  return diag;
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyKernelSymbol(
      *this, getKernelAttr(),
      symbols.lookupNearestSymbolFrom(*this, getKernelAttr()));
}

//===----------------------------------------------------------------------===//
// Legality of the instruction
//===----------------------------------------------------------------------===//

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
      op.getRowScales() || op.getColumnScales())
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
        !element.isInteger(8))
      return op.emitOpError() << "expected scales of f32, f16, bf16 or, for "
                                 "codes of ue8m0, i8, found "
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
    if (!scales ||
        cast<GlobalType>(scales.getType()).getElementType().isInteger())
      return op.emitOpError()
             << "expected '" << name << "_scales' of f32, f16 or bf16 with a '"
             << name << "_block'";
  }
  int64_t rows = op.getRowBlock(), columns = op.getColumnBlock();
  int64_t block = promotionBlock(rows, columns);
  if (rows < 0 || columns < 0 ||
      (block && (rows % block != 0 || columns % block != 0)))
    return op.emitOpError() << "expected blocks of which one divides the "
                               "other, found 'row_block' of "
                            << rows << " and 'column_block' of " << columns;
  if (block && op.getOffsets())
    return op.emitOpError() << "takes no 'offsets' of groups of rows with "
                               "scales of tiles along K";
  bool swap = op.getSchedule().getSwapOperands().getValue();
  int64_t ofScale = swap ? (rows ? op.getRowGroup() : 0)
                         : (columns ? op.getColumnGroup() : 0);
  if (auto why = whyNotPromotion(op.getMma(), op.getSchedule(), block, ofScale,
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

/// A workspace belongs to a split of K, which in turn has to be possible.
static LogicalResult verifySplit(KernelMatmulOp op) {
  MmaAttr mma = op.getMma();
  int64_t splits = op.getSchedule().splits();
  if (static_cast<bool>(op.getWorkspace()) != (splits > 1))
    return op.emitOpError()
           << "expected a workspace with 'split_k' above 1, and only then";
  if (splits == 1)
    return success();
  Type element = op.getWorkspace().getType().getElementType();
  if (element != accumulatorType(mma))
    return op.emitOpError() << "expected a workspace of the accumulator's type "
                            << accumulatorType(mma) << ", found " << element;
  if (auto why = whyNotSplit(mma, knownSize(op.getK()), splits, getTarget(op)))
    return op.emitOpError() << why->text;
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
  if (op.getBias() && op.getBiasKind() != BiasKind::Column)
    return op.emitOpError()
           << "with 'groups' expected a bias along the columns";
  ScheduleAttr schedule = op.getSchedule();
  if (auto why = whyNotGrouped(op.getMma(), schedule.getScheduler(),
                               schedule.splits()))
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
  StoredResult result{resultElement(type), knownSize(op.getN()),
                      static_cast<bool>(op.getOffsets()), isPromoting};
  if (auto why = whyNotStores(schedule, result, getTarget(op)))
    return op.emitOpError() << why->text;
  return success();
}

/// So have groups along K, which are no groups of rows.
static LogicalResult verifyGroupsAlongK(KernelMatmulOp op) {
  if (!op.getKOffsets())
    return success();
  if (op.getOffsets())
    return op.emitOpError() << "expected 'groups' or 'k_groups', found both";
  if (op.getRowScales() || op.getColumnScales())
    return op.emitOpError() << "with 'k_groups' expected no scales of rows";
  Type element = op.getKOffsets().getType().getElementType();
  if (!element.isInteger(32))
    return op.emitOpError() << "expected offsets of i32, found " << element;
  if (op.getBias() && op.getBiasKind() != BiasKind::Column)
    return op.emitOpError()
           << "with 'k_groups' expected a bias along the columns";
  if (auto why =
          whyNotGroupedAlongK(op.getMma(), op.getSchedule().getScheduler(),
                              op.getSchedule().splits(), getTarget(op)))
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
      (!isTileM(mma, schedule.getTileM()) || schedule.getTileN() != mma.getN()))
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
  if (schedule.getMmaK() && schedule.getMmaK() != mma.getK())
    return emitOpError() << "expected an instruction of the schedule's K = "
                         << schedule.getMmaK() << ", found K = " << mma.getK();
  if (auto why = whyNotStages(mma, schedule.getStages()))
    return emitOpError() << why->text;
  if (static_cast<bool>(getBeta()) != static_cast<bool>(getC()))
    return emitOpError() << "expected 'c' and 'beta' together";
  if (failed(verifyInstruction(*this, mma)))
    return failure();
  if (!inTensorMemory)
    if (auto why = whyNotWarpTile(mma, schedule.getTileM(), schedule.getTileN(),
                                  schedule.getTileK()))
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
      failed(verifyStores(*this)) || failed(::verifyGroupsAlongK(*this)) ||
      failed(verifyQuantization(*this)))
    return failure();
  // In registers scales may be constants.
  bool scalesOfOne = !inTensorMemory && !getSfa() && !getSfb() &&
                     mma.getScale() == ElementFormat::UE8M0;
  for (auto [name, scales] : {std::pair("a", getSfa()), {"b", getSfb()}})
    if (!scalesOfOne && static_cast<bool>(scales) != mma.getScale().has_value())
      return emitOpError() << "expected scales of '" << name
                           << "' with a kind that takes scales, and only then";
  return verifyMemory(*this);
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

/// An offset that is not there yet is fine.
static LogicalResult verifyOffset(Operation *op, std::optional<int64_t> offset,
                                  int64_t alignment) {
  if (!offset || (*offset >= 0 && *offset % alignment == 0))
    return success();
  return op->emitOpError() << "expected an offset that is a multiple of "
                           << alignment << ", found " << *offset;
}

LogicalResult SharedAllocOp::verify() {
  return verifyOffset(*this, getOffset(), getType().getAlignment());
}

LogicalResult BarrierAllocOp::verify() {
  constexpr uint64_t kMaxArrivals = (1 << 20) - 1;
  if (getArrivals() < 1 || getArrivals() > kMaxArrivals)
    return emitOpError() << "expected 1 to " << kMaxArrivals
                         << " arrivals, found " << getArrivals();
  return verifyOffset(*this, getOffset(), hw::kBarrierBytes);
}

static LogicalResult verifyColumns(Operation *op, SharedType slot,
                                   std::optional<int64_t> columns) {
  if (slot.getStageBytes() < 4)
    return op->emitOpError() << "expected a slot of at least 4 bytes";
  if (!columns)
    return success();
  auto legal =
      hw::allocationOn(getTarget(op).chip, *columns < 0 ? 0 : *columns);
  if (!legal)
    return op->emitOpError() << legal.why().text;
  if (legal->columns == *columns)
    return success();
  if (legal->isExclusive)
    return op->emitOpError()
           << "more than 512 columns of tensor memory are allocated in steps "
              "of 32; found "
           << *columns << ", the next larger is " << legal->columns;
  return op->emitOpError()
         << "tensor memory is allocated in powers of two from 32 to 512 "
            "columns; found "
         << *columns << ", the next larger is " << legal->columns;
}

LogicalResult TmemAllocOp::verify() {
  return verifyColumns(*this, getSlot().getType(), getColumns());
}

LogicalResult TmemDeallocOp::verify() {
  return verifyColumns(*this, getSlot().getType(), getColumns());
}

LogicalResult TmemViewOp::verify() {
  if (!getColumn())
    return success();
  int64_t column = *getColumn();
  int64_t columns = getType().getColumns();
  int64_t there = hw::chipInfo(getTarget(*this).chip).tensorMemoryColumns;
  if (column < 0 || column > there - columns)
    return emitOpError() << columns << " columns from column " << column
                         << " on are not within the " << there
                         << " columns of tensor memory";
  constexpr int64_t kCopyAlignment = 4;
  if (!getType().isAccumulator() && column % kCopyAlignment != 0)
    return emitOpError() << "expected scales at a multiple of "
                         << kCopyAlignment << " columns, found " << column;
  return success();
}

LogicalResult WarpsOp::verify() {
  constexpr int64_t kMaxWarps = hw::kMaxThreadsPerCta / hw::kWarpSize;
  int64_t first = getFirst(), last = getLast();
  if (first < 0 || first >= last || last > kMaxWarps)
    return emitOpError() << "expected at least one of the warps 0 to "
                         << kMaxWarps << ", found " << first << " to " << last;
  return success();
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

LogicalResult RemoteBarrierOp::inferReturnTypes(MLIRContext *context,
                                                std::optional<Location>,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  auto type = cast<BarrierType>(adaptor.getBarrier().getType());
  types.push_back(BarrierType::get(context, type.getCount(), /*remote=*/true));
  return success();
}

/// What only threads of the barrier's own CTA can do with it.
static LogicalResult verifyLocal(Operation *op, BarrierType barrier) {
  if (!barrier.getRemote())
    return success();
  return op->emitOpError() << "expected a barrier of the executing CTA; at a "
                              "remote one threads can only arrive, and loads "
                              "be counted";
}

LogicalResult WaitOp::verify() {
  return verifyLocal(*this, getBarrier().getType());
}

LogicalResult ArriveExpectOp::verify() {
  return verifyLocal(*this, getBarrier().getType());
}

LogicalResult CommitOp::verify() {
  return verifyLocal(*this, getBarrier().getType());
}

/// Responses of cluster launch control are entries of 16 bytes.
static LogicalResult verifyResponses(Operation *op, SharedType responses) {
  constexpr int64_t kResponseBytes = 16;
  if (responses.getStageBytes() == kResponseBytes)
    return success();
  return op->emitOpError() << "expected responses of " << kResponseBytes
                           << " bytes, found " << responses.getStageBytes();
}

LogicalResult TryCancelOp::verify() {
  if (failed(verifyLocal(*this, getSignal().getType())))
    return failure();
  return verifyResponses(*this, getResponses().getType());
}

LogicalResult QueryCancelOp::verify() {
  return verifyResponses(*this, getResponses().getType());
}

//===----------------------------------------------------------------------===//
// Moving data
//===----------------------------------------------------------------------===//

LogicalResult TmaLoadOp::verify() {
  TensorMapType map = getMap().getType();
  SharedType shared = getShared().getType();
  if (getCoordinates().size() != map.getBox().size())
    return emitOpError() << "expected " << map.getBox().size()
                         << " coordinates, found " << getCoordinates().size();
  if (map.getSwizzle() != shared.getSwizzle())
    return emitOpError() << "the tensor map's swizzle "
                         << StringRef(hw::swizzleName(map.getSwizzle()))
                         << " is not the stage's, "
                         << StringRef(hw::swizzleName(shared.getSwizzle()));
  int64_t bits = hw::tensorMapDataTypeInfo(map.getDataType()).sharedBits;
  for (int64_t extent : map.getBox())
    bits *= extent;
  int64_t box = getBox();
  if (box < 0 || box >= shared.getStageBytes() / (bits / 8))
    return emitOpError() << "box " << box << " of " << bits / 8
                         << " bytes is not within a stage of "
                         << shared.getStageBytes() << " bytes";
  return success();
}

/// Tiles of 128 rows by 16 bytes, as scales of A with one row to a lane and
/// metadata lie in a stage.
static bool isRowTileRing(SharedType ring) {
  ArrayRef<int64_t> shape = ring.getShape();
  return shape.size() == 4 && shape[2] == hw::kAtomRows &&
         shape[3] == hw::kRowTileScales && ring.getContainer() == 8 &&
         ring.getSwizzle() == hw::Swizzle::None;
}

LogicalResult blockscale::verifyScaleRing(Operation *op, SharedType ring) {
  if (ring.getShape().size() == 4 && ring.getShape()[3] == hw::kAtomBytes &&
      ring.getContainer() == 8 && ring.getSwizzle() == hw::Swizzle::None)
    return success();
  return op->emitOpError() << "expected a ring of stages x row groups x words "
                              "x 512 bytes without swizzle";
}

LogicalResult MaskScalesOp::verify() {
  if (isRowTileRing(getShared().getType()))
    return success();
  return verifyScaleRing(*this, getShared().getType());
}

LogicalResult CopyScalesOp::verify() {
  ArrayRef<int64_t> source = getShared().getType().getShape();
  TensorMemoryType target = getTarget().getType();
  auto layout = dyn_cast<TmemScalesAttr>(target.getLayout());
  if (!layout)
    return emitOpError() << "expected scales as the target";
  constexpr int64_t kAtomRows = hw::kAtomRows, kAtomScales = hw::kAtomScales;
  if (isRowPerLane(target)) {
    if (!isRowTileRing(getShared().getType()))
      return emitOpError() << "expected a ring of stages x tiles x 128 rows x "
                              "16 scales without swizzle for scales with one "
                              "row to a lane";
    if (source[1] * source[3] != target.getShape()[1] || getWord() != 0)
      return emitOpError() << "a stage holds " << source[1] * source[3]
                           << " scales of each row, the target takes "
                           << target.getShape()[1] << " from word 0 on";
    return success();
  }
  if (failed(verifyScaleRing(*this, getShared().getType())))
    return failure();
  if (source[1] * kAtomRows != target.getShape()[0] ||
      source[2] * kAtomScales > target.getShape()[1])
    return emitOpError() << "a stage holds " << source[1] * kAtomRows << "x"
                         << source[2] * kAtomScales
                         << " scales, the target takes " << target.getShape()[0]
                         << "x" << target.getShape()[1];
  int64_t words = target.getShape()[1] / kAtomScales, word = getWord();
  if (word < 0 || word >= words)
    return emitOpError() << "expected a word from 0 to " << words - 1
                         << ", found " << word;
  return success();
}

LogicalResult CopyMetadataOp::verify() {
  SharedType ring = getShared().getType();
  ArrayRef<int64_t> source = ring.getShape();
  if (!isRowTileRing(ring))
    return emitOpError() << "expected a ring of stages x tiles x 128 rows x 16 "
                            "bytes without swizzle";
  TensorMemoryType target = getTarget().getType();
  if (!isa<TmemMetadataAttr>(target.getLayout()))
    return emitOpError() << "expected metadata as the target";
  if (source[1] * hw::kMetadataTileBytes != target.getShape()[1])
    return emitOpError() << "a stage holds "
                         << source[1] * hw::kMetadataTileBytes
                         << " bytes per row, the target takes "
                         << target.getShape()[1];
  return success();
}

//===----------------------------------------------------------------------===//
// The epilogue
//===----------------------------------------------------------------------===//

LogicalResult LoadAccumulatorOp::verify() {
  TensorMemoryType accumulator = getAccumulator().getType();
  int64_t columns = getType().getDimSize(0);
  if (!accumulator.isAccumulator() || columns > accumulator.getShape()[2])
    return emitOpError() << "expected an accumulator of at least " << columns
                         << " columns";
  constexpr int64_t kMaxColumns = 128;
  if (!llvm::isPowerOf2_64(columns) || columns > kMaxColumns)
    return emitOpError() << "expected a power of two up to " << kMaxColumns
                         << " columns, found " << columns;
  if (getType().getElementType() != accumulator.getElementType())
    return emitOpError() << "the accumulator holds "
                         << accumulator.getElementType() << ", the vector "
                         << getType().getElementType();
  return success();
}

static LogicalResult verifyRow(Operation *op, GlobalType memory,
                               VectorType vector, bool isStrided,
                               bool isAligned) {
  if (memory.getElementType() != vector.getElementType())
    return op->emitOpError() << "memory holds " << memory.getElementType()
                             << ", the vector " << vector.getElementType();
  if (isAligned && (isStrided || !llvm::isPowerOf2_64(vector.getDimSize(0))))
    return op->emitOpError()
           << "expected an aligned row to be a power of two of "
              "elements without a stride";
  return success();
}

LogicalResult EncodePairOp::verify() {
  if (isa<Float4E2M1FNType, Float6E2M3FNType, Float6E3M2FNType,
          Float8E4M3FNType, Float8E5M2Type>(getFormat()))
    return success();
  return emitOpError() << "expected f4E2M1FN, f6E2M3FN, f6E3M2FN, f8E4M3FN or "
                          "f8E5M2, found "
                       << getFormat();
}

LogicalResult LoadRowOp::verify() {
  return verifyRow(*this, getSource().getType(), getType(),
                   static_cast<bool>(getStride()), getAligned());
}

LogicalResult StoreRowOp::verify() {
  return verifyRow(*this, getTarget().getType(), getValue().getType(),
                   static_cast<bool>(getStride()), getAligned());
}

LogicalResult CountArrivalOp::verify() {
  if (getCounters().getType().getElementType().getIntOrFloatBitWidth() != 32)
    return emitOpError() << "expected counters in elements of 32 bits, found "
                         << getCounters().getType().getElementType();
  if (getCount() < 2)
    return emitOpError() << "expected a count of at least 2, found "
                         << getCount();
  if (getThreads() < 1 || getThreads() % hw::kWarpSize != 0 ||
      getThreads() > hw::kMaxThreadsPerCta)
    return emitOpError() << "expected whole warps of threads, at most "
                         << hw::kMaxThreadsPerCta << ", found " << getThreads();
  return success();
}
