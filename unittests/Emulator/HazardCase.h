//===- HazardCase.h - a kernel with a mistake, and without ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_EMULATOR_HAZARDCASE_H
#define BLOCKSCALE_UNITTESTS_EMULATOR_HAZARDCASE_H

#include "MachineHarness.h"

#include "blockscale/Emulator/Hazards.h"

#include <algorithm>

namespace blockscale::emulator::test {

/// A kernel body of MachineHarness.h with a place `$`. With `wrong` there, the
/// line that holds `//!` has hazard `number`.
struct HazardCase {
  const char *name = "";
  unsigned number = 0;
  const char *module = "", *text = "", *wrong = "", *right = "";
  uint32_t threads = 64, ctas = 1, cluster = 1;
  unsigned resident = 0;
  bool fromPreviousGrid = false; ///< the input
  std::optional<Completion> only;
};

inline void PrintTo(const HazardCase &c, std::ostream *stream) {
  *stream << c.number << ' ' << c.name;
}
inline std::string
nameOf(const testing::TestParamInfo<HazardCase> &information) {
  return std::to_string(information.param.number) + information.param.name;
}

class Hazards : public testing::TestWithParam<HazardCase> {
protected:
  static std::string filled(const char *with) {
    const HazardCase &c = GetParam();
    std::string text = c.text;
    text.replace(text.find('$'), 1, with);
    return body(text, c.module);
  }

  static RunResult runWith(const char *with, Completion completion) {
    const HazardCase &c = GetParam();
    std::vector<uint32_t> out(std::max(128u, c.threads * c.ctas)), in(128);
    for (size_t i = 0; i != in.size(); ++i)
      in[i] = uint32_t(i);
    Launch launch;
    launch.kernel = "k";
    launch.grid.x = c.ctas;
    launch.cluster.x = c.cluster;
    launch.block.x = c.threads;
    launch.buffers = {bufferOf(out), bufferOf(in, false)};
    launch.buffers[1].fromPreviousGrid = c.fromPreviousGrid;
    launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
    Options options;
    options.threads = 1;
    options.advice = true;
    options.completion = completion;
    options.residentClusters = c.resident;
    return runText(filled(with), launch, options);
  }

  /// Runs `check(completion)` for the orders of completion of the case.
  template <typename F> static void forCompletions(F &&check) {
    for (Completion completion :
         {Completion::Immediate, Completion::Random, Completion::Latest})
      if (GetParam().only.value_or(completion) == completion)
        check(completion);
  }

  static std::string listing(const RunResult &result) {
    std::string text;
    for (const auto *list : {&result.findings, &result.advice})
      for (const Finding &finding : *list)
        text += toString(finding) + "\n";
    return text;
  }
};

TEST_P(Hazards, Found) {
  const HazardCase &c = GetParam();
  const HazardInfo *info = hazardInfo(c.number);
  ASSERT_TRUE(info);
  std::string whole = filled(c.wrong);
  size_t mark = whole.find("//!");
  ASSERT_NE(mark, std::string::npos);
  auto line =
      uint32_t(1 + std::count(whole.begin(), whole.begin() + long(mark), '\n'));
  forCompletions([&](Completion completion) {
    RunResult result = runWith(c.wrong, completion);
    bool advice = info->grade == Grade::Advice;
    EXPECT_EQ(result.clean(), advice) << listing(result);
    const auto &list = advice ? result.advice : result.findings;
    bool found = std::any_of(list.begin(), list.end(), [&](const Finding &f) {
      return f.hazard == c.number && f.line == line && !f.message.empty();
    });
    EXPECT_TRUE(found) << "order " << int(completion) << ", line " << line
                       << ":\n"
                       << listing(result);
    // What follows from the mistake may be found too, after it.
    if (!result.findings.empty() && !advice)
      EXPECT_EQ(result.findings.front().hazard, c.number) << listing(result);
  });
}

TEST_P(Hazards, TwinIsClean) {
  const HazardCase &c = GetParam();
  forCompletions([&](Completion completion) {
    RunResult result = runWith(c.right, completion);
    EXPECT_TRUE(result.clean()) << "order " << int(completion) << ":\n"
                                << listing(result);
    for (const Finding &finding : result.advice)
      EXPECT_NE(finding.hazard, c.number) << toString(finding);
  });
}

} // namespace blockscale::emulator::test

#endif // BLOCKSCALE_UNITTESTS_EMULATOR_HAZARDCASE_H
