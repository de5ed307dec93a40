//===- EpilogueMath.cpp - what becomes of the sums of a product -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpilogueMath.h"
#include "LoadedNumbers.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/GivenScales.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace blockscale;

EpilogueMath::EpilogueMath(KernelFrame &frame, int64_t width, SumRows rows)
    : frame(frame), b(frame.b), width(width),
      isSwapped(frame.isSwapped() && rows == SumRows::OfInstruction),
      vectorType(VectorType::get({width}, b.getF32Type())),
      resultType(
          VectorType::get({width / frame.sumsOfElement()}, b.getF32Type())) {}

unsigned EpilogueMath::mostValues(KernelFrame &frame) {
  bool hasScalesAlong =
      frame.isSwapped() && !frame.bringsRows()
          ? frame.op.getRowScales() && !frame.op.getRowBlock()
          : frame.op.getColumnScales() && !frame.op.getColumnBlock();
  bool hasTerms = static_cast<bool>(frame.op.getRowTerms());
  return Epilogue(frame.op).mostValues() + hasScalesAlong + hasTerms;
}

int64_t EpilogueMath::widthOf(KernelFrame &frame) {
  for (Value memory : {Value(frame.op.getD()), Value(frame.op.getC())})
    if (auto map = memory ? dyn_cast<TensorMapType>(memory.getType())
                          : TensorMapType())
      return map.getBox().front();
  int64_t sums = frame.sumsOfElement();
  if (frame.quantizes() && !frame.keepsTiles())
    return sums * elementsTogether(frame.op.getQuantization()->getD());
  auto values = unsigned(llvm::divideCeil(mostValues(frame), sums));
  return frame.geometry.epilogueColumns(values);
}

EpilogueFragment EpilogueMath::fragmentAt(TilePosition position, Value row,
                                          Value column) {
  EpilogueFragment fragment;
  fragment.batch = position.batch;
  Extent rows = rowsAround(position);
  Extent columns = columnsAround(position);
  fragment.row = frame.within(rows, b.add(firstRow(position), row));
  fragment.column = frame.within(columns, b.add(firstColumn(position), column));
  fragment.rowEnd = rows.end;
  fragment.count = countOf(fragment, columns);
  return fragment;
}

Value EpilogueMath::countOf(const EpilogueFragment &fragment, Extent columns) {
  Value inside =
      b.compare(arith::CmpIPredicate::slt, fragment.row, fragment.rowEnd);
  return b.select(inside, b.sub(columns.end, fragment.column), b.constant(0));
}

EpilogueFragment EpilogueMath::behind(KernelBuilder &b, EpilogueFragment first,
                                      int64_t distance) {
  first.column = b.add(first.column, b.constant(distance));
  first.count = b.sub(first.count, b.constant(distance));
  return first;
}

EpilogueFragment EpilogueMath::known(EpilogueFragment fragment,
                                     Extent columns) {
  SmallVector<Value> numbers{fragment.row, fragment.column};
  bool hasBatch = frame.isGrouped() || !hasOneBatch();
  if (hasBatch)
    numbers.push_back(fragment.batch);
  numbers = knownFromHere(b, numbers);
  fragment.row = numbers[0];
  fragment.column = numbers[1];
  fragment.batch = hasBatch ? numbers[2] : b.constant(0);
  fragment.count = countOf(fragment, columns);
  return fragment;
}

EpilogueFragment EpilogueMath::inResult(EpilogueFragment fragment) {
  if (!frame.hasPairs())
    return fragment;
  fragment.column = b.div(fragment.column, 2);
  // It is negative where the fragment lies behind D.
  fragment.count =
      b.createOrFold<arith::ShRSIOp>(fragment.count, b.constant(1));
  return fragment;
}

