//===- Mma.cpp - look-ups in the legality table ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Mma.h"
#include "Capabilities.h"

#include <algorithm>
#include <array>

using namespace blockscale;
using namespace blockscale::hw;

namespace {

struct KindName {
  MmaKind kind;
  std::string_view name;
};

constexpr std::array kKindNames{
    KindName{MmaKind::MXF4, "mxf4"},
    KindName{MmaKind::MXF4NVF4, "mxf4nvf4"},
    KindName{MmaKind::MXF8F6F4, "mxf8f6f4"},
    KindName{MmaKind::F8F6F4, "f8f6f4"},
    KindName{MmaKind::F16, "f16"},
    KindName{MmaKind::TF32, "tf32"},
    KindName{MmaKind::I8, "i8"},
};

/// PTX spells 8-bit integers "s8" and "u8".
std::string ptxTypeName(OperandType type) {
  if (type == OperandType::uint8())
    return "u8";
  return type == OperandType(ElementFormat::INT8) ? "s8" : type.name();
}

/// The first row of an instruction, whatever its M, N and cta_group.
const MmaRow *findForm(MmaKind kind, unsigned block, unsigned k, bool sparse) {
  for (const MmaRow &row : allRows())
    if (row.kind == kind && row.block == block && row.k == k &&
        row.sparse == sparse)
      return &row;
  return nullptr;
}

std::string warpSpelling(const MmaRow &row, OperandType a, OperandType b) {
  std::string text = row.sparse ? "mma.sp::ordered_metadata" : "mma";
  text += ".sync.aligned.m16n8k" + std::to_string(row.k) + ".row.col";
  if (isBlockScaled(row.kind) || row.kind == MmaKind::F8F6F4)
    text += ".kind::" + std::string(kindName(row.kind));
  text += row.qualifier;
  const char *accumulator = row.kind == MmaKind::I8 ? ".s32" : ".f32";
  text += accumulator;
  text += "." + ptxTypeName(a) + "." + ptxTypeName(b) + accumulator;
  if (row.scale)
    text += "." + std::string(formatName(*row.scale));
  return text;
}

} // namespace

std::string_view blockscale::hw::kindName(MmaKind kind) {
  return kKindNames[static_cast<size_t>(kind)].name;
}

std::optional<MmaKind> blockscale::hw::parseKind(std::string_view name) {
  for (const KindName &entry : kKindNames)
    if (entry.name == name)
      return entry.kind;
  return std::nullopt;
}

const std::vector<MmaKind> &blockscale::hw::allKinds() {
  static const std::vector<MmaKind> kinds = [] {
    std::vector<MmaKind> result;
    for (const KindName &entry : kKindNames)
      result.push_back(entry.kind);
    return result;
  }();
  return kinds;
}

std::string_view blockscale::hw::familyName(MmaFamily family) {
  return family == MmaFamily::Tcgen05 ? "tcgen05.mma" : "mma.sync";
}

std::string_view blockscale::hw::sourceName(Source source) {
  switch (source) {
  case Source::IsaTable:
    return "ISA table";
  case Source::PublicKernels:
    return "public kernels";
  case Source::Inferred:
    return "inferred";
  }
  return "";
}

std::string OperandType::name() const {
  if (std::optional<ElementFormat> known = format())
    return std::string(formatName(*known));
  return *this == tf32() ? "tf32" : "uint8";
}

unsigned OperandType::bits() const {
  if (std::optional<ElementFormat> known = format())
    return formatInfo(*known).bits;
  return *this == tf32() ? 32 : 8;
}

std::optional<OperandType>
blockscale::hw::parseOperandType(std::string_view name) {
  if (name == "tf32")
    return OperandType::tf32();
  if (name == "uint8" || name == "ui8" || name == "u8")
    return OperandType::uint8();
  if (name == "s8")
    return OperandType(ElementFormat::INT8);
  if (std::optional<ElementFormat> format = parseFormat(name))
    return OperandType(*format);
  return std::nullopt;
}

std::vector<OperandType> OperandTypeSet::members() const {
  std::vector<OperandType> result;
  for (const FormatInfo &info : kFormats)
    if (contains(info.format))
      result.push_back(info.format);
  for (OperandType type : {OperandType::uint8(), OperandType::tf32()})
    if (contains(type))
      result.push_back(type);
  return result;
}

std::string OperandTypeSet::names() const {
  std::string text;
  for (OperandType type : members())
    text += (text.empty() ? "" : ", ") + type.name();
  return text;
}

std::vector<Target> TargetSet::members() const {
  std::vector<Target> result;
  for (Target target : allTargets())
    if (contains(target))
      result.push_back(target);
  return result;
}

