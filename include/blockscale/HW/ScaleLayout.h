//===- ScaleLayout.h - where every scale byte lies -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scale factors in global, shared and tensor memory, and the (column, id) pair
// that each MMA needs. PTX ISA 9.7.16.10.7 (block scaling); layouts of the
// public CUTLASS and cuBLAS documentation.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_SCALELAYOUT_H
#define BLOCKSCALE_HW_SCALELAYOUT_H

#include "blockscale/HW/BitField.h"
#include "blockscale/HW/Layout.h"

namespace blockscale::hw {

//===----------------------------------------------------------------------===//
// The 128 x 4 atom
//===----------------------------------------------------------------------===//

/// An atom holds 4 consecutive scales (along K) of 128 rows in 512 bytes: 32
/// rows of 16 bytes, of which row i holds the scales of rows i, i+32, i+64 and
/// i+96. It is what one tcgen05.cp 32x128b.warpx4 copies.
inline constexpr unsigned kAtomRows = 128;
inline constexpr unsigned kAtomScales = 4;
inline constexpr unsigned kAtomBytes = kAtomRows * kAtomScales;
/// Rows of an atom in memory; also the lanes of tensor memory, and the rows of
/// the operand in one of its columns.
inline constexpr unsigned kAtomLanes = 32;

/// Scales in memory as atoms, along K first, then rows.
inline constexpr Layout kTiledScales{
    {Dim::Row, kAtomRows, 0, Dim::Storage0},
    {Dim::Block, kAtomScales, 0, Dim::Storage1},
    {Dim::Row, 1, kAtomLanes, Dim::Storage2},
    {Dim::Row, kAtomLanes, kAtomRows / kAtomLanes, Dim::Storage3, kAtomScales},
    {Dim::Block, 1, kAtomScales, Dim::Storage3}};

/// The bytes of one atom, from row and scale to offset.
inline constexpr Layout kScaleAtom = kTiledScales.tile();

/// Scales or metadata in memory as rows of bytes.
inline constexpr Layout kPlainRows{{Dim::Row, 1, 0, Dim::Storage0},
                                   {Dim::Block, 1, 0, Dim::Storage1}};

/// Scales of A in memory for the row-per-lane layout of tensor memory: tiles of
/// 16 consecutive scales of 128 rows, row by row, 2048 bytes. It is what one
/// tcgen05.cp 128x128b copies.
inline constexpr unsigned kRowTileScales = 16;
inline constexpr Layout kRowTiledScales{
    {Dim::Row, kAtomRows, 0, Dim::Storage0},
    {Dim::Block, kRowTileScales, 0, Dim::Storage1},
    {Dim::Row, 1, kAtomRows, Dim::Storage2},
    {Dim::Block, 1, kRowTileScales, Dim::Storage3}};

/// Byte of scale `scale` (0 .. 3) of row `row` (0 .. 127) in an atom.
constexpr unsigned atomOffset(unsigned row, unsigned scale) {
  return static_cast<unsigned>(
      kScaleAtom.at({{Dim::Row, row}, {Dim::Block, scale}})[Dim::Offset]);
}

/// Atoms needed for `extent` rows or scales at `perAtom` each.
constexpr std::uint64_t atomsAlong(std::uint64_t extent,
                                   std::uint64_t perAtom) {
  return ceilDiv(extent, perAtom);
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// The scales of a whole operand in global memory, atoms K first, then rows,
/// then batches. Extents are those of the unpadded operand; storage is padded
/// to whole atoms.
struct ScaleTensor {
  /// Logical elements along K that share a scale: 16 or 32; 32 or 64 with
  /// structured sparsity.
  unsigned blockSize = 32;
  std::uint64_t mn = 0, k = 0, batch = 1;
};

/// Why the tensor has no layout: a block size that no instruction has, an
/// empty extent, or a size that does not fit 63 bits.
std::optional<Reason> whyNot(const ScaleTensor &tensor);

/// Rows and scales per row after padding.
std::uint64_t paddedRows(const ScaleTensor &tensor);
std::uint64_t paddedScales(const ScaleTensor &tensor);
/// Bytes of storage, batches included.
std::uint64_t storageBytes(const ScaleTensor &tensor);

/// Byte offset of the scale of element (mn, k) of `batch`; the element must
/// lie in the unpadded tensor.
Result<std::uint64_t> scaleOffset(const ScaleTensor &tensor, std::uint64_t mn,
                                  std::uint64_t k, std::uint64_t batch);

/// What a byte of the storage is.
struct ScaleElement {
  std::uint64_t mn;
  /// Index of the scale along K (first element / block size).
  std::uint64_t scale;
  std::uint64_t batch;
  /// True for a byte that pads the tensor to whole atoms.
  bool padding;
};
Result<ScaleElement> scaleAt(const ScaleTensor &tensor, std::uint64_t offset);

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

/// How the tensor core reads scales across lanes.
enum class ScalePath {
  /// Four replicas, one per 32-lane quadrant: all A, and B unless 2x2.
  FourByOne,
  /// B of cta_group::2 with M=128: each half of N in one half of the lanes,
  /// two replicas there.
  TwoByTwo,
  /// A on sm_107, if bit 26 of the instruction descriptor says so: each of the
  /// 128 rows in its own lane, once; the bytes run on in the columns.
  RowPerLane
};

/// The path of operand A (`operandB` false) or B of an instruction.
ScalePath scalePath(bool operandB, unsigned ctaGroup, unsigned m);

/// A region of tensor memory that holds scales.
struct ScaleRegion {
  ScalePath path = ScalePath::FourByOne;
  /// Rows: 128 for A; N rounded up to 128 for B on the 4x1 path; the
  /// instruction's N for B on the 2x2 path.
  unsigned rows = 128;
  /// Columns from one word (4 consecutive scales of each row) to the next.
  /// Given by the hardware for K=96, a choice of software otherwise.
  unsigned wordStride = 4;
};

/// The region with the word stride that whole-atom copies give: rows / 32, or
/// rows / 64 on the 2x2 path, or 1 with one row to a lane. `rows` is N for B
/// (any legal N), 128 for A.
Result<ScaleRegion> scaleRegion(ScalePath path, unsigned rows);

/// Columns of tensor memory that `scales` scales of each of `rows` rows (128 of
/// A, N of B) take on the 4x1 path, in whole atoms.
unsigned scaleColumns(unsigned rows, unsigned scales);

/// Number of copies of each scale: 4, 2 or 1.
constexpr unsigned replicas(ScalePath path) {
  return path == ScalePath::FourByOne ? 4 : path == ScalePath::TwoByTwo ? 2 : 1;
}

/// Lane, column relative to the region, and byte of the 32-bit word.
struct ScalePosition {
  unsigned lane, column, byte;
};

/// The region as a layout from row, scale and replica to lane, column and byte.
/// Its extents are `region.rows`, as many scales as there is room for, and
/// `replicas(region.path)`. A region that scaleRegion() does not give must have
/// passed whyNot().
Layout scaleLayout(const ScaleRegion &region);

/// Why no scales lie like that; empty if they may.
std::optional<Reason> whyNot(const ScaleRegion &region);

/// Where replica `replica` of scale `scale` (counted along K from the start of
/// the region) of row `row` lies.
Result<ScalePosition> scalePosition(const ScaleRegion &region, unsigned row,
                                    unsigned scale, unsigned replica);

/// What lies at a position of the region.
struct ScaleIndex {
  unsigned row, scale, replica;
};
Result<ScaleIndex> scaleIndex(const ScaleRegion &region,
                              const ScalePosition &position);

//===----------------------------------------------------------------------===//
// Successive MMAs
//===----------------------------------------------------------------------===//

/// Words after which the scales of successive MMAs of K=96 start at byte 0 of a
/// word again: of 2 MMAs with blocks of 16, of 4 with blocks of 32. No MMA
/// reads words on both sides.
inline constexpr unsigned kK96PeriodWords = 3;

/// The scale address of one MMA.
struct ScaleStep {
  /// First scale along K.
  unsigned firstScale;
  /// Column relative to the region, and SFA_ID or SFB_ID.
  unsigned column, id;
};
/// The address of MMA number `index` of those that follow each other along K,
/// each with `scalesPerMma` scales per row.
Result<ScaleStep> scaleStep(unsigned scalesPerMma, unsigned wordStride,
                            unsigned index);

/// Words of 4 scales of each row that an MMA with `scalesPerMma` scales and id
/// `id` reads: 1 or 2. The second lies `wordStride` columns behind the first.
unsigned wordsPerMma(unsigned scalesPerMma, unsigned id);

/// A byte that an MMA reads of each row's words.
struct ConsumedByte {
  /// 0 the addressed word, 1 the next one (`wordStride` columns further).
  unsigned word;
  unsigned byte;
};
/// The bytes that an MMA with `scalesPerMma` scales and id `id` consumes, in
/// order; empty if the id is not one of that form.
struct ConsumedBytes {
  std::array<ConsumedByte, 8> bytes;
  unsigned count;
};
ConsumedBytes consumedBytes(unsigned scalesPerMma, unsigned id);

/// Columns of tensor memory between which the scale address of an MMA must lie:
/// public kernels use even ones only, but for scales with one row to a lane.
inline constexpr unsigned kScaleColumnStep = 2;

/// Tiles along the rows of an operand may share atoms if they have a multiple
/// of this many rows.
inline constexpr unsigned kSharedAtomStep = kScaleColumnStep * kAtomLanes;

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_SCALELAYOUT_H
