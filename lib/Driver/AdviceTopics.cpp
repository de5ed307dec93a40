//===- AdviceTopics.cpp - topics of 'explain' about models ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdviceTopics.h"
#include "Verb.h"
#include "blockscale/Advice/Model.h"
#include "blockscale/Advice/Tensors.h"
#include "blockscale/Checkpoint/Pack.h"
#include "blockscale/Explain/Csv.h"
#include "blockscale/Pictures/Histogram.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace blockscale;
using namespace blockscale::advice;
using namespace blockscale::driver;
/// Decibels that a format must keep, unless it is said: e2m1 with ue4m3 scales
/// keeps some 20 of normally distributed weights.
static constexpr double kLeastSqnr = 19;
/// Tokens, unless it is said: a small batch in decoding.
static constexpr unsigned kTokens = 16;
/// What is wrong with a file, not with the question.
static constexpr size_t kOfTheFile = 1;

bool driver::isAdviceTopic(const std::string &topic) {
  return topic == "format" || topic == "gemm" || topic == "model" ||
         topic == "sparsity";
}

std::string driver::adviceTopicNames() {
  return "'format', 'gemm', 'model', 'sparsity'";
}

static std::string print(const explain::Csv &table,
                         const AdviceQuestion &question) {
  if (question.format == "csv")
    return explain::writeCsv(table);
  auto line = [](const std::vector<std::string> &fields) {
    std::string text = "|";
    for (const std::string &field : fields)
      text += " " + field + " |";
    return text + "\n";
  };
  std::string text = line(table.header);
  text += line(std::vector<std::string>(table.header.size(), "---"));
  for (const explain::Csv::Row &row : table.rows)
    text += line(row.fields);
  return text;
}

static std::string decimal(double value) { return formatNumber("%.4g", value); }

static std::string percent(double part, double whole) {
  return whole > 0 ? formatNumber("%.4f", 100 * part / whole) : "0";
}

static Result<hw::Part> partOf(const AdviceQuestion &question) {
  if (!question.part.empty()) {
    std::optional<hw::Part> part = hw::parsePart(question.part);
    if (part && !question.target.empty()) {
      Result<hw::Target> target = hw::parseTarget(question.target);
      if (!target)
        return target.why();
      if (target->chip != part->chip)
        return Reason(
            "--part and --target contradict each other: '" + question.part +
            "' is none of '" + question.target + "', but '" +
            std::string(hw::referencePart(target->chip).name) + "' is");
    }
    if (part)
      return *part;
    std::string known;
    for (const hw::Part &each : hw::allParts())
      known += (known.empty() ? "'" : ", '") + std::string(each.name) + "'";
    return Reason("unknown part '" + question.part + "', known are " + known);
  }
  if (question.target.empty())
    return hw::referencePart(hw::kDefaultTarget.chip);
  Result<hw::Target> target = hw::parseTarget(question.target);
  if (!target)
    return target.why();
  return hw::referencePart(target->chip);
}

//===----------------------------------------------------------------------===//
// gemm and model
//===----------------------------------------------------------------------===//

static Result<std::string> adviseOneGemm(const AdviceQuestion &question) {
  if (!question.m || !question.n || !question.k)
    return Reason("'gemm' needs --m, --n and --k");
  Result<hw::Part> part = partOf(question);
  if (!part)
    return part.why();
  hw::GemmSize size{*question.m, *question.n, *question.k};
  if (std::string why = whyNot(size); !why.empty())
    return Reason(why);
  explain::Csv table;
  table.header = {"format",     "microseconds", "against bf16", "Tflop/s",
                  "limited by", "activations",  "weights",      "scales",
                  "metadata",   "result",       "bytes"};
  auto bytes = [](double value) { return formatNumber("%.0f", value); };
  for (const GemmAdvice &row : adviseGemm(size, *part)) {
    const GemmBytes &of = row.bytes;
    table.rows.push_back(
        {{std::string(row.format->name), decimal(row.prediction.total),
          formatNumber("%.2f", row.speedup), decimal(row.prediction.teraflops),
          std::string(hw::gemmLimitName(row.prediction.limit)),
          bytes(of.activations), bytes(of.weights), bytes(of.scales),
          bytes(of.metadata), bytes(of.result), bytes(of.total())}});
  }
  return print(table, question);
}

