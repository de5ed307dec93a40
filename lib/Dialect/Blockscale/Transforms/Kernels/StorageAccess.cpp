//===- StorageAccess.cpp - a scaled tensor in a kernel's memory -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StorageAccess.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

Value blockscale::threadNumber(Emitter &e) {
  auto number = [&](Value index) -> Value {
    return arith::IndexCastUIOp::create(e, e.getI32Type(), index);
  };
  Value cta = number(gpu::BlockIdOp::create(e, gpu::Dimension::x));
  Value thread = number(gpu::ThreadIdOp::create(e, gpu::Dimension::x));
  return arith::AddIOp::create(
      e, arith::MulIOp::create(e, cta, e.i32(kElementwiseThreads)), thread);
}

StorageAccess::StorageAccess(Emitter &emitter, const QuantizedStorage &storage,
                             ArrayRef<Value> sizes)
    : e(emitter), storage(storage), sizes(sizes) {}

Value StorageAccess::add(Value x, Value y) {
  return arith::AddIOp::create(e, x, y);
}

Value StorageAccess::mul(Value x, Value y) {
  return arith::MulIOp::create(e, x, y);
}

Value StorageAccess::wide(Value x) {
  return arith::ExtUIOp::create(e, e.getI64Type(), x);
}

Value StorageAccess::wide(int64_t x) {
  return arith::ConstantIntOp::create(e, e.getI64Type(), x);
}

Value StorageAccess::extentOf(AffineExpr expression, Type type) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return arith::ConstantIntOp::create(e, type, constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression)) {
    Value size = sizes[symbol.getPosition()];
    return type.isInteger(64) ? wide(size) : size;
  }
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Value x = extentOf(binary.getLHS(), type),
        y = extentOf(binary.getRHS(), type);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return add(x, y);
  case AffineExprKind::Mul:
    return mul(x, y);
  case AffineExprKind::FloorDiv:
    return arith::DivUIOp::create(e, x, y);
  case AffineExprKind::CeilDiv: {
    Value one = arith::ConstantIntOp::create(e, type, 1);
    Value last = arith::SubIOp::create(e, y, one);
    return arith::DivUIOp::create(e, add(x, last), y);
  }
  case AffineExprKind::Mod:
    return arith::RemUIOp::create(e, x, y);
  default:
    llvm_unreachable("covered switch");
  }
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Value StorageAccess::lineOffset(const BlockPlace &place) {
  Type i64 = e.getI64Type();
  return add(mul(wide(place.matrix), extentOf(storage.batchPitch, i64)),
             mul(wide(place.row), extentOf(storage.linePitch, i64)));
}

Value StorageAccess::scaleOffset(const BlockPlace &place, Type type) {
  return placeOffset(storage.scales, place, type);
}

Value StorageAccess::floatNumber(const BlockPlace &place) {
  if (storage.coversMatrix())
    return wide(place.matrix);
  if (storage.coversRow())
    return add(
        mul(wide(place.matrix), wide(extentOf(storage.rows, e.getI32Type()))),
        wide(place.row));
  Type i64 = e.getI64Type();
  Value row = arith::DivUIOp::create(e, place.row, e.i32(storage.rowTile));
  Value tile =
      arith::DivUIOp::create(e, place.block, e.i32(storage.tileBlocks));
  return add(
      mul(wide(place.matrix), extentOf(storage.floatsOfMatrix(), i64)),
      add(mul(wide(row), extentOf(storage.floatsOfRows(), i64)), wide(tile)));
}

