//===- Tcgen05ToNVVM.cpp - what becomes tcgen05 ops --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Descriptors.h"
#include "Lowering.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Addresses in descriptors
//===----------------------------------------------------------------------===//

/// Bytes that one unit of a descriptor's start address stands for.
static constexpr unsigned kStartUnit = 16;

namespace {
/// A shared-memory descriptor whose addresses vary: the start, and where rows
/// continue if `next` is given. They lie in the low word and never carry out of
/// their fields.
class DescriptorBuilder {
public:
  DescriptorBuilder(ImplicitLocOpBuilder &b, hw::Chip chip, Value address,
                    uint64_t constant, Value next = {})
      : b(b), chip(chip), high(constant >> 32) {
    Value start = units(address);
    low = arith::OrIOp::create(b, start,
                               constantI32(b, static_cast<int32_t>(constant)));
    if (!next)
      return;
    const hw::Field *field =
        hw::findField(hw::fieldList(hw::kSmemFields, 64), "lbo");
    Value lbo =
        arith::ShLIOp::create(b, units(next), constantI32(b, field->offset));
    low = arith::OrIOp::create(b, low, lbo);
  }

  /// The descriptor `offset` bytes behind the address.
  Value at(int64_t offset) {
    Value moved = add(b, low, offset / kStartUnit);
    Type i64 = b.getI64Type();
    Value wide = arith::ExtUIOp::create(b, i64, moved);
    Value upper =
        arith::ConstantIntOp::create(b, i64, static_cast<int64_t>(high << 32));
    return arith::OrIOp::create(b, wide, upper);
  }

private:
  static constexpr int64_t log2(unsigned value) {
    return value == 1 ? 0 : 1 + log2(value / 2);
  }

  /// An address as the fields hold it. Within a cluster it has the CTA's rank
  /// in its upper bits, which must not reach the next field.
  Value units(Value address) {
    Value shifted =
        arith::ShRUIOp::create(b, address, constantI32(b, log2(kStartUnit)));
    unsigned most = (1u << hw::smemAddressBits(chip)) / kStartUnit - 1;
    return arith::AndIOp::create(b, shifted, constantI32(b, most));
  }

  ImplicitLocOpBuilder &b;
  hw::Chip chip;
  uint64_t high;
  Value low;
};
} // namespace

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

/// The word that tmem_alloc wrote: the address of the allocation.
static Value loadSlot(ImplicitLocOpBuilder &b, Value slot) {
  return LLVM::LoadOp::create(b, b.getI32Type(),
                              pointer(b, slot, AddressSpace::Shared));
}

namespace {
struct TmemAllocToNVVM : OpConversionPattern<TmemAllocOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TmemAllocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getColumns())
      return rewriter.notifyMatchFailure(op, "has no number of columns");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value slot = pointer(b, adaptor.getSlot(), AddressSpace::Shared);
    nvvm::allocateTensor(b, slot, *op.getColumns(), op.getPair());
    rewriter.eraseOp(op);
    return success();
  }
};

struct TmemDeallocToNVVM : OpConversionPattern<TmemDeallocOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TmemDeallocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getColumns())
      return rewriter.notifyMatchFailure(op, "has no number of columns");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value address = loadSlot(b, adaptor.getSlot());
    Value start = pointer(b, address, AddressSpace::Tensor);
    nvvm::deallocateTensor(b, start, *op.getColumns(), op.getPair());
    rewriter.eraseOp(op);
    return success();
  }
};

struct TmemViewToNVVM : OpConversionPattern<TmemViewOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TmemViewOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getColumn())
      return rewriter.notifyMatchFailure(op, "has no column");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op,
                       add(b, loadSlot(b, adaptor.getSlot()), *op.getColumn()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Synchronisation
//===----------------------------------------------------------------------===//

struct CommitToNVVM : OpConversionPattern<CommitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(CommitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value barrier = barrierPointer(b, adaptor.getBarrier(), adaptor.getIndex());
    nvvm::commitTensor(b, barrier, multicastMask(b, adaptor.getMulticast()),
                       op.getPair());
    rewriter.eraseOp(op);
    return success();
  }
};

