//===- BitFieldTest.cpp - named fields of hardware words===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/BitField.h"
#include "Formats/TextOf.h"

#include <gtest/gtest.h>

#include "blockscale/HW/Descriptor.h"

using namespace blockscale;
using namespace blockscale::hw;
using blockscale::test::textOf;

namespace {

constexpr std::array kFields{
    Field{"low", 0, 2, "two bits"},
    Field{"high", 28, 4, "four bits"},
    Field{"middle", 8, 1, "one bit"},
};

TEST(BitField, PacksByName) {
  Result<std::uint64_t> word = Packer(fieldList(kFields, 32))
                                   .set("low", 3)
                                   .set("high", 9)
                                   .set("middle", 1)
                                   .finish();
  ASSERT_TRUE(word);
  EXPECT_EQ(*word, 0x90000103u);
  EXPECT_EQ(extract(fieldList(kFields, 32), "high", *word), 9u);
  EXPECT_EQ(extract(fieldList(kFields, 32), "low", *word), 3u);
  EXPECT_EQ(uncoveredBits(fieldList(kFields, 32)), 0x0ffffefcu);
}

TEST(BitField, SettingTwiceReplaces) {
  auto word =
      Packer(fieldList(kFields, 32)).set("low", 3).set("low", 1).finish();
  EXPECT_EQ(*word, 1u);
}

TEST(BitField, RefusesWhatDoesNotFit) {
  auto wide = Packer(fieldList(kFields, 32)).set("low", 4).finish();
  EXPECT_FALSE(wide);
  EXPECT_EQ(textOf(wide), "field 'low' has 2 bits and cannot hold 4");
  EXPECT_EQ(textOf(Packer(fieldList(kFields, 32)).set("lwo", 0).finish()),
            "the word has no field 'lwo'");
}

TEST(BitField, PrintsTheWordAndItsFields) {
  EXPECT_EQ(printFields(fieldList(kFields, 32), 0x90000103),
            "0x90000103: low=3 high=9 middle=1");
  EXPECT_EQ(fieldTableMarkdown(fieldList(kFields, 32)),
            "| bits | field | meaning |\n|---|---|---|\n"
            "| 0-1 | `low` | two bits |\n"
            "| 8 | `middle` | one bit |\n"
            "| 28-31 | `high` | four bits |\n");
}

/// No two fields of a descriptor share a bit, and none leaves the word.
TEST(BitField, DescriptorFieldsAreDisjoint) {
  for (FieldList list :
       {instrFields(InstrVariant::MXF8F6F4), instrFields(InstrVariant::MXF4),
        instrFields(InstrVariant::Plain), fieldList(kSmemFields, 64)}) {
    std::uint64_t seen = 0;
    for (const Field &field : list) {
      ASSERT_LE(field.offset + field.width, list.wordBits) << field.name;
      std::uint64_t bits = fieldMax(field) << field.offset;
      EXPECT_EQ(seen & bits, 0u) << field.name;
      seen |= bits;
    }
  }
}

} // namespace
