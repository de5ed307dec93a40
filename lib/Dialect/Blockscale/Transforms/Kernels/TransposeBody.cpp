//===- TransposeBody.cpp - the body of a kernel that transposes bytes -----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Elements of a byte in the other order. Each thread has 16 bytes of 16 lines,
// which it turns in registers. Eight threads read 128 bytes of a line beside
// each other, and four of a warp write 64 bytes of one, so that all sectors are
// whole and nothing goes by shared memory.

#include "RelayoutSource.h"
#include "WordBits.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <array>

using namespace mlir;
using namespace blockscale;

static_assert(kTransposedAlong * kTransposedAcross == kConversionThreads,
              "the threads of a CTA");

namespace {

constexpr int64_t kWordBytes = 4, kWords = kTransposedBytes / kWordBytes;

class Body : WordBits {
public:
  Body(const MovedElements &moved, Emitter &e, Value fromMemory, Value toMemory,
       const LaunchSizes &sizes)
      : WordBits(e), moved(moved), fromMemory(fromMemory), toMemory(toMemory),
        from(e, moved.from, {sizes.rows, Value(), sizes.k, sizes.batch}),
        to(e, moved.to, {sizes.rows, Value(), sizes.k, sizes.batch}),
        fromLines(from.extentOf(moved.fromLines, e.getI32Type())),
        toLines(from.extentOf(moved.toLines, e.getI32Type())) {}

  void build(Value number);

private:
  /// Words of 16 lines, by line and place in it.
  using Square = SmallVector<SmallVector<Value>>;

  Value below(Value x, Value y) {
    return arith::CmpIOp::create(e, arith::CmpIPredicate::ult, x, y);
  }
  Value offset(StorageAccess &access, Value matrix, Value line, Value first);
  Square load(Value matrix, Value line, Value first);
  SmallVector<Value> transposed(ArrayRef<Value> words);
  Square transposed(const Square &square);
  void store(Value matrix, Value line, Value first, const Square &square);

  const MovedElements &moved;
  Value fromMemory, toMemory;
  StorageAccess from, to;
  Value fromLines, toLines;
};

} // namespace

Value Body::offset(StorageAccess &access, Value matrix, Value line,
                   Value first) {
  return arith::AddIOp::create(
      e, access.lineOffset({matrix, line, Value()}),
      arith::ExtUIOp::create(e, e.getI64Type(), first));
}

/// Lines from `line` on, from byte `first` on; zeros behind the last one, which
/// pad lines of the result.
Body::Square Body::load(Value matrix, Value line, Value first) {
  Square square;
  Value last = add(fromLines, -1);
  for (int64_t i = 0; i < kTransposedBytes; ++i) {
    Value number = add(line, i), isLine = below(number, fromLines);
    Value there = arith::MinUIOp::create(e, number, last);
    square.push_back(from.loadWords(
        fromMemory, offset(from, matrix, there, first), kTransposedBytes));
    for (Value &word : square.back())
      word = select(e, isLine, word, e.i32(0));
  }
  return square;
}

/// The bytes of four words as those of four others: byte i of word j is byte j
/// of word i.
SmallVector<Value> Body::transposed(ArrayRef<Value> words) {
  SmallVector<Value> result;
  for (int64_t half : {0, 2}) {
    std::array<int64_t, 4> bytesOfTwo{half, half + 4, half + 1, half + 5};
    Value upper = bytesOf(words[0], words[1], bytesOfTwo),
          lower = bytesOf(words[2], words[3], bytesOfTwo);
    result.push_back(bytesOf(upper, lower, {0, 1, 4, 5}));
    result.push_back(bytesOf(upper, lower, {2, 3, 6, 7}));
  }
  return result;
}

Body::Square Body::transposed(const Square &square) {
  Square result(kTransposedBytes, SmallVector<Value>(kWords));
  for (int64_t i = 0; i < kWords; ++i)
    for (int64_t j = 0; j < kWords; ++j) {
      SmallVector<Value> words;
      for (int64_t line = 0; line < kWordBytes; ++line)
        words.push_back(square[i * kWordBytes + line][j]);
      for (auto [line, word] : llvm::enumerate(transposed(words)))
        result[j * kWordBytes + int64_t(line)][i] = word;
    }
  return result;
}

/// As far as there are lines.
void Body::store(Value matrix, Value line, Value first, const Square &square) {
  auto lines = dyn_cast<AffineConstantExpr>(moved.toLines);
  bool isWhole = lines && lines.getValue() % kTransposedBytes == 0;
  for (auto [i, words] : llvm::enumerate(square)) {
    Value number = add(line, int64_t(i));
    OpBuilder::InsertionGuard guard(e);
    // The first one is there.
    if (i > 0 && !isWhole) {
      auto condition = scf::IfOp::create(e, below(number, toLines));
      e.setInsertionPointToStart(condition.thenBlock());
    }
    to.storeWords(toMemory, offset(to, matrix, number, first), words);
  }
}

void Body::build(Value number) {
  Type i32 = e.getI32Type();
  Value rest = number;
  auto split = [&](Value extent) -> Value {
    Value digit = arith::RemUIOp::create(e, rest, extent);
    rest = arith::DivUIOp::create(e, rest, extent);
    return digit;
  };
  auto join = [&](Value x, Value y, int64_t extent) -> Value {
    return mul(arith::AddIOp::create(e, mul(x, extent), y), kTransposedBytes);
  };
  Value along = split(e.i32(kTransposedAlong)),
        across = split(e.i32(kTransposedAcross));
  constexpr int64_t kAlong = kTransposedBytes * kTransposedAlong;
  along = join(split(from.extentOf(moved.toLines.ceilDiv(kAlong), i32)), along,
               kTransposedAlong);
  constexpr int64_t kAcross = kTransposedBytes * kTransposedAcross;
  across = join(split(from.extentOf(moved.fromLines.ceilDiv(kAcross), i32)),
                across, kTransposedAcross);
  Value isThere =
      arith::AndIOp::create(e, below(along, toLines), below(across, fromLines));
  auto condition = scf::IfOp::create(e, isThere);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  Square square = load(/*matrix=*/rest, across, along);
  store(/*matrix=*/rest, along, across, transposed(square));
}

void blockscale::buildMovedElements(const MovedElements &moved,
                                    ImplicitLocOpBuilder &b, Value from,
                                    Value to, const LaunchSizes &sizes,
                                    Value number) {
  Emitter e(b.getLoc(), b);
  Body(moved, e, from, to, sizes).build(number ? number : threadNumber(e));
}
