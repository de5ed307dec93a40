//===- Metadata.h - structured-sparsity metadata -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 4-bit metadata of structured-sparse A operands: encodings, compression,
// and where the bytes lie in global and tensor memory. PTX ISA 9.7.16.10.8.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_METADATA_H
#define BLOCKSCALE_HW_METADATA_H

#include <vector>

#include "blockscale/HW/BitField.h"
#include "blockscale/HW/Layout.h"
#include "blockscale/HW/Mma.h"

namespace blockscale::hw {

/// Patterns that the hardware can skip.
enum class SparsePattern {
  /// Two of four elements (8-bit containers).
  TwoOfFour,
  /// Two of four aligned pairs in eight elements (packed 4-bit).
  PairsFourOfEight,
  /// One of two elements (tf32).
  OneOfTwo
};

/// "2:4", "4:8 in pairs", "1:2".
std::string_view patternName(SparsePattern pattern);
std::optional<SparsePattern> parsePattern(std::string_view name);

/// What a pattern looks like.
struct SparsePatternInfo {
  /// Logical elements of a chunk, stored elements of a chunk, elements that
  /// are kept together.
  unsigned chunk, stored, unit;
};
SparsePatternInfo patternInfo(SparsePattern pattern);

/// The pattern that the sparse instructions of a kind skip.
SparsePattern sparsePattern(MmaKind kind);

/// The nibble for a chunk with no nonzero element: stored zeros at positions 0
/// and 1 (positions 0 in a 1:2 chunk). The nibble 0 is not a legal encoding.
inline constexpr unsigned kEmptyChunkNibble = 0x4;

/// A byte of two such chunks, which is what metadata are padded with.
inline constexpr unsigned kEmptyMetadataByte =
    kEmptyChunkNibble << 4 | kEmptyChunkNibble;

/// The nibble that keeps the units at `first` < `second` (0 .. 3) of a chunk.
/// For 1:2, `first` (0 or 1) is the kept element and `second` is not used.
Result<unsigned> metadataNibble(SparsePattern pattern, unsigned first,
                                unsigned second);

/// The units kept by a nibble: two, or for 1:2 the same one twice.
Result<std::pair<unsigned, unsigned>> keptUnits(SparsePattern pattern,
                                                unsigned nibble);

/// A row in compressed form.
struct CompressedRow {
  /// Codes of the stored elements, half as many as logical ones.
  std::vector<std::uint32_t> stored;
  /// One byte per two chunks, the first chunk in the low nibble.
  std::vector<std::uint8_t> metadata;
};

/// What the code with only its highest bit set is.
enum class HighestBit {
  /// -0, a zero: elements are floats.
  Sign,
  /// A number: elements are integers.
  Number
};

/// Compresses element codes of `elementBits` bits. A float counts as zero if it
/// is +0 or -0, an integer if it is 0. A chunk with one nonzero unit at
/// position p < 3 keeps (p, 3); at position 3 it keeps (0, 3). Refuses a length
/// that is not whole pairs of chunks, a code that is too wide, and a chunk that
/// breaks the pattern (named in the reason).
Result<CompressedRow> compress(SparsePattern pattern, unsigned elementBits,
                               const std::vector<std::uint32_t> &logical,
                               HighestBit highestBit = HighestBit::Sign);

/// The inverse: logical codes with zeros at the places not kept.
Result<std::vector<std::uint32_t>> decompress(SparsePattern pattern,
                                              const CompressedRow &row);

//===----------------------------------------------------------------------===//
// Memory layouts
//===----------------------------------------------------------------------===//

/// Logical elements per metadata byte: 8 (2:4), 16 (4:8 in pairs) or 4 (1:2).
unsigned elementsPerMetadataByte(SparsePattern pattern);

/// A tile of metadata: rows, and bytes per row. One tcgen05.cp.128x128b moves
/// it into four columns of tensor memory, the metadata of two instructions, or
/// of four of kind f16 and tf32.
inline constexpr unsigned kMetadataTileRows = 128;
inline constexpr unsigned kMetadataTileBytes = 16;

/// Metadata in memory as such tiles, along rows first, then K. A block is what
/// one byte describes.
inline constexpr Layout kTiledMetadata{
    {Dim::Block, kMetadataTileBytes, 0, Dim::Storage0},
    {Dim::Row, kMetadataTileRows, 0, Dim::Storage1},
    {Dim::Row, 1, kMetadataTileRows, Dim::Storage2},
    {Dim::Block, 1, kMetadataTileBytes, Dim::Storage3}};

/// The metadata of a whole A operand in global or shared memory: tiles of 128
/// rows by 16 bytes stored row by row, M fastest, then K. Padded to whole
/// tiles.
struct MetadataTensor {
  SparsePattern pattern = SparsePattern::TwoOfFour;
  /// Rows and logical K, unpadded.
  std::uint64_t m = 0, k = 0;
};
std::optional<Reason> whyNot(const MetadataTensor &tensor);
std::uint64_t storageBytes(const MetadataTensor &tensor);

/// Byte that holds the metadata of element (m, k).
Result<std::uint64_t> metadataOffset(const MetadataTensor &tensor,
                                     std::uint64_t m, std::uint64_t k);
/// The inverse: (m, first k) of the byte; refuses bytes that only pad.
Result<std::pair<std::uint64_t, std::uint64_t>>
metadataAt(const MetadataTensor &tensor, std::uint64_t offset);

/// A byte of tensor memory, column relative to the region.
struct MetadataPosition {
  unsigned lane, column, byte;
};

/// Columns of tensor memory that hold the metadata of `steps` MMAs: one for
/// each of kind f16 and tf32, two for each of the others.
unsigned metadataColumns(MmaKind kind, unsigned steps);

/// How MMA number `step` names its metadata.
struct MetadataStep {
  /// Column of the operand, relative to the region.
  unsigned column;
  /// Sparsity selector of the instruction descriptor: the column behind
  /// `column` that holds the metadata. Kinds that read two columns have 0.
  unsigned selector;
};

/// Columns are even, so that two steps of kind f16 or tf32 share one (PTX ISA
/// 9.7.16.10.8.3, sparsity selector).
MetadataStep metadataStep(MmaKind kind, unsigned step);

/// The metadata byte of element (m, k) of MMA number `step`; k counts from the
/// start of the MMA and is below its K. m counts within the CTA.
Result<MetadataPosition> metadataPosition(MmaKind kind, unsigned step,
                                          unsigned m, unsigned k);

/// What a byte of the region holds.
struct MetadataIndex {
  unsigned step, m;
  /// First of the elements it covers.
  unsigned k;
};
Result<MetadataIndex> metadataIndex(MmaKind kind,
                                    const MetadataPosition &position);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_METADATA_H
