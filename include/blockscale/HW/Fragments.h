//===- Fragments.h - which register holds which element -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Register fragments of tcgen05.ld/.st (PTX ISA 9.7.16.8) and of the
// warp-level block-scaled mma.sync (9.7.14.5 and 9.7.14.6).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_FRAGMENTS_H
#define BLOCKSCALE_HW_FRAGMENTS_H

#include "blockscale/HW/BitField.h"
#include "blockscale/HW/Layout.h"

namespace blockscale::hw {

//===----------------------------------------------------------------------===//
// tcgen05.ld / tcgen05.st
//===----------------------------------------------------------------------===//

/// The `.shape` of a tensor-memory load or store.
enum class TmemShape { S32x32b, S16x64b, S16x128b, S16x256b, S16x32bx2 };

std::string_view tmemShapeName(TmemShape shape);
std::optional<TmemShape> parseTmemShape(std::string_view name);

/// Why there is no such instruction: `num` is a power of two from 1 to 128 (64
/// for 16x128b, 32 for 16x256b).
std::optional<Reason> whyNot(TmemShape shape, unsigned num);

/// 32-bit registers per thread.
unsigned tmemRegisters(TmemShape shape, unsigned num);

/// The instruction as a layout from thread and register (Dim::Value) to lane
/// and column. `num` must have passed whyNot(); `split` is the immediate of
/// 16x32bx2 (columns between its two halves), ignored otherwise.
Layout tmemFragmentLayout(TmemShape shape, unsigned split);

/// Place in tensor memory relative to the instruction's address.
struct TmemOffset {
  unsigned lane, column;
};

/// What register `reg` of thread `thread` (0 .. 31) holds.
Result<TmemOffset> tmemFragment(TmemShape shape, unsigned num, unsigned thread,
                                unsigned reg, unsigned split);

/// The inverse: {thread, register} that holds a place, if any does.
Result<std::pair<unsigned, unsigned>> tmemFragmentOwner(TmemShape shape,
                                                        unsigned num,
                                                        TmemOffset offset,
                                                        unsigned split);

//===----------------------------------------------------------------------===//
// mma.sync with block scaling
//===----------------------------------------------------------------------===//

/// Instructions of one shape. The sparse ones are
/// mma.sp::ordered_metadata; their K is logical.
enum class WarpMma {
  /// m16n8k32, kind::mxf8f6f4.
  K32,
  /// m16n8k64, kind::mxf4 and kind::mxf4nvf4.
  K64,
  /// Sparse m16n8k64, kind::mxf8f6f4.
  SparseK64,
  /// Sparse m16n8k128, kind::mxf4 and kind::mxf4nvf4.
  SparseK128
};

/// Operands of mma.sync. Metadata: the value index counts the logical elements
/// that the metadata word covers.
enum class WarpOperand { A, B, C, Metadata, ScaleA, ScaleB };

/// Logical K of an instruction.
unsigned warpMmaK(WarpMma mma);

/// Values per thread of an operand (logical elements for sparse A and
/// metadata). `scales` is the number of scales per row: 1, 2 or 4.
Result<unsigned> warpFragmentSize(WarpMma mma, WarpOperand operand,
                                  unsigned scales);

/// The registers of an operand as a layout from thread and value to row and K
/// of A and B, row and column of C, row and first K of scales and metadata,
/// with Dim::Replica for threads of which only some supply their scales. Sizes
/// are those of warpFragmentSize().
Layout warpFragmentLayout(WarpMma mma, WarpOperand operand, unsigned scales);

/// An element of an operand: row of A or C, column of B; K, or the column of C.
struct WarpElement {
  unsigned rowOrColumn, k;
};

/// What value `index` of thread `thread` (0 .. 31) is. For scales the index is
/// the scale along K and `k` the first element that it covers; the row is the
/// one that the thread's quad supplies (A: lanes 0 and 2 of a quad row g, 1
/// and 3 row g + 8).
Result<WarpElement> warpFragment(WarpMma mma, WarpOperand operand,
                                 unsigned scales, unsigned thread,
                                 unsigned index);

/// Why a scale selector is not one that mma.sync has: byte-id 0..3, {0, 2} or
/// 0 for 1, 2 or 4 scales; thread-id 0..1 for A and 0..3 for B.
std::optional<Reason> whyNotScaleSelector(WarpOperand operand, unsigned scales,
                                          unsigned byteId, unsigned threadId);

/// The thread whose scale register supplies row (or column) `rowOrColumn`
/// under `threadId`.
Result<unsigned> scaleSupplier(WarpOperand operand, unsigned threadId,
                               unsigned rowOrColumn);

/// The row of 32 whose scales a thread holds where one register per thread
/// serves two tiles of A or four of B.
inline constexpr Layout kScaleRegisters{{Dim::Thread, 1, 4, Dim::Row, 8},
                                        {Dim::Thread, 4, 0, Dim::Row}};

constexpr unsigned scaleRegisterRow(unsigned lane) {
  return static_cast<unsigned>(
      kScaleRegisters.at({{Dim::Thread, lane}})[Dim::Row]);
}

/// The part of a scale register that an instruction reads.
struct ScaleSelector {
  unsigned byteId, threadId;
};

/// What instruction `step` along K of tile `tile` (16 rows or 8 columns each)
/// selects from registers filled by scaleRegisterRow() with four consecutive
/// scales per row. Tiles and steps that one register does not reach count on in
/// the next one.
Result<ScaleSelector> scaleSelector(WarpOperand operand, unsigned scales,
                                    unsigned tile, unsigned step);

//===----------------------------------------------------------------------===//
// mma.sync without scales
//===----------------------------------------------------------------------===//

/// Why there is no dense m16n8k`k` with elements of `elementBits` bits here:
/// there are k 8 and 16 for 16 bits, 4 and 8 for 32 (tf32), 16 and 32 for 8, 64
/// for 4.
std::optional<Reason> whyNotPlainMma(unsigned elementBits, unsigned k);

/// What value `index` of thread `thread` is, for operands A, B and C (f32 or
/// s32) of a dense mma.sync without scales. PTX ISA 9.7.14.5.
Result<WarpElement> plainWarpFragment(unsigned elementBits, unsigned k,
                                      WarpOperand operand, unsigned thread,
                                      unsigned index);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_FRAGMENTS_H
