//===- SharedToNVVM.cpp - mbarriers and data in shared memory -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "blockscale/HW/Mma.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

/// The threads that a barrier of the kernel around `op` orders.
static nvvm::Scope barrierScope(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto kernel = function ? function->getAttrOfType<KernelAttr>(KernelAttr::name)
                         : KernelAttr();
  return kernel && kernel.getCluster() > 1 ? nvvm::Scope::Cluster
                                           : nvvm::Scope::Cta;
}

namespace {
/// Tries until the phase is over; the hardware suspends the thread meanwhile.
struct WaitToNVVM : OpConversionPattern<WaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(WaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value barrier = barrierPointer(b, adaptor.getBarrier(), adaptor.getIndex());
    Value always = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
    nvvm::Scope scope = barrierScope(op);
    auto attempt = [&](OpBuilder &builder, Location loc, ValueRange) {
      ImplicitLocOpBuilder inside(loc, builder);
      Value isOver = nvvm::tryWait(inside, barrier, adaptor.getParity(), scope);
      Value isRunning = arith::XOrIOp::create(builder, loc, isOver, always);
      scf::ConditionOp::create(builder, loc, isRunning, ValueRange());
    };
    auto again = [](OpBuilder &builder, Location loc, ValueRange) {
      scf::YieldOp::create(builder, loc);
    };
    scf::WhileOp::create(b, TypeRange(), ValueRange(), attempt, again);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ArriveToNVVM : OpConversionPattern<ArriveOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ArriveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value barrier = barrierPointer(b, adaptor.getBarrier(), adaptor.getIndex());
    if (op.getBarrier().getType().getRemote())
      barrier = pointer(
          b,
          element(b, adaptor.getBarrier(), adaptor.getIndex(), kBarrierBytes),
          AddressSpace::SharedCluster);
    nvvm::arrive(b, barrier, barrierScope(op));
    rewriter.eraseOp(op);
    return success();
  }
};

struct ArriveExpectToNVVM : OpConversionPattern<ArriveExpectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ArriveExpectOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value barrier = barrierPointer(b, adaptor.getBarrier(), adaptor.getIndex());
    nvvm::arriveExpect(b, barrier, constantI32(b, op.getBytes()),
                       barrierScope(op));
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// TMA
//===----------------------------------------------------------------------===//

/// Whether loads of all types reach the shared memory of a cluster; elsewhere
/// those of 4- and 6-bit types, and those of gathered rows, must name that of
/// the CTA.
static bool reachesCluster(Operation *op) {
  return hw::isAvailable(hw::Feature::TmaSubByteToCluster, getTarget(op));
}

/// Bytes of a box in shared memory.
static int64_t boxBytes(TensorMapType map) {
  int64_t bits = hw::tensorMapDataTypeInfo(map.getDataType()).sharedBits;
  for (int64_t extent : map.getBox())
    bits *= extent;
  return bits / 8;
}

/// Loads a tile to `address` of the CTAs in `multicast`, or of this one; what
/// kind of tile and from where is in `load`.
static void loadTo(ImplicitLocOpBuilder &b, Operation *op, Value address,
                   BarrierType signal, Value multicast, nvvm::TileLoad load) {
  // Only loads of a pair may signal a barrier in the other CTA.
  load.isPair = signal.getRemote();
  // A CTA's own shared memory has the same addresses in the cluster's window.
  load.ctaOnly = !reachesCluster(op);
  load.target = pointer(b, address,
                        load.ctaOnly ? AddressSpace::Shared
                                     : AddressSpace::SharedCluster);
  load.multicastMask = multicastMask(b, multicast);
  nvvm::loadTile(b, load);
}

struct TmaLoadToNVVM : OpConversionPattern<TmaLoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TmaLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value number = adaptor.getSharedStage() ? adaptor.getSharedStage()
                                            : adaptor.getStage();
    Value stage = element(b, adaptor.getShared(), number,
                          op.getShared().getType().getStageBytes());
    int64_t bytes = boxBytes(op.getMap().getType());
    Value target = add(b, stage, op.getBox() * bytes);
    if (adaptor.getSlice())
      target = element(b, target, adaptor.getSlice(), bytes);
    nvvm::TileLoad load;
    load.barrier = barrierPointer(b, adaptor.getSignal(), adaptor.getStage());
    load.map = adaptor.getMap();
    load.coordinates = adaptor.getCoordinates();
    loadTo(b, op, target, op.getSignal().getType(), adaptor.getMulticast(),
           load);
    rewriter.eraseOp(op);
    return success();
  }
};

struct TmaPrefetchToNVVM : OpConversionPattern<TmaPrefetchOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TmaPrefetchOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    nvvm::prefetchTile(b, adaptor.getMap(), adaptor.getCoordinates());
    rewriter.eraseOp(op);
    return success();
  }
};

