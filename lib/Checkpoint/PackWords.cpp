//===- PackWords.cpp - options of packing in words ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Checkpoint/PackWords.h"
#include "blockscale/Formats/Text.h"

#include <array>
#include <cmath>

using namespace blockscale;
using namespace blockscale::checkpoint;

namespace {
template <typename T> struct Meaning {
  PackWord word;
  T value;
};
} // namespace

static constexpr std::array<Meaning<Family>, 8> kFamilies{{
    {{"modelopt", "global scale is a factor (default)"}, Family::ModelOpt},
    {{"compressed-tensors", "global scale is a divisor"},
     Family::CompressedTensors},
    {{"torchao", "global scale is a factor"}, Family::Torchao},
    {{"gpt-oss", "MXFP4 as NAME_blocks and NAME_scales"}, Family::GptOss},
    {{"gpt-oss-original", "the same as NAME.blocks and NAME.scales"},
     Family::GptOssOriginal},
    {{"deepseek", "FP8 in blocks with weight_scale_inv, which multiplies"},
     Family::DeepSeek},
    {{"deepseek-v4", "FP8 in blocks and MXFP4 with exponents in 'scale'"},
     Family::DeepSeekV4},
    {{"comfyui",
      "NVFP4 with scales in atoms, first element in the high nibble"},
     Family::ComfyUI},
}};

static constexpr std::array<Meaning<ScaleRule>, 7> kScaleRules{{
    {{"round-up", "never saturates (default)"}, ScaleRule::RoundUp},
    {{"floor", "the sample algorithm of OCP MX 1.0"}, ScaleRule::Floor},
    {{"floor-plus-one", "of AWS quantize_mx"}, ScaleRule::FloorPlusOne},
    {{"ceil", "next power of two of the largest value"}, ScaleRule::Ceil},
    {{"mid-max", "between floor and round-up"}, ScaleRule::MidMax},
    {{"rounded-max", "between floor and round-up"}, ScaleRule::RoundedMax},
    {{"top-binade", "between floor and round-up"}, ScaleRule::TopBinade},
}};

template <typename Table>
static std::vector<PackWord> wordsOf(const Table &table) {
  std::vector<PackWord> words;
  for (const auto &each : table)
    words.push_back(each.word);
  return words;
}

const std::vector<PackWord> &checkpoint::packFamilies() {
  static const std::vector<PackWord> words = wordsOf(kFamilies);
  return words;
}
const std::vector<PackWord> &checkpoint::packRules() {
  static const std::vector<PackWord> words = wordsOf(kScaleRules);
  return words;
}

std::string checkpoint::packFormatNames() {
  return packing::blockFormatNames() + ", '" + std::string(kFp8BlocksName) +
         "', '" + std::string(kFp8BlocksUe8m0Name) + "', 'f32' and 'bf16'";
}

/// Looks a word up; `value` stays as it is for an empty one.
template <typename T, size_t count>
static std::optional<Reason>
readWord(const std::array<Meaning<T>, count> &table, const std::string &option,
         const std::string &word, T &value) {
  if (word.empty())
    return std::nullopt;
  std::string known;
  for (const Meaning<T> &each : table) {
    if (each.word.word == word) {
      value = each.value;
      return std::nullopt;
    }
    known += (known.empty() ? "'" : ", '") + std::string(each.word.word) + "'";
  }
  return Reason("--" + option + " is '" + word + "', legal are " + known);
}

