//===- MachineCompressTest.cpp - tcgen05.ld.spcompress --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

std::string vectorOf(const char *name, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i != count; ++i)
    text += (i ? ", %" : "%") + std::string(name) + std::to_string(i);
  return text + "}";
}

/// `count` words of each thread go through tensor memory; what the load with
/// `suffix` gives is stored: metadata, numbers and, with `.red`, the reduction.
std::string compression(unsigned count, const std::string &suffix, bool reduces,
                        unsigned written) {
  std::string n = std::to_string(count);
  std::string lines =
      ".reg .b32 %w<128>, %m<4>, %c<64>, %slot, %at, %red;\n"
      "mov.u32 %slot, slot;\n"
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%slot], 128;\n"
      "bar.sync 0;\nld.shared.b32 %at, [%slot];\n";
  for (unsigned i = 0; i != count; ++i)
    lines += "ld.global.b32 %w" + std::to_string(i) + ", [%rd2+" +
             std::to_string(128 * i) + "];\n";
  unsigned codes = (count + 31) / 32, kept = count / 2;
  lines += "tcgen05.st.sync.aligned.32x32b.x" + std::to_string(written) +
           ".b32 [%at], " + vectorOf("w", written) +
           ";\ntcgen05.wait::st.sync.aligned;\ntcgen05.ld." +
           (reduces ? "red." : "") + "spcompress.sync.aligned.32x32b.x" + n +
           "." + suffix + ".f32.b2 " + vectorOf("m", codes) + ", " +
           vectorOf("c", kept) + (reduces ? ", %red" : "") +
           ", [%at];\ntcgen05.wait::ld.sync.aligned;\n";
  unsigned place = 0;
  auto store = [&](const std::string &name) {
    lines += "st.global.b32 [%rd1+" + std::to_string(128 * place++) + "], %" +
             name + ";\n";
  };
  for (unsigned i = 0; i != codes; ++i)
    store("m" + std::to_string(i));
  for (unsigned i = 0; i != kept; ++i)
    store("c" + std::to_string(i));
  if (reduces)
    store("red");
  lines += "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %at, 128;";
  std::string text = body(lines, ".shared .align 4 .b32 slot;\n");
  return text.replace(0, kHeader.size(),
                      ".version 9.4\n.target sm_107a\n.address_size 64\n");
}

float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

} // namespace

