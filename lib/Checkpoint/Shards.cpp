//===- Shards.cpp - which file a tensor goes to ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shards.h"
#include "Names.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

using namespace blockscale;
using namespace blockscale::checkpoint;
namespace fs = std::filesystem;

/// What five digits of a name can count.
static constexpr size_t kMaxShards = 99999;

/// "model-00001-of-00003.safetensors"
static std::string shardPath(const std::string &path, size_t shard,
                             size_t count) {
  char numbers[32];
  std::snprintf(numbers, sizeof(numbers), "-%05zu-of-%05zu", shard + 1, count);
  return path.substr(0, path.size() - kSafetensorsEnd.size()) + numbers +
         std::string(kSafetensorsEnd);
}

Result<ShardedFiles> checkpoint::shardFiles(const PackPlan &plan,
                                            const std::string &path,
                                            const PackOptions &options) {
  ShardedFiles files{{path}, {}, ""};
  files.shardOf.assign(plan.outputs.size(), 0);
  if (options.shardBytes == 0)
    return options.shard ? Result<ShardedFiles>(Reason(
                               "a single shard needs the size of shards"))
                         : files;
  if (!endsWith(path, kSafetensorsEnd))
    return Reason("'" + path + "' must end in '" +
                  std::string(kSafetensorsEnd) + "' to be split into shards");
  uint64_t inShard = 0;
  size_t shard = 0;
  for (size_t i = 0; i < plan.starts.size(); ++i) {
    size_t begin = plan.starts[i];
    size_t end =
        i + 1 < plan.starts.size() ? plan.starts[i + 1] : plan.outputs.size();
    uint64_t bytes = 0;
    for (size_t output = begin; output < end; ++output)
      bytes += plan.outputs[output].byteCount();
    bool isFull =
        inShard > 0 &&
        bytes > options.shardBytes - std::min(inShard, options.shardBytes);
    if (isFull) {
      ++shard;
      inShard = 0;
    }
    inShard += bytes;
    std::fill(files.shardOf.begin() + ptrdiff_t(begin),
              files.shardOf.begin() + ptrdiff_t(end), shard);
  }
  size_t count = shard + 1;
  if (options.shard && *options.shard >= count)
    return Reason("there is no shard " + std::to_string(*options.shard) +
                  ", counted from 0: there are " + std::to_string(count));
  if (count > kMaxShards)
    return Reason("shards of " + std::to_string(options.shardBytes) +
                  " bytes are " + std::to_string(count) +
                  " files; legal are at most " + std::to_string(kMaxShards));
  if (count == 1)
    return files;
  files.paths.clear();
  for (size_t i = 0; i < count; ++i)
    files.paths.push_back(shardPath(path, i, count));
  files.indexPath = path + std::string(kIndexEnd);
  files.writesIndex = !options.shard;
  return files;
}

std::optional<Reason> checkpoint::whyMistaken(const std::string &path,
                                              const ShardedFiles &files) {
  bool isSharded = files.paths.size() > 1;
  std::string other = isSharded ? path : path + std::string(kIndexEnd);
  std::error_code code;
  if (!fs::exists(other, code))
    return std::nullopt;
  return Reason("'" + other + "' is there, which loaders would take in place " +
                "of what is to be written; remove it first");
}

void checkpoint::restrictTo(PackPlan &plan, const std::vector<size_t> &shardOf,
                            size_t shard) {
  std::vector<std::optional<size_t>> places(plan.outputs.size());
  std::vector<TensorEntry> outputs;
  for (size_t i = 0; i < plan.outputs.size(); ++i)
    if (shardOf[i] == shard) {
      places[i] = outputs.size();
      outputs.push_back(std::move(plan.outputs[i]));
    }
  plan.outputs = std::move(outputs);
  auto move = [&](std::optional<size_t> &output) {
    if (output)
      output = places[*output];
  };
  std::vector<ParameterPlan> parameters;
  for (ParameterPlan each : plan.parameters) {
    for (auto output : {&ParameterPlan::elements, &ParameterPlan::scales,
                        &ParameterPlan::globalScale, &ParameterPlan::inputScale,
                        &ParameterPlan::metadata, &ParameterPlan::mark})
      move(each.*output);
    if (each.elements)
      parameters.push_back(each);
  }
  plan.parameters = std::move(parameters);
  std::vector<CopyPlan> copies;
  for (const CopyPlan &each : plan.copies)
    if (places[each.output])
      copies.push_back({each.input, *places[each.output]});
  plan.copies = std::move(copies);
}

