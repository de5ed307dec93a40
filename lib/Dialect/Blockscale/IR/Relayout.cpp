//===- Relayout.cpp - parts from one layout to another --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Conversion.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// Why no kernel repeats the scales of such a tensor.
static std::optional<Reason> whyNotRepeated(ScaledTensorType from) {
  const ScaleSpec &spec = from.getSpec().getValue();
  std::string name = "'" + std::string(from.getSpec().getText()) + "'";
  if (spec.zero)
    return "a kernel moves no zero points, which " + name + " has";
  if (!spec.isTile() || from.getRowTile() != 1)
    return "a kernel moves a scale for each row and block along K, but those "
           "of " +
           name + " are for other tiles; nearest legal: 'e8m0_t32'";
  std::optional<ElementFormat> format = scaleFormat(*spec.scale);
  if (!format || formatInfo(*format).storageBits != 8)
    return "a kernel moves scales of one byte, but those of " + name +
           " are wider";
  return std::nullopt;
}

/// Lines of scales of a matrix: one for each row of tiles.
static AffineExpr linesOfScales(const QuantizedStorage &sizes) {
  if (sizes.rowTile == 0)
    return getAffineConstantExpr(1, sizes.k.getContext());
  return sizes.rows.ceilDiv(sizes.rowTile);
}

static QuantizedStorage scalesOf(ScaledTensorType type) {
  QuantizedStorage storage = sizesInMemory(type);
  storage.scale = *scaleFormat(*type.getSpec().getValue().scale);
  storage.block = type.getKTile();
  storage.scales =
      getStorageBytes(getScaleStorage(getScaleLayout(type)),
                      linesOfScales(storage), storage.k, storage.block);
  return storage;
}

static MovedBytes movedScales(ScaledTensorType from, ScaledTensorType to) {
  MovedBytes moved{scalesOf(from),     scalesOf(to), getScaleLayout(from),
                   getScaleLayout(to), {},           {}};
  moved.lines = linesOfScales(moved.to);
  moved.bytes = moved.to.k.floorDiv(moved.to.block);
  return moved;
}

Result<MovedBytes> blockscale::repeatedScales(ScaledTensorType from,
                                              ScaledTensorType to) {
  if (auto why = whyNotRepeated(from))
    return *why;
  return movedScales(from, to);
}