struct TensorFenceToNVVM : OpConversionPattern<TensorFenceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TensorFenceOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    nvvm::fenceTensor(b, op.getSide() == FenceSide::Before);
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// Copies the tiles of 128 rows by 16 bytes of a stage, row r to lane r.
template <typename Op>
static void copyRowTiles(ImplicitLocOpBuilder &b, Op op,
                         typename Op::Adaptor adaptor) {
  SharedType ring = op.getShared().getType();
  constexpr int64_t kTileBytes = hw::kMetadataTileRows * hw::kMetadataTileBytes;
  hw::Layout places = getPlaces(op.getTarget().getType());
  auto constant = hw::copyDescriptor(/*base=*/0);
  Value stage =
      element(b, adaptor.getShared(), adaptor.getStage(), ring.getStageBytes());
  DescriptorBuilder source(b, getTarget(op).chip, stage,
                           *hw::encode(*constant));
  for (int64_t tile = 0, tiles = ring.getShape()[1]; tile < tiles; ++tile) {
    hw::Coordinates first =
        places.at({{hw::Dim::Block,
                    static_cast<uint64_t>(tile * hw::kMetadataTileBytes)}});
    Value column = add(b, adaptor.getTarget(),
                       static_cast<int64_t>(first[hw::Dim::Column]));
    Value target = pointer(b, column, AddressSpace::Tensor);
    Value descriptor = source.at(tile * kTileBytes);
    nvvm::copyMetadata(b, target, descriptor, op.getPair());
  }
}

struct CopyScalesToNVVM : OpConversionPattern<CopyScalesOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(CopyScalesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (isRowPerLane(op.getTarget().getType())) {
      copyRowTiles(b, op, adaptor);
      rewriter.eraseOp(op);
      return success();
    }
    SharedType ring = op.getShared().getType();
    int64_t groups = ring.getShape()[1], words = ring.getShape()[2];
    hw::Layout places = getPlaces(op.getTarget().getType());
    int64_t targetWords =
        op.getTarget().getType().getShape()[1] / hw::kAtomScales;
    auto constant = hw::copyDescriptor(/*base=*/0);
    auto bits = hw::encode(*constant);
    Value stage = element(b, adaptor.getShared(), adaptor.getStage(),
                          ring.getStageBytes());
    DescriptorBuilder source(b, getTarget(op).chip, stage, *bits);
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t word = 0; word < words; ++word) {
        int64_t targetWord = (op.getWord() + word) % targetWords;
        hw::Coordinates first = places.at(
            {{hw::Dim::Row, static_cast<uint64_t>(group * hw::kAtomRows)},
             {hw::Dim::Block,
              static_cast<uint64_t>(targetWord * hw::kAtomScales)}});
        Value column = add(b, adaptor.getTarget(),
                           static_cast<int64_t>(first[hw::Dim::Column]));
        Value target = pointer(b, column, AddressSpace::Tensor);
        Value descriptor = source.at((group * words + word) * hw::kAtomBytes);
        nvvm::copyScales(b, target, descriptor, op.getPair());
      }
    rewriter.eraseOp(op);
    return success();
  }
};

