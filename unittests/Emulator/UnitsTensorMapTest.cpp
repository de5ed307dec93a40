//===- UnitsTensorMapTest.cpp - tensor maps and box copies ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Units/TensorMapCopy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

using namespace blockscale::emulator;

namespace {

/// A global buffer at a high address and a shared memory of 64 KiB.
struct World {
  static constexpr uint64_t kGlobal = 0x700000000000;
  std::vector<uint8_t> global, shared;
  std::set<uint32_t> touched;

  explicit World(size_t bytes) : global(bytes), shared(65536, 0xee) {
    for (size_t i = 0; i < bytes; ++i)
      global[i] = uint8_t(i * 7 + i / 256 * 13 + 1);
  }
  GlobalAccess access() {
    return [this](uint64_t address, uint64_t bytes) -> uint8_t * {
      if (address < kGlobal || address - kGlobal + bytes > global.size())
        return nullptr;
      return global.data() + (address - kGlobal);
    };
  }
  SharedRange range() {
    return [this](uint32_t address, uint32_t bytes) {
      for (uint32_t b = 0; b < bytes; ++b)
        touched.insert(address + b);
    };
  }
  SharedSpan span() { return {shared.data(), 1024, 65536}; }
  uint8_t at(uint32_t address) const { return shared[address - 1024]; }
};

TensorMap matrix(TensorMapType type, uint64_t inner, uint64_t outer,
                 uint64_t pitch, uint32_t boxInner, uint32_t boxOuter,
                 Swizzle swizzle) {
  TensorMap map;
  map.type = type;
  map.rank = 2;
  map.globalAddress = World::kGlobal;
  map.globalDim = {inner, outer};
  map.globalStrides = {pitch};
  map.boxDim = {boxInner, boxOuter};
  map.swizzle = swizzle;
  return map;
}

} // namespace

TEST(TensorMap, SwizzlesAbsoluteAddresses) {
  EXPECT_EQ(swizzleAddress(Swizzle::B128, 0x0480), 0x0490u);
  EXPECT_EQ(swizzleAddress(Swizzle::B128, 0x07f5), 0x0785u);
  EXPECT_EQ(swizzleAddress(Swizzle::B64, 0x01a0), 0x0190u);
  EXPECT_EQ(swizzleAddress(Swizzle::B64, 0x0200), 0x0200u);
  EXPECT_EQ(swizzleAddress(Swizzle::B32, 0x0085), 0x0095u);
  EXPECT_EQ(swizzleAddress(Swizzle::B32, 0x0100), 0x0100u);
  EXPECT_EQ(swizzleAddress(Swizzle::B128Atom32, 0x0180), 0x01e0u);
  EXPECT_EQ(swizzleAddress(Swizzle::B128Atom32Flip8, 0x0080), 0x00a8u);
  EXPECT_EQ(swizzleAddress(Swizzle::B128Atom64, 0x0080), 0x00c0u);
  EXPECT_EQ(swizzleAddress(Swizzle::B96, 0x0080), 0x0090u);
}

TEST(TensorMap, LoadsASwizzledTileAtTheEdge) {
  World world(256 * 100);
  // 200 x 100 bytes; the box starts at (128, 95): 72 columns, 5 rows inside.
  TensorMap map =
      matrix(TensorMapType::U8, 200, 100, 256, 128, 8, Swizzle::B128);
  Box box;
  const int32_t coordinates[] = {128, 95};
  ASSERT_FALSE(resolveBox(map, coordinates, BoxMode::Tile, false, box));
  EXPECT_EQ(box.transactionBytes, 1024u);
  ASSERT_FALSE(
      loadBox(map, box, world.span(), 2048, world.access(), world.range()));
  EXPECT_EQ(world.touched.size(), 1024u);
  EXPECT_EQ(*world.touched.begin(), 2048u);
  for (unsigned r = 0; r < 8; ++r)
    for (unsigned c = 0; c < 128; ++c) {
      uint32_t address = 2048 + r * 128 + (c ^ (r & 7) << 4);
      uint8_t expected =
          r < 5 && c < 72 ? world.global[(95 + r) * 256 + 128 + c] : 0;
      ASSERT_EQ(world.at(address), expected) << r << "," << c;
    }
}