AffineExpr blockscale::threadsToRepeat(const RepeatedScales &scales) {
  return scales.ofResult * scales.lines * scales.batch;
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

static MovedBytes movedMetadata(ScaledTensorType from, ScaledTensorType to) {
  int64_t perByte = hw::elementsPerMetadataByte(*sparsePattern(from));
  auto metadataOf = [&](ScaledTensorType type) {
    QuantizedStorage storage = sizesInMemory(type);
    storage.block = perByte;
    storage.scales = getStorageBytes(getMetadataStorage(type.getLayout()),
                                     storage.rows, storage.k, perByte);
    return storage;
  };
  MovedBytes moved{metadataOf(from),
                   metadataOf(to),
                   from.getLayout(),
                   to.getLayout(),
                   {},
                   {}};
  moved.lines = moved.to.rows;
  // Tiles of scales may end within a byte.
  moved.bytes = moved.to.k.ceilDiv(perByte);
  moved.isMetadata = true;
  return moved;
}

//===----------------------------------------------------------------------===//
// Threads that move bytes
//===----------------------------------------------------------------------===//

int64_t blockscale::bytesOfPiece(const MovedBytes &moved) {
  auto bytes = dyn_cast<AffineConstantExpr>(moved.bytes);
  bool isWhole = bytes && bytes.getValue() % hw::kMetadataTileBytes == 0;
  return moved.isMetadata && isWhole ? hw::kMetadataTileBytes : kScalesOfWord;
}

AffineExpr blockscale::piecesOfLine(const MovedBytes &moved) {
  int64_t piece = bytesOfPiece(moved), ofTile = kScalesOfWord;
  if (moved.toLayout == ScaleLayout::Plain)
    ofTile = piece;
  else if (moved.isMetadata || moved.toLayout == ScaleLayout::Tiled128x16)
    ofTile = hw::kMetadataTileBytes;
  return moved.bytes.ceilDiv(ofTile) * (ofTile / piece);
}

AffineExpr blockscale::linesOfMatrix(const MovedBytes &moved) {
  constexpr int64_t kTileRows = 128;
  return moved.toLayout == ScaleLayout::Plain
             ? moved.lines
             : moved.lines.ceilDiv(kTileRows) * kTileRows;
}

int64_t blockscale::piecesTogether(const MovedBytes &moved) {
  constexpr int64_t kSector = 32;
  return moved.isMetadata ? kSector / bytesOfPiece(moved) : 1;
}

AffineExpr blockscale::threadsToMove(const MovedBytes &moved) {
  int64_t together = piecesTogether(moved);
  return piecesOfLine(moved).ceilDiv(together) * together *
         linesOfMatrix(moved) * moved.to.batch;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static MovedElements movedElements(ScaledTensorType from) {
  QuantizedStorage sizes = sizesInMemory(from);
  AffineExpr stored = sizes.k;
  if (from.getSpec().getValue().isSparse())
    stored = stored.floorDiv(int64_t(hw::kSparseCompression));
  MovedElements moved{sizes, sizes, sizes.rows, stored, sizes.batch};
  if (from.getOrder() == DataOrder::MNMajor)
    std::swap(moved.fromLines, moved.toLines);
  const hw::TensorMapDataTypeInfo &bytes =
      hw::tensorMapDataTypeInfo(hw::TensorMapDataType::U8);
  for (auto [storage, lines, elements] :
       {std::tuple(&moved.from, moved.fromLines, moved.toLines),
        std::tuple(&moved.to, moved.toLines, moved.fromLines)}) {
    setLines(*storage, bytes, elements);
    storage->batchPitch = storage->linePitch * lines;
  }
  return moved;
}

/// Whole CTAs.
static AffineExpr threadsToTranspose(const MovedElements &moved) {
  constexpr int64_t kAlong = kTransposedBytes * kTransposedAlong,
                    kAcross = kTransposedBytes * kTransposedAcross;
  return moved.toLines.ceilDiv(kAlong) * moved.fromLines.ceilDiv(kAcross) *
         moved.batch * (kTransposedAlong * kTransposedAcross);
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

/// What the type asks K to be a multiple of.
static int64_t multipleOfK(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  if (spec.isTile())
    return type.getKTile();
  // Two groups, whose metadata share a byte.
  return spec.isSparse() ? 2 * int64_t(spec.ofM) : 1;
}

Result<RelayoutStorage> blockscale::relayoutStorage(ScaledTensorType from,
                                                    ScaledTensorType to) {
  const ScaleSpec &spec = from.getSpec().getValue();
  bool changesLayout = from.getLayout() != to.getLayout(),
       movesScales =
           !spec.isUnscaled() && getScaleLayout(from) != getScaleLayout(to);
  std::string name = "'" + std::string(from.getSpec().getText()) + "'";
  if (spec.isSparse() && !sparsePattern(from))
    return Reason("a kernel moves what keeps a pattern that instructions skip, "
                  "which that of " +
                  name + " is not; nearest legal: 'n2m4'");
  RelayoutStorage storage{sizesInMemory(from)};
  storage.sizes.block = multipleOfK(from);
  if (from.getOrder() != to.getOrder())
    storage.elements = movedElements(from);
  if (changesLayout && spec.isSparse())
    storage.metadata = movedMetadata(from, to);
  if (movesScales)
    storage.scales = movedScales(from, to);
  if (movesScales && spec.zero) {
    MLIRContext *context = from.getContext();
    Type zero = getBuiltinType(context, *spec.zero);
    unsigned bits = zero ? zero.getIntOrFloatBitWidth() : 0;
    if (bits != 8 && bits != 16 && bits != 32)
      return Reason("a kernel moves zero points of 1, 2 and 4 bytes, which "
                    "those of " +
                    name + " are not; nearest legal: 'e4m3fn_int8_t32'");
    storage.zeros = IntegerType::get(context, bits);
  }
  if (!storage.elements && !storage.metadata && !storage.scales)
    return Reason("the result lies in memory as the input does, so that a "
                  "kernel would move nothing; use the input in its place");
  return storage;
}

AffineExpr blockscale::threadsOfElements(const RelayoutStorage &storage) {
  if (!storage.elements)
    return getAffineConstantExpr(0, storage.sizes.k.getContext());
  return threadsToTranspose(*storage.elements);
}

/// Whole CTAs.
static AffineExpr wholeThreads(AffineExpr threads) {
  return threads.ceilDiv(kConversionThreads) * kConversionThreads;
}

AffineExpr blockscale::threadsOfMetadata(const RelayoutStorage &storage) {
  if (!storage.metadata)
    return getAffineConstantExpr(0, storage.sizes.k.getContext());
  return wholeThreads(threadsToMove(*storage.metadata));
}

AffineExpr blockscale::threadsOfScales(const RelayoutStorage &storage) {
  if (!storage.scales)
    return getAffineConstantExpr(0, storage.sizes.k.getContext());
  AffineExpr threads = threadsToMove(*storage.scales);
  return storage.zeros ? wholeThreads(threads) : threads;
}

AffineExpr blockscale::threadsToMoveZeros(const MovedBytes &scales) {
  return piecesOfLine(scales) * kScalesOfWord * linesOfMatrix(scales) *
         scales.to.batch;
}

AffineExpr blockscale::threadsToRelayout(const RelayoutStorage &storage) {
  AffineExpr threads = threadsOfElements(storage) + threadsOfMetadata(storage) +
                       threadsOfScales(storage);
  return storage.zeros ? threads + threadsToMoveZeros(*storage.scales)
                       : threads;
}