Result<uint64_t> checkpoint::parseByteCount(std::string_view text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  static constexpr Unit kUnits[] = {
      {"", 1},         {"B", 1},       {"KB", 1e3},     {"MB", 1e6},
      {"GB", 1e9},     {"TB", 1e12},   {"KiB", 0x1p10}, {"MiB", 0x1p20},
      {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  size_t end = text.find_first_not_of("0123456789.");
  std::string_view number = text.substr(0, end);
  std::string_view unit =
      end == std::string_view::npos ? std::string_view() : text.substr(end);
  while (!unit.empty() && unit.front() == ' ')
    unit.remove_prefix(1);
  std::optional<double> value = parseNumber(std::string(number));
  constexpr double kMost = 0x1p60;
  for (const Unit &each : kUnits) {
    if (each.name != unit || !value)
      continue;
    double bytes = std::floor(*value * each.bytes);
    if (bytes >= 1 && bytes <= kMost)
      return static_cast<uint64_t>(bytes);
  }
  return Reason("'" + std::string(text) +
                "' is no number of bytes from 1 to 2^60, such as '5GB' or "
                "'512MiB'");
}

static std::optional<Reason> readFormat(const PackWords &words,
                                        PackOptions &options) {
  if (words.to.empty())
    return std::nullopt;
  if (words.to == "f32" || words.to == "bf16") {
    options.to = words.to == "f32" ? PackTo::F32 : PackTo::BF16;
  } else if (words.to == kFp8BlocksName || words.to == kFp8BlocksUe8m0Name) {
    options.to = PackTo::Fp8Blocks;
    options.powersOfTwo = words.to == kFp8BlocksUe8m0Name;
  } else {
    auto format = packing::parseBlockFormat(words.to);
    if (!format)
      return Reason("unknown format '" + words.to + "', legal are " +
                    packFormatNames());
    options.to = PackTo::Blocks;
    options.format = *format;
  }
  return std::nullopt;
}

static std::optional<Reason> readSparsity(const PackWords &words,
                                          PackOptions &options) {
  options.compress = words.compress;
  if (words.prune.empty())
    return options.compress ? std::optional(Reason("--compress needs --prune"))
                            : std::nullopt;
  if (words.prune == "2:4")
    options.prune = hw::SparsePattern::TwoOfFour;
  else if (words.prune == "4:8")
    options.prune = hw::SparsePattern::PairsFourOfEight;
  else
    return Reason("unknown pattern '" + words.prune +
                  "', legal are '2:4' and '4:8'");
  if (options.to == PackTo::Same)
    return Reason("--prune needs --to: values change");
  if (!options.compress)
    return std::nullopt;
  if (options.to != PackTo::Blocks)
    return Reason("--compress needs a block-scaled format in --to");
  bool isFp4 = options.format.element == ElementFormat::E2M1;
  bool isPairs = options.prune == hw::SparsePattern::PairsFourOfEight;
  if (isPairs && !isFp4)
    return Reason("4:8 in pairs is the pattern of e2m1 alone; legal is '2:4'");
  if (!isPairs && options.format.hasTensorScale())
    return Reason(
        "no instruction multiplies NVFP4 compressed to 2:4; legal is '4:8'");
  return std::nullopt;
}

Result<PackOptions> checkpoint::parsePackWords(const PackWords &words) {
  PackOptions options;
  if (auto why = readFormat(words, options))
    return *why;
  if (auto why = readWord(kFamilies, "names", words.names, options.family))
    return *why;
  if (auto why = readWord(kScaleRules, "rule", words.rule, options.format.rule))
    return *why;
  bool hasRule =
      options.to == PackTo::Blocks && !options.format.hasTensorScale();
  if (!words.rule.empty() && !hasRule)
    return Reason(
        "--rule is of the MX formats, whose scales are powers of two");
  if (!words.scales.empty() && words.scales != "rows" &&
      words.scales != "tiled")
    return Reason("--scales is '" + words.scales +
                  "', legal are 'rows' and 'tiled'");
  options.tiled = words.scales == "tiled";
  if (options.tiled && options.to == PackTo::Fp8Blocks)
    return Reason("scales of FP8 in blocks are numbers of 128 rows, which no "
                  "atoms hold; legal is --scales=rows");
  if (words.scales == "rows" && options.family == Family::ComfyUI)
    return Reason("ComfyUI has scales in atoms; legal is --scales=tiled");
  if (!words.shardSize.empty()) {
    Result<uint64_t> bytes = parseByteCount(words.shardSize);
    if (!bytes)
      return Reason("--shard-size: " + bytes.why().text);
    options.shardBytes = *bytes;
  }
  if (auto why = readSparsity(words, options))
    return *why;
  return options;
}
