//===- CheckpointTest.cpp - files of a model ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formats/TextOf.h"
#include "blockscale/Checkpoint/Check.h"
#include "blockscale/Checkpoint/Values.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <tuple>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::checkpoint;
using blockscale::test::textOf;
namespace fs = std::filesystem;

namespace {

/// A folder that is gone at the end.
class CheckpointFiles : public ::testing::Test {
protected:
  CheckpointFiles()
      : folder(fs::path(::testing::TempDir()) /
               ("checkpoint-" + std::to_string(::getpid()))) {
    fs::create_directories(folder);
  }
  ~CheckpointFiles() override { fs::remove_all(folder); }

  std::string path(const std::string &name) const {
    return (folder / name).string();
  }
  void write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  /// A file with one tensor of three bytes.
  void writeShard(const std::string &name, const std::string &tensor) const {
    SafetensorsHeader header;
    TensorEntry entry;
    entry.name = tensor;
    entry.shape = {3};
    header.tensors = {entry};
    write(name, formatHeader(header) + "abc");
  }
  std::string errorOf(const std::string &name) const {
    Result<Checkpoint> read = Checkpoint::open(path(name));
    std::string error = textOf(read);
    // Messages name whole paths.
    std::string prefix = folder.string() + "/";
    for (size_t at; (at = error.find(prefix)) != std::string::npos;)
      error.erase(at, prefix.size());
    return error;
  }

