//===- RowsToNVVM.cpp - rows of global memory -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KnownNumbers.h"
#include "Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace blockscale;

/// The widest access of one thread in bytes.
static constexpr int64_t kAccessBytes = 16;

namespace {
/// What is known of how many elements of a row are inside. Where either all are
/// or none, no element is tested alone, of which a kernel has much less code.
struct InsideOfRow {
  InsideOfRow(Value count, int64_t size)
      : isAllOrNothing(size > 1 && isMultipleOf(count, size)),
        most(std::clamp(largestOf(count).value_or(size), int64_t(0), size)) {}

  bool isAllOrNothing;
  int64_t most;
};

/// The elements of a row that one thread reads or writes. There are two ways:
/// all of them at once, or each one that is inside.
class Row {
public:
  Row(ImplicitLocOpBuilder &b, VectorType type, Value memory, Value offset,
      Value count, Value stride, bool isAligned, InsideOfRow inside)
      : b(b), type(type), count(count), stride(stride), isAligned(isAligned),
        inside(inside), first(step(memory, offset)) {
    // That all are there is what this promises.
    if (isAligned)
      this->inside.most = size();
  }

  Value load();
  void store(Value values);

private:
  int64_t size() const { return type.getDimSize(0); }
  int64_t bytes() const { return size() * type.getElementTypeBitWidth() / 8; }
  /// Bytes of one access to the whole row, and the alignment that it needs.
  int64_t accessBytes() const { return std::min(kAccessBytes, bytes()); }

  /// The pointer `elements` behind `from`.
  Value step(Value from, Value elements) {
    return LLVM::GEPOp::create(b, from.getType(), type.getElementType(), from,
                               ArrayRef<LLVM::GEPArg>{elements});
  }
  Value step(Value from, int32_t elements) {
    return LLVM::GEPOp::create(b, from.getType(), type.getElementType(), from,
                               ArrayRef<LLVM::GEPArg>{elements});
  }
  /// Calls `access` with each index that may be inside, and its pointer. A
  /// pointer is made where it is used: all of them at once would take two
  /// registers each.
  void forEach(llvm::function_ref<void(int64_t, Value)> access);
  /// Whether element `index` is inside.
  Value isInside(int64_t index) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, count,
                                 constantI32(b, index));
  }
  /// Whether all elements are inside and, without a stride, aligned; null if
  /// the row cannot be accessed at once, or is not accessed in any other way.
  Value isWhole();

  Value loadElement(Value pointer) {
    return LLVM::LoadOp::create(b, type.getElementType(), pointer);
  }
  Value zero(Type of);
  /// What `load` gives, of type `of`, or zero.
  Value loadIf(Value condition, Type of, llvm::function_ref<Value()> load);
  Value loadElements();
  Value loadWhole();
  Value loadInside();
  void storeElements(Value values);
  void storeWhole(Value values);
  void storeInside(Value values);

  ImplicitLocOpBuilder &b;
  VectorType type;
  Value count, stride;
  bool isAligned;
  InsideOfRow inside;
  Value first;
};
} // namespace

void Row::forEach(llvm::function_ref<void(int64_t, Value)> access) {
  Value pointer = first;
  for (int32_t i = 0; i < inside.most; ++i) {
    if (i > 0)
      pointer = stride ? step(pointer, stride) : step(first, i);
    access(i, pointer);
  }
}

Value Row::isWhole() {
  bool fits = size() > 1 && llvm::isPowerOf2_64(accessBytes()) &&
              bytes() % accessBytes() == 0;
  if (!(stride ? !inside.isAllOrNothing : fits) || inside.most < size())
    return {};
  Value whole = isInside(size() - 1);
  if (stride)
    return whole;
  Type i64 = b.getI64Type();
  Value address = LLVM::PtrToIntOp::create(b, i64, first);
  Value rest = arith::AndIOp::create(
      b, address, arith::ConstantIntOp::create(b, i64, accessBytes() - 1));
  Value aligned =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest,
                            arith::ConstantIntOp::create(b, i64, 0));
  return arith::AndIOp::create(b, whole, aligned);
}

