//===- KernelBuilder.cpp - small pieces of code of kernels ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value KernelBuilder::constant(int64_t value) {
  return arith::ConstantIntOp::create(*this, getI32Type(), value);
}

Value KernelBuilder::always() {
  return arith::ConstantIntOp::create(*this, getI1Type(), 1);
}

std::optional<int64_t> KernelBuilder::known(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return std::nullopt;
  return constant.getSExtValue();
}

Value KernelBuilder::add(Value x, Value y) {
  return createOrFold<arith::AddIOp>(x, y);
}

Value KernelBuilder::sub(Value x, Value y) {
  return createOrFold<arith::SubIOp>(x, y);
}

Value KernelBuilder::mul(Value x, Value y) {
  return createOrFold<arith::MulIOp>(x, y);
}

Value KernelBuilder::mul(Value x, int64_t factor) {
  return mul(x, constant(factor));
}

Value KernelBuilder::div(Value x, Value divisor) {
  return createOrFold<arith::DivUIOp>(x, divisor);
}

Value KernelBuilder::div(Value x, int64_t divisor) {
  return div(x, constant(divisor));
}

Value KernelBuilder::rem(Value x, int64_t divisor) {
  return createOrFold<arith::RemUIOp>(x, constant(divisor));
}

Value KernelBuilder::ceilDiv(Value x, int64_t divisor) {
  return div(add(x, constant(divisor - 1)), divisor);
}

Value KernelBuilder::shiftLeft(int64_t bits, Value distance) {
  return createOrFold<arith::ShLIOp>(constant(bits), distance);
}

Value KernelBuilder::compare(arith::CmpIPredicate predicate, Value x, Value y) {
  return createOrFold<arith::CmpIOp>(predicate, x, y);
}

Value KernelBuilder::isEqual(Value x, int64_t value) {
  return compare(arith::CmpIPredicate::eq, x, constant(value));
}

Value KernelBuilder::isNotZero(Value x) {
  return compare(arith::CmpIPredicate::ne, x, constant(0));
}

Value KernelBuilder::select(Value condition, Value x, Value y) {
  return createOrFold<arith::SelectOp>(condition, x, y);
}

Value KernelBuilder::flip(Value parity) {
  return createOrFold<arith::XOrIOp>(parity, constant(1));
}

Value KernelBuilder::toI32(Value index) {
  return arith::IndexCastUIOp::create(*this, getI32Type(), index);
}

Value KernelBuilder::toI64(Value x) {
  return createOrFold<arith::ExtSIOp>(getI64Type(), x);
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

RingPosition KernelBuilder::next(RingPosition position, int64_t size) {
  Value following = add(position.slot, constant(1));
  Value wraps = isEqual(following, size);
  Value slot = select(wraps, constant(0), following);
  Value parity = select(wraps, flip(position.parity), position.parity);
  return {slot, parity};
}

Value KernelBuilder::shared(SharedType type) {
  return SharedAllocOp::create(*this, type, IntegerAttr());
}

Value KernelBuilder::barriers(int64_t count, int64_t arrivals) {
  return BarrierAllocOp::create(*this, BarrierType::get(getContext(), count),
                                arrivals, IntegerAttr());
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void KernelBuilder::warps(StringRef role, WarpRange range,
                          function_ref<void()> body) {
  auto region = WarpsOp::create(*this, role, range.first, range.last);
  InsertionGuard guard(*this);
  createBlock(&region.getBody());
  body();
}

void KernelBuilder::onlyIf(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(*this, condition);
  InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  body();
}

SmallVector<Value> StagePosition::values() const {
  SmallVector<Value> all{slot, parity};
  if (scales)
    all.append({scales->slot, scales->parity});
  return all;
}

StagePosition StagePosition::of(ValueRange values) {
  StagePosition at{values[0], values[1], std::nullopt};
  if (values.size() > 2)
    at.scales = RingPosition{values[2], values[3]};
  return at;
}

StagePosition KernelBuilder::choose(Value condition, StagePosition from,
                                    function_ref<StagePosition()> then,
                                    function_ref<StagePosition()> otherwise) {
  SmallVector<Type> types(from.values().size(), getI32Type());
  auto branch =
      scf::IfOp::create(*this, types, condition, /*withElseRegion=*/true);
  InsertionGuard guard(*this);
  auto fill = [&](Block *block, function_ref<StagePosition()> body) {
    setInsertionPointToStart(block);
    StagePosition after = body();
    scf::YieldOp::create(*this, after.values());
  };
  fill(branch.thenBlock(), then);
  fill(branch.elseBlock(), otherwise);
  return StagePosition::of(branch.getResults());
}

StagePosition KernelBuilder::repeat(Value begin, Value end, StagePosition from,
                                    StageBody body) {
  auto loop = scf::ForOp::create(*this, begin, end, constant(1), from.values());
  InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  StagePosition after =
      body(loop.getInductionVar(), StagePosition::of(loop.getRegionIterArgs()));
  scf::YieldOp::create(*this, after.values());
  return StagePosition::of(loop.getResults());
}

SmallVector<Value> blockscale::knownFromHere(KernelBuilder &b,
                                             ValueRange words) {
  constexpr size_t kFragment = 4;
  auto type = VectorType::get({kFragment}, b.getI32Type());
  SmallVector<Value> fragments;
  for (size_t first = 0; first < words.size(); first += kFragment) {
    // Fewer are filled up by the last one.
    SmallVector<Value> some;
    for (size_t i = first; i < first + kFragment; ++i)
      some.push_back(words[std::min(i, words.size() - 1)]);
    fragments.push_back(vector::FromElementsOp::create(b, type, some));
  }
  auto finished = FinishFragmentsOp::create(
      b, SmallVector<Type>(fragments.size(), type), fragments);
  SmallVector<Value> same;
  for (size_t i = 0; i < words.size(); ++i)
    same.push_back(vector::ExtractOp::create(
        b, finished.getResult(i / kFragment), int64_t(i % kFragment)));
  return same;
}

SmallVector<Value> blockscale::wordsKnownFromHere(KernelBuilder &b,
                                                  Value value) {
  constexpr int64_t kWordBits = 32;
  auto type = cast<VectorType>(value.getType());
  int64_t count =
      type.getDimSize(0) * type.getElementTypeBitWidth() / kWordBits;
  auto bits = VectorType::get({count}, b.getI32Type());
  value = vector::BitCastOp::create(b, bits, value);
  SmallVector<Value> words;
  for (int64_t i = 0; i < count; ++i)
    words.push_back(vector::ExtractOp::create(b, value, i));
  return knownFromHere(b, words);
}

Value blockscale::vectorKnownFromHere(KernelBuilder &b, Value value) {
  SmallVector<Value> words = wordsKnownFromHere(b, value);
  auto bits = VectorType::get({int64_t(words.size())}, b.getI32Type());
  return vector::BitCastOp::create(
      b, value.getType(), vector::FromElementsOp::create(b, bits, words));
}
