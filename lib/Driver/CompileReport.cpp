//===- CompileReport.cpp - a page about compiled kernels ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileReport.h"
#include "KernelTime.h"
#include "TimelineChart.h"
#include "blockscale/Explain/Layouts.h"
#include "blockscale/Formats/Text.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/Pictures/MemoryMap.h"
#include "blockscale/Pictures/Page.h"
#include "blockscale/Timeline/Print.h"
#include "blockscale/Verify/VerifyPlan.h"

#include <algorithm>
#include <map>

using namespace blockscale;
using namespace blockscale::driver;
using pictures::Page;

using Facts = std::vector<std::pair<std::string, std::string>>;

static std::string text(uint64_t number) { return std::to_string(number); }

static std::string joined(const std::vector<std::string> &words,
                          const char *separator) {
  std::string result;
  for (const std::string &word : words)
    result += (result.empty() ? "" : separator) + word;
  return result;
}

static std::string joined(const std::vector<int64_t> &numbers,
                          const char *separator) {
  std::vector<std::string> words;
  for (int64_t number : numbers)
    words.push_back(std::to_string(number));
  return joined(words, separator);
}

//===----------------------------------------------------------------------===//
// What it computes, and how
//===----------------------------------------------------------------------===//

static std::string sizesText(const plan::Kernel &kernel) {
  std::vector<std::string> sizes;
  for (const plan::Size &size : kernel.sizes)
    sizes.push_back(
        size.name + " = " +
        (size.value ? std::to_string(*size.value) : std::string("at launch")));
  return joined(sizes, ", ");
}

/// "a f32 for each row", "a f16 for every 32 rows", "one f32".
static std::string vectorScalesText(const plan::VectorScales &scales) {
  std::string what = "a " + scales.format + " for ";
  if (!scales.rows && !scales.block)
    return "one " + scales.format;
  std::string rows = scales.rows == 0 ? "all rows"
                     : scales.rows == 1
                         ? "each row"
                         : "every " + text(scales.rows) + " rows";
  if (!scales.block)
    return what + rows;
  return what + rows + " and every " + text(scales.block) +
         " elements along K, applied in registers";
}

/// "a ue8m0 for every 32 elements along K", "... , one for every 128 rows and
/// 128 elements repeated".
static std::string scalesText(const plan::ScalePacking &scales) {
  std::string result = "a " + scales.format + " for every " +
                       text(scales.block) + " elements along K";
  if (scales.rows == 1 && scales.ownBlock() == scales.block)
    return result;
  std::string rows = scales.rows == 0 ? "all rows"
                     : scales.rows == 1
                         ? "each row"
                         : "every " + text(scales.rows) + " rows";
  return result + " (one for " + rows + " and " + text(scales.ownBlock()) +
         " elements, repeated)";
}

static std::string operandText(const plan::Kernel &kernel,
                               const std::string &operand) {
  std::string result;
  for (const plan::DataPacking &data : kernel.data)
    if (data.operand == operand)
      result = (data.source ? data.source->format + " as " : "") + data.format +
               ", " +
               (data.order == "k_major" ? "contiguous along K"
                                        : "contiguous along its rows");
  for (const plan::ScalePacking &scales : kernel.scales)
    if (scales.operand == operand)
      result += "; " + scalesText(scales) + ", " + scales.layout;
  for (const plan::VectorScales &scales : kernel.vectorScales)
    if (scales.operand == operand)
      result += "; " + vectorScalesText(scales);
  for (const plan::ZeroTerms &terms : kernel.zeroTerms)
    if (terms.operand == operand)
      result += "; zero points of " + terms.format +
                ", subtracted from x by terms of the epilogue";
  for (const plan::MetadataPacking &metadata : kernel.metadata)
    if (metadata.operand == operand)
      result += "; structured sparsity";
  return result;
}

static std::string instructionText(const KernelReport &report) {
  std::string result = "kind " + report.kind + ", K = " + text(report.mmaK);
  if (report.block)
    result += ", blocks of " + text(report.block);
  if (report.ctaGroup == 2)
    result += ", executed by pairs of CTAs";
  return result + (report.sparse ? ", A sparse" : "");
}

