//===- RunSummary.cpp - what ran, per kernel ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunSummary.h"
#include "blockscale/Emulator/SourceLines.h"
#include "blockscale/Formats/Text.h"
#include "blockscale/Pictures/Markup.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>

using namespace blockscale;
using namespace blockscale::driver;
using pictures::escaped;

static std::string toString(const emulator::Dim3 &extents) {
  return "(" + std::to_string(extents.x) + ", " + std::to_string(extents.y) +
         ", " + std::to_string(extents.z) + ")";
}

LaunchRecord blockscale::driver::recordOf(const emulator::Launch &launch,
                                          const emulator::RunResult &result,
                                          const std::vector<std::string> &texts,
                                          double seconds) {
  LaunchRecord record;
  record.kernel = launch.kernel;
  record.shape =
      "grid " + toString(launch.grid) + ", block " + toString(launch.block);
  record.instructions = result.counters.instructions;
  record.seconds = seconds;
  for (size_t i = 0; i != result.findings.size(); ++i)
    record.findings.emplace_back(emulator::name(result.findings[i].kind),
                                 texts[i]);
  record.advice = result.advice.size();
  return record;
}

Result<std::vector<LaunchRecord>>
blockscale::driver::parseRecords(std::string_view text) {
  std::vector<LaunchRecord> records;
  for (std::string_view line : splitAll(text, '\n')) {
    if (line.empty())
      continue;
    try {
      nlohmann::json json = nlohmann::json::parse(line);
      LaunchRecord record;
      record.kernel = json.at("kernel");
      record.shape = json.at("shape");
      record.instructions = json.at("instructions");
      record.seconds = json.at("seconds");
      record.advice = json.at("advice");
      for (const nlohmann::json &finding : json.at("findings"))
        record.findings.emplace_back(finding.at("kind"), finding.at("text"));
      records.push_back(std::move(record));
    } catch (const nlohmann::json::exception &error) {
      return Reason("the record of launch " +
                    std::to_string(records.size() + 1) +
                    " cannot be read: " + error.what());
    }
  }
  return records;
}

//===----------------------------------------------------------------------===//
// By kernel
//===----------------------------------------------------------------------===//

namespace {
/// The launches of one kernel, and their sums.
struct KernelSum {
  std::string name;
  std::vector<const LaunchRecord *> records;
  uint64_t launches = 0, instructions = 0, findings = 0, advice = 0;
  double seconds = 0;

  void add(const LaunchRecord &record) {
    records.push_back(&record);
    launches += !record.shape.empty();
    instructions += record.instructions;
    findings += record.findings.size();
    advice += record.advice;
    seconds += record.seconds;
  }
};
} // namespace

/// In the order of their first launches.
static std::vector<KernelSum>
byKernel(const std::vector<LaunchRecord> &launches) {
  std::vector<KernelSum> sums;
  for (const LaunchRecord &record : launches) {
    auto sum =
        std::find_if(sums.begin(), sums.end(), [&](const KernelSum &each) {
          return each.records.front()->kernel == record.kernel;
        });
    if (sum == sums.end()) {
      sums.emplace_back();
      sum = std::prev(sums.end());
      sum->name = record.kernel.empty() ? "program"
                                        : emulator::readableName(record.kernel);
    }
    sum->add(record);
  }
  return sums;
}

/// What leaves room for numbers beside it.
static std::string shortened(const std::string &name) {
  constexpr size_t kLongest = 60;
  return name.size() > kLongest ? name.substr(0, kLongest) + "..." : name;
}

std::string
blockscale::driver::printSummary(const std::vector<LaunchRecord> &launches) {
  KernelSum total;
  total.name = "total";
  for (const LaunchRecord &record : launches)
    total.add(record);
  std::vector<KernelSum> sums = byKernel(launches);
  sums.push_back(std::move(total));

  using Row = std::array<std::string, 6>;
  std::vector<Row> rows = {
      {"kernel", "launches", "instructions", "findings", "advice", "seconds"}};
  for (const KernelSum &sum : sums)
    rows.push_back({shortened(sum.name), std::to_string(sum.launches),
                    std::to_string(sum.instructions),
                    std::to_string(sum.findings), std::to_string(sum.advice),
                    formatNumber("%.3f", sum.seconds)});
  std::array<size_t, 6> widths{};
  for (const Row &row : rows)
    for (size_t i = 0; i != row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row &row : rows) {
    text += row[0] + std::string(widths[0] - row[0].size(), ' ');
    for (size_t i = 1; i != row.size(); ++i)
      text += std::string(2 + widths[i] - row[i].size(), ' ') + row[i];
    text += '\n';
  }
  return text;
}

