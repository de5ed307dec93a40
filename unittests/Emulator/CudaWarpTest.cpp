//===- CudaWarpTest.cpp - matrices in registers, narrow conversions -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaHarness.h"
#include "UnitsOracle.h"

#include <cmath>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

/// Code of a small integer: exact in every format.
uint16_t f16Of(int value) {
  if (value == 0)
    return 0;
  int exponent = int(std::log2(std::abs(value)));
  uint16_t mantissa =
      uint16_t((std::abs(value) - (1 << exponent)) << (10 - exponent));
  return uint16_t((value < 0 ? 0x8000 : 0) | (15 + exponent) << 10 | mantissa);
}
uint16_t bf16Of(int value) { return uint16_t(toBits(float(value)) >> 16); }

/// Values that differ in every row and column.
int valueA(int m, int k) { return (m * 7 + k * 3 + m * k) % 23 - 11; }
int valueB(int k, int n) { return (n * 5 + k * 11 + n * k) % 19 - 9; }

class CudaWarp : public CudaTest {
protected:
  RunResult go(const Launch &launch, const std::string &arch = "sm_100a",
               const std::string &name = "warp") {
    return runCuda(GetParam(), name, arch, launch);
  }

  void mma16(const std::string &kernel, uint16_t (*code)(int)) {
    std::vector<uint16_t> a(256), b(128), transposed(256);
    std::vector<float> c(128), d(128);
    for (int m = 0; m != 16; ++m)
      for (int k = 0; k != 16; ++k)
        a[m * 16 + k] = code(valueA(m, k));
    for (int n = 0; n != 8; ++n)
      for (int k = 0; k != 16; ++k)
        b[n * 16 + k] = code(valueB(k, n));
    for (int i = 0; i != 128; ++i)
      c[i] = float(i * 1000);
    Launch launch;
    launch.kernel = kernel;
    launch.block.x = 32;
    launch.buffers = {bufferOf(a, false), bufferOf(b, false),
                      bufferOf(c, false), bufferOf(d), bufferOf(transposed)};
    for (uint32_t i = 0; i != 5; ++i)
      launch.arguments.push_back(BufferArgument{i, 0});
    EXPECT_EQ(go(launch).counters.warpMmas, 1u);
    for (int m = 0; m != 16; ++m)
      for (int n = 0; n != 8; ++n) {
        int sum = (m * 8 + n) * 1000;
        for (int k = 0; k != 16; ++k)
          sum += valueA(m, k) * valueB(k, n);
        EXPECT_EQ(d[m * 8 + n], float(sum)) << m << " " << n;
      }
    for (int m = 0; m != 16; ++m)
      for (int k = 0; k != 16; ++k)
        EXPECT_EQ(transposed[k * 16 + m], a[m * 16 + k]) << m << " " << k;
  }
};

TEST_P(CudaWarp, MmaF16) { mma16("mmaF16", f16Of); }
TEST_P(CudaWarp, MmaBf16) { mma16("mmaBf16", bf16Of); }

TEST_P(CudaWarp, MmaTf32) {
  std::vector<float> a(128), b(64), d(128);
  for (int m = 0; m != 16; ++m)
    for (int k = 0; k != 8; ++k)
      a[m * 8 + k] = float(valueA(m, k));
  for (int n = 0; n != 8; ++n)
    for (int k = 0; k != 8; ++k)
      b[n * 8 + k] = float(valueB(k, n));
  Launch launch;
  launch.kernel = "mmaTf32";
  launch.block.x = 32;
  launch.buffers = {bufferOf(a, false), bufferOf(b, false), bufferOf(d)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0},
                      BufferArgument{2, 0}};
  go(launch);
  for (int m = 0; m != 16; ++m)
    for (int n = 0; n != 8; ++n) {
      int sum = 0;
      for (int k = 0; k != 8; ++k)
        sum += valueA(m, k) * valueB(k, n);
      EXPECT_EQ(d[m * 8 + n], float(sum)) << m << " " << n;
    }
}

TEST_P(CudaWarp, MmaS8) {
  std::vector<int8_t> a(512), b(256);
  std::vector<int32_t> d(128);
  for (int m = 0; m != 16; ++m)
    for (int k = 0; k != 32; ++k)
      a[m * 32 + k] = int8_t(valueA(m, k) * 11);
  for (int n = 0; n != 8; ++n)
    for (int k = 0; k != 32; ++k)
      b[n * 32 + k] = int8_t(valueB(k, n) * 13);
  for (int i = 0; i != 128; ++i)
    d[i] = i - 60;
  Launch launch;
  launch.kernel = "mmaS8";
  launch.block.x = 32;
  launch.buffers = {bufferOf(a, false), bufferOf(b, false), bufferOf(d)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0},
                      BufferArgument{2, 0}};
  go(launch);
  for (int m = 0; m != 16; ++m)
    for (int n = 0; n != 8; ++n) {
      int sum = m * 8 + n - 60;
      for (int k = 0; k != 32; ++k)
        sum += valueA(m, k) * 11 * valueB(k, n) * 13;
      EXPECT_EQ(d[m * 8 + n], sum) << m << " " << n;
    }
}

