//===- UnitsIm2colTest.cpp - tensor maps of images ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The examples of the PTX ISA, "im2col mode" and "im2col::w and im2col::w::128
// modes". Each element of the tensor is its own number plus one, so 0 is fill.
//
//===----------------------------------------------------------------------===//

#include "Units/TensorMapCopy.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace blockscale::emulator;

namespace {

constexpr uint64_t kGlobal = 0x700000000000;

struct Pixel {
  int n, d, h, w;
  bool operator==(const Pixel &other) const {
    return n == other.n && d == other.d && h == other.h && w == other.w;
  }
};

/// A tensor of u32 with its map.
struct Images {
  int c, w, h, d, n;
  TensorMap map;
  std::vector<uint32_t> data;
  Box box;
  std::vector<uint8_t> shared = std::vector<uint8_t>(65536, 0xee);

  /// `d` of 0 is a map of rank 4.
  Images(int c, int w, int h, int d, int n, int channels, int pixels)
      : c(c), w(w), h(h), d(d), n(n) {
    int depth = d ? d : 1;
    data.resize(size_t(c) * w * h * depth * n);
    for (size_t i = 0; i != data.size(); ++i)
      data[i] = uint32_t(i + 1);
    map.type = TensorMapType::U32;
    map.traversal = Traversal::Im2col;
    map.globalAddress = kGlobal;
    uint64_t row = uint64_t(c) * 4, plane = row * w, volume = plane * h;
    if (d) {
      map.rank = 5;
      map.globalDim = {uint64_t(c), uint64_t(w), uint64_t(h), uint64_t(d),
                       uint64_t(n)};
      map.globalStrides = {row, plane, volume, volume * d};
    } else {
      map.rank = 4;
      map.globalDim = {uint64_t(c), uint64_t(w), uint64_t(h), uint64_t(n)};
      map.globalStrides = {row, plane, volume};
    }
    map.boxDim = {uint32_t(channels), 1, 1, 1, 1};
    map.pixels = uint32_t(pixels);
  }

  /// The message of a copy at C, W, H, (D,) N; empty if it was done.
  std::string load(std::vector<int32_t> at, BoxOffsets offsets,
                   BoxMode mode = BoxMode::Im2col) {
    at.resize(5);
    if (auto fault = resolveBox(map, at.data(), mode, false, box, offsets))
      return fault->message;
    GlobalAccess global = [this](uint64_t address,
                                 uint64_t bytes) -> uint8_t * {
      if (address < kGlobal || address - kGlobal + bytes > data.size() * 4)
        return nullptr;
      return reinterpret_cast<uint8_t *>(data.data()) + (address - kGlobal);
    };
    auto fault =
        loadBox(map, box, {shared.data(), 1024, 65536}, 1024, global, nullptr);
    return fault ? fault->message : "";
  }

  /// Compares row by row; `firstChannel` is the C coordinate.
  void expect(const std::vector<Pixel> &pixels, int firstChannel) {
    unsigned channels = map.boxDim[0];
    EXPECT_EQ(box.transactionBytes, pixels.size() * channels * 4);
    EXPECT_EQ(box.sharedBytes, pixels.size() * channels * 4);
    for (size_t row = 0; row != pixels.size(); ++row)
      for (unsigned i = 0; i != channels; ++i) {
        const Pixel &p = pixels[row];
        bool inside = p.n >= 0 && p.n < n && p.h >= 0 && p.h < h && p.w >= 0 &&
                      p.w < w && p.d >= 0 && p.d < (d ? d : 1) &&
                      firstChannel + int(i) < c;
        uint32_t at = ((uint32_t(p.n) * (d ? d : 1) + p.d) * h + p.h) * w + p.w;
        uint32_t expected = inside ? at * c + firstChannel + i + 1 : 0;
        uint32_t address = 1024 + uint32_t(row * channels + i) * 4, value;
        if (map.swizzle == Swizzle::B64)
          address ^= (address >> 7 & 3) << 4;
        if (map.swizzle == Swizzle::B128)
          address ^= (address >> 7 & 7) << 4;
        std::memcpy(&value, &shared[address - 1024], 4);
        ASSERT_EQ(value, expected) << "pixel " << row << " channel " << i;
      }
  }
};

/// `count` pixels of a bounding box in the order of image, D, H, W, from
/// `start` on, each moved by an offset.
std::vector<Pixel> pixelsOf(Pixel low, Pixel high, Pixel start, Pixel offset,
                            size_t count) {
  std::vector<Pixel> all;
  for (int n = low.n; n <= high.n; ++n)
    for (int d = low.d; d <= high.d; ++d)
      for (int h = low.h; h <= high.h; ++h)
        for (int w = low.w; w <= high.w; ++w)
          all.push_back({n, d, h, w});
  size_t first = 0;
  while (!(all[first] == start))
    ++first;
  std::vector<Pixel> pixels;
  for (size_t i = first; i != first + count; ++i)
    pixels.push_back({all[i].n, all[i].d + offset.d, all[i].h + offset.h,
                      all[i].w + offset.w});
  return pixels;
}

} // namespace

