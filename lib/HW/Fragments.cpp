//===- Fragments.cpp - which register holds which element===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Fragments.h"

namespace blockscale::hw {

static std::string text(std::uint64_t value) { return std::to_string(value); }

//===----------------------------------------------------------------------===//
// tcgen05.ld / tcgen05.st
//===----------------------------------------------------------------------===//

namespace {
struct TmemShapeRow {
  TmemShape shape;
  std::string_view name;
  unsigned registersPerNum, maxNum;
};

constexpr std::array kTmemShapes{
    TmemShapeRow{TmemShape::S32x32b, "32x32b", 1, 128},
    TmemShapeRow{TmemShape::S16x64b, "16x64b", 1, 128},
    TmemShapeRow{TmemShape::S16x128b, "16x128b", 2, 64},
    TmemShapeRow{TmemShape::S16x256b, "16x256b", 4, 32},
    TmemShapeRow{TmemShape::S16x32bx2, "16x32bx2", 1, 128},
};

const TmemShapeRow &row(TmemShape shape) {
  for (const TmemShapeRow &entry : kTmemShapes)
    if (entry.shape == shape)
      return entry;
  return kTmemShapes[0];
}
} // namespace

std::string_view tmemShapeName(TmemShape shape) { return row(shape).name; }

std::optional<TmemShape> parseTmemShape(std::string_view name) {
  for (const TmemShapeRow &entry : kTmemShapes)
    if (entry.name == name)
      return entry.shape;
  return std::nullopt;
}

std::optional<std::string> whyNot(TmemShape shape, unsigned num) {
  const TmemShapeRow &entry = row(shape);
  if (num != 0 && num <= entry.maxNum && (num & (num - 1)) == 0)
    return std::nullopt;
  return "'" + std::string(entry.name) + "' has no .x" + text(num) +
         "; legal are powers of two from 1 to " + text(entry.maxNum);
}

unsigned tmemRegisters(TmemShape shape, unsigned num) {
  return row(shape).registersPerNum * num;
}

Answer<TmemOffset> tmemFragment(TmemShape shape, unsigned num, unsigned thread,
                                unsigned reg, unsigned split) {
  using Result = Answer<TmemOffset>;
  if (auto why = whyNot(shape, num))
    return Result::refuse(*why);
  if (thread >= 32 || reg >= tmemRegisters(shape, num))
    return Result::refuse("register " + text(reg) + " of thread " +
                          text(thread) + "; there are 32 threads with " +
                          text(tmemRegisters(shape, num)) + " registers");
  unsigned t = thread, q = reg;
  switch (shape) {
  case TmemShape::S32x32b:
    return TmemOffset{t, q};
  case TmemShape::S16x64b:
    return TmemOffset{t / 4 + 8 * (t % 2), 2 * q + t % 4 / 2};
  case TmemShape::S16x128b:
    return TmemOffset{t / 4 + 8 * (q % 2), 4 * (q / 2) + t % 4};
  case TmemShape::S16x256b:
    return TmemOffset{t / 4 + 8 * (q / 2 % 2),
                      8 * (q / 4) + 2 * (t % 4) + q % 2};
  case TmemShape::S16x32bx2:
    break;
  }
  return TmemOffset{t % 16, t / 16 * split + q};
}

Answer<std::pair<unsigned, unsigned>> tmemFragmentOwner(TmemShape shape,
                                                        unsigned num,
                                                        TmemOffset offset,
                                                        unsigned split) {
  using Result = Answer<std::pair<unsigned, unsigned>>;
  if (auto why = whyNot(shape, num))
    return Result::refuse(*why);
  auto [lane, column] = offset;
  unsigned t = 0, q = 0;
  switch (shape) {
  case TmemShape::S32x32b:
    t = lane, q = column;
    break;
  case TmemShape::S16x64b:
    t = lane % 8 * 4 + column % 2 * 2 + lane / 8, q = column / 2;
    break;
  case TmemShape::S16x128b:
    t = lane % 8 * 4 + column % 4, q = column / 4 * 2 + lane / 8;
    break;
  case TmemShape::S16x256b:
    t = lane % 8 * 4 + column % 8 / 2;
    q = column / 8 * 4 + lane / 8 * 2 + column % 2;
    break;
  case TmemShape::S16x32bx2: {
    unsigned half = split != 0 && column >= split ? 1 : 0;
    t = lane + 16 * half, q = column - half * split;
    break;
  }
  }
  unsigned lanes = shape == TmemShape::S32x32b ? 32 : 16;
  if (lane >= lanes || q >= tmemRegisters(shape, num))
    return Result::refuse("lane " + text(lane) + ", column " + text(column) +
                          " is not covered by '" +
                          std::string(tmemShapeName(shape)) + "' .x" +
                          text(num));
  return std::pair{t, q};
}

//===----------------------------------------------------------------------===//
// mma.sync with block scaling
//===----------------------------------------------------------------------===//

unsigned warpMmaK(WarpMma mma) {
  switch (mma) {
  case WarpMma::K32:
    return 32;
  case WarpMma::K64:
  case WarpMma::SparseK64:
    return 64;
  case WarpMma::SparseK128:
    break;
  }
  return 128;
}

static bool isSparse(WarpMma mma) {
  return mma == WarpMma::SparseK64 || mma == WarpMma::SparseK128;
}

static bool isPacked4Bit(WarpMma mma) {
  return mma == WarpMma::K64 || mma == WarpMma::SparseK128;
}

Answer<unsigned> warpFragmentSize(WarpMma mma, WarpOperand operand,
                                  unsigned scales) {
  using Result = Answer<unsigned>;
  unsigned k = warpMmaK(mma);
  switch (operand) {
  case WarpOperand::A:
  case WarpOperand::Metadata:
    if (operand == WarpOperand::Metadata && !isSparse(mma))
      return Result::refuse("a dense instruction has no metadata");
    return k / 2;
  case WarpOperand::B:
    return k / 4;
  case WarpOperand::C:
    return 4u;
  case WarpOperand::ScaleA:
  case WarpOperand::ScaleB:
    break;
  }
  bool legal = isPacked4Bit(mma) ? scales == 2 || scales == 4 : scales == 1;
  if (!legal)
    return Result::refuse("the instruction has no form with " + text(scales) +
                          " scales per row; it has " +
                          (isPacked4Bit(mma) ? "2 or 4" : "1"));
  return scales;
}

Answer<WarpElement> warpFragment(WarpMma mma, WarpOperand operand,
                                 unsigned scales, unsigned thread,
                                 unsigned index) {
  using Result = Answer<WarpElement>;
  Answer<unsigned> size = warpFragmentSize(mma, operand, scales);
  if (!size)
    return Result::refuse(size.reason);
  if (thread >= 32 || index >= *size)
    return Result::refuse("value " + text(index) + " of thread " +
                          text(thread) + "; there are 32 threads with " +
                          text(*size) + " values");
  unsigned g = thread / 4, c = thread % 4, k = warpMmaK(mma);
  // Elements of one row of A or column of B in one register.
  unsigned aRun = k / 8, bRun = isPacked4Bit(mma) ? 8 : 4;
  switch (operand) {
  case WarpOperand::A:
    return WarpElement{g + 8 * (index / aRun % 2),
                       aRun * c + index % aRun +
                           4 * aRun * (index / (2 * aRun))};
  case WarpOperand::B:
    return WarpElement{g, bRun * c + index % bRun + 4 * bRun * (index / bRun)};
  case WarpOperand::C:
    return WarpElement{g + 8 * (index / 2), 2 * c + index % 2};
  case WarpOperand::Metadata:
    return WarpElement{g + 8 * (c % 2), k / 2 * (c / 2) + index};
  case WarpOperand::ScaleA:
    return WarpElement{g + 8 * (c % 2), index * (k / scales)};
  case WarpOperand::ScaleB:
    break;
  }
  return WarpElement{g, index * (k / scales)};
}

std::optional<std::string> whyNotScaleSelector(WarpOperand operand,
                                               unsigned scales, unsigned byteId,
                                               unsigned threadId) {
  if (operand != WarpOperand::ScaleA && operand != WarpOperand::ScaleB)
    return "only scale operands have a selector";
  if (scales != 1 && scales != 2 && scales != 4)
    return "an instruction has 1, 2 or 4 scales per row, found " + text(scales);
  if (byteId > 3 || byteId % scales != 0)
    return "byte-id " + text(byteId) + " with " + text(scales) +
           " scales per row; legal are " +
           (scales == 1 ? "0 to 3" : (scales == 2 ? "0 and 2" : "0"));
  unsigned threads = operand == WarpOperand::ScaleA ? 2 : 4;
  if (threadId >= threads)
    return "thread-id " + text(threadId) + "; legal are 0 to " +
           text(threads - 1);
  return std::nullopt;
}

Answer<unsigned> scaleSupplier(WarpOperand operand, unsigned threadId,
                               unsigned rowOrColumn) {
  using Result = Answer<unsigned>;
  if (auto why = whyNotScaleSelector(operand, 1, 0, threadId))
    return Result::refuse(*why);
  unsigned extent = operand == WarpOperand::ScaleA ? 16 : 8;
  if (rowOrColumn >= extent)
    return Result::refuse("row or column " + text(rowOrColumn) +
                          " of an operand with " + text(extent));
  if (operand == WarpOperand::ScaleA)
    return rowOrColumn % 8 * 4 + 2 * threadId + rowOrColumn / 8;
  return rowOrColumn * 4 + threadId;
}

Answer<ScaleSelector> scaleSelector(WarpOperand operand, unsigned scales,
                                    unsigned tile, unsigned step) {
  ScaleSelector selector;
  selector.byteId = step * scales % 4;
  selector.threadId = tile % (operand == WarpOperand::ScaleA ? 2 : 4);
  if (auto why = whyNotScaleSelector(operand, scales, selector.byteId,
                                     selector.threadId))
    return Answer<ScaleSelector>::refuse(*why);
  return selector;
}

//===----------------------------------------------------------------------===//
// mma.sync without scales
//===----------------------------------------------------------------------===//

namespace {
struct PlainShape {
  unsigned elementBits, k;
};
constexpr std::array kPlainShapes{
    PlainShape{16, 8}, PlainShape{16, 16}, PlainShape{32, 4}, PlainShape{32, 8},
    PlainShape{8, 16}, PlainShape{8, 32},  PlainShape{4, 64},
};
} // namespace

std::optional<std::string> whyNotPlainMma(unsigned elementBits, unsigned k) {
  for (const PlainShape &shape : kPlainShapes)
    if (shape.elementBits == elementBits && shape.k == k)
      return std::nullopt;
  return "no m16n8k" + text(k) + " with elements of " + text(elementBits) +
         " bits; there are k 8 and 16 for 16 bits, 4 and 8 for 32, 16 and 32 "
         "for 8, 64 for 4";
}

Answer<WarpElement> plainWarpFragment(unsigned elementBits, unsigned k,
                                      WarpOperand operand, unsigned thread,
                                      unsigned index) {
  using Result = Answer<WarpElement>;
  if (auto why = whyNotPlainMma(elementBits, k))
    return Result::refuse(*why);
  if (operand != WarpOperand::A && operand != WarpOperand::B &&
      operand != WarpOperand::C)
    return Result::refuse("an instruction without scales has operands A, B, C");
  unsigned size = operand == WarpOperand::A   ? k / 2
                  : operand == WarpOperand::B ? k / 4
                                              : 4;
  if (thread >= 32 || index >= size)
    return Result::refuse("value " + text(index) + " of thread " +
                          text(thread) + "; there are 32 threads with " +
                          text(size) + " values");
  unsigned g = thread / 4, c = thread % 4;
  // Elements in one register: neighbours along K.
  unsigned run = 32 / elementBits;
  if (operand == WarpOperand::C)
    return WarpElement{g + 8 * (index / 2), 2 * c + index % 2};
  if (operand == WarpOperand::B)
    return WarpElement{g, run * c + index % run + 4 * run * (index / run)};
  return WarpElement{g + 8 * (index / run % 2),
                     run * c + index % run + 4 * run * (index / (2 * run))};
}

} // namespace blockscale::hw
