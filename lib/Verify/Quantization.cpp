//===- Quantization.cpp - check a kernel that quantises -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Quantization.h"
#include "QuantizedMemory.h"
#include "blockscale/Formats/Text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace blockscale;
using namespace blockscale::verify;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

/// Number `i` of a block: one of the special kinds that every 16th block has,
/// or an ordinary one, in which number `alone`, if there is one, has an
/// exponent above the others'.
static float valueOf(uint64_t block, uint64_t i, uint64_t alone, DataKind kind,
                     uint64_t seed, int smallest, int largest,
                     float largestElement) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  uint64_t random = mix(mix(seed + block) + i);
  float sign = random & 1 ? -1.0f : 1.0f;
  auto ordinary = [&](int exponent) {
    double significand = kind == DataKind::Exact
                             ? double(random >> 8 & 0xff) / 64
                             : double(random >> 8 & 0xffffff) / 0x1p22;
    return sign * float(std::ldexp(significand, exponent));
  };
  auto range = uint64_t(largest - smallest - 2);
  int exponent = kind == DataKind::Exact
                     ? int(block % 13) - 6
                     : smallest + int(mix(block + seed) % range);
  switch (block % 16) {
  case 1:
    return 0;
  case 3:
    return -0.0f;
  case 5:
    return i == block % 7 ? kNaN : ordinary(exponent);
  case 7:
    return random >> 40 & 1 ? sign * kInfinity : ordinary(exponent);
  case 9:
    // A NaN beside an infinity is a NaN.
    return i == 2 ? kInfinity : i == 9 ? kNaN : ordinary(exponent);
  case 11:
    // Numbers that only subnormals hold.
    return ordinary(smallest - int(random >> 40 & 7));
  case 13:
    // The largest element times a power of two is the largest number.
    return i == 0 ? largestElement * 2 : ordinary(1);
  default:
    return ordinary(i == alone ? exponent + 1 : exponent);
  }
}

namespace blockscale::verify {
/// Every step returns what is wrong, or nothing.
class QuantizationMaker {
public:
  QuantizationMaker(const plan::Kernel &kernel, const plan::Environment &sizes,
                    DataKind kind, uint64_t seed, Conditions conditions)
      : kernel(kernel), sizes(sizes), kind(kind), seed(seed),
        isHarsh(conditions == Conditions::Harsh) {}

  Result<QuantizationRun> make();

private:
  std::optional<Reason> readPlan();
  std::optional<Reason> addInput();
  std::optional<Reason> addMemory();
  void addTensorScales();
  /// Memory of a parameter, with what lies before it.
  void put(const std::string &role, const void *bytes, uint64_t size,
           uint64_t alignment);

  const plan::Kernel &kernel;
  const plan::Environment &sizes;
  DataKind kind;
  uint64_t seed;
  bool isHarsh;
  QuantizationRun run;
};
} // namespace blockscale::verify

void QuantizationMaker::put(const std::string &role, const void *bytes,
                            uint64_t size, uint64_t alignment) {
  uint64_t before = isHarsh ? alignment : 0;
  std::vector<uint8_t> &memory = run.data.memory[role];
  memory.assign(before + size, kGuardByte);
  if (before)
    run.data.offsets[role] = before;
  if (bytes)
    std::memcpy(memory.data() + before, bytes, size);
  else
    std::fill(memory.begin() + int64_t(before), memory.end(), kBeforeQuantized);
}

std::optional<Reason> QuantizationMaker::readPlan() {
  const plan::Quantization &planned = *kernel.quantization;
  if (kernel.data.size() != 1 || kernel.scales.size() != 1 ||
      kernel.operands.empty())
    return Reason("a kernel that quantises has one 'data', one 'scales' and "
                  "'operands'");
  std::optional<ElementFormat> element = parseFormat(kernel.data[0].format),
                               scale = parseFormat(kernel.scales[0].format);
  if (!element || !scale)
    return "'" + kernel.data[0].format + "' with scales '" +
           kernel.scales[0].format + "'";
  if (kernel.scales[0].layout != "tiled_128x4")
    return "scales in layout '" + kernel.scales[0].layout + "'";
  run.quantization = {*element, *scale, planned.rule, planned.rounding, 0};
  if (!planned.seed.empty()) {
    std::optional<uint64_t> number = parseInteger<uint64_t>(planned.seed);
    if (!number)
      return "the seed '" + planned.seed + "' is no number";
    run.quantization.seed = *number;
  }
  run.batch = uint64_t(sizes.at("batch"));
  run.rows = uint64_t(sizes.at("M"));
  run.k = uint64_t(sizes.at("K"));
  run.block = kernel.scales[0].block;
  run.rowTile = kernel.scales[0].rows;
  run.threads = uint64_t(kernel.block[0]);
  if (run.rowTile == 0 || run.rowTile > 32)
    return "scales of " + std::to_string(run.rowTile) + " rows";
  if (run.block == 0 || run.k % run.block != 0)
    return "K = " + std::to_string(run.k) + " in blocks of " +
           std::to_string(run.block);
  Result<uint64_t> line = evaluateSize(kernel.data[0].linePitch, sizes),
                   matrix = evaluateSize(kernel.data[0].batchPitch, sizes);
  if (!line || !matrix)
    return line ? matrix.why() : line.why();
  run.linePitch = *line;
  run.batchPitch = *matrix;
  return reference::whyNot(run.quantization);
}

