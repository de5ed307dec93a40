//===- ExplainVerb.cpp - answer questions about layouts and legality ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdviceTopics.h"
#include "Verb.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Driver/OutputFiles.h"
#include "blockscale/Emulator/Hazards.h"
#include "blockscale/Explain/Explain.h"
#include "blockscale/Explain/Layouts.h"
#include "blockscale/HW/Check.h"
#include "blockscale/HW/LegalityTable.h"
#include "blockscale/NKI/Legality.h"
#include "blockscale/Pictures/ByteMap.h"

#include <algorithm>
#include <iostream>

using namespace blockscale;
using namespace blockscale::driver;

namespace {
class ExplainVerb : public Verb {
public:
  explicit ExplainVerb(std::vector<FileTopic> more);
  int run() override;

private:
  int explainWith(const FileTopic &topic);
  /// What is given and the topic does not read.
  std::optional<Reason> whyNotRead() const;
  /// "'legality', 'layout', ...".
  std::string topicNames() const;
  int explainLegality();
  int printTable();
  void addNKIOptions();
  int explainForNKI();
  template <typename Options>
  std::optional<Reason> strayOption(const Options &options,
                                    const std::string &owner);
  int explainHazards();
  void addLayoutOptions();
  void suggestWords();
  int explainLayout();
  int explainFile();
  int explainAdvice();
  int print(const std::string &text);

  std::string topic, format, from, output = "-";
  bool all = false;
  AdviceQuestion advice;
  hw::LegalityQuestion question;
  explain::LayoutQuestion layout;
  std::string svg;
  nki::LegalityQuestion nkiQuestion;
  std::vector<FileTopic> more;
  unsigned replay = 0;
};
} // namespace

ExplainVerb::ExplainVerb(std::vector<FileTopic> moreTopics)
    : Verb("explain", "Say whether an instruction is legal, where every byte "
                      "lies, or what hazards the emulator finds"),
      more(std::move(moreTopics)) {
  command.positional("TOPIC", topic, topicNames() + " or the name of a table");
  std::string files = "Of 'format' and 'sparsity', a checkpoint or array; of "
                      "'model', a config.json or a CSV file of layers";
  for (const FileTopic &topic : more)
    files += "; of '" + topic.name + "', " + topic.file;
  command.positional("FILE", advice.file, files);
  if (!more.empty())
    command.number("replay", replay,
                   "Of 'schedule', how many of the best schedules to compile "
                   "and run on the timeline as well");
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
                 "Elements along K that share a scale; of 'layout', the number "
                 "of a block along K, from 0");
  command.number("m", question.m, "Rows of the instruction");
  command.number("n", question.n, "Columns of the instruction");
  command.number("k", question.k, "Extent of the instruction along K");
  command.number("cta-group", question.ctaGroup,
                 "CTAs that work together, 1 or 2");
  command.number("sfa-id", question.sfaId,
                 "Byte of the word that A's scales start at");
  command.number("sfb-id", question.sfbId,
                 "Byte of the word that B's scales start at");
  addNKIOptions();
  command.flag("sparse", question.sparse, "A has structured sparsity");
  command.flag("all", all,
               "Print the whole legality table; of 'layout', draw every line");
  name("format", format,
       "Form of the whole table: markdown, csv or json; of 'layout', text or "
       "json");
  addLayoutOptions();
  command.text("part", advice.part, "NAME",
               "Product for predicted times, such as B200 (default: that of "
               "--target)");
  command.texts("tensors", advice.tensors, "PATTERN",
                "Parameters of FILE to look at, '*' being any text (default: "
                "all matrices)");
  command.text("least-sqnr", advice.leastSqnr, "DECIBELS",
               "Of 'format', what a format must keep to be advised "
               "(default 19)");
  command.flag("histogram", advice.histogram,
               "Of 'format', draw the errors by size");
  command.text("from", from, "FILE",
               "CSV file with the questions, '-' for standard input");
  command.text("o", output, "FILE", "Where to write the answer");
  suggestWords();
}

namespace {
/// What a topic reads, besides where to write; 'layout' and 'legality' have
/// their own rules.
struct TopicOptions {
  std::string_view topic;
  std::vector<std::string_view> options;
};
} // namespace

