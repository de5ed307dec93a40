//===- Fragments.cpp - which register holds which element===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Fragments.h"
#include "blockscale/HW/Mma.h"

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

std::optional<Reason> whyNot(TmemShape shape, unsigned num) {
  const TmemShapeRow &entry = row(shape);
  if (num != 0 && num <= entry.maxNum && (num & (num - 1)) == 0)
    return std::nullopt;
  return "'" + std::string(entry.name) + "' has no .x" + text(num) +
         "; legal are powers of two from 1 to " + text(entry.maxNum);
}

unsigned tmemRegisters(TmemShape shape, unsigned num) {
  return row(shape).registersPerNum * num;
}

Layout tmemFragmentLayout(TmemShape shape, unsigned split) {
  using D = Dim;
  switch (shape) {
  case TmemShape::S32x32b:
    return {{D::Thread, 1, 0, D::Lane}, {D::Value, 1, 0, D::Column}};
  case TmemShape::S16x64b:
    return {{D::Thread, 4, 0, D::Lane},
            {D::Thread, 1, 2, D::Lane, 8},
            {D::Thread, 2, 2, D::Column},
            {D::Value, 1, 0, D::Column, 2}};
  case TmemShape::S16x128b:
    return {{D::Thread, 4, 0, D::Lane},
            {D::Value, 1, 2, D::Lane, 8},
            {D::Thread, 1, 4, D::Column},
            {D::Value, 2, 0, D::Column, 4}};
  case TmemShape::S16x256b:
    return {{D::Thread, 4, 0, D::Lane},
            {D::Value, 2, 2, D::Lane, 8},
            {D::Value, 1, 2, D::Column},
            {D::Thread, 1, 4, D::Column, 2},
            {D::Value, 4, 0, D::Column, 8}};
  case TmemShape::S16x32bx2:
    break;
  }
  if (split == 0)
    return {{D::Thread, 1, 16, D::Lane}, {D::Value, 1, 0, D::Column}};
  return {{D::Thread, 1, 16, D::Lane},
          {D::Thread, 16, 0, D::Column, split},
          {D::Value, 1, 0, D::Column}};
}

Result<TmemOffset> tmemFragment(TmemShape shape, unsigned num, unsigned thread,
                                unsigned reg, unsigned split) {
  if (auto why = whyNot(shape, num))
    return *why;
  if (thread >= 32 || reg >= tmemRegisters(shape, num))
    return Reason("register " + text(reg) + " of thread " + text(thread) +
                  "; there are 32 threads with " +
                  text(tmemRegisters(shape, num)) + " registers");
  Coordinates at = tmemFragmentLayout(shape, split)
                       .at({{Dim::Thread, thread}, {Dim::Value, reg}});
  return TmemOffset{static_cast<unsigned>(at[Dim::Lane]),
                    static_cast<unsigned>(at[Dim::Column])};
}