/// " * scale of A's row" and the like; empty for an operand whose scales do not
/// cover all of K, or cover other rows too if `ofMatrix` says so.
static std::string factorText(const plan::Kernel &kernel,
                              const std::string &operand, bool ofMatrix) {
  for (const plan::VectorScales &scales : kernel.vectorScales)
    if (scales.operand == operand && !scales.block &&
        (scales.rows == 0) == ofMatrix)
      return std::string("scale of ") + (operand == "a" ? "A" : "B") +
             (ofMatrix ? "'s tensor * " : "'s row * ");
  return "";
}

static std::string epilogueText(const plan::Kernel &kernel) {
  const plan::Epilogue &epilogue = kernel.epilogue;
  std::vector<std::string> lines;
  std::string product = "x = ";
  if (epilogue.alpha)
    product += "alpha * ";
  if (epilogue.aTensorScale)
    product += "scale of A's tensor * ";
  product += factorText(kernel, "a", /*ofMatrix=*/true);
  if (epilogue.bTensorScale)
    product += "scale of B's tensor * ";
  product += factorText(kernel, "b", /*ofMatrix=*/true) +
             factorText(kernel, "a", /*ofMatrix=*/false) +
             factorText(kernel, "b", /*ofMatrix=*/false);
  product += "A x B";
  if (!kernel.zeroTerms.empty())
    product += " - terms of zero points";
  if (epilogue.beta)
    product += " + beta * c";
  lines.push_back(product);
  if (epilogue.bias != "none")
    lines.push_back("bias: one number for each " + epilogue.bias + " of D");
  for (const plan::EpilogueStep &step : epilogue.steps)
    lines.push_back(
        step.name + " = " + step.op + " " +
        (step.predicate.empty() ? "" : step.predicate + " ") +
        (step.constant ? *step.constant : joined(step.operands, ", ")) + " : " +
        step.type);
  lines.push_back("D = " + epilogue.result);
  return joined(lines, "\n");
}

static void addSummary(Page &page, const plan::Kernel &kernel,
                       const KernelReport &report) {
  Facts facts = {
      {"sizes", sizesText(kernel)},
      {"A", operandText(kernel, "a")},
      {"B", operandText(kernel, "b")},
      {"instruction", instructionText(report)},
      {report.ctaGroup == 2 ? "tile of a pair of CTAs" : "tile of a CTA",
       text(report.tileM) + " x " + text(report.tileN) + " x " +
           text(report.tileK)},
      {"in a K tile", text(report.mmasPerKTile) + " instructions, " +
                          text(report.copiesPerKTile) +
                          " copies to tensor memory"},
      {"stages", text(report.stages)},
      {"grid", joined(kernel.grid, " x ")},
      {"cluster", joined(kernel.cluster, " x ")},
      {"threads of a CTA", joined(kernel.block, " x ")},
      {"shared memory", text(report.sharedMemoryBytes) + " of " +
                            text(report.sharedMemoryLimitBytes) + " bytes"}};
  if (report.tensorMemoryColumns)
    facts.push_back({"tensor memory",
                     text(report.tensorMemoryColumns) + " of " +
                         text(report.tensorMemoryLimitColumns) + " columns"});
  if (report.resources) {
    facts.push_back({"registers", text(report.resources->registers)});
    facts.push_back(
        {"spills", text(report.resources->spillStoreBytes) + " bytes stored, " +
                       text(report.resources->spillLoadBytes) + " loaded"});
  } else {
    facts.push_back({"registers", "not assembled"});
  }
  facts.push_back({"bound of the main loop",
                   (report.mmaCyclesPerKTile >= report.loadCyclesPerKTile
                        ? std::string("tensor core")
                        : std::string("operand fetch")) +
                       " (estimate per K tile: " +
                       formatNumber("%.0f", report.mmaCyclesPerKTile) +
                       " cycles of instructions, " +
                       formatNumber("%.0f", report.loadCyclesPerKTile) +
                       " of loads)"});
  page.facts(facts);
  page.heading(3, "Epilogue");
  page.code(epilogueText(kernel));
}