/// The column of encode_samples.csv that output `index` of `narrow` is about.
const char *const kColumns[7] = {"e4m3",
                                 "e5m2",
                                 "e2m3",
                                 "e3m2",
                                 "e2m1",
                                 "ue8m0_round_up",
                                 "ue8m0_round_down"};

TEST_P(CudaWarp, NarrowConversionsMatchTheTable) {
  std::vector<CsvRow> rows = readCsv("encode_samples.csv");
  ASSERT_GT(rows.size(), 500u);
  // Thread i converts sample i and its successor.
  size_t count = (rows.size() + 63) / 64 * 64;
  std::vector<uint32_t> in(2 * count), out(7 * count);
  auto sample = [&](size_t i) -> CsvRow & { return rows[i % rows.size()]; };
  for (size_t i = 0; i != count; ++i) {
    in[2 * i] = uint32_t(hex(sample(i)["f32_bits"]));
    in[2 * i + 1] = uint32_t(hex(sample(i + 1)["f32_bits"]));
  }
  Launch launch;
  launch.kernel = "narrow";
  launch.grid.x = uint32_t(count / 64);
  launch.block.x = 64;
  launch.buffers = {bufferOf(in, false), bufferOf(out)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  go(launch);
  unsigned compared = 0;
  for (size_t i = 0; i != count; ++i)
    for (unsigned f = 0; f != 7; ++f) {
      std::string high = sample(i)[kColumns[f]],
                  low = sample(i + 1)[kColumns[f]];
      if (high.empty() || low.empty())
        continue;
      uint32_t a = in[2 * i], b = in[2 * i + 1];
      // The table holds CUTLASS's answers where they differ from the ISA: NaN
      // of fp4 and fp6 keeps its sign there, and ue8m0 of infinity is NaN.
      auto differs = [&](uint32_t bits) {
        uint32_t size = bits & 0x7FFFFFFF;
        return size > 0x7F800000 || (f >= 5 && size == 0x7F800000) ||
               (f >= 5 && bits >> 31);
      };
      if (differs(a) || differs(b))
        continue;
      unsigned bits = f == 4 ? 4 : 8;
      EXPECT_EQ(out[7 * i + f], uint32_t(hex(high) << bits | hex(low)))
          << kColumns[f] << " of " << std::hex << a << ", " << b;
      ++compared;
    }
  EXPECT_GT(compared, 3000u);
}

TEST_P(CudaWarp, WideningMatchesTheTable) {
  std::vector<float> out(6 * 256);
  Launch launch;
  launch.kernel = "widen";
  launch.block.x = 256;
  launch.buffers = {bufferOf(out)};
  launch.arguments = {BufferArgument{0, 0}};
  go(launch);
  const std::map<std::string, unsigned> places = {{"e4m3", 0}, {"e5m2", 1},
                                                  {"e2m3", 2}, {"e3m2", 3},
                                                  {"e2m1", 4}, {"ue8m0", 5}};
  unsigned compared = 0;
  for (CsvRow &row : readCsv("decode_tables.csv")) {
    auto place = places.find(row["format"]);
    if (place == places.end())
      continue;
    float expected = fromBits(uint32_t(hex(row["f32_bits"])));
    float found = out[6 * hex(row["code"]) + place->second];
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(found)) << row["format"] << " " << row["code"];
    else
      EXPECT_EQ(toBits(found), toBits(expected))
          << row["format"] << " " << row["code"];
    ++compared;
  }
  EXPECT_EQ(compared, 462u);
}

/// One block-scaled warp MMA: operands by their codes, expectation by loops.
struct BlockMma {
  const char *kernel;
  unsigned k;       ///< logical
  unsigned block;   ///< logical elements per scale
  bool sparse, fp4; ///< fp4: packed nibbles
  bool ue4m3;       ///< scale type
  const char *formatA, *formatB;
};

/// What the codes of `codesOf` mean, in every format.
constexpr float kValues[6] = {1, -1, 2, 0.5f, 0, -3};

std::vector<uint8_t> codesOf(const std::string &format) {
  if (format == "e4m3")
    return {0x38, 0xB8, 0x40, 0x30, 0x00, 0xC4};
  if (format == "e3m2")
    return {0x0C, 0x2C, 0x10, 0x08, 0x00, 0x32};
  return {0x2, 0xA, 0x4, 0x1, 0x0, 0xD}; // e2m1
}

constexpr uint8_t kNibbles[6] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE};

