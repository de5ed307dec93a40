//===- ChunkPlanes.cpp - units of several chunks at once ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Four words that have one unit of each chunk choose for all of these chunks
// by a few logical operations. Units of 4 bits lie in the nibbles of such
// words, eight chunks in each; of 6 and 8 bits in their bytes, even chunks
// apart from odd ones. On the way there and back bytes of pairs of chunks
// are brought together.

#include "ChunkPlanes.h"
#include "WordBits.h"
#include "llvm/ADT/STLExtras.h"

#include <array>

using namespace mlir;
using namespace blockscale;

namespace {

constexpr int64_t kWordBits = 32, kByteBits = 8, kNibbleBits = 4, kUnits = 4;

/// One unit of each chunk, or what is known of one, in fields of a word.
using Units = std::array<Value, kUnits>;

/// What is kept of the chunks of four words, and in the upper four bits of
/// each field a nibble of metadata.
struct Kept {
  Value first, second, nibbles;
};

class Planes : WordBits {
public:
  Planes(Emitter &e, int64_t unitBits, int64_t magnitude)
      : WordBits(e), unitBits(unitBits),
        fieldBits(unitBits == kNibbleBits ? kNibbleBits : kByteBits),
        magnitude(magnitude) {}

  CompressedChunks compress(ArrayRef<Value> words);

private:
  SmallVector<Value> planesOf(ArrayRef<Value> words);
  SmallVector<Value> wordsOf(ArrayRef<Value> planes);

  Value lowNibbles(Value even, Value odd);
  Value highNibbles(Value even, Value odd);
  Value unitAt(ArrayRef<Value> planes, int64_t bit);
  void putUnit(SmallVectorImpl<Value> &planes, int64_t bit, Value unit);

  Value usedFields(Value units);
  Kept keptOf(Units units);
  CompressedChunks compressNibbles(ArrayRef<Value> planes);
  CompressedChunks compressBytes(ArrayRef<Value> planes);

  /// Every field of a word with `bits`.
  static int64_t inFields(int64_t bits, int64_t width) {
    int64_t all = 0;
    for (int64_t at = 0; at < kWordBits; at += width)
      all |= bits << at;
    return all;
  }
  int64_t inFields(int64_t bits) const { return inFields(bits, fieldBits); }
  /// The lowest `count` bits of bytes.
  Value lowBits(Value bytes, int64_t count) {
    return bitAnd(bytes, inFields((int64_t(1) << count) - 1, kByteBits));
  }

  int64_t unitBits, fieldBits, magnitude;
};

} // namespace

//===----------------------------------------------------------------------===//
// Bytes of pairs of chunks
//===----------------------------------------------------------------------===//

/// Of four pairs of chunks the bytes with the same number in one word, as many
/// words as a pair has bytes.
SmallVector<Value> Planes::planesOf(ArrayRef<Value> words) {
  int64_t halvesOfPair = int64_t(words.size()) / 2;
  SmallVector<Value> planes;
  for (int64_t half = 0; half < halvesOfPair; ++half) {
    auto halvesOf = [&](int64_t pair) {
      int64_t one = pair * halvesOfPair + half, other = one + halvesOfPair;
      int64_t byte = one % 2 * 2, otherByte = 4 + other % 2 * 2;
      return bytesOf(words[one / 2], words[other / 2],
                     {byte, otherByte, byte + 1, otherByte + 1});
    };
    Value upper = halvesOf(0), lower = halvesOf(2);
    planes.push_back(bytesOf(upper, lower, {0, 1, 4, 5}));
    planes.push_back(bytesOf(upper, lower, {2, 3, 6, 7}));
  }
  return planes;
}

/// Back again, of two, three or four bytes.
SmallVector<Value> Planes::wordsOf(ArrayRef<Value> planes) {
  auto joined = [&](Value even, Value odd) -> std::array<Value, 2> {
    return {bytesOf(even, odd, {0, 4, 1, 5}), bytesOf(even, odd, {2, 6, 3, 7})};
  };
  auto [low, high] = joined(planes[0], planes[1]);
  if (planes.size() == 2)
    return {low, high};
  if (planes.size() == 3) {
    Value middle = bytesOf(low, planes[2], {3, 5, 3, 5});
    return {bytesOf(low, planes[2], {0, 1, 4, 2}),
            bytesOf(middle, high, {0, 1, 4, 5}),
            bytesOf(high, planes[2], {6, 2, 3, 7})};
  }
  SmallVector<Value> words;
  auto [otherLow, otherHigh] = joined(planes[2], planes[3]);
  for (auto [one, other] : {std::pair(low, otherLow), {high, otherHigh}}) {
    words.push_back(bytesOf(one, other, {0, 1, 4, 5}));
    words.push_back(bytesOf(one, other, {2, 3, 6, 7}));
  }
  return words;
}

//===----------------------------------------------------------------------===//
// Units in fields
//===----------------------------------------------------------------------===//

/// The low nibbles of the bytes of two words, those of `even` below those of
/// `odd`.
Value Planes::lowNibbles(Value even, Value odd) {
  return bitOr(lowBits(even, kNibbleBits),
               left(lowBits(odd, kNibbleBits), kNibbleBits));
}