Value StorageAccess::placeOffset(const hw::StorageLayout<AffineExpr> &layout,
                                 const BlockPlace &place, Type type) {
  auto cast = [&](Value x) { return type == x.getType() ? x : wide(x); };
  Value offset = mul(cast(place.matrix), extentOf(layout.matrixBytes, type));
  for (const auto &digit : layout.digits) {
    const hw::Term &term = digit.term;
    Value value = term.source == hw::Dim::Row ? place.row : place.block;
    if (term.divisor != 1)
      value = arith::DivUIOp::create(e, value, e.i32(int64_t(term.divisor)));
    if (term.modulus)
      value = arith::RemUIOp::create(e, value, e.i32(int64_t(term.modulus)));
    offset = add(offset, mul(cast(value), extentOf(digit.stride, type)));
  }
  return offset;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

constexpr int64_t kWordBytes = 4;

/// The widest access for pieces of `bytes` bytes that follow each other.
static int64_t accessFor(int64_t bytes) {
  return std::min(kAccessBytes, bytes & -bytes);
}

static Type elementOf(Value memory) {
  return cast<GlobalType>(memory.getType()).getElementType();
}

SmallVector<Value> StorageAccess::loadWords(Value memory, Value number,
                                            int64_t bytes) {
  Type element = elementOf(memory);
  int64_t size = element.getIntOrFloatBitWidth() / 8, access = accessFor(bytes);
  SmallVector<Value> words;
  for (int64_t i = 0; i < bytes; i += access) {
    auto type = VectorType::get({access / size}, element);
    Value loaded = LoadRowOp::create(
        e, type, memory, add(number, wide(i / size)), e.i32(access / size),
        /*stride=*/Value(), /*aligned=*/true);
    loaded = vector::BitCastOp::create(
        e, VectorType::get({access / kWordBytes}, e.getI32Type()), loaded);
    for (int64_t word = 0; word < access / kWordBytes; ++word)
      words.push_back(vector::ExtractOp::create(e, loaded, word));
  }
  return words;
}

void StorageAccess::storeWords(Value memory, Value number,
                               ArrayRef<Value> words) {
  Type element = elementOf(memory);
  int64_t bytes = int64_t(words.size()) * kWordBytes;
  int64_t size = element.getIntOrFloatBitWidth() / 8, access = accessFor(bytes);
  for (int64_t i = 0; i < bytes; i += access) {
    auto type = VectorType::get({access / kWordBytes}, e.getI32Type());
    Value value = vector::FromElementsOp::create(
        e, type, words.slice(i / kWordBytes, access / kWordBytes));
    value = vector::BitCastOp::create(
        e, VectorType::get({access / size}, element), value);
    StoreRowOp::create(e, value, memory, add(number, wide(i / size)),
                       e.i32(access / size), /*stride=*/Value(),
                       /*aligned=*/true);
  }
}

//===----------------------------------------------------------------------===//
// Single numbers
//===----------------------------------------------------------------------===//

void StorageAccess::storeByte(Value memory, Value offset, Value byte) {
  Value value = vector::FromElementsOp::create(
      e, VectorType::get({1}, e.getI8Type()), byte);
  StoreRowOp::create(e, value, memory, offset, e.i32(1), /*stride=*/Value(),
                     /*aligned=*/true);
}

void StorageAccess::storeBytes(Value memory, Value offset, Value word,
                               int64_t count) {
  Type i8 = e.getI8Type(), whole = e.getIntegerType(unsigned(count * 8));
  Value bytes = word;
  if (whole != word.getType())
    bytes = arith::TruncIOp::create(e, whole, word);
  if (count == 1)
    return storeByte(memory, offset, bytes);
  bytes = vector::FromElementsOp::create(e, VectorType::get({1}, whole), bytes);
  bytes = vector::BitCastOp::create(e, VectorType::get({count}, i8), bytes);
  StoreRowOp::create(e, bytes, memory, offset, e.i32(count),
                     /*stride=*/Value(), /*aligned=*/true);
}

Value StorageAccess::loadNumber(Value memory, Value number) {
  Type type = cast<GlobalType>(memory.getType()).getElementType();
  Value loaded = LoadRowOp::create(e, VectorType::get({1}, type), memory,
                                   number, e.i32(1), /*stride=*/Value(),
                                   /*aligned=*/true);
  return vector::ExtractOp::create(e, loaded, 0);
}