TEST(TensorMap, NarrowRowsLieASwizzleSpanApart) {
  // As measured on an H100; 48 of 128 bytes.
  World world(256 * 16);
  TensorMap map = matrix(TensorMapType::U8, 200, 16, 256, 48, 9, Swizzle::B128);
  Box box;
  const int32_t coordinates[] = {16, 3};
  ASSERT_FALSE(resolveBox(map, coordinates, BoxMode::Tile, false, box));
  EXPECT_EQ(box.transactionBytes, 9u * 48);
  ASSERT_FALSE(
      loadBox(map, box, world.span(), 2048, world.access(), world.range()));
  EXPECT_EQ(world.touched.size(), 9u * 48);
  for (unsigned r = 0; r < 9; ++r)
    for (unsigned c = 0; c < 128; ++c) {
      uint8_t expected = c < 48 ? world.global[(3 + r) * 256 + 16 + c] : 0xee;
      ASSERT_EQ(world.at(2048 + r * 128 + (c ^ (r & 7) << 4)), expected);
    }
  map.swizzle = Swizzle::B128Atom64;
  EXPECT_TRUE(resolveBox(map, coordinates, BoxMode::Tile, false, box));
}

TEST(TensorMap, NegativeCoordinatesFill) {
  World world(4096);
  TensorMap map = matrix(TensorMapType::BF16, 64, 32, 128, 16, 4, Swizzle::B32);
  map.oobFill = OobFill::NaN;
  Box box;
  const int32_t coordinates[] = {-8, -1};
  ASSERT_FALSE(resolveBox(map, coordinates, BoxMode::Tile, false, box));
  ASSERT_FALSE(loadBox(map, box, world.span(), 1024, world.access(), nullptr));
  EXPECT_EQ(world.at(1024), 0xf7); // row -1
  EXPECT_EQ(world.at(1025), 0x7f);
  EXPECT_EQ(world.at(1024 + 32), 0xf7); // row 0, column -8
  EXPECT_EQ(world.at(1024 + 48), world.global[0]);
  EXPECT_EQ(world.at(1024 + 63), world.global[15]);
  EXPECT_TRUE(resolveBox(map, coordinates, BoxMode::Tile, true, box));
}

TEST(TensorMap, StridesAndRanksAddUp) {
  World world(1 << 16);
  TensorMap map;
  map.type = TensorMapType::U32;
  map.rank = 3;
  map.globalAddress = World::kGlobal + 64;
  map.globalDim = {8, 10, 5};
  map.globalStrides = {48, 1024};
  map.boxDim = {4, 5, 2};
  map.elementStrides = {1, 2, 1};
  Box box;
  const int32_t coordinates[] = {4, 3, 1};
  ASSERT_FALSE(resolveBox(map, coordinates, BoxMode::Tile, false, box));
  EXPECT_EQ(box.sharedBytes, 2u * 3 * 16);
  ASSERT_FALSE(loadBox(map, box, world.span(), 1152, world.access(), nullptr));
  for (unsigned z = 0; z < 2; ++z)
    for (unsigned y = 0; y < 3; ++y)
      for (unsigned b = 0; b < 16; ++b)
        ASSERT_EQ(
            world.at(1152 + (z * 3 + y) * 16 + b),
            world.global[64 + (z + 1) * 1024 + (3 + 2 * y) * 48 + 16 + b]);
}

