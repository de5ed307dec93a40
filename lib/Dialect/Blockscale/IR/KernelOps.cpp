//===- KernelOps.cpp - verifiers of the ops of kernels ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/HW/ScaleLayout.h"
#include <mlir/IR/Matchers.h>

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

/// One coordinate for each dimension of the box.
static LogicalResult verifyCoordinates(Operation *op, TensorMapType map,
                                       size_t coordinates) {
  if (coordinates == map.getBox().size())
    return success();
  return op->emitOpError() << "expected " << map.getBox().size()
                           << " coordinates, found " << coordinates;
}

LogicalResult TmaPrefetchOp::verify() {
  return verifyCoordinates(*this, getMap().getType(), getCoordinates().size());
}

LogicalResult TmaLoadOp::verify() {
  TensorMapType map = getMap().getType();
  SharedType shared = getShared().getType();
  if (failed(verifyCoordinates(*this, map, getCoordinates().size())))
    return failure();
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

LogicalResult TmaGatherOp::verify() {
  TensorMapType map = getMap().getType();
  SharedType shared = getShared().getType();
  ArrayRef<int64_t> box = map.getBox();
  if (box.size() != 2 || box[1] != 1)
    return emitOpError() << "expected a tensor map of 2 dimensions with a box "
                            "of one row";
  if (map.getSwizzle() != shared.getSwizzle())
    return emitOpError() << "the tensor map's swizzle "
                         << StringRef(hw::swizzleName(map.getSwizzle()))
                         << " is not the stage's, "
                         << StringRef(hw::swizzleName(shared.getSwizzle()));
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
                               VectorType vector, bool isAligned) {
  // Arithmetic has no integers with or without a sign, and kernels decode the
  // bytes of floats that no instruction converts.
  Type element = memory.getElementType();
  if (element.isUnsignedInteger() || isDecodedFactor(element))
    element =
        IntegerType::get(op->getContext(), element.getIntOrFloatBitWidth());
  if (element != vector.getElementType())
    return op->emitOpError() << "memory holds " << memory.getElementType()
                             << ", the vector " << vector.getElementType();
  if (isAligned && !llvm::isPowerOf2_64(vector.getDimSize(0)))
    return op->emitOpError()
           << "expected an aligned row to be a power of two of elements";
  return success();
}

/// The chip converts pairs of codes of this format.
static LogicalResult verifyPairFormat(Operation *op, Type format) {
  if (isa<Float4E2M1FNType, Float6E2M3FNType, Float6E3M2FNType,
          Float8E4M3FNType, Float8E5M2Type>(format))
    return success();
  return op->emitOpError()
         << "expected f4E2M1FN, f6E2M3FN, f6E3M2FN, f8E4M3FN or "
            "f8E5M2, found "
         << format;
}

LogicalResult LargestMagnitudeOp::verify() {
  if (getValues().empty())
    return emitOpError() << "expected at least one number";
  return success();
}

LogicalResult EncodePairOp::verify() {
  return verifyPairFormat(*this, getFormat());
}

LogicalResult EncodeWordOp::verify() {
  constexpr unsigned kCodes = 8;
  if (!isa<Float4E2M1FNType>(getFormat()))
    return emitOpError() << "expected f4E2M1FN, found " << getFormat();
  if (getValues().size() != kCodes)
    return emitOpError() << "expected " << kCodes
                         << " numbers, whose codes fill a word, found "
                         << getValues().size();
  return success();
}

LogicalResult EncodeStochasticOp::verify() {
  constexpr unsigned kGroup = 4;
  if (failed(verifyPairFormat(*this, getFormat())))
    return failure();
  size_t groups = isa<Float4E2M1FNType>(getFormat()) ? 2 : 1;
  if (getRandom().size() != groups || getValues().size() != groups * kGroup)
    return emitOpError() << "expected " << groups * kGroup << " numbers by "
                         << groups << " of random bits, as codes of "
                         << getFormat() << " fill a word, found "
                         << getValues().size() << " by " << getRandom().size();
  if (auto why =
          hw::whyNotFeature(hw::Feature::StochasticConvert, getTarget(*this)))
    return emitOpError() << why->text;
  return success();
}

LogicalResult DitherOp::verify() {
  return verifyPairFormat(*this, getFormat());
}

LogicalResult DecodePairOp::verify() {
  return verifyPairFormat(*this, getFormat());
}

LogicalResult LoadRowOp::verify() {
  return verifyRow(*this, getSource().getType(), getType(), getAligned());
}

LogicalResult StoreRowOp::verify() {
  return verifyRow(*this, getTarget().getType(), getValue().getType(),
                   getAligned());
}

/// Counters and maxima are words of global memory.
static LogicalResult verifyWords(Operation *op, GlobalType memory,
                                 StringRef what) {
  if (memory.getElementType().getIntOrFloatBitWidth() == 32)
    return success();
  return op->emitOpError() << "expected " << what
                           << " in elements of 32 bits, found "
                           << memory.getElementType();
}

LogicalResult RaiseLargestOp::verify() {
  return verifyWords(*this, getTarget().getType(), "maxima");
}

LogicalResult MeetGridOp::verify() {
  return verifyWords(*this, getCounters().getType(), "counters");
}

LogicalResult LeaveGridOp::verify() {
  return verifyWords(*this, getCounters().getType(), "counters");
}

LogicalResult CountArrivalOp::verify() {
  if (failed(verifyWords(*this, getCounters().getType(), "counters")))
    return failure();
  APInt count;
  if (matchPattern(getCount(), m_ConstantInt(&count)) && count.slt(2))
    return emitOpError() << "expected a count of at least 2, found "
                         << count.getSExtValue();
  if (getThreads() < 1 || getThreads() % hw::kWarpSize != 0 ||
      getThreads() > hw::kMaxThreadsPerCta)
    return emitOpError() << "expected whole warps of threads, at most "
                         << hw::kMaxThreadsPerCta << ", found " << getThreads();
  return success();
}
