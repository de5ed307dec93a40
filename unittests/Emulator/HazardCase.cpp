//===- HazardCase.cpp - runs a kernel with a mistake, and without ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HazardCase.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace blockscale::emulator::test {

std::string plainKernel(const HazardCase &c) { return body(c.text, c.module); }

std::string mapKernel(const HazardCase &c) {
  return std::string(".version 9.4\n.target ") + c.target +
         "\n.address_size 64\n"
         ".shared .align 16 .b64 bar[2];\n.shared .align 16 .b32 slot[4];\n"
         ".shared .align 1024 .b8 buf[32768];\n" +
         c.module +
         ".visible .entry k(.param .u64 out, .param .u64 in, "
         ".param .align 128 .b8 map[128]) " +
         c.directives +
         "\n{\n"
         ".reg .pred %p<16>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<32>;\n"
         ".reg .b128 %q<4>;\n.reg .b16 %h<4>;\n"
         "ld.param.u64 %rd4, [out];\nld.param.u64 %rd5, [in];\n"
         "mov.b64 %rd6, map;\ncvta.param.u64 %rd6, %rd6;\n"
         "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
         "mov.u32 %r10, bar;\nadd.u32 %r15, %r10, 8;\nmov.u32 %r12, buf;\n"
         "mov.u32 %r13, slot;\nmov.u32 %r5, 0;\n"
         "setp.eq.u32 %p1, %r1, 0;\nsetp.lt.u32 %p2, %r1, 32;\n"
         "setp.eq.u32 %p3, %r1, 32;\nsetp.eq.u32 %p4, %r2, 0;\n"
         "setp.eq.and.u32 %p5, %r1, 0, %p4;\n"
         "setp.ne.u32 %p6, %r1, %r1;\nsetp.eq.u32 %p7, %r1, %r1;\n" +
         c.text + "\nret;\n}\n";
}

TensorMap mapOf(const HazardCase &c) {
  TensorMap map;
  map.type = c.type;
  map.rank = 2;
  map.globalDim = {128, 64, 0, 0, 0};
  // 16U4_ALIGN16B is packed in global memory.
  bool isPacked = c.type == TensorMapType::U4Align16;
  map.globalStrides = {isPacked ? 64u : 128u, 0, 0, 0};
  map.boxDim = {128, 8, 0, 0, 0};
  map.swizzle = c.swizzle;
  return map;
}

void PrintTo(const HazardCase &c, std::ostream *stream) {
  *stream << c.number << ' ' << c.name;
}

std::string nameOf(const testing::TestParamInfo<HazardCase> &information) {
  return std::to_string(information.param.number) + information.param.name;
}

std::vector<HazardCase> &hazardCases() {
  static std::vector<HazardCase> cases;
  return cases;
}

namespace {

std::string filled(const HazardCase &c, const char *with) {
  std::string text = c.kernel(c);
  size_t place = text.find('$');
  EXPECT_NE(place, std::string::npos) << c.name << " has no place $";
  return place == std::string::npos ? text : text.replace(place, 1, with);
}

RunResult runWith(const HazardCase &c, const char *with,
                  Completion completion) {
  std::vector<uint32_t> out(std::max(128u, c.threads * c.ctas)), in(4096);
  for (size_t i = 0; i != in.size(); ++i)
    in[i] = uint32_t(i);
  Launch launch;
  launch.kernel = "k";
  launch.grid.x = c.ctas;
  launch.cluster.x = c.cluster;
  launch.block.x = c.threads;
  launch.cooperative = c.cooperative;
  launch.buffers = {bufferOf(out), bufferOf(in, false)};
  launch.buffers[1].fromPreviousGrid = c.fromPreviousGrid;
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  if (c.takesMap) {
    launch.buffers[1].writable = true;
    launch.arguments.push_back(TensorMapArgument{mapOf(c), 1, 0});
  }
  Options options;
  options.threads = 1;
  options.advice = true;
  options.completion = completion;
  options.residentClusters = c.resident;
  options.stepLimit = c.stepLimit;
  return runText(filled(c, with), launch, options);
}

/// Runs `check(completion)` for the orders of completion of the case.
template <typename F> void forCompletions(const HazardCase &c, F &&check) {
  for (Completion completion :
       {Completion::Immediate, Completion::Random, Completion::Latest})
    if (c.only.value_or(completion) == completion)
      check(completion);
}

std::string listing(const RunResult &result) {
  std::string text;
  for (const auto *list : {&result.findings, &result.advice})
    for (const Finding &finding : *list)
      text += toString(finding) + "\n";
  return text;
}

/// What the marker of a kernel says.
struct Place {
  uint32_t line = 0;
  int cta = 0, warp = 0, lane = 0;

