//===- Metadata.cpp - structured-sparsity metadata===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Metadata.h"

#include <algorithm>

#include "blockscale/HW/Memory.h"

namespace blockscale::hw {

static std::string text(std::uint64_t value) { return std::to_string(value); }

namespace {
struct PatternName {
  SparsePattern pattern;
  std::string_view name;
};
constexpr std::array kPatternNames{
    PatternName{SparsePattern::TwoOfFour, "2:4"},
    PatternName{SparsePattern::PairsFourOfEight, "4:8 in pairs"},
    PatternName{SparsePattern::OneOfTwo, "1:2"}};
} // namespace

std::string_view patternName(SparsePattern pattern) {
  for (const PatternName &entry : kPatternNames)
    if (entry.pattern == pattern)
      return entry.name;
  return {};
}

std::optional<SparsePattern> parsePattern(std::string_view name) {
  for (const PatternName &entry : kPatternNames)
    if (entry.name == name)
      return entry.pattern;
  return std::nullopt;
}

SparsePatternInfo patternInfo(SparsePattern pattern) {
  switch (pattern) {
  case SparsePattern::TwoOfFour:
    return {4, 2, 1};
  case SparsePattern::PairsFourOfEight:
    return {8, 4, 2};
  case SparsePattern::OneOfTwo:
    break;
  }
  return {2, 1, 1};
}

SparsePattern sparsePattern(MmaKind kind) {
  switch (kind) {
  case MmaKind::MXF4:
  case MmaKind::MXF4NVF4:
    return SparsePattern::PairsFourOfEight;
  case MmaKind::TF32:
    return SparsePattern::OneOfTwo;
  default:
    return SparsePattern::TwoOfFour;
  }
}

//===----------------------------------------------------------------------===//
// Nibbles
//===----------------------------------------------------------------------===//

Result<unsigned> metadataNibble(SparsePattern pattern, unsigned first,
                                unsigned second) {
  if (pattern == SparsePattern::OneOfTwo) {
    if (first > 1)
      return Reason("a chunk of two has positions 0 and 1, "
                    "found " +
                    text(first));
    return first == 0 ? 0x4u : 0xeu;
  }
  if (first >= second || second > 3)
    return Reason("kept positions (" + text(first) + ", " + text(second) +
                  ") are not two increasing ones of 0 to 3");
  return first | second << 2;
}

Result<std::pair<unsigned, unsigned>> keptUnits(SparsePattern pattern,
                                                unsigned nibble) {
  if (pattern == SparsePattern::OneOfTwo) {
    if (nibble == 0x4 || nibble == 0xe)
      return std::pair{nibble == 0xe ? 1u : 0u, nibble == 0xe ? 1u : 0u};
    return Reason("metadata nibble " + hex(nibble, 1) +
                  " has no meaning for 1:2; 0x4 and 0xe have");
  }
  unsigned first = nibble & 3, second = nibble >> 2 & 3;
  if (nibble > 15 || first >= second)
    return Reason("metadata nibble " + hex(nibble, 1) +
                  " has no meaning; legal are 0x4, 0x8, 0xc, 0x9, 0xd and 0xe");
  return std::pair{first, second};
}

//===----------------------------------------------------------------------===//
// Compression
//===----------------------------------------------------------------------===//

namespace {
/// Positions of the units of a chunk with a nonzero element.
std::vector<unsigned> nonzeroUnits(const SparsePatternInfo &info,
                                   std::uint32_t nonzeroMask,
                                   const std::uint32_t *chunk) {
  std::vector<unsigned> units;
  for (unsigned unit = 0; unit < info.chunk / info.unit; ++unit)
    for (unsigned i = 0; i < info.unit; ++i)
      if (chunk[unit * info.unit + i] & nonzeroMask) {
        units.push_back(unit);
        break;
      }
  return units;
}

/// The two units to store for a chunk with those nonzero ones (at most two;
/// for 1:2 at most one, of which only the first answer counts).
std::pair<unsigned, unsigned> chooseUnits(SparsePattern pattern,
                                          const std::vector<unsigned> &units) {
  if (units.empty())
    return {0, 1};
  if (pattern == SparsePattern::OneOfTwo)
    return {units[0], units[0]};
  if (units.size() == 2)
    return {units[0], units[1]};
  return units[0] < 3 ? std::pair{units[0], 3u} : std::pair{0u, 3u};
}

/// Stores one unit of a chunk; a unit without a nonzero element becomes +0.
void storeUnit(const SparsePatternInfo &info,
               const std::vector<unsigned> &nonzero, unsigned unit,
               const std::uint32_t *chunk, std::vector<std::uint32_t> &stored) {
  bool keep = std::find(nonzero.begin(), nonzero.end(), unit) != nonzero.end();
  for (unsigned i = 0; i < info.unit; ++i)
    stored.push_back(keep ? chunk[unit * info.unit + i] : 0);
}
} // namespace

Result<CompressedRow> compress(SparsePattern pattern, unsigned elementBits,
                               const std::vector<std::uint32_t> &logical,
                               HighestBit highestBit) {
  SparsePatternInfo info = patternInfo(pattern);
  if (elementBits == 0 || elementBits > 32)
    return Reason("elements have 1 to 32 bits, found " + text(elementBits));
  if (logical.empty() || logical.size() % (2 * info.chunk) != 0)
    return Reason("a row has a multiple of " + text(2 * info.chunk) +
                  " elements, found " + text(logical.size()));
  std::uint32_t all = elementBits == 32 ? ~0u : (1u << elementBits) - 1;
  for (std::uint32_t code : logical)
    if (code > all)
      return Reason("code " + hex(code, 1) + " does not fit " +
                    text(elementBits) + " bits");
  std::uint32_t nonzeroMask = highestBit == HighestBit::Sign ? all >> 1 : all;
  std::size_t maxUnits = info.stored / info.unit;
  CompressedRow row;
  for (std::size_t at = 0; at < logical.size(); at += info.chunk) {
    std::vector<unsigned> units = nonzeroUnits(info, nonzeroMask, &logical[at]);
    if (units.size() > maxUnits)
      return Reason("the chunk at element " + text(at) + " has " +
                    text(units.size()) + " nonzero " +
                    (info.unit == 2 ? "pairs" : "elements") + " of " +
                    text(info.chunk / info.unit) + ", at most " +
                    text(maxUnits) + " can be kept");
    auto [first, second] = chooseUnits(pattern, units);
    storeUnit(info, units, first, &logical[at], row.stored);
    if (maxUnits > 1)
      storeUnit(info, units, second, &logical[at], row.stored);
    unsigned nibble = units.empty() ? kEmptyChunkNibble
                                    : *metadataNibble(pattern, first, second);
    if (at / info.chunk % 2 == 0)
      row.metadata.push_back(static_cast<std::uint8_t>(nibble));
    else
      row.metadata.back() |= static_cast<std::uint8_t>(nibble << 4);
  }
  return row;
}

Result<std::vector<std::uint32_t>> decompress(SparsePattern pattern,
                                              const CompressedRow &row) {
  SparsePatternInfo info = patternInfo(pattern);
  std::size_t chunks = row.metadata.size() * 2;
  if (row.stored.size() != chunks * info.stored)
    return Reason(text(row.metadata.size()) + " metadata bytes need " +
                  text(chunks * info.stored) + " stored elements, found " +
                  text(row.stored.size()));
  std::vector<std::uint32_t> logical(chunks * info.chunk, 0);
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    unsigned nibble = row.metadata[chunk / 2] >> (chunk % 2 * 4) & 15;
    auto kept = keptUnits(pattern, nibble);
    if (!kept)
      return Reason(kept.why().text + ", in chunk " + text(chunk));
    for (unsigned i = 0; i < info.stored; ++i) {
      unsigned unit = i < info.unit ? kept->first : kept->second;
      logical[chunk * info.chunk + unit * info.unit + i % info.unit] =
          row.stored[chunk * info.stored + i];
    }
  }
  return logical;
}