Value EpilogueMath::splat(Value scalar) {
  if (!scalar)
    return {};
  return vector::BroadcastOp::create(b, vectorType, scalar);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value EpilogueMath::loadScalar(Value memory, Value index, Value count) {
  if (!index.getType().isInteger(64))
    index = b.toI64(index);
  return vector::ExtractOp::create(
      b, loadNumbers(b, memory, 1, index, count, Value()), 0);
}

std::pair<Value, Value> EpilogueMath::place(const EpilogueFragment &fragment) {
  Value n = b.toI64(b.div(frame.op.getN(), frame.sumsOfElement()));
  Value m = b.toI64(frame.op.getM());
  Value row = b.toI64(isSwapped ? fragment.column : fragment.row);
  Value column = b.toI64(isSwapped ? fragment.row : fragment.column);
  Value firstRow = row;
  if (!frame.isGrouped())
    firstRow = b.add(b.mul(b.toI64(fragment.batch), m), row);
  Value offset = b.add(b.mul(firstRow, n), column);
  return {offset, isSwapped ? n : Value()};
}

Value EpilogueMath::converted(Value value) {
  Type element = resultElement(frame.op.getD().getType());
  if (element == cast<VectorType>(value.getType()).getElementType())
    return value;
  return arith::TruncFOp::create(b, resultType.clone(element), value);
}

void EpilogueMath::store(Value value, const EpilogueFragment &fragment) {
  value = converted(value);
  EpilogueFragment inD = inResult(fragment);
  auto [offset, stride] = place(inD);
  StoreRowOp::create(b, value, frame.op.getD(), offset, inD.count, stride);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

void EpilogueMath::prepareKernel() {
  if (hasOneBatch())
    loadScale(b.constant(0));
}

void EpilogueMath::prepareTile(TilePosition tile) {
  if (!hasOneBatch())
    loadScale(tile.batch);
}

void EpilogueMath::prepareRow(TilePosition tile, Value row) {
  RowScales scales = scalesOf(!isSwapped);
  if (!scales.memory || scales.block)
    return;
  Extent rows = rowsAround(tile);
  row = frame.within(rows, b.add(firstRow(tile), row));
  Value inside = b.compare(arith::CmpIPredicate::slt, row, rows.end);
  if (isGathered(scales))
    std::tie(row, inside) = gatheredRow(row, inside);
  rowScale = loadScalar(scales.memory,
                        scaleIndex(scales, tile.batch, row, rowsOfMatrix()),
                        arith::ExtUIOp::create(b, b.getI32Type(), inside));
}

std::pair<Value, Value> EpilogueMath::gatheredRow(Value row, Value isThere) {
  Value count = arith::ExtUIOp::create(b, b.getI32Type(), isThere);
  Value loaded = LoadRowOp::create(b, VectorType::get({1}, b.getI32Type()),
                                   frame.op.getRowNumbers(), b.toI64(row),
                                   count, /*stride=*/Value());
  Value number = vector::ExtractOp::create(b, loaded, 0);
  // Numbers below 0 are large ones without a sign.
  Value isRow =
      b.compare(arith::CmpIPredicate::ult, number, frame.op.getTokens());
  return {number, arith::AndIOp::create(b, isThere, isRow)};
}

void EpilogueMath::loadScale(Value batch) {
  scale = frame.op.getAlpha();
  for (auto [i, memory] : llvm::enumerate(frame.op.getTensorScales())) {
    bool isOfAll = i < frame.op.getSharedScales();
    Value factor =
        loadScalar(memory, isOfAll ? b.constant(0) : batch, b.constant(1));
    scale = scale ? arith::MulFOp::create(b, scale, factor) : factor;
  }
}

EpilogueMath::RowScales EpilogueMath::scalesOf(bool isA) {
  KernelMatmulOp op = frame.op;
  auto isOfOne = [&](int64_t block) {
    return block != 0 && frame.isGroupedAlongK();
  };
  if (isA)
    return {op.getRowScales(), int64_t(op.getRowGroup()),
            int64_t(op.getRowBlock()),
            frame.isGrouped() || isOfOne(int64_t(op.getRowBlock()))};
  return {op.getColumnScales(), int64_t(op.getColumnGroup()),
          int64_t(op.getColumnBlock()), isOfOne(int64_t(op.getColumnBlock()))};
}

Value EpilogueMath::scaleIndex(const RowScales &scales, Value batch, Value row,
                               Value rows) {
  Value index = b.toI64(b.div(row, scales.group));
  if (hasOneBatch() || scales.isOfAll)
    return index;
  Value ofMatrix = b.toI64(b.ceilDiv(rows, scales.group));
  return b.add(b.mul(b.toI64(batch), ofMatrix), index);
}

Value EpilogueMath::loadScalesAlong(const EpilogueFragment &fragment) {
  RowScales scales = scalesOf(isSwapped);
  if (!scales.memory || scales.block)
    return {};
  Value index =
      scaleIndex(scales, fragment.batch, fragment.column, columnsOfMatrix());
  // Fragments start at multiples of their width.
  if (scales.group % width == 0)
    return splat(loadScalar(scales.memory, index, fragment.count));
  Value count = fragment.count;
  if (scales.group > 1) {
    Value none = b.constant(0);
    Value isAny = b.compare(arith::CmpIPredicate::sgt, count, none);
    count = b.select(isAny, b.ceilDiv(count, scales.group), none);
  }
  return spread(loadNumbers(b, scales.memory, width / scales.group, index,
                            count, Value()),
                scales.group);
}

Value EpilogueMath::spread(Value values, int64_t share) {
  if (share == 1)
    return values;
  SmallVector<int64_t> owners;
  for (int64_t i = 0; i < width; ++i)
    owners.push_back(i / share);
  return vector::ShuffleOp::create(b, values, values, owners);
}

EpilogueMath::TileScales
EpilogueMath::tileScales(const RowScales &scales,
                         const EpilogueFragment &fragment, Value row,
                         Value rows) {
  TileScales result;
  if (!scales.block)
    return result;
  result.memory = scales.memory;
  result.length = b.ceilDiv(frame.op.getK(), scales.block);
  result.pitch = b.toI64(result.length);
  result.first =
      b.mul(scaleIndex(scales, fragment.batch, row, rows), result.pitch);
  result.blocks = scales.block / frame.promotionBlock();
  if (!frame.isGroupedAlongK())
    return result;
  // Groups begin with a tile.
  result.first =
      b.add(result.first, b.toI64(b.div(fragment.kGroup.first, scales.block)));
  result.length = frame.partsOfK(fragment.kGroup.size, scales.block);
  return result;
}

EpilogueMath::TileScales
EpilogueMath::tileScalesOfRow(const EpilogueFragment &fragment) {
  RowScales scales = scalesOf(!isSwapped);
  Value row = fragment.row;
  auto isInside = [&] {
    return b.compare(arith::CmpIPredicate::slt, row, fragment.rowEnd);
  };
  Value inside;
  if (scales.memory && isGathered(scales))
    std::tie(row, inside) = gatheredRow(row, isInside());
  TileScales result = tileScales(scales, fragment, row, rowsOfMatrix());
  if (!inside)
    inside = isInside();
  result.count = arith::ExtUIOp::create(b, b.getI32Type(), inside);
  return result;
}

EpilogueMath::TileScales EpilogueMath::tileScalesOfRow(TilePosition tile,
                                                       Value row) {
  EpilogueFragment fragment;
  Extent rows = rowsAround(tile);
  fragment.row = frame.within(rows, b.add(firstRow(tile), row));
  fragment.rowEnd = rows.end;
  fragment.batch = tile.batch;
  fragment.kGroup = tile.kGroup;
  return tileScalesOfRow(fragment);
}

EpilogueMath::TileScales
EpilogueMath::tileScalesAlong(const EpilogueFragment &fragment) {
  RowScales scales = scalesOf(isSwapped);
  TileScales result =
      tileScales(scales, fragment, fragment.column, columnsOfMatrix());
  result.count = fragment.count;
  // One for all columns is for the most that there may be.
  if (scales.group % width == 0 || scales.group == kMaxProductSize) {
    result.share = width;
    return result;
  }
  result.share = scales.group;
  result.rows = width / scales.group;
  result.count = b.ceilDiv(result.count, scales.group);
  return result;
}

EpilogueMath::TileScales EpilogueMath::tileScalesAlong(TilePosition tile,
                                                       Value column) {
  EpilogueFragment fragment;
  Extent columns = columnsAround(tile);
  fragment.batch = tile.batch;
  fragment.kGroup = tile.kGroup;
  fragment.column = frame.within(columns, b.add(firstColumn(tile), column));
  Value none = b.constant(0);
  Value inside =
      b.compare(arith::CmpIPredicate::slt, fragment.column, columns.end);
  fragment.count = b.select(inside, b.sub(columns.end, fragment.column), none);
  return tileScalesAlong(fragment);
}

/// Where the scales of a block begin, and how many are there.
std::pair<Value, Value> EpilogueMath::placeOf(const TileScales &scales,
                                              Value block, Value isThere) {
  return {b.add(scales.first, b.toI64(b.div(block, scales.blocks))),
          b.select(isThere, scales.count, b.constant(0))};
}

/// The type that passes from block to block as what the vector has: LLVM has no
/// floats of 8 bits.
static VectorType passedType(VectorType type) {
  if (type.getElementTypeBitWidth() > 8)
    return type;
  return type.clone(IntegerType::get(type.getContext(), 8));
}

SmallVector<Value> EpilogueMath::loadTileCodes(const TileScales &scales,
                                               Value number, int64_t size,
                                               Value isThere) {
  Value none = b.constant(0);
  Value hasAny = b.compare(arith::CmpIPredicate::sgt, scales.count, none);
  hasAny = b.createOrFold<arith::AndIOp>(hasAny, isThere);
  Value count = b.select(hasAny, b.sub(scales.length, number), none);
  Value codes = loadCodes(b, scales.memory, size,
                          b.add(scales.first, b.toI64(number)), count, Value());
  VectorType type = passedType(cast<VectorType>(codes.getType()));
  codes = b.createOrFold<arith::BitcastOp>(type, codes);
  SmallVector<Value> result;
  for (int64_t i = 0; i < size; ++i)
    result.push_back(vector::ExtractOp::create(b, codes, i));
  return result;
}

SmallVector<Value> EpilogueMath::tileScalesOfCodes(const TileScales &scales,
                                                   ValueRange codes) {
  Type element = cast<GlobalType>(scales.memory.getType()).getElementType();
  if (element.isUnsignedInteger() || isDecodedFactor(element))
    element = b.getI8Type();
  // One after the other: of bytes in a vector LLVM would make words of which
  // some parts were never written.
  SmallVector<Value> result;
  for (Value code : codes) {
    Value one = vector::FromElementsOp::create(
        b, VectorType::get({1}, code.getType()), code);
    one = b.createOrFold<arith::BitcastOp>(VectorType::get({1}, element), one);
    result.push_back(
        vector::ExtractOp::create(b, numbersOfCodes(b, scales.memory, one), 0));
  }
  return result;
}

Value EpilogueMath::loadTileScales(const TileScales &scales, Value block,
                                   Value isThere) {
  auto [index, count] = placeOf(scales, block, isThere);
  if (scales.rows == 1)
    return loadScalar(scales.memory, index, count);
  return spread(
      loadNumbers(b, scales.memory, scales.rows, index, count, scales.pitch),
      scales.share);
}

/// The bias runs along the fragment or is one number for it.
Value EpilogueMath::loadBias(const EpilogueFragment &fragment) {
  Value bias = frame.op.getBias();
  bool perColumn = frame.op.getBiasKind() == BiasKind::Column;
  // Each group has a bias of its own along the columns of D; rows are those of
  // all groups.
  auto place = [&](Value index) {
    index = b.toI64(index);
    bool hasGroups =
        frame.isGrouped() || frame.isMasked() || frame.isGroupedAlongK();
    if (!perColumn || !hasGroups)
      return index;
    Value n = b.toI64(frame.op.getN());
    return b.add(b.mul(b.toI64(fragment.batch), n), index);
  };
  if (perColumn == isSwapped) {
    Value inside =
        b.compare(arith::CmpIPredicate::slt, fragment.row, fragment.rowEnd);
    Value count = arith::ExtUIOp::create(b, b.getI32Type(), inside);
    return splat(loadScalar(bias, place(fragment.row), count));
  }
  Type element = cast<GlobalType>(bias.getType()).getElementType();
  return widenNumbers(b, LoadRowOp::create(b, vectorType.clone(element), bias,
                                           place(fragment.column),
                                           fragment.count, Value()));
}

/// The fragment as what is loaded behind C has it: which elements are there
/// would else be known for both, in more predicates than a thread has, beside
/// all of a block.
EpilogueFragment EpilogueMath::apart(EpilogueFragment fragment) {
  if (frame.quantizes() && frame.op.getC())
    fragment.count = knownFromHere(b, fragment.count).front();
  return fragment;
}

VectorType EpilogueMath::typeOfC() {
  return resultType.clone(
      cast<GlobalType>(frame.op.getC().getType()).getElementType());
}

Value EpilogueMath::loadCodesOfC(const EpilogueFragment &fragment) {
  EpilogueFragment inC = inResult(fragment);
  auto [offset, stride] = place(inC);
  return LoadRowOp::create(b, typeOfC(), frame.op.getC(), offset, inC.count,
                           stride);
}

Value EpilogueMath::loadC(const EpilogueFragment &fragment) {
  Value loaded = providedC ? providedC : loadCodesOfC(fragment);
  loaded = widenNumbers(b, loaded);
  Value beta = vector::BroadcastOp::create(b, resultType, frame.op.getBeta());
  return arith::MulFOp::create(b, loaded, beta);
}

Value EpilogueMath::part(Value values, bool isSecond) {
  if (!frame.hasPairs())
    return values;
  SmallVector<int64_t> numbers;
  for (int64_t i = isSecond; i < width; i += 2)
    numbers.push_back(i);
  return vector::ShuffleOp::create(b, values, values, numbers);
}

Value EpilogueMath::product(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::MulFOp::create(b, x, y);
}

/// The order of factors is that of D, whatever is swapped: the one of all sums
/// times the row's first, then the column's.
Value EpilogueMath::scaled(Value sum, const EpilogueFragment &fragment) {
  if (sum.getType() != vectorType)
    sum = arith::SIToFPOp::create(b, vectorType, sum);
  Value along = loadScalesAlong(fragment);
  Value first = isSwapped ? product(splat(scale), along)
                          : splat(product(scale, rowScale));
  Value second = isSwapped ? splat(rowScale) : along;
  return lessTerms(product(product(sum, first), second), fragment);
}

Value EpilogueMath::termIndex(bool isA, Value batch, Value term, Value row,
                              Value rows) {
  // The rows of all groups have one matrix of terms.
  bool isOfAll = hasOneBatch() || (isA && frame.isGrouped());
  Value line = term;
  if (!isOfAll)
    line = b.add(b.mul(b.toI64(batch), b.toI64(frame.op.getNumTerms())), line);
  return b.add(b.mul(line, b.toI64(rows)), b.toI64(row));
}

Value EpilogueMath::lessTerm(Value x, Value term,
                             const EpilogueFragment &fragment) {
  Value ofRow = frame.op.getRowTerms(), along = frame.op.getColumnTerms();
  bool isRowOfA = !isSwapped;
  if (!isRowOfA)
    std::swap(ofRow, along);
  Value inside =
      b.compare(arith::CmpIPredicate::slt, fragment.row, fragment.rowEnd);
  Value number = loadScalar(
      ofRow,
      termIndex(isRowOfA, fragment.batch, term, fragment.row, rowsOfMatrix()),
      arith::ExtUIOp::create(b, b.getI32Type(), inside));
  number = arith::NegFOp::create(b, product(frame.op.getAlpha(), number));
  Value numbers =
      LoadRowOp::create(b, vectorType, along,
                        termIndex(!isRowOfA, fragment.batch, term,
                                  fragment.column, columnsOfMatrix()),
                        fragment.count, /*stride=*/Value());
  return math::FmaOp::create(b, splat(number), numbers, x);
}

Value EpilogueMath::lessTerms(Value x, const EpilogueFragment &fragment) {
  if (!frame.op.getRowTerms())
    return x;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  };
  // One for each operand is common; what is more is a loop.
  constexpr int64_t kUnrolled = 2;
  std::optional<int64_t> known = KernelBuilder::known(frame.op.getNumTerms());
  if (known && *known <= kUnrolled) {
    for (int64_t term = 0; term < *known; ++term)
      x = lessTerm(x, constant(term), fragment);
    return x;
  }
  auto loop =
      scf::ForOp::create(b, constant(0), b.toI64(frame.op.getNumTerms()),
                         constant(1), ValueRange{x});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value next =
      lessTerm(loop.getRegionIterArg(0), loop.getInductionVar(), fragment);
  scf::YieldOp::create(b, next);
  return loop.getResult(0);
}

Value EpilogueMath::finish(Value sum, const EpilogueFragment &fragment) {
  // Exact sums of integers are the result as they are.
  if (!frame.quantizes() &&
      resultElement(frame.op.getD().getType()).isInteger())
    return sum;
  // Of a pair both are made where the first one is read.
  Value scaledSum, bias;
  auto valueOf = [&](EpilogueInput input) -> Value {
    switch (input) {
    case EpilogueInput::Product:
    case EpilogueInput::Up:
      if (!scaledSum)
        scaledSum = scaled(sum, fragment);
      return part(scaledSum, input == EpilogueInput::Up);
    case EpilogueInput::C:
      return loadC(fragment);
    case EpilogueInput::Bias:
    case EpilogueInput::UpBias:
      if (!bias)
        bias = loadBias(apart(fragment));
      return part(bias, input == EpilogueInput::UpBias);
    }
    llvm_unreachable("covered switch");
  };
  return Epilogue(frame.op).inlineAt(b, valueOf, resultType);
}

int64_t EpilogueMath::columnsOfPiece(int64_t kept) {
  // What is left is for addresses, and for what functions need for themselves.
  constexpr int64_t kLeastColumns = 8, kOthers = 40;
  int64_t sums = frame.sumsOfElement(),
          values = llvm::divideCeil(
              mostValues(frame) + Epilogue(frame.op).valuesOfFunctions(), sums),
          registers = frame.registersOfStorer() - kOthers - kept;
  int64_t columns = width;
  while (columns > kLeastColumns && columns * values > registers)
    columns /= 2;
  return columns;
}

EpilogueMath EpilogueMath::ofColumns(int64_t columns) {
  EpilogueMath math(*this);
  math.width = columns;
  math.vectorType = VectorType::get({columns}, b.getF32Type());
  math.resultType =
      VectorType::get({columns / frame.sumsOfElement()}, b.getF32Type());
  return math;
}

Value EpilogueMath::finishPieces(LoadSums load,
                                 const EpilogueFragment &fragment,
                                 int64_t kept) {
  int64_t columns = columnsOfPiece(kept);
  if (columns == width)
    return finish(load(0, width), fragment);
  EpilogueMath ofPiece = ofColumns(columns);
  int64_t size = ofPiece.resultType.getDimSize(0);
  SmallVector<Value> elements;
  for (int64_t first = 0; first < width; first += columns) {
    auto begin = int64_t(elements.size());
    auto places = llvm::to_vector(llvm::seq(begin, begin + size));
    if (providedC)
      ofPiece.provideC(
          vector::ShuffleOp::create(b, providedC, providedC, places));
    Value piece =
        ofPiece.finish(load(first, columns), behind(b, fragment, first));
    piece = vectorKnownFromHere(b, piece);
    for (int64_t i = 0; i < size; ++i)
      elements.push_back(vector::ExtractOp::create(b, piece, i));
  }
  return vector::FromElementsOp::create(b, resultType, elements);
}
