//===- Quantization.cpp - check a kernel that quantises -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Quantization.h"
#include "QuantizedMemory.h"
#include "QuantizedNumbers.h"
#include "blockscale/Formats/Text.h"
#include "blockscale/Plan/Sizes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace blockscale;
using namespace blockscale::verify;

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
  std::optional<Reason> readPart(const plan::Quantization &planned,
                                 const std::string &operand);
  std::optional<Reason> readFormats(const plan::Quantization &planned,
                                    QuantizationRun::Part &part) const;
  std::optional<Reason> readTiles(QuantizationRun::Part &part) const;
  std::optional<Reason> readPitches(QuantizationRun::Part &part) const;
  std::optional<Reason> addInput();
  float valueAt(uint64_t element, int smallest, int largest) const;
  uint64_t placeOfLargest(uint64_t matrix) const;
  float valueToFind(uint64_t element, int smallest, int largest) const;
  float valueUnderGiven(uint64_t element, int smallest, int largest) const;
  void addTransposedValues();
  std::optional<Reason> addMemory();
  void giveTensorScales();
  void findTensorScales();
  /// Whether the kernel finds tensor scales that nobody gives, or the one scale
  /// of a matrix.
  bool findsOfMatrix() const {
    if (kernel.tensorScales.empty())
      return std::any_of(run.parts.begin(), run.parts.end(),
                         [](const QuantizationRun::Part &part) {
                           return part.coversMatrix && !part.isScaleGiven;
                         });
    return kernel.operands.size() < 2;
  }
  uint64_t placeInMemory(uint64_t element) const;
  /// Memory of a parameter, with what lies before it.
  void put(const std::string &role, const void *bytes, uint64_t size,
           uint64_t alignment);

  /// Kinds of matrices whose largest number is to be found.
  static constexpr uint64_t kKinds = 6, kZeros = 2;

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
  putMemory(run.data, role, bytes, size, alignment, isHarsh);
}

template <typename T>
static const T *partOf(const std::vector<T> &list, const std::string &operand) {
  for (const T &entry : list)
    if (entry.operand == operand)
      return &entry;
  return nullptr;
}

/// Whether K is in the source.
static bool knowsLines(const plan::Kernel &kernel) {
  return std::any_of(
      kernel.sizes.begin(), kernel.sizes.end(),
      [](const plan::Size &size) { return size.name == "K" && size.value; });
}

/// Threads of a row of known length: as many as it has blocks, or 256.
static uint64_t threadsOfRow(uint64_t blocks) {
  constexpr uint64_t kLeast = 32, kMost = 256;
  uint64_t count = kLeast;
  while (count < blocks && count < kMost)
    count *= 2;
  return count;
}

std::optional<Reason>
QuantizationMaker::readFormats(const plan::Quantization &planned,
                               QuantizationRun::Part &part) const {
  const plan::DataPacking *data = partOf(kernel.data, part.operand);
  const plan::ScalePacking *scales = partOf(kernel.scales, part.operand);
  const plan::VectorScales *floats = partOf(kernel.vectorScales, part.operand);
  if (!data || (!scales && !floats))
    return "a kernel that quantises has 'data' and 'scales' of '" +
           part.operand + "'";
  std::string format = scales ? scales->format : floats->format;
  std::optional<ElementFormat> element = parseFormat(data->format),
                               scale = parseFormat(format);
  if (!element || (!scale && (scales || format != "f32")))
    return "'" + data->format + "' with scales '" + format + "'";
  if (scales && scales->layout != "tiled_128x4")
    return "scales in layout '" + scales->layout + "'";
  part.quantization = {*element, scale, planned.rule, planned.rounding, 0};
  part.isTiled = scales != nullptr;
  part.scaleBytes = scales ? 1 : plan::plainBytes(format);
  if (planned.seed.empty())
    return std::nullopt;
  std::optional<uint64_t> number = parseInteger<uint64_t>(planned.seed);
  if (!number)
    return "the seed '" + planned.seed + "' is no number";
  part.quantization.seed = *number;
  return std::nullopt;
}

