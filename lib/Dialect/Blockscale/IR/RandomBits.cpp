//===- RandomBits.cpp - random bits as cvt.rs takes them ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/RandomBits.h"

#include <cmath>

using namespace mlir;
using namespace blockscale;

/// Elements that have their bits from one word.
static constexpr int64_t kWordElements = kRandomGroup * kWordGroups;

static Value wide(Emitter &e, uint64_t value) {
  return arith::ConstantIntOp::create(e, e.getI64Type(),
                                      static_cast<int64_t>(value));
}

/// Where the words of a seed begin: neighbouring seeds, which are what callers
/// count, far from each other. The first output of SplitMix64.
static uint64_t startOf(uint64_t seed) {
  uint64_t state = seed + 0x9e3779b97f4a7c15;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  return state ^ (state >> 31);
}

/// Word `number`, an i64, past a state.
static Value randomWord(Emitter &e, uint64_t start, Value number) {
  // wyrand of Wang Yi's wyhash, which is in the public domain: both halves of
  // one product of 64 bits.
  constexpr uint64_t kStep = 0xa0761d6478bd642f, kOther = 0xe7037ed1a0b428db;
  Value state =
      arith::AddIOp::create(e, arith::MulIOp::create(e, number, wide(e, kStep)),
                            wide(e, start + kStep));
  auto product = arith::MulUIExtendedOp::create(
      e, state, arith::XOrIOp::create(e, state, wide(e, kOther)));
  return arith::XOrIOp::create(e, product.getHigh(), product.getLow());
}

/// What the lower half of a word is multiplied by for one of its groups. Of two
/// groups factors differ by an odd number, or twice one: so any two are as
/// independent as the halves.
static uint32_t factorOf(int64_t group) {
  auto factor = static_cast<uint32_t>(group);
  for (int64_t i = 0; i < group; ++i)
    factor *= 0x9e3779b1;
  return factor;
}

SmallVector<Value> blockscale::sharedRandomWords(Emitter &e, uint64_t seed,
                                                 Value first, int64_t count) {
  SmallVector<Value> words;
  Value number =
      arith::ShRUIOp::create(e, first, wide(e, llvm::Log2_64(kWordElements)));
  uint64_t start = startOf(seed);
  for (int64_t word = 0; word < count / kWordElements; ++word)
    words.push_back(
        randomWord(e, start, arith::AddIOp::create(e, number, wide(e, word))));
  return words;
}

SmallVector<Value> blockscale::randomGroups(Emitter &e, Value upper,
                                            Value lower) {
  // That of the first is 0.
  SmallVector<Value> groups = {upper};
  for (int64_t group = 1; group < kWordGroups; ++group) {
    Value own = arith::MulIOp::create(
        e, lower, e.i32(static_cast<int32_t>(factorOf(group))));
    groups.push_back(arith::AddIOp::create(e, own, upper));
  }
  return groups;
}

int64_t blockscale::firstRandomBit(int64_t place, unsigned bits) {
  // PTX names the elements from the last to the first: of 4 bits the upper
  // bytes of both halves are those of the last two.
  return bits > 4 ? place / 2 * 16 : place % 2 * 16 + place / 2 * 8;
}

Value blockscale::sharedRandomFraction(Emitter &e, uint64_t seed, Value number,
                                       Type element) {
  auto is = [&](Value value, int64_t other) -> Value {
    return arith::CmpIOp::create(e, arith::CmpIPredicate::eq, value,
                                 e.index(other));
  };
  Value at = arith::IndexCastUIOp::create(e, e.getI64Type(),
                                          e.quotient(number, kWordElements));
  Value word = randomWord(e, startOf(seed), at);
  Value upper = arith::TruncIOp::create(
      e, e.getI32Type(), arith::ShRUIOp::create(e, word, wide(e, 32)));
  Value lower = arith::TruncIOp::create(e, e.getI32Type(), word);
  Value group = e.remainder(e.quotient(number, kRandomGroup), kWordGroups);
  Value place = e.remainder(number, kRandomGroup);
  unsigned bits = element.getIntOrFloatBitWidth();
  Value factor = e.i32(0), shift = e.i32(0);
  for (int64_t i = 1; i < kWordGroups; ++i)
    factor = select(e, is(group, i), e.i32(static_cast<int32_t>(factorOf(i))),
                    factor);
  for (int64_t i = 1; i < kRandomGroup; ++i)
    shift = select(e, is(place, i), e.i32(firstRandomBit(i, bits)), shift);
  Value random =
      arith::AddIOp::create(e, arith::MulIOp::create(e, lower, factor), upper);
  int64_t taken = takenRandomBits(bits);
  random = arith::AndIOp::create(e, arith::ShRUIOp::create(e, random, shift),
                                 e.i32((1 << taken) - 1));
  return arith::MulFOp::create(
      e, arith::UIToFPOp::create(e, e.getF32Type(), random),
      e.f32(std::ldexp(1.0f, -static_cast<int>(taken))));
}
