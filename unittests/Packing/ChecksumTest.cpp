//===- ChecksumTest.cpp - CRC-32 of data in pieces ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Checksum.h"

#include <gtest/gtest.h>
#include <string>

using namespace blockscale::packing;

namespace {

TEST(Checksum, OfTheUsualText) {
  // The check value in the catalogue of CRCs, CRC-32/ISO-HDLC.
  EXPECT_EQ(crc32("123456789", 9), 0xcbf43926u);
  EXPECT_EQ(crc32("", 0), 0u);
  // zlib.crc32(bytes(range(256)) * 3)
  std::string bytes;
  for (unsigned i = 0; i < 768; ++i)
    bytes += static_cast<char>(i);
  EXPECT_EQ(crc32(bytes.data(), bytes.size()), 0xb0c0df2au);
}

TEST(Checksum, OfPieces) {
  std::string text = "the whole of a text that is longer than a few bytes";
  uint32_t whole = crc32(text.data(), text.size());
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    uint32_t first = crc32(text.data(), cut);
    uint32_t second = crc32(text.data() + cut, text.size() - cut);
    EXPECT_EQ(combineCrc32(first, second, text.size() - cut), whole) << cut;
    EXPECT_EQ(crc32(text.data() + cut, text.size() - cut, first), whole) << cut;
  }
}

} // namespace