static Result<std::vector<Layer>> layersFromCsv(const explain::Csv &csv) {
  auto name = csv.column("name"), n = csv.column("n"), k = csv.column("k");
  if (!name || !n || !k)
    return Reason("a list of layers needs columns 'name', 'n' and "
                  "'k'; it may have 'count', 'experts' and "
                  "'experts_per_token'");
  std::vector<Layer> layers;
  for (const explain::Csv::Row &row : csv.rows) {
    Layer layer;
    layer.name = row.fields[*name];
    for (auto [column, value] :
         {std::pair("n", &layer.n), std::pair("k", &layer.k),
          std::pair("count", &layer.count),
          std::pair("experts", &layer.experts),
          std::pair("experts_per_token", &layer.expertsPerToken)}) {
      std::optional<size_t> at = csv.column(column);
      if (!at || row.fields[*at].empty())
        continue;
      std::optional<int64_t> number = parseInteger<int64_t>(row.fields[*at]);
      if (!number || *number < 1 || *number > (int64_t(1) << 31))
        return Reason("line " + std::to_string(row.line) + ": '" +
                      row.fields[*at] + "' is no '" + column +
                      "' from 1 to 2147483648");
      *value = *number;
    }
    if (layer.n == 0 || layer.k == 0)
      return Reason("line " + std::to_string(row.line) + " lacks 'n' or 'k'");
    layers.push_back(std::move(layer));
  }
  return layers;
}

static Result<std::vector<Layer>> readLayers(const std::string &path) {
  Result<std::string> text = readFile(path);
  if (!text)
    return Reason(text.why().text, kOfTheFile);
  size_t first = text->find_first_not_of(" \t\r\n");
  bool isJson = first != std::string::npos && (*text)[first] == '{';
  explain::CsvResult csv;
  if (!isJson)
    csv = explain::parseCsv(*text);
  if (!isJson && (!csv.table || !csv.diagnostics.empty()))
    return Reason("'" + path + "': " +
                      (csv.diagnostics.empty() ? "neither JSON nor a table"
                                               : csv.diagnostics.front()),
                  kOfTheFile);
  Result<std::vector<Layer>> layers =
      isJson ? readModel(*text) : layersFromCsv(*csv.table);
  if (!layers)
    return Reason("'" + path + "': " + layers.why().text, kOfTheFile);
  return layers;
}

static Result<std::string> adviseModel(const AdviceQuestion &question) {
  if (question.file.empty())
    return Reason("'model' needs a configuration or a list of layers");
  Result<hw::Part> part = partOf(question);
  if (!part)
    return part.why();
  Result<std::vector<Layer>> layers = readLayers(question.file);
  if (!layers)
    return layers.why();
  int64_t tokens = question.m.value_or(kTokens);
  explain::Csv table;
  table.header = {"layer", "count", "experts", "M", "N", "K"};
  std::map<const GemmFormat *, size_t> columns;
  for (const GemmFormat &format : gemmFormats())
    if (kindOn(format, *part)) {
      columns[&format] = table.header.size();
      table.header.push_back(std::string(format.name));
    }
  std::vector<double> sums(table.header.size());
  for (const Layer &layer : *layers) {
    hw::GemmSize size = sizeOf(layer, tokens);
    if (std::string why = whyNot(size); !why.empty())
      return Reason("layer '" + layer.name + "': " + why);
    std::vector<std::string> fields{layer.name,
                                    std::to_string(layer.count),
                                    std::to_string(size.batch),
                                    std::to_string(size.m),
                                    std::to_string(size.n),
                                    std::to_string(size.k)};
    fields.resize(table.header.size());
    for (const GemmAdvice &row : adviseGemm(size, *part)) {
      fields[columns[row.format]] = decimal(row.prediction.total);
      sums[columns[row.format]] += row.prediction.total * double(layer.count);
    }
    table.rows.push_back({std::move(fields)});
  }
  std::vector<std::string> last(table.header.size());
  last[0] = "all layers";
  for (const auto &column : columns)
    last[column.second] = decimal(sums[column.second]);
  table.rows.push_back({std::move(last)});
  std::string text = print(table, question);
  if (question.format != "csv")
    text = "Microseconds on " + std::string(part->name) + " for " +
           std::to_string(tokens) + " tokens, by the model of time.\n\n" + text;
  return text;
}

