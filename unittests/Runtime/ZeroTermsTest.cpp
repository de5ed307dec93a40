//===- ZeroTermsTest.cpp - terms of zero points in real units -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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

/// A kernel whose A has codes of two bits, which mean 0, 1, 2 and 3, less zero
/// points of tiles of three elements in real units; B has a scale for each row.
static plan::Kernel kernelWithTerms() {
  using plan::ParameterKind;
  plan::Kernel kernel = test::smallKernel();
  kernel.data[0].source = {"uint2", {0, 0x38, 0x40, 0x44}};
  kernel.vectorScales = {{"b", "f32", 1, "2", "2", 4}};
  kernel.zeroTerms = {{"a", "f32", 1, 3, "0", "ceildiv(K, 3)"}};
  for (auto [role, elements] :
       {std::pair("a_terms", "M * 2"), std::pair("b_terms", "2 * 2")}) {
    plan::PlainOperand terms;
    terms.operand = role;
    terms.type = "f32";
    terms.elements = elements;
    kernel.operands.push_back(terms);
    kernel.parameters.push_back(
        test::parameter(role, role, ParameterKind::Pointer, "f32"));
  }
  kernel.parameters.push_back(
      test::parameter("b_scales", "b", ParameterKind::Pointer, "f32"));
  return kernel;
}

static std::vector<uint8_t> bytesOf(const std::vector<float> &numbers) {
  auto *first = reinterpret_cast<const uint8_t *>(numbers.data());
  return {first, first + numbers.size() * sizeof(float)};
}

TEST(ZeroTerms, AreZeroPointsAndSums) {
  plan::Kernel kernel = kernelWithTerms();
  Operands operands;
  std::vector<uint8_t> zeros = bytesOf({0.5, 1, 1.5, 2, 2.5, 3}),
                       scales = bytesOf({2, 0.5});
  operands.b = {0x38, 0x38, 0x38, 0x40, 0x40, 0x44, 0, 0x38, 0x38, 0x38};
  operands.all["b_data"] = operandOf("b_data", operands.b, {2, 5});
  operands.all["b_scales"] = operandOf("b_scales", scales, {2, 1}, 4);
  EXPECT_NE(whyNotOperands(kernel, operands.all)
                .find("there is no operand 'a_zeros'"),
            std::string::npos);
  auto &given = operands.all["a_zeros"] =
      operandOf("a_zeros", zeros, {3, 2}, 4);
  EXPECT_EQ(whyNotOperands(kernel, operands.all), "");
  EXPECT_TRUE(isZeros(kernel, "a_zeros"));
  plan::Environment sizes = bound(kernel, operands.all);
  Result<DeviceData> data = packOperands(kernel, sizes, operands.all);
  ASSERT_TRUE(data) << textOf(data);
  // Rows of 1, 1, 1 | 2, 2 and 3, 0, 1 | 1, 1.
  EXPECT_EQ(data->memory.at("a_terms"), bytesOf({0.5, 1.5, 2.5, 1, 2, 3}));
  EXPECT_EQ(data->memory.at("b_terms"), bytesOf({6, 2, 8, 1}));
  given.sizes = {3, 1};
  EXPECT_NE(textOf(packOperands(kernel, sizes, operands.all))
                .find("operand 'a_zeros' has 3 elements; expected 6"),
            std::string::npos);
  given.sizes = {3, 2};
  operands.all["b_data"].isOnDevice = true;
  EXPECT_NE(textOf(packOperands(kernel, sizes, operands.all))
                .find("operand 'b_data' is on the device"),
            std::string::npos);
  operands.all["b_data"].isOnDevice = false;
  kernel.zeroTerms[0].count = "7";
  EXPECT_NE(textOf(packOperands(kernel, sizes, operands.all))
                .find("'a_terms': 24 bytes for 7 terms of 3 rows"),
            std::string::npos);
}

