//===- MutatorTest.cpp - the fuzzers' own changes of text -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineMutator.h"
#include "TextMutator.h"
#include <gtest/gtest.h>

using namespace blockscale::fuzz;

namespace {

TEST(TextMutator, LinesOfTextsThatHaveNone) {
  for (unsigned seed = 0; seed != 64; ++seed) {
    Random random(seed);
    std::string text;
    changeLines(random, text, "new");
    EXPECT_TRUE(text.empty() || text == "\n" || text == "new\n") << text;
  }
}

TEST(TextMutator, TheOnlyLineGoes) {
  bool isGone = false;
  for (unsigned seed = 0; seed != 64; ++seed) {
    Random random(seed);
    std::string text = "one line";
    changeLines(random, text, "new");
    isGone |= text.empty();
    EXPECT_TRUE(text.empty() || text == "one line" ||
                text == "one line\none line" || text == "new\none line")
        << text;
  }
  EXPECT_TRUE(isGone);
}

TEST(TextMutator, WordsBeginAndEnd) {
  Random random(1);
  std::string text = "%r12, [%rd3+16];";
  replaceWord(random, text, '0', "99");
  EXPECT_EQ(text, "%r12, [%rd3+99];");
  text = "17";
  replaceWord(random, text, '0', "4");
  EXPECT_EQ(text, "4");
  replaceWord(random, text, '%', "none");
  EXPECT_EQ(text, "4");
  EXPECT_EQ(wordOf(random, "= 12 (word_2) ;"), "word_2");
  EXPECT_EQ(wordOf(random, "= 12"), "");
}

TEST(TextMutator, SplitsAtEach) {
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
}

TEST(TextMutator, StoresWhatFits) {
  uint8_t data[4] = {0, 0, 0, 9};
  EXPECT_EQ(store("abcdef", data, 3), 3u);
  EXPECT_EQ(data[2], 'c');
  EXPECT_EQ(data[3], 9);
  EXPECT_EQ(store("", data, 3), 0u);
}

// Texts of one line, bytes above 127 and no text at all: changes stay small.
TEST(MachineMutator, TakesAnyText) {
  for (const std::string &seed :
       {std::string(), std::string(60, 'x'), std::string(60, '\xff'),
        std::string(60, '\n'), std::string("mov.u32 %r1, 5;\n", 16)})
    for (unsigned i = 0; i != 2000; ++i) {
      Random random(i);
      std::string text = seed;
      for (unsigned changes = 0; changes != 3; ++changes)
        changeKernel(random, text);
      ASSERT_LT(text.size(), 20000u);
    }
}

TEST(MachineMutator, MakesKernelsOfNothing) {
  Random random(3);
  std::string text;
  changeKernel(random, text);
  EXPECT_NE(text.find(".visible"), std::string::npos);
}

TEST(TextMutator, TakesAnyText) {
  for (unsigned i = 0; i != 2000; ++i) {
    Random random(i);
    std::string text(i % 3, '\xfe');
    for (unsigned changes = 0; changes != 20; ++changes)
      changeText(random, text);
    ASSERT_LT(text.size(), 1u << 20);
  }
}

} // namespace