TEST(Im2col, ExamplesOneAndTwo) {
  Images one(64, 9, 14, 0, 64, 8, 64);
  one.map.lowerCorner = one.map.upperCorner = {-1, -1, 0};
  EXPECT_EQ(one.load({0, 4, 7, 7}, {0, 0, 0}), "");
  one.expect(pixelsOf({7, 0, -1, -1}, {8, 0, 12, 7}, {7, 0, 7, 4}, {}, 64), 0);

  Images two(64, 9, 14, 0, 64, 8, 64);
  two.map.upperCorner = {-2, -2, 0};
  EXPECT_EQ(two.load({8, 4, 7, 7}, {2, 1, 0}), "");
  two.expect(
      pixelsOf({7, 0, 0, 0}, {8, 0, 11, 6}, {7, 0, 7, 4}, {0, 0, 1, 2}, 64), 8);
}

TEST(Im2col, TraversalStrideOfExampleThree) {
  Images images(64, 8, 14, 0, 64, 16, 32);
  images.map.lowerCorner = images.map.upperCorner = {-1, -1, 0};
  images.map.elementStrides = {1, 2, 2, 1, 1};
  EXPECT_EQ(images.load({0, 5, 7, 7}, {1, 1, 0}), "");
  std::vector<Pixel> pixels = {{7, 0, 8, 6}};
  for (int h : {10, 12})
    for (int w : {0, 2, 4, 6})
      pixels.push_back({7, 0, h, w});
  for (int h : {0, 2, 4, 6, 8, 10})
    for (int w : {0, 2, 4, 6})
      pixels.push_back({8, 0, h, w});
  pixels.resize(32);
  images.expect(pixels, 0);
}

TEST(Im2col, DepthAndTheEndOfTheBatch) {
  Images images(16, 4, 3, 3, 2, 12, 40);
  images.map.lowerCorner = {-1, 0, 1};
  images.map.upperCorner = {-2, 0, -1};
  EXPECT_EQ(images.load({8, 0, 1, 1, 1}, {1, 0, 1}), "");
  images.expect(
      pixelsOf({1, 1, 0, -1}, {9, 1, 2, 1}, {1, 1, 1, 0}, {0, 1, 0, 1}, 40), 8);
}