// Elements that are stored less zero points of their own are added up less
// these: codes of two bits, less one zero point for each row, -1 and 1 here.
TEST(ZeroTerms, AreSumsOfElementsLessStepsOfTheirScales) {
  plan::Kernel kernel = kernelWithTerms();
  // Of differences from -4 to 3.
  kernel.data[1].source = {"uint2",
                           {0xc8, 0xc4, 0xc0, 0xb8, 0, 0x38, 0x40, 0x44}};
  kernel.data[1].source->zeros = plan::ZeroPoints{8, 1, 0};
  Operands operands;
  std::vector<uint8_t> zeros = bytesOf({0.5, 1, 1.5, 2, 2.5, 3}),
                       scales = bytesOf({2, 0.5}), steps = {0xff, 1};
  operands.b = {0, 1, 2, 2, 2, 3, 0, 1, 1, 2};
  operands.all["a_zeros"] = operandOf("a_zeros", zeros, {3, 2}, 4);
  operands.all["b_data"] = operandOf("b_data", operands.b, {2, 5});
  operands.all["b_scales"] = operandOf("b_scales", scales, {2, 1}, 4);
  operands.all["b_zeros"] = operandOf("b_zeros", steps, {2, 1});
  plan::Environment sizes = bound(kernel, operands.all);
  Result<DeviceData> data = packOperands(kernel, sizes, operands.all);
  ASSERT_TRUE(data) << textOf(data);
  // Rows of 1, 2, 3 | 3, 3 under 2, and of 2, -1, 0 | 0, 1 under 1/2.
  EXPECT_EQ(data->memory.at("b_terms"), bytesOf({12, 0.5, 12, 0.5}));
}

// Of a sparse operand what is kept is added up: a tile of four elements has two
// of them. So it is where these are stored less zero points of their own, which
// are for tiles of elements that count pruned ones, too.
TEST(ZeroTerms, AreSumsOfWhatIsKept) {
  plan::Kernel kernel = kernelWithTerms();
  kernel.metadata.emplace_back();
  kernel.metadata[0].operand = "b";
  kernel.zeroTerms[0].block = 4;
  kernel.zeroTerms[0].count = "2";
  kernel.data[1].elements = "K / 2";
  // Of differences from -4 to 3.
  kernel.data[1].source = {"uint2",
                           {0xc8, 0xc4, 0xc0, 0xb8, 0, 0x38, 0x40, 0x44}};
  kernel.data[1].source->zeros = plan::ZeroPoints{8, 1, 4};
  Operands operands({3, 8});
  operands.a.assign(24, 0);
  std::vector<uint8_t> zeros = bytesOf({0.5, 1, 1.5, 2, 2.5, 3}),
                       scales = bytesOf({2, 0.5}), steps = {0xff, 1, 2, 0};
  operands.b = {0, 1, 2, 3, 2, 3, 0, 1};
  operands.all["a_data"] = operandOf("a_data", operands.a, {3, 8});
  operands.all["a_zeros"] = operandOf("a_zeros", zeros, {3, 2}, 4);
  operands.all["b_data"] = operandOf("b_data", operands.b, {2, 4});
  operands.all["b_scales"] = operandOf("b_scales", scales, {2, 1}, 4);
  operands.all["b_zeros"] = operandOf("b_zeros", steps, {2, 2});
  plan::Environment sizes = bound(kernel, operands.all);
  Result<DeviceData> data = packOperands(kernel, sizes, operands.all);
  ASSERT_TRUE(data) << textOf(data);
  // Rows of 1, 2 | 1, 2 under 2, and of 0, 1 | 0, 1 under 1/2.
  EXPECT_EQ(data->memory.at("b_terms"), bytesOf({6, 0.5, 6, 0.5}));
  std::vector<uint8_t> stored = data->memory.at("b_data");
  stored.resize(4);
  EXPECT_EQ(stored, (std::vector<uint8_t>{0x38, 0x40, 0x38, 0x40}));
}

/// Scales of B that an instruction reads, for three elements of a row each, in
/// tiles of two rows by two blocks whose bytes are not in the order of either.
static plan::ScalePacking placedScales() {
  plan::ScalePacking scales;
  scales.operand = "b";
  scales.format = "ue8m0";
  scales.block = 3;
  scales.layout = "tiled_128x4";
  scales.offset = "l * 8 + r * 4 + j * 2";
  scales.bytes = "8";
  return scales;
}

