//===- LayoutSubject.cpp - a question about a layout, understood ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutSubject.h"
#include "blockscale/HW/Metadata.h"

#include <algorithm>
#include <array>

namespace blockscale::explain {

using namespace hw;

static constexpr std::array<std::string_view, 3> kMemories{"shared", "tensor",
                                                           "registers"};
static constexpr std::array<std::string_view, 3> kOperands{"a", "b",
                                                           "metadata"};

std::string_view memoryName(LayoutMemory memory) {
  return kMemories[static_cast<std::size_t>(memory)];
}

template <typename Names>
static Reason unknown(const char *what, const std::string &name,
                      const Names &names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i)
    list += (i == 0                 ? "'"
             : i + 1 < names.size() ? ", '"
                                    : " and '") +
            std::string(names[i]) + "'";
  return std::string("unknown ") + what + " '" + name + "', legal are " + list;
}

Result<std::optional<LayoutMemory>> readMemory(const LayoutQuestion &question) {
  if (question.memory.empty())
    return std::optional<LayoutMemory>();
  auto found = std::find(kMemories.begin(), kMemories.end(), question.memory);
  if (found == kMemories.end())
    return unknown("memory", question.memory, kMemories);
  return std::optional(static_cast<LayoutMemory>(found - kMemories.begin()));
}

/// The first type of the kind's A, in the order of the table.
static const MmaRow *anyRow(MmaKind kind, MmaFamily family) {
  for (const MmaRow &row : allRows())
    if (row.kind == kind && row.family == family)
      return &row;
  return nullptr;
}

/// Kind and operand.
static std::optional<Reason> readNames(const LayoutQuestion &question,
                                       LayoutSubject &subject) {
  std::string operand = question.operand.empty() ? "a" : question.operand;
  auto found = std::find(kOperands.begin(), kOperands.end(), operand);
  if (found == kOperands.end())
    return unknown("operand", operand, kOperands);
  subject.operand = static_cast<LayoutOperand>(found - kOperands.begin());
  std::string name = question.kind.empty() ? "mxf8f6f4" : question.kind;
  std::vector<std::string_view> legal;
  for (MmaKind kind : allKinds())
    if (subject.isMetadata() || isBlockScaled(kind))
      legal.push_back(kindName(kind));
  std::optional<MmaKind> kind = parseKind(name);
  if (!kind)
    return unknown("kind", name, legal);
  if (!subject.isMetadata() && !isBlockScaled(*kind)) {
    Reason list = unknown("kind", name, legal);
    return "kind '" + name + "' has no scales" +
           list.text.substr(list.text.find(','));
  }
  subject.mma.kind = *kind;
  return std::nullopt;
}

/// Types, block and shape; what the question leaves open is the commonest.
static void chooseShape(const LayoutQuestion &question, LayoutMemory memory,
                        LayoutSubject &subject) {
  MmaQuery &mma = subject.mma;
  bool inWarp = memory == LayoutMemory::Registers;
  mma.family = inWarp ? MmaFamily::MmaSync : MmaFamily::Tcgen05;
  mma.sparse = question.sparse || subject.isMetadata();
  bool isK96 = question.k == 96u;
  bool isWide =
      question.k && kSize(mma.kind, *question.k, mma.sparse) == KSize::Wide;
  mma.target = {inWarp                          ? Chip::SM120
                : isK96                         ? Chip::SM103
                : isWide || question.rowPerLane ? Chip::SM107
                                                : Chip::SM100,
                TargetVariant::ArchSpecific};
  const MmaRow *row = anyRow(mma.kind, *mma.family);
  if (!row)
    row = anyRow(mma.kind, MmaFamily::Tcgen05);
  mma.a = row->a.members().front();
  mma.b = row->sameTypes ? mma.a : row->b.members().front();
  bool isScaled = isBlockScaled(mma.kind);
  mma.block = !isScaled ? 0
                        : question.blockSize.value_or(
                              mma.kind == MmaKind::MXF4NVF4 ? 16 : 32);
  // Of the types that the hardware takes for a block the one made for it.
  mma.scale.reset();
  if (isScaled)
    mma.scale = mma.block == 16 ? ElementFormat::UE4M3 : ElementFormat::UE8M0;
  mma.ctaGroup = question.ctaGroup.value_or(1);
  mma.m = question.m.value_or(inWarp ? 16 : mma.ctaGroup == 2 ? 256 : 128);
  mma.n = question.n.value_or(inWarp ? 8 : 128);
  mma.k = question.k.value_or(instructionK(mma.kind, mma.sparse));
}

