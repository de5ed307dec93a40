//===- SparseBody.cpp - bodies of kernels that compress and densify -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each thread has a word of metadata, which describes eight chunks of a row, in
// the order of tiles in memory, so that the accesses of a warp join. Codes of
// up to 8 bits are worked on four at a time, in the bytes of a word; the units
// of 4-bit codes in pairs are such bytes as they are.

#include "SparseSource.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

static_assert(hw::kMetadataTileRows % kElementwiseThreads == 0,
              "the rows of a tile, padding included, fill CTAs");

namespace {

constexpr int64_t kWordBits = 32, kChunks = 8, kNibbleBits = 4;

/// What kernels in both directions have.
class Body {
protected:
  Body(const SparseStorage &storage, Emitter &e,
       const SparseArguments &arguments)
      : storage(storage), e(e), arguments(arguments),
        dense(e, storage.dense, sizesOf(arguments.sizes)),
        sparse(e, storage.sparse, sizesOf(arguments.sizes)),
        info(hw::patternInfo(storage.pattern)) {}

  /// What a thread has.
  struct Piece {
    /// The row and the first byte of the word of metadata.
    BlockPlace place;
    /// Whether it is a row, and there are elements.
    Value isInside;
  };
  Piece pieceOf(Value number);
  Value denseOffset(const Piece &piece) {
    return lineOffset(dense, piece, denseBytes());
  }
  Value sparseOffset(const Piece &piece) {
    return lineOffset(sparse, piece, denseBytes() / hw::kSparseCompression);
  }
  Value metadataOffset(const Piece &piece) {
    return sparse.placeOffset(storage.metadata, piece.place, e.getI64Type());
  }

  int64_t bits() const { return storage.dense.data->globalBits; }
  int64_t unitBits() const { return bits() * int64_t(info.unit); }
  /// Of the elements of a thread.
  int64_t denseBytes() const {
    return elementsOfWord(storage.pattern) * bits() / 8;
  }
  bool isOneOfTwo() const { return info.chunk == 2; }
  /// The nibble that keeps one of two elements.
  int64_t nibbleOfTwo(unsigned kept) const {
    return int64_t(*hw::metadataNibble(storage.pattern, kept, 0));
  }

  Value bitAnd(Value x, int64_t mask) {
    return arith::AndIOp::create(e, x, e.i32(int32_t(mask)));
  }
  Value bitOr(Value x, Value y) { return arith::OrIOp::create(e, x, y); }
  Value add(Value x, int64_t y) {
    return arith::AddIOp::create(e, x, e.i32(int32_t(y)));
  }
  Value mul(Value x, int64_t y) {
    return arith::MulIOp::create(e, x, e.i32(y));
  }
  Value left(Value x, Value distance) {
    return arith::ShLIOp::create(e, x, distance);
  }
  Value right(Value x, Value distance) {
    return arith::ShRUIOp::create(e, x, distance);
  }
  Value left(Value x, int64_t distance) {
    return distance ? left(x, e.i32(distance)) : x;
  }
  Value right(Value x, int64_t distance) {
    return distance ? right(x, e.i32(distance)) : x;
  }
  Value isSet(Value x, int64_t mask) {
    return arith::CmpIOp::create(e, arith::CmpIPredicate::ne, bitAnd(x, mask),
                                 e.i32(0));
  }
  /// `x` times 2^n, n from the low bits at `bit` of a nibble, of which there
  /// are as many as `mask` has, times a power of two or 6.
  Value scaledPlace(Value nibble, int64_t bit, int64_t mask, int64_t factor);

  /// `width` bits of words from `bit` on, the bits above them unspecified.
  Value bitsAt(ArrayRef<Value> words, int64_t bit, int64_t width);
  /// Adds `width` bits at `bit`, of which no others are set, to words.
  void putBits(SmallVectorImpl<Value> &words, int64_t bit, int64_t width,
               Value value);

