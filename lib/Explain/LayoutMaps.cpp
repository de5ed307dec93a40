//===- LayoutMaps.cpp - all bytes of a layout -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutSubject.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Metadata.h"

#include <algorithm>

namespace blockscale::explain {

using namespace hw;
using pictures::ByteMap;
using pictures::MapPanel;
using pictures::MappedByte;
using pictures::MapReader;

namespace {
/// Builds the map of one memory.
class Mapper {
public:
  Mapper(const LayoutQuestion &question, const LayoutSubject &subject)
      : question(question), subject(subject) {}

  Result<ByteMap> map(LayoutMemory memory);

private:
  std::optional<Reason> mapSharedScales();
  std::optional<Reason> mapTensorScales();
  MapPanel panelOfScales(const ScaleRegion &region, const Layout &layout,
                         unsigned firstLane, unsigned first,
                         unsigned columns) const;
  std::optional<Reason> mapScaleRegisters();
  void mapSharedMetadata();
  std::optional<Reason> mapTensorMetadata();
  std::optional<Reason> mapMetadataRegisters();

  /// The words of 4 scales that are drawn: whole periods of ids.
  /// A row of A, a column of B.
  std::string rowNoun() const {
    return subject.operand == LayoutOperand::ScalesOfB ? "column" : "row";
  }
  unsigned words() const;
  std::uint64_t firstWord() const;
  std::optional<Reason> addScaleReaders();
  void addMetadataReaders();
  std::optional<unsigned> readerOfBlock(std::uint64_t block,
                                        std::uint64_t row) const;
  MappedByte contentOf(std::uint64_t row, std::uint64_t alongK,
                       std::optional<unsigned> reader) const;