TEST(ZeroTerms, AreSumsUnderScalesThatInstructionsRead) {
  plan::Kernel kernel = kernelWithTerms();
  kernel.vectorScales.clear();
  kernel.scales = {placedScales()};
  Operands operands;
  std::vector<uint8_t> zeros = bytesOf({0.5, 1, 1.5, 2, 2.5, 3}),
                       scales = {128, 9, 129, 9, 126, 9, 127, 9};
  operands.b = {0x38, 0x38, 0x38, 0x40, 0x40, 0x44, 0, 0x38, 0x38, 0x38};
  operands.all["a_zeros"] = operandOf("a_zeros", zeros, {3, 2}, 4);
  operands.all["b_data"] = operandOf("b_data", operands.b, {2, 5});
  operands.all["b_scales"] = operandOf("b_scales", scales, {1, 1, 8});
  plan::Environment sizes = bound(kernel, operands.all);
  Result<DeviceData> data = packOperands(kernel, sizes, operands.all);
  ASSERT_TRUE(data) << textOf(data);
  // Rows of 1, 1, 1 | 2, 2 under 2 and 4, and of 3, 0, 1 | 1, 1 under 1/2
  // and 1.
  EXPECT_EQ(data->memory.at("b_terms"), bytesOf({6, 2, 16, 2}));
  // A plan that says something else of the places than of the bytes.
  kernel.scales[0].offset = "l * 8 + r * 4 + j * 4";
  EXPECT_NE(textOf(packOperands(kernel, sizes, operands.all))
                .find("operand 'b_scales' has 8 elements; expected 9 or more"),
            std::string::npos);
}

// What is added up may be on the device then, and so may what has zero points,
// which are terms as they are.
TEST(ZeroTerms, AreGiven) {
  plan::Kernel kernel = kernelWithTerms();
  Operands operands;
  std::vector<uint8_t> zeros = bytesOf({0.5, 1, 1.5, 2, 2.5, 3}),
                       scales = bytesOf({2, 0.5}), sums = bytesOf({7, 5, 3, 1});
  operands.b.resize(10);
  operands.all["b_data"] = operandOf("b_data", operands.b, {2, 5});
  operands.all["b_scales"] = operandOf("b_scales", scales, {2, 1}, 4);
  operands.all["a_zeros"] = operandOf("a_zeros", zeros, {3, 2}, 4);
  auto &given = operands.all["b_terms"] = operandOf("b_terms", sums, {2, 2}, 4);
  EXPECT_EQ(whyNotOperands(kernel, operands.all), "");
  plan::Environment sizes = bound(kernel, operands.all);
  operands.all["a_data"].isOnDevice = operands.all["b_data"].isOnDevice = true;
  Result<DeviceData> data = packOperands(kernel, sizes, operands.all);
  ASSERT_TRUE(data) << textOf(data);
  EXPECT_EQ(data->memory.at("b_terms"), sums);
  EXPECT_EQ(data->memory.at("a_terms"), bytesOf({0.5, 1.5, 2.5, 1, 2, 3}));
  given.isOnDevice = true;
  data = packOperands(kernel, sizes, operands.all);
  ASSERT_TRUE(data) << textOf(data);
  EXPECT_EQ(data->memory.count("b_terms"), 0u);
  EXPECT_EQ(data->bytesOnDevice.at("b_terms"), sums.size());
  given.sizes = {1, 2};
  EXPECT_NE(textOf(packOperands(kernel, sizes, operands.all))
                .find("operand 'b_terms' has the shape 1x2; expected 4 "
                      "elements"),
            std::string::npos);
  given.elementBytes = 2;
  EXPECT_NE(whyNotOperands(kernel, operands.all)
                .find("operand 'b_terms' has elements of 2 bytes; expected 4"),
            std::string::npos);
}

} // namespace