  bool operator==(const Finding &f) const {
    return f.line == line && int(f.cta[0]) == cta && f.warp == warp &&
           f.lane == lane;
  }
};

Place placeIn(const std::string &text) {
  Place place;
  size_t mark = text.find("//!");
  EXPECT_NE(mark, std::string::npos);
  if (mark == std::string::npos)
    return place;
  place.line =
      uint32_t(1 + std::count(text.begin(), text.begin() + long(mark), '\n'));
  size_t from = mark + 3;
  std::string words = text.substr(from, text.find('\n', mark) - from);
  std::replace(words.begin(), words.end(), ',', ' ');
  std::istringstream stream(words);
  for (std::string what, value; stream >> what >> value;) {
    int number = value == "none" ? -1 : std::stoi(value);
    (what == "cta"    ? place.cta
     : what == "warp" ? place.warp
                      : place.lane) = number;
  }
  return place;
}

} // namespace

TEST_P(Hazards, Found) {
  const HazardCase &c = GetParam();
  const HazardInfo *info = hazardInfo(c.number);
  ASSERT_TRUE(info);
  Place place = placeIn(filled(c, c.wrong));
  bool advice = c.advice || info->grade == Grade::Advice;
  forCompletions(c, [&](Completion completion) {
    RunResult result = runWith(c, c.wrong, completion);
    EXPECT_EQ(result.clean(), advice) << listing(result);
    const auto &list = advice ? result.advice : result.findings;
    bool found = std::any_of(list.begin(), list.end(), [&](const Finding &f) {
      return f.hazard == c.number && place == f && !f.message.empty();
    });
    EXPECT_TRUE(found) << "order " << int(completion) << ", line " << place.line
                       << ", cta " << place.cta << ", warp " << place.warp
                       << ", lane " << place.lane << ":\n"
                       << listing(result);
    // What follows from the mistake may be found too, after it.
    if (!result.findings.empty() && !advice) {
      EXPECT_EQ(result.findings.front().hazard, c.number) << listing(result);
    }
  });
}

TEST_P(Hazards, TwinIsClean) {
  const HazardCase &c = GetParam();
  forCompletions(c, [&](Completion completion) {
    RunResult result = runWith(c, c.right, completion);
    EXPECT_TRUE(result.clean()) << "order " << int(completion) << ":\n"
                                << listing(result);
    EXPECT_GT(result.counters.instructions, 0u);
    for (const Finding &finding : result.advice)
      EXPECT_NE(finding.hazard, c.number) << toString(finding);
  });
}

/// Every entry has a kernel that makes its mistake and a twin that does not,
/// and errors are shown as errors.
TEST(HazardCatalogue, EveryEntryHasACase) {
  std::set<unsigned> shown;
  for (const HazardCase &c : hazardCases()) {
    EXPECT_STRNE(c.wrong, c.right) << c.name;
    const HazardInfo *info = hazardInfo(c.number);
    ASSERT_TRUE(info) << c.number;
    if (info->grade == Grade::Advice || !c.advice)
      shown.insert(c.number);
  }
  for (const HazardInfo &info : hazardCatalogue())
    EXPECT_TRUE(shown.count(info.number))
        << "no case shows " << info.number << ", " << info.name;
}

/// The numbers are those of the published list: 1 to 89 without 83, which is no
/// mistake.
TEST(HazardCatalogue, IsComplete) {
  const std::set<unsigned> advice{17, 20, 25, 50, 66, 72, 75};
  for (unsigned number = 1; number != 90; ++number) {
    const HazardInfo *info = hazardInfo(number);
    ASSERT_EQ(info != nullptr, number != 83) << number;
    if (!info)
      continue;
    EXPECT_FALSE(info->name.empty());
    EXPECT_GT(info->explanation.size(), 60u) << number;
    EXPECT_EQ(info->grade == Grade::Advice, advice.count(number) != 0)
        << number;
  }
}

} // namespace blockscale::emulator::test
