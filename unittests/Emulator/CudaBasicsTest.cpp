//===- CudaBasicsTest.cpp - plain CUDA kernels on the emulator ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaHarness.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

class CudaBasics : public CudaTest {
protected:
  RunResult go(const Launch &launch, const Options &options = {}) {
    return runCuda(GetParam(), "basics", "sm_100a", launch, options);
  }
};

TEST_P(CudaBasics, Saxpy) {
  std::vector<float> x(1000), y(1000), expected(1000);
  for (int i = 0; i != 1000; ++i) {
    x[i] = float(i) * 0.25f;
    y[i] = float(1000 - i);
    expected[i] = 3.0f * x[i] + y[i];
  }
  Launch launch;
  launch.kernel = "saxpy";
  launch.grid.x = 8;
  launch.block.x = 128;
  launch.buffers = {bufferOf(x, false), bufferOf(y)};
  StructArgument p;
  p.bytes.resize(24);
  const float scale = 3;
  const int count = 1000;
  std::memcpy(p.bytes.data(), &scale, 4);
  std::memcpy(p.bytes.data() + 4, &count, 4);
  p.pointers = {{8, {0, 0}}, {16, {1, 0}}};
  launch.arguments = {p};
  go(launch);
  EXPECT_EQ(y, expected);
}

TEST_P(CudaBasics, Reduce) {
  std::vector<int> in(5000), out(1, 7);
  for (int i = 0; i != 5000; ++i)
    in[i] = i * 37 % 1001 - 400;
  Launch launch;
  launch.kernel = "reduce";
  launch.grid.x = 6;
  launch.block.x = 256;
  launch.buffers = {bufferOf(in, false), bufferOf(out)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}, scalar(5000)};
  go(launch);
  EXPECT_EQ(out[0], std::accumulate(in.begin(), in.end(), 7));
}

TEST_P(CudaBasics, Transpose) {
  const int width = 70, height = 45;
  std::vector<float> in(width * height), out(in.size(), -1);
  std::iota(in.begin(), in.end(), 0.0f);
  Launch launch;
  launch.kernel = "transpose";
  launch.grid = {3, 2, 1};
  launch.block = {32, 8, 1};
  launch.buffers = {bufferOf(in, false), bufferOf(out)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}, scalar(width),
                      scalar(height)};
  go(launch);
  for (int y = 0; y != height; ++y)
    for (int x = 0; x != width; ++x)
      ASSERT_EQ(out[x * height + y], in[y * width + x]) << x << " " << y;
}

TEST_P(CudaBasics, Histogram) {
  std::vector<uint8_t> in(3000);
  std::vector<uint32_t> bins(256), extremes = {0, 255, 0}, expected(256);
  uint32_t mixed = 0, high = 0, low = 255;
  for (uint32_t i = 0; i != in.size(); ++i) {
    in[i] = uint8_t(17 + i * i % 211);
    ++expected[in[i]];
    mixed ^= uint32_t(in[i]) << i % 24;
    high = std::max<uint32_t>(high, in[i]);
    low = std::min<uint32_t>(low, in[i]);
  }
  Launch launch;
  launch.kernel = "histogram";
  launch.grid.x = 5;
  launch.block.x = 96;
  launch.buffers = {bufferOf(in, false), bufferOf(bins), bufferOf(extremes)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0},
                      BufferArgument{2, 0}, scalar(int(in.size()))};
  go(launch);
  EXPECT_EQ(bins, expected);
  EXPECT_EQ(extremes, (std::vector<uint32_t>{high, low, mixed}));
}

