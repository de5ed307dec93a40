//===- NpyTest.cpp - arrays in .npy files ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Npy.h"
#include "Formats/TextOf.h"

#include <cstdio>
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::packing;
using blockscale::test::textOf;

namespace {

using Bytes = std::vector<uint8_t>;

/// A file with the given dictionary, unpadded as any reader must accept it.
Bytes fileWith(const std::string &header, const Bytes &data,
               unsigned version = 1) {
  Bytes file{0x93, 'N', 'U', 'M', 'P', 'Y', uint8_t(version), 0};
  for (unsigned i = 0; i < (version == 1 ? 2 : 4); ++i)
    file.push_back(header.size() >> (8 * i) & 0xff);
  file.insert(file.end(), header.begin(), header.end());
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

std::string errorOf(const Bytes &file) {
  return textOf(parseNpy(file.data(), file.size()));
}

std::string headerError(const std::string &header, size_t dataBytes = 8) {
  return errorOf(fileWith(header, Bytes(dataBytes)));
}

constexpr const char *kGood =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";

TEST(Npy, EveryVersion) {
  for (unsigned version : {1u, 2u, 3u}) {
    Bytes file = fileWith(kGood, {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}, version);
    Result<NpyArray> result = parseNpy(file.data(), file.size());
    ASSERT_TRUE(result) << textOf(result);
    EXPECT_EQ(result->type, NpyType::F32);
    EXPECT_EQ(result->shape, std::vector<uint64_t>{2});
    EXPECT_EQ(result->data[3], 0x3f);
  }
}

TEST(Npy, WritesWhatNumpyWrites) {
  // numpy.save of numpy.array([[1, 2, 3], [4, 5, 6]], 'u1').
  NpyArray array{NpyType::U8, {2, 3}, {1, 2, 3, 4, 5, 6}};
  Bytes file = *formatNpy(array);
  ASSERT_EQ(file.size(), 128u + 6u);
  EXPECT_EQ(std::string(file.begin(), file.begin() + 10),
            std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(std::string(file.begin() + 10, file.begin() + 71),
            "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }  ");
  EXPECT_EQ(file[127], '\n');
  EXPECT_EQ(Bytes(file.begin() + 128, file.end()), array.data);
}

TEST(Npy, EveryTypeComesBack) {
  const std::pair<NpyType, unsigned> types[] = {
      {NpyType::U8, 1},  {NpyType::I8, 1},  {NpyType::U16, 2},
      {NpyType::I16, 2}, {NpyType::U32, 4}, {NpyType::I32, 4},
      {NpyType::U64, 8}, {NpyType::I64, 8}, {NpyType::F16, 2},
      {NpyType::F32, 4}, {NpyType::F64, 8}};
  for (auto [type, size] : types) {
    EXPECT_EQ(npyTypeSize(type), size);
    NpyArray array{type, {3, 1, 2}, Bytes(6 * size)};
    for (size_t i = 0; i < array.data.size(); ++i)
      array.data[i] = i + 1;
    Bytes file = *formatNpy(array);
    Result<NpyArray> result = parseNpy(file.data(), file.size());
    ASSERT_TRUE(result) << textOf(result);
    EXPECT_EQ(result->type, type);
    EXPECT_EQ(result->shape, array.shape);
    EXPECT_EQ(result->data, array.data);
    EXPECT_EQ(array.elementCount(), 6u);
  }
}

TEST(Npy, ScalarsEmptyArraysAndRawBytes) {
  NpyArray scalar{NpyType::F32, {}, Bytes(4)};
  Bytes file = *formatNpy(scalar);
  EXPECT_EQ(parseNpy(file.data(), file.size())->elementCount(), 1u);
  NpyArray empty{NpyType::F32, {0, 5}, {}};
  file = *formatNpy(empty);
  EXPECT_EQ(parseNpy(file.data(), file.size())->elementCount(), 0u);
  file = fileWith("{\"shape\": (4L,), \"fortran_order\": True, "
                  "\"descr\": '<V2'}\n",
                  Bytes(8));
  EXPECT_EQ(parseNpy(file.data(), file.size())->type, NpyType::U16);
}

TEST(Npy, RefusesWrongHeaders) {
  EXPECT_EQ(errorOf({}), "not a .npy file: the magic string is missing");
  EXPECT_EQ(errorOf(fileWith(kGood, Bytes(8), 4)),
            "format version 4; expected 1, 2 or 3");
  EXPECT_EQ(headerError(kGood, 7),
            "the shape asks for 8 bytes; the file has 7");
  EXPECT_EQ(headerError(kGood, 9),
            "the shape asks for 8 bytes; the file has 9");
  EXPECT_EQ(headerError("[]"), "the header is not a dictionary");
  EXPECT_EQ(headerError("{'descr': '<f4'}"),
            "the header lacks 'descr', 'fortran_order' or 'shape'");
  EXPECT_EQ(headerError("{'descr': [('a', '<f4')]}"),
            "'descr' is not a string: records are not read");
  EXPECT_EQ(headerError("{'descr': '>f4', 'fortran_order': False, "
                        "'shape': (2,)}"),
            "element type '>f4' is big endian; expected '<f4'");
  EXPECT_EQ(headerError("{'descr': '<c8', 'fortran_order': False, "
                        "'shape': (1,)}"),
            "element type '<c8' is not read; expected u1, i1, u2, i2, u4, i4, "
            "u8, i8, f2, f4, f8, V1 or V2");
  EXPECT_EQ(headerError("{'descr': '<f4', 'fortran_order': True, "
                        "'shape': (2, 1)}"),
            "the array is in Fortran order; expected C order");
  EXPECT_EQ(headerError("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}"),
            "'fortran_order' is neither True nor False");
  EXPECT_EQ(headerError("{'descr': '<f4', 'fortran_order': False, "
                        "'shape': (-2,)}"),
            "'shape' is not a tuple of sizes");
  EXPECT_EQ(headerError("{'descr': '<f4', 'fortran_order': False, 'shape': "
                        "(4294967296, 4294967296)}"),
            "the shape asks for more than 2^63 bytes");
  EXPECT_EQ(headerError("{'descr': '<f4', 'fortran_order': False, 'shape': "
                        "(99999999999999999999,)}"),
            "'shape' is not a tuple of sizes");
  EXPECT_EQ(headerError("{'x': 1}"), "unknown key 'x' in the header");
  EXPECT_EQ(headerError(std::string(kGood) + "x"),
            "text after the header's dictionary");
}

TEST(Npy, EveryTruncationAndEveryChangedByteIsAnAnswer) {
  Bytes file = fileWith(kGood, Bytes(8));
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(errorOf(Bytes(file.begin(), file.begin() + size)), "");
  for (size_t at = 0; at < file.size(); ++at)
    for (unsigned value = 0; value < 256; ++value) {
      Bytes changed = file;
      changed[at] = value;
      EXPECT_NE(errorOf(changed), "");
    }
}

TEST(Npy, FilesAndTheirErrors) {
  std::string path = testing::TempDir() + "/blockscale-npy-test.npy";
  NpyArray array{NpyType::I32, {2}, {1, 0, 0, 0, 2, 0, 0, 0}};
  EXPECT_EQ(writeNpy(path, array), std::nullopt);
  Result<NpyArray> result = readNpy(path);
  ASSERT_TRUE(result) << textOf(result);
  EXPECT_EQ(result->data, array.data);
  std::remove(path.c_str());
  EXPECT_EQ(textOf(readNpy(path)), "'" + path + "': cannot be opened");
  array.data.pop_back();
  EXPECT_FALSE(formatNpy(array));
  EXPECT_EQ(textOf(writeNpy(path, array)),
            "'" + path + "': the data do not have the size of the shape");
}

} // namespace