  const SparseStorage &storage;
  Emitter &e;
  const SparseArguments &arguments;
  StorageAccess dense, sparse;
  hw::SparsePatternInfo info;

private:
  static SmallVector<Value> sizesOf(const LaunchSizes &sizes) {
    return {sizes.rows, Value(), sizes.k, sizes.batch};
  }
  Value lineOffset(StorageAccess &access, const Piece &piece, int64_t bytes);
};

class Compress : Body {
public:
  Compress(const SparseStorage &storage, Emitter &e,
           const SparseArguments &arguments)
      : Body(storage, e, arguments) {}
  void build();

private:
  /// Two units that are kept, and the nibble that says which they are.
  struct Kept {
    Value units, nibble;
  };
  uint32_t places(int64_t bit) const;
  Value usedFields(Value word);
  Kept keptOfFields(Value word);
  Value bytesOf(Value left, Value right, ArrayRef<int64_t> order);
  Value lowNibbles(Value even, Value odd);
  Value highNibbles(Value even, Value odd);
  /// Adds what is kept and returns the word of metadata.
  Value keptOfNibbles(ArrayRef<Value> words, SmallVectorImpl<Value> &stored);
  Value nibbleOf(Value used);
  Kept keptOfHalves(Value low, Value high);
  Kept keptOfTwo(Value low, Value high);
  Value keptHalf(Value low, Value high, Value nibble, int64_t bit);
  Kept keptOf(ArrayRef<Value> words, int64_t chunk);
  Value compress(const Piece &piece);
  int64_t magnitudeMask() const;
  uint64_t nibbles() const;
};

class Densify : Body {
public:
  Densify(const SparseStorage &storage, Emitter &e,
          const SparseArguments &arguments)
      : Body(storage, e, arguments) {}
  void build();

private:
  void putChunk(SmallVectorImpl<Value> &words, int64_t chunk, Value nibble,
                ArrayRef<Value> stored);
  SmallVector<Value> densify(const Piece &piece);
};

} // namespace

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Body::Piece Body::pieceOf(Value number) {
  Type i32 = e.getI32Type();
  auto split = [&](Value &rest, Value extent) -> Value {
    Value digit = arith::RemUIOp::create(e, rest, extent);
    rest = arith::DivUIOp::create(e, rest, extent);
    return digit;
  };
  Value rest = number;
  Value word = split(rest, e.i32(kWordsOfMetadataRow));
  Value row = split(rest, dense.extentOf(metadataRows(storage), i32));
  Value tile = split(rest, dense.extentOf(metadataTiles(storage), i32));
  word = arith::AddIOp::create(e, mul(tile, kWordsOfMetadataRow), word);
  auto below = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(e, arith::CmpIPredicate::ult, x, y);
  };
  Value words = dense.extentOf(
      storage.dense.k.floorDiv(elementsOfWord(storage.pattern)), i32);
  Piece piece;
  piece.place = {/*matrix=*/rest, row, mul(word, kMetadataOfWord)};
  piece.isInside = arith::AndIOp::create(e, below(row, arguments.sizes.rows),
                                         below(word, words));
  return piece;
}

