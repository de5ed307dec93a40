//===- Explain.cpp - what the hardware allows, and where bytes lie --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Explain.h"
#include "Handles.h"
#include "blockscale/Emulator/Hazards.h"
#include "blockscale/Explain/Explain.h"
#include "blockscale/Explain/Layouts.h"
#include "blockscale/Formats/Text.h"
#include "blockscale/HW/Check.h"
#include "blockscale/HW/LegalityTable.h"

#include <functional>

using namespace blockscale;
using namespace blockscale::capi;

namespace {
/// A word of a question by its name.
template <typename Question> struct QuestionField {
  std::string_view name;
  /// Returns what is wrong, or nothing.
  std::function<std::string(Question &, std::string_view)> set;
};
template <typename Question>
using QuestionFields = std::vector<QuestionField<Question>>;
} // namespace

template <typename Question>
static QuestionField<Question> word(std::string_view name,
                                    std::string Question::*member) {
  return {name, [member](Question &question, std::string_view text) {
            question.*member = text;
            return std::string();
          }};
}

template <typename Question, typename Number>
static QuestionField<Question> number(std::string_view name,
                                      std::optional<Number> Question::*member) {
  return {name, [member](Question &question, std::string_view text) {
            question.*member = parseInteger<Number>(text);
            return question.*member ? "" : std::string("is no number");
          }};
}

template <typename Question>
static QuestionField<Question> truth(std::string_view name,
                                     bool Question::*member) {
  return {name, [member](Question &question, std::string_view text) {
            question.*member = text == "true";
            return text == "true" || text == "false"
                       ? ""
                       : std::string("is neither 'true' nor 'false'");
          }};
}

static const QuestionFields<hw::LegalityQuestion> &legalityFields() {
  using Question = hw::LegalityQuestion;
  static const QuestionFields<Question> fields{
      word("target", &Question::target),
      word("kind", &Question::kind),
      word("a", &Question::a),
      word("b", &Question::b),
      word("scale", &Question::scale),
      word("family", &Question::family),
      number("block", &Question::block),
      number("m", &Question::m),
      number("n", &Question::n),
      number("k", &Question::k),
      number("cta-group", &Question::ctaGroup),
      truth("sparse", &Question::sparse),
      word("a-major", &Question::aMajor),
      word("b-major", &Question::bMajor),
      number("sfa-id", &Question::sfaId),
      number("sfb-id", &Question::sfbId)};
  return fields;
}

static const QuestionFields<explain::LayoutQuestion> &layoutFields() {
  using Question = explain::LayoutQuestion;
  static const QuestionFields<Question> fields{
      word("memory", &Question::memory),
      word("operand", &Question::operand),
      word("kind", &Question::kind),
      number("block-size", &Question::blockSize),
      number("m", &Question::m),
      number("n", &Question::n),
      number("k", &Question::k),
      number("cta-group", &Question::ctaGroup),
      truth("sparse", &Question::sparse),
      number("sfa-id", &Question::sfaId),
      number("sfb-id", &Question::sfbId),
      number("thread-id", &Question::threadId),
      number("row", &Question::row),
      number("block", &Question::block),
      number("blocks", &Question::blocks)};
  return fields;
}

template <typename Question>
static void setField(const QuestionFields<Question> &fields, Question &question,
                     const BlockscaleField &field) {
  std::string_view name = textOf(field.name, "name");
  std::string_view value = textOf(field.value, "value");
  std::string known;
  for (const QuestionField<Question> &each : fields) {
    known += (known.empty() ? "'" : ", '") + std::string(each.name) + "'";
    if (each.name != name)
      continue;
    if (std::string why = each.set(question, value); !why.empty())
      fail(BLOCKSCALE_REFUSED, "'" + std::string(value) + "' for '" +
                                   std::string(name) + "' " + why);
    return;
  }
  fail(BLOCKSCALE_REFUSED, "no question has a word '" + std::string(name) +
                               "'; there are " + known);
}