// Two numbers of each four, each thread's and each group's their own.
TEST(MachineCompress, EveryNumber) {
  for (unsigned count : {4u, 8u, 64u, 128u})
    for (const char *suffix :
         {"max.sp::2:4", "min.sp::2:4", "max.sp::2:4.abs", "min.sp::2:4.abs"}) {
      std::vector<uint32_t> in(count * 32);
      for (unsigned i = 0; i != in.size(); ++i)
        in[i] = bitsOf(float(int(i * 2654435761u >> 16) - 32768) + 0.5f);
      unsigned codes = (count + 31) / 32, kept = count / 2;
      std::vector<uint32_t> out((codes + kept + 1) * 32);
      bool reduces = count == 8;
      std::string text = compression(count, suffix, reduces, count);
      expectClean(runWords(text, out, in, 32));
      bool least = suffix[1] == 'i', absolute = suffix[11] == '.';
      for (unsigned lane = 0; lane != 32; ++lane) {
        auto rank = [&](unsigned column) {
          double value = floatOf(in[column * 32 + lane]);
          value = absolute ? std::fabs(value) : value;
          return least ? value : -value;
        };
        double first = rank(0);
        for (unsigned group = 0; group != count / 4; ++group) {
          std::vector<unsigned> places = {4 * group, 4 * group + 1,
                                          4 * group + 2, 4 * group + 3};
          std::sort(places.begin(), places.end(),
                    [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
          first = std::min(first, rank(places[0]));
          std::sort(places.begin(), places.begin() + 2);
          for (unsigned j = 0; j != 2; ++j) {
            unsigned element = 2 * group + j;
            EXPECT_EQ(out[(codes + element) * 32 + lane],
                      in[places[j] * 32 + lane])
                << suffix << count << " " << lane << " " << element;
            EXPECT_EQ(out[element / 16 * 32 + lane] >> element % 16 * 2 & 3,
                      places[j] % 4)
                << suffix << count << " " << lane << " " << element;
          }
        }
        if (reduces) {
          EXPECT_EQ(floatOf(out[(codes + kept) * 32 + lane]),
                    float(least ? first : -first))
              << suffix << lane;
        }
      }
    }
}

// NaN stays, of equal numbers the first ones, and 0 is more than -0.
TEST(MachineCompress, NumbersThatAreSpecial) {
  const float inf = INFINITY;
  const struct {
    const char *suffix;
    uint32_t words[4], codes, kept[2];
  } rows[] = {
      {"max.sp::2:4",
       {bitsOf(1), bitsOf(inf), 0x7FC00001, bitsOf(5)},
       1 | 2 << 2,
       {bitsOf(inf), 0x7FC00001}},
      {"min.sp::2:4",
       {0xFFC00003, bitsOf(7), bitsOf(-inf), bitsOf(5)},
       0 | 2 << 2,
       {0xFFC00003, bitsOf(-inf)}},
      {"max.sp::2:4",
       {bitsOf(3), bitsOf(3), bitsOf(3), bitsOf(3)},
       0 | 1 << 2,
       {bitsOf(3), bitsOf(3)}},
      {"max.sp::2:4",
       {0x80000000, bitsOf(-1), 0, 0x80000000},
       0 | 2 << 2,
       {0x80000000, 0}},
      {"max.sp::2:4.abs",
       {bitsOf(1), bitsOf(-4), bitsOf(2), bitsOf(-3)},
       1 | 3 << 2,
       {bitsOf(-4), bitsOf(-3)}},
  };
  for (const auto &row : rows) {
    std::vector<uint32_t> in, out(3 * 32);
    for (uint32_t word : row.words)
      in.insert(in.end(), 32, word);
    RunResult result =
        runWords(compression(4, row.suffix, false, 4), out, in, 32);
    expectClean(result);
    EXPECT_TRUE(result.openPoints.contains(OpenPoint::CompressedEquals));
    EXPECT_EQ(out[0], row.codes) << row.suffix;
    EXPECT_EQ(out[32], row.kept[0]) << row.suffix;
    EXPECT_EQ(out[64], row.kept[1]) << row.suffix;
  }
}

// Of eight words four were written: what the others decide is undefined.
TEST(MachineCompress, WordsThatNobodyWrote) {
  std::vector<uint32_t> in(8 * 32, bitsOf(1)), out(5 * 32);
  RunResult result =
      runWords(compression(8, "max.sp::2:4", false, 4), out, in, 32);
  ASSERT_FALSE(result.clean());
  EXPECT_EQ(result.findings[0].kind, FindingKind::Uninitialised);
}

TEST(MachineCompress, FormsThatDoNotExist) {
  std::vector<uint32_t> in(128 * 32), out(128 * 32);
  for (const char *suffix : {"max.sp::2:4.NaN", "max"}) {
    RunResult result = runWords(compression(4, suffix, false, 4), out, in, 32);
    ASSERT_FALSE(result.clean()) << suffix;
    EXPECT_EQ(result.findings[0].kind, FindingKind::Unsupported) << suffix;
  }
  std::string text = compression(4, "max.sp::2:4", false, 4);
  text.replace(text.find("{%c0, %c1}"), 10, "{%c0, %c1, %c2}");
  RunResult result = runWords(text, out, in, 32);
  ASSERT_FALSE(result.clean());
  EXPECT_NE(result.findings[0].message.find("expected 2 registers, found 3"),
            std::string::npos)
      << result.findings[0].message;
}