std::optional<Reason> QuantizationMaker::addInput() {
  const std::string &type = kernel.operands[0].type;
  bool isWide = type == "f32";
  std::optional<ElementFormat> format = parseFormat(type);
  if (!isWide && format != ElementFormat::BF16 && format != ElementFormat::F16)
    return "numbers of type '" + type + "'";
  bool isHalf = format == ElementFormat::F16;
  int smallest = isHalf ? -14 : -126, largest = isHalf ? 15 : 127;
  float element = formatInfo(run.quantization.element).largest;
  uint64_t count = run.batch * run.rows * run.k;
  std::vector<uint16_t> stored(isWide ? 0 : count);
  run.values.resize(count);
  for (uint64_t i = 0; i < count; ++i) {
    float &value = run.values[i];
    auto [tile, inTile] = run.placeInTile(i);
    value = valueOf(tile, inTile, run.aloneIn(tile), kind, seed, smallest,
                    largest, element);
    if (isWide)
      continue;
    // Infinities stay what they are.
    stored[i] = uint16_t(
        encode(*format, value, Rounding::NearestEven,
               std::isinf(value) ? Saturation::None : Saturation::Finite));
    value = decode(*format, stored[i]);
  }
  const void *bytes =
      isWide ? static_cast<const void *>(run.values.data()) : stored.data();
  put(kernel.operands[0].operand, bytes, count * (isWide ? 4 : 2),
      kernel.operands[0].alignment);
  return std::nullopt;
}

/// One of each matrix; a sign does not count. Of four the third has an inverse
/// beyond all f32, and the fourth products with scales that are.
void QuantizationMaker::addTensorScales() {
  constexpr float kTiny = 1e-39f, kHuge = 1e37f;
  if (kernel.operands.size() < 2)
    return;
  for (uint64_t i = 0; i < run.batch; ++i) {
    float ordinary =
        std::ldexp(1.0f + float(mix(seed + i) % 1024) / 1024, int(i % 5) - 4);
    float magnitude = i % 4 == 2 ? kTiny : i % 4 == 3 ? kHuge : ordinary;
    run.tensorScales.push_back(i % 2 ? -magnitude : magnitude);
  }
  put(kernel.operands[1].operand, run.tensorScales.data(),
      run.batch * sizeof(float), kernel.operands[1].alignment);
}

std::optional<Reason> QuantizationMaker::addMemory() {
  for (const plan::Parameter &parameter : kernel.parameters) {
    if (parameter.operand != "d")
      continue;
    Result<uint64_t> bytes = memoryBytes(kernel, parameter, sizes);
    if (!bytes)
      return bytes.why();
    uint64_t alignment = parameter.role == "d_data" ? kernel.data[0].alignment
                         : parameter.role == "d_scales"
                             ? kernel.scales[0].alignment
                             : sizeof(float);
    put(parameter.role, nullptr, *bytes, alignment);
  }
  return std::nullopt;
}

Result<QuantizationRun> QuantizationMaker::make() {
  std::optional<Reason> why = readPlan();
  if (!why)
    why = addInput();
  if (!why) {
    addTensorScales();
    why = addMemory();
  }
  if (why)
    return Reason("kernel '" + kernel.name + "': " + why->text);
  return std::move(run);
}

Result<QuantizationRun> QuantizationRun::make(const plan::Kernel &kernel,
                                              const plan::Environment &sizes,
                                              DataKind kind, uint64_t seed,
                                              Conditions conditions) {
  return QuantizationMaker(kernel, sizes, kind, seed, conditions).make();
}

std::pair<uint64_t, uint64_t>
QuantizationRun::placeInTile(uint64_t element) const {
  uint64_t blocks = k / block, row = element / k % rows;
  uint64_t tileRows = (rows + rowTile - 1) / rowTile;
  uint64_t tile = (element / k / rows * tileRows + row / rowTile) * blocks +
                  element % k / block;
  // What is in front in one tile is in another row of the next.
  uint64_t inTile = (row + (rowTile == 1 ? 0 : tile)) % rowTile;
  return {tile, inTile * block + element % block};
}

