//===- TileSums.cpp - check a kernel that adds up tiles -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/TileSums.h"
#include "Numbers.h"
#include "QuantizedMemory.h"
#include "WrittenBytes.h"

#include <cmath>
#include <cstring>

using namespace blockscale;
using namespace blockscale::verify;

namespace {
/// Every step returns what is wrong, or nothing.
class SumsMaker {
public:
  SumsMaker(const plan::Kernel &kernel, const plan::Environment &sizes,
            DataKind kind, uint64_t seed, bool isHarsh)
      : kernel(kernel), sizes(sizes), isExact(kind == DataKind::Exact),
        seed(seed), isHarsh(isHarsh) {}

  std::optional<Reason> fill();

  TileSumsRun run;

private:
  std::optional<Reason> readPlan();
  std::optional<Reason> drawElements();
  std::optional<Reason> addElements();
  std::optional<Reason> addScales();
  std::optional<Reason> addTensorScales();
  std::optional<Reason> addSums();
  float scaled(float sum, uint64_t matrix, uint64_t row, uint64_t k) const;
  void put(const std::string &role, const void *bytes, uint64_t size,
           uint64_t alignment) {
    putMemory(run.data, role, bytes, size, alignment, isHarsh);
  }

  const plan::Kernel &kernel;
  const plan::Environment &sizes;
  bool isExact;
  uint64_t seed;
  bool isHarsh;
  uint64_t batch = 1, rows = 0, k = 0, tile = 0, tiles = 1;
  /// Of each element, in the order of rows.
  std::vector<uint32_t> codes;
  std::vector<float> values;
  std::vector<float> scales, tensorScales;
};
} // namespace

std::optional<Reason> SumsMaker::readPlan() {
  if (kernel.data.size() != 1 || kernel.operands.size() != 1 ||
      kernel.vectorScales.size() > 1)
    return Reason("a kernel that adds up tiles has one 'data', one of "
                  "'operands' and at most one of 'vectorScales'");
  batch = uint64_t(sizes.at("batch"));
  rows = uint64_t(sizes.at("M"));
  k = uint64_t(sizes.at("K"));
  tile = kernel.conversion->group ? kernel.conversion->group : k;
  tiles = (k + tile - 1) / tile;
  return std::nullopt;
}

/// Exact data are multiples of 1/2 that are so small that no sum is rounded;
/// random ones numbers of sizes of which none is nothing beside the others.
std::optional<Reason> SumsMaker::drawElements() {
  constexpr float kSmall = 4, kLarge = 0x1p8f, kLeast = 0x1p-16f;
  constexpr unsigned kNarrow = 8;
  const std::string &format = kernel.data[0].format;
  codes.resize(batch * rows * k);
  std::optional<ElementFormat> known = parseFormat(format);
  if (!known && format != "tf32")
    return "elements of '" + format + "'";
  std::vector<uint32_t> drawn;
  for (uint32_t code = 0; known && code <= formatInfo(*known).codeMask();
       ++code) {
    float value = decode(*known, code);
    float magnitude = std::abs(value);
    bool isOfSize = formatInfo(*known).bits <= kNarrow
                        ? std::isfinite(value)
                        : magnitude <= kLarge && magnitude >= kLeast;
    bool isTaken =
        isExact ? magnitude <= kSmall && value * 2 == std::floor(value * 2)
                : isOfSize;
    if (isTaken)
      drawn.push_back(code);
  }
  for (uint64_t i = 0; i < codes.size(); ++i) {
    uint64_t random = mix(mix(seed) + i);
    if (known) {
      codes[i] = drawn[random % drawn.size()];
      values.push_back(decode(*known, codes[i]));
      continue;
    }
    // The low bits of a word do not count.
    constexpr uint32_t kIgnored = 0x1fff;
    float value = float(int64_t(random % 17) - 8) / 2;
    if (!isExact)
      value *= 1 + float(random >> 40 & 1023) / 1024;
    std::memcpy(&codes[i], &value, sizeof value);
    codes[i] &= ~kIgnored;
    std::memcpy(&value, &codes[i], sizeof value);
    values.push_back(value);
    codes[i] |= uint32_t(random >> 20) & kIgnored;
  }
  return std::nullopt;
}

std::optional<Reason> SumsMaker::addElements() {
  if (auto why = drawElements())
    return why;
  const plan::DataPacking &data = kernel.data[0];
  Result<uint64_t> line = evaluateSize(data.linePitch, sizes),
                   matrix = evaluateSize(data.batchPitch, sizes);
  if (!line || !matrix)
    return line ? matrix.why() : line.why();
  constexpr unsigned kByte = 8;
  if ((k * data.bits + kByte - 1) / kByte > *line || rows * *line > *matrix)
    return Reason("the plan has too little room for the elements");
  std::vector<uint8_t> memory(batch * *matrix);
  for (uint64_t i = 0; i < memory.size(); ++i)
    memory[i] = uint8_t(mix(seed ^ i) >> 8);
  for (uint64_t row = 0; row < batch * rows; ++row) {
    uint8_t *to = memory.data() + row / rows * *matrix + row % rows * *line;
    for (uint64_t i = 0; i < k; ++i)
      for (unsigned bit = 0; bit < data.bits; ++bit) {
        uint64_t place = i * data.bits + bit;
        uint8_t mask = uint8_t(1u << place % kByte);
        bool isSet = codes[row * k + i] >> bit & 1;
        to[place / kByte] =
            uint8_t((to[place / kByte] & ~mask) | (isSet ? mask : 0));
      }
  }
  put("a_data", memory.data(), memory.size(), data.alignment);
  return std::nullopt;
}

