//===- WarpToNVVM.cpp - fragments, register scales and mma.sync -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "blockscale/HW/Fragments.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

using nvvm::laneId;
static Value mul(ImplicitLocOpBuilder &b, Value x, int64_t y) {
  return b.createOrFold<arith::MulIOp>(x, constantI32(b, y));
}
static Value div(ImplicitLocOpBuilder &b, Value x, int64_t y) {
  return b.createOrFold<arith::DivUIOp>(x, constantI32(b, y));
}
static Value rem(ImplicitLocOpBuilder &b, Value x, int64_t y) {
  return b.createOrFold<arith::RemUIOp>(x, constantI32(b, y));
}

//===----------------------------------------------------------------------===//
// Fragments of A and B
//===----------------------------------------------------------------------===//

namespace {
/// One ldmatrix of four matrices of 8 rows x 16 bytes. Lane l gives the address
/// of row l % 8 of matrix l / 8, whose elements go to register l / 8. Where
/// rows lie together in memory, a matrix there is 8 numbers of K x 8 rows, and
/// leaves it transposed.
class PieceLoader {
public:
  PieceLoader(ImplicitLocOpBuilder &b, SharedType ring)
      : b(b), ring(ring), isMNMajor(ring.getShape().size() == kMNMajorRank),
        width(hw::swizzleWidth(ring.getSwizzle())) {}

  /// The 16 rows from `row + 16 * tile` on, 32 bytes of each. `high` and `far`
  /// say in which of the lane's matrices the rows are the last 8 and the bytes
  /// the last 16.
  Value load(Value base, Value stage, Value row, int64_t tile, int64_t step,
             Value high, Value far);

private:
  static constexpr size_t kMNMajorRank = 4;
  static constexpr int64_t kStepBytes = 32, kMatrixBytes = 16, kMatrixRows = 8;

  /// Where in its stage the lane's row of a matrix lies: a place of the lane,
  /// and bytes behind it.
  struct Place {
    Value ofLane;
    int64_t distance;
  };
  Place alongK(Value row, int64_t tile, int64_t step, Value high, Value far);
  Place alongRows(Value row, int64_t tile, int64_t step, Value high, Value far);
  /// What the swizzle flips in bytes of the line that begins at `line`, whose
  /// address bits decide it.
  Value patternOf(Value line);
  /// The registers of the load, with 4-bit elements where mma wants them.
  Value loadFrom(Value address);

  ImplicitLocOpBuilder &b;
  SharedType ring;
  bool isMNMajor;
  int64_t width;
};
} // namespace

Value PieceLoader::patternOf(Value line) {
  hw::SwizzleBits bits = hw::swizzleBits(ring.getSwizzle());
  Value pattern = b.createOrFold<arith::AndIOp>(
      b.createOrFold<arith::ShRUIOp>(line, constantI32(b, bits.from)),
      constantI32(b, bits.mask));
  return b.createOrFold<arith::ShLIOp>(pattern, constantI32(b, bits.to));
}

PieceLoader::Place PieceLoader::alongK(Value row, int64_t tile, int64_t step,
                                       Value high, Value far) {
  Value laneRow = add(b, rem(b, laneId(b), kMatrixRows),
                      add(b, row, mul(b, high, kMatrixRows)));
  // 16 rows further down the pattern is the same.
  Value rowOffset = mul(b, laneRow, width);
  Value pattern = patternOf(rowOffset);
  // Wider rows lie column by column, each as wide as the swizzle.
  int64_t columnOfSteps = step * kStepBytes / width;
  Value column = add(b, mul(b, far, kMatrixBytes), step * kStepBytes % width);
  Value offset =
      add(b, rowOffset, b.createOrFold<arith::XOrIOp>(column, pattern));
  int64_t rows = columnOfSteps * ring.getShape()[1] + tile * 2 * kMatrixRows;
  return {offset, rows * width};
}

