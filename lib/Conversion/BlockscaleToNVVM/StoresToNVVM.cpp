//===- StoresToNVVM.cpp - results in shared memory ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace blockscale;

/// The widest access of one thread in bytes, and the unit that swizzles move.
static constexpr int64_t kPieceBytes = 16;

/// Groups of bulk copies belong to a thread, so it is always the same one that
/// commits them and waits for them.
static void inFirstLane(ImplicitLocOpBuilder &b, function_ref<void()> body) {
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        nvvm::laneId(b), constantI32(b, 0));
  auto condition = scf::IfOp::create(b, isFirst);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(condition.thenBlock());
  body();
}

static Value boxAddress(ImplicitLocOpBuilder &b, Value ring, Value stage,
                        SharedType type) {
  return element(b, ring, stage, type.getStageBytes());
}

namespace {
struct AwaitStoresToNVVM : OpConversionPattern<AwaitStoresOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(AwaitStoresOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    inFirstLane(b, [&] { nvvm::awaitStoreReads(b, op.getPending()); });
    nvvm::syncWarp(b, constantI32(b, -1));
    rewriter.eraseOp(op);
    return success();
  }
};

/// A row of a box, in pieces of 16 bytes.
class StagedRow {
public:
  /// That of the executing lane in box `stage`.
  StagedRow(ImplicitLocOpBuilder &b, SharedType type, Value ring, Value stage)
      : b(b), elements(type.getShape().back()), bits(type.getContainer()) {
    Value box = boxAddress(b, ring, stage, type);
    // The bits that move come from above the row, and rows are aligned to their
    // size: the swizzle of a row's first byte is that of all its pieces.
    first = swizzled(b, element(b, box, nvvm::laneId(b), elements * bits / 8),
                     type.getSwizzle());
  }

  /// Calls `body` with the first element of each piece and where it lies.
  void forEachPiece(function_ref<void(int64_t, Value)> body) const {
    for (int64_t i = 0; i < elements; i += perPiece()) {
      Value place =
          arith::XOrIOp::create(b, first, constantI32(b, i * bits / 8));
      body(i, pointer(b, place, AddressSpace::Shared));
    }
  }
  int64_t perPiece() const { return 8 * kPieceBytes / bits; }

private:
  static Value swizzled(ImplicitLocOpBuilder &b, Value address,
                        hw::Swizzle swizzle) {
    if (swizzle == hw::Swizzle::None)
      return address;
    hw::SwizzleBits bits = hw::swizzleBits(swizzle);
    Value from = arith::ShRUIOp::create(b, address, constantI32(b, bits.from));
    Value kept = arith::AndIOp::create(b, from, constantI32(b, bits.mask));
    Value moved = arith::ShLIOp::create(b, kept, constantI32(b, bits.to));
    return arith::XOrIOp::create(b, address, moved);
  }

  ImplicitLocOpBuilder &b;
  int64_t elements, bits;
  Value first;
};

struct StageRowToNVVM : OpConversionPattern<StageRowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(StageRowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    StagedRow row(b, op.getShared().getType(), adaptor.getShared(),
                  adaptor.getStage());
    row.forEachPiece([&](int64_t first, Value place) {
      auto indices = llvm::to_vector(llvm::seq(first, first + row.perPiece()));
      Value piece = vector::ShuffleOp::create(b, adaptor.getValue(),
                                              adaptor.getValue(), indices);
      LLVM::StoreOp::create(b, piece, place, kPieceBytes);
    });
    rewriter.eraseOp(op);
    return success();
  }
};

struct LoadStagedRowToNVVM : OpConversionPattern<LoadStagedRowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadStagedRowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    StagedRow row(b, op.getShared().getType(), adaptor.getShared(),
                  adaptor.getStage());
    VectorType type = op.getType();
    auto ofPiece = VectorType::get({row.perPiece()}, type.getElementType());
    Value all;
    row.forEachPiece([&](int64_t first, Value place) {
      Value piece = LLVM::LoadOp::create(b, ofPiece, place, kPieceBytes);
      auto indices =
          llvm::to_vector(llvm::seq<int64_t>(0, first + row.perPiece()));
      all = all ? vector::ShuffleOp::create(b, all, piece, indices).getResult()
                : piece;
    });
    rewriter.replaceOp(op, all);
    return success();
  }
};

struct TmaStoreToNVVM : OpConversionPattern<TmaStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TmaStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value box = boxAddress(b, adaptor.getShared(), adaptor.getStage(),
                           op.getShared().getType());
    // Each lane makes what it wrote visible to TMA, then one of them starts it.
    nvvm::fenceAsyncProxy(b, nvvm::Scope::Cta);
    nvvm::syncWarp(b, constantI32(b, -1));
    inFirstLane(b, [&] {
      nvvm::storeTile(b, adaptor.getMap(),
                      pointer(b, box, AddressSpace::Shared),
                      adaptor.getCoordinates());
    });
    rewriter.eraseOp(op);
    return success();
  }
};

