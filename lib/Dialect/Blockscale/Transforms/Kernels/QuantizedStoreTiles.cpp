//===- QuantizedStoreTiles.cpp - D in tiles of several threads or blocks ===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedStore.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

/// Rows that D does not have do not count.
Value QuantizedStore::largestOf(Emitter &e, ArrayRef<Part> parts,
                                Together together) {
  BlockQuantizer quantizer = quantizerAt(e);
  Value largest;
  for (const Part &each : parts) {
    Value own = quantizer.largestOf(each.elements);
    if (storage.rowTile > 1)
      own = arith::SelectOp::create(
          e, isBelow(e, e.i32(0), each.fragment.count), own, e.f32(0));
    if (largest)
      own = e.fromBits(arith::MaxUIOp::create(e, e.bits(largest), e.bits(own)));
    largest = own;
  }
  if (!together)
    return largest;
  return e.fromBits(
      together(e, e.bits(largest), gpu::AllReduceOperation::MAXUI));
}

SmallVector<std::optional<BlockScaling>>
QuantizedStore::comparedScalings(Emitter &e, ArrayRef<Part> parts,
                                 Value largest, Together together) {
  SmallVector<std::optional<BlockScaling>> scalings(parts.size());
  BlockQuantizer quantizer = quantizerAt(e, together);
  bool areAlone = !together && parts.size() == 1;
  if (areAlone || !quantizer.comparesErrors())
    return scalings;
  // What does not count has no error: a 0 is exact under any scale but a NaN.
  SmallVector<Value> elements;
  for (const Part &each : parts) {
    Value isInside = isBelow(e, e.i32(0), each.fragment.count);
    for (Value element : each.elements)
      elements.push_back(
          arith::SelectOp::create(e, isInside, e.widen(element), e.f32(0)));
  }
  BlockScaling all = quantizer.scalingOf(elements, largest, factor, b.always());
  size_t count = all.codes.size() / parts.size();
  for (auto [i, scaling] : llvm::enumerate(scalings)) {
    scaling = all;
    scaling->codes =
        SmallVector<Value>(ArrayRef(all.codes).slice(i * count, count));
  }
  return scalings;
}

/// Plain scales have no padding, so that whoever is outside of D does nothing.
void QuantizedStore::storePart(Emitter &e, const Part &each, const Tile &tile) {
  auto blocksOfPart = [&] {
    auto elements = llvm::map_to_vector(
        each.elements, [&](Value one) { return e.widen(one); });
    SmallVector<SmallVector<Value>> blocks;
    for (ArrayRef<Value> rest = elements; !rest.empty();
         rest = rest.drop_front(storage.block))
      blocks.emplace_back(rest.take_front(storage.block));
    return blocks;
  };
  if (storage.scale)
    return storeIfThere(
        e, each.fragment, blocksOf(int64_t(each.elements.size())),
        [&](const BlockPlace &place) {
          return storeBlocks(e, blocksOfPart(), &tile, place);
        },
        /*areAlike=*/true);
  Value isInside = isBelow(e, e.i32(0), each.fragment.count);
  auto condition = scf::IfOp::create(e, isInside);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  BlockPlace place = placeOf(e, each.fragment);
  storePlain(e, place, storeBlocks(e, blocksOfPart(), &tile, place));
}

SmallVector<QuantizedStore::Part>
QuantizedStore::readAgain(ArrayRef<Part> parts) {
  // What is left is for addresses, and for what makes codes.
  constexpr int64_t kOthers = 40;
  int64_t ofWord = kWordBits / what.getX().getIntOrFloatBitWidth(), numbers = 0;
  for (const Part &each : parts)
    numbers += int64_t(each.elements.size());
  SmallVector<Part> again(parts);
  if (ofWord == 1 ||
      numbers + numbers / ofWord <= frame.registersOfStorer() - kOthers)
    return again;
  for (Part &each : again) {
    auto type = VectorType::get({int64_t(each.elements.size())}, what.getX());
    each.elements = numbersOf(wordsKnownFromHere(
        b, vector::FromElementsOp::create(b, type, each.elements)));
  }
  return again;
}