//===----------------------------------------------------------------------===//
// Why this schedule
//===----------------------------------------------------------------------===//

static void addSchedule(Page &page, const ScheduleReport *schedule) {
  page.heading(3, "Schedule");
  if (!schedule || schedule->compared.empty()) {
    page.paragraph("The input had its schedule already: nothing was chosen.");
    return;
  }
  if (!schedule->wish.empty())
    page.paragraph("Asked for in the input: " + schedule->wish + ".");
  const std::vector<ComparedSchedule> &all = schedule->compared;
  page.paragraph("The fastest of " + text(all.size()) +
                 " legal schedules by the throughput model (" +
                 timeline::kEstimateLabel +
                 "); a size that is known at launch only counted as " +
                 text(uint64_t(schedule->expectedRows)) + ".");
  constexpr size_t kShown = 10;
  std::vector<std::vector<std::string>> rows = {
      {"schedule", "predicted microseconds", "beside the chosen one"}};
  for (size_t i = 0; i < std::min(all.size(), kShown); ++i)
    rows.push_back({all[i].text, formatNumber("%.2f", all[i].microseconds),
                    i == 0 ? "chosen"
                           : formatNumber("%.3f", all[i].microseconds /
                                                      all[0].microseconds)});
  page.table(rows);
  if (schedule->refused.empty())
    return;
  page.beginFolded("Not legal, and why");
  std::vector<std::vector<std::string>> refused = {{"rule", "schedules"}};
  for (const auto &[why, count] : schedule->refused)
    refused.push_back({why, text(count)});
  page.table(refused);
  page.endFolded();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static pictures::MemoryMap mapOf(const std::vector<MemoryRegion> &regions) {
  pictures::MemoryMap map;
  for (const MemoryRegion &region : regions)
    map.parts.push_back({region.name, region.offset, region.size, region.copies,
                         region.stride});
  return map;
}

static void addMemory(Page &page, const KernelReport &report) {
  page.heading(3, "Memory");
  pictures::MemoryMap shared = mapOf(report.sharedMemory);
  shared.title = "Shared memory of a CTA";
  shared.unit = "bytes";
  shared.copyName = "stage";
  shared.size = report.sharedMemoryLimitBytes;
  constexpr uint64_t kTick = 32 << 10;
  shared.tick = kTick;
  shared.notes = {text(report.sharedMemoryBytes) + " of the " +
                  text(report.sharedMemoryLimitBytes) +
                  " bytes that the chip gives a CTA."};
  page.picture(pictures::drawMemoryMap(shared));
  if (report.tensorMemory.empty())
    return;
  pictures::MemoryMap tensor = mapOf(report.tensorMemory);
  tensor.title = "Tensor memory of a CTA";
  tensor.unit = "columns";
  tensor.copyName = "accumulator";
  tensor.size = report.tensorMemoryLimitColumns;
  constexpr uint64_t kColumnTick = 64;
  tensor.tick = kColumnTick;
  tensor.notes = {text(report.tensorMemoryColumns) + " of " +
                  text(report.tensorMemoryLimitColumns) +
                  " columns of 128 lanes by 32 bits are allocated."};
  page.picture(pictures::drawMemoryMap(tensor));
}

/// Where this kernel's instructions find scales and metadata.
static void addLayouts(Page &page, const plan::Kernel &kernel,
                       const KernelReport &report) {
  bool inTensor = !report.tensorMemory.empty();
  explain::LayoutQuestion question;
  question.kind = report.kind;
  question.k = report.mmaK;
  question.sparse = report.sparse;
  if (report.block)
    question.blockSize = report.block;
  if (inTensor) {
    question.ctaGroup = report.ctaGroup;
    question.m = report.tileM;
    question.n = report.tileN;
  }
  std::vector<std::string> operands;
  if (report.block)
    operands = {"a", "b"};
  if (report.sparse)
    operands.push_back("metadata");
  if (operands.empty())
    return;
  page.heading(3, "Where scale bytes lie");
  for (const std::string &operand : operands)
    for (const char *memory : {inTensor ? "tensor" : "registers", "shared"}) {
      question.operand = operand;
      question.memory = memory;
      question.rowPerLane = std::any_of(
          kernel.scales.begin(), kernel.scales.end(),
          [&](const plan::ScalePacking &scales) {
            return scales.operand == operand && scales.layout == "tiled_128x16";
          });
      Result<pictures::ByteMap> map = explain::layoutMap(question);
      if (!map)
        continue;
      page.beginFolded(map->title);
      page.picture(pictures::drawByteMap(*map, /*everyLine=*/false));
      page.endFolded();
    }
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

static void addTime(Page &page, const plan::Kernel &kernel,
                    const TimedKernel &timed) {
  page.heading(3, "Time");
  if (!timed.estimate) {
    page.paragraph("No timeline: " + timed.why + ".");
    return;
  }
  std::vector<std::string> sizes;
  for (const auto &[name, value] : timed.sizes)
    sizes.push_back(name + " = " + std::to_string(value));
  page.paragraph("One cluster on the emulator with " + joined(sizes, ", ") +
                 ", replayed with the throughput model on " +
                 std::string(timed.part.name) + ": " +
                 timeline::kEstimateLabel + ".");
  const timeline::Estimate &estimate = *timed.estimate;
  page.facts(timeline::estimateFacts(estimate));
  std::vector<std::vector<std::string>> shares = {
      {"what the tensor core's time went to", "share"}};
  for (size_t use = 0; use != timeline::kUses; ++use)
    shares.push_back({std::string(timeline::useName(timeline::Use(use))),
                      formatNumber("%.1f %%", 100 * estimate.shares[use])});
  page.table(shares);
  page.picture(drawTimeline(estimate, kernel.name, timed.part));
  // Single instructions are seen in a twentieth.
  constexpr double kPart = 0.05;
  double middle = estimate.cycles / 2, half = estimate.cycles * kPart / 2;
  page.picture(drawTimeline(estimate, kernel.name, timed.part, middle - half,
                            middle + half));
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

static void addParameters(Page &page, const plan::Kernel &kernel) {
  page.heading(3, "Parameters");
  std::vector<std::vector<std::string>> rows = {
      {"role", "type", "byte", "bytes"}};
  for (const plan::Parameter &parameter : kernel.parameters)
    rows.push_back({parameter.role, parameter.type, text(parameter.offset),
                    text(parameter.size)});
  page.table(rows);
  if (kernel.conditions.empty())
    return;
  page.paragraph("What sizes must satisfy: " + joined(kernel.conditions, "; ") +
                 ".");
}

std::string blockscale::driver::printReportPage(const Compilation &compilation,
                                                const ReportInput &input) {
  Page page;
  page.paragraph("What blockscale made of " + input.path + " for " +
                 compilation.target +
                 ". Times are estimates; nothing was run on a GPU.");
  std::map<std::string, unsigned> products;
  for (const plan::Kernel &kernel : compilation.plan.kernels) {
    page.heading(2, "Kernel " + kernel.name);
    // A variant belongs to the product of the kernel before it.
    unsigned index = products[kernel.sourceFunction];
    if (!kernel.variantOf)
      products[kernel.sourceFunction] = ++index;
    auto report = std::find_if(
        compilation.report.kernels.begin(), compilation.report.kernels.end(),
        [&](const KernelReport &each) { return each.name == kernel.name; });
    if (report == compilation.report.kernels.end())
      continue;
    auto schedule =
        std::find_if(input.schedules.begin(), input.schedules.end(),
                     [&](const ScheduleReport &each) {
                       return !kernel.variantOf &&
                              each.function == kernel.sourceFunction &&
                              each.index + 1 == index;
                     });
    addSummary(page, kernel, *report);
    addSchedule(page, schedule == input.schedules.end() ? nullptr : &*schedule);
    addMemory(page, *report);
    addLayouts(page, kernel, *report);
    addTime(page, kernel, timeKernel(compilation, kernel, input.rows));
    addParameters(page, kernel);
  }
  return page.finish(input.path + " for " + compilation.target);
}