/// The element of a ring with this number. What is constant in the number
/// becomes part of the instruction, so that neighbours share the rest.
static Value elementPointer(ConversionPatternRewriter &rewriter, Location loc,
                            Value ring, Value number, SharedType type) {
  constexpr int64_t kByte = 8;
  ImplicitLocOpBuilder b(loc, rewriter);
  int64_t bytes = type.getContainer() / kByte;
  APInt constant(32, 0);
  if (auto sum = number.getDefiningOp<arith::AddIOp>();
      sum && matchPattern(sum.getRhs(), m_ConstantInt(&constant)))
    number = sum.getLhs();
  Value first =
      pointer(b, element(b, ring, rewriter.getRemappedValue(number), bytes),
              AddressSpace::Shared);
  if (constant.isZero())
    return first;
  auto distance = int32_t(constant.getSExtValue() * bytes);
  return LLVM::GEPOp::create(b, first.getType(), b.getI8Type(), first,
                             ArrayRef<LLVM::GEPArg>{distance});
}

/// The bytes that an access has.
static unsigned accessBytes(VectorType type) {
  constexpr unsigned kByte = 8;
  return unsigned(type.getDimSize(0)) *
         type.getElementType().getIntOrFloatBitWidth() / kByte;
}

struct LoadSharedToNVVM : OpConversionPattern<LoadSharedOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadSharedOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value place = elementPointer(rewriter, op.getLoc(), adaptor.getShared(),
                                 op.getOffset(), op.getShared().getType());
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, op.getType(), place,
                                              accessBytes(op.getType()));
    return success();
  }
};

struct StoreSharedToNVVM : OpConversionPattern<StoreSharedOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(StoreSharedOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value place = elementPointer(rewriter, op.getLoc(), adaptor.getShared(),
                                 op.getOffset(), op.getShared().getType());
    LLVM::StoreOp::create(b, adaptor.getValue(), place,
                          accessBytes(op.getValue().getType()));
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Sums of parts of K
//===----------------------------------------------------------------------===//

/// Where a thread's sums lie, 16 bytes each.
class SumsPlace {
public:
  SumsPlace(ImplicitLocOpBuilder &b, SharedType type, Value shared, Value block,
            Value column, Value row)
      : b(b), rowBytes(type.getShape()[3] * type.getContainer() / 8),
        stride(type.getShape()[2] * rowBytes) {
    Value first = element(b, shared, block, type.getStageBytes());
    first = element(b, first, column, stride / type.getShape()[3]);
    address = element(b, first, row, rowBytes);
  }

  Value address;
  /// The address, behind `base`, of columns 4 `index` to 4 `index` + 3.
  Value at(Value base, int64_t index) { return add(b, base, index * stride); }

private:
  ImplicitLocOpBuilder &b;
  int64_t rowBytes, stride;
};

struct SendSumsToNVVM : OpConversionPattern<SendSumsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(SendSumsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SharedType type = op.getShared().getType();
    SumsPlace place(b, type, adaptor.getShared(), adaptor.getBlock(),
                    adaptor.getColumn(), adaptor.getRow());
    Value first = mapToRank(b, place.address, adaptor.getRank());
    Value barrier =
        pointer(b, mapToRank(b, adaptor.getSignal(), adaptor.getRank()),
                AddressSpace::SharedCluster);
    int64_t together = type.getShape()[3];
    int64_t count = op.getValue().getType().getDimSize(0) / together;
    for (int64_t i = 0; i < count; ++i) {
      SmallVector<Value> words;
      for (int64_t j = 0; j < together; ++j)
        words.push_back(
            vector::ExtractOp::create(b, adaptor.getValue(), i * together + j));
      nvvm::storeAsync(
          b, pointer(b, place.at(first, i), AddressSpace::SharedCluster), words,
          barrier);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct ReceiveSumsToNVVM : OpConversionPattern<ReceiveSumsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ReceiveSumsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SharedType type = op.getShared().getType();
    SumsPlace place(b, type, adaptor.getShared(), adaptor.getBlock(),
                    adaptor.getColumn(), adaptor.getRow());
    VectorType piece =
        VectorType::get({type.getShape()[3]}, type.getElementType());
    SmallVector<Value> elements;
    for (int64_t i = 0; i < op.getType().getDimSize(0) / piece.getDimSize(0);
         ++i) {
      Value loaded = LLVM::LoadOp::create(
          b, piece,
          pointer(b, place.at(place.address, i), AddressSpace::Shared),
          kPieceBytes);
      for (int64_t j = 0; j < piece.getDimSize(0); ++j)
        elements.push_back(vector::ExtractOp::create(b, loaded, j));
    }
    rewriter.replaceOp(
        op, vector::FromElementsOp::create(b, op.getType(), elements));
    return success();
  }
};

struct ReleaseSumsToNVVM : OpConversionPattern<ReleaseSumsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ReleaseSumsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    // A lane for each CTA; what the other lanes read is ordered before.
    nvvm::syncWarp(b, constantI32(b, -1));
    Value lane = nvvm::laneId(b);
    Value arrives = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, lane,
                                          constantI32(b, op.getCount()));
    auto condition = scf::IfOp::create(b, arrives);
    b.setInsertionPointToStart(condition.thenBlock());
    Value rank = element(b, adaptor.getFirst(), lane, op.getStep());
    Value barrier = pointer(b, mapToRank(b, adaptor.getEmpty(), rank),
                            AddressSpace::SharedCluster);
    nvvm::arrive(b, barrier, nvvm::Scope::Cluster);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void blockscale::populateStorePatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<AwaitStoresToNVVM, LoadSharedToNVVM, LoadStagedRowToNVVM,
               StageRowToNVVM, StoreSharedToNVVM, TmaStoreToNVVM,
               SendSumsToNVVM, ReceiveSumsToNVVM, ReleaseSumsToNVVM>(
      converter, patterns.getContext());
}