//===----------------------------------------------------------------------===//
// format and sparsity
//===----------------------------------------------------------------------===//

namespace {
/// The parameters that a question is about.
struct Parameters {
  checkpoint::Checkpoint checkpoint;
  std::vector<checkpoint::QuantizedTensor> tensors;
};
} // namespace

static bool isAskedFor(const checkpoint::QuantizedTensor &tensor,
                       const AdviceQuestion &question) {
  for (const std::string &pattern : question.tensors)
    if (checkpoint::matches(tensor.name, pattern))
      return true;
  return question.tensors.empty() && tensor.shape.size() >= 2 &&
         tensor.batch() * tensor.rows() * tensor.columns() > 0 &&
         checkpoint::ValueReader::whyNot(tensor).empty();
}

static Result<Parameters> readParameters(const std::string &topic,
                                         const AdviceQuestion &question) {
  if (question.file.empty())
    return Reason("'" + topic + "' needs a checkpoint or an array");
  Result<checkpoint::Checkpoint> read =
      checkpoint::Checkpoint::open(question.file);
  if (!read)
    return Reason(read.why().text, kOfTheFile);
  Parameters parameters{*std::move(read), {}};
  for (checkpoint::QuantizedTensor &tensor :
       checkpoint::recognize(parameters.checkpoint))
    if (isAskedFor(tensor, question))
      parameters.tensors.push_back(std::move(tensor));
  if (parameters.tensors.empty())
    return Reason("'" + question.file + "' has no such matrix of numbers",
                  kOfTheFile);
  return parameters;
}

static Result<std::string> adviseSparsity(const AdviceQuestion &question) {
  Result<Parameters> read = readParameters("sparsity", question);
  if (!read)
    return read.why();
  explain::Csv table;
  table.header = {"parameter", "shape",         "zeros %",
                  "pattern",   "groups",        "conforming",
                  "violating", "energy lost %", "SQNR, dB"};
  for (const checkpoint::QuantizedTensor &tensor : read->tensors) {
    Result<SparsityReport> report = measureSparsity(read->checkpoint, tensor);
    if (!report)
      return Reason(report.why().text, kOfTheFile);
    auto add = [&](hw::SparsePattern pattern,
                   const std::optional<GroupStats> &stats) {
      std::vector<std::string> fields{
          tensor.name, checkpoint::printShape(tensor.shape),
          percent(double(report->zeros), double(report->count)),
          std::string(hw::patternName(pattern))};
      if (stats) {
        double sqnr = stats->dropped > 0
                          ? 10 * std::log10(stats->energy / stats->dropped)
                          : INFINITY;
        for (const std::string &field :
             {std::to_string(stats->groups), std::to_string(stats->conforming),
              std::to_string(stats->violating()),
              percent(stats->dropped, stats->energy),
              formatNumber("%.2f", sqnr)})
          fields.push_back(field);
      } else {
        fields.push_back("rows are no multiple of " +
                         std::to_string(hw::patternInfo(pattern).chunk));
      }
      fields.resize(table.header.size());
      table.rows.push_back({std::move(fields)});
    };
    add(hw::SparsePattern::TwoOfFour, report->twoOfFour);
    add(hw::SparsePattern::PairsFourOfEight, report->pairs);
  }
  return print(table, question);
}

