//===- CheckReport.cpp - the legality table as text -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckInternal.h"
#include "blockscale/HW/PtxVersion.h"

#include "blockscale/HW/LegalityTable.h"
#include "blockscale/HW/Metadata.h"

#include <array>

using namespace blockscale;
using namespace blockscale::hw;

namespace {

struct Column {
  std::string_view title;
  std::string (*text)(const MmaRow &row);
};

std::string idList(const MmaRow &row) {
  std::string text;
  if (!row.scale)
    return text;
  for (unsigned id = 0; id < 4; ++id)
    if (row.scaleIds >> id & 1)
      text += (text.empty() ? "" : ", ") + std::to_string(id);
  return text;
}

std::string optionalNumber(unsigned value) {
  return value ? std::to_string(value) : "";
}

const std::array kColumns{
    Column{"instruction",
           [](const MmaRow &row) {
             std::string name(familyName(row.family));
             if (!row.sparse)
               return name;
             return std::string(row.family == MmaFamily::Tcgen05
                                    ? "tcgen05.mma.sp"
                                    : "mma.sp::ordered_metadata");
           }},
    Column{"kind",
           [](const MmaRow &row) { return std::string(kindName(row.kind)); }},
    Column{"A and B",
           [](const MmaRow &row) {
             return row.a.names() + (row.sameTypes && row.a.members().size() > 1
                                         ? " (A and B alike)"
                                         : "");
           }},
    Column{"scale",
           [](const MmaRow &row) {
             return row.scale ? std::string(formatName(*row.scale)) : "";
           }},
    Column{"block",
           [](const MmaRow &row) { return optionalNumber(row.block); }},
    Column{"K per scale",
           [](const MmaRow &row) { return optionalNumber(row.scaleSpan()); }},
    Column{"scales per MMA",
           [](const MmaRow &row) { return optionalNumber(row.scalesPerMma); }},
    Column{"scale ids", idList},
    Column{"cta_group",
           [](const MmaRow &row) {
             return row.family == MmaFamily::Tcgen05
                        ? std::to_string(row.ctaGroup)
                        : std::string();
           }},
    Column{"M", [](const MmaRow &row) { return std::to_string(row.m); }},
    Column{"N",
           [](const MmaRow &row) {
             return describeRange({row.nMin, row.nMax, row.nStep});
           }},
    Column{"K", [](const MmaRow &row) { return std::to_string(row.k); }},
    Column{"MN-major types",
           [](const MmaRow &row) { return row.mnMajor.names(); }},
    Column{"N for N-major 8-bit B",
           [](const MmaRow &row) {
             for (OperandType type : row.mnMajor.members())
               if (type.bits() == 8)
                 return describeRange(nRange(row, type, OperandMajor::MN));
             return std::string();
           }},
    Column{"qualifier",
           [](const MmaRow &row) { return std::string(row.qualifier); }},
    Column{"targets", [](const MmaRow &row) { return row.targets.names(); }},
    Column{"PTX", [](const MmaRow &row) { return ptxVersionName(row.minPtx); }},
    Column{
        "source",
        [](const MmaRow &row) { return std::string(sourceName(row.source)); }},
    Column{"PTX ISA sections",
           [](const MmaRow &row) { return std::string(row.sections); }},
    Column{"evidence",
           [](const MmaRow &row) { return std::string(row.evidence); }},
};

std::string csvField(const std::string &text) {
  return text.find(',') == std::string::npos ? text : "\"" + text + "\"";
}

/// Reads a name into `value` and notes it in `given`; an empty name leaves the
/// default.
template <typename Value, typename Parse>
std::optional<Reason> readName(const std::string &name, const char *what,
                               Parse parse, Value &value, uint32_t field,
                               uint32_t &given) {
  if (name.empty())
    return std::nullopt;
  auto parsed = parse(name);
  if (!parsed)
    return "unknown " + std::string(what) + " '" + name + "'";
  value = *parsed;
  given |= field;
  return std::nullopt;
}

std::optional<OperandMajor> parseMajor(std::string_view name) {
  if (name == "k" || name == "K")
    return OperandMajor::K;
  if (name == "mn" || name == "MN")
    return OperandMajor::MN;
  return std::nullopt;
}

std::optional<MmaFamily> parseFamily(std::string_view name) {
  for (MmaFamily family : {MmaFamily::Tcgen05, MmaFamily::MmaSync})
    if (name == familyName(family))
      return family;
  return std::nullopt;
}

std::string knownKinds() {
  std::string text;
  for (MmaKind kind : allKinds())
    text += (text.empty() ? "" : ", ") + std::string(kindName(kind));
  return text;
}

void readNumber(const std::optional<unsigned> &number, unsigned &value,
                uint32_t field, uint32_t &given) {
  if (!number)
    return;
  value = *number;
  given |= field;
}

/// Reads the names of `question`.
std::optional<Reason> readNames(const LegalityQuestion &question,
                                MmaQuery &query, uint32_t &given) {
  auto parseScale = [](std::string_view name) {
    std::optional<std::optional<ElementFormat>> result;
    if (name == "none")
      result.emplace(std::nullopt);
    else if (std::optional<ElementFormat> format = parseFormat(name))
      result.emplace(format);
    return result;
  };
  if (auto why = readName(question.family, "instruction", parseFamily,
                          query.family, FieldFamily, given))
    return why;
  if (auto why = readName(question.kind, "kind", parseKind, query.kind,
                          FieldKind, given))
    return why->text + "; known kinds: " + knownKinds();
  if (auto why = readName(question.a, "type of A", parseOperandType, query.a,
                          FieldA, given))
    return why;
  if (auto why = readName(question.b, "type of B", parseOperandType, query.b,
                          FieldB, given))
    return why;
  if (auto why = readName(question.scale, "scale type", parseScale, query.scale,
                          FieldScale, given))
    return why;
  if (auto why = readName(question.aMajor, "major of A", parseMajor,
                          query.aMajor, FieldAMajor, given))
    return why;
  return readName(question.bMajor, "major of B", parseMajor, query.bMajor,
                  FieldBMajor, given);
}

/// Reads all that `question` says.
Result<MmaQuery> readQuestion(const LegalityQuestion &question,
                              uint32_t &given) {
  MmaQuery query;
  given = FieldSparse;
  query.sparse = question.sparse;
  Result<Target> target = parseTarget(question.target);
  if (!target)
    return target.why();
  query.target = *target;
  if (auto why = readNames(question, query, given))
    return *why;
  readNumber(question.block, query.block, FieldBlock, given);
  readNumber(question.m, query.m, FieldM, given);
  readNumber(question.n, query.n, FieldN, given);
  readNumber(question.k, query.k, FieldK, given);
  readNumber(question.ctaGroup, query.ctaGroup, FieldCtaGroup, given);
  readNumber(question.sfaId, query.sfaId, FieldSfaId, given);
  readNumber(question.sfbId, query.sfbId, FieldSfbId, given);
  return query;
}

std::string evidenceText(const MmaRow &row, Target target) {
  std::string_view evidence = evidenceOn(row, target);
  if (evidence.empty())
    return "";
  return "; evidence: " + std::string(evidence) + "; run by nobody here";
}

std::string describeLegal(const MmaQuery &query, const MmaRow &row) {
  std::string text = "legal: " + ptxSpelling(row, query.a, query.b) + " on " +
                     targetName(query.target) + ", " + query.a.name() + " x " +
                     query.b.name();
  if (row.scale)
    text += ", " + std::string(formatName(*row.scale)) + " per " +
            std::to_string(row.scaleSpan()) + " elements of K, " +
            std::to_string(row.scalesPerMma) +
            (row.scalesPerMma == 1 ? " scale" : " scales") + " per row, ids " +
            idList(row);
  text += ", M = " + std::to_string(row.m) +
          ", N = " + std::to_string(query.n) + " of " +
          describeRange(nRange(row, query.b, query.bMajor)) +
          ", K = " + std::to_string(row.k);
  return text + ", PTX " + ptxVersionName(minPtxVersion(row, query.target)) +
         " or newer (source: " +
         std::string(sourceName(sourceOn(row, query.target))) + "; PTX ISA " +
         std::string(row.sections) + ")" + evidenceText(row, query.target);
}

} // namespace

