//===- Dequantization.cpp - check a kernel that dequantises ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dequantization.h"
#include "QuantizedMemory.h"
#include "blockscale/Plan/Sizes.h"
#include "blockscale/Reference/Dequantize.h"

#include <cmath>
#include <cstring>
#include <numeric>

using namespace blockscale;
using namespace blockscale::verify;

namespace blockscale::verify {
/// Every step returns what is wrong, or nothing.
class DequantizationMaker {
public:
  DequantizationMaker(const plan::Kernel &kernel,
                      const plan::Environment &sizes, DataKind kind,
                      uint64_t seed, Conditions conditions)
      : kernel(kernel), sizes(sizes), kind(kind), seed(seed),
        isHarsh(conditions == Conditions::Harsh) {}

  Result<DequantizationRun> make();

private:
  std::optional<Reason> readPlan();
  uint8_t scaleCode(uint64_t tile) const;
  std::optional<Reason> addElements();
  float floatScale(uint64_t tile) const;
  std::optional<Reason> addScales();
  void addPlainScales();
  float zeroOf(uint64_t tile) const;
  void addZeros();
  /// Appends `value` to memory as `format` has it; what that makes of it.
  float store(std::vector<uint8_t> &memory, const std::string &format,
              float value) const;
  std::optional<Reason> readScales();
  void addTensorScales();
  std::optional<Reason> addResult();
  /// Memory of `bytes` bytes that no code of ours is in.
  std::vector<uint8_t> padding(uint64_t bytes) const;
  void put(const std::string &role, const void *bytes, uint64_t size,
           uint64_t alignment) {
    putMemory(run.data, role, bytes, size, alignment, isHarsh);
  }

  const plan::Kernel &kernel;
  const plan::Environment &sizes;
  DataKind kind;
  uint64_t seed;
  bool isHarsh;
  DequantizationRun run;
};
} // namespace blockscale::verify

std::optional<Reason> DequantizationMaker::readScales() {
  if (!kernel.vectorScales.empty()) {
    // A block is what the longest instructions multiply at once.
    constexpr uint64_t kBlock = 32;
    const plan::VectorScales &scales = kernel.vectorScales[0];
    uint64_t tile = scales.block ? scales.block : run.k;
    // Or less of tiles that are not made of such.
    run.block = std::gcd(tile, kBlock);
    run.tileBlocks = tile / run.block;
    run.rowTile = scales.rows || scales.block ? scales.rows : run.rows;
    return std::nullopt;
  }
  const plan::ScalePacking &scales = kernel.scales[0];
  run.scale = parseFormat(scales.format);
  if (!run.scale)
    return "scales '" + scales.format + "'";
  if (scales.layout != "tiled_128x4" && scales.layout != "plain")
    return "scales in layout '" + scales.layout + "'";
  run.block = scales.block;
  run.rowTile = std::max(1u, scales.rows);
  if (run.block != 0)
    run.tileBlocks = std::max<uint64_t>(1, scales.ownBlock() / run.block);
  return std::nullopt;
}

std::optional<Reason> DequantizationMaker::readPlan() {
  if (kernel.conversion->op != "dequantize")
    return "a conversion '" + kernel.conversion->op + "'";
  if (kernel.data.size() != 1 || kernel.operands.empty() ||
      kernel.operands.size() > 2 ||
      kernel.scales.size() + kernel.vectorScales.size() != 1)
    return Reason("a kernel that dequantises has one 'data', one 'scales' and "
                  "the result and zero points in 'operands'");
  const std::string &format = kernel.data[0].format;
  run.isUnsigned = kernel.operands.size() == 2;
  std::optional<ElementFormat> element = parseFormat(format);
  if (run.isUnsigned && (format == "uint4" || format == "uint8"))
    element = format == "uint4" ? ElementFormat::INT4 : ElementFormat::INT8;
  else if (run.isUnsigned)
    element.reset();
  if (!element)
    return "elements of '" + format + "'";
  const std::string &type = kernel.operands[0].type;
  run.result = parseFormat(type);
  if (type != "f32" && run.result != ElementFormat::BF16 &&
      run.result != ElementFormat::F16)
    return "a result of type '" + type + "'";
  run.element = *element;
  run.batch = uint64_t(sizes.at("batch"));
  run.rows = uint64_t(sizes.at("M"));
  run.k = uint64_t(sizes.at("K"));
  run.threads = uint64_t(kernel.block[0]);
  run.hasRealZeros = run.isUnsigned && kernel.operands[1].type.front() != 'i';
  if (auto why = readScales())
    return why;
  if (run.block == 0 || run.k % run.block != 0)
    return "K = " + std::to_string(run.k) + " in blocks of " +
           std::to_string(run.block);
  return std::nullopt;
}

