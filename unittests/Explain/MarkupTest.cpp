//===- MarkupTest.cpp - text in XML and HTML ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Pictures/Markup.h"

#include <gtest/gtest.h>

using blockscale::pictures::escaped;

TEST(Markup, EscapesWhatMarkupReads) {
  EXPECT_EQ(escaped("a<b> & \"c\" 'd'\t\n"),
            "a&lt;b&gt; &amp; &quot;c&quot; 'd'\t\n");
  EXPECT_EQ(escaped(""), "");
}

TEST(Markup, WritesNothingThatXmlLacks) {
  EXPECT_EQ(escaped("\x01\x1b[0m\r"), "??[0m?");
  // Two bytes, three and four; then a lead byte alone and a surrogate.
  EXPECT_EQ(escaped("\xC2\xB5 \xE2\x82\xAC \xF0\x9F\x99\x82"),
            "\xC2\xB5 \xE2\x82\xAC \xF0\x9F\x99\x82");
  EXPECT_EQ(escaped("a\xFF z"), "a\xEF\xBF\xBD z");
  EXPECT_EQ(escaped("\xC2"), "\xEF\xBF\xBD");
}
