//===- SparseBody.cpp - bodies of kernels that compress and densify -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each thread has a word of metadata, which describes eight chunks of a row, in
// the order of tiles in memory, so that the accesses of a warp join. Units of
// up to 8 bits are compressed all at once (ChunkPlanes.h); those of 4-bit codes
// in pairs are bytes.

#include "ChunkPlanes.h"
#include "SparseSource.h"
#include "WordBits.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

static_assert(hw::kMetadataTileRows % kElementwiseThreads == 0,
              "the rows of a tile, padding included, fill CTAs");

namespace {

constexpr int64_t kWordBits = 32, kChunks = 8, kNibbleBits = 4;

/// What kernels in both directions have.
class Body : protected WordBits {
protected:
  Body(const SparseStorage &storage, Emitter &e,
       const SparseArguments &arguments)
      : WordBits(e), storage(storage), arguments(arguments),
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
  Value low = words[2 * chunk], high = words[2 * chunk + 1];
  return isOneOfTwo() ? keptOfTwo(low, high) : keptOfHalves(low, high);
}

/// Stores what is kept and returns the word of metadata.
Value Compress::compress(const Piece &piece) {
  SmallVector<Value> words =
      dense.loadWords(arguments.dense, denseOffset(piece), denseBytes());
  if (unitBits() <= 8) {
    CompressedChunks kept =
        compressChunks(e, words, unitBits(), magnitudeMask());
    sparse.storeWords(arguments.sparse, sparseOffset(piece), kept.stored);
    return kept.metadata;
  }
  SmallVector<Value> stored, metadata;
  for (int64_t chunk = 0; chunk < kChunks; ++chunk) {
    Kept kept = keptOf(words, chunk);
    stored.push_back(kept.units);
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
