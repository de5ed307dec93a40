//===- NumberCodesTest.cpp - codes of float formats of a byte -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Formats/NumberCodes.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace blockscale;

namespace {

static NumberSpec specOf(const char *name) { return *parseNumberSpec(name); }

// Codes of 1, of the least number, of the largest, and what is none: those of
// the tables of LLVM's APFloat, which names them Float8E4M3FNUZ and so on.
TEST(NumberCodes, AreThoseOfTheirTables) {
  struct Row {
    const char *name;
    uint32_t one;
    float least;
    uint32_t top;
    float largest;
  };
  for (Row row : {Row{"e4m3b8fnuz", 0x40, 0x1p-10f, 0x7f, 240},
                  Row{"e5m2b16fnuz", 0x40, 0x1p-17f, 0x7f, 57344},
                  Row{"e4m3b11fnuz", 0x58, 0x1p-13f, 0x7f, 30},
                  Row{"e3m4", 0x30, 0x1p-6f, 0x6f, 15.5f},
                  Row{"e4m3fn", 0x38, 0x1p-9f, 0x7e, 448}}) {
    NumberSpec spec = specOf(row.name);
    EXPECT_EQ(numberOfCode(spec, 0), 0) << row.name;
    EXPECT_EQ(numberOfCode(spec, row.one), 1) << row.name;
    EXPECT_EQ(numberOfCode(spec, row.one | 0x80), -1) << row.name;
    EXPECT_EQ(numberOfCode(spec, 1), row.least) << row.name;
    EXPECT_EQ(numberOfCode(spec, row.top), row.largest) << row.name;
    EXPECT_EQ(codeOfNumber(spec, 1e9), row.top) << row.name;
    EXPECT_EQ(codeOfNumber(spec, -1e9), row.top | 0x80) << row.name;
    for (uint32_t code = 0; code < 256; ++code) {
      float number = numberOfCode(spec, code);
      if (std::isfinite(number)) {
        EXPECT_EQ(codeOfNumber(spec, number), code) << row.name;
      }
    }
  }
}

TEST(NumberCodes, HaveTheNaNOfTheirFormat) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(numberOfCode(specOf("e4m3b8fnuz"), 0x80)));
  EXPECT_EQ(codeOfNumber(specOf("e4m3b8fnuz"), nan), 0x80u);
  EXPECT_EQ(codeOfNumber(specOf("e4m3b8fnuz"), -0.0), 0u);
  EXPECT_EQ(numberOfCode(specOf("e3m4"), 0x70),
            std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(numberOfCode(specOf("e3m4"), 0x71)));
  EXPECT_TRUE(std::isnan(numberOfCode(specOf("e3m4"), 0xff)));
  EXPECT_EQ(codeOfNumber(specOf("e3m4"), -0.0), 0x80u);
  EXPECT_TRUE(std::isnan(numberOfCode(specOf("e4m3fn"), 0x7f)));
}

} // namespace