  fs::path folder;
};

TEST_F(CheckpointFiles, ShardsOfAnIndex) {
  writeShard("one.safetensors", "b");
  writeShard("two.safetensors", "a");
  write("model.safetensors.index.json",
        R"({"metadata":{"total_size":6},"weight_map":)"
        R"({"a":"two.safetensors","b":"one.safetensors"}})");
  for (const char *name : {"model.safetensors.index.json", ""}) {
    Result<Checkpoint> read = Checkpoint::open(path(name));
    ASSERT_TRUE(read) << textOf(read);
    ASSERT_EQ(read->tensors().size(), 2u);
    EXPECT_EQ(read->tensors()[0].name, "a");
    ASSERT_TRUE(read->find("b"));
    EXPECT_EQ(read->files()[read->find("b")->file].path(),
              path("one.safetensors"));
    char bytes[2];
    EXPECT_EQ(read->read(*read->find("a"), 1, bytes, 2), "");
    EXPECT_EQ(std::string(bytes, 2), "bc");
  }
}

TEST_F(CheckpointFiles, IndexAndShardsDisagree) {
  writeShard("one.safetensors", "b");
  write("x.json", R"({"weight_map":{"a":"one.safetensors"}})");
  EXPECT_EQ(errorOf("x.json"), "'x.json' says that tensor 'a' is in "
                               "'one.safetensors', which does not have it");
  write("x.json", R"({"weight_map":{"b":"one.safetensors","c":)"
                  R"("none.safetensors"}})");
  EXPECT_EQ(errorOf("x.json"),
            "cannot read 'none.safetensors': No such file or directory");
  write("x.json", R"({"weight_map":{"b":"../one.safetensors"}})");
  EXPECT_EQ(errorOf("x.json"),
            "'x.json': '../one.safetensors' is no file beside the index");
  write("x.json", R"({"weight_map":[]})");
  EXPECT_EQ(errorOf("x.json"), "'x.json': no object 'weight_map'");
  write("x.json", R"({"weight_map":{"b":)");
  EXPECT_EQ(errorOf("x.json"), "'x.json': no JSON: error at byte 20");
  write("x.json", std::string(100000, '['));
  EXPECT_EQ(errorOf("x.json"),
            "'x.json': nested deeper than 32 levels at byte 32");
}

TEST_F(CheckpointFiles, TensorsOfSeveralFiles) {
  writeShard("one.safetensors", "a");
  writeShard("two.safetensors", "a");
  EXPECT_EQ(errorOf(""),
            "tensor 'a' is in 'one.safetensors' and in 'two.safetensors'");
}

TEST_F(CheckpointFiles, FilesThatAreCutShortMeanwhile) {
  writeShard("one.safetensors", "a");
  Result<Checkpoint> read = Checkpoint::open(path("one.safetensors"));
  ASSERT_TRUE(read) << textOf(read);
  uint64_t size = fs::file_size(path("one.safetensors"));
  fs::resize_file(path("one.safetensors"), size - 1);
  char bytes[3];
  EXPECT_EQ(read->read(*read->find("a"), 0, bytes, 3),
            "'" + path("one.safetensors") + "' ends at byte " +
                std::to_string(size - 1) +
                "; it was longer when it was opened");
}

TEST_F(CheckpointFiles, OtherThingsThanFiles) {
  EXPECT_EQ(errorOf("none"), "cannot read 'none': No such file or directory");
  write("empty.safetensors", "");
  EXPECT_EQ(errorOf("empty.safetensors"),
            "'empty.safetensors': not a .safetensors file: 0 bytes, the length "
            "of the header takes 8");
  EXPECT_EQ(textOf(Checkpoint::open("/dev/null")),
            "cannot read '/dev/null': not a regular file");
}

TEST_F(CheckpointFiles, ExtentsOfZero) {
  // Scales padded to whole atoms of which there are none.
  SafetensorsHeader header;
  for (auto [name, rows, columns, dtype] :
       {std::tuple("p.weight", 0, 48, DType::U8),
        std::tuple("p.weight_scale", 0, 8, DType::F8E4M3),
        std::tuple("q.weight", 1 << 30, 0, DType::U8),
        std::tuple("q.weight_scale", 1 << 30, 0, DType::F8E4M3)}) {
    TensorEntry entry;
    entry.name = name;
    entry.dtype = dtype;
    entry.shape = {uint64_t(rows), uint64_t(columns)};
    header.tensors.push_back(entry);
  }
  write("zero.safetensors", formatHeader(header));
  Result<Checkpoint> read = Checkpoint::open(path("zero.safetensors"));
  ASSERT_TRUE(read) << textOf(read);
  CheckReport report = check(*read, CheckOptions());
  ASSERT_EQ(report.tensors.size(), 2u);
  EXPECT_EQ(report.tensors[0].shape, (std::vector<uint64_t>{0, 96}));
}

TEST_F(CheckpointFiles, VectorsOfPaddedScales) {
  // Six elements and four scales: no matrix of them is padded to an atom.
  SafetensorsHeader header;
  for (auto [name, size, dtype] :
       {std::tuple("p.weight", 3, DType::U8),
        std::tuple("p.weight_scale", 4, DType::F8E4M3)}) {
    TensorEntry entry;
    entry.name = name;
    entry.dtype = dtype;
    entry.shape = {uint64_t(size)};
    header.tensors.push_back(entry);
  }
  write("vector.safetensors", formatHeader(header) + "1234567");
  Result<Checkpoint> read = Checkpoint::open(path("vector.safetensors"));
  ASSERT_TRUE(read) << textOf(read);
  CheckReport report = check(*read, CheckOptions());
  ASSERT_EQ(report.tensors.size(), 1u);
  EXPECT_EQ(report.tensors[0].placement, ScalePlacement::Unknown);
}

TEST_F(CheckpointFiles, AtomsAreOfBytes) {
  // As many scales as atoms of bytes would have, of 16 bits each.
  SafetensorsHeader header;
  TensorEntry words, scales;
  words.name = "a.weight_packed";
  words.dtype = DType::I32;
  words.shape = {16, 6};
  scales.name = "a.weight_scale";
  scales.dtype = DType::F16;
  scales.shape = {32, 4, 4};
  header.tensors = {words, scales};
  write("x.safetensors", formatHeader(header) + std::string(1408, '\1'));
  Result<Checkpoint> read = Checkpoint::open(path("x.safetensors"));
  ASSERT_TRUE(read) << textOf(read);
  std::vector<QuantizedTensor> tensors = recognize(*read);
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_EQ(tensors[0].placement, ScalePlacement::Unknown);
  EXPECT_EQ(ValueReader::whyNot(tensors[0]),
            "'a.weight': it is not known where the scales in 'a.weight_scale' "
            "lie; 'blockscale check' says more");
}

TEST_F(CheckpointFiles, GlobalScalesMultiplyOrDivide) {
  // 16 e2m1 elements, 1 and -3 in turn, under a block scale of 2 in e4m3. One
  // family of names multiplies by the global scale of 8, the other divides.
  for (auto [elements, global, factor] :
       {std::tuple("w.weight", "w.weight_scale_2", 8.0f),
        std::tuple("w.weight_packed", "w.weight_global_scale", 0.125f)}) {
    SafetensorsHeader header;
    for (auto [name, dtype, shape] :
         {std::tuple(elements, DType::U8, std::vector<uint64_t>{1, 8}),
          std::tuple("w.weight_scale", DType::F8E4M3,
                     std::vector<uint64_t>{1, 1}),
          std::tuple(global, DType::F32, std::vector<uint64_t>{1})}) {
      TensorEntry entry;
      entry.name = name;
      entry.dtype = dtype;
      entry.shape = shape;
      header.tensors.push_back(entry);
    }
    // The widest is written first: 8.0f is 0x41000000. 0x2 is 1, 0xD is -3;
    // 0x40 is 2.
    write("w.safetensors", formatHeader(header) + std::string("\0\0\0\x41", 4) +
                               std::string(8, '\xD2') + "\x40");
    Result<Checkpoint> read = Checkpoint::open(path("w.safetensors"));
    ASSERT_TRUE(read) << textOf(read);
    std::vector<QuantizedTensor> tensors = recognize(*read);
    ASSERT_EQ(tensors.size(), 1u) << global;
    ASSERT_EQ(ValueReader::whyNot(tensors[0]), "") << global;
    Result<ValueReader> reader = ValueReader::open(*read, tensors[0]);
    ASSERT_TRUE(reader) << textOf(reader);
    Region all;
    all.rows = 1;
    all.columns = 16;
    float values[16];
    ASSERT_EQ(reader->read(all, values), "");
    EXPECT_EQ(values[0], 2 * factor) << global;
    EXPECT_EQ(values[15], -6 * factor) << global;
  }
}

TEST(Declaration, OfEachProducer) {
  Result<Declaration> read = parseDeclaration(
      R"({"producer":{"name":"modelopt"},)"
      R"("quantization":{"quant_algo":"NVFP4","group_size":16}})");
  ASSERT_TRUE(read) << textOf(read);
  EXPECT_EQ(read->method, "modelopt");
  EXPECT_EQ(read->format, "NVFP4");
  EXPECT_EQ(read->groupSize, 16u);
  read = parseDeclaration(
      R"({"text_config":{"quantization_config":{"config_groups":{"group_0":)"
      R"({"weights":{"group_size":32}}},"format":"pack-quantized",)"
      R"("quant_method":"compressed-tensors"}}})");
  ASSERT_TRUE(read) << textOf(read);
  EXPECT_EQ(read->method, "compressed-tensors");
  EXPECT_EQ(read->format, "pack-quantized");
  EXPECT_EQ(read->groupSize, 32u);
  read = parseDeclaration(
      R"({"quantization_config":{"fmt":"e4m3","quant_method":"fp8",)"
      R"("scale_fmt":"ue8m0","weight_block_size":[128,64]}})");
  ASSERT_TRUE(read) << textOf(read);
  EXPECT_EQ(read->weightBlock, (std::array<uint64_t, 2>{128, 64}));
  EXPECT_EQ(read->scaleFormat, "ue8m0");
  EXPECT_EQ(textOf(parseDeclaration("[]")), "expected an object");
  // Of another type than expected: as if it were not there.
  EXPECT_TRUE(parseDeclaration(R"({"quantization_config":[1],"producer":2})"));
}

TEST(Findings, RulesAreInTheOrderOfTheirNames) {
  for (unsigned i = 0; i < kNumRules; ++i) {
    EXPECT_EQ(static_cast<unsigned>(kRules[i].rule), i);
    if (i) {
      EXPECT_LT(kRules[i - 1].name, kRules[i].name);
    }
  }
}

} // namespace