std::string TargetSet::names() const {
  std::string text;
  for (Target target : members())
    text += (text.empty() ? "" : ", ") + targetName(target);
  return text;
}

std::vector<const MmaRow *> blockscale::hw::rowsFor(Target target) {
  std::vector<const MmaRow *> result;
  for (const MmaRow &row : allRows())
    if (row.targets.contains(target) && row.minPtx <= kMaxPtxVersion)
      result.push_back(&row);
  return result;
}

Source blockscale::hw::sourceOn(const MmaRow &row, Target target) {
  bool isInferred = target.variant == TargetVariant::Family &&
                    has(target.chip, &Capabilities::familyInferred);
  return isInferred ? Source::Inferred : row.source;
}

std::string_view blockscale::hw::evidenceOn(const MmaRow &row, Target target) {
  if (!row.evidence.empty() || target.chip != Chip::SM107)
    return row.evidence;
  // What was there before: the documents and the assembler, and for the scaled
  // kinds kernels too.
  return row.scale
             ? "[T] PTX ISA 9.4, [P] ptxas 13.5, [H] ThunderKittens' tests"
             : "[T] PTX ISA 9.4, [P] ptxas 13.5, [S] TensorRT-LLM";
}

unsigned blockscale::hw::minPtxVersion(const MmaRow &row, Target target) {
  return std::max(row.minPtx, minPtxVersion(target));
}

std::string blockscale::hw::ptxSpelling(const MmaRow &row, OperandType a,
                                        OperandType b) {
  if (row.family == MmaFamily::MmaSync)
    return warpSpelling(row, a, b);
  std::string text = row.sparse ? "tcgen05.mma.sp" : "tcgen05.mma";
  text += ".cta_group::" + std::to_string(row.ctaGroup);
  text += ".kind::" + std::string(kindName(row.kind));
  return text + std::string(row.qualifier);
}

std::vector<Scheme> blockscale::hw::findSchemes(
    OperandType a, OperandType b, std::optional<ElementFormat> scale,
    unsigned scaleSpan, bool sparse, std::optional<Target> target) {
  std::vector<Scheme> result;
  for (MmaKind kind : allKinds()) {
    for (const MmaRow &row : allRows()) {
      bool fits = row.kind == kind && row.a.contains(a) && row.b.contains(b) &&
                  row.scale == scale && row.scaleSpan() == scaleSpan &&
                  (!row.sameTypes || a == b) && row.sparse == sparse &&
                  row.minPtx <= kMaxPtxVersion &&
                  (!target || row.targets.contains(*target));
      Scheme scheme{kind, row.block};
      if (fits &&
          std::find(result.begin(), result.end(), scheme) == result.end())
        result.push_back(scheme);
    }
  }
  return result;
}

unsigned blockscale::hw::instructionK(MmaKind kind, bool sparse) {
  for (const MmaRow &row : allRows())
    if (row.kind == kind && row.sparse == sparse)
      return row.k;
  return 0;
}

std::optional<KSize> blockscale::hw::kSize(MmaKind kind, unsigned k,
                                           bool sparse) {
  unsigned narrow = instructionK(kind, sparse);
  if (k == narrow)
    return KSize::Narrow;
  if (containerBits(kind) == 4 && 2 * k == 3 * narrow)
    return KSize::Long;
  bool isWide = containerBits(kind) <= 8 && kind != MmaKind::I8;
  if (isWide && k == 2 * narrow)
    return KSize::Wide;
  return std::nullopt;
}

unsigned blockscale::hw::scalesPerMma(MmaKind kind, unsigned block, unsigned k,
                                      bool sparse) {
  const MmaRow *row = findForm(kind, block, k, sparse);
  return row ? row->scalesPerMma : 0;
}

std::vector<unsigned> blockscale::hw::legalScaleIds(MmaKind kind,
                                                    unsigned block, unsigned k,
                                                    bool sparse) {
  std::vector<unsigned> ids;
  if (const MmaRow *row = findForm(kind, block, k, sparse))
    for (unsigned id = 0; id < 4; ++id)
      if (row->scaleIds >> id & 1)
        ids.push_back(id);
  return ids;
}

bool blockscale::hw::isScaleId(unsigned scalesPerMma, unsigned id) {
  for (const MmaRow &row : allRows())
    if (row.scale && row.scalesPerMma == scalesPerMma)
      return id < 4 && (row.scaleIds >> id & 1);
  return false;
}

NRange blockscale::hw::nRange(const MmaRow &row, OperandType b,
                              OperandMajor bMajor) {
  if (bMajor == OperandMajor::K || b.bits() != 8)
    return {row.nMin, row.nMax, row.nStep};
  unsigned step = row.nStepMnMajorB;
  return {step, std::max(row.nMax, step), step};
}
