//===- ScheduleTopic.cpp - what schedules were compared -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleTopic.h"
#include "InputModule.h"
#include "ScheduleSearch.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Formats/Text.h"
#include "blockscale/Timeline/Print.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::driver;

namespace {
/// A product with what the timeline says of its first schedules.
struct Answer {
  ScheduleReport product;
  std::vector<double> replayed;
};
} // namespace

/// How many schedules are printed unless all are asked for.
static constexpr size_t kShown = 10;

static std::string cell(const std::string &text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text
                             : text;
}

static void printRow(llvm::raw_ostream &out, const Answer &answer, size_t i) {
  const ComparedSchedule &each = answer.product.compared[i];
  double best = answer.product.compared.front().microseconds;
  out << cell(formatNumber("%.2f", each.microseconds), 10);
  if (!answer.replayed.empty())
    out << cell(i < answer.replayed.size()
                    ? formatNumber("%.2f", answer.replayed[i])
                    : "",
                10);
  out << cell(formatNumber("%.3f", each.microseconds / best), 8) << "  "
      << cell(std::string(each.limit), 13) << "  " << each.text
      << (i == 0 ? " (taken)" : "") << '\n';
}

/// Whether parts of K meet in a workspace in any schedule, or do not.
static bool isAnyMet(const ScheduleReport &product, bool met) {
  return llvm::any_of(product.compared, [&](const ComparedSchedule &each) {
    return each.schedule.hasWorkspace() == met;
  });
}

/// Whether groups of warps take tiles in turns in some schedules, but not all.
static bool mayTakeTurns(const ScheduleReport &product) {
  auto takesTurns = [](const ComparedSchedule &each) {
    return each.schedule.consumerGroups() > 1;
  };
  return llvm::any_of(product.compared, takesTurns) &&
         !llvm::all_of(product.compared, takesTurns);
}

static void printText(llvm::raw_ostream &out, const Answer &answer, bool all) {
  const ScheduleReport &product = answer.product;
  out << "product " << product.index << " of '" << product.function << "'";
  if (!product.wish.empty())
    out << ", asked for: " << product.wish;
  out << "\n";
  size_t count = product.compared.size();
  bool mayMeet = isAnyMet(product, true) && isAnyMet(product, false);
  if (count) {
    out << "  taken: the first of " << count
        << " legal schedules by the throughput model ("
        << timeline::kEstimateLabel << "), of equals the simplest; "
        << "a size that is known at launch only counts as "
        << product.expectedRows
        << (mayMeet ? "; a workspace is taken for at least 5 % only, as is a "
                      "cluster that shares operands and exchanges sums; one of "
                      "no power of two of CTAs for 2 %"
                    : "")
        << (mayTakeTurns(product)
                ? "; tiles in turns are taken for at least 5 %"
                : "")
        << "\n"
        << cell("us", 10)
        << (answer.replayed.empty() ? "" : cell("timeline", 10))
        << cell("beside", 8) << "  " << cell("limited by", 13)
        << "  schedule\n";
    size_t shown = all ? count : std::min(count, kShown);
    shown = std::max(shown, answer.replayed.size());
    for (size_t i = 0; i != shown; ++i)
      printRow(out, answer, i);
    if (shown != count)
      out << "  and " << count - shown << " more (--all)\n";
  }
  for (const auto &[why, times] : product.refused)
    out << "  not legal (" << times << "): " << why << "\n";
}

static llvm::json::Value asJson(const Answer &answer) {
  const ScheduleReport &product = answer.product;
  llvm::json::Array schedules, refused;
  for (size_t i = 0; i != product.compared.size(); ++i) {
    const ComparedSchedule &each = product.compared[i];
    llvm::json::Object row{{"schedule", each.text},
                           {"microseconds", each.microseconds},
                           {"limit", std::string(each.limit)}};
    if (i < answer.replayed.size())
      row["timeline_microseconds"] = answer.replayed[i];
    schedules.push_back(std::move(row));
  }
  for (const auto &[why, times] : product.refused)
    refused.push_back(llvm::json::Object{{"why", why}, {"schedules", times}});
  return llvm::json::Object{{"function", product.function},
                            {"product", product.index},
                            {"asked_for", product.wish},
                            {"expected_rows", product.expectedRows},
                            {"schedules", std::move(schedules)},
                            {"refused", std::move(refused)}};
}

/// Nothing, with a message, if one of them cannot be replayed.
static std::optional<std::vector<Answer>>
replayed(mlir::ModuleOp module, std::vector<ScheduleReport> products,
         unsigned count, const CompilerOptions &options) {
  std::vector<Answer> answers;
  for (ScheduleReport &product : products) {
    Answer answer{std::move(product), {}};
    for (const ComparedSchedule &each :
         llvm::ArrayRef(answer.product.compared).take_front(count)) {
      Result<double> time =
          replaySchedule(module, answer.product, each, options);
      if (!time) {
        reportError(each.text + ": " + time.why().text, kFailure);
        return std::nullopt;
      }
      answer.replayed.push_back(*time);
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

static std::optional<std::string> explain(const FileQuestion &question) {
  CompilerOptions options;
  options.target = question.target;
  if (question.rows)
    options.expectedRows = *question.rows;
  if (std::optional<Reason> why = whyNot(options)) {
    reportError(why->text, kNotUnderstood);
    return std::nullopt;
  }
  InputModule module(question.file);
  if (!module)
    return std::nullopt;
  auto products = reportSchedules(*module, options);
  if (mlir::failed(products))
    return std::nullopt;
  if (products->empty()) {
    reportError("'" + question.file +
                    "' has no product whose schedule is still to be chosen",
                kFailure);
    return std::nullopt;
  }
  auto answers =
      replayed(*module, std::move(*products), question.replay, options);
  if (!answers)
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::json::Array rows;
  for (const Answer &answer : *answers)
    if (question.format == "json")
      rows.push_back(asJson(answer));
    else
      printText(out, answer, question.all);
  if (question.format == "json")
    out << llvm::formatv("{0:2}", llvm::json::Value(std::move(rows))) << '\n';
  return text;
}

FileTopic blockscale::driver::makeScheduleTopic() {
  return {"schedule", "MLIR with the products", explain};
}