Result<Legality>
blockscale::hw::explainLegality(const LegalityQuestion &question) {
  uint32_t given = 0;
  Result<MmaQuery> read = readQuestion(question, given);
  if (!read)
    return read.why();
  MmaQuery query = completeQuery(*read, given);
  if (std::optional<Reason> reason = whyNot(query))
    return Legality{false, "illegal: " + reason->text};
  return Legality{true, describeLegal(query, *findRow(query))};
}

/// The rows to print: all, or those of one target.
static std::vector<const MmaRow *> rowsOf(std::optional<Target> target) {
  if (target)
    return rowsFor(*target);
  std::vector<const MmaRow *> rows;
  for (const MmaRow &row : allRows())
    rows.push_back(&row);
  return rows;
}

std::string
blockscale::hw::legalityTableMarkdown(std::optional<Target> target) {
  std::string text = "|", rule = "|";
  for (const Column &column : kColumns) {
    text += " " + std::string(column.title) + " |";
    rule += " --- |";
  }
  text += "\n" + rule + "\n";
  for (const MmaRow *row : rowsOf(target)) {
    text += "|";
    for (const Column &column : kColumns) {
      std::string cell = column.text(*row);
      text += cell.empty() ? " |" : " " + cell + " |";
    }
    text += "\n";
  }
  return text;
}

