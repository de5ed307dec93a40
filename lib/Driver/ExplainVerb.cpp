//===- ExplainVerb.cpp - answer questions about layouts and legality ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verb.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Driver/OutputFiles.h"
#include "blockscale/Emulator/Hazards.h"
#include "blockscale/Explain/Explain.h"
#include "blockscale/HW/Check.h"
#include "blockscale/HW/LegalityTable.h"
#include "blockscale/NKI/Legality.h"

#include <algorithm>
#include <iostream>
#include <sstream>

using namespace blockscale;
using namespace blockscale::driver;

namespace {
class ExplainVerb : public Verb {
public:
  ExplainVerb();
  int run() override;

private:
  int explainLegality();
  int printTable();
  int explainForNKI();
  int explainHazards();
  int explainFile();
  int print(const std::string &text);

  std::string topic, format, from, output = "-";
  bool all = false;
  hw::LegalityQuestion question;
  nki::LegalityQuestion nkiQuestion;
};
} // namespace

ExplainVerb::ExplainVerb()
    : Verb("explain", "Say whether an instruction is legal, where every byte "
                      "lies, or what hazards the emulator finds") {
  command.positional("TOPIC", topic,
                     "'legality', 'hazards' or the name of a table");
  auto name = [&](const char *option, std::string &value, const char *help) {
    command.text(option, value, "NAME", help);
  };
  name("target", question.target, "Chip, such as sm_100a");
  name("kind", question.kind, "Kind of the instruction, such as mxf4nvf4");
  name("a", question.a, "Element type of A, such as e2m1");
  name("b", question.b, "Element type of B");
  name("scale", question.scale, "Type of the scales, such as ue4m3");
  name("family", question.family, "tcgen05 or mma.sync");
  name("a-major", question.aMajor, "Contiguous dimension of A: k or mn");
  name("b-major", question.bMajor, "Contiguous dimension of B: k or mn");
  command.number("block", question.block,
                 "Elements along K that share a scale");
  command.number("m", question.m, "Rows of the instruction");
  command.number("n", question.n, "Columns of the instruction");
  command.number("k", question.k, "Extent of the instruction along K");
  command.number("cta-group", question.ctaGroup,
                 "CTAs that work together, 1 or 2");
  command.number("sfa-id", question.sfaId,
                 "Byte of the word that A's scales start at");
  command.number("sfb-id", question.sfbId,
                 "Byte of the word that B's scales start at");
  // Of NKI's instructions.
  auto nkiNumber = [&](const char *option, std::optional<unsigned> &value,
                       const char *help) {
    command.number(option, value, help);
  };
  nkiNumber("partitions", nkiQuestion.partitions,
            "Partitions of nc_matmul_mx or quantize_mx");
  nkiNumber("row-size", nkiQuestion.rowSize,
            "Rows of a row tile of nc_matmul_mx");
  nkiNumber("start-row", nkiQuestion.startRow,
            "First row of a row tile of nc_matmul_mx");
  nkiNumber("scale-partitions", nkiQuestion.scalePartitions,
            "Partitions of NKI's scale tiles");
  nkiNumber("scale-offset", nkiQuestion.scaleOffset,
            "First scale row of each quadrant of NKI's scale tiles");
  nkiNumber("accumulate-flag", nkiQuestion.accumulateFlag,
            "psum_accumulate_flag of nc_matmul_mx");
  name("accumulate", nkiQuestion.accumulate,
       "accumulate of nc_matmul_mx, true or false");
  name("scale-type", nkiQuestion.scaleType,
       "Type of NKI's scale tiles, such as uint8");
  name("dst", nkiQuestion.dst, "Type of the result of nc_matmul_mx");
  name("dst-memory", nkiQuestion.dstBuffer,
       "Where NKI's result is: psum or sbuf");
  name("src-memory", nkiQuestion.srcBuffer,
       "Where NKI's operands are: sbuf or psum");
  command.flag("sparse", question.sparse, "A has structured sparsity");
  command.flag("all", all, "Print the whole legality table");
  name("format", format, "Form of the whole table: markdown, csv or json");
  command.text("from", from, "FILE",
               "CSV file with the questions, '-' for standard input");
  command.text("o", output, "FILE", "Where to write the answer");
}

int ExplainVerb::print(const std::string &text) {
  if (std::string error = writeFile(output, text); !error.empty())
    return reportError(error, kFailure);
  return kSuccess;
}

int ExplainVerb::printTable() {
  std::optional<hw::Target> chip;
  std::string why;
  if (!question.target.empty() &&
      !(chip = hw::parseTarget(question.target, &why)))
    return reportError(why, kNotUnderstood);
  if (format.empty() || format == "markdown")
    return print(hw::legalityTableMarkdown(chip));
  if (format == "csv")
    return print(hw::legalityTableCsv(chip));
  if (format == "json")
    return print(hw::legalityTableJson(chip));
  return reportError("unknown format '" + format +
                         "', legal are 'markdown', 'csv' and 'json'",
                     kNotUnderstood);
}

