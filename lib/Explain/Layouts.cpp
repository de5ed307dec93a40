//===- Layouts.cpp - where one byte lies ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Explain/Layouts.h"
#include "LayoutSubject.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Metadata.h"

#include <nlohmann/json.hpp>

namespace blockscale::explain {

using namespace hw;
using nlohmann::ordered_json;

static constexpr LayoutMemory kAllMemories[] = {
    LayoutMemory::Shared, LayoutMemory::Tensor, LayoutMemory::Registers};

/// What a memory answers: a line for people and an object for programs.
namespace {
struct Answer {
  std::string text;
  ordered_json json = ordered_json::object();
};
} // namespace

static std::string text(std::uint64_t number) { return std::to_string(number); }

//===----------------------------------------------------------------------===//
// One byte
//===----------------------------------------------------------------------===//

/// The instruction along K that reads the byte.
static std::uint64_t mmaOf(const LayoutSubject &subject, std::uint64_t block) {
  return block * subject.span() / subject.mma.k;
}

static Result<Answer> inShared(const LayoutSubject &subject, std::uint64_t row,
                               std::uint64_t block,
                               std::optional<std::uint64_t> blocks) {
  const Layout &layout = subject.storage();
  Layout tile = layout.tile();
  std::uint64_t rows = layout.multipleOf(Dim::Row);
  std::uint64_t along = layout.multipleOf(Dim::Block);
  std::uint64_t byte = tile.at(
      {{Dim::Row, row % rows}, {Dim::Block, block % along}})[Dim::Offset];
  std::uint64_t bytes = rows * along;
  Answer answer;
  answer.text = "byte " + text(byte) + " of the " + text(bytes) + " of tile (" +
                text(row / rows) + ", " + text(block / along) + "), " +
                text(rows) + " rows by " + text(along) +
                (subject.isMetadata() ? " bytes" : " blocks");
  answer.json = {{"tile", {row / rows, block / along}},
                 {"tile_bytes", bytes},
                 {"byte", byte}};
  if (!blocks)
    return answer;
  if (subject.isMetadata()) {
    // Tiles run along the rows first, and their number is not known.
    return Reason("'--blocks' is of scales; the place of a tile of metadata "
                  "depends on the number of rows");
  }
  ScaleTensor tensor{subject.span(), row + 1, *blocks * subject.span(), 1};
  if (*blocks > (std::uint64_t(1) << 62) / tensor.blockSize)
    return Reason("the scale tensor does not fit in memory");
  Result<std::uint64_t> offset =
      scaleOffset(tensor, row, block * subject.span(), 0);
  if (subject.rowPerLane && offset)
    offset = storageLayout(layout, {{Dim::Row, row + 1}, {Dim::Block, *blocks}})
                 .offset({{Dim::Row, row}, {Dim::Block, block}});
  if (!offset)
    return offset.why();
  answer.text += "; byte " + text(*offset) + " of the operand's";
  answer.json["offset"] = *offset;
  return answer;
}

/// "tile 2 of 128 rows, row 44" where the row is not of the first tile.
static std::string tileText(std::uint64_t tile, std::uint64_t rows,
                            std::uint64_t row) {
  return tile == 0 ? ""
                   : " (row " + text(row) + " of tile " + text(tile) + ", " +
                         text(rows) + " rows each)";
}

static Result<Answer> scaleInTensor(const LayoutSubject &subject,
                                    std::uint64_t row, std::uint64_t block) {
  Result<ScaleRegion> region = regionOf(subject);
  if (!region)
    return region.why();
  std::uint64_t tile = row / subject.rows();
  auto inTile = static_cast<unsigned>(row % subject.rows());
  if (block >= kTmemColumns * kAtomScales)
    return Reason("block " + text(block) +
                  " lies outside the 512 columns of tensor memory");
  Answer answer;
  ordered_json lanes = ordered_json::array();
  std::string list;
  ScalePosition place{};
  for (unsigned r = 0; r < replicas(region->path); ++r) {
    Result<ScalePosition> position =
        scalePosition(*region, inTile, static_cast<unsigned>(block), r);
    if (!position)
      return position.why();
    place = *position;
    lanes.push_back(place.lane);
    list += (r == 0                           ? ""
             : r + 1 < replicas(region->path) ? ", "
                                              : " and ") +
            text(place.lane);
  }
  auto index = static_cast<unsigned>(mmaOf(subject, block));
  Result<ScaleStep> step = scaleStep(subject.scales, region->wordStride, index);
  if (!step)
    return step.why();
  answer.text = "lanes " + list + ", column " + text(place.column) + ", byte " +
                text(place.byte) + tileText(tile, subject.rows(), inTile) +
                "; read by MMA " + text(index) +
                " along K: scale address column " + text(step->column) +
                ", id " + text(step->id);
  answer.json = {{"tile", tile},
                 {"row", inTile},
                 {"lanes", lanes},
                 {"column", place.column},
                 {"byte", place.byte},
                 {"mma", index},
                 {"address_column", step->column},
                 {"id", step->id}};
  return answer;
}

static Result<Answer> metadataInTensor(const LayoutSubject &subject,
                                       std::uint64_t row, std::uint64_t block) {
  MmaKind kind = subject.mma.kind;
  std::uint64_t tile = row / subject.rows(), element = block * subject.span();
  auto inTile = static_cast<unsigned>(row % subject.rows());
  std::uint64_t step = element / subject.mma.k;
  if (step >= kTmemColumns)
    return Reason("byte " + text(block) +
                  " lies outside the 512 columns of tensor memory");
  Result<MetadataPosition> place =
      metadataPosition(kind, static_cast<unsigned>(step), inTile,
                       static_cast<unsigned>(element % subject.mma.k));
  if (!place)
    return place.why();
  MetadataStep address = metadataStep(kind, static_cast<unsigned>(step));
  Answer answer;
  answer.text = "lane " + text(place->lane) + ", column " +
                text(place->column) + ", byte " + text(place->byte) +
                tileText(tile, subject.rows(), inTile) + "; read by MMA " +
                text(step) + " along K: metadata address column " +
                text(address.column) + ", selector " + text(address.selector);
  answer.json = {{"tile", tile},
                 {"row", inTile},
                 {"lanes", {place->lane}},
                 {"column", place->column},
                 {"byte", place->byte},
                 {"mma", step},
                 {"address_column", address.column},
                 {"selector", address.selector}};
  return answer;
}

static Result<Answer> scaleInRegisters(const LayoutSubject &subject,
                                       std::uint64_t row, std::uint64_t block) {
  WarpOperand operand = warpOperandOf(subject);
  constexpr unsigned kRows = 32;
  auto inGroup = static_cast<unsigned>(row % kRows);
  auto thread = static_cast<unsigned>(
      kScaleRegisters.inverse().at({{Dim::Row, inGroup}})[Dim::Thread]);
  unsigned tileRows = operand == WarpOperand::ScaleA ? 16 : 8;
  std::uint64_t step = mmaOf(subject, block);
  Result<ScaleSelector> selector =
      scaleSelector(operand, subject.scales, inGroup / tileRows,
                    static_cast<unsigned>(step % kAtomScales));
  if (!selector)
    return selector.why();
  Answer answer;
  answer.text =
      "thread " + text(thread) + ", byte " + text(block % kAtomScales) +
      " of register " + text(block / kAtomScales) +
      tileText(row / kRows, kRows, inGroup) + "; MMA " + text(step) +
      " along K of rows " + text(inGroup / tileRows * tileRows) + " to " +
      text(inGroup / tileRows * tileRows + tileRows - 1) + " selects byte-id " +
      text(selector->byteId) + ", thread-id " + text(selector->threadId);
  answer.json = {{"tile", row / kRows},
                 {"row", inGroup},
                 {"thread", thread},
                 {"register", block / kAtomScales},
                 {"byte", block % kAtomScales},
                 {"mma", step},
                 {"byte_id", selector->byteId},
                 {"thread_id", selector->threadId}};
  return answer;
}

static Result<Answer> metadataInRegisters(const LayoutSubject &subject,
                                          std::uint64_t row,
                                          std::uint64_t block) {
  Result<WarpMma> mma = warpMmaOf(subject);
  if (!mma)
    return mma.why();
  Layout layout =
      warpFragmentLayout(*mma, WarpOperand::Metadata, subject.scales);
  std::uint64_t element = block * subject.span();
  Coordinates source = layout.inverse().at(
      {{Dim::Row, row % subject.mma.m}, {Dim::K, element % subject.mma.k}});
  std::uint64_t byte = source[Dim::Value] / subject.span();
  std::uint64_t step = element / subject.mma.k;
  Answer answer;
  answer.text =
      "thread " + text(source[Dim::Thread]) + ", byte " + text(byte) +
      tileText(row / subject.mma.m, subject.mma.m, row % subject.mma.m) +
      "; read by MMA " + text(step) + " along K";
  answer.json = {{"tile", row / subject.mma.m},
                 {"row", row % subject.mma.m},
                 {"thread", source[Dim::Thread]},
                 {"byte", byte},
                 {"mma", step}};
  return answer;
}

static Result<Answer> answerIn(LayoutMemory memory,
                               const LayoutSubject &subject,
                               const LayoutQuestion &question) {
  std::uint64_t row = *question.row, block = *question.block;
  if (block > (std::uint64_t(1) << 62) / subject.mma.k)
    return Reason("block " + text(block) + " does not fit in memory");
  switch (memory) {
  case LayoutMemory::Shared:
    return inShared(subject, row, block, question.blocks);
  case LayoutMemory::Tensor:
    return subject.isMetadata() ? metadataInTensor(subject, row, block)
                                : scaleInTensor(subject, row, block);
  case LayoutMemory::Registers:
    break;
  }
  return subject.isMetadata() ? metadataInRegisters(subject, row, block)
                              : scaleInRegisters(subject, row, block);
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

/// The formula of a memory, and how successive instructions address it.
static Result<Answer> formulaIn(LayoutMemory memory,
                                const LayoutSubject &subject) {
  Answer answer;
  Layout layout;
  bool isMetadata = subject.isMetadata();
  if (memory == LayoutMemory::Shared) {
    layout = subject.storage();
  } else if (memory == LayoutMemory::Tensor && isMetadata) {
    layout = kRowPerLane;
  } else if (memory == LayoutMemory::Tensor) {
    Result<ScaleRegion> region = regionOf(subject);
    if (!region)
      return region.why();
    layout = scaleLayout(*region);
  } else if (isMetadata) {
    Result<WarpMma> mma = warpMmaOf(subject);
    if (!mma)
      return mma.why();
    layout = warpFragmentLayout(*mma, WarpOperand::Metadata, subject.scales);
  } else {
    layout = kScaleRegisters;
  }
  answer.text = formulaOf(layout);
  answer.json["formula"] = answer.text;
  return answer;
}

//===----------------------------------------------------------------------===//
// Text and JSON
//===----------------------------------------------------------------------===//

namespace {
/// What all memories that the question is about answer.
struct Answers {
  LayoutSubject subject;
  std::vector<std::pair<LayoutMemory, Answer>> list;
};
} // namespace

static Result<Answers> answersTo(const LayoutQuestion &question) {
  Result<std::optional<LayoutMemory>> named = readMemory(question);
  if (!named)
    return named.why();
  Result<LayoutSubject> first =
      readSubject(question, named->value_or(LayoutMemory::Tensor));
  if (!first)
    return first.why();
  Answers answers{*first, {}};
  for (LayoutMemory memory : kAllMemories) {
    if (*named && **named != memory)
      continue;
    // Where nobody asked for registers their instruction need not exist, and M
    // and N are those of the other.
    LayoutQuestion here = question;
    bool isExtra = !*named && memory == LayoutMemory::Registers;
    if (isExtra)
      here.m = here.n = std::nullopt;
    Result<LayoutSubject> subject = readSubject(here, memory);
    if (!subject && isExtra)
      continue;
    if (!subject)
      return subject.why();
    Result<Answer> answer = question.row ? answerIn(memory, *subject, question)
                                         : formulaIn(memory, *subject);
    if (!answer && isExtra)
      continue;
    if (!answer)
      return answer.why();
    answers.list.emplace_back(memory, std::move(*answer));
  }
  return answers;
}

/// "scale of row 37, block 3 of A: elements 96 to 127 along K".
static std::string byteText(const LayoutSubject &subject,
                            const LayoutQuestion &question) {
  std::uint64_t first = *question.block * subject.span();
  bool isB = subject.operand == LayoutOperand::ScalesOfB;
  return std::string(subject.isMetadata() ? "metadata" : "scale") + " of " +
         (isB ? "column " : "row ") + text(*question.row) +
         (subject.isMetadata() ? ", byte " : ", block ") +
         text(*question.block) + " of " + (isB ? "B" : "A") + ": elements " +
         text(first) + " to " + text(first + subject.span() - 1) +
         " along K; " + subject.instruction();
}

Result<std::string> layoutText(const LayoutQuestion &question) {
  Result<Answers> answers = answersTo(question);
  if (!answers)
    return answers.why();
  const LayoutSubject &subject = answers->subject;
  std::string result = question.row
                           ? byteText(subject, question)
                           : subject.name() + "; " + subject.instruction() +
                                 "; r: row or column, j: block along K";
  result += '\n';
  for (const auto &[memory, answer] : answers->list) {
    std::string name(memoryName(memory));
    constexpr std::size_t kWidth = 11;
    name.resize(kWidth, ' ');
    result += "  " + name + answer.text + '\n';
  }
  return result;
}

Result<std::string> layoutJson(const LayoutQuestion &question) {
  if (!question.row) {
    Result<pictures::ByteMap> map = layoutMap(question);
    if (!map)
      return map.why();
    return pictures::printByteMap(*map);
  }
  Result<Answers> answers = answersTo(question);
  if (!answers)
    return answers.why();
  const LayoutSubject &subject = answers->subject;
  ordered_json json = {{"operand", subject.name()},
                       {"instruction", subject.instruction()},
                       {"row", *question.row},
                       {"block", *question.block},
                       {"first_element", *question.block * subject.span()},
                       {"elements", subject.span()}};
  for (const auto &[memory, answer] : answers->list)
    json[std::string(memoryName(memory))] = answer.json;
  return json.dump(1) + "\n";
}

} // namespace blockscale::explain
