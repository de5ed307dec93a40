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
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace blockscale;
using namespace blockscale::driver;
using llvm::StringRef;
namespace cl = llvm::cl;

namespace {
/// A text option of the question.
struct TextOption : cl::opt<std::string> {
  TextOption(StringRef name, StringRef help, cl::SubCommand &verb,
             StringRef value = "NAME")
      : cl::opt<std::string>(name, cl::desc(help), cl::sub(verb),
                             cl::value_desc(value)) {}
};
/// A number of the question, which may be left out.
struct NumberOption : cl::opt<unsigned> {
  NumberOption(StringRef name, StringRef help, cl::SubCommand &verb)
      : cl::opt<unsigned>(name, cl::desc(help), cl::sub(verb),
                          cl::value_desc("NUMBER")) {}
  std::optional<unsigned> get() const {
    if (!getNumOccurrences())
      return std::nullopt;
    return getValue();
  }
};

class ExplainVerb : public Verb {
public:
  ExplainVerb()
      : Verb("explain",
             "Say whether an instruction is legal, where every byte lies, or "
             "what hazards the emulator finds") {}
  int run() override;

private:
  int explainLegality();
  int explainHazards();
  int explainFile();
  int print(StringRef text);

  cl::opt<std::string> topic{cl::Positional, cl::sub(command),
                             cl::value_desc("TOPIC"),
                             cl::desc("'legality', 'hazards' or the name of a "
                                      "table")};
  TextOption target{"target", "Chip, such as sm_100a", command};
  TextOption kind{"kind", "Kind of the instruction, such as mxf4nvf4", command};
  TextOption a{"a", "Element type of A, such as e2m1", command};
  TextOption b{"b", "Element type of B", command};
  TextOption scale{"scale", "Type of the scales, such as ue4m3", command};
  TextOption family{"family", "tcgen05 or mma.sync", command};
  TextOption aMajor{"a-major", "Contiguous dimension of A: k or mn", command};
  TextOption bMajor{"b-major", "Contiguous dimension of B: k or mn", command};
  NumberOption block{"block", "Elements along K that share a scale", command};
  NumberOption m{"m", "Rows of the instruction", command};
  NumberOption n{"n", "Columns of the instruction", command};
  NumberOption k{"k", "Extent of the instruction along K", command};
  NumberOption ctaGroup{"cta-group", "CTAs that work together, 1 or 2",
                        command};
  NumberOption sfaId{"sfa-id", "Byte of the word that A's scales start at",
                     command};
  NumberOption sfbId{"sfb-id", "Byte of the word that B's scales start at",
                     command};
  cl::opt<bool> sparse{"sparse", cl::desc("A has structured sparsity"),
                       cl::sub(command)};
  cl::opt<bool> all{"all", cl::desc("Print the whole legality table"),
                    cl::sub(command)};
  TextOption format{"format", "Form of the whole table: markdown or csv",
                    command};
  TextOption from{"from", "CSV file with the questions, '-' for standard input",
                  command, "FILE"};
  cl::opt<std::string> output{"o", cl::desc("Where to write the answer"),
                              cl::sub(command), cl::value_desc("FILE"),
                              cl::init("-")};
};
} // namespace

int ExplainVerb::print(StringRef text) {
  if (llvm::Error error = writeFile(output, text))
    return reportError(llvm::toString(std::move(error)), kFailure);
  return kSuccess;
}

int ExplainVerb::explainLegality() {
  if (all) {
    if (format.empty() || format == "markdown")
      return print(hw::legalityTableMarkdown());
    if (format == "csv")
      return print(hw::legalityTableCsv());
    return reportError("unknown format '" + format.getValue() +
                           "', legal are 'markdown' and 'csv'",
                       kNotUnderstood);
  }
  hw::LegalityQuestion question;
  question.target = target;
  question.kind = kind;
  question.a = a;
  question.b = b;
  question.scale = scale;
  question.family = family;
  question.aMajor = aMajor;
  question.bMajor = bMajor;
  question.block = block.get();
  question.m = m.get();
  question.n = n.get();
  question.k = k.get();
  question.ctaGroup = ctaGroup.get();
  question.sparse = sparse;
  question.sfaId = sfaId.get();
  question.sfbId = sfbId.get();
  hw::LegalityAnswer answer = hw::explainLegality(question);
  if (!answer.understood)
    return reportError(answer.text, kNotUnderstood);
  return print(answer.text + "\n");
}

int ExplainVerb::explainHazards() {
  if (!format.empty() && format != "markdown")
    return reportError("unknown format '" + format.getValue() +
                           "' of the hazards, legal is 'markdown'",
                       kNotUnderstood);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "| number | grade | hazard | rule |\n| --- | --- | --- | --- |\n";
  for (const emulator::HazardInfo &info : emulator::hazardCatalogue())
    os << "| " << info.number << " | "
       << (info.grade == emulator::Grade::Error ? "error" : "advice") << " | "
       << info.name << " | " << info.explanation << " |\n";
  return print(text);
}

int ExplainVerb::explainFile() {
  if (from.empty())
    return reportError("table '" + topic.getValue() +
                           "' needs its questions: --from=FILE.csv",
                       kNotUnderstood);
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(from.getValue(),
                                                 /*IsText=*/true);
  if (!file)
    return reportError("cannot read '" + from.getValue() +
                           "': " + file.getError().message(),
                       kFailure);
  StringRef text = (*file)->getBuffer();
  explain::CsvResult csv =
      explain::parseCsv(std::string_view(text.data(), text.size()));
  for (const std::string &diagnostic : csv.diagnostics)
    llvm::errs() << from.getValue() << ": " << diagnostic << '\n';
  if (!csv.table)
    return reportError("no table in '" + from.getValue() + "'", kNotUnderstood);
  explain::ExplainResult result =
      explain::explainTable(topic.getValue(), *csv.table);
  for (const std::string &diagnostic : result.diagnostics)
    llvm::errs() << from.getValue() << ": " << diagnostic << '\n';
  if (!result.table)
    return reportError("cannot answer '" + from.getValue() + "'",
                       kNotUnderstood);
  return print(explain::writeCsv(*result.table));
}

int ExplainVerb::run() {
  if (topic == "legality")
    return explainLegality();
  if (topic == "hazards")
    return explainHazards();
  std::vector<std::string> tables = explain::tableNames();
  if (llvm::is_contained(tables, topic.getValue()))
    return explainFile();
  std::string known =
      "'legality', 'hazards', '" + llvm::join(tables, "', '") + "'";
  if (topic.empty())
    return reportError("no topic given, legal are " + known, kNotUnderstood);
  return reportError("unknown topic '" + topic.getValue() + "', legal are " +
                         known,
                     kNotUnderstood);
}

std::unique_ptr<Verb> blockscale::driver::makeExplainVerb() {
  return std::make_unique<ExplainVerb>();
}