PieceLoader::Place PieceLoader::alongRows(Value row, int64_t tile, int64_t step,
                                          Value high, Value far) {
  int64_t linesOfGroup = ring.getShape()[2], rowsOfGroup = ring.getShape()[3];
  int64_t bytes = ring.getContainer() / 8;
  // Steps are whole periods of the swizzle.
  Value line =
      mul(b, add(b, rem(b, laneId(b), kMatrixRows), mul(b, far, kMatrixRows)),
          width);
  Value first =
      add(b, add(b, row, mul(b, high, kMatrixRows)), tile * 2 * kMatrixRows);
  Value column = mul(b, rem(b, first, rowsOfGroup), bytes);
  Value group = mul(b, div(b, first, rowsOfGroup), linesOfGroup * width);
  column = b.createOrFold<arith::XOrIOp>(column, patternOf(line));
  Value offset = add(b, add(b, group, line), column);
  return {offset, step * (kStepBytes / bytes) * width};
}

Value PieceLoader::load(Value base, Value stage, Value row, int64_t tile,
                        int64_t step, Value high, Value far) {
  Place place = isMNMajor ? alongRows(row, tile, step, high, far)
                          : alongK(row, tile, step, high, far);
  Value start = element(b, base, stage, ring.getStageBytes());
  return loadFrom(add(b, add(b, start, place.ofLane), place.distance));
}

Value PieceLoader::loadFrom(Value address) {
  constexpr unsigned kFP4 = 4;
  unsigned bits = ring.getElementType().getIntOrFloatBitWidth();
  // Elements of 4 and 6 bits in bytes; those of tf32 fill their words.
  bool isPadded = ring.getContainer() == 8 && bits < 8;
  constexpr int64_t kMatrices = 4;
  Type i32 = b.getI32Type();
  Value loaded =
      nvvm::loadMatrices(b, pointer(b, address, AddressSpace::Shared),
                         isPadded ? bits : 0, isMNMajor);
  SmallVector<Value> words;
  for (int64_t i = 0; i < kMatrices; ++i) {
    Value word = LLVM::ExtractValueOp::create(b, loaded, i);
    // ldmatrix leaves 4-bit elements in bits 3 to 0 of their bytes, mma reads
    // bits 5 to 2 (PTX ISA, "mma" with .kind::mxf8f6f4). The bits above are 0.
    if (isPadded && bits == kFP4)
      word = arith::ShLIOp::create(b, word, constantI32(b, 2));
    words.push_back(word);
  }
  return vector::FromElementsOp::create(b, VectorType::get({kMatrices}, i32),
                                        words);
}

namespace {
/// Registers of A: rows g, then g + 8, of the first half of K, then the same of
/// the second half.
struct LoadAFragmentToNVVM : OpConversionPattern<LoadAFragmentOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadAFragmentOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value matrix = div(b, laneId(b), 8);
    rewriter.replaceOp(op,
                       PieceLoader(b, op.getRing().getType())
                           .load(adaptor.getRing(), adaptor.getStage(),
                                 adaptor.getRow(), op.getTile(), op.getStep(),
                                 rem(b, matrix, 2), div(b, matrix, 2)));
    return success();
  }
};

/// Registers of B: the first half of K, then the second.
struct LoadBFragmentsToNVVM : OpConversionPattern<LoadBFragmentsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadBFragmentsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value matrix = div(b, laneId(b), 8);
    Value loaded = PieceLoader(b, op.getRing().getType())
                       .load(adaptor.getRing(), adaptor.getStage(),
                             adaptor.getRow(), op.getTile(), op.getStep(),
                             div(b, matrix, 2), rem(b, matrix, 2));
    auto half = [&](int64_t first) -> Value {
      return vector::ShuffleOp::create(b, loaded, loaded,
                                       ArrayRef<int64_t>{first, first + 1});
    };
    rewriter.replaceOp(op, {half(0), half(2)});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// `sum`, or nothing, and what `value`, a `source` below `bound`, adds to
/// `target` in `layout`, in units of `unit`.
static Value addDigits(ImplicitLocOpBuilder &b, Value sum,
                       const hw::Layout &layout, hw::Dim source, hw::Dim target,
                       Value value, uint64_t bound, uint64_t unit = 1) {
  for (const hw::Term &term : layout) {
    if (term.source != source || term.target != target || term.divisor >= bound)
      continue;
    Value digit = value;
    uint64_t period = term.divisor * term.modulus;
    if (period && period < bound)
      digit = rem(b, digit, period);
    if (term.divisor != 1)
      digit = div(b, digit, term.divisor);
    if (term.stride != unit)
      digit = mul(b, digit, term.stride / unit);
    sum = sum ? add(b, sum, digit) : digit;
  }
  return sum;
}

