//===- CsvTest.cpp - comma-separated tables===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Explain/Csv.h"

#include <gtest/gtest.h>

using namespace blockscale::explain;

namespace {

TEST(Csv, ReadsLfCrLfAndByteOrderMark) {
  CsvResult result = parseCsv("\xef\xbb\xbf"
                              "a,b\r\n1,2\r\n\n3,\n");
  ASSERT_TRUE(result.table);
  EXPECT_TRUE(result.diagnostics.empty());
  EXPECT_EQ(result.table->header, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(result.table->rows.size(), 2u);
  EXPECT_EQ(result.table->rows[0].fields, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(result.table->rows[1].fields, (std::vector<std::string>{"3", ""}));
  EXPECT_EQ(result.table->rows[1].line, 4u);
}

TEST(Csv, ReadsAndWritesQuotedFields) {
  CsvResult result = parseCsv("a,b\n\"x, \"\"y\"\"\nz\",w\nu,v\n");
  ASSERT_TRUE(result.table);
  EXPECT_EQ(result.table->rows[0].fields[0], "x, \"y\"\nz");
  EXPECT_EQ(result.table->rows[1].line, 4u);
  EXPECT_EQ(writeCsv(*result.table), "a,b\n\"x, \"\"y\"\"\nz\",w\nu,v\n");
}

TEST(Csv, NamesTheLineOfWhatIsWrong) {
  CsvResult ragged = parseCsv("a,b\n1,2\n3\n4,5,6\n");
  ASSERT_TRUE(ragged.table);
  EXPECT_EQ(ragged.diagnostics,
            (std::vector<std::string>{"line 3: 1 fields, the header has 2",
                                      "line 4: 3 fields, the header has 2"}));
  CsvResult open = parseCsv("a\n\"x\n");
  EXPECT_EQ(open.diagnostics.at(0), "line 2: the quoted field is not closed");
  EXPECT_FALSE(parseCsv("").table);
  EXPECT_EQ(parseCsv("\n\n").diagnostics.at(0),
            "line 1: the table has no header");
}

} // namespace
