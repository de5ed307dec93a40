//===- Checkpoint.cpp - the tensors of a model's files --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Checkpoint/Checkpoint.h"
#include "Json.h"
#include "Names.h"
#include "blockscale/Formats/Text.h"
#include "blockscale/Packing/Npy.h"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <map>
#include <set>

using namespace blockscale;
using namespace blockscale::checkpoint;
namespace fs = std::filesystem;

/// Bytes that an index or a configuration may take.
static constexpr uint64_t kMaxJsonBytes = uint64_t(256) << 20;

static Result<std::string> readText(const std::string &path) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.why();
  if (file->size() > kMaxJsonBytes)
    return Reason("'" + path + "' has " + std::to_string(file->size()) +
                  " bytes; at most " + std::to_string(kMaxJsonBytes) +
                  " are read");
  std::string text(file->size(), '\0');
  if (std::string error = file->read(0, text.data(), text.size());
      !error.empty())
    return Reason(error);
  return text;
}

std::string Checkpoint::addFile(const std::string &path) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.why().text;
  Result<SafetensorsHeader> header = readHeader(*file);
  if (!header)
    return header.why().text;
  for (const TensorEntry &entry : header->tensors)
    all.push_back({entry, opened.size()});
  for (const auto &each : header->metadata)
    if (metadataPlace.try_emplace(each.first, merged.size()).second)
      merged.push_back(each);
  opened.push_back(*std::move(file));
  return "";
}

/// The type of an array's numbers. What numpy has no name for is raw bytes to
/// it, and bfloat16 if there are two.
static std::optional<DType> numbersOf(const packing::NpyHeader &header) {
  switch (header.type) {
  case packing::NpyType::F16:
    return DType::F16;
  case packing::NpyType::F32:
    return DType::F32;
  case packing::NpyType::F64:
    return DType::F64;
  case packing::NpyType::U16:
    return header.descr.find('V') != std::string::npos ? DType::BF16
                                                       : DType::U16;
  case packing::NpyType::U8:
    return DType::U8;
  case packing::NpyType::I8:
    return DType::I8;
  case packing::NpyType::I16:
    return DType::I16;
  case packing::NpyType::U32:
    return DType::U32;
  case packing::NpyType::I32:
    return DType::I32;
  case packing::NpyType::U64:
    return DType::U64;
  case packing::NpyType::I64:
    return DType::I64;
  }
  return std::nullopt;
}

std::string Checkpoint::addArray(const std::string &path) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.why().text;
  std::vector<uint8_t> start(
      std::min(file->size(), packing::kMaxNpyHeaderBytes));
  if (std::string error = file->read(0, start.data(), start.size());
      !error.empty())
    return error;
  Result<packing::NpyHeader> header =
      packing::parseNpyHeader(start.data(), start.size(), file->size());
  if (!header)
    return "'" + path + "': " + header.why().text;
  Tensor tensor;
  tensor.name = fs::path(path).stem().string();
  tensor.dtype = numbersOf(*header).value_or(DType::U8);
  tensor.shape = header->shape;
  tensor.offset = header->offset;
  tensor.bytes = header->bytes;
  all.push_back(std::move(tensor));
  opened.push_back(*std::move(file));
  return "";
}

/// "model-00001-of-00002.safetensors" to the tensors it is said to hold.
using WeightMap = std::map<std::string, std::vector<std::string>>;

static Result<WeightMap> readIndex(const std::string &path) {
  auto failed = [&](const std::string &why) {
    return Reason("'" + path + "': " + why);
  };
  Result<std::string> text = readText(path);
  if (!text)
    return text.why();
  Result<nlohmann::json> index = parseJson(*text);
  if (!index)
    return failed(index.why().text);
  if (!index->is_object() || !index->contains("weight_map") ||
      !(*index)["weight_map"].is_object())
    return failed("no object 'weight_map'");
  WeightMap map;
  for (const auto &entry : (*index)["weight_map"].items()) {
    if (!entry.value().is_string())
      return failed("the file of tensor '" + entry.key() + "' is no text");
    auto file = entry.value().get<std::string>();
    // An index speaks of its neighbours and of nothing else on this machine.
    if (file.empty() || file == ".." || file == "." ||
        file.find('/') != std::string::npos ||
        file.find('\0') != std::string::npos)
      return failed("'" + file + "' is no file beside the index");
    map[file].push_back(entry.key());
  }
  return map;
}

std::string Checkpoint::addIndex(const std::string &path) {
  Result<WeightMap> map = readIndex(path);
  if (!map)
    return map.why().text;
  for (const auto &shard : *map) {
    size_t before = all.size();
    std::string file = (fs::path(path).parent_path() / shard.first).string();
    if (std::string error = addFile(file); !error.empty())
      return error;
    std::vector<std::string> found;
    for (size_t i = before; i < all.size(); ++i)
      found.push_back(all[i].name);
    std::vector<std::string> said = shard.second;
    std::sort(found.begin(), found.end());
    std::sort(said.begin(), said.end());
    for (const std::string &name : said)
      if (!std::binary_search(found.begin(), found.end(), name))
        return "'" + path + "' says that tensor '" + name + "' is in '" +
               shard.first + "', which does not have it";
    for (const std::string &name : found)
      if (!std::binary_search(said.begin(), said.end(), name))
        return "'" + shard.first + "' has a tensor '" + name + "' that '" +
               path + "' does not place there";
  }
  return "";
}

namespace {
/// "model-00002-of-00003.safetensors"
struct ShardName {
  std::string stem;
  uint64_t number, count;
};
} // namespace