/// The same of the high ones.
Value Planes::highNibbles(Value even, Value odd) {
  constexpr int64_t kHigh = 0xf0f0f0f0;
  return bitOr(lowBits(right(even, kNibbleBits), kNibbleBits),
               bitAnd(odd, kHigh));
}

/// The units that begin at `bit` of the planes, in the lowest bits of bytes,
/// whose other bits are unspecified.
Value Planes::unitAt(ArrayRef<Value> planes, int64_t bit) {
  int64_t plane = bit / kByteBits, shift = bit % kByteBits;
  int64_t there = kByteBits - shift;
  Value units = right(planes[plane], shift);
  if (there >= unitBits)
    return units;
  return bitOr(lowBits(units, there),
               left(lowBits(planes[plane + 1], unitBits - there), there));
}

/// Adds units at `bit` of the planes.
void Planes::putUnit(SmallVectorImpl<Value> &planes, int64_t bit, Value unit) {
  size_t plane = size_t(bit / kByteBits);
  int64_t shift = bit % kByteBits, room = kByteBits - shift;
  auto put = [&](size_t number, Value part) {
    if (planes.size() == number)
      planes.push_back(part);
    else
      planes[number] = bitOr(planes[number], part);
  };
  put(plane, left(room < unitBits ? lowBits(unit, room) : unit, shift));
  if (room < unitBits)
    put(plane + 1, lowBits(right(unit, room), unitBits - room));
}

//===----------------------------------------------------------------------===//
// Which units stay
//===----------------------------------------------------------------------===//

/// The highest bit of fields whose units are in use.
Value Planes::usedFields(Value units) {
  int64_t highest = int64_t(1) << (fieldBits - 1);
  Value sum = add(bitAnd(units, inFields(magnitude & (highest - 1))),
                  inFields(highest - 1));
  if (magnitude & highest)
    sum = bitOr(sum, units);
  return bitAnd(sum, inFields(highest));
}

Kept Planes::keptOf(Units units) {
  int64_t highest = inFields(int64_t(1) << (fieldBits - 1));
  // The highest bits of fields, and whole units.
  Units used, all;
  for (auto [i, unit] : llvm::enumerate(units)) {
    used[i] = usedFields(unit);
    all[i] = mul(right(used[i], fieldBits - 1), (int64_t(1) << unitBits) - 1);
    unit = bitAnd(unit, all[i]);
  }
  // No more than two units of a chunk are in use. Of the middle ones that is
  // the second which has another in use before it.
  Value laterOne = bitAnd(units[1], all[0]),
        laterTwo = bitAnd(units[2], bitOr(all[0], all[1]));
  Value first = bitOr(bitOr(units[0], bitXor(units[1], laterOne)),
                      bitXor(units[2], laterTwo));
  Value second = bitOr(bitOr(units[3], laterOne), laterTwo);
  // The numbers of both, bit by bit. No unit is alone but beside the fourth,
  // and none at all has the first two.
  Value isLaterTwo = bitAnd(used[2], bitOr(used[0], used[1]));
  Value bits[] = {bitXor(used[1], bitAnd(used[1], used[0])),
                  bitXor(used[2], isLaterTwo), bitXor(isLaterTwo, highest),
                  bitOr(bitOr(used[3], used[2]), bitXor(used[0], used[1]))};
  Value nibbles = bits[3];
  for (int64_t i = 0; i < 3; ++i)
    nibbles = bitOr(nibbles, right(bits[i], 3 - i));
  return {first, second, nibbles};
}

CompressedChunks Planes::compressNibbles(ArrayRef<Value> planes) {
  // The first byte of a chunk has units 0 and 1.
  Units units;
  for (unsigned i = 0; i < 2; ++i) {
    units[2 * i] = lowNibbles(planes[i], planes[i + 2]);
    units[2 * i + 1] = highNibbles(planes[i], planes[i + 2]);
  }
  Kept kept = keptOf(units);
  return {wordsOf({lowNibbles(kept.first, kept.second),
                   highNibbles(kept.first, kept.second)}),
          kept.nibbles};
}

CompressedChunks Planes::compressBytes(ArrayRef<Value> planes) {
  SmallVector<Value> stored;
  std::array<Value, 2> nibbles;
  size_t bytesOfChunk = planes.size() / 2;
  for (size_t odd = 0; odd < 2; ++odd) {
    Units units;
    for (auto [i, unit] : llvm::enumerate(units))
      unit = unitAt(planes.slice(odd * bytesOfChunk, bytesOfChunk),
                    int64_t(i) * unitBits);
    Kept kept = keptOf(units);
    putUnit(stored, int64_t(2 * odd) * unitBits, kept.first);
    putUnit(stored, int64_t(2 * odd + 1) * unitBits, kept.second);
    nibbles[odd] = kept.nibbles;
  }
  return {wordsOf(stored), bitOr(right(nibbles[0], kNibbleBits), nibbles[1])};
}

CompressedChunks Planes::compress(ArrayRef<Value> words) {
  SmallVector<Value> planes = planesOf(words);
  return unitBits == kNibbleBits ? compressNibbles(planes)
                                 : compressBytes(planes);
}

CompressedChunks blockscale::compressChunks(Emitter &emitter,
                                            ArrayRef<Value> words,
                                            int64_t unitBits,
                                            int64_t magnitude) {
  return Planes(emitter, unitBits, magnitude).compress(words);
}