TEST_P(CudaBasics, Diverge) {
  std::vector<uint32_t> in(256), out(256), expected(256);
  for (uint32_t i = 0; i != 256; ++i) {
    in[i] = i * 7 % 97 + 1;
    uint32_t value = in[i], steps = 0, mixed = 0;
    while (value != 1) {
      value = value & 1 ? 3 * value + 1 : value / 2;
      ++steps;
      uint32_t rest = value % 7;
      if (rest == 5)
        continue;
      if (rest == 0)
        mixed += 3;
      else if (rest == 1)
        mixed ^= value;
      else if (rest == 2)
        mixed *= 5;
      else if (rest == 3)
        mixed -= steps;
      else if (rest == 4)
        mixed = mixed << 3 | mixed >> 29;
      else
        mixed += value / (steps + 1);
      if (steps > 200)
        break;
    }
    expected[i] = steps * 65536u + (mixed & 0xFFFF);
  }
  Launch launch;
  launch.kernel = "diverge";
  launch.grid.x = 2;
  launch.block.x = 128;
  launch.buffers = {bufferOf(in, false), bufferOf(out)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  go(launch);
  EXPECT_EQ(out, expected);
}

TEST_P(CudaBasics, Integers) {
  const int64_t values[8] = {
      0, 1, -1, 0x7FFFFFFF, -0x80000000ll, 0x123456789ABCDEFll, -77777777777ll,
      33};
  std::vector<int64_t> a(64), b(64), out(64 * 12), expected(64 * 12);
  for (unsigned i = 0; i != 64; ++i) {
    int64_t x = a[i] = values[i % 8], y = b[i] = values[i / 8];
    uint32_t u = uint32_t(x), v = uint32_t(y);
    int64_t *o = &expected[12 * i];
    o[0] = y ? x / y : 0;
    o[1] = y ? x % y : 0;
    o[2] = int64_t(__int128(x) * y >> 64);
    o[3] = int64_t(uint64_t(x) * uint64_t(y));
    o[4] = int(u ? __builtin_clz(u) : 32) | __builtin_popcount(v) << 8 |
           __builtin_ffs(int(u)) << 16;
    uint32_t reversed = 0;
    for (int bit = 0; bit != 32; ++bit)
      reversed |= (u >> bit & 1) << (31 - bit);
    o[5] = reversed;
    // Selector 0x5140: bytes 0 of u, 0 of v, 1 of u, 1 of v.
    o[6] = (u & 0xFF) | (v & 0xFF) << 8 | (u >> 8 & 0xFF) << 16 |
           (v >> 8 & 0xFF) << 24;
    unsigned shift = v & 31;
    o[7] = shift ? uint32_t(v << shift | u >> (32 - shift)) : v;
    o[8] = int64_t(int32_t(u) >> shift) ^ int64_t(uint64_t(u << shift));
    o[9] =
        uint32_t(uint32_t(uint64_t(u) * v >> 32) +
                 uint32_t(std::llabs(int64_t(int32_t(u)) - int32_t(v))) + 7u);
    o[10] = v ? u / v : 1;
    int32_t dot = 11;
    for (int byte = 0; byte != 4; ++byte)
      dot += int8_t(u >> 8 * byte) * int8_t(v >> 8 * byte);
    o[11] = dot;
  }
  Launch launch;
  launch.kernel = "integers";
  launch.block.x = 64;
  launch.buffers = {bufferOf(a, false), bufferOf(b, false), bufferOf(out)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0},
                      BufferArgument{2, 0}};
  go(launch);
  for (unsigned i = 0; i != out.size(); ++i)
    EXPECT_EQ(out[i], expected[i])
        << "output " << i % 12 << " of " << a[i / 12] << ", " << b[i / 12];
}

/// x + y rounded toward zero, through the exact sum in f64 of near values.
float addTowardZero(float x, float y) {
  double exact = double(x) + double(y);
  float near = float(exact);
  return std::fabs(double(near)) > std::fabs(exact) ? std::nextafter(near, 0.0f)
                                                    : near;
}

