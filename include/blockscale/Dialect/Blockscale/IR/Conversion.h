//===- Conversion.h - what kernels that convert read ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_CONVERSION_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_CONVERSION_H

#include "blockscale/Dialect/Blockscale/IR/BlockscaleSums.h"
#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "blockscale/HW/Metadata.h"

namespace blockscale {

/// Whether `op` changes how a tensor is stored or which elements it has, and is
/// computed by a kernel of its own where it is all of its function:
/// `dequantize`, `relayout`, `prune`, `compress`, `densify` and `tile_sums`.
bool isConversion(mlir::Operation *op);

/// What a kernel has to know of the conversion `op`, in the function `source`.
ConversionAttr conversionOf(mlir::Operation *op, llvm::StringRef source);

/// Whether it is that of a `blockscale.tile_sums`.
bool isTileSums(ConversionAttr conversion);

/// The storage of a tensor of `type` whose values a kernel for `target`
/// computes, or why there is no such kernel.
Result<QuantizedStorage> dequantizedStorage(ScaledTensorType type,
                                            hw::Target target);

/// Elements that a thread dequantises, neighbours in a row: what becomes 32
/// bytes of `result`, a sector of memory; of 6-bit codes 16 at least, which
/// fill whole words.
int64_t elementsPerThread(const QuantizedStorage &storage, mlir::Type result);

/// How many threads dequantise all of it.
mlir::AffineExpr threadsToDequantize(const QuantizedStorage &storage,
                                     mlir::Type result);

/// What a kernel adds up over tiles along K.
struct SumStorage {
  /// Without scales.
  QuantizedStorage storage;
  hw::OperandType element;
  /// Elements along K of a tile; all of them if it is 0.
  int64_t tile = 0;
  /// Tiles of a row.
  mlir::AffineExpr tiles;
  /// Partial sums of a tile.
  int64_t partialSums = 1;

  /// Scales of a tensor of `type` for a group of rows, and of a matrix.
  mlir::AffineExpr scalesOfRow(ScaledTensorType type) const;
  mlir::AffineExpr scalesOfMatrix(ScaledTensorType type) const;
};

/// Where a kernel for `target` finds a tensor of type `from`, whose tiles it
/// adds up, or why there is no such kernel.
Result<SumStorage> sumStorage(ScaledTensorType from, int64_t tile,
                              hw::Target target);

/// How many threads add up all tiles: one for each partial sum.
mlir::AffineExpr threadsToSum(const SumStorage &sums);

/// Lines of bytes in memory before and after a change of their layout: scales,
/// or metadata. Of each storage only what tells of sizes and of these bytes is
/// there; `scales` says where they lie, and a block is what one describes.
struct MovedBytes {
  QuantizedStorage from, to;
  ScaleLayout fromLayout, toLayout;
  /// Of a matrix, without padding: lines, and bytes of one.
  mlir::AffineExpr lines, bytes;
  bool isMetadata = false;

