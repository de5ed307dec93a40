//===- RolesToNVVM.cpp - who does what, on which tile ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Ids
//===----------------------------------------------------------------------===//

namespace {
/// An id of an index along `x`, `y` or `z` becomes a special register.
template <typename IdOp, Value (*read)(ImplicitLocOpBuilder &, unsigned)>
struct IdToNVVM : OpConversionPattern<IdOp> {
  using OpConversionPattern<IdOp>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(IdOp op, typename IdOp::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto axis = static_cast<unsigned>(op.getDimension());
    rewriter.replaceOpWithNewOp<arith::IndexCastUIOp>(op, b.getIndexType(),
                                                      read(b, axis));
    return success();
  }
};

using ThreadIdToNVVM = IdToNVVM<gpu::ThreadIdOp, nvvm::threadId>;
using BlockIdToNVVM = IdToNVVM<gpu::BlockIdOp, nvvm::blockId>;
using GridDimToNVVM = IdToNVVM<gpu::GridDimOp, nvvm::gridDim>;

struct BarrierToNVVM : OpConversionPattern<gpu::BarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(gpu::BarrierOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    nvvm::syncThreads(b);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Of i32 there is an instruction, for any lanes of a warp.
struct ReduceToNVVM : OpConversionPattern<gpu::SubgroupReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(gpu::SubgroupReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    bool isSum = op.getOp() == gpu::AllReduceOperation::ADD;
    if ((!isSum && op.getOp() != gpu::AllReduceOperation::MAXUI) ||
        !op.getUniform() || !op.getType().isInteger(32) ||
        op.getClusterStride() != 1)
      return rewriter.notifyMatchFailure(
          op, "no uniform 'maxui' or 'add' of i32 in neighbouring lanes");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value lanes = constantI32(b, -1);
    int64_t size = op.getClusterSize().value_or(kWarpSize);
    if (size < kWarpSize) {
      Value first =
          arith::AndIOp::create(b, nvvm::laneId(b), constantI32(b, -size));
      lanes = arith::ShLIOp::create(b, constantI32(b, (int64_t(1) << size) - 1),
                                    first);
    }
    auto reduce = isSum ? nvvm::sumOfLanes : nvvm::largestOfLanes;
    rewriter.replaceOp(op, reduce(b, adaptor.getValue(), lanes));
    return success();
  }
};

/// An exchange of two lanes of a whole warp, or what one has for all.
struct ShuffleToNVVM : OpConversionPattern<gpu::ShuffleOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(gpu::ShuffleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    APInt width;
    bool isExchange = op.getMode() == gpu::ShuffleMode::XOR;
    if ((!isExchange && op.getMode() != gpu::ShuffleMode::IDX) ||
        !op.getValid().use_empty() ||
        !matchPattern(op.getWidth(), m_ConstantInt(&width)) ||
        width != kWarpSize)
      return rewriter.notifyMatchFailure(
          op, "no exchange of the lanes of a whole warp");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto shuffle = isExchange ? nvvm::exchangeLanes : nvvm::valueOfLane;
    Value there = shuffle(b, adaptor.getValue(), adaptor.getOffset());
    Value valid = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
    rewriter.replaceOp(op, {there, valid});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

struct WarpsToNVVM : OpConversionPattern<WarpsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(WarpsOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto condition = scf::IfOp::create(b, isIn(b, op.getFirst(), op.getLast()));
    Block *body = condition.thenBlock();
    rewriter.inlineBlockBefore(&op.getBody().front(), body->getTerminator());
    // One lane may have worked alone; what follows is for whole warps.
    b.setInsertionPoint(body->getTerminator());
    nvvm::syncWarp(b, constantI32(b, -1));
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// first <= warp < last, the same in all lanes of a warp.
  static Value isIn(ImplicitLocOpBuilder &b, int64_t first, int64_t last) {
    Value warp =
        arith::DivUIOp::create(b, threadIndex(b), constantI32(b, kWarpSize));
    if (last == first + 1)
      return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, warp,
                                   constantI32(b, first));
    Value fromFirst = arith::SubIOp::create(b, warp, constantI32(b, first));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, fromFirst,
                                 constantI32(b, last - first));
  }
};

struct ElectToNVVM : OpConversionPattern<ElectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ElectOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, nvvm::electOne(b));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Row tiles of one group. Where 32 bits might not count the tiles of as many
/// as the op wants, no more than there are: the grid counts these.
static Value groupRows(ImplicitLocOpBuilder &b, TileCoordinatesOp op) {
  constexpr int64_t kLeastColumnsOfTile = 8;
  int64_t mostColumns = kMaxProductSize / kLeastColumnsOfTile + 1;
  IntegerAttr known;
  if (matchPattern(op.getColumnTiles(), m_Constant(&known)))
    mostColumns = known.getInt();
  Value wanted = constantI32(b, op.getGroup());
  if (int64_t(op.getGroup()) * mostColumns <= UINT32_MAX)
    return wanted;
  return b.createOrFold<arith::MinUIOp>(op.getRowTiles(), wanted);
}

struct TileCoordinatesToNVVM : OpConversionPattern<TileCoordinatesOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TileCoordinatesOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto mul = [&](Value x, Value y) -> Value {
      return b.createOrFold<arith::MulIOp>(x, y);
    };
    auto sub = [&](Value x, Value y) -> Value {
      return b.createOrFold<arith::SubIOp>(x, y);
    };
    auto div = [&](Value x, Value y) -> Value {
      return b.createOrFold<arith::DivUIOp>(x, y);
    };
    Value rows = op.getRowTiles(), columns = op.getColumnTiles();
    Value perBatch = mul(rows, columns);
    Value batch = div(op.getTile(), perBatch);
    Value tile = sub(op.getTile(), mul(batch, perBatch));
    // All groups have as many rows of tiles, but the last, which has what is
    // left.
    Value most = groupRows(b, op);
    Value perGroup = mul(most, columns);
    Value group = div(tile, perGroup);
    Value inGroup = sub(tile, mul(group, perGroup));
    Value firstRow = mul(group, most);
    Value height = b.createOrFold<arith::MinUIOp>(sub(rows, firstRow), most);
    Value column = div(inGroup, height);
    Value row = add(b, firstRow, sub(inGroup, mul(column, height)));
    rewriter.replaceOp(op, {row, column, batch});
    return success();
  }
};
} // namespace

void blockscale::populateRolePatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns) {
  patterns.add<ThreadIdToNVVM, BlockIdToNVVM, GridDimToNVVM, BarrierToNVVM,
               ReduceToNVVM, ShuffleToNVVM, WarpsToNVVM, ElectToNVVM,
               TileCoordinatesToNVVM>(converter, patterns.getContext());
}