/// Of blocks of 16 half have none. Each column of tiles has its turn.
uint64_t QuantizationRun::aloneIn(uint64_t tile) const {
  if (rowTile == 1)
    return mix(tile) % 32;
  return mix(tile) % rowTile * block + tile / 2 % block;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

std::vector<float> QuantizationRun::valuesOfTile(uint64_t matrix, uint64_t row,
                                                 uint64_t j) const {
  uint64_t from = row / rowTile * rowTile;
  uint64_t to = std::min(from + rowTile, rows);
  std::vector<float> tile;
  for (uint64_t r = from; r < to; ++r) {
    auto begin = values.begin() + int64_t((matrix * rows + r) * k + j * block);
    tile.insert(tile.end(), begin, begin + int64_t(block));
  }
  return tile;
}

/// The CTA that writes a byte of scales. Rows of tiles are neighbouring lanes,
/// of which 32 share a place in an atom of 32 times 16 bytes.
uint64_t QuantizationRun::ctaOf(uint64_t byte) const {
  uint64_t in = byte % 512;
  return (rowTile == 1 ? byte : byte - in + in % 16 * 32 + in / 16) / threads;
}

void QuantizationRun::compare(const std::vector<uint64_t> &sample,
                              Verdict &verdict) const {
  MemoryImage codes(data, "d_data"), scales(data, "d_scales");
  uint64_t blocks = k / block, atoms = (blocks + 3) / 4;
  uint64_t matrixBytes = (rows + 127) / 128 * atoms * 512;
  size_t blockBytes = packedBytes(quantization.element, block);
  auto isRun = [&](uint64_t byte) {
    return sample.empty() ||
           std::binary_search(sample.begin(), sample.end(), ctaOf(byte));
  };
  auto note = [&](uint64_t number, const std::string &what) {
    if (verdict.diagnosis.empty())
      verdict.diagnosis = "matrix " + std::to_string(number / blocks / rows) +
                          ", row " + std::to_string(number / blocks % rows) +
                          ", block " + std::to_string(number % blocks) + ": " +
                          what;
  };
  // Padding is 0.
  for (uint64_t i = 0; i < scales.size(); ++i)
    if (isRun(i))
      *scales.at(i) = 0;
  for (uint64_t number = 0; number < batch * rows * blocks; ++number) {
    uint64_t matrix = number / blocks / rows, row = number / blocks % rows,
             j = number % blocks;
    uint64_t place = matrix * matrixBytes + scaleOffset(row, j, atoms);
    if (!isRun(place))
      continue;
    uint64_t first = number * block;
    std::optional<float> factor;
    if (!tensorScales.empty())
      factor = tensorScales[matrix];
    reference::QuantizedBlock expected;
    expected.scale =
        reference::scaleOf(quantization, valuesOfTile(matrix, row, j), factor);
    expected.codes =
        reference::quantizeUnder(quantization, expected.scale,
                                 {values.begin() + int64_t(first),
                                  values.begin() + int64_t(first + block)},
                                 factor, first);
    *scales.at(place) = expected.scale;
    if (scales.found(place) != expected.scale)
      note(number, "expected scale " + hex(expected.scale) + ", found " +
                       hex(scales.found(place)));
    uint64_t at = matrix * batchPitch + row * linePitch + j * blockBytes;
    packElements(quantization.element, expected.codes.data(), block,
                 codes.at(at));
    for (uint64_t i = 0; i < blockBytes; ++i)
      if (codes.found(at + i) != *codes.at(at + i))
        note(number, "byte " + std::to_string(i) + " of the codes: expected " +
                         hex(*codes.at(at + i)) + ", found " +
                         hex(codes.found(at + i)));
    verdict.comparison.compared += block + 1;
  }
  uint64_t wrong = codes.differences() + scales.differences();
  if (!tensorScales.empty()) {
    MemoryImage stored(data, "d_tensor_scale");
    for (uint64_t i = 0; i < batch; ++i) {
      float magnitude = std::fabs(tensorScales[i]);
      if (isRun(i * matrixBytes))
        std::memcpy(stored.at(i * sizeof(float)), &magnitude, sizeof(float));
    }
    wrong += stored.differences();
  }
  verdict.comparison.mismatches += wrong;
  if (wrong && verdict.diagnosis.empty())
    verdict.diagnosis =
        "bytes of the padding, of a tensor scale, or in front of "
        "the results are not what they should be";
}
