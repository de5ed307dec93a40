//===- GridMaxima.cpp - what all CTAs of a grid find together -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GridMaxima.h"
#include "blockscale/HW/Memory.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

/// The counter is the first word, and the words of the matrices follow.
static constexpr int64_t kCounter = 0, kFirstMaximum = 1;

AffineMap GridMaxima::workspaceFor(AffineExpr batch) {
  constexpr unsigned kSymbols = 6;
  constexpr int64_t kWordBytes = 4;
  MLIRContext *context = batch.getContext();
  AffineExpr bytes = (batch + kFirstMaximum) * kWordBytes;
  return AffineMap::get(
      0, kSymbols, {bytes, bytes, getAffineConstantExpr(1, context)}, context);
}

GridMaxima::GridMaxima(Emitter &emitter, const QuantizeArguments &arguments,
                       int64_t threads)
    : e(emitter), arguments(arguments), threads(threads),
      thread(number(gpu::ThreadIdOp::create(e, gpu::Dimension::x))),
      cta(number(gpu::BlockIdOp::create(e, gpu::Dimension::x))),
      ctas(number(gpu::GridDimOp::create(e, gpu::Dimension::x))),
      shared(SharedAllocOp::create(
          e,
          SharedType::get(e.getContext(), {1, threads / hw::kWarpSize},
                          e.getF32Type(), /*container=*/32, hw::Swizzle::None),
          /*offset=*/IntegerAttr())) {}

Value GridMaxima::number(Value index) {
  return arith::IndexCastUIOp::create(e, e.getI32Type(), index);
}

Value GridMaxima::add(Value x, Value y) {
  return arith::AddIOp::create(e, x, y);
}

Value GridMaxima::mul(Value x, Value y) {
  return arith::MulIOp::create(e, x, y);
}

Value GridMaxima::wide(Value x) {
  return arith::ExtUIOp::create(e, e.getI64Type(), x);
}

Value GridMaxima::wide(int64_t x) {
  return arith::ConstantIntOp::create(e, e.getI64Type(), x);
}

void GridMaxima::ifFirstThread(function_ref<void()> body) {
  Value isFirst =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, thread, e.i32(0));
  auto condition = scf::IfOp::create(e, isFirst);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  body();
}

void GridMaxima::forEachMatrix(function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(e, e.i32(0), arguments.batch, e.i32(1));
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void GridMaxima::forEachCta(Value count, bool usesShared,
                            function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(e, cta, count, ctas);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
  if (usesShared)
    gpu::BarrierOp::create(e);
}

/// The bits of the largest magnitude that this thread reads of a matrix, i32.
/// Matrices are whole accesses that follow each other. Several are on their way
/// before the first is waited for; those that would lie behind the end read its
/// last one again, which changes no maximum.
Value GridMaxima::largestOfThread(BlockQuantizer &quantizer, Value matrix) {
  constexpr int64_t kTogether = 4;
  Type type = cast<GlobalType>(arguments.x.getType()).getElementType();
  int64_t count = kAccessBytes * 8 / type.getIntOrFloatBitWidth();
  Value elements = mul(wide(arguments.rows), wide(arguments.k));
  Value accesses = arith::DivUIOp::create(e, elements, wide(count));
  Value origin = mul(wide(matrix), elements);
  Value last = add(accesses, wide(-1));
  Value stride = mul(wide(ctas), wide(threads));
  Value begin = add(mul(wide(cta), wide(threads)), wide(thread));
  auto loop = scf::ForOp::create(e, begin, accesses,
                                 mul(stride, wide(kTogether)), e.i32(0));
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> values;
  Value place = loop.getInductionVar();
  for (int64_t i = 0; i < kTogether; ++i) {
    if (i > 0)
      place = add(place, stride);
    Value inside = arith::MinUIOp::create(e, place, last);
    Value loaded =
        LoadRowOp::create(e, VectorType::get({count}, type), arguments.x,
                          add(origin, mul(inside, wide(count))), e.i32(count),
                          /*stride=*/Value(), /*aligned=*/true);
    for (int64_t k = 0; k < count; ++k)
      values.push_back(vector::ExtractOp::create(e, loaded, k));
  }
  Value most = arith::MaxUIOp::create(e, loop.getRegionIterArg(0),
                                      e.bits(quantizer.largestOf(values)));
  scf::YieldOp::create(e, most);
  return loop.getResult(0);
}

/// That of all threads of the CTA, which the first one has to have.
Value GridMaxima::largestOfCta(Value own) {
  Value largest = gpu::SubgroupReduceOp::create(
      e, own, gpu::AllReduceOperation::MAXUI, /*uniform=*/true,
      std::optional<uint32_t>(uint32_t(hw::kWarpSize)));
  Value size = e.i32(hw::kWarpSize);
  Value lane = arith::RemUIOp::create(e, thread, size);
  Value isFirst =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, lane, e.i32(0));
  auto condition = scf::IfOp::create(e, isFirst);
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(condition.thenBlock());
    Value word = vector::FromElementsOp::create(
        e, VectorType::get({1}, e.getF32Type()), e.fromBits(largest));
    StoreSharedOp::create(e, word, shared,
                          arith::DivUIOp::create(e, thread, size));
  }
  gpu::BarrierOp::create(e);
  constexpr int64_t kTogether = 4;
  auto words = VectorType::get({kTogether}, e.getF32Type());
  Value all;
  for (int64_t i = 0; i < threads / hw::kWarpSize; i += kTogether) {
    Value some = LoadSharedOp::create(e, words, shared, e.i32(i));
    for (int64_t k = 0; k < kTogether; ++k) {
      Value one = e.bits(vector::ExtractOp::create(e, some, k));
      all = all ? arith::MaxUIOp::create(e, all, one).getResult() : one;
    }
  }
  // The words may change for the next matrix once all have theirs.
  gpu::BarrierOp::create(e);
  return all;
}

void GridMaxima::find(BlockQuantizer &quantizer) {
  forEachMatrix([&](Value matrix) {
    Value largest = largestOfCta(largestOfThread(quantizer, matrix));
    ifFirstThread([&] {
      RaiseLargestOp::create(e, arguments.workspace,
                             add(wide(matrix), wide(kFirstMaximum)), largest);
    });
  });
  ifFirstThread([&] {
    MeetGridOp::create(e, arguments.workspace, wide(kCounter), ctas);
  });
  gpu::BarrierOp::create(e);
}

Value GridMaxima::largestOf(Emitter &e, Value workspace, Value matrix) {
  Value first = arith::ConstantIntOp::create(e, e.getI64Type(), kFirstMaximum);
  Value loaded = LoadRowOp::create(
      e, VectorType::get({1}, e.getI32Type()), workspace,
      arith::AddIOp::create(e, matrix, first), e.i32(1), /*stride=*/Value(),
      /*aligned=*/true);
  return e.fromBits(vector::ExtractOp::create(e, loaded, 0));
}

void GridMaxima::leave() {
  gpu::BarrierOp::create(e);
  ifFirstThread([&] {
    Value isLast =
        LeaveGridOp::create(e, arguments.workspace, wide(kCounter), ctas);
    auto condition = scf::IfOp::create(e, isLast);
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(condition.thenBlock());
    forEachMatrix([&](Value matrix) {
      Value zero = vector::FromElementsOp::create(
          e, VectorType::get({1}, e.getI32Type()), e.i32(0));
      StoreRowOp::create(e, zero, arguments.workspace,
                         add(wide(matrix), wide(kFirstMaximum)), e.i32(1),
                         /*stride=*/Value(), /*aligned=*/true);
    });
  });
}