TEST(TensorMap, PaddedTypesLeaveTheGapAndCountPackedBytes) {
  World world(1 << 14);
  for (auto [type, data, packed] :
       {std::tuple(TensorMapType::U4Align16, 8u, 64u),
        std::tuple(TensorMapType::U6Align16, 12u, 96u)}) {
    std::fill(world.shared.begin(), world.shared.end(), 0xee);
    world.touched.clear();
    TensorMap map = matrix(type, 256, 8, 192, 128, 2, Swizzle::B128);
    Box box;
    const int32_t coordinates[] = {128, 3};
    ASSERT_FALSE(resolveBox(map, coordinates, BoxMode::Tile, false, box));
    EXPECT_EQ(box.transactionBytes, 2 * packed);
    EXPECT_EQ(box.sharedBytes, 256u);
    ASSERT_FALSE(
        loadBox(map, box, world.span(), 1024, world.access(), world.range()));
    EXPECT_EQ(world.touched.size(), 2 * packed);
    for (unsigned r = 0; r < 2; ++r)
      for (unsigned c = 0; c < 128; ++c) {
        uint32_t address = 1024 + r * 128 + (c ^ (r & 7) << 4);
        uint8_t expected =
            c % 16 < data
                ? world.global[(3 + r) * 192 + packed + c / 16 * data + c % 16]
                : 0xee;
        ASSERT_EQ(world.at(address), expected) << r << "," << c;
        ASSERT_EQ(world.touched.count(address), c % 16 < data);
      }
  }
}

TEST(TensorMap, GatherTakesFourRows) {
  World world(1 << 14);
  TensorMap map = matrix(TensorMapType::U8, 64, 100, 128, 64, 1, Swizzle::None);
  Box box;
  const int32_t coordinates[] = {0, 9, 2, 99, 100};
  ASSERT_FALSE(resolveBox(map, coordinates, BoxMode::Gather4, false, box));
  EXPECT_EQ(box.transactionBytes, 256u);
  ASSERT_FALSE(loadBox(map, box, world.span(), 1024, world.access(), nullptr));
  EXPECT_EQ(world.at(1024 + 5), world.global[9 * 128 + 5]);
  EXPECT_EQ(world.at(1024 + 64), world.global[2 * 128]);
  EXPECT_EQ(world.at(1024 + 128 + 63), world.global[99 * 128 + 63]);
  EXPECT_EQ(world.at(1024 + 192), 0);
}

TEST(TensorMap, StoreIsTheInverseOfLoadAndSkipsTheOutside) {
  World world(1 << 14);
  TensorMap map = matrix(TensorMapType::U16, 48, 10, 128, 32, 4, Swizzle::B64);
  Box box;
  const int32_t from[] = {0, 0}, to[] = {32, 8};
  ASSERT_FALSE(resolveBox(map, from, BoxMode::Tile, false, box));
  ASSERT_FALSE(loadBox(map, box, world.span(), 1024, world.access(), nullptr));
  std::vector<uint8_t> before = world.global;
  ASSERT_FALSE(resolveBox(map, to, BoxMode::Tile, true, box));
  ASSERT_FALSE(storeBox(map, box, world.span(), 1024, Reduction::None,
                        world.access(), world.range()));
  for (unsigned r = 0; r < 2; ++r)
    for (unsigned b = 0; b < 32; ++b)
      EXPECT_EQ(world.global[(8 + r) * 128 + 64 + b], before[r * 128 + b]);
  EXPECT_EQ(world.global[10 * 128 + 64], before[10 * 128 + 64]);
  EXPECT_EQ(world.global[8 * 128 + 96], before[8 * 128 + 96]);
  EXPECT_EQ(world.touched.size(), 64u);
}

