//===- OpenPointsTest.cpp - the documented choices are the coded ones -----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/OpenPoints.h"

#include "gtest/gtest.h"

#include <fstream>
#include <sstream>

using namespace blockscale::emulator;

TEST(OpenPoints, EachIsDocumentedWithItsEvidence) {
  std::ifstream file(BLOCKSCALE_SOURCE_DIR "/docs/emulator.md");
  std::stringstream stream;
  stream << file.rdbuf();
  const std::string text = stream.str();
  ASSERT_FALSE(text.empty());
  for (const OpenPointInfo &point : openPoints()) {
    std::string row = "| `" + std::string(point.name) + "` | " +
                      std::string(point.choice) + " | " +
                      std::string(point.evidence) + " |";
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}