//===----------------------------------------------------------------------===//
// JUnit
//===----------------------------------------------------------------------===//

namespace {
struct TestCase {
  std::string name;
  double seconds = 0;
  /// What failed, and its kind; empty for a case that passed.
  std::string kind, failure;
};
} // namespace

static TestCase caseOf(const LaunchRecord &record, uint64_t number) {
  TestCase test;
  test.name = record.shape.empty()
                  ? "load"
                  : "launch " + std::to_string(number) + ", " + record.shape;
  test.seconds = record.seconds;
  for (const auto &[kind, text] : record.findings) {
    if (test.kind.empty())
      test.kind = kind;
    test.failure += text + "\n";
  }
  return test;
}

static std::string printSuite(const std::string &name,
                              const std::vector<TestCase> &cases) {
  uint64_t failures = 0;
  double seconds = 0;
  std::string body;
  for (const TestCase &test : cases) {
    seconds += test.seconds;
    body += "    <testcase classname=\"" + escaped(name) + "\" name=\"" +
            escaped(test.name) + "\" time=\"" +
            formatNumber("%.6f", test.seconds) + "\"";
    if (test.failure.empty()) {
      body += "/>\n";
      continue;
    }
    ++failures;
    body += ">\n      <failure type=\"" + escaped(test.kind) + "\" message=\"" +
            escaped(splitAt(test.failure, '\n').first) + "\">" +
            escaped(test.failure) + "</failure>\n    </testcase>\n";
  }
  return "  <testsuite name=\"" + escaped(name) + "\" tests=\"" +
         std::to_string(cases.size()) + "\" failures=\"" +
         std::to_string(failures) + "\" errors=\"0\" skipped=\"0\" time=\"" +
         formatNumber("%.6f", seconds) + "\">\n" + body + "  </testsuite>\n";
}

std::string
blockscale::driver::printJUnit(const std::vector<LaunchRecord> &launches,
                               const std::string &program,
                               std::optional<int> status) {
  std::string suites;
  uint64_t tests = 0, failures = 0;
  auto add = [&](const std::string &name, const std::vector<TestCase> &cases) {
    suites += printSuite(name, cases);
    tests += cases.size();
    for (const TestCase &test : cases)
      failures += !test.failure.empty();
  };
  for (const KernelSum &sum : byKernel(launches)) {
    std::vector<TestCase> cases;
    uint64_t number = 0;
    for (const LaunchRecord *record : sum.records)
      cases.push_back(caseOf(*record, ++number));
    add(sum.name, cases);
  }
  if (status) {
    TestCase test{"exit status", 0, "", ""};
    if (*status) {
      test.kind = "exit status";
      test.failure = "the program's exit status is " + std::to_string(*status);
    }
    add(program, {test});
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<testsuites name=\"blockscale emulate\" tests=\"" +
         std::to_string(tests) + "\" failures=\"" + std::to_string(failures) +
         "\" errors=\"0\">\n" + suites + "</testsuites>\n";
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

RunSummary::RunSummary(CommandLine &command) {
  command.flag("summary", summary,
               "Print a table of the kernels to standard error: launches, warp "
               "instructions, findings, advice, seconds");
  command.text("junit", junit, "FILE.xml",
               "Write the launches as test cases in JUnit's format");
}

void RunSummary::finish(const std::vector<LaunchRecord> &launches,
                        const std::string &program, std::optional<int> status,
                        OutputFiles &files) const {
  if (summary) {
    std::cout.flush();
    std::cerr << printSummary(launches);
  }
  if (!junit.empty())
    files.add(junit, printJUnit(launches, program, status));
}
