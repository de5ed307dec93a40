//===- SourceLinesTest.cpp - findings in the source of a kernel -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/SourceLines.h"
#include "PtxTesting.h"

#include <cstdio>
#include <filesystem>
#include <unistd.h>

using namespace blockscale::emulator;

namespace {

/// As nvcc -lineinfo writes it: 'inner' was inlined into 'outer' and that into
/// the kernel; `.file` and the names come last. Lines 6 to 15 are the body.
std::string inlinedTwice(const std::string &file) {
  return ".version 8.8\n.target sm_100a\n.address_size 64\n"
         ".visible .entry k()\n{\n"
         ".reg .b32 %r<3>;\n"                                             // 6
         "mov.b32 %r1, 0;\n"                                              // 7
         ".loc 1 9 0\n"                                                   // 8
         "mov.b32 %r1, 1;\n"                                              // 9
         ".loc 1 3 5, function_name $L__info_string0, inlined_at 1 9 4\n" // 10
         ".loc 1 2 7, function_name $L__info_string0+11, inlined_at 1 3 5\n"
         "mov.b32 %r1, 2;\n" // 12
         ".loc 1 0 3\n"      // 13
         "mov.b32 %r1, 3;\n" // 14
         "ret;\n"            // 15
         "}\n"
         ".file 1 \"" +
         file +
         "\"\n"
         ".section .debug_str\n{\n$L__info_string0:\n"
         // _Z5outerPf, _Z5innerPf
         ".b8 95, 90\n.b8 53\n.b8 111,117,116,101,114,80,102\n.b8 0\n"
         ".b8 95,90,53,105,110,110,101,114,80,102,0\n}\n";
}

class SourceLines : public ::testing::Test {
protected:
  void SetUp() override {
    path = std::filesystem::temp_directory_path() /
           ("source-lines-" + std::to_string(getpid()) + ".cu");
    std::ofstream(path) << "one\n  two();  \n\tthree\n";
  }
  void TearDown() override { std::filesystem::remove(path); }
  std::string path;
};

TEST_F(SourceLines, FollowsInlining) {
  Module module = parsed(inlinedTwice("a.cu"));
  std::vector<SourceFrame> frames = sourceFrames(module, 12);
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].file, "a.cu");
  EXPECT_EQ(frames[0].line, 2u);
  EXPECT_EQ(frames[0].column, 7u);
  EXPECT_EQ(frames[0].function, "_Z5innerPf");
  EXPECT_EQ(frames[1].line, 3u);
  EXPECT_EQ(frames[1].function, "_Z5outerPf");
  // The place was not given before: the chain ends there.
  EXPECT_EQ(frames[2].line, 9u);
  EXPECT_EQ(frames[2].column, 4u);
  EXPECT_EQ(frames[2].function, "");
}

TEST_F(SourceLines, SaysNothingWhereThePtxDoesNot) {
  Module module = parsed(inlinedTwice("a.cu"));
  EXPECT_TRUE(sourceFrames(module, 7).empty()) << "before the first .loc";
  EXPECT_TRUE(sourceFrames(module, 14).empty()) << "line 0";
  EXPECT_TRUE(sourceFrames(module, 10).empty()) << "no instruction";
  EXPECT_TRUE(sourceFrames(module, 0).empty());
  Module plain = parsed(kernelOf("ret;"));
  Finding finding{FindingKind::Race, "with line 5", 5};
  EXPECT_EQ(sourceNote(plain, finding), "");
}

TEST_F(SourceLines, ShowsTheTextOfReadableFiles) {
  Module module = parsed(inlinedTwice(path));
  Finding finding{FindingKind::Race,
                  "read of what warp 1 wrote at line 9, and at line 9", 12};
  EXPECT_EQ(sourceNote(module, finding),
            "  " + path + ":2:7: two();\n" + "    inlined 'inner(float*)' at " +
                path + ":3:5: three\n" + "    inlined 'outer(float*)' at " +
                path + ":9:4\n" + "  line 9 is " + path + ":9\n");
}

TEST_F(SourceLines, SurvivesWhatCannotBeRight) {
  // A chain that would lead to itself, a label that is nowhere, a file of no
  // number, and a section that is no list of bytes.
  Module module =
      parsed(".version 8.8\n.target sm_100a\n.address_size 64\n.entry k() {\n"
             ".loc 1 4 2, function_name $L__x+99999999, inlined_at 1 4 2\n"
             ".loc 7 1 1, function_name $L__nowhere, inlined_at 1 4 2\nret; }\n"
             ".file 1 \"/\"\n"
             ".section .debug_str { $L__x: .b32 5, $L__x, { .b8 65 }\n");
  std::vector<SourceFrame> frames = sourceFrames(module, 7);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].line, 4u);
  EXPECT_EQ(frames[0].function, "");
  Finding finding{FindingKind::Trap, "", 7};
  EXPECT_EQ(sourceNote(module, finding), "  /:4:2\n    inlined at /:4:2\n");
}

} // namespace
