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
//
// Where a thread has two columns it loads both at once if M is even, so that
// all rows of memory begin between two pairs.

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
                                 ColumnShare share)
    : QuantizeBody(what, storage, b, arguments),
      thread(number(gpu::ThreadIdOp::create(e, gpu::Dimension::x))),
      share(share), access(quantizer.dataAccess()),
      perBlock(quantizer.blockBytes() / access),
      codes(allocate(hw::kAtomRows * pitch())),
      scales(storage.scale ? allocate(share.blocks * hw::kAtomBytes)
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

static Value times(Emitter &e, Value number, int64_t factor) {
  return factor > 1
             ? arith::MulIOp::create(e, number, e.i32(factor)).getResult()
             : number;
}

Value QuantizeColumns::line() {
  Value pairs = e.i32(hw::kAtomRows / share.columns);
  return times(e, arith::RemUIOp::create(e, thread, pairs), share.columns);
}

Value QuantizeColumns::blockInAtom() {
  Value pairs = e.i32(hw::kAtomRows / share.columns);
  return times(e, arith::DivUIOp::create(e, thread, pairs), share.blocks);
}

SmallVector<Value> QuantizeColumns::load(const BlockPlace &place, Value) {
  return loadColumn(place);
}

void QuantizeColumns::storeLine(Value line, ArrayRef<Value> words) {
  Value first = add(mul(line, e.i32(pitch())),
                    mul(blockInAtom(), e.i32(quantizer.blockBytes())));
  for (int64_t i = 0; i < perBlock * share.blocks; ++i)
    StoreSharedOp::create(e, quantizer.dataPiece(words, i), codes,
                          add(first, e.i32(i * access)));
}

void QuantizeColumns::storeCodes(const BlockPlace &, ArrayRef<Value> words) {
  storeLine(line(), words);
}

/// The codes of all threads of the CTA, whose tile begins at `origin`.
void QuantizeColumns::copyCodes(const BlockPlace &origin) {
  for (int64_t i = 0; i < perBlock * share.blocks * share.columns; ++i) {
    Value piece = add(thread, e.i32(i * threads()));
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
  Value stores = below(thread, e.i32(share.blocks * copiesOfAtom()));
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
  Type whole = e.getIntegerType(unsigned(share.blocks) * kScaleBits);
  Value stored = arith::TruncIOp::create(e, whole, bytes);
  stored =
      vector::FromElementsOp::create(e, VectorType::get({1}, whole), stored);
  if (share.blocks > 1)
    stored = vector::BitCastOp::create(
        e, VectorType::get({share.blocks}, e.getI8Type()), stored);
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

//===----------------------------------------------------------------------===//
// Threads with two columns
//===----------------------------------------------------------------------===//

int64_t blockscale::columnsOfThread(QuantizationAttr what,
                                    const QuantizedStorage &storage,
                                    bool isTogether) {
  bool isRandom = what.getRounding() == ElementRounding::Stochastic ||
                  what.getRounding() == ElementRounding::StochasticRS;
  bool areAlone = storage.scale && storage.rowTile == 1 &&
                  storage.tileBlocks == 1 &&
                  storage.block <= (isRandom ? 16 : 32);
  bool areHalves = what.getX().getIntOrFloatBitWidth() == 16;
  return areAlone && areHalves && !isTogether ? 2 : 1;
}

/// Rows of memory that begin with a pair each.
SmallVector<Value> QuantizeColumns::loadPairs(const BlockPlace &place) {
  Type type = cast<GlobalType>(arguments.x.getType()).getElementType();
  Value pitch = wide(arguments.rows);
  Value row = add(mul(wide(place.matrix), wide(arguments.k)),
                  mul(wide(place.block), wide(storage.block)));
  Value first = add(mul(row, pitch), wide(place.row));
  SmallVector<Value> pairs;
  for (int64_t i = 0; i < storage.block; ++i)
    pairs.push_back(LoadRowOp::create(
        e, VectorType::get({2}, type), arguments.x,
        add(first, mul(pitch, wide(i))), e.i32(2), /*stride=*/Value(),
        /*aligned=*/true));
  return pairs;
}

/// The same, number by number.
SmallVector<Value> QuantizeColumns::loadApart(const BlockPlace &place,
                                              Value hasNext) {
  BlockPlace next = place;
  next.row = add(place.row, e.i32(1));
  if (hasNext)
    next.row = select(e, hasNext, next.row, place.row);
  SmallVector<Value> left = loadColumn(place), right = loadColumn(next), pairs;
  for (auto [one, other] : llvm::zip_equal(left, right))
    pairs.push_back(vector::FromElementsOp::create(
        e, VectorType::get({2}, one.getType()), ValueRange{one, other}));
  return pairs;
}

std::array<SmallVector<Value>, 2>
QuantizeColumns::loadPair(const BlockPlace &place, Value hasNext) {
  SmallVector<Value> pairs;
  if (auto rows = dyn_cast<AffineConstantExpr>(storage.rows)) {
    pairs =
        rows.getValue() % 2 == 0 ? loadPairs(place) : loadApart(place, hasNext);
  } else {
    Value isEven = arith::CmpIOp::create(
        e, arith::CmpIPredicate::eq,
        arith::RemUIOp::create(e, arguments.rows, e.i32(2)), e.i32(0));
    Type type = cast<GlobalType>(arguments.x.getType()).getElementType();
    SmallVector<Type> types(storage.block, VectorType::get({2}, type));
    auto branch = scf::IfOp::create(e, types, isEven, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(e, loadPairs(place));
    e.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(e, loadApart(place, hasNext));
    pairs = llvm::to_vector_of<Value>(branch.getResults());
  }
  std::array<SmallVector<Value>, 2> columns;
  for (Value pair : pairs)
    for (int64_t i = 0; i < 2; ++i)
      columns[i].push_back(vector::ExtractOp::create(e, pair, i));
  return columns;
}

/// Whether the column behind that of `place` is there; null if it always is.
Value QuantizeColumns::nextColumn(const BlockPlace &place) {
  auto rows = dyn_cast<AffineConstantExpr>(storage.rows);
  if (rows && rows.getValue() % 2 == 0)
    return {};
  return below(add(place.row, e.i32(1)), arguments.rows);
}

Value QuantizeColumns::quantizeShare(const BlockPlace &place,
                                     Value hasNextBlock) {
  return ifInside(place, [&] {
    Value hasNext = nextColumn(place), first = firstElement(place);
    SmallVector<LoadedBlock> blocks(share.columns * share.blocks);
    for (int64_t block = 0; block < share.blocks; ++block) {
      BlockPlace at = place;
      at.block = add(place.block, e.i32(block));
      if (block > 0 && hasNextBlock)
        at.block = select(e, hasNextBlock, at.block, place.block);
      for (auto [column, numbers] : llvm::enumerate(loadPair(at, hasNext))) {
        LoadedBlock &loaded = blocks[int64_t(column) * share.blocks + block];
        loaded.loaded = numbers;
        loaded.first = add(first, wide(block * storage.block));
        if (column > 0)
          loaded.first = add(loaded.first, wide(arguments.k));
        if (column > 0)
          loaded.isThere = hasNext;
        if (block > 0 && hasNextBlock)
          loaded.isThere =
              loaded.isThere
                  ? arith::AndIOp::create(e, loaded.isThere, hasNextBlock)
                        .getResult()
                  : hasNextBlock;
      }
    }
    QuantizedBlocks quantized = quantizeLoaded(place, blocks);
    ArrayRef<Words> rest = quantized.words;
    for (int64_t i = 0; i < share.columns; ++i) {
      Words words;
      for (const Words &each : rest.take_front(share.blocks))
        words.append(each);
      rest = rest.drop_front(share.blocks);
      storeLine(add(line(), e.i32(i)), words);
    }
    return quantized.scales;
  });
}

void QuantizeColumns::storeShare(Value scales) {
  constexpr int64_t kScaleBits = 8;
  for (int64_t i = 0; i < share.columns; ++i) {
    Value bytes = i == 0 ? scales
                         : arith::ShRUIOp::create(
                               e, scales, e.i32(i * share.blocks * kScaleBits))
                               .getResult();
    storeScales({e.i32(0), add(line(), e.i32(i)), blockInAtom()}, bytes);
  }
}

/// Numbers of CTAs are those of atoms.
void QuantizeColumns::buildCta() {
  if (share.columns == 1)
    return QuantizeBody::buildCta();
  Value atom = mul(ctaNumber(), e.i32(hw::kAtomBytes));
  Value inAtom = add(mul(blockInAtom(), e.i32(hw::kAtomRows)), line());
  BlockPlace place = placeBy(digits(), add(atom, inAtom));
  storeShare(quantizeShare(place, /*hasNextBlock=*/Value()));
  gpu::BarrierOp::create(e);
  copyCodes(
      {place.matrix, sub(place.row, line()), sub(place.block, blockInAtom())});
  copyScales(atom, /*there=*/Value());
}
