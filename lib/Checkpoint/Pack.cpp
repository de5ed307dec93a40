//===- Pack.cpp - from a model's files to what kernels read ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Checkpoint/Pack.h"
#include "Names.h"
#include "PackPlan.h"
#include "ScaleData.h"
#include "Shards.h"
#include "blockscale/Checkpoint/TensorWriter.h"
#include "blockscale/Checkpoint/Values.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/Packing/QuantizeTiles.h"
#include "blockscale/Packing/Sparse.h"
#include "blockscale/Packing/Storage.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <thread>

using namespace blockscale;
using namespace blockscale::checkpoint;

/// Bytes that are copied in one piece.
static constexpr uint64_t kCopyBytes = uint64_t(4) << 20;

namespace {
class Packer {
public:
  Packer(const Checkpoint &checkpoint, const PackOptions &options,
         const PackPlan &plan, TensorWriter &writer)
      : checkpoint(checkpoint), options(options),
        convention(conventionOf(options.family)), plan(plan), writer(writer) {}

  std::string run();

private:
  using Job = std::function<std::string(const Region &)>;

  std::string forEach(uint64_t count,
                      const std::function<std::string(uint64_t)> &job);
  std::string forEachRegion(const QuantizedTensor &tensor, const Job &job);
  std::string copy(const Tensor &input, size_t output, bool swapsNibbles);
  std::string convert(const ParameterPlan &parameter);
  std::string convertScales(const ParameterPlan &parameter,
                            const ValueReader &reader);
  std::string convertFp8Scales(const ParameterPlan &parameter);
  std::string writeMark(const ParameterPlan &parameter);
  std::string quantizeFp8Blocks(const ParameterPlan &parameter);
  std::string quantize(const ParameterPlan &parameter);
  std::string quantizeRegion(const ParameterPlan &parameter,
                             const ValueReader &reader,
                             const TensorScale &scale, const Region &region);
  std::string writeValues(const ParameterPlan &parameter);
  std::string readValues(const ParameterPlan &parameter,
                         const ValueReader &reader, const Region &region,
                         std::vector<float> &values) const;
  std::string writeRows(size_t output, uint64_t rowBytes, uint64_t matrixRows,
                        const Region &region, uint64_t firstByte,
                        const std::vector<uint8_t> &bytes);
  std::string writeBytes(size_t output, const hw::Layout &layout,
                         const QuantizedTensor &tensor, uint64_t perRow,
                         const Region &region, uint64_t first,
                         const std::vector<uint8_t> &plain);
  std::string writeNumber(size_t output, float value);
  void advance(uint64_t bytes);

  const Checkpoint &checkpoint;
  const PackOptions &options;
  const Convention &convention;
  const PackPlan &plan;
  TensorWriter &writer;
  std::mutex progressLock;
  uint64_t done = 0, total = 0;
};
} // namespace

void Packer::advance(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(progressLock);
  done += bytes;
  if (options.progress)
    options.progress(std::min(done, total), total);
}

/// Runs the jobs on all threads; the first error ends it.
std::string Packer::forEach(uint64_t count,
                            const std::function<std::string(uint64_t)> &job) {
  std::atomic<uint64_t> next{0};
  std::mutex lock;
  std::string error;
  auto work = [&] {
    for (uint64_t i; (i = next++) < count;) {
      bool stops = options.stop && *options.stop;
      std::string why;
      try {
        why = stops ? "interrupted" : job(i);
      } catch (const std::bad_alloc &) {
        why = "out of memory";
      }
      if (why.empty())
        continue;
      std::lock_guard<std::mutex> guard(lock);
      if (error.empty())
        error = why;
      next = count;
    }
  };
  uint64_t threads =
      options.threads ? options.threads : std::thread::hardware_concurrency();
  std::vector<std::thread> others;
  for (uint64_t i = 1; i < std::min(threads, count); ++i)
    others.emplace_back(work);
  work();
  for (std::thread &thread : others)
    thread.join();
  return error;
}