/// Which elements share a scale, of a part whose sizes and formats are known.
std::optional<Reason>
QuantizationMaker::readTiles(QuantizationRun::Part &part) const {
  const plan::ScalePacking *scales = partOf(kernel.scales, part.operand);
  const plan::VectorScales *floats = partOf(kernel.vectorScales, part.operand);
  // Under floats a block is what a thread has.
  constexpr unsigned kBlock = 32;
  uint64_t tile = scales ? scales->ownBlock() : floats->block;
  part.coversK = tile == 0;
  if (part.coversK)
    tile = part.k;
  part.block = scales ? scales->block : kBlock;
  part.rowTile = scales ? scales->rows : floats->rows;
  part.coversMatrix = part.coversK && part.rowTile == 0;
  if (part.coversMatrix)
    part.rowTile = part.rows;
  // What is found needs a workspace.
  part.isScaleGiven =
      part.coversMatrix && kernel.operands.size() > 1 && !kernel.workspace;
  part.tileBlocks = part.block ? tile / part.block : 0;
  if (knowsLines(kernel))
    part.rowThreads = threadsOfRow(part.tileBlocks);
  part.hasTensorScale = partOf(kernel.tensorScales, part.operand);
  if (part.rowTile == 0 || (!part.coversMatrix && part.rowTile > 256))
    return "scales of " + std::to_string(part.rowTile) + " rows";
  if (part.tileBlocks == 0 || (!part.coversK && part.tileBlocks > 32))
    return "scales of " + std::to_string(tile) + " elements in blocks of " +
           std::to_string(part.block);
  if (part.block == 0 || part.k % part.block != 0)
    return "K = " + std::to_string(part.k) + " in blocks of " +
           std::to_string(part.block);
  return std::nullopt;
}

std::optional<Reason>
QuantizationMaker::readPitches(QuantizationRun::Part &part) const {
  const plan::DataPacking *data = partOf(kernel.data, part.operand);
  Result<uint64_t> line = evaluateSize(data->linePitch, sizes),
                   matrix = evaluateSize(data->batchPitch, sizes);
  if (!line || !matrix)
    return line ? matrix.why() : line.why();
  part.linePitch = *line;
  part.batchPitch = *matrix;
  return std::nullopt;
}

std::optional<Reason>
QuantizationMaker::readPart(const plan::Quantization &planned,
                            const std::string &operand) {
  QuantizationRun::Part part;
  part.operand = operand;
  part.isTurned = planned.transposed;
  if (auto why = readFormats(planned, part))
    return why;
  part.rows = uint64_t(sizes.at("M"));
  part.k = uint64_t(sizes.at("K"));
  if (!run.parts.empty())
    std::swap(part.rows, part.k);
  if (auto why = readTiles(part))
    return why;
  if (auto why = readPitches(part))
    return why;
  std::optional<Reason> why = reference::whyNot(part.quantization);
  run.parts.push_back(std::move(part));
  return why;
}

std::optional<Reason> QuantizationMaker::readPlan() {
  if (kernel.operands.empty())
    return Reason("a kernel that quantises has 'operands'");
  run.batch = uint64_t(sizes.at("batch"));
  run.threads = uint64_t(kernel.block[0]);
  if (auto why = readPart(*kernel.quantization, "d"))
    return why;
  if (!kernel.transposedQuantization)
    return std::nullopt;
  return readPart(*kernel.transposedQuantization, "transposed");
}

/// Where a kernel finds an element of what it quantises.
uint64_t QuantizationMaker::placeInMemory(uint64_t element) const {
  if (!kernel.quantization->transposed)
    return element;
  const QuantizationRun::Part &part = run.parts.front();
  uint64_t row = element / part.k, matrix = row / part.rows;
  return (matrix * part.k + element % part.k) * part.rows + row % part.rows;
}

/// Which element of a matrix is its largest where the kernel has to find that.
/// It is somewhere else in each that is not all zeros: of what the threads of a
/// CTA read at once it has the first thread, the last, and two others in turns.
uint64_t QuantizationMaker::placeOfLargest(uint64_t matrix) const {
  constexpr uint64_t kTurns = 4, kThreadStep = 37, kElementStep = 3;
  const QuantizationRun::Part &part = run.parts.front();
  uint64_t perAccess = kernel.operands[0].type == "f32" ? 4 : 8;
  uint64_t accesses = part.rows * part.k / perAccess;
  uint64_t number =
      matrix - matrix / kKinds - (matrix % kKinds > kZeros ? 1 : 0);
  uint64_t thread = number * kThreadStep % run.threads;
  if (number % kTurns < 2)
    thread = number % kTurns * (run.threads - 1);
  uint64_t access = number / kTurns * run.threads + thread;
  return access % accesses * perAccess + number * kElementStep % perAccess;
}

