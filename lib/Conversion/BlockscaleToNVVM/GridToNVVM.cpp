//===- GridToNVVM.cpp - what all CTAs of a grid do together ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The counter of a grid of n CTAs goes from 0 to n while they come and on to 2n
// while they leave, where it wraps to 0. Who waits sees n or more until it has
// left itself, whatever the others do meanwhile.

#include "Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

static Value wordAt(ImplicitLocOpBuilder &b, Value memory, Value index) {
  return LLVM::GEPOp::create(b, memory.getType(), b.getI32Type(), memory,
                             ArrayRef<LLVM::GEPArg>{index});
}

/// What the counter is before it wraps, of `count` CTAs.
static Value mostCounted(ImplicitLocOpBuilder &b, Value count) {
  Value twice = arith::AddIOp::create(b, count, count);
  return arith::SubIOp::create(b, twice, constantI32(b, 1));
}

namespace {
struct RaiseLargestToNVVM : OpConversionPattern<RaiseLargestOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(RaiseLargestOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    nvvm::raiseWord(b, wordAt(b, adaptor.getTarget(), adaptor.getIndex()),
                    adaptor.getValue());
    rewriter.eraseOp(op);
    return success();
  }
};

struct MeetGridToNVVM : OpConversionPattern<MeetGridOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MeetGridOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value counter = wordAt(b, adaptor.getCounters(), adaptor.getIndex());
    Value count = adaptor.getCount();
    nvvm::countUpTo(b, counter, mostCounted(b, count));
    auto isIncomplete = [&](OpBuilder &builder, Location loc, ValueRange) {
      ImplicitLocOpBuilder inside(loc, builder);
      Value come = nvvm::loadAcquired(inside, counter);
      Value incomplete =
          arith::CmpIOp::create(inside, arith::CmpIPredicate::ult, come, count);
      scf::ConditionOp::create(inside, incomplete, ValueRange());
    };
    auto again = [](OpBuilder &builder, Location loc, ValueRange) {
      scf::YieldOp::create(builder, loc);
    };
    scf::WhileOp::create(b, TypeRange(), ValueRange(), isIncomplete, again);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LeaveGridToNVVM : OpConversionPattern<LeaveGridOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LeaveGridOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value counter = wordAt(b, adaptor.getCounters(), adaptor.getIndex());
    Value most = mostCounted(b, adaptor.getCount());
    Value before = nvvm::countUpTo(b, counter, most);
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(op, arith::CmpIPredicate::eq,
                                               before, most);
    return success();
  }
};
} // namespace

void blockscale::populateGridPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns) {
  patterns.add<RaiseLargestToNVVM, MeetGridToNVVM, LeaveGridToNVVM>(
      converter, patterns.getContext());
}