std::string Packer::forEachRegion(const QuantizedTensor &tensor,
                                  const Job &job) {
  std::vector<Region> regions = regionsOf(tensor);
  return forEach(regions.size(), [&](uint64_t i) { return job(regions[i]); });
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Rows of a region from their byte `firstByte` on.
std::string Packer::writeRows(size_t output, uint64_t rowBytes,
                              uint64_t matrixRows, const Region &region,
                              uint64_t firstByte,
                              const std::vector<uint8_t> &bytes) {
  uint64_t width = bytes.size() / region.rows;
  uint64_t line = region.batch * matrixRows + region.firstRow;
  if (width == rowBytes)
    return writer.write(output, line * rowBytes, bytes.data(), bytes.size());
  for (uint64_t row = 0; row < region.rows; ++row)
    if (std::string error =
            writer.write(output, (line + row) * rowBytes + firstByte,
                         &bytes[row * width], width);
        !error.empty())
      return error;
  return "";
}

/// Scales or metadata of a region, `perRow` bytes in a row of the tensor and
/// those from `first` on in `plain`. What neighbours in the layout is written
/// at once.
std::string Packer::writeBytes(size_t output, const hw::Layout &layout,
                               const QuantizedTensor &tensor, uint64_t perRow,
                               const Region &region, uint64_t first,
                               const std::vector<uint8_t> &plain) {
  if (!plan.isTiled)
    return writeRows(output, perRow, tensor.rows(), region, first, plain);
  uint64_t width = plain.size() / region.rows;
  uint64_t tileRows = layout.multipleOf(hw::Dim::Row);
  uint64_t tileBytes = layout.multipleOf(hw::Dim::Block);
  // Atoms that follow each other along K are neighbours; tiles are not.
  bool isAlongK = layout.begin()->source == hw::Dim::Row;
  uint64_t step = isAlongK ? width : tileBytes;
  uint8_t padding = isAlongK ? 0 : hw::kEmptyMetadataByte;
  hw::StorageLayout<uint64_t> storage = hw::storageLayout(
      layout, {{hw::Dim::Row, tensor.rows()}, {hw::Dim::Block, perRow}});
  std::vector<uint8_t> part, stored;
  for (uint64_t row = 0; row < region.rows; row += tileRows)
    for (uint64_t byte = 0; byte < width; byte += step) {
      packing::ByteMatrices matrix{1, std::min(tileRows, region.rows - row),
                                   std::min(step, width - byte)};
      part.resize(matrix.rows * matrix.blocks);
      for (uint64_t i = 0; i < matrix.rows; ++i)
        std::copy_n(&plain[(row + i) * width + byte], matrix.blocks,
                    &part[i * matrix.blocks]);
      stored.assign(packing::storageBytes(layout, matrix), padding);
      packing::toStorage(layout, matrix, part.data(), stored.data());
      uint64_t offset = storage.offset({{hw::Dim::Batch, region.batch},
                                        {hw::Dim::Row, region.firstRow + row},
                                        {hw::Dim::Block, first + byte}});
      if (std::string error =
              writer.write(output, offset, stored.data(), stored.size());
          !error.empty())
        return error;
    }
  return "";
}

std::string Packer::writeNumber(size_t output, float value) {
  return writer.write(output, 0, &value, sizeof(value));
}

static void swapNibbles(std::vector<uint8_t> &bytes) {
  for (uint8_t &byte : bytes)
    byte = static_cast<uint8_t>(byte << 4 | byte >> 4);
}

/// Bytes as they are, or with the halves of each exchanged.
std::string Packer::copy(const Tensor &input, size_t output,
                         bool swapsNibbles) {
  return forEach(hw::ceilDiv(input.bytes, kCopyBytes), [&](uint64_t i) {
    uint64_t offset = i * kCopyBytes;
    std::vector<uint8_t> bytes(std::min(kCopyBytes, input.bytes - offset));
    std::string error =
        checkpoint.read(input, offset, bytes.data(), bytes.size());
    if (!error.empty())
      return error;
    if (swapsNibbles)
      swapNibbles(bytes);
    advance(bytes.size());
    return writer.write(output, offset, bytes.data(), bytes.size());
  });
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Whether two elements of a byte change places.
static bool swapsNibbles(const ParameterPlan &parameter, const PackPlan &plan) {
  bool isFp4 = parameter.format.element == ElementFormat::E2M1;
  return isFp4 && parameter.input->highNibbleFirst != plan.highNibbleFirst;
}

/// Block scales of one byte in the layout that is written.
std::string Packer::convertScales(const ParameterPlan &parameter,
                                  const ValueReader &reader) {
  const QuantizedTensor &tensor = *parameter.input;
  uint64_t perRow = tensor.scaleColumns();
  return forEachRegion(tensor, [&](const Region &region) {
    std::vector<uint8_t> scales;
    std::string why = reader.readScaleBytes(region, scales);
    if (!why.empty())
      return why;
    return writeBytes(*parameter.scales, hw::kTiledScales, tensor, perRow,
                      region, region.firstColumn / tensor.blockColumns, scales);
  });
}

/// Scales of FP8 in blocks: the same numbers, as exponents or as numbers.
std::string Packer::convertFp8Scales(const ParameterPlan &parameter) {
  const QuantizedTensor &tensor = *parameter.input;
  bool toExponents = plan.outputs[*parameter.scales].dtype == DType::F8E8M0;
  bool fromExponents = tensor.scaleFormat == ElementFormat::UE8M0;
  if (toExponents == fromExponents)
    return copy(*tensor.scales, *parameter.scales, /*swapsNibbles=*/false);
  std::vector<float> numbers;
  if (std::string error =
          readNumbers(checkpoint, *tensor.scales, tensor.scaleFormat, numbers);
      !error.empty())
    return error;
  if (fromExponents)
    return writer.write(*parameter.scales, 0, numbers.data(),
                        numbers.size() * sizeof(float));
  std::vector<uint8_t> exponents(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    exponents[i] = uint8_t(encode(ElementFormat::UE8M0, numbers[i]));
    if (decode(ElementFormat::UE8M0, exponents[i]) != numbers[i])
      return "'" + tensor.name + "' has a scale " + std::to_string(numbers[i]) +
             ", and those of " + std::string(familyName(convention.family)) +
             " are powers of two; quantise it anew with --to=" +
             std::string(kFp8BlocksUe8m0Name);
  }
  return writer.write(*parameter.scales, 0, exponents.data(), exponents.size());
}

std::string Packer::writeMark(const ParameterPlan &parameter) {
  if (!parameter.mark)
    return "";
  return writer.write(*parameter.mark, 0, kComfyMark.data(), kComfyMark.size());
}

/// The same values under other names and in other layouts.
std::string Packer::convert(const ParameterPlan &parameter) {
  const QuantizedTensor &tensor = *parameter.input;
  std::string error = copy(*tensor.elements, *parameter.elements,
                           swapsNibbles(parameter, plan));
  if (!error.empty())
    return error;
  if (parameter.isFp8Blocks)
    return convertFp8Scales(parameter);
  Result<ValueReader> reader = ValueReader::open(checkpoint, tensor);
  if (!reader)
    return reader.why().text;
  error = convertScales(parameter, *reader);
  if (!error.empty())
    return error;
  // A divisor that stays one keeps its bits.
  auto convertGlobal = [&](size_t output, const Tensor &input, GlobalUse use) {
    Result<double> value = readNumber(checkpoint, input);
    if (!value)
      return value.why().text;
    auto number = static_cast<float>(*value);
    bool isDivisor = use == GlobalUse::Divisor;
    return writeNumber(output,
                       isDivisor == convention.divides ? number : 1 / number);
  };
  if (parameter.globalScale)
    error = convertGlobal(*parameter.globalScale, *tensor.globalScale,
                          tensor.globalUse);
  if (error.empty() && parameter.inputScale)
    error = convertGlobal(*parameter.inputScale, *tensor.inputScale,
                          tensor.inputUse);
  return error.empty() ? writeMark(parameter) : error;
}

/// Reads a region and sets to zero what pruning drops.
std::string Packer::readValues(const ParameterPlan &parameter,
                               const ValueReader &reader, const Region &region,
                               std::vector<float> &values) const {
  values.resize(region.rows * region.columns);
  std::string error = reader.read(region, values.data());
  if (!error.empty() || !options.prune)
    return error;
  hw::SparsePatternInfo info = hw::patternInfo(*options.prune);
  std::vector<bool> kept =
      packing::keptElements({info.stored, info.chunk, info.unit == 2}, values);
  for (size_t i = 0; i < values.size(); ++i)
    if (!kept[i])
      values[i] = 0;
  return "";
}

/// Values in `values` that the pattern keeps, and the metadata that say which.
static void compress(hw::SparsePattern pattern, std::vector<float> &values,
                     std::vector<uint8_t> &metadata) {
  hw::SparsePatternInfo info = hw::patternInfo(pattern);
  std::vector<bool> kept =
      packing::keptElements({info.stored, info.chunk, info.unit == 2}, values);
  metadata.assign(values.size() / info.chunk / 2, 0);
  size_t stored = 0;
  for (size_t chunk = 0; chunk < values.size() / info.chunk; ++chunk) {
    unsigned units[2] = {}, count = 0;
    for (unsigned unit = 0; unit < info.chunk / info.unit; ++unit) {
      size_t at = chunk * info.chunk + unit * info.unit;
      if (!kept[at])
        continue;
      units[count++] = unit;
      // Stored elements never lie behind those that they come from.
      for (unsigned i = 0; i < info.unit; ++i)
        values[stored++] = values[at + i];
    }
    unsigned nibble = *hw::metadataNibble(pattern, units[0], units[1]);
    metadata[chunk / 2] |= uint8_t(nibble << (chunk % 2 * 4));
  }
  values.resize(stored);
}

std::string Packer::quantizeRegion(const ParameterPlan &parameter,
                                   const ValueReader &reader,
                                   const TensorScale &scale,
                                   const Region &region) {
  const QuantizedTensor &tensor = *parameter.input;
  const packing::BlockFormat &format = parameter.format;
  std::vector<float> values;
  std::string error = readValues(parameter, reader, region, values);
  if (!error.empty())
    return error;
  uint64_t share = 1;
  if (parameter.metadata) {
    std::vector<uint8_t> metadata;
    compress(*options.prune, values, metadata);
    unsigned perByte = hw::elementsPerMetadataByte(*options.prune);
    error = writeBytes(*parameter.metadata, hw::kTiledMetadata, tensor,
                       tensor.columns() / perByte, region,
                       region.firstColumn / perByte, metadata);
    if (!error.empty())
      return error;
    hw::SparsePatternInfo info = hw::patternInfo(*options.prune);
    share = info.chunk / info.stored;
  }
  uint64_t columns = tensor.columns() / share;
  uint64_t width = region.columns / share;
  uint64_t first = region.firstColumn / share;
  std::vector<uint8_t> elements(region.rows *
                                packing::packedRowBytes(format, width));
  std::vector<uint8_t> scales(region.rows *
                              packing::scalesPerRow(format, width));
  packing::quantizeRows(format, scale, values.data(), region.rows, width,
                        elements.data(), scales.data());
  if (plan.highNibbleFirst && format.element == ElementFormat::E2M1)
    swapNibbles(elements);
  error = writeRows(*parameter.elements,
                    packing::packedRowBytes(format, columns), tensor.rows(),
                    region, packing::packedRowBytes(format, first), elements);
  if (!error.empty())
    return error;
  advance(values.size() * share * sizeof(float));
  return writeBytes(*parameter.scales, hw::kTiledScales, tensor,
                    packing::scalesPerRow(format, columns), region,
                    first / format.block, scales);
}

std::string Packer::quantize(const ParameterPlan &parameter) {
  const QuantizedTensor &tensor = *parameter.input;
  Result<ValueReader> reader = ValueReader::open(checkpoint, tensor);
  if (!reader)
    return reader.why().text;
  TensorScale scale;
  std::string error;
  if (parameter.format.hasTensorScale()) {
    std::mutex lock;
    float largest = 0;
    error = forEachRegion(tensor, [&](const Region &region) {
      std::vector<float> values(region.rows * region.columns);
      std::string why = reader->read(region, values.data());
      float found = packing::largestMagnitude(values.data(), values.size());
      std::lock_guard<std::mutex> guard(lock);
      // NaN stays.
      if (!(found <= largest))
        largest = found;
      return why;
    });
    scale = nvfp4TensorScale(largest);
    if (error.empty())
      error = writeNumber(*parameter.globalScale,
                          convention.divides ? scale.encode : scale.decode);
  }
  if (error.empty())
    error = writeMark(parameter);
  if (!error.empty())
    return error;
  return forEachRegion(tensor, [&](const Region &region) {
    return quantizeRegion(parameter, *reader, scale, region);
  });
}

std::string Packer::quantizeFp8Blocks(const ParameterPlan &parameter) {
  const QuantizedTensor &tensor = *parameter.input;
  Result<ValueReader> reader = ValueReader::open(checkpoint, tensor);
  if (!reader)
    return reader.why().text;
  bool isExponents = plan.outputs[*parameter.scales].dtype == DType::F8E8M0;
  return forEachRegion(tensor, [&](const Region &region) {
    std::vector<float> values;
    std::string error = readValues(parameter, *reader, region, values);
    if (!error.empty())
      return error;
    std::vector<uint8_t> elements(values.size());
    uint64_t down = hw::ceilDiv(region.rows, packing::kFp8Tile);
    uint64_t across = hw::ceilDiv(region.columns, packing::kFp8Tile);
    std::vector<float> scales(down * across);
    packing::quantizeTiles(options.powersOfTwo, values.data(), region.rows,
                           region.columns, elements.data(), scales.data());
    error = writeRows(*parameter.elements, tensor.columns(), tensor.rows(),
                      region, region.firstColumn, elements);
    if (!error.empty())
      return error;
    uint64_t width = isExponents ? 1 : sizeof(float);
    std::vector<uint8_t> bytes(scales.size() * width);
    for (size_t i = 0; i < scales.size(); ++i)
      if (isExponents)
        bytes[i] = uint8_t(encode(ElementFormat::UE8M0, scales[i]));
      else
        std::memcpy(&bytes[i * width], &scales[i], width);
    advance(values.size() * sizeof(float));
    Region ofScales{region.batch, region.firstRow / packing::kFp8Tile, down, 0,
                    0};
    return writeRows(*parameter.scales,
                     hw::ceilDiv(tensor.columns(), packing::kFp8Tile) * width,
                     hw::ceilDiv(tensor.rows(), packing::kFp8Tile), ofScales,
                     region.firstColumn / packing::kFp8Tile * width, bytes);
  });
}

/// The values as numbers.
std::string Packer::writeValues(const ParameterPlan &parameter) {
  const QuantizedTensor &tensor = *parameter.input;
  Result<ValueReader> reader = ValueReader::open(checkpoint, tensor);
  if (!reader)
    return reader.why().text;
  uint64_t width = parameter.to == PackTo::F32 ? 4 : 2;
  return forEachRegion(tensor, [&](const Region &region) {
    std::vector<float> values;
    std::string error = readValues(parameter, *reader, region, values);
    if (!error.empty())
      return error;
    std::vector<uint8_t> bytes(values.size() * width);
    for (size_t i = 0; i < values.size(); ++i)
      if (width == 4) {
        std::memcpy(&bytes[4 * i], &values[i], 4);
      } else {
        uint32_t code = encode(ElementFormat::BF16, values[i],
                               Rounding::NearestEven, Saturation::None);
        bytes[2 * i] = uint8_t(code);
        bytes[2 * i + 1] = uint8_t(code >> 8);
      }
    advance(values.size() * sizeof(float));
    return writeRows(*parameter.elements, tensor.columns() * width,
                     tensor.rows(), region, region.firstColumn * width, bytes);
  });
}

std::string Packer::run() {
  for (const ParameterPlan &parameter : plan.parameters) {
    const QuantizedTensor &tensor = *parameter.input;
    total +=
        parameter.to == PackTo::Same
            ? tensor.elements->bytes
            : tensor.batch() * tensor.rows() * tensor.columns() * sizeof(float);
  }
  for (const CopyPlan &each : plan.copies)
    total += each.input->bytes;
  std::string error;
  for (const ParameterPlan &parameter : plan.parameters) {
    if (parameter.to == PackTo::Same)
      error = convert(parameter);
    else if (parameter.to == PackTo::Blocks)
      error = quantize(parameter);
    else if (parameter.to == PackTo::Fp8Blocks)
      error = quantizeFp8Blocks(parameter);
    else
      error = writeValues(parameter);
    if (!error.empty())
      return error;
  }
  for (const CopyPlan &each : plan.copies)
    if (error = copy(*each.input, each.output, false); !error.empty())
      return error;
  return "";
}

Result<std::vector<PackedTensor>> checkpoint::pack(const Checkpoint &checkpoint,
                                                   const std::string &path,
                                                   const PackOptions &options) {
  std::vector<QuantizedTensor> parameters = recognize(checkpoint);
  Result<PackPlan> whole =
      planPack(checkpoint, parameters, options, isNumpyPath(path));
  if (!whole)
    return whole.why();
  Result<ShardedFiles> files = shardFiles(*whole, path, options);
  if (!files)
    return files.why();
  if (auto why = whyMistaken(path, *files))
    return *why;
  PackPlan plan = *std::move(whole);
  if (options.shard) {
    restrictTo(plan, files->shardOf, *options.shard);
    files->paths = {files->paths[*options.shard]};
    files->shardOf.assign(plan.outputs.size(), 0);
  }
  Result<std::unique_ptr<TensorWriter>> writer = TensorWriter::create(
      path, plan.outputs, plan.metadata, options.checksums, *files);
  if (!writer)
    return writer.why();
  TensorWriter &out = **writer;
  std::string error = Packer(checkpoint, options, plan, out).run();
  if (error.empty() && options.stop && *options.stop)
    error = "interrupted";
  if (error.empty())
    error = out.finish();
  if (!error.empty())
    return Reason(error);
  std::vector<PackedTensor> packed;
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const TensorEntry &entry = plan.outputs[i];
    packed.push_back({entry.name, entry.dtype, entry.shape, {}});
    if (options.checksums)
      packed.back().checksum = out.checksum(i);
  }
  return packed;
}