static std::optional<Reason> readIds(const LayoutQuestion &question,
                                     LayoutMemory memory,
                                     LayoutSubject &subject) {
  auto stray = [](const char *option, const char *owner) -> Reason {
    return std::string("'--") + option + "' is of " + owner;
  };
  if (question.sfaId && subject.operand != LayoutOperand::ScalesOfA)
    return stray("sfa-id", "the scales of A");
  if (question.sfbId && subject.operand != LayoutOperand::ScalesOfB)
    return stray("sfb-id", "the scales of B");
  if (question.threadId && (memory != LayoutMemory::Registers ||
                            subject.operand == LayoutOperand::Metadata))
    return stray("thread-id", "scales in registers: --memory=registers");
  if (question.rowPerLane && subject.operand != LayoutOperand::ScalesOfA)
    return stray("row-per-lane", "the scales of A");
  if (question.rowPerLane && memory == LayoutMemory::Registers)
    return stray("row-per-lane", "scales in tensor memory");
  subject.rowPerLane = question.rowPerLane;
  subject.mma.sfaId = question.sfaId.value_or(0);
  subject.mma.sfbId = question.sfbId.value_or(0);
  return std::nullopt;
}

Result<LayoutSubject> readSubject(const LayoutQuestion &question,
                                  LayoutMemory memory) {
  LayoutSubject subject;
  if (auto why = readNames(question, subject))
    return *why;
  chooseShape(question, memory, subject);
  if (auto why = readIds(question, memory, subject))
    return *why;
  if (auto why = whyNot(subject.mma))
    return *why;
  subject.scales = scalesPerMma(subject.mma.kind, subject.mma.block,
                                subject.mma.k, subject.mma.sparse);
  if (question.threadId)
    if (auto why = whyNotScaleSelector(warpOperandOf(subject), subject.scales,
                                       0, *question.threadId))
      return *why;
  if (question.row.has_value() != question.block.has_value())
    return Reason(std::string("a byte is asked for by '--row' and '--block', "
                              "found only '--") +
                  (question.row ? "row" : "block") + "'");
  if (question.blocks && question.block && *question.block >= *question.blocks)
    return Reason("block " + std::to_string(*question.block) +
                  " is none of the " + std::to_string(*question.blocks) +
                  " along K");
  return subject;
}

unsigned LayoutSubject::rows() const {
  return operand == LayoutOperand::ScalesOfB ? mma.n : mma.m / mma.ctaGroup;
}

unsigned LayoutSubject::span() const {
  return isMetadata() ? elementsPerMetadataByte(sparsePattern(mma.kind))
                      : scaleSpan(mma.block, mma.sparse);
}

const Layout &LayoutSubject::storage() const {
  return isMetadata() ? kTiledMetadata
         : rowPerLane ? kRowTiledScales
                      : kTiledScales;
}

std::string LayoutSubject::name() const {
  switch (operand) {
  case LayoutOperand::ScalesOfA:
    return "scales of A";
  case LayoutOperand::ScalesOfB:
    return "scales of B";
  case LayoutOperand::Metadata:
    break;
  }
  return "metadata of A";
}

std::string LayoutSubject::instruction() const {
  std::string text = "kind " + std::string(kindName(mma.kind)) +
                     (mma.sparse ? ", sparse" : "") +
                     ", K = " + std::to_string(mma.k);
  if (scales)
    text += ", blocks of " + std::to_string(mma.block);
  if (mma.ctaGroup == 2)
    text += ", pairs with M = " + std::to_string(mma.m);
  if (operand == LayoutOperand::ScalesOfB && mma.family == MmaFamily::Tcgen05)
    text += ", N = " + std::to_string(mma.n);
  return text;
}

std::optional<unsigned> wantedId(const LayoutQuestion &question,
                                 const LayoutSubject &subject) {
  return subject.operand == LayoutOperand::ScalesOfB ? question.sfbId
                                                     : question.sfaId;
}

Result<ScaleRegion> regionOf(const LayoutSubject &subject) {
  bool isB = subject.operand == LayoutOperand::ScalesOfB;
  ScalePath path = subject.rowPerLane
                       ? ScalePath::RowPerLane
                       : scalePath(isB, subject.mma.ctaGroup, subject.mma.m);
  return scaleRegion(path, isB ? subject.mma.n : kAtomRows);
}

Result<WarpMma> warpMmaOf(const LayoutSubject &subject) {
  bool isPacked = containerBits(subject.mma.kind) == 4;
  if (!isBlockScaled(subject.mma.kind))
    return Reason("kind '" + std::string(kindName(subject.mma.kind)) +
                  "' has no register layout here, legal are 'mxf4', "
                  "'mxf4nvf4' and 'mxf8f6f4'");
  if (subject.mma.sparse)
    return isPacked ? WarpMma::SparseK128 : WarpMma::SparseK64;
  return isPacked ? WarpMma::K64 : WarpMma::K32;
}

WarpOperand warpOperandOf(const LayoutSubject &subject) {
  switch (subject.operand) {
  case LayoutOperand::ScalesOfA:
    return WarpOperand::ScaleA;
  case LayoutOperand::ScalesOfB:
    return WarpOperand::ScaleB;
  case LayoutOperand::Metadata:
    break;
  }
  return WarpOperand::Metadata;
}

std::string formulaOf(const Layout &layout) {
  std::string text = print(layout), line;
  for (char c : text)
    if (c == '\n')
      line += ", ";
    else
      line += c;
  if (!line.empty())
    line.resize(line.size() - 2);
  return line;
}

} // namespace blockscale::explain