// As measured: 25 bytes are a whole unit and a part of one, of which the rest
// is written as well; so are 36 bytes of numbers that are added.
TEST(TensorMap, StoresWriteWholeUnits) {
  World world(1 << 14);
  for (Reduction reduction : {Reduction::None, Reduction::Add}) {
    bool adds = reduction == Reduction::Add;
    TensorMap map =
        matrix(adds ? TensorMapType::U32 : TensorMapType::U8, adds ? 9 : 25, 3,
               128, adds ? 16 : 64, 2, Swizzle::None);
    uint32_t written = adds ? 48 : 32;
    Box box;
    const int32_t at[] = {0, 1};
    ASSERT_FALSE(resolveBox(map, at, BoxMode::Tile, true, box));
    for (uint32_t b = 0; b < 128; ++b)
      world.span().data[1024 - world.span().base + b] = uint8_t(b + 1);
    std::fill(world.global.begin(), world.global.end(), 0);
    ASSERT_FALSE(storeBox(map, box, world.span(), 1024, reduction,
                          world.access(), nullptr));
    for (uint32_t b = 0; b < 128; ++b) {
      EXPECT_EQ(world.global[128 + b], b < written ? b + 1 : 0) << b;
      EXPECT_EQ(world.global[256 + b], b < written ? b + 65 : 0) << b;
      EXPECT_EQ(world.global[384 + b], 0) << b;
    }
  }
}

TEST(TensorMap, ReductionsAndConversions) {
  float a[2] = {1.5f, 1e-40f}, b[2] = {2.25f, 1e-40f};
  EXPECT_TRUE(reduceElements(Reduction::Add, TensorMapType::F32,
                             reinterpret_cast<uint8_t *>(a),
                             reinterpret_cast<uint8_t *>(b), 8));
  EXPECT_EQ(a[0], 3.75f);
  EXPECT_EQ(a[1], 0.0f);
  uint16_t h = 0x3c00, g = 0x3800; // 1 + 0.5
  EXPECT_TRUE(reduceElements(Reduction::Add, TensorMapType::F16,
                             reinterpret_cast<uint8_t *>(&h),
                             reinterpret_cast<uint8_t *>(&g), 2));
  EXPECT_EQ(h, 0x3e00);
  int32_t x = -5, y = 3;
  EXPECT_TRUE(reduceElements(Reduction::Max, TensorMapType::S32,
                             reinterpret_cast<uint8_t *>(&x),
                             reinterpret_cast<uint8_t *>(&y), 4));
  EXPECT_EQ(x, 3);
  EXPECT_FALSE(reduceElements(Reduction::Min, TensorMapType::F32,
                              reinterpret_cast<uint8_t *>(a),
                              reinterpret_cast<uint8_t *>(b), 8));
  World world(64);
  float source[4] = {1e-40f, 1.00048828125f, 3.0f, -1e-40f};
  std::memcpy(world.global.data(), source, 16);
  TensorMap map;
  map.type = TensorMapType::TF32Ftz;
  map.globalAddress = World::kGlobal;
  map.globalDim = {4};
  map.boxDim = {4};
  Box box;
  const int32_t zero[] = {0};
  ASSERT_FALSE(resolveBox(map, zero, BoxMode::Tile, false, box));
  ASSERT_FALSE(loadBox(map, box, world.span(), 1040, world.access(), nullptr));
  uint32_t words[4];
  std::memcpy(words, &world.shared[16], 16);
  EXPECT_EQ(words[0], 0u);
  EXPECT_EQ(words[1], 0x3f800000u);
  EXPECT_EQ(words[2], 0x40400000u);
  EXPECT_EQ(words[3], 0x80000000u);
}