Value Row::zero(Type of) {
  return arith::ConstantOp::create(b, b.getZeroAttr(of));
}

Value Row::loadElements() {
  SmallVector<Value> elements;
  forEach([&](int64_t, Value pointer) {
    elements.push_back(loadElement(pointer));
  });
  return vector::FromElementsOp::create(b, type, elements);
}

Value Row::loadWhole() {
  if (stride)
    return loadElements();
  return LLVM::LoadOp::create(b, type, first, accessBytes());
}

Value Row::loadIf(Value condition, Type of, llvm::function_ref<Value()> load) {
  auto loaded = scf::IfOp::create(b, TypeRange{of}, condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loaded.thenBlock());
  scf::YieldOp::create(b, load());
  b.setInsertionPointToStart(loaded.elseBlock());
  scf::YieldOp::create(b, zero(of));
  return loaded.getResult(0);
}

Value Row::loadInside() {
  if (inside.isAllOrNothing)
    return loadIf(isInside(size() - 1), type, [&] { return loadElements(); });
  Type elementType = type.getElementType();
  SmallVector<Value> elements;
  forEach([&](int64_t index, Value pointer) {
    elements.push_back(loadIf(isInside(index), elementType,
                              [&] { return loadElement(pointer); }));
  });
  elements.resize(size(), zero(elementType));
  return vector::FromElementsOp::create(b, type, elements);
}

void Row::storeElements(Value values) {
  forEach([&](int64_t index, Value pointer) {
    LLVM::StoreOp::create(b, vector::ExtractOp::create(b, values, index),
                          pointer);
  });
}

void Row::storeWhole(Value values) {
  if (stride)
    return storeElements(values);
  LLVM::StoreOp::create(b, values, first, accessBytes());
}

void Row::storeInside(Value values) {
  if (inside.isAllOrNothing) {
    auto condition = scf::IfOp::create(b, isInside(size() - 1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(condition.thenBlock());
    return storeElements(values);
  }
  forEach([&](int64_t index, Value pointer) {
    auto condition = scf::IfOp::create(b, isInside(index));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(condition.thenBlock());
    LLVM::StoreOp::create(b, vector::ExtractOp::create(b, values, index),
                          pointer);
  });
}

Value Row::load() {
  if (isAligned)
    return loadWhole();
  Value whole = isWhole();
  if (!whole)
    return loadInside();
  auto condition = scf::IfOp::create(b, TypeRange{type}, whole,
                                     /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(condition.thenBlock());
  scf::YieldOp::create(b, loadWhole());
  b.setInsertionPointToStart(condition.elseBlock());
  scf::YieldOp::create(b, loadInside());
  return condition.getResult(0);
}

void Row::store(Value values) {
  if (isAligned)
    return storeWhole(values);
  Value whole = isWhole();
  if (!whole)
    return storeInside(values);
  auto condition = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(condition.thenBlock());
  storeWhole(values);
  b.setInsertionPointToStart(condition.elseBlock());
  storeInside(values);
}

namespace {
struct LoadRowToNVVM : OpConversionPattern<LoadRowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadRowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    // LLVM has no floats of 8 bits: they are its bytes.
    VectorType type = op.getType(), loaded = type;
    if (type.getElementTypeBitWidth() == 8)
      loaded = type.clone(b.getI8Type());
    Row row(b, loaded, adaptor.getSource(), adaptor.getOffset(),
            adaptor.getCount(), adaptor.getStride(), op.getAligned(),
            {op.getCount(), loaded.getDimSize(0)});
    Value value = row.load();
    if (loaded != type)
      value = arith::BitcastOp::create(b, type, value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct StoreRowToNVVM : OpConversionPattern<StoreRowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(StoreRowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Row row(b, op.getValue().getType(), adaptor.getTarget(),
            adaptor.getOffset(), adaptor.getCount(), adaptor.getStride(),
            op.getAligned(),
            {op.getCount(), op.getValue().getType().getDimSize(0)});
    row.store(adaptor.getValue());
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void blockscale::populateRowPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns) {
  patterns.add<LoadRowToNVVM, StoreRowToNVVM>(converter, patterns.getContext());
}