/// Number `element` where the kernel has to find the largest one of a matrix,
/// which is above the others. Of six matrices there is one with tiny numbers,
/// with zeros, with a NaN, with huge numbers and with an infinity.
float QuantizationMaker::valueToFind(uint64_t element, int smallest,
                                     int largest) const {
  constexpr int kAbove = 8, kSpread = 7;
  const QuantizationRun::Part &part = run.parts.front();
  uint64_t count = part.rows * part.k, matrix = element / count;
  uint64_t random = mix(mix(seed + matrix) + element);
  float sign = random & 1 ? -1.0f : 1.0f;
  bool isLargest = element % count == placeOfLargest(matrix);
  int exponent = int(mix(seed + element / part.block) % kSpread);
  switch (matrix % kKinds) {
  case 1:
    exponent += smallest - kSpread;
    break;
  case kZeros:
    return std::copysign(0.0f, sign);
  case 3:
    if (isLargest)
      return std::numeric_limits<float>::quiet_NaN();
    break;
  case 4:
    if (isLargest)
      return std::copysign(std::numeric_limits<float>::max(), sign);
    exponent += largest - kSpread - kAbove;
    break;
  case 5:
    if (isLargest)
      return std::copysign(std::numeric_limits<float>::infinity(), sign);
    break;
  default:
    exponent -= kSpread / 2;
  }
  uint64_t digits = kind == DataKind::Exact ? (random >> 8 & 0x7f) << 16
                                            : random >> 8 & 0x7fffff;
  double significand = double(digits) / 0x1p23;
  return sign * float(isLargest ? std::ldexp(1 + significand, exponent + kAbove)
                                : std::ldexp(2 * significand, exponent));
}

/// Number `element` under a scale that is given: from far below its smallest
/// element to twice the largest one, with NaNs, infinities and zeros in
/// between.
float QuantizationMaker::valueUnderGiven(uint64_t element, int smallest,
                                         int largest) const {
  constexpr int kSpread = 14;
  constexpr uint64_t kSpecial = 64;
  const QuantizationRun::Part &part = run.parts.front();
  uint64_t random = mix(mix(seed + 2) + element);
  float sign = random & 1 ? -1.0f : 1.0f;
  switch (random >> 1 & (kSpecial - 1)) {
  case 0:
    return std::numeric_limits<float>::quiet_NaN();
  case 1:
    return std::copysign(std::numeric_limits<float>::infinity(), sign);
  case 2:
    return std::copysign(0.0f, sign);
  default:
    break;
  }
  float scale = part.tensorScales[element / (part.rows * part.k)].decode;
  bool isOrdinary = std::isnormal(scale);
  int above = (isOrdinary ? std::ilogb(scale) : 0) +
              std::ilogb(reference::largestElement(part.quantization)) + 2;
  int exponent = above - int(mix(seed + element / part.block) % kSpread);
  uint64_t digits = kind == DataKind::Exact ? (random >> 8 & 0x7f) << 16
                                            : random >> 8 & 0x7fffff;
  return sign * float(std::ldexp(1 + double(digits) / 0x1p23,
                                 std::clamp(exponent, smallest, largest)));
}

/// Number `element` of the first part.
float QuantizationMaker::valueAt(uint64_t element, int smallest,
                                 int largest) const {
  if (findsOfMatrix())
    return valueToFind(element, smallest, largest);
  const QuantizationRun::Part &part = run.parts.front();
  if (part.isScaleGiven)
    return valueUnderGiven(element, smallest, largest);
  NumberRange range{smallest, largest,
                    reference::largestElement(part.quantization)};
  if (run.isBothWays()) {
    constexpr uint64_t kExtent = 32;
    uint64_t row = element / part.k % part.rows, column = element % part.k;
    uint64_t matrix = element / part.k / part.rows;
    // Each row of one matrix is of a kind, and each column of the next.
    if (run.hasLines()) {
      bool isRow = (matrix + seed) % 2 == 0;
      uint64_t line = matrix * (part.rows + part.k) + (isRow ? row : column);
      return numberOfBlock(line, isRow ? column : row,
                           mix(line) % (isRow ? part.k : part.rows), kind, seed,
                           range, /*above=*/4);
    }
    uint64_t tile = (matrix * (part.rows / kExtent + 1) + row / kExtent) *
                        (part.k / kExtent + 1) +
                    column / kExtent;
    return numberBothWays(tile, row, column, kind, seed, range);
  }
  auto [tile, inTile] = part.placeInTile(element);
  // Of more numbers some other one is nearly twice as large.
  int above = part.repetitions() > 32 ? 4 : 1;
  return numberOfBlock(tile, inTile, part.aloneIn(tile), kind, seed, range,
                       above);
}

void QuantizationMaker::addTransposedValues() {
  if (!run.isBothWays())
    return;
  const QuantizationRun::Part &part = run.parts.front();
  std::vector<float> &values = run.parts.back().values;
  values.resize(part.values.size());
  for (uint64_t i = 0; i < values.size(); ++i) {
    uint64_t row = i / part.k, matrix = row / part.rows;
    values[(matrix * part.k + i % part.k) * part.rows + row % part.rows] =
        part.values[i];
  }
}