std::string blockscale::hw::legalityTableCsv(std::optional<Target> target) {
  std::string text;
  const char *separator = "";
  for (const Column &column : kColumns) {
    text += separator + csvField(std::string(column.title));
    separator = ",";
  }
  text += "\n";
  for (const MmaRow *row : rowsOf(target)) {
    separator = "";
    for (const Column &column : kColumns) {
      text += separator + csvField(column.text(*row));
      separator = ",";
    }
    text += "\n";
  }
  return text;
}

std::string blockscale::hw::legalityTableMarkdown() {
  return legalityTableMarkdown(std::nullopt);
}

std::string blockscale::hw::legalityTableCsv() {
  return legalityTableCsv(std::nullopt);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// Names and numbers of the table need no escapes.
static std::string jsonString(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

template <typename Range, typename Text>
static std::string jsonArray(const Range &range, Text text) {
  std::string list;
  for (const auto &element : range)
    list += (list.empty() ? "" : ", ") + text(element);
  return "[" + list + "]";
}

static std::string jsonRange(const NRange &range) {
  return "{\"min\": " + std::to_string(range.min) +
         ", \"max\": " + std::to_string(range.max) +
         ", \"step\": " + std::to_string(range.step) + "}";
}

static std::string jsonRow(const MmaRow &row) {
  auto typeName = [](OperandType type) { return jsonString(type.name()); };
  auto number = [](unsigned value) { return std::to_string(value); };
  auto boolean = [](bool value) { return value ? "true" : "false"; };
  std::vector<unsigned> ids;
  for (unsigned id = 0; row.scale && id < 4; ++id)
    if (row.scaleIds >> id & 1)
      ids.push_back(id);
  std::vector<Target> targets = row.targets.members();
  std::string text = "{\"family\": " + jsonString(familyName(row.family)) +
                     ", \"kind\": " + jsonString(kindName(row.kind)) +
                     ", \"sparse\": " + boolean(row.sparse);
  if (row.sparse)
    text +=
        ", \"pattern\": " + jsonString(patternName(sparsePattern(row.kind)));
  text += ", \"types\": " + jsonArray(row.a.members(), typeName) +
          ", \"same_types\": " + boolean(row.sameTypes) + ", \"scale\": " +
          (row.scale ? jsonString(formatName(*row.scale)) : "null") +
          ", \"block\": " + number(row.block) +
          ", \"k_per_scale\": " + number(row.scaleSpan()) +
          ", \"scales_per_mma\": " + number(row.scalesPerMma) +
          ", \"scale_ids\": " + jsonArray(ids, number) +
          ", \"cta_group\": " + number(row.ctaGroup) +
          ", \"m\": " + number(row.m) +
          ", \"n\": " + jsonRange({row.nMin, row.nMax, row.nStep}) +
          ", \"k\": " + number(row.k) +
          ", \"mn_major\": " + jsonArray(row.mnMajor.members(), typeName);
  return text + ", \"targets\": " +
         jsonArray(targets,
                   [](Target t) { return jsonString(targetName(t)); }) +
         ", \"ptx\": " + jsonString(ptxVersionName(row.minPtx)) +
         ", \"written\": " + boolean(row.minPtx <= kMaxPtxVersion) +
         ", \"source\": " + jsonString(sourceName(row.source)) +
         ", \"sections\": " + jsonString(row.sections) +
         ", \"evidence\": " + jsonString(row.evidence) + "}";
}

std::string blockscale::hw::legalityTableJson(std::optional<Target> target) {
  std::string text =
      "{\n  \"targets\": " +
      jsonArray(allTargets(),
                [](Target t) { return jsonString(targetName(t)); }) +
      ",\n  \"rows\": [";
  const char *separator = "\n    ";
  for (const MmaRow *row : rowsOf(target)) {
    text += separator + jsonRow(*row);
    separator = ",\n    ";
  }
  return text + "\n  ]\n}\n";
}