//===----------------------------------------------------------------------===//
// Shards that are written one by one
//===----------------------------------------------------------------------===//

namespace {
struct Sharding {
  PackPlan plan;
  ShardedFiles files;
};
} // namespace

static Result<Sharding>
shardingOf(const Checkpoint &checkpoint,
           const std::vector<QuantizedTensor> &parameters,
           const std::string &path, PackOptions options) {
  options.shard.reset();
  Result<PackPlan> plan =
      planPack(checkpoint, parameters, options, isNumpyPath(path));
  if (!plan)
    return plan.why();
  Result<ShardedFiles> files = shardFiles(*plan, path, options);
  if (!files)
    return files.why();
  return Sharding{*std::move(plan), *std::move(files)};
}

Result<std::vector<PackedShard>>
checkpoint::planShards(const Checkpoint &checkpoint, const std::string &path,
                       const PackOptions &options) {
  std::vector<QuantizedTensor> parameters = recognize(checkpoint);
  Result<Sharding> sharding = shardingOf(checkpoint, parameters, path, options);
  if (!sharding)
    return sharding.why();
  std::vector<PackedShard> shards;
  for (const std::string &each : sharding->files.paths)
    shards.push_back({each, 0, {}});
  for (size_t i = 0; i < sharding->plan.outputs.size(); ++i) {
    const TensorEntry &entry = sharding->plan.outputs[i];
    PackedShard &shard = shards[sharding->files.shardOf[i]];
    shard.bytes += entry.byteCount();
    shard.tensors.push_back({entry.name, entry.dtype, entry.shape, {}});
  }
  return shards;
}

/// Why a file is not the shard that it should be.
static std::optional<Reason>
whyNotShard(const std::string &path,
            std::map<std::string_view, const TensorEntry *> expected) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.why();
  Result<SafetensorsHeader> header = readHeader(*file);
  if (!header)
    return header.why();
  for (const TensorEntry &entry : header->tensors) {
    auto found = expected.find(entry.name);
    bool isSame = found != expected.end() &&
                  found->second->dtype == entry.dtype &&
                  found->second->shape == entry.shape;
    if (!isSame)
      return Reason("'" + path + "' has a tensor '" + entry.name +
                    "' that this shard does not have");
    expected.erase(found);
  }
  if (expected.empty())
    return std::nullopt;
  return Reason("'" + path + "' lacks tensor '" +
                std::string(expected.begin()->first) + "'");
}

std::optional<Reason> checkpoint::finishShards(const Checkpoint &checkpoint,
                                               const std::string &path,
                                               const PackOptions &options) {
  std::vector<QuantizedTensor> parameters = recognize(checkpoint);
  Result<Sharding> sharding = shardingOf(checkpoint, parameters, path, options);
  if (!sharding)
    return sharding.why();
  const ShardedFiles &files = sharding->files;
  if (auto why = whyMistaken(path, files))
    return why;
  std::vector<std::map<std::string_view, const TensorEntry *>> expected(
      files.paths.size());
  for (size_t i = 0; i < sharding->plan.outputs.size(); ++i) {
    const TensorEntry &entry = sharding->plan.outputs[i];
    expected[files.shardOf[i]][entry.name] = &entry;
  }
  for (size_t i = 0; i < files.paths.size(); ++i)
    if (auto why = whyNotShard(files.paths[i], expected[i]))
      return why;
  if (files.indexPath.empty())
    return std::nullopt;
  return writeIndex(sharding->plan.outputs, files);
}