std::vector<uint8_t> DequantizationMaker::padding(uint64_t bytes) const {
  std::vector<uint8_t> memory(bytes);
  for (uint64_t i = 0; i < bytes; ++i)
    memory[i] = uint8_t(mix(seed ^ i) >> 8);
  return memory;
}

std::optional<Reason> DequantizationMaker::addElements() {
  const plan::DataPacking &data = kernel.data[0];
  Result<uint64_t> line = evaluateSize(data.linePitch, sizes),
                   matrix = evaluateSize(data.batchPitch, sizes);
  if (!line || !matrix)
    return line ? matrix.why() : line.why();
  uint32_t mask = formatInfo(run.element).codeMask();
  run.codes.resize(run.batch * run.rows * run.k);
  for (uint64_t i = 0; i < run.codes.size(); ++i)
    run.codes[i] = uint8_t(mix(mix(seed) + i) >> 7 & mask);
  uint64_t lineBytes = packedBytes(run.element, run.k);
  if (lineBytes > *line || run.rows * *line > *matrix)
    return Reason("the plan has too little room for the elements");
  std::vector<uint8_t> memory = padding(run.batch * *matrix);
  for (uint64_t row = 0; row < run.batch * run.rows; ++row)
    packElements(run.element, run.codes.data() + row * run.k, run.k,
                 memory.data() + row / run.rows * *matrix +
                     row % run.rows * *line);
  put("a_data", memory.data(), memory.size(), data.alignment);
  return std::nullopt;
}

/// Of every 16 tiles one has a NaN, one the smallest and one the largest scale.
/// A sign does not count in the instructions that read such scales, so that
/// there is none.
uint8_t DequantizationMaker::scaleCode(uint64_t tile) const {
  const FormatInfo &info = formatInfo(run.scale.value_or(ElementFormat::UE8M0));
  uint64_t random = mix(mix(seed + 1) + tile);
  switch (tile % 16) {
  case 5:
    return uint8_t(info.nanCode);
  case 9:
    return 0;
  case 13:
    return uint8_t(info.largestCode);
  default:
    break;
  }
  if (kind == DataKind::Random)
    return uint8_t(random & info.codeMask());
  // Powers of two around 1, with every fraction.
  uint64_t fractions = uint64_t(1) << info.mantissaBits;
  uint64_t exponent = uint64_t(info.bias) - 6 + random % 13;
  return uint8_t(exponent * fractions + (random >> 20) % fractions);
}

uint64_t DequantizationRun::tileOf(uint64_t matrix, uint64_t row,
                                   uint64_t j) const {
  uint64_t tileRows = (rows + rowTile - 1) / rowTile;
  uint64_t tiles = (k / block + tileBlocks - 1) / tileBlocks;
  return (matrix * tileRows + row / rowTile) * tiles + j / tileBlocks;
}

/// Of every 16 one is a NaN, one infinite, one the largest, and one subnormal;
/// every third is negative.
float DequantizationMaker::floatScale(uint64_t tile) const {
  constexpr float kTiny = 1e-40f;
  uint64_t random = mix(mix(seed + 1) + tile);
  double significand = 1 + double(random >> 40) / 0x1p24;
  int exponent =
      kind == DataKind::Random ? int(random % 252) - 126 : int(random % 13) - 6;
  auto value = float(std::ldexp(significand, exponent));
  switch (tile % 16) {
  case 5:
    return std::numeric_limits<float>::quiet_NaN();
  case 9:
    value = std::numeric_limits<float>::infinity();
    break;
  case 11:
    value = kTiny;
    break;
  case 13:
    value = std::numeric_limits<float>::max();
    break;
  default:
    break;
  }
  return tile % 3 == 2 ? -value : value;
}

float DequantizationMaker::store(std::vector<uint8_t> &memory,
                                 const std::string &format, float value) const {
  uint32_t code = 0;
  uint64_t bytes = plan::plainBytes(format);
  std::optional<ElementFormat> narrow;
  bool isInteger = format.front() == 'i';
  if (!isInteger)
    narrow = parseFormat(format);
  if (format == "f32") {
    std::memcpy(&code, &value, sizeof code);
  } else if (narrow) {
    code = encode(*narrow, value, Rounding::NearestEven,
                  std::isinf(value) ? Saturation::None : Saturation::Finite);
    value = decode(*narrow, code);
  } else {
    code = uint32_t(int32_t(value));
  }
  for (uint64_t i = 0; i < bytes; ++i)
    memory.push_back(uint8_t(code >> 8 * i));
  return value;
}