/// What each bin of ErrorStats counts.
static std::string binName(unsigned bin) {
  int exponent = int(bin) - int(ErrorStats::kBins) + 1;
  return bin == 0 ? "below 2^" + std::to_string(exponent + 1)
                  : "from 2^" + std::to_string(exponent);
}

/// Errors by size, a line for each binary order of magnitude.
static std::string drawHistogram(const ErrorStats &error) {
  uint64_t most = 1;
  for (uint64_t count : error.bins)
    most = std::max(most, count);
  std::string text;
  for (unsigned i = ErrorStats::kBins; i-- > 0;) {
    constexpr uint64_t kWidth = 50;
    std::string label = binName(i);
    label.resize(12, ' ');
    text += "    " + label + std::string(error.bins[i] * kWidth / most, '#') +
            " " + std::to_string(error.bins[i]) + "\n";
  }
  return text;
}

/// The panels of one parameter.
static pictures::Histograms::Row
panelsOf(const checkpoint::QuantizedTensor &tensor,
         const std::vector<FormatError> &errors, const FormatError *chosen) {
  pictures::Histograms::Row row;
  row.title = tensor.name + ", " + checkpoint::printShape(tensor.shape);
  for (const FormatError &each : errors) {
    pictures::HistogramPanel panel;
    panel.title =
        std::string(each.format->name) + (&each == chosen ? " (advised)" : "");
    panel.note = formatNumber("%.2f", each.error.sqnr()) +
                 " dB, largest error " + decimal(each.error.largestError);
    panel.counts.assign(each.error.bins.begin(), each.error.bins.end());
    panel.hue = unsigned(&each - errors.data());
    row.panels.push_back(std::move(panel));
  }
  return row;
}

static pictures::Histograms emptyPicture(const AdviceQuestion &question) {
  pictures::Histograms picture;
  picture.title = "Errors of " + question.file;
  picture.note = "how many values are off by how much, as a fraction of the "
                 "largest value of the parameter";
  for (unsigned i = 0; i < ErrorStats::kBins; ++i)
    picture.bins.push_back(binName(i));
  return picture;
}

/// The signal to noise that a format must keep, in dB.
static Result<double> leastSqnrOf(const AdviceQuestion &question) {
  if (question.leastSqnr.empty())
    return kLeastSqnr;
  if (std::optional<double> number = parseNumber(question.leastSqnr))
    return *number;
  return Reason("--least-sqnr is no number: '" + question.leastSqnr + "'");
}

namespace {
/// A tensor in all formats that may be for it.
struct FormatChoice {
  const checkpoint::QuantizedTensor &tensor;
  std::vector<FormatError> errors;
  std::vector<GemmAdvice> times;
  /// Why it is left as it is; empty if it is not.
  std::string_view left;
  /// Null if it stays bf16.
  const FormatError *chosen = nullptr;
};
} // namespace

static Result<FormatChoice> choiceFor(const AdviceQuestion &question,
                                      const Parameters &parameters,
                                      const checkpoint::QuantizedTensor &tensor,
                                      const hw::Part &part, double leastSqnr) {
  hw::GemmSize size{question.m.value_or(kTokens), int64_t(tensor.rows()),
                    int64_t(tensor.columns()), int64_t(tensor.batch())};
  if (std::string why = whyNot(size); !why.empty())
    return Reason("'" + tensor.name + "': " + why, kOfTheFile);
  Result<std::vector<FormatError>> errors =
      measureFormats(parameters.checkpoint, tensor);
  if (!errors)
    return Reason(errors.why().text, kOfTheFile);
  FormatChoice choice{tensor, std::move(*errors), adviseGemm(size, part),
                      whyLeft(tensor.name)};
  if (choice.left.empty())
    choice.chosen = chooseFormat(choice.errors, choice.times, leastSqnr);
  return choice;
}