class CudaBlockMma : public CudaTest {
protected:
  void check(const BlockMma &c) {
    std::vector<uint8_t> codesA = codesOf(c.formatA),
                         codesB = codesOf(c.formatB);
    unsigned scales = c.k / c.block, storedK = c.sparse ? c.k / 2 : c.k;
    std::vector<uint8_t> a(16 * 32), b(8 * (c.sparse ? 64 : 32));
    std::vector<uint8_t> sa(16 * scales), sb(8 * scales);
    std::vector<uint32_t> metadata(32);
    std::vector<float> d(128, -1), logicalA(16 * c.k), logicalB(8 * c.k);
    // In kind mxf8f6f4 fp4 sits in bits 5..2 of its byte.
    auto put = [&](uint8_t *row, unsigned k, uint8_t code, const char *format) {
      if (c.fp4)
        row[k / 2] |= uint8_t(code << 4 * (k % 2));
      else
        row[k] = std::string(format) == "e2m1" ? uint8_t(code << 2) : code;
    };
    for (unsigned m = 0; m != 16; ++m)
      for (unsigned k = 0; k != storedK; ++k) {
        unsigned pick = (m * 3 + k * 5 + m * k / 4) % 6;
        put(&a[m * 32], k, codesA[pick], c.formatA);
        unsigned logical = k;
        if (c.sparse) {
          // Chunks of 4 elements, or of 8 in pairs for packed fp4.
          unsigned unit = c.fp4 ? 2 : 1, chunk = k / (2 * unit);
          uint8_t nibble = kNibbles[(m + chunk * 5 + m * chunk) % 6];
          unsigned which = k / unit % 2;
          unsigned place = nibble >> 2 * which & 3;
          logical = chunk * 4 * unit + place * unit + k % unit;
          metadata[m * 2 + chunk / 8] |=
              k % (2 * unit) ? 0u : uint32_t(nibble) << chunk % 8 * 4;
        }
        logicalA[m * c.k + logical] = kValues[pick];
      }
    for (unsigned n = 0; n != 8; ++n)
      for (unsigned k = 0; k != c.k; ++k) {
        unsigned pick = (n * 5 + k * 7 + n * k / 3) % 6;
        put(&b[n * (c.sparse ? 64 : 32)], k, codesB[pick], c.formatB);
        logicalB[n * c.k + k] = kValues[pick];
      }
    // Powers of two of both scale types: ue4m3 has exponent bias 7.
    auto scale = [&](int exponent) {
      return uint8_t(c.ue4m3 ? (exponent + 7) << 3 : exponent + 127);
    };
    auto exponentA = [](unsigned m, unsigned j) {
      return int(m * 3 + j * 2) % 7 - 3;
    };
    auto exponentB = [](unsigned n, unsigned j) {
      return int(n * 2 + j * 3) % 5 - 2;
    };
    for (unsigned j = 0; j != scales; ++j) {
      for (unsigned m = 0; m != 16; ++m)
        sa[m * scales + j] = scale(exponentA(m, j));
      for (unsigned n = 0; n != 8; ++n)
        sb[n * scales + j] = scale(exponentB(n, j));
    }
    Launch launch;
    launch.kernel = c.kernel;
    launch.block.x = 32;
    launch.buffers = {bufferOf(a, false),        bufferOf(b, false),
                      bufferOf(sa, false),       bufferOf(sb, false),
                      bufferOf(metadata, false), bufferOf(d)};
    StructArgument p;
    p.bytes.resize(48);
    for (uint32_t i = 0; i != 6; ++i)
      p.pointers.push_back({8 * i, {i, 0}});
    launch.arguments = {p};
    runCuda(GetParam(), "blockmma", "sm_120a", launch);
    for (unsigned m = 0; m != 16; ++m)
      for (unsigned n = 0; n != 8; ++n) {
        float sum = float(1 + n % 2 + 2 * (m / 8));
        for (unsigned k = 0; k != c.k; ++k)
          sum +=
              std::ldexp(logicalA[m * c.k + k] * logicalB[n * c.k + k],
                         exponentA(m, k / c.block) + exponentB(n, k / c.block));
        EXPECT_EQ(d[m * 8 + n], sum) << m << " " << n;
      }
  }
};

TEST_P(CudaBlockMma, Mxf8) {
  check({"mxf8", 32, 32, false, false, false, "e4m3", "e4m3"});
}
TEST_P(CudaBlockMma, Mxf6WithFp4) {
  check({"mxf6f4", 32, 32, false, false, false, "e3m2", "e2m1"});
}
TEST_P(CudaBlockMma, Mxf4) {
  check({"mxf4", 64, 32, false, true, false, "e2m1", "e2m1"});
}
TEST_P(CudaBlockMma, Nvf4) {
  check({"nvf4", 64, 16, false, true, true, "e2m1", "e2m1"});
}
TEST_P(CudaBlockMma, SparseMxf8) {
  check({"sparseMxf8", 64, 64, true, false, false, "e4m3", "e4m3"});
}
TEST_P(CudaBlockMma, SparseNvf4) {
  check({"sparseNvf4", 128, 32, true, true, true, "e2m1", "e2m1"});
}

INSTANTIATE_CUDA(CudaWarp);
INSTANTIATE_CUDA(CudaBlockMma);

} // namespace
