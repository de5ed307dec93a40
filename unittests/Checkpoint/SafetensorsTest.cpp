//===- SafetensorsTest.cpp - headers of .safetensors files ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Checkpoint/Safetensors.h"
#include "Formats/TextOf.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::checkpoint;
using blockscale::test::textOf;

namespace {

/// The header of a file with `dataBytes` behind it.
Result<SafetensorsHeader> parse(const std::string &text, uint64_t dataBytes) {
  return parseHeader(text, 8 + text.size() + dataBytes);
}

std::string errorOf(const std::string &text, uint64_t dataBytes = 0) {
  Result<SafetensorsHeader> header = parse(text, dataBytes);
  return header ? "" : header.why().text;
}

/// One tensor "a" with these fields.
std::string one(const std::string &dtype, const std::string &shape,
                const std::string &offsets) {
  return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape +
         R"(,"data_offsets":)" + offsets + "}}";
}

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirData) {
  std::string text =
      R"({"__metadata__":{"format":"pt"},)"
      R"("b":{"dtype":"F32","shape":[2,3],"data_offsets":[2,26]},)"
      R"("a":{"dtype":"F8_E4M3","shape":[2,1],"data_offsets":[0,2]}}   )";
  Result<SafetensorsHeader> header = parse(text, 26);
  ASSERT_TRUE(header) << textOf(header);
  ASSERT_EQ(header->tensors.size(), 2u);
  EXPECT_EQ(header->tensors[0].name, "a");
  EXPECT_EQ(header->tensors[0].dtype, DType::F8E4M3);
  EXPECT_EQ(header->tensors[0].offset, 8 + text.size());
  EXPECT_EQ(header->tensors[1].name, "b");
  EXPECT_EQ(header->tensors[1].shape, (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(header->tensors[1].offset, 8 + text.size() + 2);
  EXPECT_EQ(header->tensors[1].bytes, 24u);
  ASSERT_TRUE(header->findMetadata("format"));
  EXPECT_EQ(*header->findMetadata("format"), "pt");
  EXPECT_FALSE(header->findMetadata("none"));
}

TEST(Safetensors, NarrowElementsShareBytes) {
  // As safetensors 0.8 stores F4 and F6: shapes count elements.
  EXPECT_EQ(errorOf(one("F4", "[3,6]", "[0,9]"), 9), "");
  EXPECT_EQ(errorOf(one("F6_E2M3", "[4]", "[0,3]"), 3), "");
  EXPECT_EQ(errorOf(one("F4", "[3]", "[0,2]"), 2),
            "tensor 'a': F4 [3] is no whole number of bytes that fits 63 bits");
}

TEST(Safetensors, ScalarsAndEmptyTensors) {
  EXPECT_EQ(errorOf(one("F32", "[]", "[0,4]"), 4), "");
  EXPECT_EQ(errorOf(one("F32", "[0,7]", "[0,0]")), "");
  EXPECT_EQ(errorOf("{}"), "");
}

TEST(Safetensors, RefusesTornAndSharedData) {
  auto two = [](const std::string &a, const std::string &b) {
    return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + a +
           R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + b + "}}";
  };
  EXPECT_EQ(errorOf(two("[0,4]", "[4,8]"), 8), "");
  EXPECT_EQ(errorOf(two("[0,4]", "[2,6]"), 6),
            "tensors 'a' and 'b' overlap at byte 2 of the data");
  EXPECT_EQ(errorOf(two("[0,4]", "[0,4]"), 4),
            "tensors 'a' and 'b' overlap at byte 0 of the data");
  EXPECT_EQ(errorOf(two("[0,4]", "[6,10]"), 10),
            "2 bytes before tensor 'b' belong to none");
  EXPECT_EQ(errorOf(two("[0,4]", "[4,8]"), 9),
            "1 bytes at the end of the file belong to no tensor");
  EXPECT_EQ(errorOf(two("[0,4]", "[4,8]"), 7),
            "tensor 'b' ends at byte 8 of the data; the file has 7");
}

TEST(Safetensors, RefusesSizesThatLie) {
  EXPECT_EQ(errorOf(one("F32", "[2]", "[0,4]"), 4),
            "tensor 'a': F32 [2] takes 8 bytes, 'data_offsets' hold 4");
  EXPECT_EQ(errorOf(one("F32", "[2]", "[8,0]"), 8),
            "tensor 'a': 'data_offsets' are not a begin and an end");
  EXPECT_EQ(errorOf(one("F32", "[2]", "[0,4,8]"), 8),
            "tensor 'a': 'data_offsets' are not a begin and an end");
  std::string huge = "[4294967296,4294967296]";
  EXPECT_EQ(errorOf(one("U8", huge, "[0,0]")),
            "tensor 'a': U8 [4294967296, 4294967296] is no whole number of "
            "bytes that fits 63 bits");
  // A size of 0 does not excuse the others.
  EXPECT_NE(errorOf(one("U8", "[0,4294967296,4294967296]", "[0,0]")), "");
  EXPECT_EQ(errorOf(one("U8", "[18446744073709551615]", "[0,0]")),
            "tensor 'a': 18446744073709551615 does not fit 63 bits");
  EXPECT_EQ(
      errorOf(one("U8", "[9223372036854775807]", "[0,9223372036854775807]")),
      "tensor 'a': U8 [9223372036854775807] is no whole number of bytes "
      "that fits 63 bits");
  EXPECT_EQ(errorOf(one("U8", "[-1]", "[0,0]")),
            "tensor 'a': a negative number for 'shape' has no place there");
  EXPECT_EQ(errorOf(one("U8", "[1.5]", "[0,0]")),
            "tensor 'a': a fraction for 'shape' has no place there");
}

TEST(Safetensors, RefusesOtherJson) {
  EXPECT_EQ(errorOf(""), "the header does not begin with '{'");
  EXPECT_EQ(errorOf(" {}"), "the header does not begin with '{'");
  EXPECT_EQ(errorOf("{\"a\":"), "the header is no JSON: error at its byte 6");
  EXPECT_EQ(errorOf("{} {}"), "the header is no JSON: error at its byte 4");
  EXPECT_EQ(errorOf("{\"a\":3}"), "the header: a number has no place there");
  EXPECT_EQ(errorOf("{\"a\":[]}"), "the header: a list has no place there");
  EXPECT_EQ(errorOf("{\"a\":{\"shape\":[[1]]}}"),
            "tensor 'a': a list for 'shape' has no place there");
  EXPECT_EQ(errorOf("{\"a\":{\"shape\":{}}}"),
            "tensor 'a': an object for 'shape' has no place there");
  EXPECT_EQ(errorOf("{\"a\":{\"dtype\":null}}"),
            "tensor 'a': null for 'dtype' has no place there");
  EXPECT_EQ(errorOf("{\"a\":{\"color\":1}}"),
            "tensor 'a': unknown key 'color', expected 'dtype', 'shape' and "
            "'data_offsets'");
  EXPECT_EQ(errorOf("{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}"),
            "tensor 'a' lacks 'data_offsets'");
  EXPECT_EQ(errorOf("{\"__metadata__\":{\"x\":1}}"),
            "'__metadata__': a number has no place there");
  // Deep nesting is refused at its second level and builds nothing.
  std::string deep = "{\"a\":" + std::string(1 << 20, '[');
  EXPECT_EQ(errorOf(deep), "the header: a list has no place there");
  std::string invalid = "{\"\xff\":{}}";
  EXPECT_EQ(errorOf(invalid), "the header is no JSON: error at its byte 3");
}

TEST(Safetensors, RefusesWhatIsThereTwice) {
  std::string a = R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(errorOf("{" + a + "," + a + "}"), "the header has 'a' twice");
  EXPECT_EQ(errorOf(R"({"a":{"dtype":"U8","dtype":"U8"}})"),
            "tensor 'a' has 'dtype' twice");
  EXPECT_EQ(errorOf(R"({"__metadata__":{"x":"","x":""}})"),
            "'__metadata__' has 'x' twice");
}

TEST(Safetensors, RefusesUnknownTypes) {
  // safetensors 0.8 knows no integers of 4 bits.
  std::string error = errorOf(one("I4", "[2]", "[0,1]"), 1);
  EXPECT_EQ(error.substr(0, 43), "tensor 'a': unknown dtype 'I4', known are B");
}

TEST(Safetensors, HeaderLengths) {
  const uint8_t ten[8] = {10};
  EXPECT_EQ(*parseHeaderLength(ten, 18), 10u);
  EXPECT_EQ(textOf(parseHeaderLength(ten, 17)),
            "a header of 10 bytes; the file has 9 left");
  EXPECT_EQ(textOf(parseHeaderLength(ten, 3)),
            "not a .safetensors file: 3 bytes, the length of the header takes "
            "8");
  const uint8_t huge[8] = {0, 0xe1, 0xf5, 0x06};
  EXPECT_EQ(textOf(parseHeaderLength(huge, uint64_t(1) << 40)),
            "a header of 116777216 bytes; at most 100000000 are legal");
  const uint8_t gguf[8] = {'G', 'G', 'U', 'F', 3}, zip[8] = {'P', 'K', 3, 4};
  EXPECT_EQ(parseHeaderLength(gguf, 1000).why().text,
            "not a .safetensors file but one of GGUF; convert it to "
            ".safetensors first");
  EXPECT_EQ(parseHeaderLength(zip, 1000).why().text,
            "not a .safetensors file but a ZIP archive; convert it to "
            ".safetensors first");
}

TEST(Safetensors, WritesWhatItReads) {
  SafetensorsHeader header;
  header.metadata = {{"format", "pt"}, {"k\"ey", "line\nbreak"}};
  TensorEntry a, b, c;
  a.name = "a \"quoted\" name";
  a.dtype = DType::F4;
  a.shape = {2, 8};
  b.name = "b";
  b.dtype = DType::BF16;
  c.name = "c";
  c.dtype = DType::F32;
  header.tensors = {a, b, c};
  std::string bytes = formatHeader(header);
  EXPECT_EQ(bytes.size() % 8, 0u);
  Result<uint64_t> length = parseHeaderLength(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size() + 14);
  ASSERT_TRUE(length) << textOf(length);
  EXPECT_EQ(*length, bytes.size() - 8);
  Result<SafetensorsHeader> again =
      parseHeader(std::string_view(bytes).substr(8), bytes.size() + 14);
  ASSERT_TRUE(again) << textOf(again);
  EXPECT_EQ(again->metadata, header.metadata);
  ASSERT_EQ(again->tensors.size(), 3u);
  // Wide elements come first, so that they are aligned behind any others.
  size_t places[] = {2, 1, 0};
  for (size_t i = 0; i < 3; ++i) {
    const TensorEntry &written = header.tensors[places[i]];
    EXPECT_EQ(again->tensors[i].name, written.name);
    EXPECT_EQ(again->tensors[i].dtype, written.dtype);
    EXPECT_EQ(again->tensors[i].shape, written.shape);
    EXPECT_EQ(again->tensors[i].offset, written.offset);
    EXPECT_EQ(again->tensors[i].bytes, written.bytes);
  }
  EXPECT_EQ(again->tensors[0].offset % 4, 0u);
}

} // namespace