struct TmaGatherToNVVM : OpConversionPattern<TmaGatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TmaGatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value stage = element(b, adaptor.getShared(), adaptor.getStage(),
                          op.getShared().getType().getStageBytes());
    SmallVector<Value> coordinates{adaptor.getColumn()};
    for (int64_t i = 0, e = op.getRows().getType().getNumElements(); i < e; ++i)
      coordinates.push_back(vector::ExtractOp::create(b, adaptor.getRows(), i));
    nvvm::TileLoad load;
    load.isGather = true;
    load.barrier = barrierPointer(b, adaptor.getSignal(), adaptor.getStage());
    load.map = adaptor.getMap();
    load.coordinates = coordinates;
    loadTo(
        b, op,
        element(b, stage, adaptor.getPlace(), boxBytes(op.getMap().getType())),
        op.getSignal().getType(), adaptor.getMulticast(), load);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

Value blockscale::scalesBelow(ImplicitLocOpBuilder &b, Value valid,
                              int64_t first) {
  Value left = arith::SubIOp::create(b, valid, constantI32(b, first));
  Value positive = arith::MaxSIOp::create(b, left, constantI32(b, 0));
  Value partial =
      arith::MinSIOp::create(b, positive, constantI32(b, hw::kAtomScales - 1));
  Value bits = arith::MulIOp::create(b, partial, constantI32(b, 8));
  Value below = arith::SubIOp::create(
      b, arith::ShLIOp::create(b, constantI32(b, 1), bits), constantI32(b, 1));
  Value isWhole = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, left,
                                        constantI32(b, hw::kAtomScales));
  return arith::SelectOp::create(b, isWhole, constantI32(b, -1), below);
}

namespace {
/// Each lane owns one 16-byte row of every atom: four rows of the operand, a
/// word of four consecutive scales each, so one mask serves the whole row.
struct MaskScalesToNVVM : OpConversionPattern<MaskScalesOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MaskScalesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SharedType type = op.getShared().getType();
    Value stage = element(b, adaptor.getShared(), adaptor.getStage(),
                          type.getStageBytes());
    Value lane = nvvm::laneId(b);
    Value row = element(b, stage, lane, kRowBytes);
    bool isRemote = bool(adaptor.getRank());
    if (isRemote)
      row = mapToRank(b, row, adaptor.getRank());
    AddressSpace space =
        isRemote ? AddressSpace::SharedCluster : AddressSpace::Shared;
    if (type.getShape()[3] == hw::kRowTileScales)
      clearRowTiles(b, type, row, adaptor.getValid(), space);
    else
      clearAtoms(b, type, row, adaptor.getValid(), space);
    // The copies and MMAs that follow read through the async proxy, from one
    // lane.
    nvvm::fenceAsyncProxy(b,
                          isRemote ? nvvm::Scope::Cluster : nvvm::Scope::Cta);
    nvvm::syncWarp(b, constantI32(b, -1));
    rewriter.eraseOp(op);
    return success();
  }

private:
  static constexpr int64_t kRowBytes = hw::atomOffset(1, 0);
  static_assert(kRowBytes == hw::kRowTileScales, "a lane owns 16 bytes");
  static constexpr int64_t kRowWords = kRowBytes / hw::kAtomScales;

  static VectorType rowType(ImplicitLocOpBuilder &b) {
    return VectorType::get({kRowWords}, b.getI32Type());
  }

  /// Keeps the bits of the 16 bytes at `row` that a mask has.
  static void apply(ImplicitLocOpBuilder &b, Value row,
                    function_ref<Value()> keep) {
    Value old = LLVM::LoadOp::create(b, rowType(b), row, kRowBytes);
    Value kept = arith::AndIOp::create(b, old, keep());
    LLVM::StoreOp::create(b, kept, row, kRowBytes);
  }

  static void clearAtoms(ImplicitLocOpBuilder &b, SharedType type, Value row,
                         Value valid, AddressSpace space) {
    int64_t groups = type.getShape()[1], words = type.getShape()[2];
    for (int64_t word = 0; word < words; ++word) {
      Value keep = scalesBelow(b, valid, word * hw::kAtomScales);
      for (int64_t group = 0; group < groups; ++group) {
        Value atom = add(b, row, (group * words + word) * hw::kAtomBytes);
        apply(b, pointer(b, atom, space),
              [&] { return vector::BroadcastOp::create(b, rowType(b), keep); });
      }
    }
  }

  /// Rows of 16 scales: of each tile a lane owns every 32nd.
  static void clearRowTiles(ImplicitLocOpBuilder &b, SharedType type, Value row,
                            Value valid, AddressSpace space) {
    int64_t tiles = type.getShape()[1], rows = type.getShape()[2];
    for (int64_t tile = 0; tile < tiles; ++tile) {
      SmallVector<Value> words;
      for (int64_t word = 0; word < kRowWords; ++word)
        words.push_back(scalesBelow(
            b, valid, tile * hw::kRowTileScales + word * hw::kAtomScales));
      Value keep = vector::FromElementsOp::create(b, rowType(b), words);
      for (int64_t first = 0; first < rows; first += hw::kWarpSize)
        apply(b,
              pointer(b, add(b, row, (tile * rows + first) * kRowBytes), space),
              [&] { return keep; });
    }
  }
};
} // namespace

void blockscale::populateSharedPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns) {
  patterns.add<WaitToNVVM, ArriveToNVVM, ArriveExpectToNVVM, TmaLoadToNVVM,
               TmaPrefetchToNVVM, TmaGatherToNVVM, MaskScalesToNVVM>(
      converter, patterns.getContext());
}