/// NKI's instructions have rules of their own, and none of NVIDIA's options.
int ExplainVerb::explainForNKI() {
  for (const char *option : {"family", "a-major", "b-major", "cta-group",
                             "sfa-id", "sfb-id", "sparse"})
    if (command.isGiven(option))
      return reportError("'--" + std::string(option) +
                             "' is of NVIDIA's instructions, not of target '" +
                             question.target + "'",
                         kNotUnderstood);
  std::string why;
  std::optional<nki::Target> chip = nki::parseTarget(question.target, &why);
  if (!chip)
    return reportError(why, kNotUnderstood);
  if (all) {
    if (std::optional<std::string> reason = nki::whyNotTarget(*chip))
      return reportError(*reason, kNotUnderstood);
    if (format.empty() || format == "markdown")
      return print(nki::rulesMarkdown(*chip));
    if (format == "csv")
      return print(nki::rulesCsv(*chip));
    return reportError("unknown format '" + format +
                           "', legal are 'markdown' and 'csv'",
                       kNotUnderstood);
  }
  nkiQuestion.target = question.target;
  nkiQuestion.kind = question.kind;
  nkiQuestion.a = question.a;
  nkiQuestion.b = question.b;
  nkiQuestion.scale = question.scale;
  nkiQuestion.block = question.block;
  nkiQuestion.m = question.m;
  nkiQuestion.n = question.n;
  nkiQuestion.k = question.k;
  nki::LegalityAnswer answer = nki::explainLegality(nkiQuestion);
  if (!answer.understood)
    return reportError(answer.text, kNotUnderstood);
  return print(answer.text + "\n");
}

int ExplainVerb::explainLegality() {
  if (nki::isTargetName(question.target))
    return explainForNKI();
  for (const char *option :
       {"partitions", "row-size", "start-row", "scale-partitions",
        "scale-offset", "accumulate-flag", "accumulate", "scale-type", "dst",
        "dst-memory", "src-memory"})
    if (command.isGiven(option))
      return reportError("'--" + std::string(option) +
                             "' is of NKI's instructions; it needs "
                             "--target=trn3",
                         kNotUnderstood);
  std::string unknown;
  if (!question.target.empty() && !hw::parseTarget(question.target, &unknown))
    return reportError(unknown, kNotUnderstood);
  if (all || format == "json")
    return printTable();
  hw::LegalityAnswer answer = hw::explainLegality(question);
  if (!answer.understood)
    return reportError(answer.text, kNotUnderstood);
  return print(answer.text + "\n");
}

int ExplainVerb::explainHazards() {
  if (!format.empty() && format != "markdown")
    return reportError("unknown format '" + format +
                           "' of the hazards, legal is 'markdown'",
                       kNotUnderstood);
  std::ostringstream text;
  text << "| number | grade | hazard | rule |\n| --- | --- | --- | --- |\n";
  for (const emulator::HazardInfo &info : emulator::hazardCatalogue())
    text << "| " << info.number << " | "
         << (info.grade == emulator::Grade::Error ? "error" : "advice") << " | "
         << info.name << " | " << info.explanation << " |\n";
  return print(text.str());
}

int ExplainVerb::explainFile() {
  if (from.empty())
    return reportError("table '" + topic +
                           "' needs its questions: --from=FILE.csv",
                       kNotUnderstood);
  std::string error;
  std::optional<std::string> text = readFile(from, error);
  if (!text)
    return reportError(error, kFailure);
  explain::CsvResult csv = explain::parseCsv(*text);
  for (const std::string &diagnostic : csv.diagnostics)
    std::cerr << from << ": " << diagnostic << '\n';
  if (!csv.table)
    return reportError("no table in '" + from + "'", kNotUnderstood);
  explain::ExplainResult result = explain::explainTable(topic, *csv.table);
  for (const std::string &diagnostic : result.diagnostics)
    std::cerr << from << ": " << diagnostic << '\n';
  if (!result.table)
    return reportError("cannot answer '" + from + "'", kNotUnderstood);
  return print(explain::writeCsv(*result.table));
}

int ExplainVerb::run() {
  if (topic == "legality")
    return explainLegality();
  if (topic == "hazards")
    return explainHazards();
  std::vector<std::string> tables = explain::tableNames();
  if (std::count(tables.begin(), tables.end(), topic))
    return explainFile();
  std::string known = "'legality', 'hazards'";
  for (const std::string &table : tables)
    known += ", '" + table + "'";
  if (topic.empty())
    return reportError("no topic given, legal are " + known, kNotUnderstood);
  return reportError("unknown topic '" + topic + "', legal are " + known,
                     kNotUnderstood);
}

std::unique_ptr<Verb> blockscale::driver::makeExplainVerb() {
  return std::make_unique<ExplainVerb>();
}