/// Those of neighbouring tiles differ.
std::optional<Reason> SumsMaker::addScales() {
  if (kernel.vectorScales.empty())
    return std::nullopt;
  const plan::VectorScales &vector = kernel.vectorScales[0];
  Result<uint64_t> count = evaluateSize(vector.elements, sizes),
                   ofMatrix = evaluateSize(vector.matrixElements, sizes);
  if (!count || !ofMatrix)
    return count ? ofMatrix.why() : count.why();
  uint64_t groups = vector.rows ? (rows + vector.rows - 1) / vector.rows : 1;
  uint64_t blocks = vector.block ? (k + vector.block - 1) / vector.block : 1;
  if (*ofMatrix != groups * blocks || *count != batch * *ofMatrix)
    return std::to_string(*count) + " scales; expected " +
           std::to_string(batch * groups * blocks);
  bool powersOfTwo = isExact || vector.format == "ue8m0";
  for (uint64_t i = 0; i < *count; ++i)
    scales.push_back(asType(
        vectorScale(/*isA=*/true, powersOfTwo, i / *ofMatrix, i % *ofMatrix),
        vector.format));
  std::optional<std::vector<uint8_t>> bytes = toBytes(scales, vector.format);
  if (!bytes)
    return "scales of type '" + vector.format + "'";
  put("a_scales", bytes->data(), bytes->size(), vector.alignment);
  return std::nullopt;
}

std::optional<Reason> SumsMaker::addTensorScales() {
  if (kernel.tensorScales.empty())
    return std::nullopt;
  for (uint64_t i = 0; i < batch; ++i)
    tensorScales.push_back(tensorScale(/*isA=*/true, isExact, i));
  put("a_tensor_scale", tensorScales.data(), batch * sizeof(float),
      kernel.tensorScales[0].alignment);
  return std::nullopt;
}

/// The sum of a piece that begins at element `at` of a row, with its scales.
float SumsMaker::scaled(float sum, uint64_t matrix, uint64_t row,
                        uint64_t at) const {
  if (!scales.empty()) {
    const plan::VectorScales &vector = kernel.vectorScales[0];
    uint64_t blocks = vector.block ? (k + vector.block - 1) / vector.block : 1;
    uint64_t group = vector.rows ? row / vector.rows : 0;
    uint64_t block = vector.block ? at / vector.block : 0;
    sum *= scales[matrix * (scales.size() / batch) + group * blocks + block];
  }
  return tensorScales.empty() ? sum : sum * tensorScales[matrix];
}

std::optional<Reason> SumsMaker::addSums() {
  uint64_t count = batch * tiles * rows;
  Result<uint64_t> planned = evaluateSize(kernel.operands[0].elements, sizes);
  if (!planned)
    return planned.why();
  if (*planned != count)
    return std::to_string(*planned) + " sums; expected " +
           std::to_string(count);
  put("d", nullptr, count * sizeof(float), kernel.operands[0].alignment);
  uint64_t lanes = reference::partialSums(kernel.conversion->group);
  WrittenBytes result("d", count * sizeof(float));
  for (uint64_t line = 0; line < batch * rows; ++line)
    for (uint64_t number = 0; number < tiles; ++number) {
      uint64_t matrix = line / rows, row = line % rows, first = number * tile;
      std::vector<float> own(values.begin() + int64_t(line * k + first),
                             values.begin() +
                                 int64_t(line * k + std::min(k, first + tile)));
      float sum = reference::tileSum(own, lanes, [&](float x, uint64_t at) {
        return scaled(x, matrix, row, first + at);
      });
      uint8_t bytes[sizeof sum];
      std::memcpy(bytes, &sum, sizeof sum);
      uint64_t place = (matrix * tiles + number) * rows + row;
      uint64_t cta =
          (line * tiles + number) * lanes / uint64_t(kernel.block[0]);
      for (uint64_t i = 0; i < sizeof sum; ++i)
        result.expect(place * sizeof sum + i, bytes[i], cta);
    }
  run.results.push_back(std::move(result));
  return std::nullopt;
}

std::optional<Reason> SumsMaker::fill() {
  std::optional<Reason> why = readPlan();
  if (!why)
    why = addElements();
  if (!why)
    why = addScales();
  if (!why)
    why = addTensorScales();
  return why ? why : addSums();
}

Result<TileSumsRun> TileSumsRun::make(const plan::Kernel &kernel,
                                      const plan::Environment &sizes,
                                      DataKind kind, uint64_t seed,
                                      Conditions conditions) {
  SumsMaker maker(kernel, sizes, kind, seed, conditions == Conditions::Harsh);
  if (auto why = maker.fill())
    return Reason("kernel '" + kernel.name + "': " + why->text);
  return std::move(maker.run);
}
