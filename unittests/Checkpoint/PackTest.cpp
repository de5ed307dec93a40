//===- PackTest.cpp - what packing refuses --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What it writes is checked by python/packing_check.py.

#include "blockscale/Checkpoint/Pack.h"
#include "Formats/TextOf.h"
#include "blockscale/Packing/Npy.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::checkpoint;
using blockscale::test::textOf;
namespace fs = std::filesystem;

namespace {

class Packing : public ::testing::Test {
protected:
  Packing()
      : folder(fs::path(::testing::TempDir()) /
               ("packing-" + std::to_string(::getpid()))) {
    fs::create_directories(folder);
    options.to = PackTo::Blocks;
    options.format = *packing::parseBlockFormat("mxfp8");
  }
  ~Packing() override { fs::remove_all(folder); }

  std::string path(const char *name) const { return (folder / name).string(); }

  /// Packs an array of that type and shape, of zeros; the error without paths.
  std::string errorOf(packing::NpyType type, std::vector<uint64_t> shape,
                      const char *output = "out.safetensors") {
    packing::NpyArray array{type, std::move(shape), {}};
    array.data.resize(array.elementCount() * npyTypeSize(type));
    EXPECT_EQ(writeNpy(path("x.npy"), array), std::nullopt);
    Result<Checkpoint> read = Checkpoint::open(path("x.npy"));
    EXPECT_TRUE(read) << textOf(read);
    auto packed = pack(*read, path(output), options);
    std::string error = packed ? "" : packed.why().text,
                prefix = folder.string() + "/";
    for (size_t at; (at = error.find(prefix)) != std::string::npos;)
      error.erase(at, prefix.size());
    if (!packed) { // Nothing is left but the input.
      EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
    }
    return error;
  }

  fs::path folder;
  PackOptions options;
};

using packing::NpyType;

TEST_F(Packing, RefusesWhatIsNoMatrixOfNumbers) {
  EXPECT_EQ(errorOf(NpyType::F32, {2, 32}), "");
  fs::remove(path("out.safetensors"));
  EXPECT_EQ(errorOf(NpyType::F32, {64}),
            "there is nothing to pack: no parameter is quantised, or a matrix "
            "of numbers");
  EXPECT_EQ(errorOf(NpyType::I32, {2, 32}),
            "there is nothing to pack: no parameter is quantised, or a matrix "
            "of numbers");
  options.tensors = {"x"};
  EXPECT_EQ(errorOf(NpyType::I32, {2, 32}),
            "'x': values of type I32 are no numbers to quantise");
  options.tensors = {"y*"};
  EXPECT_EQ(errorOf(NpyType::F32, {2, 32}),
            "no parameter has a name like those of --tensors");
}

TEST_F(Packing, RefusesRowsThatDoNotFit) {
  options.format = *packing::parseBlockFormat("mxfp4");
  EXPECT_EQ(errorOf(NpyType::F32, {2, 33}),
            "'x' has rows of 33 elements; rows of 4 bits an element must be "
            "whole bytes");
  options.prune = hw::SparsePattern::PairsFourOfEight;
  EXPECT_EQ(errorOf(NpyType::F32, {2, 36}),
            "'x' has rows of 36 elements; 4:8 in pairs needs a multiple of 8");
  options.compress = true;
  EXPECT_EQ(errorOf(NpyType::F32, {2, 40}),
            "'x' has rows of 40 elements; 4:8 in pairs needs a multiple of 16");
}

TEST_F(Packing, RefusesToConvertWhatIsNotQuantised) {
  options.to = PackTo::Same;
  options.tensors = {"x"};
  EXPECT_EQ(errorOf(NpyType::F32, {2, 32}),
            "'x' is not quantised: there is nothing to convert; quantise it "
            "with --to");
}

TEST_F(Packing, RefusesToConvertScalars) {
  SafetensorsHeader header;
  for (const char *name : {"a.weight", "a.weight_scale"}) {
    TensorEntry entry;
    entry.name = name;
    header.tensors.push_back(entry);
  }
  std::ofstream(path("x.safetensors"), std::ios::binary)
      << formatHeader(header) + "ab";
  Result<Checkpoint> read = Checkpoint::open(path("x.safetensors"));
  ASSERT_TRUE(read) << textOf(read);
  options.to = PackTo::Same;
  auto packed = pack(*read, path("out.safetensors"), options);
  ASSERT_FALSE(packed);
  EXPECT_EQ(packed.why().text,
            "'a.weight' is MXFP4 of ModelOpt and a scalar; expected a matrix");
}

TEST_F(Packing, LeavesNothingBehind) {
  EXPECT_EQ(errorOf(NpyType::F32, {2, 32}, "none/out.safetensors"),
            "cannot write 'none/out.safetensors': No such file or directory");
  std::atomic<bool> stop{true};
  options.stop = &stop;
  EXPECT_EQ(errorOf(NpyType::F32, {2, 32}), "interrupted");
  EXPECT_EQ(errorOf(NpyType::F32, {2, 32}, "out.npy"), "interrupted");
}

TEST(Matches, Stars) {
  EXPECT_TRUE(matches("a.b.weight", "*"));
  EXPECT_TRUE(matches("a.b.weight", "a.*.weight"));
  EXPECT_TRUE(matches("a.b.b.weight", "*.b.weight"));
  EXPECT_TRUE(matches("", "**"));
  EXPECT_TRUE(matches("aXbXc", "a*b*c"));
  EXPECT_FALSE(matches("a.b.weight", "a.*.bias"));
  EXPECT_FALSE(matches("ab", "a"));
  EXPECT_FALSE(matches("a", "a*b"));
}

} // namespace