static const std::vector<TopicOptions> &optionsOfTopics() {
  static const std::vector<TopicOptions> list = {
      {"schedule", {"target", "m", "format", "all", "replay"}},
      {"gemm", {"target", "part", "m", "n", "k", "format"}},
      {"model", {"target", "part", "m", "format"}},
      {"sparsity", {"tensors", "format", "histogram", "svg"}},
      {"format",
       {"target", "part", "m", "tensors", "least-sqnr", "histogram", "svg",
        "format"}},
      {"hazards", {"format"}}};
  return list;
}

// Of which instruction each option is, where it is of one alone.
static constexpr const char *kNvidiaOptions[] = {
    "family", "a-major", "b-major", "cta-group", "sfa-id", "sfb-id"};
static constexpr const char *kNKIOptions[] = {
    "partitions",   "scale-partitions", "scale-free",
    "scale-offset", "scale-type",       "dst-partitions",
    "dst-free",     "dst-memory",       "src-memory"};
static constexpr const char *kMatmulMXOptions[] = {"moving-partitions",
                                                   "moving-partition",
                                                   "moving-scale-free",
                                                   "operand-partition",
                                                   "row-size",
                                                   "column-size",
                                                   "start-row",
                                                   "start-column",
                                                   "data-index",
                                                   "scale-index",
                                                   "k-map",
                                                   "moving-k-map",
                                                   "accumulate-flag",
                                                   "accumulate",
                                                   "zero-points",
                                                   "dst"};
/// What only questions about files and numbers have.
static constexpr const char *kNotOfLegality[] = {"from", "part", "tensors",
                                                 "least-sqnr", "histogram"};
/// What the whole table leaves open.
static constexpr const char *kOfOneInstruction[] = {
    "kind", "a", "b", "scale",     "family", "a-major", "b-major", "block",
    "m",    "n", "k", "cta-group", "sfa-id", "sfb-id",  "sparse"};
static constexpr const char *kNotOfQuantizeMX[] = {"scale", "block", "m", "k",
                                                   "sparse"};

void ExplainVerb::addNKIOptions() {
  auto name = [&](const char *option, std::string &value, const char *help) {
    command.text(option, value, "NAME", help);
  };
  auto number = [&](const char *option, auto &value, const char *help) {
    command.number(option, value, help);
  };
  nki::LegalityQuestion &q = nkiQuestion;
  number("partitions", q.partitions,
         "Partitions of nc_matmul_mx or quantize_mx");
  number("moving-partitions", q.movingPartitions,
         "Partitions of the moving tile, if others");
  number("operand-partition", q.operandPartition,
         "First partition of the operands of nc_matmul_mx");
  number("moving-partition", q.movingPartition,
         "First partition of the moving tile, if another");
  number("dst-partitions", q.dstPartitions, "Partitions of NKI's result");
  number("dst-free", q.dstFree, "Free size of NKI's result");
  number("row-size", q.rowSize, "Rows of a row tile of nc_matmul_mx");
  number("column-size", q.columnSize, "Columns of a row tile");
  number("start-row", q.startRow, "First row of a row tile of nc_matmul_mx");
  number("start-column", q.startColumn, "First column of a row tile");
  number("scale-partitions", q.scalePartitions,
         "Partitions of NKI's scale tiles");
  number("scale-offset", q.scaleOffset,
         "First scale row of each quadrant of NKI's scale tiles");
  number("scale-free", q.scaleFree,
         "Free size of stationary_scale or of dst_scale");
  number("moving-scale-free", q.movingScaleFree, "Free size of moving_scale");
  number("data-index", q.dataIndex,
         "First partition of the index through which data is read");
  number("scale-index", q.scaleIndex, "The same of scales");
  command.numbers("accumulate-flag", q.accumulateFlags,
                  "psum_accumulate_flag of nc_matmul_mx, or of all that write "
                  "one tile: 1,0,2");
  name("accumulate", q.accumulate,
       "accumulate of nc_matmul_mx, true, false or none, or of all that write "
       "one tile: false,true");
  command.numbers("k-map", q.kMap,
                  "Strides of k by partition and by packed element: 4,1");
  command.numbers("moving-k-map", q.movingKMap,
                  "The same of the moving tile, if others");
  command.flag("zero-points", q.zeroPoints, "The scales have zero points");
  name("scale-type", q.scaleType, "Type of NKI's scale tiles, such as uint8");
  name("dst", q.dst, "Type of the result of nc_matmul_mx");
  name("dst-memory", q.dstBuffer, "Where NKI's result is: psum or sbuf");
  name("src-memory", q.srcBuffer, "Where NKI's operands are: sbuf or psum");
}