struct CopyMetadataToNVVM : OpConversionPattern<CopyMetadataOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(CopyMetadataOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    copyRowTiles(b, op, adaptor);
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The first column of copy `copy` of an accumulator.
static Value accumulatorAddress(ImplicitLocOpBuilder &b, TensorMemoryType type,
                                Value start, Value copy) {
  int64_t stride = cast<TmemAccumulatorAttr>(type.getLayout()).getCopyStride();
  return element(b, start, copy, stride ? stride : type.getShape()[2]);
}

class MmaLowering {
public:
  MmaLowering(ImplicitLocOpBuilder &b, MmaOp op, MmaOp::Adaptor adaptor)
      : b(b), op(op), adaptor(adaptor), mma(op.getInstruction()),
        chip(getTarget(op).chip), a(operand(adaptor.getA(), op.getA().getType(),
                                            *operandDescriptorA(op))),
        bStage(operand(adaptor.getB(), op.getB().getType(),
                       *operandDescriptorB(op))),
        accumulator(pointer(b,
                            accumulatorAddress(b, op.getAccumulator().getType(),
                                               adaptor.getAccumulator(),
                                               adaptor.getCopy()),
                            AddressSpace::Tensor)) {
    sfb = adaptor.getSfb();
    if (adaptor.getShift())
      sfb = add(b, sfb, adaptor.getShift());
  }

  void emitAll() {
    Value always = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
    for (auto [index, step] :
         llvm::enumerate(op.getSteps()->getAsRange<StepAttr>())) {
      OpBuilder::InsertionGuard guard(b);
      int64_t element = firstElement() + index * mma.getK();
      if (element != 0 && adaptor.getValid())
        enterIfReached(element);
      emit(step, index == 0 ? adaptor.getAccumulate() : always);
    }
  }

private:
  /// The descriptors of an operand: of instructions that start in the stage, or
  /// in the stage before and continue in it.
  DescriptorBuilder operand(Value ring, SharedType type, uint64_t constant) {
    Value stage = element(b, ring, adaptor.getStage(), type.getStageBytes());
    if (mma.getK() != hw::kK96)
      return DescriptorBuilder(b, chip, stage, constant);
    Value start = stage;
    if (Value previous = adaptor.getPrevious())
      start = element(b, ring, previous, type.getStageBytes());
    return DescriptorBuilder(b, chip, start, constant, stage);
  }

  int64_t firstElement() {
    KRangeAttr range = op.getRangeAttr();
    return range ? range.getBegin() : 0;
  }

  /// Moves the builder to where K reaches the instruction that starts at
  /// `element`.
  void enterIfReached(int64_t element) {
    Value first = constantI32(b, element);
    Value reached = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                          adaptor.getValid(), first);
    auto condition = scf::IfOp::create(b, reached);
    b.setInsertionPointToStart(condition.thenBlock());
  }

  void emit(StepAttr step, Value accumulate) {
    // One statement for each value: the order of the ops must not depend on
    // the order in which a compiler evaluates arguments.
    nvvm::TensorMma issue;
    issue.kind = mma.getKind();
    issue.block = mma.getBlock();
    issue.isPair = mma.getCtaGroup() == 2;
    issue.accumulator = accumulator;
    issue.accumulate = accumulate;
    if (adaptor.getSfa()) {
      issue.sfa = column(adaptor.getSfa(), *step.getSfaColumn());
      issue.sfb = column(sfb, *step.getSfbColumn());
    }
    issue.a = a.at(step.getA());
    issue.b = bStage.at(step.getB());
    uint32_t bits = *instructionDescriptor(op, step);
    issue.instruction = constantI32(b, static_cast<int32_t>(bits));
    if (op.getCollector()) {
      const hw::MmaRow *row = hw::findRow(legalityQuery(mma, getTarget(op)));
      assert(row && "the op's verifier asks for one");
      issue.spelling = hw::ptxSpelling(*row, mma.getA(), mma.getB());
      issue.collector = *op.getCollector() == CollectorB::Fill
                            ? nvvm::Collector::Fill
                            : nvvm::Collector::LastUse;
    }
    if (mma.getSparse())
      issue.metadata = column(adaptor.getMetadata(), step.getMetadataColumn());
    nvvm::multiply(b, issue);
  }

  /// The pointer to a column of a region.
  Value column(Value region, int64_t offset) {
    Value address = add(b, region, offset);
    return pointer(b, address, AddressSpace::Tensor);
  }

  ImplicitLocOpBuilder &b;
  MmaOp op;
  MmaOp::Adaptor adaptor;
  MmaAttr mma;
  hw::Chip chip;
  DescriptorBuilder a, bStage;
  Value accumulator, sfb;
};

struct MmaToNVVM : OpConversionPattern<MmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getSteps() || failed(checkDescriptors(op)))
      return rewriter.notifyMatchFailure(op, "has no descriptors");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    MmaLowering(b, op, adaptor).emitAll();
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