void DequantizationMaker::addPlainScales() {
  const plan::VectorScales &scales = kernel.vectorScales[0];
  std::vector<uint8_t> memory;
  uint64_t tiles = run.tileOf(run.batch, 0, 0);
  for (uint64_t tile = 0; tile < tiles; ++tile) {
    if (scales.format != formatName(ElementFormat::UE8M0)) {
      run.floats.push_back(store(memory, scales.format, floatScale(tile)));
      continue;
    }
    memory.push_back(scaleCode(tile));
    run.floats.push_back(decode(ElementFormat::UE8M0, memory.back()));
  }
  put("a_scales", memory.data(), memory.size(), scales.alignment);
}

/// An integer of all of its type, or a number near elements of the tile; of
/// every 23 one is a NaN, one infinite, and two are the ends of f32.
float DequantizationMaker::zeroOf(uint64_t tile) const {
  constexpr float kMost = std::numeric_limits<float>::max();
  const std::string &format = kernel.operands[1].type;
  uint64_t random = mix(mix(seed + 3) + tile);
  if (!run.hasRealZeros) {
    // What f32 has.
    constexpr uint64_t kBits = 24;
    int64_t range = int64_t(1)
                    << std::min(kBits, 8 * plan::plainBytes(format) - 1);
    // Those that elements reach, and the ends.
    if (tile % 8 == 5)
      return float(tile % 16 == 5 ? -range : range - 1);
    return float(int64_t(random % (tile % 3 == 0 ? uint64_t(range) : 16)));
  }
  // Beside the largest scale their difference is small, or beyond f32.
  if (std::fabs(run.floats[tile]) == kMost)
    return tile / 16 % 8 < 2 ? run.floats[tile] : -run.floats[tile];
  switch (tile % 23) {
  case 4:
    return std::numeric_limits<float>::quiet_NaN();
  case 8:
    return tile % 2 ? -std::numeric_limits<float>::infinity()
                    : std::numeric_limits<float>::infinity();
  case 12:
    return kMost;
  case 13:
    return -kMost;
  default:
    break;
  }
  float scale = run.floats[tile];
  return (std::isfinite(scale) ? scale : 1) * (float(random % 4096) / 256);
}

void DequantizationMaker::addZeros() {
  if (!run.isUnsigned)
    return;
  std::vector<uint8_t> memory;
  for (uint64_t tile = 0; tile < run.floats.size(); ++tile)
    run.zeros.push_back(store(memory, kernel.operands[1].type, zeroOf(tile)));
  put("a_zeros", memory.data(), memory.size(), kernel.operands[1].alignment);
}

std::optional<Reason> DequantizationMaker::addScales() {
  if (!run.scale) {
    addPlainScales();
    addZeros();
    return std::nullopt;
  }
  const plan::ScalePacking &scales = kernel.scales[0];
  Result<uint64_t> bytes = evaluateSize(scales.bytes, sizes);
  if (!bytes)
    return bytes.why();
  bool isTiled = scales.layout == "tiled_128x4";
  uint64_t blocks = run.k / run.block, atoms = (blocks + 3) / 4;
  uint64_t matrixBytes =
      isTiled ? (run.rows + 127) / 128 * atoms * 512 : run.rows * blocks;
  if (run.batch * matrixBytes > *bytes)
    return Reason("the plan has too little room for the scales");
  std::vector<uint8_t> memory = padding(*bytes);
  for (uint64_t number = 0; number < run.batch * run.rows * blocks; ++number) {
    uint64_t matrix = number / blocks / run.rows,
             row = number / blocks % run.rows, j = number % blocks;
    run.scaleCodes.push_back(scaleCode(run.tileOf(matrix, row, j)));
    uint64_t place = isTiled ? scaleOffset(row, j, atoms) : row * blocks + j;
    memory[matrix * matrixBytes + place] = run.scaleCodes.back();
  }
  put("a_scales", memory.data(), memory.size(), scales.alignment);
  return std::nullopt;
}

/// One of each matrix, every second one negative. Of six the third is so small
/// that products are subnormal, the fourth so large that they overflow, and the
/// last two are infinite.
void DequantizationMaker::addTensorScales() {
  constexpr float kTiny = 1e-39f, kHuge = 1e37f;
  if (kernel.tensorScales.empty())
    return;
  for (uint64_t i = 0; i < run.batch; ++i) {
    float ordinary =
        std::ldexp(1.0f + float(mix(seed + i) % 1024) / 1024, int(i % 5) - 4);
    float magnitude = i % 6 == 2   ? kTiny
                      : i % 6 == 3 ? kHuge
                      : i % 6 >= 4 ? std::numeric_limits<float>::infinity()
                                   : ordinary;
    run.tensorScales.push_back(i % 2 ? -magnitude : magnitude);
  }
  put("a_tensor_scale", run.tensorScales.data(), run.batch * sizeof(float),
      kernel.tensorScales[0].alignment);
}