void ExplainVerb::addLayoutOptions() {
  command.text("operand", layout.operand, "NAME",
               "Of 'layout', whose bytes: those of the scales of a or b, or "
               "metadata (default a)");
  command.text("memory", layout.memory, "NAME",
               "Of 'layout', shared (global memory has the same tiles), tensor "
               "or registers (default: all; of pictures tensor)");
  command.number("row", layout.row,
                 "Of 'layout', the row of A or column of B to find, with "
                 "--block");
  command.number("block-size", layout.blockSize,
                 "Of 'layout', elements along K that share a scale, 16 or 32");
  command.number("blocks", layout.blocks,
                 "Of 'layout', blocks along K of the whole operand, for its "
                 "place in memory");
  command.flag(
      "row-per-lane", layout.rowPerLane,
      "Of 'layout', scales of A as sm_107 may have them, each row in a "
      "lane of its own");
  command.number("thread-id", layout.threadId,
                 "Of 'layout', thread-id of mma.sync to show alone");
  command.flagOrName("svg", svg,
                     "Of 'layout', draw all bytes, of 'format', the errors by "
                     "size: --svg to standard output, --svg=FILE to a file");
}

void ExplainVerb::suggestWords() {
  std::vector<std::string> topics;
  // "'format', 'gemm'": names stand between quotes.
  std::string names = topicNames();
  std::vector<std::string_view> parts = splitAll(names, '\'');
  for (size_t i = 1; i < parts.size(); i += 2)
    topics.emplace_back(parts[i]);
  for (const std::string &table : explain::tableNames())
    topics.push_back(table);
  command.suggest("TOPIC", topics);
  std::vector<std::string> kinds, chips;
  for (hw::MmaKind kind : hw::allKinds())
    kinds.emplace_back(hw::kindName(kind));
  for (hw::Target target : hw::allTargets())
    chips.push_back(hw::targetName(target));
  command.suggest("kind", kinds);
  command.suggest("target", chips);
  command.suggest("family", std::vector<std::string>{"tcgen05", "mma.sync"});
  command.suggest("operand", std::vector<std::string>{"a", "b", "metadata"});
  command.suggest("memory",
                  std::vector<std::string>{"shared", "tensor", "registers"});
  command.suggest("format",
                  std::vector<std::string>{"markdown", "csv", "json", "text"});
}

int ExplainVerb::print(const std::string &text) {
  if (auto error = writeFile(output, text))
    return reportError(error->text, kFailure);
  return kSuccess;
}

