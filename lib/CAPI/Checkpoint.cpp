//===- Checkpoint.cpp - quantised models in files -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Checkpoint.h"
#include "Handles.h"
#include "blockscale/Checkpoint/Check.h"
#include "blockscale/Checkpoint/PackWords.h"
#include "blockscale/Checkpoint/Values.h"
#include "blockscale/HW/ScaleLayout.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

using namespace blockscale;
using namespace blockscale::capi;
using nlohmann::ordered_json;

namespace {
struct Model : Object {
  static constexpr const char *kKind = "checkpoint";
  explicit Model(checkpoint::Checkpoint opened)
      : files(std::move(opened)), parameters(checkpoint::recognize(files)) {}

  checkpoint::Checkpoint files;
  /// Sorted by name; they point into `files`.
  std::vector<checkpoint::QuantizedTensor> parameters;

  const checkpoint::QuantizedTensor &find(std::string_view name) const {
    auto found = std::lower_bound(
        parameters.begin(), parameters.end(), name,
        [](const checkpoint::QuantizedTensor &tensor, std::string_view key) {
          return tensor.name < key;
        });
    if (found == parameters.end() || found->name != name)
      fail(BLOCKSCALE_REFUSED,
           "there is no parameter '" + std::string(name) + "'");
    return *found;
  }
};
} // namespace

BlockscaleStatus blockscaleCheckpointOpen(BlockscaleSlice path,
                                          BlockscaleCheckpoint *checkpoint) {
  return guarded([&] {
    requirePointer(checkpoint, "checkpoint");
    Result<checkpoint::Checkpoint> opened =
        checkpoint::Checkpoint::open(std::string(textOf(path, "path")));
    if (!opened)
      fail(BLOCKSCALE_REFUSED, opened.why().text);
    *checkpoint = {addObject(std::make_shared<Model>(*std::move(opened)))};
  });
}

BlockscaleStatus blockscaleCheckpointDestroy(BlockscaleCheckpoint checkpoint) {
  return guarded([&] { destroy<Model>(checkpoint.id); });
}

