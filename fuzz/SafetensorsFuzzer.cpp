//===- SafetensorsFuzzer.cpp - hostile checkpoints ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads whatever comes as a checkpoint, checks and describes it, reads its
// values and packs a parameter of it. Half of the inputs get names, types and
// shapes that belong together, so that the conventions are reached and not the
// parser alone.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Checkpoint/Check.h"
#include "blockscale/Checkpoint/PackWords.h"
#include "blockscale/Checkpoint/Values.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <random>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::checkpoint;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

static SafetensorsHeader freshHeader(std::minstd_rand &random) {
  static const char *kSuffixes[] = {".weight",
                                    ".weight_packed",
                                    ".weight_scale",
                                    ".weight_scale_2",
                                    ".input_scale",
                                    ".weight_global_scale",
                                    ".weight_scale_inv",
                                    ".scale",
                                    ".weight_shape",
                                    "._weight_qdata",
                                    "._weight_scale",
                                    "._weight_per_tensor_scale",
                                    "_blocks",
                                    "_scales",
                                    ".comfy_quant",
                                    ".input_global_scale",
                                    ".weight_zero_point",
                                    ".weight_g_idx",
                                    ".blocks",
                                    ".scales"};
  static const uint64_t kSizes[] = {0, 1, 2, 3, 4, 6, 8, 16, 32, 48};
  static const char *kLayers[] = {"a.gate_proj", "a.up_proj", "b"};
  SafetensorsHeader header;
  uint64_t bytes = 0;
  for (const char *layer : kLayers)
    for (const char *suffix : kSuffixes) {
      TensorEntry entry;
      entry.name = std::string(layer) + suffix;
      entry.dtype = static_cast<DType>(random() % kNumDTypes);
      if (dtypeBits(entry.dtype) % 8)
        entry.dtype = DType::U8;
      for (unsigned rank = random() % 5; rank > 0; --rank)
        entry.shape.push_back(kSizes[random() % std::size(kSizes)]);
      bytes += entry.elementCount() * 8;
      if (random() % 3 == 0 && bytes < 8000)
        header.tensors.push_back(entry);
    }
  if (random() % 2)
    header.metadata.push_back({"b.weight", R"({"_type":"NVFP4Tensor","_data":)"
                                           R"({"is_swizzled_scales":true}})"});
  return header;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  if (size > 16 && random() % 4)
    return LLVMFuzzerMutate(data, size, maxSize);
  SafetensorsHeader header = freshHeader(random);
  std::string file = formatHeader(header);
  uint64_t dataBytes = 0;
  for (const TensorEntry &entry : header.tensors)
    dataBytes += entry.bytes;
  for (uint64_t i = 0; i < dataBytes; ++i)
    file += static_cast<char>(random() % 3 ? random() : 0);
  size = std::min(file.size(), maxSize);
  std::copy_n(file.data(), size, data);
  return size;
}

namespace {
/// A folder under TMPDIR for as long as the process lives. One that is killed
/// or finds something leaves it behind, for scripts/fuzz.sh to remove.
struct ScratchFolder {
  std::string path =
      std::filesystem::temp_directory_path() / "safetensors-fuzzer-XXXXXX";

  ScratchFolder() {
    if (!::mkdtemp(path.data()))
      std::abort();
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};
} // namespace

static std::string scratch(const char *name) {
  static const ScratchFolder folder;
  return folder.path + "/" + name;
}

/// A file of the input, which is written anew each time.
static std::string fileOf(const uint8_t *data, size_t size) {
  static const std::string path = scratch("in.safetensors");
  std::FILE *file = std::fopen(path.c_str(), "wb");
  if (!file || std::fwrite(data, 1, size, file) != size)
    std::abort();
  std::fclose(file);
  return path;
}

static void readAll(const Checkpoint &checkpoint,
                    const QuantizedTensor &tensor) {
  if (!ValueReader::whyNot(tensor).empty())
    return;
  Result<ValueReader> reader = ValueReader::open(checkpoint, tensor);
  if (!reader)
    return;
  for (const Region &region : regionsOf(tensor)) {
    std::vector<float> values(region.rows * region.columns);
    (void)reader->read(region, values.data());
    std::vector<uint8_t> codes(values.size());
    if (tensor.isQuantized())
      (void)reader->readCodes(region, codes.data());
  }
}

static const char *const kTargets[] = {
    "",      "",           "f32",   "bf16",       "nvfp4",
    "mxfp8", "mxfp6-e2m3", "mxfp4", "fp8-blocks", "fp8-blocks-ue8m0"};

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string path = fileOf(data, size);
  Result<Checkpoint> read = Checkpoint::open(path);
  if (!read)
    return 0;
  std::vector<QuantizedTensor> parameters = recognize(*read);
  // What can be read as numbers is, and so are the codes.
  for (const QuantizedTensor &tensor : parameters)
    readAll(*read, tensor);
  PackWords words;
  words.to = kTargets[size % std::size(kTargets)];
  const std::vector<PackWord> &families = packFamilies();
  words.names = families[data[size - 1] % families.size()].word;
  Result<PackOptions> options = parsePackWords(words);
  if (!options)
    std::abort();
  options->threads = 1;
  if (!parameters.empty())
    options->tensors.assign(1, parameters.back().name);
  std::string output = scratch("out.safetensors");
  (void)pack(*read, output, *options);
  (void)planShards(*read, output, *options);
  if (describeJson(*read, parameters).empty())
    std::abort();
  CheckReport report = check(*read, CheckOptions());
  if (printReport(report).empty() || printReportJson(report).empty())
    std::abort();
  return 0;
}