/// The question that a program asks.
template <typename Question>
static Question questionOf(const QuestionFields<Question> &known,
                           const BlockscaleField *fields, size_t count) {
  if (count)
    requirePointer(fields, "fields");
  Question question;
  for (size_t i = 0; i < count; ++i)
    setField(known, question, fields[i]);
  return question;
}

BlockscaleStatus blockscaleExplainLegality(const BlockscaleField *fields,
                                           size_t count, bool *isLegal,
                                           BlockscaleBytes *text) {
  return guarded([&] {
    requirePointer(isLegal, "isLegal");
    requirePointer(text, "text");
    Result<hw::Legality> answer =
        hw::explainLegality(questionOf(legalityFields(), fields, count));
    if (!answer)
      fail(BLOCKSCALE_REFUSED, answer.why().text);
    *isLegal = answer->legal;
    *text = makeBytes(answer->text);
  });
}

BlockscaleStatus blockscaleExplainInstructions(BlockscaleSlice target,
                                               BlockscaleTableFormat format,
                                               BlockscaleBytes *text) {
  return guarded([&] {
    requirePointer(text, "text");
    std::optional<hw::Target> chip;
    std::string name(textOf(target, "target"));
    if (!name.empty()) {
      Result<hw::Target> known = hw::parseTarget(name);
      if (!known)
        fail(BLOCKSCALE_REFUSED, known.why().text);
      chip = *known;
    }
    switch (enumeratorOf<BlockscaleTableFormat>(format, 3, "format")) {
    case BLOCKSCALE_TABLE_MARKDOWN:
      *text = makeBytes(hw::legalityTableMarkdown(chip));
      return;
    case BLOCKSCALE_TABLE_CSV:
      *text = makeBytes(hw::legalityTableCsv(chip));
      return;
    case BLOCKSCALE_TABLE_JSON:
      *text = makeBytes(hw::legalityTableJson(chip));
      return;
    }
  });
}

static std::string joined(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += (text.empty() ? "" : "\n") + line;
  return text;
}

BlockscaleStatus blockscaleExplainTable(BlockscaleSlice table,
                                        BlockscaleSlice questions,
                                        BlockscaleBytes *answers) {
  return guarded([&] {
    requirePointer(answers, "answers");
    std::string_view name = textOf(table, "table");
    explain::CsvResult csv = explain::parseCsv(textOf(questions, "questions"));
    if (!csv.table)
      fail(BLOCKSCALE_REFUSED, joined(csv.diagnostics));
    explain::ExplainResult result = explain::explainTable(name, *csv.table);
    if (!result.table)
      fail(BLOCKSCALE_REFUSED, joined(result.diagnostics));
    *answers = makeBytes(explain::writeCsv(*result.table));
  });
}

static Result<std::string>
drawnLayout(const explain::LayoutQuestion &question) {
  Result<pictures::ByteMap> map = explain::layoutMap(question);
  if (!map)
    return map.why();
  return pictures::drawByteMap(*map, /*everyLine=*/false);
}

BlockscaleStatus blockscaleExplainLayout(const BlockscaleField *fields,
                                         size_t count,
                                         BlockscaleLayoutForm form,
                                         BlockscaleBytes *text) {
  return guarded([&] {
    requirePointer(text, "text");
    using Answer = Result<std::string> (*)(const explain::LayoutQuestion &);
    constexpr Answer kForms[] = {explain::layoutText, explain::layoutJson,
                                 drawnLayout};
    auto chosen = enumeratorOf<unsigned>(form, 3, "form");
    Result<std::string> answer =
        kForms[chosen](questionOf(layoutFields(), fields, count));
    if (!answer)
      fail(BLOCKSCALE_REFUSED, answer.why().text);
    *text = makeBytes(std::move(*answer));
  });
}

BlockscaleStatus blockscaleExplainHazards(BlockscaleBytes *text) {
  return guarded([&] {
    requirePointer(text, "text");
    *text = makeBytes(emulator::hazardTable());
  });
}