//===----------------------------------------------------------------------===//
// Memory layouts
//===----------------------------------------------------------------------===//

unsigned elementsPerMetadataByte(SparsePattern pattern) {
  return 2 * patternInfo(pattern).chunk;
}

std::optional<Reason> whyNot(const MetadataTensor &tensor) {
  if (tensor.m == 0 || tensor.k == 0)
    return "the metadata tensor is empty";
  constexpr std::uint64_t limit = std::uint64_t(1) << 63;
  constexpr std::uint64_t tileSize = kMetadataTileRows * kMetadataTileBytes;
  std::uint64_t tiles = ceilDiv(tensor.m, kMetadataTileRows);
  std::uint64_t tilesK =
      ceilDiv(tensor.k, std::uint64_t(elementsPerMetadataByte(tensor.pattern)) *
                            kMetadataTileBytes);
  if (tiles > limit / tileSize || tilesK > limit / tileSize / tiles)
    return "the metadata tensor does not fit in memory";
  return std::nullopt;
}

static StorageLayout<std::uint64_t> storageOf(const MetadataTensor &tensor) {
  unsigned perByte = elementsPerMetadataByte(tensor.pattern);
  return storageLayout(
      kTiledMetadata,
      {{Dim::Row, tensor.m}, {Dim::Block, ceilDiv(tensor.k, perByte)}});
}

