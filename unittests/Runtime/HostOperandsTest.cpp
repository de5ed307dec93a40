//===- HostOperandsTest.cpp - from host memory to a kernel's memory -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/HostOperands.h"
#include "Formats/TextOf.h"
#include "SmallOperands.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::runtime;
using blockscale::test::bound;
using blockscale::test::operandOf;
using blockscale::test::Operands;
using blockscale::test::textOf;

namespace {

TEST(HostOperands, SizesComeFromTheShapes) {
  plan::Kernel kernel = test::smallKernel();
  Operands operands;
  EXPECT_EQ(whyNotOperands(kernel, operands.all), "");
  EXPECT_EQ(sizesOf(kernel, operands.all),
            (plan::Environment{{"M", 3}, {"N", 2}, {"K", 5}, {"batch", 1}}));
}

// Half of a sparse A is stored, and K is read from A.
TEST(HostOperands, SparseKCountsPrunedElements) {
  plan::Kernel kernel = test::smallKernel();
  kernel.metadata.emplace_back().operand = "a";
  EXPECT_EQ(sizesOf(kernel, Operands().all).at("K"), 10);
  kernel.metadata.front().operand = "b";
  EXPECT_EQ(sizesOf(kernel, Operands().all).at("K"), 5);
}

// Lines of 5 bytes lie 16 bytes apart on the device, as TMA wants them.
TEST(HostOperands, LinesAreSpreadToTheirPitch) {
  plan::Kernel kernel = test::smallKernel();
  Operands operands;
  Result<DeviceData> data =
      packOperands(kernel, bound(kernel, operands.all), operands.all);
  ASSERT_TRUE(data) << textOf(data);
  std::vector<uint8_t> expected(48);
  for (uint8_t row = 0; row < 3; ++row)
    for (uint8_t k = 0; k < 5; ++k)
      expected[row * 16 + k] = uint8_t(row * 5 + k + 1);
  EXPECT_EQ(data->memory.at("a_data"), expected);
  EXPECT_EQ(data->scalars.at("alpha"), 2.0f);
  EXPECT_EQ(data->memory.at("d"), std::vector<uint8_t>(24));
}

// Two codes to a byte, the first in the low half; the upper halves of the
// host's bytes do not count.
TEST(HostOperands, FourBitCodesArePacked) {
  plan::Kernel kernel = test::smallKernel();
  kernel.data[0].bits = 4;
  Operands operands;
  operands.a = {0x11, 0xf2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  operands.all["a_data"] = operandOf("a_data", operands.a, {3, 5});
  Result<DeviceData> data =
      packOperands(kernel, bound(kernel, operands.all), operands.all);
  ASSERT_TRUE(data) << textOf(data);
  const std::vector<uint8_t> &memory = data->memory.at("a_data");
  EXPECT_EQ((std::vector<uint8_t>(memory.begin(), memory.begin() + 4)),
            (std::vector<uint8_t>{0x21, 0x43, 0x05, 0}));
  EXPECT_EQ((std::vector<uint8_t>(memory.begin() + 16, memory.begin() + 19)),
            (std::vector<uint8_t>{0x76, 0x98, 0x0a}));
}

// A little-endian stream: 4 codes in 3 bytes.
TEST(HostOperands, SixBitCodesArePacked) {
  plan::Kernel kernel = test::smallKernel();
  kernel.data[0].bits = 6;
  Operands operands;
  operands.a = {0x3f, 0, 0x3f, 0, 0x21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  operands.all["a_data"] = operandOf("a_data", operands.a, {3, 5});
  Result<DeviceData> data =
      packOperands(kernel, bound(kernel, operands.all), operands.all);
  ASSERT_TRUE(data) << textOf(data);
  const std::vector<uint8_t> &memory = data->memory.at("a_data");
  EXPECT_EQ((std::vector<uint8_t>(memory.begin(), memory.begin() + 5)),
            (std::vector<uint8_t>{0x3f, 0xf0, 0x03, 0x21, 0}));
}

// What is stored for each code is the plan's to say; upper bits do not count.
TEST(HostOperands, CodesAreTranslated) {
  plan::Kernel kernel = test::smallKernel();
  kernel.data[0].source = {"int2", {0, 9, 30, 70}};
  Operands operands;
  operands.a = {0, 1, 2, 3, 0xfd, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3};
  operands.all["a_data"] = operandOf("a_data", operands.a, {3, 5});
  Result<DeviceData> data =
      packOperands(kernel, bound(kernel, operands.all), operands.all);
  ASSERT_TRUE(data) << textOf(data);
  const std::vector<uint8_t> &memory = data->memory.at("a_data");
  EXPECT_EQ((std::vector<uint8_t>(memory.begin(), memory.begin() + 6)),
            (std::vector<uint8_t>{0, 9, 30, 70, 9, 0}));
  EXPECT_EQ((std::vector<uint8_t>(memory.begin() + 32, memory.begin() + 37)),
            (std::vector<uint8_t>{30, 30, 30, 30, 70}));
}

TEST(HostOperands, CodesWithoutAnExactOneAreRefused) {
  plan::Kernel kernel = test::smallKernel();
  kernel.data[0].source = {"int2", {0, 9, -1, 70}};
  Operands operands;
  operands.a = {0, 1, 0, 1, 0, 0, 1, 3, 2, 2, 0, 0, 0, 0, 0};
  operands.all["a_data"] = operandOf("a_data", operands.a, {3, 5});
  Result<DeviceData> data =
      packOperands(kernel, bound(kernel, operands.all), operands.all);
  ASSERT_FALSE(data);
  EXPECT_NE(data.why().text.find(
                "operand 'a_data', line 1, element 3: code 0x02 of 'int2' has "
                "no exact code in the kernel's format"),
            std::string::npos)
      << data.why().text;
}

/// A kernel whose A has codes of two bits less zero points of five, one for two
/// rows and three elements: what is stored is the difference and 100.
static plan::Kernel kernelWithZeros() {
  plan::Kernel kernel = test::smallKernel();
  kernel.data[0].source = {
      "uint2", {96, 97, 98, 99, 100, 101, 102, 103}, plan::ZeroPoints{5, 2, 3}};
  return kernel;
}

TEST(HostOperands, ZeroPointsAreSubtracted) {
  plan::Kernel kernel = kernelWithZeros();
  Operands operands;
  operands.a = {0, 1, 2, 3, 0xfd, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2};
  operands.all["a_data"] = operandOf("a_data", operands.a, {3, 5});
  // 0, 1; 2 and -1, whose upper bits are not of the number.
  std::vector<uint8_t> zeros = {0, 1, 2, 0x1f};
  operands.all["a_zeros"] = operandOf("a_zeros", zeros, {2, 2});
  EXPECT_EQ(whyNotOperands(kernel, operands.all), "");
  EXPECT_TRUE(isZeros(kernel, "a_zeros"));
  EXPECT_FALSE(isZeros(kernel, "b_zeros"));
  EXPECT_FALSE(isZeros(kernel, ""));
  EXPECT_EQ(zerosRole(kernel, "a_data"), "a_zeros");
  EXPECT_EQ(zerosRole(kernel, "b_data"), "");
  Result<DeviceData> data =
      packOperands(kernel, bound(kernel, operands.all), operands.all);
  ASSERT_TRUE(data) << textOf(data);
  const std::vector<uint8_t> &memory = data->memory.at("a_data");
  EXPECT_EQ((std::vector<uint8_t>(memory.begin(), memory.begin() + 6)),
            (std::vector<uint8_t>{100, 101, 102, 102, 100, 0}));
  EXPECT_EQ((std::vector<uint8_t>(memory.begin() + 16, memory.begin() + 21)),
            (std::vector<uint8_t>{101, 101, 101, 100, 100}));
  EXPECT_EQ((std::vector<uint8_t>(memory.begin() + 32, memory.begin() + 36)),
            (std::vector<uint8_t>{100, 100, 100, 103}));
}

// Elements of a byte, stored in two.
TEST(HostOperands, CodesBecomeLongerOnes) {
  plan::Kernel kernel = test::smallKernel();
  kernel.data[0].source = {"uint2", {0x0102, 0x1020, 0x4243, 0x0005}};
  kernel.data[0].bits = 16;
  Operands operands;
  operands.a = {0, 1, 2, 3, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 0xff};
  operands.all["a_data"] = operandOf("a_data", operands.a, {3, 5});
  EXPECT_EQ(whyNotOperands(kernel, operands.all), "");
  Result<DeviceData> data =
      packOperands(kernel, bound(kernel, operands.all), operands.all);
  ASSERT_TRUE(data) << textOf(data);
  const std::vector<uint8_t> &memory = data->memory.at("a_data");
  EXPECT_EQ((std::vector<uint8_t>(memory.begin(), memory.begin() + 12)),
            (std::vector<uint8_t>{0x02, 0x01, 0x20, 0x10, 0x43, 0x42, 0x05, 0,
                                  0x02, 0x01, 0, 0}));
  EXPECT_EQ((std::vector<uint8_t>(memory.begin() + 38, memory.begin() + 42)),
            (std::vector<uint8_t>{0x43, 0x42, 0x05, 0}));
}

// Codes of 9 bits, which lie in two bytes.
TEST(HostOperands, CodesOfTwoBytesBecomeShorterOnes) {
  plan::Kernel kernel = test::smallKernel();
  std::vector<int64_t> codes(512);
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = int64_t(i / 4);
  kernel.data[0].source = {"cb81ie_int9", codes};
  Operands operands;
  operands.a = {0, 1, 4, 0, 8, 0, 255, 1};
  operands.a.resize(30, 0);
  auto &operand = operands.all["a_data"] =
      operandOf("a_data", operands.a, {3, 5});
  EXPECT_NE(whyNotOperands(kernel, operands.all)
                .find("has elements of 1 bytes; expected 2"),
            std::string::npos);
  operand.elementBytes = 2;
  EXPECT_EQ(whyNotOperands(kernel, operands.all), "");
  Result<DeviceData> data =
      packOperands(kernel, bound(kernel, operands.all), operands.all);
  ASSERT_TRUE(data) << textOf(data);
  const std::vector<uint8_t> &memory = data->memory.at("a_data");
  EXPECT_EQ((std::vector<uint8_t>(memory.begin(), memory.begin() + 5)),
            (std::vector<uint8_t>{64, 1, 2, 127, 0}));
}

TEST(HostOperands, WrongZeroPointsAreRefused) {
  plan::Kernel kernel = kernelWithZeros();
  Operands operands;
  EXPECT_NE(whyNotOperands(kernel, operands.all)
                .find("there is no operand 'a_zeros'"),
            std::string::npos);
  std::vector<uint8_t> zeros = {0, 0, 0, 12};
  auto &operand = operands.all["a_zeros"] = operandOf("a_zeros", zeros, {2, 2});
  auto errorOfPacking = [&] {
    Result<DeviceData> data =
        packOperands(kernel, bound(kernel, operands.all), operands.all);
    return data ? "" : data.why().text;
  };
  operands.a = {0, 1, 2, 3, 0, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3};
  operands.all["a_data"] = operandOf("a_data", operands.a, {3, 5});
  EXPECT_NE(errorOfPacking().find(
                "operand 'a_data', line 2, element 3: code 3 of 'uint2' less "
                "its zero point, 12, has no exact code in the kernel's format; "
                "expected a difference from -4 to 3"),
            std::string::npos)
      << errorOfPacking();
  operand.isOnDevice = true;
  EXPECT_NE(errorOfPacking().find("operand 'a_zeros' is on the device"),
            std::string::npos);
  operand.isOnDevice = false;
  operand.sizes = {1, 2};
  EXPECT_NE(errorOfPacking().find("operand 'a_zeros' has the shape 1x2; "
                                  "expected 4 elements"),
            std::string::npos)
      << errorOfPacking();
  operand.elementBytes = 2;
  EXPECT_NE(whyNotOperands(kernel, operands.all)
                .find("operand 'a_zeros' has elements of 2 bytes; expected 1"),
            std::string::npos);
}

// A transposed view: 5 rows of 3 in memory.
TEST(HostOperands, StridesAreFollowed) {
  plan::Kernel kernel = test::smallKernel();
  Operands operands;
  operands.all["a_data"].strides = {1, 3};
  Result<DeviceData> data =
      packOperands(kernel, bound(kernel, operands.all), operands.all);
  ASSERT_TRUE(data) << textOf(data);
  const std::vector<uint8_t> &memory = data->memory.at("a_data");
  EXPECT_EQ((std::vector<uint8_t>(memory.begin() + 16, memory.begin() + 21)),
            (std::vector<uint8_t>{2, 5, 8, 11, 14}));
}

TEST(HostOperands, BatchesAreSpreadToTheirPitch) {
  plan::Kernel kernel = test::smallKernel();
  kernel.sizes[3].value = 2;
  Operands operands;
  std::vector<uint8_t> a(12), b(8), d(48);
  std::iota(a.begin(), a.end(), uint8_t(1));
  operands.all["a_data"] = operandOf("a_data", a, {2, 3, 2});
  operands.all["b_data"] = operandOf("b_data", b, {2, 2, 2});
  operands.all["d"] = operandOf("d", d, {2, 3, 2}, 4);
  Result<DeviceData> data =
      packOperands(kernel, bound(kernel, operands.all), operands.all);
  ASSERT_TRUE(data) << textOf(data);
  const std::vector<uint8_t> &memory = data->memory.at("a_data");
  ASSERT_EQ(memory.size(), 96u);
  EXPECT_EQ(memory[48], 7);
  EXPECT_EQ(memory[81], 12);
}

TEST(HostOperands, ResultGoesToAnyStrides) {
  std::vector<uint8_t> packed{1, 2, 3, 4, 5, 6}, memory(16);
  HostOperand d = operandOf("d", memory, {3, 2});
  d.strides = {5, 2};
  plan::Kernel kernel = test::smallKernel();
  storeResult(kernel, {}, packed, d);
  EXPECT_EQ(memory, (std::vector<uint8_t>{1, 0, 2, 0, 0, 3, 0, 4, 0, 0, 5, 0, 6,
                                          0, 0, 0}));
}

TEST(HostOperands, WhatIsWrongIsNamed) {
  plan::Kernel kernel = test::smallKernel();
  auto why = [&](auto change) {
    Operands operands;
    change(operands.all);
    return whyNotOperands(kernel, operands.all);
  };
  EXPECT_EQ(why([](HostOperands &all) { all.erase("b_data"); }),
            "kernel 'small': there is no operand 'b_data'");
  EXPECT_EQ(why([](HostOperands &all) { all["beta"] = all["alpha"]; }),
            "kernel 'small': it has no operand 'beta'");
  EXPECT_EQ(why([](HostOperands &all) { all["a_data"].elementBytes = 2; }),
            "kernel 'small': operand 'a_data' has elements of 2 bytes; "
            "expected 1");
  EXPECT_EQ(why([](HostOperands &all) { all["d"].data = nullptr; }),
            "kernel 'small': operand 'd' has no address");
  EXPECT_EQ(why([](HostOperands &all) {
              all["a_data"].sizes = all["a_data"].strides = {3};
            }),
            "kernel 'small': operand 'a_data' has rank 1; expected 2 or 3");
  EXPECT_EQ(why([](HostOperands &all) { all["d"].sizes[0] = -1; }),
            "kernel 'small': operand 'd' has an extent of -1; expected 0 to "
            "2147483647");
}

TEST(HostOperands, ShapesThatDisagreeAreRefused) {
  plan::Kernel kernel = test::smallKernel();
  Operands operands;
  plan::Environment sizes = bound(kernel, operands.all);
  operands.all["b_data"].sizes = {2, 4};
  EXPECT_EQ(textOf(packOperands(kernel, sizes, operands.all)),
            "kernel 'small': operand 'b_data' has the shape 2x4; expected "
            "1x2x5");
  operands = Operands();
  operands.all["a_data"].sizes = {4, 5};
  EXPECT_EQ(textOf(packOperands(kernel, sizes, operands.all)),
            "kernel 'small': operand 'a_data' has the shape 4x5; expected "
            "1x3x5");
}

/// A kernel that quantises to codes of six bits, in lines of 16 bytes.
plan::Kernel quantizingKernel() {
  using plan::ParameterKind;
  plan::Kernel kernel = test::smallKernel();
  kernel.quantization.emplace();
  kernel.sizes = {
      {"M", std::nullopt}, {"N", 1}, {"K", std::nullopt}, {"batch", 1}};
  kernel.parameters = {
      test::parameter("x", "x", ParameterKind::Pointer, "f32"),
      test::parameter("d_data", "d", ParameterKind::Pointer, "i8"),
      test::parameter("d_scales", "d", ParameterKind::Pointer, "i8")};
  plan::DataPacking data = kernel.data.front();
  data.operand = "d";
  data.bits = 6;
  kernel.data = {data};
  plan::ScalePacking scales;
  scales.operand = "d";
  scales.bytes = "M * 4";
  kernel.scales = {scales};
  plan::PlainOperand x = kernel.operands.front();
  x.operand = "x";
  x.elements = "M * K";
  kernel.operands = {x};
  return kernel;
}

TEST(HostOperands, PartsOfAQuantisedResult) {
  plan::Kernel kernel = quantizingKernel();
  std::vector<uint8_t> x(2 * 5 * 4), codes(10), scales(8);
  std::iota(x.begin(), x.end(), uint8_t(0));
  HostOperands all;
  all["x"] = operandOf("x", x, {2, 5}, 4);
  all["d_data"] = operandOf("d_data", codes, {2, 5});
  all["d_scales"] = operandOf("d_scales", scales, {2, 4});
  ASSERT_EQ(whyNotOperands(kernel, all), "");
  plan::Environment sizes = bound(kernel, all);
  EXPECT_EQ(sizes.at("M"), 2);
  EXPECT_EQ(sizes.at("K"), 5);
  Result<DeviceData> packed = packOperands(kernel, sizes, all);
  ASSERT_TRUE(packed) << textOf(packed);
  EXPECT_EQ(packed->memory.at("x"), x);
  EXPECT_EQ(packed->memory.at("d_data"), std::vector<uint8_t>(32));
  EXPECT_TRUE(isResult(kernel, "d_scales"));
  EXPECT_FALSE(isResult(kernel, "x"));
  // 0b000001, 0b000010, 0b000011, 0b000100, 0b111111 from bit 0 on, then
  // 5, 6, 7, 8, 62; what is behind them in a line is nobody's.
  std::vector<uint8_t> lines(32, 0xff);
  uint8_t first[] = {0x81, 0x30, 0x10, 0xff},
          second[] = {0x85, 0x71, 0x20, 0xfe};
  std::copy(std::begin(first), std::end(first), lines.begin());
  std::copy(std::begin(second), std::end(second), lines.begin() + 16);
  storeResult(kernel, sizes, lines, all["d_data"]);
  EXPECT_EQ(codes, (std::vector<uint8_t>{1, 2, 3, 4, 63, 5, 6, 7, 8, 62}));
  storeResult(kernel, sizes, {1, 2, 3, 4, 5, 6, 7, 8}, all["d_scales"]);
  EXPECT_EQ(scales, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(HostOperands, SizesOfAQuantisedTranspose) {
  plan::Kernel kernel = quantizingKernel();
  kernel.quantization->transposed = true;
  std::vector<uint8_t> x(2 * 5 * 4), codes(10), scales(20);
  HostOperands all;
  all["x"] = operandOf("x", x, {2, 5}, 4);
  all["d_data"] = operandOf("d_data", codes, {5, 2});
  all["d_scales"] = operandOf("d_scales", scales, {5, 4});
  ASSERT_EQ(whyNotOperands(kernel, all), "");
  plan::Environment sizes = bound(kernel, all);
  EXPECT_EQ(sizes.at("M"), 5);
  EXPECT_EQ(sizes.at("K"), 2);
  EXPECT_TRUE(packOperands(kernel, sizes, all));
}

TEST(HostOperands, BothResultsOfAQuantisation) {
  plan::Kernel kernel = quantizingKernel();
  kernel.transposedQuantization.emplace();
  kernel.parameters.push_back(test::parameter(
      "transposed_data", "transposed", plan::ParameterKind::Pointer, "i8"));
  plan::DataPacking data = kernel.data.front();
  data.operand = "transposed";
  data.lines = "K";
  data.elements = "M";
  data.batchPitch = "K * 16";
  kernel.data.push_back(data);
  std::vector<uint8_t> x(2 * 5 * 4), codes(10), other(10), scales(8);
  HostOperands all;
  all["x"] = operandOf("x", x, {2, 5}, 4);
  all["d_data"] = operandOf("d_data", codes, {2, 5});
  all["d_scales"] = operandOf("d_scales", scales, {2, 4});
  all["transposed_data"] = operandOf("transposed_data", other, {2, 5});
  ASSERT_EQ(whyNotOperands(kernel, all), "");
  plan::Environment sizes = bound(kernel, all);
  EXPECT_EQ(textOf(packOperands(kernel, sizes, all)),
            "kernel 'small': operand 'transposed_data' has the shape 2x5; "
            "expected 1x5x2");
  all["transposed_data"] = operandOf("transposed_data", other, {5, 2});
  EXPECT_TRUE(packOperands(kernel, sizes, all));
  EXPECT_TRUE(isResult(kernel, "transposed_data"));
}

TEST(HostOperands, WhatIsWrongWithAQuantisationIsNamed) {
  plan::Kernel kernel = quantizingKernel();
  std::vector<uint8_t> x(2 * 5 * 4), codes(10), scales(8);
  HostOperands all;
  EXPECT_EQ(whyNotOperands(kernel, all),
            "kernel 'small': there is no operand 'x'");
  all["x"] = operandOf("x", x, {10}, 4);
  EXPECT_EQ(whyNotOperands(kernel, all),
            "kernel 'small': operand 'x' has rank 1; expected 2 or 3");
  all["x"] = operandOf("x", x, {2, 5}, 4);
  all["d_data"] = operandOf("d_data", codes, {5, 2});
  all["d_scales"] = operandOf("d_scales", scales, {2, 4});
  ASSERT_EQ(whyNotOperands(kernel, all), "");
  EXPECT_EQ(textOf(packOperands(kernel, bound(kernel, all), all)),
            "kernel 'small': operand 'd_data' has the shape 5x2; expected "
            "1x2x5");
}

/// Elements of a kernel that moves scales tell their sizes and are not copied.
TEST(HostOperands, SizesOfMovedScalesAreThoseOfTheElements) {
  using plan::ParameterKind;
  plan::Kernel kernel = quantizingKernel();
  kernel.quantization.reset();
  kernel.conversion = plan::Conversion{"relayout"};
  kernel.parameters = {
      test::parameter("a_scales", "a", ParameterKind::Pointer, "i8"),
      test::parameter("d_scales", "d", ParameterKind::Pointer, "i8")};
  kernel.data.clear();
  kernel.operands.clear();
  kernel.scales.push_back(kernel.scales[0]);
  kernel.scales[0].operand = "a";
  std::vector<uint8_t> codes(10), scales(8), moved(8);
  HostOperands all;
  all["a_scales"] = operandOf("a_scales", scales, {2, 4});
  all["d_scales"] = operandOf("d_scales", moved, {2, 4});
  EXPECT_EQ(whyNotOperands(kernel, all),
            "kernel 'small': there is no operand 'a_data'");
  all["a_data"] = operandOf("a_data", codes, {10});
  EXPECT_EQ(whyNotOperands(kernel, all),
            "kernel 'small': operand 'a_data' has rank 1; expected 2 or 3");
  all["a_data"] = operandOf("a_data", codes, {2, 5});
  ASSERT_EQ(whyNotOperands(kernel, all), "");
  plan::Environment sizes = bound(kernel, all);
  EXPECT_EQ(sizes.at("M"), 2);
  EXPECT_EQ(sizes.at("K"), 5);
  Result<DeviceData> packed = packOperands(kernel, sizes, all);
  ASSERT_TRUE(packed) << textOf(packed);
  EXPECT_EQ(packed->memory.count("a_data"), 0u);
  all["b_data"] = operandOf("b_data", codes, {2, 5});
  EXPECT_EQ(whyNotOperands(kernel, all),
            "kernel 'small': it has no operand 'b_data'");
  // Elements in the other order, of which half are stored.
  kernel.conversion->mnMajor = true;
  EXPECT_EQ(bound(kernel, all).at("M"), 5);
  EXPECT_EQ(bound(kernel, all).at("K"), 2);
  kernel.conversion->sparse = true;
  EXPECT_EQ(bound(kernel, all).at("M"), 5);
  EXPECT_EQ(bound(kernel, all).at("K"), 4);
  kernel.conversion = plan::Conversion{"relayout"};
  // Of what is densified half is stored.
  kernel.conversion->op = "densify";
  EXPECT_EQ(bound(kernel, all).at("K"), 10);
  all["x"] = operandOf("x", codes, {5, 2});
  kernel.conversion->op = "prune";
  EXPECT_EQ(bound(kernel, all).at("K"), 2);
}

/// A kernel that dequantises codes of six bits, in lines of 16 bytes.
TEST(HostOperands, SizesOfAConversionAreThoseOfItsOperand) {
  using plan::ParameterKind;
  plan::Kernel kernel = quantizingKernel();
  kernel.quantization.reset();
  kernel.conversion = plan::Conversion{"dequantize"};
  kernel.parameters = {
      test::parameter("a_data", "a", ParameterKind::Pointer, "i8"),
      test::parameter("a_scales", "a", ParameterKind::Pointer, "i8"),
      test::parameter("d", "d", ParameterKind::Pointer, "f32")};
  kernel.data[0].operand = kernel.scales[0].operand = "a";
  kernel.operands[0].operand = "d";
  std::vector<uint8_t> codes{1, 2, 3, 4, 63, 5, 6, 7, 8, 62}, scales(8),
      d(2 * 5 * 4);
  HostOperands all;
  all["a_data"] = operandOf("a_data", codes, {2, 5});
  all["a_scales"] = operandOf("a_scales", scales, {2, 4});
  EXPECT_EQ(whyNotOperands(kernel, all),
            "kernel 'small': there is no operand 'd'");
  all["d"] = operandOf("d", d, {2, 5}, 4);
  ASSERT_EQ(whyNotOperands(kernel, all), "");
  plan::Environment sizes = bound(kernel, all);
  EXPECT_EQ(sizes.at("M"), 2);
  EXPECT_EQ(sizes.at("N"), 1);
  EXPECT_EQ(sizes.at("K"), 5);
  Result<DeviceData> packed = packOperands(kernel, sizes, all);
  ASSERT_TRUE(packed) << textOf(packed);
  const std::vector<uint8_t> &lines = packed->memory.at("a_data");
  ASSERT_EQ(lines.size(), 32u);
  EXPECT_EQ(lines[0], 0x81);
  EXPECT_EQ(lines[16], 0x85);
  EXPECT_EQ(packed->memory.at("d").size(), d.size());
  EXPECT_TRUE(isResult(kernel, "d"));
}

} // namespace