int ExplainVerb::printTable() {
  std::optional<hw::Target> chip;
  if (!question.target.empty()) {
    Result<hw::Target> target = hw::parseTarget(question.target);
    if (!target)
      return reportError(target.why().text, kNotUnderstood);
    chip = *target;
  }
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

/// A complaint about the first of `options` that is given; empty if none is.
template <typename Options>
std::optional<Reason> ExplainVerb::strayOption(const Options &options,
                                               const std::string &owner) {
  for (const char *option : options)
    if (command.isGiven(option))
      return "'--" + std::string(option) + "' is of " + owner;
  return std::nullopt;
}

/// NKI's instructions have rules of their own, and none of NVIDIA's options.
int ExplainVerb::explainForNKI() {
  std::optional<Reason> why =
      strayOption(kNvidiaOptions, "NVIDIA's instructions, not of target '" +
                                      question.target + "'");
  if (!why && question.kind == "quantize_mx") {
    why = strayOption(kMatmulMXOptions, "'nc_matmul_mx'");
    if (!why)
      why = strayOption(kNotOfQuantizeMX, "'nc_matmul_mx'");
  }
  if (why)
    return reportError(why->text, kNotUnderstood);
  Result<nki::Target> chip = nki::parseTarget(question.target);
  if (!chip)
    return reportError(chip.why().text, kNotUnderstood);
  if (all) {
    if (std::optional<Reason> reason = nki::whyNotTarget(*chip))
      return reportError(reason->text, kNotUnderstood);
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
  nkiQuestion.sparse = question.sparse;
  nkiQuestion.block = question.block;
  nkiQuestion.m = question.m;
  nkiQuestion.n = question.n;
  nkiQuestion.k = question.k;
  Result<nki::Legality> answer = nki::explainLegality(nkiQuestion);
  if (!answer)
    return reportError(answer.why().text, kNotUnderstood);
  return print(answer->text + "\n");
}

int ExplainVerb::explainLegality() {
  if (auto why = strayOption(kNotOfLegality, "other topics than 'legality'"))
    return reportError(why->text, kNotUnderstood);
  if (nki::isTargetName(question.target))
    return explainForNKI();
  const std::string owner = "NKI's instructions; it needs --target=trn3";
  for (const auto &why :
       {strayOption(kNKIOptions, owner), strayOption(kMatmulMXOptions, owner)})
    if (why)
      return reportError(why->text, kNotUnderstood);
  if (all || format == "json") {
    if (auto why = strayOption(kOfOneInstruction,
                               "a question about one instruction, not of the "
                               "whole table, of which --target takes a part"))
      return reportError(why->text, kNotUnderstood);
    return printTable();
  }
  if (!format.empty())
    return reportError("'--format' is of the whole table: --all",
                       kNotUnderstood);
  if (question.target.empty())
    return reportError("'legality' needs --target, such as --target=sm_100a, "
                       "or --all",
                       kNotUnderstood);
  Result<hw::Legality> answer = hw::explainLegality(question);
  if (!answer)
    return reportError(answer.why().text, kNotUnderstood);
  return print(answer->text + "\n");
}

int ExplainVerb::explainHazards() {
  if (!format.empty() && format != "markdown")
    return reportError("unknown format '" + format +
                           "' of the hazards, legal is 'markdown'",
                       kNotUnderstood);
  return print(emulator::hazardTable());
}

/// Options that only this topic has.
static constexpr const char *kLayoutOptions[] = {
    "operand", "memory",    "row",         "block-size",
    "blocks",  "thread-id", "row-per-lane"};
/// And one that topic 'format' has too.
static constexpr const char *kPictureOptions[] = {"svg"};
/// Those of other topics that mean nothing here.
static constexpr const char *kNotOfLayout[] = {
    "target",  "a",    "b",       "scale", "family",    "a-major",
    "b-major", "part", "tensors", "from",  "histogram", "least-sqnr"};

int ExplainVerb::explainLayout() {
  for (const auto &why :
       {strayOption(kNotOfLayout, "other topics than 'layout'"),
        strayOption(kNKIOptions, "topic 'legality'"),
        strayOption(kMatmulMXOptions, "topic 'legality'")})
    if (why)
      return reportError(why->text, kNotUnderstood);
  bool wantsPicture = !svg.empty() && svg != "false";
  if (!format.empty() &&
      (wantsPicture || (format != "text" && format != "json")))
    return reportError(wantsPicture
                           ? "--svg and --format contradict each other"
                           : "unknown format '" + format +
                                 "' of a layout, legal are 'text' and 'json'",
                       kNotUnderstood);
  if (all && !wantsPicture)
    return reportError("--all needs --svg", kNotUnderstood);
  layout.kind = question.kind;
  layout.m = question.m;
  layout.n = question.n;
  layout.k = question.k;
  layout.ctaGroup = question.ctaGroup;
  layout.sparse = question.sparse;
  layout.sfaId = question.sfaId;
  layout.sfbId = question.sfbId;
  layout.block = question.block;
  if (wantsPicture) {
    Result<pictures::ByteMap> map = explain::layoutMap(layout);
    if (!map)
      return reportError(map.why().text, kNotUnderstood);
    if (svg != "true")
      output = svg;
    return print(pictures::drawByteMap(*map, all));
  }
  Result<std::string> answer = format == "json" ? explain::layoutJson(layout)
                                                : explain::layoutText(layout);
  if (!answer)
    return reportError(answer.why().text, kNotUnderstood);
  return print(*answer);
}

int ExplainVerb::explainFile() {
  if (from.empty())
    return reportError("table '" + topic +
                           "' needs its questions: --from=FILE.csv",
                       kNotUnderstood);
  Result<std::string> text = readFile(from);
  if (!text)
    return reportError(text.why().text, kFailure);
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

int ExplainVerb::explainAdvice() {
  advice.m = question.m;
  advice.n = question.n;
  advice.k = question.k;
  advice.target = question.target;
  advice.format = format;
  advice.picture = !svg.empty() && svg != "false";
  if (advice.picture && svg != "true")
    output = svg;
  Result<std::string> answer = advise(topic, advice);
  if (!answer)
    return reportError(answer.why().text,
                       answer.why().place ? kFailure : kNotUnderstood);
  return print(*answer);
}

std::string ExplainVerb::topicNames() const {
  std::string names = "'legality', 'layout', 'hazards', " + adviceTopicNames();
  for (const FileTopic &topic : more)
    names += ", '" + topic.name + "'";
  return names;
}

std::optional<Reason> ExplainVerb::whyNotRead() const {
  const std::vector<TopicOptions> &topics = optionsOfTopics();
  auto found =
      std::find_if(topics.begin(), topics.end(), [&](const TopicOptions &each) {
        return each.topic == topic;
      });
  if (found == topics.end())
    return std::nullopt;
  const std::vector<std::string_view> &legal = found->options;
  std::string names;
  for (std::string_view name : legal)
    names += (names.empty() ? "--" : ", --") + std::string(name);
  for (const manual::Option &option : command.description().options) {
    bool isRead = option.name == "o" || std::find(legal.begin(), legal.end(),
                                                  option.name) != legal.end();
    if (!isRead && command.isGiven(option.name))
      return "'--" + option.name + "' is none of topic '" + topic +
             "', which has " + names;
  }
  return std::nullopt;
}

int ExplainVerb::explainWith(const FileTopic &topic) {
  if (advice.file.empty())
    return reportError("topic '" + topic.name + "' needs a file: " + topic.file,
                       kNotUnderstood);
  if (!format.empty() && format != "text" && format != "json")
    return reportError("unknown format '" + format +
                           "', legal are 'text' and 'json'",
                       kNotUnderstood);
  std::optional<std::string> answer = topic.answer(
      {advice.file, question.target, question.m, format, all, replay});
  return answer ? print(*answer) : kFailure;
}

int ExplainVerb::run() {
  if (topic != "layout")
    if (auto why = strayOption(kLayoutOptions, "topic 'layout'"))
      return reportError(why->text, kNotUnderstood);
  if (topic != "schedule" && replay)
    return reportError("'--replay' is of topic 'schedule'", kNotUnderstood);
  if (topic != "layout" && !isAdviceTopic(topic))
    if (auto why = strayOption(kPictureOptions, "topics 'layout' and 'format'"))
      return reportError(why->text, kNotUnderstood);
  if (auto why = whyNotRead())
    return reportError(why->text, kNotUnderstood);
  for (const FileTopic &each : more)
    if (topic == each.name)
      return explainWith(each);
  if (isAdviceTopic(topic))
    return explainAdvice();
  if (!advice.file.empty())
    return reportError("unexpected argument '" + advice.file + "' of topic '" +
                           topic + "'",
                       kNotUnderstood);
  if (topic == "layout")
    return explainLayout();
  if (topic == "legality")
    return explainLegality();
  if (topic == "hazards")
    return explainHazards();
  std::vector<std::string> tables = explain::tableNames();
  if (std::count(tables.begin(), tables.end(), topic))
    return explainFile();
  std::string known = topicNames();
  for (const std::string &table : tables)
    known += ", '" + table + "'";
  if (topic.empty())
    return reportError("no topic given, legal are " + known, kNotUnderstood);
  return reportError("unknown topic '" + topic + "', legal are " + known,
                     kNotUnderstood);
}

std::unique_ptr<Verb>
blockscale::driver::makeExplainVerb(std::vector<FileTopic> more) {
  return std::make_unique<ExplainVerb>(std::move(more));
}