std::uint64_t storageBytes(const MetadataTensor &tensor) {
  return storageOf(tensor).matrixBytes;
}

Result<std::uint64_t> metadataOffset(const MetadataTensor &tensor,
                                     std::uint64_t m, std::uint64_t k) {
  if (auto why = whyNot(tensor))
    return *why;
  if (m >= tensor.m || k >= tensor.k)
    return Reason("element (" + text(m) + ", " + text(k) + ") lies outside " +
                  text(tensor.m) + " x " + text(tensor.k));
  return storageOf(tensor).offset(
      {{Dim::Row, m},
       {Dim::Block, k / elementsPerMetadataByte(tensor.pattern)}});
}

Result<std::pair<std::uint64_t, std::uint64_t>>
metadataAt(const MetadataTensor &tensor, std::uint64_t offset) {
  if (auto why = whyNot(tensor))
    return *why;
  Coordinates source = storageOf(tensor).at(offset);
  std::uint64_t m = source[Dim::Row];
  std::uint64_t k =
      source[Dim::Block] * elementsPerMetadataByte(tensor.pattern);
  if (offset >= storageBytes(tensor) || m >= tensor.m || k >= tensor.k)
    return Reason("byte " + text(offset) + " holds no metadata of the tensor");
  return std::pair{m, k};
}

/// Metadata of one row for one MMA in bytes.
static unsigned stepBytes(MmaKind kind) {
  return instructionK(kind, /*sparse=*/true) /
         elementsPerMetadataByte(sparsePattern(kind));
}

unsigned metadataColumns(MmaKind kind, unsigned steps) {
  return stepBytes(kind) / kTmemColumnBytes * steps;
}

MetadataStep metadataStep(MmaKind kind, unsigned step) {
  unsigned column = metadataColumns(kind, step);
  return {column & ~1u, column & 1u};
}

Result<MetadataPosition> metadataPosition(MmaKind kind, unsigned step,
                                          unsigned m, unsigned k) {
  unsigned perByte = elementsPerMetadataByte(sparsePattern(kind));
  unsigned mmaK = instructionK(kind, /*sparse=*/true);
  if (m >= kTmemLanes || k >= mmaK)
    return Reason("element (" + text(m) + ", " + text(k) +
                  ") lies outside the 128 x " + text(mmaK) +
                  " of an instruction");
  if (step >= kTmemColumns / metadataColumns(kind, 1))
    return Reason("the metadata of step " + text(step) +
                  " lie outside the 512 columns of tensor memory");
  Coordinates at = kRowPerLane.at(
      {{Dim::Row, m}, {Dim::Block, step * stepBytes(kind) + k / perByte}});
  return MetadataPosition{static_cast<unsigned>(at[Dim::Lane]),
                          static_cast<unsigned>(at[Dim::Column]),
                          static_cast<unsigned>(at[Dim::Byte])};
}

Result<MetadataIndex> metadataIndex(MmaKind kind,
                                    const MetadataPosition &position) {
  if (position.lane >= kTmemLanes || position.column >= kTmemColumns ||
      position.byte >= kTmemColumnBytes)
    return Reason("lane " + text(position.lane) + ", column " +
                  text(position.column) + ", byte " + text(position.byte) +
                  " is no place in tensor memory");
  Coordinates source = kRowPerLane.inverse().at({{Dim::Lane, position.lane},
                                                 {Dim::Column, position.column},
                                                 {Dim::Byte, position.byte}});
  auto byte = static_cast<unsigned>(source[Dim::Block]);
  return MetadataIndex{
      byte / stepBytes(kind), static_cast<unsigned>(source[Dim::Row]),
      byte % stepBytes(kind) * elementsPerMetadataByte(sparsePattern(kind))};
}

} // namespace blockscale::hw