struct LoadWarpScalesToNVVM : OpConversionPattern<LoadWarpScalesOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadWarpScalesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    constexpr int64_t kGroupRows = hw::kAtomLanes;
    Value inGroup =
        addDigits(b, /*sum=*/{}, hw::kScaleRegisters, hw::Dim::Thread,
                  hw::Dim::Row, laneId(b), kWarpSize);
    Value row = rem(
        b,
        add(b, add(b, adaptor.getRow(), inGroup), op.getGroup() * kGroupRows),
        hw::kAtomRows);
    Value offset = addDigits(b, /*sum=*/{}, hw::kScaleAtom, hw::Dim::Row,
                             hw::Dim::Offset, row, hw::kAtomRows);
    SharedType ring = op.getRing().getType();
    Value stage =
        element(b, adaptor.getRing(), adaptor.getStage(), ring.getStageBytes());
    Value address =
        add(b, add(b, stage, offset), op.getWord() * hw::kAtomBytes);
    Value word = LLVM::LoadOp::create(
        b, b.getI32Type(), pointer(b, address, AddressSpace::Shared));
    if (Value valid = adaptor.getValid())
      word = arith::AndIOp::create(
          b, word, scalesBelow(b, valid, op.getWord() * hw::kAtomScales));
    rewriter.replaceOp(op, word);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

/// Each row has eight bytes per instruction, of which a lane holds one half.
/// The metadata of m16n8k64 with 8-bit and of m16n8k128 with 4-bit elements lie
/// alike, so that either layout will do.
struct LoadWarpMetadataToNVVM : OpConversionPattern<LoadWarpMetadataOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadWarpMetadataOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    constexpr int64_t kRowBytes = hw::kMetadataTileBytes;
    constexpr int64_t kTileBytes = hw::kMetadataTileRows * kRowBytes;
    constexpr hw::WarpMma kMma = hw::WarpMma::SparseK64;
    hw::Layout registers =
        hw::warpFragmentLayout(kMma, hw::WarpOperand::Metadata, /*scales=*/1);
    int64_t perByte = hw::elementsPerMetadataByte(hw::SparsePattern::TwoOfFour);
    int64_t stepBytes = hw::warpMmaK(kMma) / perByte;
    Value lane = laneId(b);
    auto addOfLane = [&](Value sum, hw::Dim target, int64_t unit) {
      return addDigits(b, sum, registers, hw::Dim::Thread, target, lane,
                       kWarpSize, unit);
    };
    Value row = addOfLane(adaptor.getRow(), hw::Dim::Row, 1);
    Value stage = element(b, adaptor.getRing(), adaptor.getStage(),
                          op.getRing().getType().getStageBytes());
    Value offset = addOfLane(mul(b, row, kRowBytes), hw::Dim::K, perByte);
    int64_t bytes = op.getStep() * stepBytes;
    int64_t place = bytes / kRowBytes * kTileBytes + bytes % kRowBytes +
                    op.getTile() * 16 * kRowBytes;
    Value word = LLVM::LoadOp::create(
        b, b.getI32Type(),
        pointer(b, add(b, add(b, stage, offset), place), AddressSpace::Shared));
    if (Value valid = adaptor.getValid()) {
      Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, valid,
                                           constantI32(b, op.getStep()));
      constexpr int64_t kWellFormed = hw::kEmptyMetadataByte * 0x01010101;
      word =
          arith::SelectOp::create(b, inside, word, constantI32(b, kWellFormed));
    }
    rewriter.replaceOp(op, word);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Multiplying
//===----------------------------------------------------------------------===//