// What an H100 loads: units of 16 or 32 bytes of channels whatever the type,
// one slice of them, with steps along W.
TEST(TensorMap, LoadsPixelsOfInterleavedTensors) {
  for (Interleave interleave : {Interleave::B16, Interleave::B32}) {
    World world(65536);
    uint32_t unit = 16 * uint32_t(interleave);
    TensorMap map;
    map.type = TensorMapType::U16;
    map.rank = 4;
    map.globalAddress = World::kGlobal;
    map.globalDim = {24, 4, 4, 2};
    map.globalStrides = {1024, 4096, 16384};
    map.boxDim = {8, 2, 3, 2};
    map.elementStrides = {3, 1, 1, 1};
    map.interleave = interleave;
    map.swizzle = Swizzle::B32;
    Box box;
    int32_t at[] = {20, 3, 2, 0};
    ASSERT_FALSE(resolveBox(map, at, BoxMode::Tile, false, box));
    // Pixels 20, 23 and 26, of which the last is outside, in two lines of two
    // images; the second line is outside.
    EXPECT_EQ(box.transactionBytes, 3 * 2 * 2 * unit);
    ASSERT_FALSE(
        loadBox(map, box, world.span(), 1024, world.access(), world.range()));
    for (uint32_t byte = 0; byte < 3 * 2 * 2 * unit; ++byte) {
      uint32_t pixel = byte / unit % 3, line = byte / unit / 3 % 2,
               image = byte / unit / 6;
      bool inside = pixel < 2 && line == 0;
      uint8_t expected =
          inside ? world.global[(20 + 3 * pixel) * unit + 3 * 1024 + 2 * 4096 +
                                image * 16384 + byte % unit]
                 : 0;
      EXPECT_EQ(world.at(swizzleAddress(Swizzle::B32, 1024 + byte)), expected)
          << unit << " " << byte;
    }
    EXPECT_EQ(resolveBox(map, at, BoxMode::Tile, true, box)->message,
              "of interleaved tensors only tiled loads are known");
    map.globalStrides[0] += 16;
    EXPECT_EQ(whyNot(map).has_value(), interleave == Interleave::B32);
  }
}

TEST(TensorMap, RefusesWhatTheDriverRefuses) {
  TensorMap good =
      matrix(TensorMapType::U8, 256, 8, 256, 128, 4, Swizzle::B128);
  EXPECT_FALSE(whyNot(good).has_value());
  auto why = [&](auto change) {
    TensorMap map = good;
    change(map);
    return whyNot(map).value_or("");
  };
  EXPECT_EQ(why([](TensorMap &m) { m.rank = 6; }),
            "rank is 6, must be in 1..5");
  EXPECT_EQ(why([](TensorMap &m) { m.globalAddress += 8; }),
            "globalAddress is not a multiple of 16");
  EXPECT_EQ(why([](TensorMap &m) { m.globalStrides[0] = 250; }),
            "globalStrides[0] is 250, must be a multiple of 16 below 2^40");
  EXPECT_EQ(why([](TensorMap &m) { m.boxDim[1] = 257; }),
            "boxDim[1] is 257, must be in 1..256");
  EXPECT_EQ(why([](TensorMap &m) { m.boxDim[0] = 144; }),
            "boxDim[0] spans 144 bytes, more than the 128 of the swizzle");
  EXPECT_EQ(why([](TensorMap &m) { m.oobFill = OobFill::NaN; }),
            "NaN fill needs a floating-point data type");
  EXPECT_NE(why([](TensorMap &m) {
              m.type = TensorMapType::U6Align16;
              m.boxDim[0] = 64;
            }),
            "");
  EXPECT_EQ(why([](TensorMap &m) { m.interleave = Interleave::B16; }),
            "rank is 2, must be in 3..5 of interleaved tensors");
  Box box;
  const int32_t odd[] = {8, 0};
  EXPECT_TRUE(resolveBox(good, odd, BoxMode::Tile, false, box));
  const int32_t zero[] = {0, 0};
  World world(256);
  ASSERT_FALSE(resolveBox(good, zero, BoxMode::Tile, false, box));
  auto fault = loadBox(good, box, world.span(), 1024, world.access(), nullptr);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->address, World::kGlobal + 256);
  EXPECT_TRUE(loadBox(good, box, world.span(), 1040, world.access(), nullptr));
  EXPECT_TRUE(loadBox(good, box, world.span(), 1024 + 65536 - 128,
                      world.access(), nullptr));
}