void QuantizedStore::storeParts(ArrayRef<Part> parts, Together together) {
  Emitter e(b.getLoc(), b);
  Value largest = largestOf(e, parts, together);
  SmallVector<std::optional<BlockScaling>> scalings =
      comparedScalings(e, parts, largest, together);
  for (auto [each, scaling] : llvm::zip_equal(readAgain(parts), scalings))
    storePart(e, each, {largest, scaling});
}

/// Numbers take registers, those of C that are loaded ahead beside them, and
/// where errors are compared these and codes under two scales.
bool QuantizedStore::makesPartsAgain(KernelFrame &frame) {
  constexpr int64_t kMostKept = 128, kMostBesideOthers = 64;
  if (!frame.keepsTiles() || frame.bringsRows())
    return false;
  QuantizationAttr what = *frame.op.getQuantization();
  bool compares =
      what.getRule() == ScaleRule::MinError && !largestDecides(what.getD());
  bool hasOthers = compares || frame.op.getC();
  return what.getD().getKTile() > (hasOthers ? kMostBesideOthers : kMostKept);
}

ValueRange QuantizedStore::forEachPart(
    Emitter &e, int64_t count, ValueRange initial,
    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, b.constant(0), b.constant(count),
                                 b.constant(1), initial);
  OpBuilder::InsertionGuard guard(b), inside(e);
  b.setInsertionPointToStart(loop.getBody());
  e.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!initial.empty())
    scf::YieldOp::create(b, next);
  return loop.getResults();
}

std::optional<BlockScaling>
QuantizedStore::comparedScaling(Emitter &e, int64_t count,
                                function_ref<Part(Value)> part, Value largest,
                                Together together) {
  using Errors = BlockQuantizer::Errors;
  BlockQuantizer quantizer = quantizerAt(e, together);
  if (!quantizer.comparesErrors())
    return std::nullopt;
  return quantizer.scalingOfParts(
      largest, factor, [&](function_ref<Errors(ArrayRef<Value>)> errorsOf) {
        ValueRange sums = forEachPart(
            e, count, {e.i32(0), e.i32(0)},
            [&](Value index, ValueRange carried) -> SmallVector<Value> {
              Part each = part(index);
              Value isInside = isBelow(e, e.i32(0), each.fragment.count);
              Errors found = errorsOf(llvm::map_to_vector(
                  each.elements, [&](Value one) { return e.widen(one); }));
              for (auto [error, before] : llvm::zip_equal(found, carried))
                error =
                    sum(e, before,
                        arith::SelectOp::create(e, isInside, error, e.i32(0)));
              return {found[0], found[1]};
            });
        return Errors{sums[0], sums[1]};
      });
}

void QuantizedStore::storePartsAgain(int64_t count,
                                     function_ref<Part(Value)> part,
                                     Together together) {
  Emitter e(b.getLoc(), b);
  Value largest = forEachPart(
      e, count, e.i32(0),
      [&](Value index, ValueRange carried) -> SmallVector<Value> {
        Value own = largestOf(e, part(index), /*together=*/nullptr);
        return {arith::MaxUIOp::create(e, carried.front(), e.bits(own))};
      })[0];
  if (together)
    largest = together(e, largest, gpu::AllReduceOperation::MAXUI);
  Tile tile{e.fromBits(largest), std::nullopt};
  tile.scaling = comparedScaling(e, count, part, tile.largest, together);
  if (!tile.scaling)
    tile.scaling = quantizerAt(e).scalingOf({}, tile.largest, factor);
  forEachPart(e, count, {}, [&](Value index, ValueRange) {
    storePart(e, part(index), tile);
    return SmallVector<Value>();
  });
}