Result<std::pair<unsigned, unsigned>> tmemFragmentOwner(TmemShape shape,
                                                        unsigned num,
                                                        TmemOffset offset,
                                                        unsigned split) {
  if (auto why = whyNot(shape, num))
    return *why;
  auto [lane, column] = offset;
  // The halves of 16x32bx2 may overlap; what both cover is the second's.
  bool isSecond =
      shape == TmemShape::S16x32bx2 && split != 0 && column >= split;
  Layout layout = tmemFragmentLayout(shape, isSecond ? 0 : split);
  std::optional<Coordinates> source = layout.sourceAt(
      {{Dim::Lane, lane}, {Dim::Column, column - (isSecond ? split : 0)}});
  if (!source || (*source)[Dim::Thread] >= kWarpSize ||
      (*source)[Dim::Value] >= tmemRegisters(shape, num))
    return Reason("lane " + text(lane) + ", column " + text(column) +
                  " is not covered by '" + std::string(tmemShapeName(shape)) +
                  "' .x" + text(num));
  return std::pair{static_cast<unsigned>((*source)[Dim::Thread]) +
                       (isSecond ? 16 : 0),
                   static_cast<unsigned>((*source)[Dim::Value])};
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

Result<unsigned> warpFragmentSize(WarpMma mma, WarpOperand operand,
                                  unsigned scales) {
  unsigned k = warpMmaK(mma);
  switch (operand) {
  case WarpOperand::A:
  case WarpOperand::Metadata:
    if (operand == WarpOperand::Metadata && !isSparse(mma))
      return Reason("a dense instruction has no metadata");
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
    return Reason("the instruction has no form with " + text(scales) +
                  " scales per row; it has " +
                  (isPacked4Bit(mma) ? "2 or 4" : "1"));
  return scales;
}

/// A of m16n8, `run` neighbours along K in a register.
static Layout rowsOfA(unsigned run) {
  return {{Dim::Thread, 4, 0, Dim::Row},
          {Dim::Value, run, 2, Dim::Row, 8},
          {Dim::Value, 1, run, Dim::K},
          {Dim::Thread, 1, 4, Dim::K, run},
          {Dim::Value, 2 * run, 0, Dim::K, 4 * run}};
}

/// B of m16n8, likewise.
static Layout columnsOfB(unsigned run) {
  return {{Dim::Thread, 4, 0, Dim::Row},
          {Dim::Value, 1, run, Dim::K},
          {Dim::Thread, 1, 4, Dim::K, run},
          {Dim::Value, run, 0, Dim::K, 4 * run}};
}

/// C and D of m16n8, 32 bits each.
static constexpr Layout kElementsOfC{{Dim::Thread, 4, 0, Dim::Row},
                                     {Dim::Value, 2, 0, Dim::Row, 8},
                                     {Dim::Value, 1, 2, Dim::ColumnOfD},
                                     {Dim::Thread, 1, 4, Dim::ColumnOfD, 2}};

Layout warpFragmentLayout(WarpMma mma, WarpOperand operand, unsigned scales) {
  unsigned k = warpMmaK(mma);
  switch (operand) {
  case WarpOperand::A:
    return rowsOfA(k / 8);
  case WarpOperand::B:
    return columnsOfB(isPacked4Bit(mma) ? 8 : 4);
  case WarpOperand::C:
    return kElementsOfC;
  case WarpOperand::Metadata:
    return {{Dim::Thread, 4, 0, Dim::Row},
            {Dim::Thread, 1, 2, Dim::Row, 8},
            {Dim::Value, 1, 0, Dim::K},
            {Dim::Thread, 2, 2, Dim::K, k / 2}};
  case WarpOperand::ScaleA:
    return {{Dim::Thread, 4, 0, Dim::Row},
            {Dim::Thread, 1, 2, Dim::Row, 8},
            {Dim::Thread, 2, 2, Dim::Replica},
            {Dim::Value, 1, 0, Dim::K, k / scales}};
  case WarpOperand::ScaleB:
    break;
  }
  return {{Dim::Thread, 4, 0, Dim::Row},
          {Dim::Thread, 1, 4, Dim::Replica},
          {Dim::Value, 1, 0, Dim::K, k / scales}};
}

/// Row and K, or column of C, of a value.
static WarpElement elementOf(const Layout &layout, unsigned thread,
                             unsigned index) {
  Coordinates at = layout.at({{Dim::Thread, thread}, {Dim::Value, index}});
  return {static_cast<unsigned>(at[Dim::Row]),
          static_cast<unsigned>(at[Dim::K] + at[Dim::ColumnOfD])};
}

Result<WarpElement> warpFragment(WarpMma mma, WarpOperand operand,
                                 unsigned scales, unsigned thread,
                                 unsigned index) {
  Result<unsigned> size = warpFragmentSize(mma, operand, scales);
  if (!size)
    return size.why();
  if (thread >= 32 || index >= *size)
    return Reason("value " + text(index) + " of thread " + text(thread) +
                  "; there are 32 threads with " + text(*size) + " values");
  return elementOf(warpFragmentLayout(mma, operand, scales), thread, index);
}

std::optional<Reason> whyNotScaleSelector(WarpOperand operand, unsigned scales,
                                          unsigned byteId, unsigned threadId) {
  if (operand != WarpOperand::ScaleA && operand != WarpOperand::ScaleB)
    return "only scale operands have a selector";
  if (scales != 1 && scales != 2 && scales != 4)
    return "an instruction has 1, 2 or 4 scales per row, found " + text(scales);
  if (!isScaleId(scales, byteId))
    return "byte-id " + text(byteId) + " with " + text(scales) +
           " scales per row; legal are " +
           (scales == 1 ? "0 to 3" : (scales == 2 ? "0 and 2" : "0"));
  unsigned threads = operand == WarpOperand::ScaleA ? 2 : 4;
  if (threadId >= threads)
    return "thread-id " + text(threadId) + "; legal are 0 to " +
           text(threads - 1);
  return std::nullopt;
}

Result<unsigned> scaleSupplier(WarpOperand operand, unsigned threadId,
                               unsigned rowOrColumn) {
  if (auto why = whyNotScaleSelector(operand, 1, 0, threadId))
    return *why;
  unsigned extent = operand == WarpOperand::ScaleA ? 16 : 8;
  if (rowOrColumn >= extent)
    return Reason("row or column " + text(rowOrColumn) +
                  " of an operand with " + text(extent));
  Layout layout = warpFragmentLayout(WarpMma::K32, operand, /*scales=*/1);
  Coordinates source =
      layout.inverse().at({{Dim::Row, rowOrColumn}, {Dim::Replica, threadId}});
  return static_cast<unsigned>(source[Dim::Thread]);
}

Result<ScaleSelector> scaleSelector(WarpOperand operand, unsigned scales,
                                    unsigned tile, unsigned step) {
  ScaleSelector selector;
  selector.byteId = step * scales % 4;
  selector.threadId = tile % (operand == WarpOperand::ScaleA ? 2 : 4);
  if (auto why = whyNotScaleSelector(operand, scales, selector.byteId,
                                     selector.threadId))
    return *why;
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

std::optional<Reason> whyNotPlainMma(unsigned elementBits, unsigned k) {
  for (const PlainShape &shape : kPlainShapes)
    if (shape.elementBits == elementBits && shape.k == k)
      return std::nullopt;
  return "no m16n8k" + text(k) + " with elements of " + text(elementBits) +
         " bits; there are k 8 and 16 for 16 bits, 4 and 8 for 32, 16 and 32 "
         "for 8, 64 for 4";
}

Result<WarpElement> plainWarpFragment(unsigned elementBits, unsigned k,
                                      WarpOperand operand, unsigned thread,
                                      unsigned index) {
  if (auto why = whyNotPlainMma(elementBits, k))
    return *why;
  if (operand != WarpOperand::A && operand != WarpOperand::B &&
      operand != WarpOperand::C)
    return Reason("an instruction without scales has operands A, B, C");
  unsigned size = operand == WarpOperand::A   ? k / 2
                  : operand == WarpOperand::B ? k / 4
                                              : 4;
  if (thread >= 32 || index >= size)
    return Reason("value " + text(index) + " of thread " + text(thread) +
                  "; there are 32 threads with " + text(size) + " values");
  // Elements in one register: neighbours along K.
  unsigned run = 32 / elementBits;
  return elementOf(operand == WarpOperand::A   ? rowsOfA(run)
                   : operand == WarpOperand::B ? columnsOfB(run)
                                               : kElementsOfC,
                   thread, index);
}

} // namespace blockscale::hw