  const LayoutQuestion &question;
  const LayoutSubject &subject;
  ByteMap result;
};
} // namespace

static constexpr unsigned kWordsShown = 2;
static constexpr unsigned kThreads = 32, kQuad = 4;

/// "blocks 4 to 7", "block 4".
static std::string range(const std::string &noun, std::uint64_t first,
                         std::uint64_t count) {
  if (count == 1)
    return noun + " " + std::to_string(first);
  return noun + "s " + std::to_string(first) + " to " +
         std::to_string(first + count - 1);
}

unsigned Mapper::words() const {
  return subject.mma.k == kK96 ? kK96PeriodWords : kWordsShown;
}

std::uint64_t Mapper::firstWord() const {
  std::uint64_t word = question.block.value_or(0) / kAtomScales;
  return word / words() * words();
}

/// `alongK` is the number of the block; of metadata the first element.
MappedByte Mapper::contentOf(std::uint64_t row, std::uint64_t alongK,
                             std::optional<unsigned> reader) const {
  MappedByte byte;
  byte.content = MappedByte::Content{row, alongK};
  byte.reader = reader;
  std::uint64_t unit = subject.isMetadata() ? subject.span() : 1;
  byte.isAsked =
      question.row == row && question.block && *question.block * unit == alongK;
  return byte;
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// The instructions that read the words drawn, with their addresses.
std::optional<Reason> Mapper::addScaleReaders() {
  Result<ScaleRegion> region = regionOf(subject);
  if (!region)
    return region.why();
  auto first =
      static_cast<unsigned>(firstWord() * kAtomScales / subject.scales);
  unsigned count = words() * kAtomScales / subject.scales;
  std::optional<unsigned> wanted = wantedId(question, subject);
  for (unsigned i = first; i < first + count; ++i) {
    Result<ScaleStep> step = scaleStep(subject.scales, region->wordStride, i);
    if (!step)
      return step.why();
    result.readers.push_back({i,
                              "column " + std::to_string(step->column) +
                                  ", id " + std::to_string(step->id),
                              !wanted || *wanted == step->id});
  }
  return std::nullopt;
}

std::optional<unsigned> Mapper::readerOfBlock(std::uint64_t block,
                                              std::uint64_t row) const {
  if (row >= subject.rows())
    return std::nullopt;
  auto index = static_cast<unsigned>(block / subject.scales -
                                     result.readers.front().number);
  return index < result.readers.size() ? std::optional(index) : std::nullopt;
}

std::optional<Reason> Mapper::mapSharedScales() {
  if (subject.rowPerLane)
    return Reason(
        "scales for one row to a lane are plain rows of 16 bytes in "
        "shared memory, of which there is no picture; '--memory=tensor' "
        "has one");
  if (auto why = addScaleReaders())
    return why;
  // Here the addresses in tensor memory say nothing, and every row is read by
  // some tile.
  for (MapReader &reader : result.readers)
    reader.address = range(
        "block", std::uint64_t(reader.number) * subject.scales, subject.scales);
  result.lineNames = {"offset"};
  result.groupName = "word";
  result.notes.push_back("Tiles of 128 rows by 4 blocks, 512 bytes: " +
                         formulaOf(kScaleAtom));
  std::uint64_t firstRow = question.row.value_or(0) / kAtomRows * kAtomRows;
  constexpr unsigned kLineBytes = kAtomBytes / kAtomLanes;
  for (std::uint64_t word = firstWord(); word < firstWord() + words(); ++word) {
    MapPanel panel;
    panel.title = "tile of " + range(rowNoun(), firstRow, kAtomRows) + ", " +
                  range("block", word * kAtomScales, kAtomScales);
    panel.groups = {0, 1, 2, 3};
    for (unsigned line = 0; line < kAtomLanes; ++line) {
      panel.lines.push_back({line * kLineBytes});
      panel.bytes.emplace_back();
      for (unsigned byte = 0; byte < kLineBytes; ++byte) {
        Coordinates source =
            kScaleAtom.inverse().at({{Dim::Offset, line * kLineBytes + byte}});
        std::uint64_t block = word * kAtomScales + source[Dim::Block];
        panel.bytes.back().push_back(contentOf(firstRow + source[Dim::Row],
                                               block, readerOfBlock(block, 0)));
      }
    }
    result.panels.push_back(std::move(panel));
  }
  return std::nullopt;
}

/// Which of the readers has the byte among those that it consumes.
static std::optional<unsigned> readerOf(const std::vector<MapReader> &readers,
                                        const LayoutSubject &subject,
                                        const ScaleRegion &region,
                                        unsigned column, unsigned byte) {
  for (std::size_t i = 0; i < readers.size(); ++i) {
    Result<ScaleStep> step =
        scaleStep(subject.scales, region.wordStride, readers[i].number);
    if (!step)
      return std::nullopt;
    ConsumedBytes consumed = consumedBytes(subject.scales, step->id);
    for (unsigned c = 0; c < consumed.count; ++c) {
      unsigned first =
          step->column + consumed.bytes[c].word * region.wordStride;
      if (consumed.bytes[c].byte == byte && column >= first &&
          column < first + region.wordStride)
        return static_cast<unsigned>(i);
    }
  }
  return std::nullopt;
}

/// `columns` columns of tensor memory from `first` on, in the lanes of one atom
/// from `firstLane` on, and the lanes that hold the same.
MapPanel Mapper::panelOfScales(const ScaleRegion &region, const Layout &layout,
                               unsigned firstLane, unsigned first,
                               unsigned columns) const {
  MapPanel panel;
  std::uint64_t lowest = ~std::uint64_t(0), highest = 0;
  for (unsigned column = first; column < first + columns; ++column)
    panel.groups.push_back(column);
  for (unsigned lane = firstLane; lane < firstLane + kAtomLanes; ++lane) {
    panel.bytes.emplace_back();
    panel.lines.emplace_back();
    for (unsigned column = first; column < first + columns; ++column)
      for (unsigned byte = 0; byte < kTmemColumnBytes; ++byte) {
        std::optional<Coordinates> source = layout.sourceAt(
            {{Dim::Lane, lane}, {Dim::Column, column}, {Dim::Byte, byte}});
        if (!source || (*source)[Dim::Row] >= region.rows) {
          panel.bytes.back().emplace_back();
          continue;
        }
        std::uint64_t row = (*source)[Dim::Row];
        lowest = std::min(lowest, row);
        highest = std::max(highest, row);
        std::optional<unsigned> reader;
        if (row < subject.rows())
          reader = readerOf(result.readers, subject, region, column, byte);
        panel.bytes.back().push_back(
            contentOf(row, (*source)[Dim::Block], reader));
      }
    for (unsigned replica = 0; replica < replicas(region.path); ++replica)
      panel.lines.back().push_back(
          lane + layout.at({{Dim::Replica, replica}})[Dim::Lane]);
  }
  panel.title = range(rowNoun(), lowest, highest - lowest + 1);
  return panel;
}

std::optional<Reason> Mapper::mapTensorScales() {
  if (auto why = addScaleReaders())
    return why;
  Result<ScaleRegion> region = regionOf(subject);
  if (!region)
    return region.why();
  if (question.row && *question.row >= subject.rows())
    return Reason("row " + std::to_string(*question.row) + " is none of the " +
                  std::to_string(subject.rows()) +
                  " whose scales a CTA holds for one instruction");
  Layout layout = scaleLayout(*region);
  result.lineNames.assign(replicas(region->path), "lane");
  result.groupName = "column";
  // Narrow panels of both halves beside each other.
  if (region->wordStride <= 2)
    result.panelsPerLine = 2;
  result.notes.push_back("From the first column of the scales: " +
                         formulaOf(layout));
  // The first lanes of each half of N on the 2x2 path.
  std::vector<unsigned> halves{0};
  if (region->path == ScalePath::TwoByTwo)
    halves.push_back(kTmemLanes / 2);
  // All rows have lanes of their own.
  for (unsigned lane = kAtomLanes;
       region->path == ScalePath::RowPerLane && lane < kTmemLanes;
       lane += kAtomLanes)
    halves.push_back(lane);
  for (std::uint64_t word = firstWord(); word < firstWord() + words(); ++word)
    for (unsigned half : halves)
      for (unsigned at = 0; at < region->wordStride; at += kCopyColumnStep) {
        unsigned columns = std::min(kCopyColumnStep, region->wordStride - at);
        auto first = static_cast<unsigned>(word * region->wordStride + at);
        MapPanel panel = panelOfScales(*region, layout, half, first, columns);
        panel.title += ", " + range("block", word * kAtomScales, kAtomScales);
        result.panels.push_back(std::move(panel));
      }
  return std::nullopt;
}

std::optional<Reason> Mapper::mapScaleRegisters() {
  WarpOperand operand = warpOperandOf(subject);
  unsigned tileRows = operand == WarpOperand::ScaleA ? 16 : 8;
  unsigned tiles = kThreads / tileRows;
  std::optional<unsigned> wanted = wantedId(question, subject);
  std::uint64_t firstBlock = firstWord() * kAtomScales;
  unsigned steps = kAtomScales / subject.scales;
  for (unsigned step = 0; step < steps; ++step) {
    Result<ScaleSelector> selector =
        scaleSelector(operand, subject.scales, 0, step);
    if (!selector)
      return selector.why();
    result.readers.push_back(
        {static_cast<unsigned>(firstBlock / subject.scales) + step,
         "byte-id " + std::to_string(selector->byteId),
         !wanted || *wanted == selector->byteId});
  }
  if (question.row && *question.row >= kThreads)
    return Reason("row " + std::to_string(*question.row) +
                  " is none of the 32 whose scales a register per thread "
                  "holds");
  result.lineNames = {"quad"};
  result.groupName = "thread of quad";
  result.notes.push_back(
      "Thread = quad * 4 + thread of quad. One register for each thread holds "
      "4 scales of 32 rows: " +
      formulaOf(kScaleRegisters));
  MapPanel panel;
  for (unsigned tile = 0; tile < tiles; ++tile) {
    Result<ScaleSelector> selector =
        scaleSelector(operand, subject.scales, tile, 0);
    if (!selector)
      return selector.why();
    panel.title += (tile ? "; " : "") + std::string("thread-id ") +
                   std::to_string(selector->threadId) + ": " +
                   range(rowNoun(), tile * tileRows, tileRows);
  }
  panel.groups = {0, 1, 2, 3};
  for (unsigned quad = 0; quad < kThreads / kQuad; ++quad) {
    panel.lines.push_back({quad});
    panel.bytes.emplace_back();
    for (unsigned i = 0; i < kQuad * kTmemColumnBytes; ++i) {
      unsigned thread = quad * kQuad + i / kTmemColumnBytes;
      unsigned row = scaleRegisterRow(thread), byte = i % kTmemColumnBytes;
      std::optional<unsigned> reader = byte / subject.scales;
      if (question.threadId) {
        Result<unsigned> supplier =
            scaleSupplier(operand, *question.threadId, row % tileRows);
        if (!supplier)
          return supplier.why();
        if (*supplier != thread)
          reader.reset();
      }
      panel.bytes.back().push_back(contentOf(row, firstBlock + byte, reader));
    }
  }
  result.panels.push_back(std::move(panel));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

/// The instructions whose metadata one copy moves.
void Mapper::addMetadataReaders() {
  MmaKind kind = subject.mma.kind;
  unsigned each = metadataColumns(kind, 1);
  for (unsigned step = 0; step < kCopyColumnStep / each; ++step) {
    MetadataStep address = metadataStep(kind, step);
    std::string text = "column " + std::to_string(address.column);
    // Where a word is enough the selector says which of two.
    if (each == 1)
      text += ", selector " + std::to_string(address.selector);
    result.readers.push_back({step, text, true});
  }
  result.alongKName = "element";
}

void Mapper::mapSharedMetadata() {
  addMetadataReaders();
  result.lineNames = {"offset"};
  result.groupName = "word";
  Layout tile = kTiledMetadata.tile();
  result.notes.push_back(
      "Tiles of 128 rows by 16 bytes, 2048 bytes; a byte is for " +
      std::to_string(subject.span()) + " elements: " + formulaOf(tile));
  std::uint64_t firstRow =
      question.row.value_or(0) / kMetadataTileRows * kMetadataTileRows;
  std::uint64_t firstBlock =
      question.block.value_or(0) / kMetadataTileBytes * kMetadataTileBytes;
  MapPanel panel;
  panel.title = "tile of " + range("row", firstRow, kMetadataTileRows) + ", " +
                range("element", firstBlock * subject.span(),
                      std::uint64_t(kMetadataTileBytes) * subject.span());
  panel.groups = {0, 1, 2, 3};
  for (unsigned line = 0; line < kMetadataTileRows; ++line) {
    panel.lines.push_back({line * kMetadataTileBytes});
    panel.bytes.emplace_back();
    for (unsigned i = 0; i < kMetadataTileBytes; ++i) {
      Coordinates source =
          tile.inverse().at({{Dim::Offset, line * kMetadataTileBytes + i}});
      // Copied as it is, row by row.
      Coordinates copied = kRowPerLane.at(
          {{Dim::Row, source[Dim::Row]}, {Dim::Block, source[Dim::Block]}});
      Result<MetadataIndex> index = metadataIndex(
          subject.mma.kind, {static_cast<unsigned>(copied[Dim::Lane]),
                             static_cast<unsigned>(copied[Dim::Column]),
                             static_cast<unsigned>(copied[Dim::Byte])});
      panel.bytes.back().push_back(
          contentOf(firstRow + source[Dim::Row],
                    (firstBlock + source[Dim::Block]) * subject.span(),
                    index ? std::optional(index->step) : std::nullopt));
    }
  }
  result.panels.push_back(std::move(panel));
}

std::optional<Reason> Mapper::mapTensorMetadata() {
  addMetadataReaders();
  if (question.row && *question.row >= subject.rows())
    return Reason("row " + std::to_string(*question.row) + " is none of the " +
                  std::to_string(subject.rows()) +
                  " whose metadata a CTA holds for one instruction");
  MmaKind kind = subject.mma.kind;
  result.lineNames = {"lane"};
  result.groupName = "column";
  result.notes.push_back("From the first column of the metadata, a byte for " +
                         std::to_string(subject.span()) +
                         " elements: " + formulaOf(kRowPerLane));
  unsigned tileColumns = kMetadataTileBytes / kTmemColumnBytes;
  auto first = static_cast<unsigned>(question.block.value_or(0) /
                                     kMetadataTileBytes * tileColumns);
  unsigned steps = first / metadataColumns(kind, 1);
  for (MapReader &reader : result.readers) {
    MetadataStep address = metadataStep(kind, steps + reader.number);
    reader.number += steps;
    reader.address = "column " + std::to_string(address.column);
    if (metadataColumns(kind, 1) == 1)
      reader.address += ", selector " + std::to_string(address.selector);
  }
  MapPanel panel;
  for (unsigned column = first; column < first + tileColumns; ++column)
    panel.groups.push_back(column);
  for (unsigned lane = 0; lane < kTmemLanes; ++lane) {
    panel.lines.push_back({lane});
    panel.bytes.emplace_back();
    for (unsigned i = 0; i < kMetadataTileBytes; ++i) {
      Result<MetadataIndex> index = metadataIndex(
          kind, {lane, first + i / kTmemColumnBytes, i % kTmemColumnBytes});
      if (!index)
        return index.why();
      std::optional<unsigned> reader = index->step - steps;
      if (index->m >= subject.rows())
        reader.reset();
      panel.bytes.back().push_back(contentOf(
          index->m,
          std::uint64_t(index->step) * instructionK(kind, true) + index->k,
          reader));
    }
  }
  result.panels.push_back(std::move(panel));
  return std::nullopt;
}

std::optional<Reason> Mapper::mapMetadataRegisters() {
  Result<WarpMma> mma = warpMmaOf(subject);
  if (!mma)
    return mma.why();
  Layout layout =
      warpFragmentLayout(*mma, WarpOperand::Metadata, subject.scales);
  result.alongKName = "element";
  result.lineNames = {"quad"};
  result.groupName = "thread of quad";
  result.notes.push_back(
      "Thread = quad * 4 + thread of quad. One register for each thread, a "
      "byte for " +
      std::to_string(subject.span()) + " elements.");
  result.readers.push_back({0, "the whole register", true});
  MapPanel panel;
  panel.groups = {0, 1, 2, 3};
  for (unsigned quad = 0; quad < kThreads / kQuad; ++quad) {
    panel.lines.push_back({quad});
    panel.bytes.emplace_back();
    for (unsigned i = 0; i < kQuad * kTmemColumnBytes; ++i) {
      Coordinates source =
          layout.at({{Dim::Thread, quad * kQuad + i / kTmemColumnBytes},
                     {Dim::Value, i % kTmemColumnBytes * subject.span()}});
      panel.bytes.back().push_back(
          contentOf(source[Dim::Row], source[Dim::K], 0));
    }
  }
  result.panels.push_back(std::move(panel));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

Result<ByteMap> Mapper::map(LayoutMemory memory) {
  static constexpr std::string_view kTitles[] = {
      "in global and shared memory", "in tensor memory", "in registers"};
  std::string title = subject.name();
  title.front() = title.front() == 's' ? 'S' : 'M';
  result.title =
      title + " " + std::string(kTitles[static_cast<std::size_t>(memory)]);
  result.notes.push_back(subject.instruction() + ".");
  result.notes.back().front() = 'K';
  std::optional<Reason> why;
  switch (memory) {
  case LayoutMemory::Shared:
    if (subject.isMetadata())
      mapSharedMetadata();
    else
      why = mapSharedScales();
    break;
  case LayoutMemory::Tensor:
    why = subject.isMetadata() ? mapTensorMetadata() : mapTensorScales();
    break;
  case LayoutMemory::Registers:
    why = subject.isMetadata() ? mapMetadataRegisters() : mapScaleRegisters();
    break;
  }
  if (why)
    return *why;
  std::string rowName =
      subject.operand == LayoutOperand::ScalesOfB ? "column of B" : "row of A";
  result.notes.push_back("A box is a byte, " + rowName + "\u00b7" +
                         (subject.isMetadata() ? "first element" : "block") +
                         " along K; M0 is the MMA along K that reads it.");
  return std::move(result);
}

Result<ByteMap> layoutMap(const LayoutQuestion &question) {
  Result<std::optional<LayoutMemory>> memory = readMemory(question);
  if (!memory)
    return memory.why();
  LayoutMemory place = memory->value_or(LayoutMemory::Tensor);
  Result<LayoutSubject> subject = readSubject(question, place);
  if (!subject)
    return subject.why();
  return Mapper(question, *subject).map(place);
}

} // namespace blockscale::explain