/// The first byte of the elements of a piece that takes so many bytes.
Value Body::lineOffset(StorageAccess &access, const Piece &piece,
                       int64_t bytes) {
  Value inLine = mul(piece.place.block, bytes / kMetadataOfWord);
  return arith::AddIOp::create(
      e, access.lineOffset(piece.place),
      arith::ExtUIOp::create(e, e.getI64Type(), inLine));
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

Value Body::bitsAt(ArrayRef<Value> words, int64_t bit, int64_t width) {
  int64_t word = bit / kWordBits, shift = bit % kWordBits;
  Value value = right(words[word], shift);
  if (shift + width > kWordBits)
    value = bitOr(value, left(words[word + 1], kWordBits - shift));
  return value;
}

void Body::putBits(SmallVectorImpl<Value> &words, int64_t bit, int64_t width,
                   Value value) {
  int64_t word = bit / kWordBits, shift = bit % kWordBits;
  auto put = [&](int64_t number, Value part) {
    if (int64_t(words.size()) == number)
      words.push_back(part);
    else
      words[number] = bitOr(words[number], part);
  };
  put(word, left(value, shift));
  if (shift + width > kWordBits)
    put(word + 1, right(value, kWordBits - shift));
}

Value Body::scaledPlace(Value nibble, int64_t bit, int64_t mask,
                        int64_t factor) {
  if (!llvm::isPowerOf2_64(factor))
    return mul(bitAnd(right(nibble, bit), mask), factor);
  int64_t distance = int64_t(llvm::Log2_64(factor)) - bit;
  Value place = bitAnd(nibble, mask << bit);
  return distance < 0 ? right(place, -distance) : left(place, distance);
}

//===----------------------------------------------------------------------===//
// Which units stay
//===----------------------------------------------------------------------===//

/// The bits of an element, or of those of a byte in pairs, that make a number
/// other than zero: of a float all but the sign.
int64_t Compress::magnitudeMask() const {
  bool isInteger = storage.element == hw::OperandType::uint8() ||
                   storage.element == hw::OperandType(ElementFormat::INT8);
  int64_t element = (int64_t(1) << (bits() - (isInteger ? 0 : 1))) - 1,
          mask = 0;
  for (unsigned i = 0; i < info.unit; ++i)
    mask |= element << i * bits();
  return mask;
}

/// For every set of units in use the nibble that hw::compress gives, from the
/// lowest bits on. Sets of more units than are stored break the pattern: they
/// get the lowest and the highest one.
uint64_t Compress::nibbles() const {
  constexpr unsigned kUnits = 4, kStored = 2;
  uint64_t table = 0;
  for (unsigned used = 0; used < 1u << kUnits; ++used) {
    std::vector<uint32_t> codes;
    for (unsigned chunk = 0; chunk < 2; ++chunk)
      for (unsigned i = 0; i < info.chunk; ++i)
        codes.push_back(used >> i / info.unit & 1);
    unsigned nibble =
        llvm::popcount(used) <= int(kStored)
            ? hw::compress(storage.pattern, unsigned(bits()), codes,
                           hw::HighestBit::Number)
                      ->metadata[0] &
                  0xf
            : *hw::metadataNibble(storage.pattern, llvm::countr_zero(used),
                                  llvm::Log2_32(used));
    table |= uint64_t(nibble) << kNibbleBits * used;
  }
  return table;
}

/// Looks up the nibble of four bits.
Value Compress::nibbleOf(Value used) {
  uint64_t table = nibbles();
  constexpr int64_t kUpperHalf = 8, kInHalf = 0x1c, kNibble = 0xf;
  Value half = select(e, isSet(used, kUpperHalf), e.i32(int32_t(table >> 32)),
                      e.i32(int32_t(table)));
  return bitAnd(right(half, bitAnd(left(used, 2), kInHalf)), kNibble);
}

/// A number whose fields of a unit each hold `bits`, as many as there are whole
/// chunks in a word.
static int64_t inFields(int64_t bits, int64_t width) {
  int64_t all = 0;
  for (int64_t at = 0; at < kWordBits / (4 * width) * (4 * width); at += width)
    all |= bits << at;
  return all;
}

/// Two bits of each nibble from bit `bit` on, of all sets one behind the other.
uint32_t Compress::places(int64_t bit) const {
  uint32_t table = 0;
  for (int64_t used = 0; used < 16; ++used)
    table |= uint32_t(nibbles() >> (kNibbleBits * used + bit) & 3) << 2 * used;
  return table;
}

/// The highest bit of the fields of `word` whose units are in use.
Value Compress::usedFields(Value word) {
  int64_t width = unitBits(), highest = int64_t(1) << (width - 1);
  int64_t mask = magnitudeMask(), low = inFields(highest - 1, width);
  Value sum = add(bitAnd(word, inFields(mask & (highest - 1), width)), low);
  if (mask & highest)
    sum = bitOr(sum, word);
  return bitAnd(sum, inFields(highest, width));
}

/// Of a chunk of units of 6 or 8 bits.
Compress::Kept Compress::keptOfFields(Value word) {
  constexpr int64_t kIndex = 0x1e, kFirstOfIndex = 28;
  int64_t width = unitBits();
  Value used = usedFields(word);
  Value clean = arith::AndIOp::create(
      e, word, mul(right(used, width - 1), (int64_t(1) << width) - 1));
  // The product has the four highest bits of fields at the top, and below them
  // no two at the same place, so that nothing is carried.
  int64_t gather = 0;
  for (int64_t i = 0; i < 4; ++i)
    gather |= int64_t(1) << (kFirstOfIndex + i - (i * width + width - 1));
  Value index = bitAnd(right(mul(used, gather), kFirstOfIndex - 1), kIndex);
  auto placeOf = [&](int64_t bit) {
    return bitAnd(right(e.i32(int32_t(places(bit))), index), 3);
  };
  Value low = placeOf(0), high = placeOf(2);
  int64_t unit = (int64_t(1) << width) - 1;
  Value one = bitAnd(right(clean, mul(low, width)), unit);
  Value other = bitAnd(right(clean, mul(high, width)), unit);
  return {bitOr(one, left(other, width)), bitOr(low, left(high, 2))};
}

/// Four of the bytes of two words.
Value Compress::bytesOf(Value left, Value right, ArrayRef<int64_t> order) {
  auto one = VectorType::get({1}, e.getI32Type());
  auto bytes = VectorType::get({4}, e.getI8Type());
  auto bytesOfWord = [&](Value word) -> Value {
    return vector::BitCastOp::create(
        e, bytes, vector::FromElementsOp::create(e, one, word));
  };
  Value shuffled = vector::ShuffleOp::create(e, bytesOfWord(left),
                                             bytesOfWord(right), order);
  return vector::ExtractOp::create(
      e, vector::BitCastOp::create(e, one, shuffled), int64_t(0));
}

/// The low nibbles of the bytes of two words, those of `even` below those of
/// `odd`.
Value Compress::lowNibbles(Value even, Value odd) {
  constexpr int64_t kLow = 0x0f0f0f0f;
  return bitOr(bitAnd(even, kLow), left(bitAnd(odd, kLow), kNibbleBits));
}

/// The same of the high ones.
Value Compress::highNibbles(Value even, Value odd) {
  constexpr int64_t kLow = 0x0f0f0f0f;
  return bitOr(bitAnd(right(even, kNibbleBits), kLow), bitAnd(odd, ~kLow));
}

/// Of units of 4 bits all chunks of a thread at once: a word has one unit of
/// each chunk, in the nibble of its number.
Value Compress::keptOfNibbles(ArrayRef<Value> words,
                              SmallVectorImpl<Value> &stored) {
  // Of the bytes of a chunk the first has units 0 and 1. Even chunks and odd
  // ones come apart.
  std::array<Value, 4> units;
  for (int64_t half = 0; half < 2; ++half) {
    int64_t odd = half + 2;
    SmallVector<int64_t> order{half, half + 4, odd, odd + 4};
    Value upper = bytesOf(words[0], words[1], order);
    Value lower = bytesOf(words[2], words[3], order);
    Value evens = bytesOf(upper, lower, {0, 1, 4, 5});
    Value odds = bytesOf(upper, lower, {2, 3, 6, 7});
    units[2 * half] = lowNibbles(evens, odds);
    units[2 * half + 1] = highNibbles(evens, odds);
  }
  constexpr int64_t kHighest = 0x88888888;
  auto bitNot = [&](Value x, int64_t mask) -> Value {
    return arith::XOrIOp::create(e, x, e.i32(int32_t(mask)));
  };
  auto both = [&](Value x, Value y) -> Value {
    return arith::AndIOp::create(e, x, y);
  };
  // The highest bits of nibbles, whole nibbles, and those that are not in use.
  std::array<Value, 4> used, all, none;
  for (unsigned i = 0; i < 4; ++i) {
    used[i] = usedFields(units[i]);
    all[i] = mul(right(used[i], 3), 0xf);
    none[i] = bitNot(all[i], -1);
    units[i] = both(units[i], all[i]);
  }
  // Of the first three units the first in use, and of all but the first the
  // last one that has another in use before it, or is the fourth.
  Value first =
      bitOr(units[0], both(none[0], bitOr(units[1], both(none[1], units[2]))));
  Value second = bitOr(both(units[2], bitOr(all[0], all[1])),
                       both(none[2], both(units[1], all[0])));
  second = bitOr(units[3], both(none[3], second));
  // The numbers of both, bit by bit. No unit is alone but beside the fourth,
  // and none at all has the first two.
  Value early = bitOr(used[0], used[1]);
  Value bits[] = {both(used[1], bitNot(used[0], kHighest)),
                  both(used[2], bitNot(early, kHighest)),
                  bitOr(used[3], bitNot(both(used[2], early), kHighest)),
                  bitOr(bitOr(used[3], used[2]),
                        arith::XOrIOp::create(e, used[0], used[1]))};
  Value nibbles = bits[3];
  for (int64_t i = 0; i < 3; ++i)
    nibbles = bitOr(nibbles, right(bits[i], 3 - i));
  Value evens = lowNibbles(first, second), odds = highNibbles(first, second);
  stored.push_back(bytesOf(evens, odds, {0, 4, 1, 5}));
  stored.push_back(bytesOf(evens, odds, {2, 6, 3, 7}));
  return nibbles;
}

/// The unit that the two bits at `bit` of a nibble name.
Value Compress::keptHalf(Value low, Value high, Value nibble, int64_t bit) {
  Value word = select(e, isSet(nibble, 2 << bit), high, low);
  return bitAnd(right(word, scaledPlace(nibble, bit, 1, 16)), 0xffff);
}

Compress::Kept Compress::keptOfHalves(Value low, Value high) {
  constexpr int64_t kHalf = 0xffff, kSigns = 0x80008000;
  int64_t mask = magnitudeMask(), both = mask | mask << 16;
  auto usedOf = [&](Value word) {
    return right(bitAnd(add(bitAnd(word, both), both), kSigns), 15);
  };
  auto cleaned = [&](Value word, Value used) -> Value {
    return arith::AndIOp::create(e, word, mul(used, kHalf));
  };
  Value ofLow = usedOf(low), ofHigh = usedOf(high);
  Value used = bitOr(ofLow, left(ofHigh, 2));
  Value nibble = nibbleOf(bitAnd(bitOr(used, right(used, 15)), 0xf));
  low = cleaned(low, ofLow);
  high = cleaned(high, ofHigh);
  return {bitOr(keptHalf(low, high, nibble, 0),
                left(keptHalf(low, high, nibble, 2), 16)),
          nibble};
}

/// Of two elements the one in use, else the first.
Compress::Kept Compress::keptOfTwo(Value low, Value high) {
  int64_t mask = magnitudeMask();
  Value first = isSet(low, mask), second = isSet(high, mask);
  Value isSecond = arith::AndIOp::create(
      e, second,
      arith::XOrIOp::create(e, first,
                            arith::ConstantIntOp::create(e, e.getI1Type(), 1)));
  Value ofFirst = select(e, first, low, e.i32(0));
  return {select(e, isSecond, high, ofFirst),
          select(e, isSecond, e.i32(nibbleOfTwo(1)), e.i32(nibbleOfTwo(0)))};
}

Compress::Kept Compress::keptOf(ArrayRef<Value> words, int64_t chunk) {
  int64_t width = 4 * unitBits(), first = chunk * width;
  if (width <= kWordBits)
    return keptOfFields(bitsAt(words, first, width));
  Value low = words[2 * chunk], high = words[2 * chunk + 1];
  return isOneOfTwo() ? keptOfTwo(low, high) : keptOfHalves(low, high);
}

/// Stores what is kept and returns the word of metadata.
Value Compress::compress(const Piece &piece) {
  SmallVector<Value> words =
      dense.loadWords(arguments.dense, denseOffset(piece), denseBytes());
  SmallVector<Value> stored, metadata;
  if (unitBits() == kNibbleBits) {
    Value word = keptOfNibbles(words, stored);
    sparse.storeWords(arguments.sparse, sparseOffset(piece), stored);
    return word;
  }
  int64_t width = denseBytes() * 8 / hw::kSparseCompression / kChunks;
  for (int64_t chunk = 0; chunk < kChunks; ++chunk) {
    Kept kept = keptOf(words, chunk);
    putBits(stored, chunk * width, width, kept.units);
    putBits(metadata, chunk * kNibbleBits, kNibbleBits, kept.nibble);
  }
  sparse.storeWords(arguments.sparse, sparseOffset(piece), stored);
  return metadata.front();
}

void Compress::build() {
  Piece piece = pieceOf(threadNumber(e));
  auto storeMetadata = [&](Value word) {
    sparse.storeWords(arguments.metadata, metadataOffset(piece), word);
  };
  if (!storage.padsMetadata) {
    auto condition = scf::IfOp::create(e, piece.isInside);
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(condition.thenBlock());
    return storeMetadata(compress(piece));
  }
  auto condition = scf::IfOp::create(e, TypeRange{e.getI32Type()},
                                     piece.isInside, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(condition.thenBlock());
    scf::YieldOp::create(e, compress(piece));
    e.setInsertionPointToStart(condition.elseBlock());
    constexpr int64_t kPadding = int64_t(hw::kEmptyMetadataByte) * 0x01010101;
    scf::YieldOp::create(e, e.i32(int32_t(kPadding)));
  }
  storeMetadata(condition.getResult(0));
}

//===----------------------------------------------------------------------===//
// Back to their places
//===----------------------------------------------------------------------===//

/// Adds the words, or bits of them, of a chunk whose units are stored.
void Densify::putChunk(SmallVectorImpl<Value> &words, int64_t chunk,
                       Value nibble, ArrayRef<Value> stored) {
  Value zero = e.i32(0);
  if (isOneOfTwo()) {
    // A bit of the nibble that keeps the second and not of the other one.
    int64_t own = nibbleOfTwo(1) & ~nibbleOfTwo(0);
    Value isSecond = isSet(nibble, own & -own);
    words.push_back(select(e, isSecond, zero, stored[chunk]));
    words.push_back(select(e, isSecond, stored[chunk], zero));
    return;
  }
  int64_t unit = (int64_t(1) << unitBits()) - 1;
  Value both = bitsAt(stored, chunk * 2 * unitBits(), 2 * unitBits());
  Value first = bitAnd(both, unit);
  Value second = bitAnd(right(both, unitBits()), unit);
  if (unitBits() <= 8) {
    first = left(first, scaledPlace(nibble, 0, 3, unitBits()));
    second = left(second, scaledPlace(nibble, 2, 3, unitBits()));
    int64_t width = 4 * unitBits();
    putBits(words, chunk * width, width, bitOr(first, second));
    return;
  }
  first = left(first, scaledPlace(nibble, 0, 1, unitBits()));
  second = left(second, scaledPlace(nibble, 2, 1, unitBits()));
  Value firstIsHigh = isSet(nibble, 2), secondIsHigh = isSet(nibble, 8);
  words.push_back(bitOr(select(e, firstIsHigh, zero, first),
                        select(e, secondIsHigh, zero, second)));
  words.push_back(bitOr(select(e, firstIsHigh, first, zero),
                        select(e, secondIsHigh, second, zero)));
}

SmallVector<Value> Densify::densify(const Piece &piece) {
  int64_t bytes = denseBytes() / hw::kSparseCompression;
  SmallVector<Value> stored =
      sparse.loadWords(arguments.sparse, sparseOffset(piece), bytes);
  Value metadata = sparse.loadWords(arguments.metadata, metadataOffset(piece),
                                    kMetadataOfWord)[0];
  SmallVector<Value> words;
  for (int64_t chunk = 0; chunk < kChunks; ++chunk)
    putChunk(words, chunk, right(metadata, chunk * kNibbleBits), stored);
  return words;
}

void Densify::build() {
  Piece piece = pieceOf(threadNumber(e));
  auto condition = scf::IfOp::create(e, piece.isInside);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  dense.storeWords(arguments.dense, denseOffset(piece), densify(piece));
}

void blockscale::buildCompressBody(const SparseStorage &storage,
                                   ImplicitLocOpBuilder &b,
                                   const SparseArguments &arguments) {
  Emitter e(b.getLoc(), b);
  Compress(storage, e, arguments).build();
}

void blockscale::buildDensifyBody(const SparseStorage &storage,
                                  ImplicitLocOpBuilder &b,
                                  const SparseArguments &arguments) {
  Emitter e(b.getLoc(), b);
  Densify(storage, e, arguments).build();
}