struct WarpMmaToNVVM : OpConversionPattern<WarpMmaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(WarpMmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getSfa() && !op.getSfaId())
      return rewriter.notifyMatchFailure(op, "has no scale ids");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    MmaAttr mma = op.getInstruction();
    SmallVector<Value> a = unpack(b, adaptor.getA());
    SmallVector<Value> columns = unpack(b, adaptor.getB());
    SmallVector<Value> c = unpack(b, adaptor.getC());
    const hw::MmaRow *row = hw::findRow(legalityQuery(mma, getTarget(op)));
    assert(row && "the op's verifier asks for one");
    nvvm::WarpMma issue(mma.getKind(), mma.getA(), mma.getB());
    issue.spelling = hw::ptxSpelling(*row, mma.getA(), mma.getB());
    issue.m = mma.getM();
    issue.n = mma.getN();
    issue.k = mma.getK();
    if (op.getSfa())
      addScales(issue, op, adaptor);
    if (mma.getSparse()) {
      columns.append(unpack(b, adaptor.getBHigh()));
      issue.metadata = adaptor.getMetadata();
    }
    issue.a = a;
    issue.b = columns;
    issue.c = c;
    Value sums = nvvm::multiply(b, issue);
    SmallVector<Value> elements;
    for (int64_t i = 0; i < 4; ++i)
      elements.push_back(LLVM::ExtractValueOp::create(b, sums, i));
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, op.getType(),
                                                        elements);
    return success();
  }

private:
  static void addScales(nvvm::WarpMma &issue, WarpMmaOp op, OpAdaptor adaptor) {
    MmaAttr mma = op.getInstruction();
    issue.scale = *mma.getScale();
    issue.scales = hw::scalesPerMma(mma.getKind(), mma.getBlock(), mma.getK(),
                                    mma.getSparse());
    issue.sfa = adaptor.getSfa();
    issue.sfb = adaptor.getSfb();
    issue.byteA = op.getSfaId()->getByte();
    issue.threadA = op.getSfaId()->getThread();
    issue.byteB = op.getSfbId()->getByte();
    issue.threadB = op.getSfbId()->getThread();
  }

  static SmallVector<Value> unpack(ImplicitLocOpBuilder &b, Value fragment) {
    auto unpacked = vector::ToElementsOp::create(b, fragment);
    return SmallVector<Value>(unpacked.getElements());
  }
};

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

/// To LLVM an mma.sync is a pure function, which it may move to where its only
/// use is, also into code of a part of the warp. An empty piece of assembly
/// with side effects keeps its place and uses the sums there.
struct FinishFragmentsToNVVM : OpConversionPattern<FinishFragmentsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(FinishFragmentsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> results;
    for (Value fragment : adaptor.getFragments())
      results.push_back(pin(b, fragment));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  static Value pin(ImplicitLocOpBuilder &b, Value fragment) {
    Type sum = cast<VectorType>(fragment.getType()).getElementType();
    auto type =
        LLVM::LLVMStructType::getLiteral(b.getContext(), {sum, sum, sum, sum});
    StringRef registers =
        sum.isF32() ? "=f,=f,=f,=f,0,1,2,3" : "=r,=r,=r,=r,0,1,2,3";
    auto unpacked = vector::ToElementsOp::create(b, fragment);
    auto assembly = LLVM::InlineAsmOp::create(
        b, type, unpacked.getElements(), /*asm_string=*/"", registers,
        /*has_side_effects=*/true,
        /*is_align_stack=*/false, LLVM::TailCallKind::None,
        /*asm_dialect=*/LLVM::AsmDialectAttr(),
        /*operand_attrs=*/ArrayAttr());
    SmallVector<Value> elements;
    for (int64_t i = 0; i < 4; ++i)
      elements.push_back(LLVM::ExtractValueOp::create(b, assembly.getRes(), i));
    return vector::FromElementsOp::create(b, fragment.getType(), elements);
  }
};

/// Lane (g, c) holds columns 2c and 2c + 1 of rows g and g + 8 (PTX ISA,
/// "Matrix Fragments for mma.m16n8k32", the accumulator).
struct FragmentPositionToNVVM : OpConversionPattern<FragmentPositionOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(FragmentPositionOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value lane = laneId(b);
    rewriter.replaceOp(op, {div(b, lane, 4), mul(b, rem(b, lane, 4), 2)});
    return success();
  }
};

struct SyncWarpToNVVM : OpConversionPattern<SyncWarpOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(SyncWarpOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    nvvm::syncWarp(b, constantI32(b, -1));
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void blockscale::populateWarpPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns) {
  patterns.add<LoadAFragmentToNVVM, LoadBFragmentsToNVVM, LoadWarpScalesToNVVM,
               LoadWarpMetadataToNVVM, WarpMmaToNVVM, FinishFragmentsToNVVM,
               FragmentPositionToNVVM, SyncWarpToNVVM>(converter,
                                                       patterns.getContext());
}