std::optional<Reason> DequantizationMaker::addResult() {
  for (const plan::Parameter &parameter : kernel.parameters)
    if (parameter.role == "d") {
      Result<uint64_t> bytes = memoryBytes(kernel, parameter, sizes);
      if (!bytes)
        return bytes.why();
      put("d", nullptr, *bytes, kernel.operands[0].alignment);
    }
  uint64_t needed = run.codes.size() * (run.result ? 2 : 4);
  if (run.data.memory["d"].size() < needed)
    return Reason("the plan has too little room for 'd'");
  return std::nullopt;
}

Result<DequantizationRun> DequantizationMaker::make() {
  std::optional<Reason> why = readPlan();
  if (!why)
    why = addElements();
  if (!why)
    why = addScales();
  if (!why) {
    addTensorScales();
    why = addResult();
  }
  if (why)
    return Reason("kernel '" + kernel.name + "': " + why->text);
  return std::move(run);
}

Result<DequantizationRun>
DequantizationRun::make(const plan::Kernel &kernel,
                        const plan::Environment &sizes, DataKind kind,
                        uint64_t seed, Conditions conditions) {
  return DequantizationMaker(kernel, sizes, kind, seed, conditions).make();
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Each thread writes 16 bytes, but of 6-bit codes 16 elements at least, and of
/// others a word of codes.
uint64_t DequantizationRun::elementsOfCta() const {
  unsigned bits = formatInfo(element).bits;
  if (bits == 6)
    return threads * 16;
  return threads * (result || bits == 4 ? 8 : 4);
}

float DequantizationRun::valueOf(uint64_t matrix, uint64_t row,
                                 uint64_t i) const {
  uint64_t line = matrix * rows + row;
  uint64_t tile = tileOf(matrix, row, i / block);
  if (isUnsigned)
    return reference::dequantizeWithZero(codes[line * k + i], floats[tile],
                                         zeros[tile], hasRealZeros);
  if (!scale)
    return reference::dequantize(element, codes[line * k + i], floats[tile]);
  std::optional<float> factor;
  if (!tensorScales.empty())
    factor = tensorScales[matrix];
  return reference::dequantize(element, codes[line * k + i], *scale,
                               scaleCodes[line * (k / block) + i / block],
                               factor);
}

void DequantizationRun::compare(const std::vector<uint64_t> &sample,
                                Verdict &verdict) const {
  MemoryImage image(data, "d");
  unsigned bytes = result ? 2 : 4;
  for (uint64_t number = 0; number < codes.size(); ++number) {
    if (!sample.empty() && !std::binary_search(sample.begin(), sample.end(),
                                               number / elementsOfCta()))
      continue;
    uint64_t matrix = number / k / rows, row = number / k % rows,
             i = number % k;
    float expected = valueOf(matrix, row, i), found = 0;
    uint32_t code = 0, foundCode = 0;
    if (result)
      code = reference::narrowed(*result, expected);
    else
      std::memcpy(&code, &expected, sizeof code);
    for (unsigned byte = 0; byte < bytes; ++byte)
      foundCode |= uint32_t(image.found(number * bytes + byte)) << 8 * byte;
    if (result)
      found = decode(*result, foundCode);
    else
      std::memcpy(&found, &foundCode, sizeof found);
    ++verdict.comparison.compared;
    bool isSame = std::isnan(expected) ? std::isnan(found) : code == foundCode;
    if (isSame) {
      image.accept(number * bytes, bytes);
      continue;
    }
    for (unsigned byte = 0; byte < bytes; ++byte)
      *image.at(number * bytes + byte) = uint8_t(code >> 8 * byte);
    if (verdict.diagnosis.empty())
      verdict.diagnosis =
          "matrix " + std::to_string(matrix) + ", row " + std::to_string(row) +
          ", element " + std::to_string(i) + ": expected " +
          std::to_string(expected) + ", found " + std::to_string(found);
  }
  uint64_t wrong = image.differences();
  verdict.comparison.mismatches += wrong;
  if (wrong && verdict.diagnosis.empty())
    verdict.diagnosis = "bytes in front of the result, or of what was not run, "
                        "were written";
}