/// `loaded` for users behind this point. The registers of a load may not be
/// read before the wait (PTX ISA 9.7.16.8, tcgen05.wait), but LLVM sees no
/// dependence and moves pure users, such as the packing of pairs, between the
/// two. An empty piece of assembly with side effects keeps its place behind
/// the wait, and only it uses what the load returns.
static Value usableFromHere(ImplicitLocOpBuilder &b, Value loaded) {
  auto vector = dyn_cast<VectorType>(loaded.getType());
  int64_t count = vector ? vector.getDimSize(0) : 1;
  Type i32 = b.getI32Type();
  SmallVector<Value> words;
  std::string outputs, inputs;
  for (int64_t i = 0; i < count; ++i) {
    words.push_back(vector ? vector::ExtractOp::create(b, loaded, i) : loaded);
    outputs += i == 0 ? "=r" : ",=r";
    inputs += "," + std::to_string(i);
  }
  SmallVector<Type> types(count, i32);
  Type result = count == 1
                    ? i32
                    : LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  auto assembly = LLVM::InlineAsmOp::create(
      b, result, words, /*asm_string=*/"", outputs + inputs,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, /*asm_dialect=*/LLVM::AsmDialectAttr(),
      /*operand_attrs=*/ArrayAttr());
  Value same = assembly.getRes();
  if (!vector)
    return same;
  for (auto [index, word] : llvm::enumerate(words))
    word = LLVM::ExtractValueOp::create(b, same, index);
  return vector::FromElementsOp::create(b, vector, words);
}

struct LoadAccumulatorToNVVM : OpConversionPattern<LoadAccumulatorOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadAccumulatorOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value address =
        accumulatorAddress(b, op.getAccumulator().getType(),
                           adaptor.getAccumulator(), adaptor.getCopy());
    auto [column, distance] = inParts(op.getColumn());
    address = add(b, address, column);
    address = add(b, address, quadrant(b));
    if (distance)
      address = add(b, address, distance);
    int64_t columns = op.getType().getDimSize(0);
    Type i32 = b.getI32Type();
    Type words = columns == 1 ? i32 : VectorType::get({columns}, i32);
    Value loaded =
        nvvm::loadTensor(b, words, pointer(b, address, AddressSpace::Tensor));
    nvvm::waitForLoads(b);
    Value usable = usableFromHere(b, loaded);
    if (usable.getType() == op.getType())
      rewriter.replaceOp(op, usable);
    else
      rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(op, op.getType(), usable);
    return success();
  }

private:
  /// A column as that of the thread and a constant distance from it, null if
  /// there is none: loads of a thread that follow each other have one address
  /// in a register and not one for each.
  static std::pair<Value, Value> inParts(Value column) {
    auto sum = column.getDefiningOp<arith::AddIOp>();
    if (sum && matchPattern(sum.getRhs(), m_Constant()))
      return {sum.getLhs(), sum.getRhs()};
    return {column, {}};
  }

  /// The first of the 32 lanes that the executing warp can read, in the lane
  /// half of an address.
  static Value quadrant(ImplicitLocOpBuilder &b) {
    constexpr int64_t kLaneBits = hw::kTmemLanes - kWarpSize;
    constexpr int64_t kLaneShift = 16;
    static_assert(hw::tmemAddress(1, 0) == 1u << kLaneShift);
    Value lane =
        arith::AndIOp::create(b, threadIndex(b), constantI32(b, kLaneBits));
    return arith::ShLIOp::create(b, lane, constantI32(b, kLaneShift));
  }
};
} // namespace

void blockscale::populateTcgen05Patterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<TmemAllocToNVVM, TmemDeallocToNVVM, TmemViewToNVVM, CommitToNVVM,
               TensorFenceToNVVM, CopyScalesToNVVM, CopyMetadataToNVVM,
               MmaToNVVM, LoadAccumulatorToNVVM>(converter,
                                                 patterns.getContext());
}