  /// What padding is filled with.
  int64_t padding() const { return isMetadata ? hw::kEmptyMetadataByte : 0; }
};

/// Elements of a byte in memory before and after a change of their order. Of
/// each storage only the pitches are there; as many lines as one has, as many
/// elements has a line of the other.
struct MovedElements {
  QuantizedStorage from, to;
  mlir::AffineExpr fromLines, toLines, batch;
};

/// What a relayout moves, each where it lies elsewhere in the result.
struct RelayoutStorage {
  /// A block is what K is a multiple of.
  QuantizedStorage sizes;
  std::optional<MovedElements> elements = {};
  std::optional<MovedBytes> metadata = {}, scales = {};
  /// What memory has zero points as, an integer; they lie as the scales do, in
  /// numbers of this type. Null without any.
  mlir::IntegerType zeros = {};
};

/// Where a kernel finds the parts of a tensor of type `from` that lie elsewhere
/// in `to`, which is as large, and puts them; or why there is no such kernel.
Result<RelayoutStorage> relayoutStorage(ScaledTensorType from,
                                        ScaledTensorType to);

/// The scales of tiles that are shorter in `to` along K, which are repeated, or
/// why no kernel does so.
Result<MovedBytes> repeatedScales(ScaledTensorType from, ScaledTensorType to);

/// Scales in layout 'plain', each of which a result has for several shorter
/// tiles.
struct RepeatedScales {
  /// What memory has them as: those of a byte are i8.
  mlir::Type memory;
  /// Lines of a matrix, of one row or of several, and scales of each.
  mlir::AffineExpr lines, ofLine, ofResult, batch;
  /// How often each stands in the result.
  int64_t times;
};

/// How many threads write all of them.
mlir::AffineExpr threadsToRepeat(const RepeatedScales &scales);

/// Threads of a CTA of such a kernel.
inline constexpr int64_t kConversionThreads = 128;

/// Scales of one row that a thread moves together: a word.
inline constexpr int64_t kScalesOfWord = 4;

/// Bytes of a line that a thread moves together: a word, of metadata 16 where
/// every line has whole ones.
int64_t bytesOfPiece(const MovedBytes &moved);

/// Of the result, with padding: pieces of a line, and lines of a matrix.
mlir::AffineExpr piecesOfLine(const MovedBytes &moved);
mlir::AffineExpr linesOfMatrix(const MovedBytes &moved);

/// Pieces of a line of metadata that neighbouring threads have, before the next
/// line: a sector of memory.
int64_t piecesTogether(const MovedBytes &moved);

/// How many threads move all bytes.
mlir::AffineExpr threadsToMove(const MovedBytes &moved);

/// A thread transposes so many bytes of as many lines, and a CTA has so many
/// threads beside each other along a line, and one above the other.
inline constexpr int64_t kTransposedBytes = 16, kTransposedAlong = 8,
                         kTransposedAcross = 16;

/// How many threads move all zero points: one for each place of the result.
mlir::AffineExpr threadsToMoveZeros(const MovedBytes &scales);

/// How many threads a relayout has for elements, for metadata behind those, for
/// scales and for zero points, each whole CTAs if others follow, and in all.
mlir::AffineExpr threadsOfElements(const RelayoutStorage &storage);
mlir::AffineExpr threadsOfMetadata(const RelayoutStorage &storage);
mlir::AffineExpr threadsOfScales(const RelayoutStorage &storage);
mlir::AffineExpr threadsToRelayout(const RelayoutStorage &storage);

/// The sizes of a matrix of `type` that a kernel prunes in groups of so many
/// elements; its blocks are the elements of a thread, 32 bytes or a group.
/// Else why there is no such kernel.
Result<QuantizedStorage> prunedStorage(mlir::RankedTensorType type,
                                       int64_t group);

/// How many threads prune all of it.
mlir::AffineExpr threadsToPrune(const QuantizedStorage &storage);

/// Elements with and without those that a pattern drops. Both storages have K
/// of the dense one; there are no scales.
struct SparseStorage {
  QuantizedStorage dense, sparse;
  hw::OperandType element;
  hw::SparsePattern pattern;
  /// Of one matrix; a block is what one byte describes. In tiles they have
  /// padding, in rows none.
  hw::StorageLayout<mlir::AffineExpr> metadata;
  bool padsMetadata = true;
  /// Scales that are repeated for shorter tiles, those that instructions read
  /// and others; none where they stay.
  std::optional<MovedBytes> scales = {};
  std::optional<RepeatedScales> plainScales = {};
};

/// Where a kernel that goes from `from` to `to`, of which one is sparse, finds
/// elements and metadata and puts them; or why there is no such kernel.
Result<SparseStorage> sparseStorage(ScaledTensorType from, ScaledTensorType to);

/// Metadata of one row that a thread has: a word.
inline constexpr int64_t kMetadataOfWord = 4;

/// Elements of a row that such a word describes, of which K is a multiple.
int64_t elementsOfWord(hw::SparsePattern pattern);

/// Of the metadata of one matrix: words of a row of a tile, rows with padding,
/// tiles along K. A thread has a word, in the order of tiles in memory,
/// whatever the layout is.
inline constexpr int64_t kWordsOfMetadataRow =
    hw::kMetadataTileBytes / kMetadataOfWord;
mlir::AffineExpr metadataRows(const SparseStorage &storage);
mlir::AffineExpr metadataTiles(const SparseStorage &storage);
mlir::AffineExpr threadsOfMetadata(const SparseStorage &storage);

/// How many threads a kernel has for metadata and, behind those, for scales.
mlir::AffineExpr threadsOfSparse(const SparseStorage &storage);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_CONVERSION_H
