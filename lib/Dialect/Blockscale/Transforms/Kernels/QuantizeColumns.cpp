//===- QuantizeColumns.cpp - quantising the transpose ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Memory has rows of K along M, and codes lie along K. A CTA takes 128 columns
// of it and 4 blocks of each: an atom of scales. Neighbouring lanes have
// neighbouring columns, so that what they load of a row lies together. Their
// codes go to lines of shared memory first, from where neighbouring threads
// store what lies together there. The lines are one access longer than their
// codes: an odd number of accesses, so that lanes that write one below the
// other meet different banks.

#include "QuantizeColumns.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

QuantizeColumns::QuantizeColumns(QuantizationAttr what,
                                 const QuantizedStorage &storage,
                                 ImplicitLocOpBuilder &b,
                                 const QuantizeArguments &arguments,
                                 int64_t blocksOfThread)
    : QuantizeBody(what, storage, b, arguments),
      thread(number(gpu::ThreadIdOp::create(e, gpu::Dimension::x))),
      blocksOfThread(blocksOfThread), access(quantizer.dataAccess()),
      perBlock(quantizer.blockBytes() / access),
      codes(allocate(hw::kAtomRows * pitch())),
      scales(storage.scale ? allocate(blocksOfThread * hw::kAtomBytes)
                           : Value()) {
  quantizer.setOrder(TileOrder::RowsFirst);
}

Value QuantizeColumns::allocate(int64_t bytes) {
  return SharedAllocOp::create(e,
                               SharedType::get(e.getContext(), {1, bytes},
                                               e.getI8Type(), /*container=*/8,
                                               hw::Swizzle::None),
                               /*offset=*/IntegerAttr());
}

/// Inside of an atom rows are faster than blocks, and neighbours are
/// neighbours.
SmallVector<QuantizeBody::Digit> QuantizeColumns::digits() const {
  constexpr int64_t kRows = hw::kAtomRows, kBlocks = hw::kAtomScales;
  auto constant = [&](int64_t extent) {
    return getAffineConstantExpr(extent, storage.k.getContext());
  };
  if (!storage.scale)
    return {digit(hw::Dim::Row, 1, constant(kRows)),
            digit(hw::Dim::Block, 1, constant(kBlocks)),
            digit(hw::Dim::Block, kBlocks,
                  storage.k.ceilDiv(storage.block * kBlocks)),
            digit(hw::Dim::Row, kRows, storage.rows.ceilDiv(kRows))};
  return withRowsFirst(
      SmallVector<Digit>(llvm::reverse(storage.scales.digits)));
}

Value QuantizeColumns::line() {
  return arith::RemUIOp::create(e, thread, e.i32(hw::kAtomRows));
}

Value QuantizeColumns::blockInAtom() {
  Value number = arith::DivUIOp::create(e, thread, e.i32(hw::kAtomRows));
  return blocksOfThread > 1 ? mul(number, e.i32(blocksOfThread)) : number;
}

SmallVector<Value> QuantizeColumns::load(const BlockPlace &place, Value) {
  return loadColumn(place);
}

void QuantizeColumns::storeCodes(const BlockPlace &, ArrayRef<Value> words) {
  Value first = add(mul(line(), e.i32(pitch())),
                    mul(blockInAtom(), e.i32(quantizer.blockBytes())));
  for (int64_t i = 0; i < perBlock * blocksOfThread; ++i)
    StoreSharedOp::create(e, quantizer.dataPiece(words, i), codes,
                          add(first, e.i32(i * access)));
}

/// The codes of all threads of the CTA, whose tile begins at `origin`.
void QuantizeColumns::copyCodes(const BlockPlace &origin) {
  for (int64_t i = 0; i < perBlock * blocksOfThread; ++i) {
    Value piece = add(thread, e.i32(i * kColumnThreads));
    Value line = arith::DivUIOp::create(e, piece, e.i32(perLine()));
    Value inLine = arith::RemUIOp::create(e, piece, e.i32(perLine()));
    Value block = arith::DivUIOp::create(e, inLine, e.i32(perBlock));
    BlockPlace place{origin.matrix, add(origin.row, line),
                     add(origin.block, block)};
    auto condition = scf::IfOp::create(e, isInside(place));
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(condition.thenBlock());
    Value value = LoadSharedOp::create(
        e, VectorType::get({access}, e.getI8Type()), codes,
        add(mul(line, e.i32(pitch())), mul(inLine, e.i32(access))));
    Value inBlock = arith::RemUIOp::create(e, inLine, e.i32(perBlock));
    StoreRowOp::create(
        e, value, arguments.data,
        add(quantizer.dataOffset(place), mul(wide(inBlock), wide(access))),
        e.i32(access), /*stride=*/Value(), /*aligned=*/true);
  }
}

void QuantizeColumns::copyScales(Value atom, Value there) {
  Value stores = below(thread, e.i32(blocksOfThread * copiesOfAtom()));
  if (there)
    stores = arith::AndIOp::create(e, stores, there);
  auto condition = scf::IfOp::create(e, stores);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  Value first = mul(thread, e.i32(kScaleAccess));
  Value value = LoadSharedOp::create(
      e, VectorType::get({kScaleAccess}, e.getI8Type()), scales, first);
  StoreRowOp::create(e, value, arguments.scales, wide(add(atom, first)),
                     e.i32(kScaleAccess), /*stride=*/Value(),
                     /*aligned=*/true);
}

void QuantizeColumns::storeScales(const BlockPlace &inAtom, Value bytes) {
  constexpr unsigned kScaleBits = 8;
  Type whole = e.getIntegerType(unsigned(blocksOfThread) * kScaleBits);
  Value stored = arith::TruncIOp::create(e, whole, bytes);
  stored =
      vector::FromElementsOp::create(e, VectorType::get({1}, whole), stored);
  if (blocksOfThread > 1)
    stored = vector::BitCastOp::create(
        e, VectorType::get({blocksOfThread}, e.getI8Type()), stored);
  StoreSharedOp::create(e, stored, scales,
                        quantizer.scaleOffset(inAtom, e.getI32Type()));
}

void QuantizeColumns::finish(const BlockPlace &place, Value code, Value atom,
                             Value there) {
  BlockPlace inAtom{e.i32(0), line(), blockInAtom()};
  auto origin = [&]() -> BlockPlace {
    return {place.matrix, sub(place.row, inAtom.row),
            sub(place.block, inAtom.block)};
  };
  if (!storage.scale) {
    storePlain(place, code);
    gpu::BarrierOp::create(e);
    return copyCodes(origin());
  }
  storeScales(inAtom, code);
  gpu::BarrierOp::create(e);
  copyCodes(origin());
  copyScales(atom, there);
}

/// The threads of a CTA have the numbers of the bytes of its atom.
void QuantizeColumns::storeScale(const BlockPlace &place, Value number,
                                 Value code) {
  finish(place, code, sub(number, thread));
}