/// A row of the table, of a format or, without an error, of bf16.
static std::vector<std::string> rowOf(const FormatChoice &choice,
                                      const GemmAdvice &time,
                                      const FormatError *error) {
  bool isChosen = error == choice.chosen;
  std::string advice = !isChosen               ? ""
                       : choice.errors.empty() ? "take: none keeps its values"
                       : choice.left.empty()
                           ? "take"
                           : "take: " + std::string(choice.left);
  return {choice.tensor.name,
          checkpoint::printShape(choice.tensor.shape),
          std::string(time.format->name),
          error ? formatNumber("%.2f", error->error.sqnr()) : "",
          error ? decimal(error->error.largestError) : "",
          formatNumber("%.0f", error ? error->bytes : time.bytes.weights),
          decimal(time.prediction.total),
          formatNumber("%.2f", time.speedup),
          advice};
}

/// The fastest first; bf16, the measure, ends the list.
static void addRows(const FormatChoice &choice, explain::Csv &table) {
  std::vector<std::pair<const GemmAdvice *, const FormatError *>> rows;
  for (const GemmAdvice &time : choice.times)
    for (const FormatError &error : choice.errors)
      if (error.format == time.format)
        rows.push_back({&time, &error});
  std::sort(rows.begin(), rows.end(), [](auto &x, auto &y) {
    return std::pair(x.first->prediction.total, x.first) <
           std::pair(y.first->prediction.total, y.first);
  });
  for (const auto &[time, error] : rows)
    table.rows.push_back({rowOf(choice, *time, error)});
  if (!choice.times.empty())
    table.rows.push_back({rowOf(choice, choice.times.front(), nullptr)});
}

static Result<std::string> adviseFormat(const AdviceQuestion &question) {
  Result<hw::Part> part = partOf(question);
  if (!part)
    return part.why();
  Result<double> leastSqnr = leastSqnrOf(question);
  if (!leastSqnr)
    return leastSqnr.why();
  Result<Parameters> read = readParameters("format", question);
  if (!read)
    return read.why();
  explain::Csv table;
  table.header = {"parameter",    "shape",        "format",
                  "SQNR, dB",     "max error",    "bytes",
                  "microseconds", "against bf16", "advice"};
  std::string histograms;
  pictures::Histograms picture = emptyPicture(question);
  for (const checkpoint::QuantizedTensor &tensor : read->tensors) {
    Result<FormatChoice> choice =
        choiceFor(question, *read, tensor, *part, *leastSqnr);
    if (!choice)
      return choice.why();
    addRows(*choice, table);
    if (question.picture)
      picture.rows.push_back(panelsOf(tensor, choice->errors, choice->chosen));
    for (const FormatError &error : choice->errors)
      if (question.histogram)
        histograms += "\n" + tensor.name + " in " +
                      std::string(error.format->name) +
                      ", errors as fractions of the largest value:\n" +
                      drawHistogram(error.error);
  }
  return question.picture ? pictures::drawHistograms(picture)
                          : print(table, question) + histograms;
}

Result<std::string> driver::advise(const std::string &topic,
                                   const AdviceQuestion &question) {
  if (!question.format.empty() && question.format != "markdown" &&
      question.format != "csv")
    return Reason("unknown format '" + question.format +
                  "', legal are 'markdown' and 'csv'");
  if (topic != "format" && (question.picture || question.histogram))
    return Reason("--histogram and --svg are of topic 'format'");
  if (question.picture && (question.histogram || !question.format.empty()))
    return Reason("--svg draws the histograms alone; --histogram and --format "
                  "contradict it");
  if (topic == "gemm")
    return adviseOneGemm(question);
  if (topic == "model")
    return adviseModel(question);
  if (topic == "sparsity")
    return adviseSparsity(question);
  return adviseFormat(question);
}