BlockscaleStatus blockscaleCheckpointDescribe(BlockscaleCheckpoint checkpoint,
                                              BlockscaleBytes *json) {
  return guarded([&] {
    requirePointer(json, "json");
    auto model = get<Model>(checkpoint.id);
    *json =
        makeBytes(checkpoint::describeJson(model->files, model->parameters));
  });
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

static BlockscaleCheckOptions defaultCheck() {
  return {sizeof(BlockscaleCheckOptions), /*readScales=*/true, 0, UINT64_MAX};
}

BlockscaleStatus blockscaleCheckOptionsInit(BlockscaleCheckOptions *options,
                                            size_t structSize) {
  return guarded([&] { initOptions(options, structSize, defaultCheck()); });
}

BlockscaleStatus
blockscaleCheckpointCheck(BlockscaleCheckpoint checkpoint,
                          const BlockscaleCheckOptions *options, bool *passed,
                          BlockscaleBytes *text, BlockscaleBytes *json) {
  return guarded([&] {
    requirePointer(passed, "passed");
    requirePointer(text, "text");
    requirePointer(json, "json");
    auto model = get<Model>(checkpoint.id);
    BlockscaleCheckOptions given = optionsOf(options, defaultCheck());
    checkpoint::CheckOptions asked;
    asked.readScales = given.readScales;
    asked.first = given.first;
    asked.count = given.count;
    checkpoint::CheckReport report = checkpoint::check(model->files, asked);
    *passed = report.count(checkpoint::Grade::Error) == 0;
    *text = makeBytes(checkpoint::printReport(report));
    *json = makeBytes(checkpoint::printReportJson(report));
  });
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The rows that are asked for, as a region. Its elements are `count`.
static checkpoint::Region regionOf(const checkpoint::QuantizedTensor &tensor,
                                   const BlockscaleRows *rows, size_t count,
                                   size_t width, const char *what) {
  requirePointer(rows, "rows");
  if (std::string why = checkpoint::ValueReader::whyNot(tensor); !why.empty())
    fail(BLOCKSCALE_REFUSED, why);
  bool isInside = rows->batch < tensor.batch() &&
                  rows->first <= tensor.rows() &&
                  rows->count <= tensor.rows() - rows->first;
  if (!isInside && rows->count)
    fail(BLOCKSCALE_INVALID_ARGUMENT,
         "rows " + std::to_string(rows->first) + " and " +
             std::to_string(rows->count) + " on of matrix " +
             std::to_string(rows->batch) + " are not in " +
             checkpoint::printShape(tensor.shape));
  if (count > SIZE_MAX / width)
    fail(BLOCKSCALE_INVALID_ARGUMENT, "there cannot be that many numbers");
  // The whole tensor is in a file, so that this cannot overflow.
  requireSize(count * width, rows->count * tensor.columns() * width, what);
  return {rows->batch, rows->first, rows->count, 0, tensor.columns()};
}

/// Reads pieces of `region` that begin where scales allow it.
static std::string readValues(const checkpoint::ValueReader &reader,
                              const checkpoint::QuantizedTensor &tensor,
                              const checkpoint::Region &region, float *values) {
  uint64_t columns = region.columns;
  uint64_t height =
      std::max<uint64_t>(hw::kAtomRows, (uint64_t(1) << 20) / columns /
                                            hw::kAtomRows * hw::kAtomRows);
  uint64_t begin = region.firstRow / hw::kAtomRows * hw::kAtomRows;
  uint64_t end = region.firstRow + region.rows;
  std::vector<float> part;
  for (uint64_t row = begin; row < end; row += height) {
    uint64_t rows = std::min(height, std::min(end, tensor.rows()) - row);
    part.resize(rows * columns);
    std::string error =
        reader.read({region.batch, row, rows, 0, columns}, part.data());
    if (!error.empty())
      return error;
    uint64_t skipped = row < region.firstRow ? region.firstRow - row : 0;
    std::copy(part.begin() + ptrdiff_t(skipped * columns), part.end(),
              values + (row + skipped - region.firstRow) * columns);
  }
  return "";
}

BlockscaleStatus blockscaleCheckpointReadValues(BlockscaleCheckpoint checkpoint,
                                                BlockscaleSlice parameter,
                                                const BlockscaleRows *rows,
                                                float *values, size_t count) {
  return guarded([&] {
    auto model = get<Model>(checkpoint.id);
    const checkpoint::QuantizedTensor &tensor =
        model->find(textOf(parameter, "parameter"));
    checkpoint::Region region =
        regionOf(tensor, rows, count, sizeof(float), "values");
    Result<checkpoint::ValueReader> reader =
        checkpoint::ValueReader::open(model->files, tensor);
    if (!reader)
      fail(BLOCKSCALE_REFUSED, reader.why().text);
    if (count == 0)
      return;
    requirePointer(values, "values");
    if (std::string error = readValues(*reader, tensor, region, values);
        !error.empty())
      fail(BLOCKSCALE_REFUSED, error);
  });
}

BlockscaleStatus blockscaleCheckpointReadCodes(BlockscaleCheckpoint checkpoint,
                                               BlockscaleSlice parameter,
                                               const BlockscaleRows *rows,
                                               void *codes, size_t size) {
  return guarded([&] {
    auto model = get<Model>(checkpoint.id);
    const checkpoint::QuantizedTensor &tensor =
        model->find(textOf(parameter, "parameter"));
    if (!tensor.isQuantized())
      fail(BLOCKSCALE_REFUSED, "'" + tensor.name + "' is not quantised");
    checkpoint::Region region = regionOf(tensor, rows, size, 1, "codes");
    Result<checkpoint::ValueReader> reader =
        checkpoint::ValueReader::open(model->files, tensor);
    if (!reader)
      fail(BLOCKSCALE_REFUSED, reader.why().text);
    if (size == 0)
      return;
    requirePointer(codes, "codes");
    std::string error =
        reader->readCodes(region, static_cast<uint8_t *>(codes));
    if (!error.empty())
      fail(BLOCKSCALE_REFUSED, error);
  });
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

static BlockscalePackOptions defaultPack() {
  BlockscalePackOptions options{};
  options.structSize = sizeof(options);
  options.shard = -1;
  return options;
}

BlockscaleStatus blockscalePackOptionsInit(BlockscalePackOptions *options,
                                           size_t structSize) {
  return guarded([&] { initOptions(options, structSize, defaultPack()); });
}

static checkpoint::PackOptions readOptions(const BlockscalePackOptions &given) {
  checkpoint::PackWords words;
  words.to = textOf(given.to);
  words.names = textOf(given.names);
  words.rule = textOf(given.rule);
  words.scales = textOf(given.scales);
  words.prune = textOf(given.prune);
  words.shardSize = textOf(given.shardSize);
  words.compress = given.compress;
  Result<checkpoint::PackOptions> options = checkpoint::parsePackWords(words);
  if (!options)
    fail(BLOCKSCALE_REFUSED, options.why().text);
  options->checksums = given.checksums;
  options->threads = given.threads;
  if (given.tensorCount)
    requirePointer(given.tensors, "tensors");
  for (size_t i = 0; i < given.tensorCount; ++i) {
    requirePointer(given.tensors[i], "tensors[i]");
    options->tensors.push_back(given.tensors[i]);
  }
  if (given.shard < -1)
    fail(BLOCKSCALE_INVALID_ARGUMENT, "'shard' is " +
                                          std::to_string(given.shard) +
                                          "; legal is -1, and 0 and above");
  if (given.shard >= 0)
    options->shard = uint64_t(given.shard);
  return *std::move(options);
}

static ordered_json toJson(const std::vector<checkpoint::PackedTensor> &list) {
  ordered_json tensors = ordered_json::array();
  for (const checkpoint::PackedTensor &tensor : list) {
    tensors.push_back({{"name", tensor.name},
                       {"dtype", checkpoint::dtypeName(tensor.dtype)},
                       {"shape", tensor.shape}});
    if (tensor.checksum)
      tensors.back()["crc32"] = *tensor.checksum;
  }
  return tensors;
}

static BlockscaleBytes makeJson(const ordered_json &value) {
  return makeBytes(
      value.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

BlockscaleStatus blockscaleCheckpointPack(BlockscaleCheckpoint checkpoint,
                                          BlockscaleSlice path,
                                          const BlockscalePackOptions *options,
                                          BlockscaleBytes *json) {
  return guarded([&] {
    requirePointer(json, "json");
    auto model = get<Model>(checkpoint.id);
    BlockscalePackOptions given = optionsOf(options, defaultPack());
    checkpoint::PackOptions asked = readOptions(given);
    std::atomic<bool> stops{false};
    asked.stop = &stops;
    if (given.progress)
      asked.progress = [&](uint64_t done, uint64_t total) {
        if (!given.progress(done, total, given.userData))
          stops = true;
      };
    auto packed = checkpoint::pack(model->files,
                                   std::string(textOf(path, "path")), asked);
    if (!packed)
      fail(BLOCKSCALE_REFUSED, packed.why().text);
    *json = makeJson(toJson(*packed));
  });
}

BlockscaleStatus blockscaleCheckpointPlanShards(
    BlockscaleCheckpoint checkpoint, BlockscaleSlice path,
    const BlockscalePackOptions *options, BlockscaleBytes *json) {
  return guarded([&] {
    requirePointer(json, "json");
    auto model = get<Model>(checkpoint.id);
    auto shards =
        checkpoint::planShards(model->files, std::string(textOf(path, "path")),
                               readOptions(optionsOf(options, defaultPack())));
    if (!shards)
      fail(BLOCKSCALE_REFUSED, shards.why().text);
    ordered_json list = ordered_json::array();
    for (const checkpoint::PackedShard &shard : *shards)
      list.push_back({{"path", shard.path},
                      {"bytes", shard.bytes},
                      {"tensors", toJson(shard.tensors)}});
    *json = makeJson(list);
  });
}

BlockscaleStatus
blockscaleCheckpointFinishShards(BlockscaleCheckpoint checkpoint,
                                 BlockscaleSlice path,
                                 const BlockscalePackOptions *options) {
  return guarded([&] {
    auto model = get<Model>(checkpoint.id);
    auto why = checkpoint::finishShards(
        model->files, std::string(textOf(path, "path")),
        readOptions(optionsOf(options, defaultPack())));
    if (why)
      fail(BLOCKSCALE_REFUSED, why->text);
  });
}