TEST(Im2col, RulesOfTheMapAndOfTheCopy) {
  Images images(64, 9, 14, 0, 64, 8, 64);
  images.map.upperCorner = {-2, -2, 0};
  const char kOutside[] =
      "the first pixel is outside the bounding box of the tensor map";
  EXPECT_EQ(images.load({0, 7, 0, 0}, {}), kOutside);
  EXPECT_EQ(images.load({0, 6, 12, 0}, {}), kOutside);
  EXPECT_EQ(images.load({0, -1, 0, 0}, {}), kOutside);
  EXPECT_EQ(images.load({0, 6, 11, 0}, {}), "");
  EXPECT_EQ(images.load({0, 0, 0, 0}, {}, BoxMode::Tile),
            "the copy is tiled, the tensor map was made for im2col");
  EXPECT_EQ(images.load({0, 0, 0, 0}, {}, BoxMode::Im2colW128),
            "the copy is im2col::w::128, the tensor map was made for im2col");
  auto reason = [&](auto change) {
    TensorMap map = images.map;
    change(map);
    return whyNot(map).value_or("");
  };
  EXPECT_EQ(reason([](TensorMap &m) { m.pixels = 1025; }),
            "pixelsPerColumn is 1025, must be in 1..1024");
  EXPECT_EQ(reason([](TensorMap &m) { m.lowerCorner[1] = -129; }),
            "a corner's offset is -129, must be in -128..127");
  EXPECT_EQ(reason([](TensorMap &m) { m.upperCorner[0] = -9; }),
            "the bounding box is empty in dimension 1");
  EXPECT_EQ(reason([](TensorMap &m) { m.rank = 2; }),
            "rank is 2, must be in 3..5");
  EXPECT_EQ(reason([](TensorMap &m) { m.traversal = Traversal::Im2colW; }), "");
  EXPECT_EQ(reason([](TensorMap &m) {
              m.traversal = Traversal::Im2colW;
              m.swizzle = Swizzle::B32;
            }),
            "the modes along W need no swizzle, the 64-byte swizzle or the "
            "128-byte swizzle with 16- or 32-byte atoms");
  images.map.lowerCorner[0] = -1;
  int32_t at[] = {0, 0, 0, 0};
  Box box;
  auto fault = resolveBox(images.map, at, BoxMode::Im2col, true, box);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->message,
            "a store needs a bounding box inside of the tensor");
}

TEST(Im2col, AlongWWithHalo) {
  Images images(32, 9, 7, 0, 64, 16, 128);
  images.map.traversal = Traversal::Im2colW;
  images.map.swizzle = Swizzle::B64;
  EXPECT_EQ(images.load({16, 3, 2, 7}, {2, 0, 0}, BoxMode::Im2colW), "");
  images.expect(pixelsOf({7, 0, 2, 0}, {30, 0, 2, 8}, {7, 0, 2, 3}, {}, 130),
                16);
}

TEST(Im2col, AlongWWithOffsetAndStride) {
  for (int offset : {0, 1, 2}) {
    Images images(32, 7, 7, 0, 64, 32, 60);
    images.map.traversal = Traversal::Im2colW;
    images.map.swizzle = Swizzle::B128;
    images.map.lowerCorner[0] = images.map.upperCorner[0] = -1;
    images.map.elementStrides = {1, 3, 3, 1, 1};
    EXPECT_EQ(
        images.load({0, -1, 2, 7}, {0, uint16_t(offset), 0}, BoxMode::Im2colW),
        "");
    std::vector<Pixel> pixels;
    for (int n = 7; n != 27; ++n)
      for (int w : {-1, 2, 5})
        pixels.push_back({n, 0, 2, w + offset});
    images.expect(pixels, 0);
  }
}

TEST(Im2col, AlongWOf128) {
  Images images(32, 9, 7, 0, 64, 32, 5);
  images.map.traversal = Traversal::Im2colW128;
  images.map.swizzle = Swizzle::B128;
  // Left of the box is legal, and the pixels of the map do not count.
  images.map.lowerCorner[0] = 2;
  EXPECT_EQ(images.load({0, 1, 6, 60}, {0, 0, 0}, BoxMode::Im2colW128), "");
  std::vector<Pixel> pixels = {{60, 0, 6, 1}};
  for (const Pixel &p :
       pixelsOf({60, 0, 6, 2}, {90, 0, 6, 8}, {60, 0, 6, 2}, {}, 127))
    pixels.push_back(p);
  images.expect(pixels, 0);
  EXPECT_EQ(images.load({0, 1, 6, 60}, {1, 0, 0}, BoxMode::Im2colW128),
            "im2col::w::128 with a halo: where its pixels go is not "
            "documented");
}