static std::optional<ShardName> parseShardName(const std::string &path) {
  std::string name = fs::path(path).filename().string();
  constexpr std::string_view kOf = "-of-";
  if (!endsWith(name, kSafetensorsEnd))
    return std::nullopt;
  name.resize(name.size() - kSafetensorsEnd.size());
  size_t of = name.rfind(kOf);
  size_t dash = of == std::string::npos || of == 0 ? std::string::npos
                                                   : name.rfind('-', of - 1);
  if (dash == std::string::npos)
    return std::nullopt;
  auto number = parseInteger<uint64_t>(
      std::string_view(name).substr(dash + 1, of - dash - 1));
  auto count =
      parseInteger<uint64_t>(std::string_view(name).substr(of + kOf.size()));
  if (!number || !count || *number < 1 || *number > *count)
    return std::nullopt;
  return ShardName{name.substr(0, dash), *number, *count};
}

/// Why files of a folder without an index are not all that there should be.
std::string Checkpoint::whyTorn(const std::vector<std::string> &files) const {
  std::map<std::pair<std::string, uint64_t>, std::set<uint64_t>> found;
  for (const std::string &file : files)
    if (auto name = parseShardName(file))
      found[{name->stem, name->count}].insert(name->number);
  for (const auto &[shards, numbers] : found)
    if (numbers.size() != shards.second)
      return "there are " + std::to_string(numbers.size()) + " of the " +
             std::to_string(shards.second) + " files '" + shards.first +
             "-*.safetensors' of a model, and no index";
  return "";
}

std::string Checkpoint::addDirectory(const std::string &path) {
  std::error_code code;
  std::vector<std::string> indices, files;
  for (fs::directory_iterator entry(path, code), end; !code && entry != end;
       entry.increment(code)) {
    std::string name = entry->path().string();
    if (endsWith(name, ".safetensors.index.json"))
      indices.push_back(name);
    else if (endsWith(name, kSafetensorsEnd))
      files.push_back(name);
  }
  if (code)
    return "cannot read '" + path + "': " + code.message();
  if (indices.size() > 1)
    return "'" + path + "' has several indices, '" + indices[0] + "' and '" +
           indices[1] + "'; name one of them";
  if (!indices.empty())
    return addIndex(indices[0]);
  if (files.empty())
    return "'" + path + "' has no .safetensors file";
  if (std::string why = whyTorn(files); !why.empty())
    return "'" + path + "': " + why;
  std::sort(files.begin(), files.end());
  for (const std::string &file : files)
    if (std::string error = addFile(file); !error.empty())
      return error;
  return "";
}

std::string Checkpoint::sortTensors() {
  std::sort(all.begin(), all.end(),
            [](const Tensor &x, const Tensor &y) { return x.name < y.name; });
  auto twice = std::adjacent_find(
      all.begin(), all.end(),
      [](const Tensor &x, const Tensor &y) { return x.name == y.name; });
  if (twice == all.end())
    return "";
  return "tensor '" + twice->name + "' is in '" + opened[twice->file].path() +
         "' and in '" + opened[(twice + 1)->file].path() + "'";
}

/// Takes what `declared` does not say yet.
static void merge(Declaration &declared, const Declaration &other) {
  for (auto text : {&Declaration::method, &Declaration::format,
                    &Declaration::scaleFormat, &Declaration::expertType})
    if ((declared.*text).empty())
      declared.*text = other.*text;
  if (!declared.groupSize)
    declared.groupSize = other.groupSize;
  if (!declared.weightBlock)
    declared.weightBlock = other.weightBlock;
  declared.swapsNibbles |= other.swapsNibbles;
}

std::string Checkpoint::readDeclarations(const std::string &directory) {
  for (const char *name : {"config.json", "hf_quant_config.json"}) {
    std::string path = (fs::path(directory) / name).string();
    std::error_code code;
    if (!fs::exists(path, code))
      continue;
    Result<std::string> text = readText(path);
    if (!text)
      return text.why().text;
    Result<Declaration> read = parseDeclaration(*text);
    if (!read)
      return "'" + path + "': " + read.why().text;
    merge(declared, *read);
  }
  return "";
}

Result<Checkpoint> Checkpoint::open(const std::string &path) {
  Checkpoint checkpoint;
  std::error_code code;
  bool isDirectory = fs::is_directory(path, code);
  std::string error;
  if (isDirectory)
    error = checkpoint.addDirectory(path);
  else if (isNumpyPath(path))
    error = checkpoint.addArray(path);
  else if (endsWith(path, ".json"))
    error = checkpoint.addIndex(path);
  else
    error = checkpoint.addFile(path);
  if (!isDirectory)
    if (auto name = parseShardName(path))
      checkpoint.shards = name->count;
  if (error.empty())
    error = checkpoint.sortTensors();
  if (error.empty())
    error = checkpoint.readDeclarations(
        isDirectory ? path : fs::path(path).parent_path().string());
  if (!error.empty())
    return Reason(error);
  return checkpoint;
}

const Tensor *Checkpoint::find(std::string_view name) const {
  auto found = std::lower_bound(all.begin(), all.end(), name,
                                [](const Tensor &tensor, std::string_view key) {
                                  return tensor.name < key;
                                });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

std::string_view Checkpoint::findMetadata(std::string_view key) const {
  auto found = metadataPlace.find(std::string(key));
  return found == metadataPlace.end() ? std::string_view()
                                      : merged[found->second].second;
}

std::string Checkpoint::read(const Tensor &tensor, uint64_t offset, void *to,
                             uint64_t count) const {
  assert(offset <= tensor.bytes && count <= tensor.bytes - offset &&
         "a piece of the tensor");
  return opened[tensor.file].read(tensor.offset + offset, to, count);
}
