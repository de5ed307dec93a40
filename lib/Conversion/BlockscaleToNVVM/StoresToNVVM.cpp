//===- StoresToNVVM.cpp - stores through shared memory --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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

struct StageRowToNVVM : OpConversionPattern<StageRowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(StageRowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SharedType type = op.getShared().getType();
    VectorType values = op.getValue().getType();
    int64_t bits = type.getContainer();
    Value box = boxAddress(b, adaptor.getShared(), adaptor.getStage(), type);
    Value row =
        element(b, box, nvvm::laneId(b), values.getDimSize(0) * bits / 8);
    // The bits that move come from above the row, and rows are aligned to their
    // size: the swizzle of a row's first byte is that of all its pieces.
    row = swizzled(b, row, type.getSwizzle());
    int64_t perPiece = 8 * kPieceBytes / bits;
    for (int64_t first = 0; first < values.getDimSize(0); first += perPiece) {
      auto indices = llvm::to_vector(llvm::seq(first, first + perPiece));
      Value piece = vector::ShuffleOp::create(b, adaptor.getValue(),
                                              adaptor.getValue(), indices);
      Value place =
          arith::XOrIOp::create(b, row, constantI32(b, first * bits / 8));
      LLVM::StoreOp::create(b, piece, pointer(b, place, AddressSpace::Shared),
                            kPieceBytes);
    }
    rewriter.eraseOp(op);
    return success();
  }

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

/// The element of a ring with this number, and the bytes that an access has.
static Value elementPointer(ImplicitLocOpBuilder &b, Value ring, Value number,
                            SharedType type) {
  constexpr int64_t kByte = 8;
  Value address = element(b, ring, number, type.getContainer() / kByte);
  return pointer(b, address, AddressSpace::Shared);
}

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
    Value place = elementPointer(b, adaptor.getShared(), adaptor.getOffset(),
                                 op.getShared().getType());
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
    Value place = elementPointer(b, adaptor.getShared(), adaptor.getOffset(),
                                 op.getShared().getType());
    LLVM::StoreOp::create(b, adaptor.getValue(), place,
                          accessBytes(op.getValue().getType()));
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void blockscale::populateStorePatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<AwaitStoresToNVVM, LoadSharedToNVVM, StageRowToNVVM,
               StoreSharedToNVVM, TmaStoreToNVVM>(converter,
                                                  patterns.getContext());
}