std::optional<Reason> QuantizationMaker::addInput() {
  const std::string &type = kernel.operands[0].type;
  bool isWide = type == "f32";
  std::optional<ElementFormat> format = parseFormat(type);
  if (!isWide && format != ElementFormat::BF16 && format != ElementFormat::F16)
    return "numbers of type '" + type + "'";
  bool isHalf = format == ElementFormat::F16;
  int smallest = isHalf ? -14 : -126, largest = isHalf ? 15 : 127;
  QuantizationRun::Part &part = run.parts.front();
  uint64_t count = run.batch * part.rows * part.k;
  std::vector<uint16_t> stored(isWide ? 0 : count);
  part.values.resize(count);
  std::vector<float> wide(isWide ? count : 0);
  for (uint64_t i = 0; i < count; ++i) {
    float &value = part.values[i];
    value = valueAt(i, smallest, largest);
    uint64_t place = placeInMemory(i);
    if (isWide) {
      wide[place] = value;
      continue;
    }
    // Infinities stay what they are.
    stored[place] = uint16_t(
        encode(*format, value, Rounding::NearestEven,
               std::isinf(value) ? Saturation::None : Saturation::Finite));
    value = decode(*format, stored[place]);
  }
  const void *bytes =
      isWide ? static_cast<const void *>(wide.data()) : stored.data();
  put(kernel.operands[0].operand, bytes, count * (isWide ? 4 : 2),
      kernel.operands[0].alignment);
  addTransposedValues();
  return std::nullopt;
}

/// One of each matrix; a sign does not count. Of four the third has an inverse
/// beyond all f32, and the fourth products with scales that are. Of eight that
/// are scales themselves three are 0, an infinity and a NaN.
void QuantizationMaker::giveTensorScales() {
  constexpr float kTiny = 1e-39f, kHuge = 1e37f;
  using Limits = std::numeric_limits<float>;
  if (kernel.operands.size() < 2)
    return;
  bool areScales = run.parts.front().isScaleGiven;
  std::vector<float> given;
  for (uint64_t i = 0; i < run.batch; ++i) {
    float ordinary =
        std::ldexp(1.0f + float(mix(seed + i) % 1024) / 1024, int(i % 5) - 4);
    float magnitude = i % 4 == 2 ? kTiny : i % 4 == 3 ? kHuge : ordinary;
    if (areScales && i % 8 >= 4)
      magnitude = i % 8 == 4   ? 0
                  : i % 8 == 5 ? Limits::infinity()
                  : i % 8 == 6 ? Limits::quiet_NaN()
                               : ordinary;
    given.push_back(i % 2 ? -magnitude : magnitude);
  }
  put(kernel.operands[1].operand, given.data(), run.batch * sizeof(float),
      kernel.operands[1].alignment);
  for (QuantizationRun::Part &part : run.parts)
    part.tensorScales.assign(given.begin(), given.end());
}

void QuantizationMaker::findTensorScales() {
  if (kernel.operands.size() > 1)
    return;
  for (QuantizationRun::Part &part : run.parts) {
    auto count = int64_t(part.rows * part.k);
    auto begin = part.values.begin();
    for (uint64_t i = 0; part.hasTensorScale && i < run.batch; ++i)
      part.tensorScales.push_back(reference::tensorScaleOf(
          part.quantization,
          {begin + int64_t(i) * count, begin + int64_t(i + 1) * count}));
  }
}

std::optional<Reason> QuantizationMaker::addMemory() {
  for (const plan::Parameter &parameter : kernel.parameters) {
    const std::string &operand = parameter.operand;
    const plan::DataPacking *codes = partOf(kernel.data, operand);
    bool isWorkspace = parameter.role == plan::kWorkspaceRole;
    if (!codes && !isWorkspace)
      continue;
    Result<uint64_t> bytes = memoryBytes(kernel, parameter, sizes);
    if (!bytes)
      return bytes.why();
    const plan::ScalePacking *scales = partOf(kernel.scales, operand);
    if (isWorkspace) {
      std::vector<uint8_t> zeros(*bytes);
      put(parameter.role, zeros.data(), *bytes, kernel.workspace->alignment);
      continue;
    }
    uint64_t alignment = parameter.role == operand + "_data" ? codes->alignment
                         : parameter.role == operand + "_scales" && scales
                             ? scales->alignment
                             : sizeof(float);
    put(parameter.role, nullptr, *bytes, alignment);
  }
  return std::nullopt;
}

Result<QuantizationRun> QuantizationMaker::make() {
  std::optional<Reason> why = readPlan();
  if (!why) {
    giveTensorScales();
    why = addInput();
  }
  if (!why) {
    findTensorScales();
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