TEST_P(CudaBasics, Floats) {
  const float values[8] = {1.0f,   -1.5f,     3.3333333f,  1e-3f,
                           123.5f, -7.25e-2f, 16777216.0f, 0.7f};
  std::vector<float> a(64), b(64), out(640), expected(640);
  for (unsigned i = 0; i != 64; ++i) {
    float x = a[i] = values[i % 8], y = b[i] = values[i / 8];
    float *o = &expected[10 * i];
    o[0] = std::fma(x, y, -1.0f);
    o[1] = x / y;
    o[2] = std::sqrt(std::fabs(x));
    o[3] = addTowardZero(x, y);
    o[4] = x * y;
    o[5] = std::floor(x) + std::nearbyint(y);
    o[6] = std::fmin(x, y) - std::fmax(x, 0.5f);
    o[7] = float(int(x)) + float(unsigned(std::fabs(y)));
    o[8] = float(std::fma(double(x), double(y), 1.0));
    o[9] = -x;
  }
  Launch launch;
  launch.kernel = "floats";
  launch.block.x = 64;
  launch.buffers = {bufferOf(a, false), bufferOf(b, false), bufferOf(out)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0},
                      BufferArgument{2, 0}};
  go(launch);
  for (unsigned i = 0; i != out.size(); ++i)
    EXPECT_EQ(out[i], expected[i])
        << "output " << i % 10 << " of " << a[i / 10] << ", " << b[i / 10];
}

TEST_P(CudaBasics, Warpwide) {
  std::vector<int> in(64);
  std::vector<uint32_t> out(256);
  for (int i = 0; i != 64; ++i)
    in[i] = (i * 13 + i / 32) % 29;
  Launch launch;
  launch.kernel = "warpwide";
  launch.block.x = 64;
  launch.buffers = {bufferOf(in, false), bufferOf(out)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  go(launch);
  for (int i = 0; i != 64; ++i) {
    const int *warp = &in[i / 32 * 32];
    uint32_t odd = 0, same = 0;
    bool five = false;
    for (int l = 0; l != 32; ++l) {
      odd |= uint32_t(warp[l] & 1) << l;
      same |= uint32_t(warp[l] % 4 == in[i] % 4) << l;
      five |= warp[l] == 5;
    }
    EXPECT_EQ(int(out[4 * i]), std::accumulate(warp, warp + i % 32 + 1, 0));
    EXPECT_EQ(out[4 * i + 1], odd);
    EXPECT_EQ(out[4 * i + 2], same);
    EXPECT_EQ(int(out[4 * i + 3]),
              *std::max_element(warp, warp + 32) + (five ? 1000 : 0));
  }
}

TEST_P(CudaBasics, Printf) {
  std::string text;
  Options options;
  options.threads = 1;
  options.print = [&](std::string_view piece) { text += piece; };
  Launch launch;
  launch.kernel = "greet";
  launch.grid.x = 2;
  launch.block.x = 32;
  launch.arguments = {scalar(40)};
  go(launch, options);
  EXPECT_EQ(text, "block 40 of 2:  0.00 done 123456789abc\n"
                  "block 41 of 2:  1.50 done 123456789abc\n");
}

TEST_P(CudaBasics, LocalMemoryAndConstants) {
  const int weights[8] = {1, -2, 3, -4, 5, -6, 7, -8};
  std::vector<int> in(32), out(32), expected(32);
  for (int i = 0; i != 32; ++i) {
    in[i] = i * 5 % 11;
    int ring[8], sum = 0;
    for (int k = 0; k != 8; ++k)
      ring[(in[i] + k * 3) & 7] = k * i + weights[k];
    for (int k = 0; k != 8; ++k)
      sum = sum * 3 + ring[(k + i) & 7] * weights[(k + in[i]) & 7];
    expected[i] = sum;
  }
  Launch launch;
  launch.kernel = "locals";
  launch.block.x = 32;
  launch.buffers = {bufferOf(in, false), bufferOf(out)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  go(launch);
  EXPECT_EQ(out, expected);
}

INSTANTIATE_CUDA(CudaBasics);

} // namespace
