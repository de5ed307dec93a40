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
  std::optional<Reason> addInput();
  float valueAt(uint64_t element, int smallest, int largest) const;
  uint64_t placeOfLargest(uint64_t matrix) const;
  float valueToFind(uint64_t element, int smallest, int largest) const;
  void addTransposedValues();
  std::optional<Reason> addMemory();
  void addTensorScales();
  void findTensorScales();
  /// Whether the kernel finds tensor scales that nobody gives, or the one scale
  /// of a matrix.
  bool findsOfMatrix() const {
    if (kernel.tensorScales.empty())
      return std::any_of(
          run.parts.begin(), run.parts.end(),
          [](const QuantizationRun::Part &part) { return part.coversMatrix; });
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

std::optional<Reason>
QuantizationMaker::readPart(const plan::Quantization &planned,
                            const std::string &operand) {
  const plan::DataPacking *data = partOf(kernel.data, operand);
  const plan::ScalePacking *scales = partOf(kernel.scales, operand);
  const plan::VectorScales *floats = partOf(kernel.vectorScales, operand);
  if (!data || (!scales && !floats))
    return "a kernel that quantises has 'data' and 'scales' of '" + operand +
           "'";
  std::string format = scales ? scales->format : floats->format;
  std::optional<ElementFormat> element = parseFormat(data->format), scale;
  if (scales)
    scale = parseFormat(format);
  if (!element || (scales ? !scale : format != "f32"))
    return "'" + data->format + "' with scales '" + format + "'";
  if (scales && scales->layout != "tiled_128x4")
    return "scales in layout '" + scales->layout + "'";
  QuantizationRun::Part part;
  part.operand = operand;
  part.isTurned = planned.transposed;
  part.quantization = {*element, scale, planned.rule, planned.rounding, 0};
  if (!planned.seed.empty()) {
    std::optional<uint64_t> number = parseInteger<uint64_t>(planned.seed);
    if (!number)
      return "the seed '" + planned.seed + "' is no number";
    part.quantization.seed = *number;
  }
  part.rows = uint64_t(sizes.at("M"));
  part.k = uint64_t(sizes.at("K"));
  if (!run.parts.empty())
    std::swap(part.rows, part.k);
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
  part.tileBlocks = part.block ? tile / part.block : 0;
  part.hasTensorScale = partOf(kernel.tensorScales, operand);
  if (part.rowTile == 0 || (!part.coversMatrix && part.rowTile > 256))
    return "scales of " + std::to_string(part.rowTile) + " rows";
  if (part.tileBlocks == 0 || (!part.coversK && part.tileBlocks > 32))
    return "scales of " + std::to_string(tile) + " elements in blocks of " +
           std::to_string(part.block);
  if (part.block == 0 || part.k % part.block != 0)
    return "K = " + std::to_string(part.k) + " in blocks of " +
           std::to_string(part.block);
  Result<uint64_t> line = evaluateSize(data->linePitch, sizes),
                   matrix = evaluateSize(data->batchPitch, sizes);
  if (!line || !matrix)
    return line ? matrix.why() : line.why();
  part.linePitch = *line;
  part.batchPitch = *matrix;
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

/// Number `element` of the first part.
float QuantizationMaker::valueAt(uint64_t element, int smallest,
                                 int largest) const {
  if (findsOfMatrix())
    return valueToFind(element, smallest, largest);
  const QuantizationRun::Part &part = run.parts.front();
  NumberRange range{smallest, largest,
                    reference::largestElement(part.quantization)};
  if (run.isBothWays()) {
    constexpr uint64_t kExtent = 32;
    uint64_t row = element / part.k % part.rows, column = element % part.k;
    uint64_t matrix = element / part.k / part.rows;
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
/// beyond all f32, and the fourth products with scales that are.
void QuantizationMaker::addTensorScales() {
  constexpr float kTiny = 1e-39f, kHuge = 1e37f;
  if (kernel.operands.size() < 2)
    return findTensorScales();
  std::vector<float> given;
  for (uint64_t i = 0; i < run.batch; ++i) {
    float ordinary =
        std::ldexp(1.0f + float(mix(seed + i) % 1024) / 1024, int(i % 5) - 4);
    float magnitude = i % 4 == 2 ? kTiny : i % 4 == 3 ? kHuge : ordinary;
    given.push_back(i % 2 ? -magnitude : magnitude);
  }
  put(kernel.operands[1].operand, given.data(), run.batch * sizeof(float),
      kernel.operands[1].alignment);
  for (QuantizationRun::Part &part : run.parts)
    part.tensorScales.assign(given.begin(), given.end());
}

void QuantizationMaker::findTensorScales() {
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
QuantizationRun::Part::placeInTile(uint64_t element) const {
  uint64_t row = element / k % rows;
  uint64_t tileRows = (rows + rowTile - 1) / rowTile;
  uint64_t length = tileElements(), tiles = (k + length - 1) / length;
  uint64_t tile = (element / k / rows * tileRows + row / rowTile) * tiles +
                  element % k / length;
  // What is in front in one tile is in another row and block of the next.
  uint64_t inTile = (row + (rowTile == 1 ? 0 : tile)) % rowTile;
  uint64_t turned = tileBlocks == 1 ? 0 : mix(tile) % tileBlocks * block;
  return {tile, inTile * length + (element % k + turned) % length};
}

/// Of blocks of 16 half have none. Each column of tiles has its turn.
uint64_t QuantizationRun::Part::aloneIn(uint64_t tile) const {
  // Every other tile is an ordinary one: pairs of columns take turns.
  if (tileBlocks > 1)
    return mix(tile) % repetitions() * block +
           (tile / 2 * 2 + tile / 32) % block;
  if (rowTile == 1)
    return mix(tile) % std::max<uint64_t>(block, 32);
  // Of tall tiles there are few.
  uint64_t column = rowTile > 32 ? 5 * tile : tile / 2;
  return mix(tile) % rowTile * block + column % block;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

uint64_t QuantizationRun::Part::floatOffset(Place place) const {
  auto [matrix, row, j] = place;
  uint64_t tiles = (k + tileElements() - 1) / tileElements();
  uint64_t tileRow = matrix * ((rows + rowTile - 1) / rowTile) + row / rowTile;
  return (tileRow * tiles + j / tileBlocks) * sizeof(float);
}

std::vector<float> QuantizationRun::Part::valuesOfTile(uint64_t matrix,
                                                       uint64_t row,
                                                       uint64_t j) const {
  uint64_t from = row / rowTile * rowTile;
  uint64_t to = std::min(from + rowTile, rows);
  uint64_t first = j / tileBlocks * tileElements(),
           count = std::min(tileElements(), k - first);
  std::vector<float> tile;
  for (uint64_t r = from; r < to; ++r) {
    auto begin = values.begin() + int64_t((matrix * rows + r) * k + first);
    tile.insert(tile.end(), begin, begin + int64_t(count));
  }
  return tile;
}

uint64_t QuantizationRun::Part::threadInAtom(uint64_t byte) const {
  if (rowTile == 1)
    return byte;
  uint64_t row = byte / 16, place = byte % 16;
  return rowTile <= 32 ? place * 32 + row
                       : place % 4 * 128 + place / 4 * 32 + row;
}

QuantizationRun::Place QuantizationRun::Part::placeOfByte(uint64_t byte) const {
  uint64_t in = byte % 512, atom = byte % matrixBytes() / 512;
  return {byte / matrixBytes(),
          atom / atoms() * 128 + in / 16 + in % 16 / 4 * 32,
          atom % atoms() * 4 + in % 4};
}

/// Where rows of tiles are neighbouring threads 32 of them share a place in an
/// atom of 32 times 16 bytes, of taller tiles 128 each fourth place. Of longer
/// tiles of several rows, of more than an atom, and under floats, the threads
/// of a tile follow each other, and memory may lack some of the last one.
uint64_t QuantizationRun::Part::threadOf(Place place) const {
  constexpr uint64_t kRows = 128, kBlocks = 4;
  auto [matrix, row, j] = place;
  if (quantization.scale && rowTile <= kRows &&
      (tileBlocks == 1 || (rowTile == 1 && tileBlocks <= kBlocks))) {
    uint64_t byte = matrix * matrixBytes() + scaleOffset(row, j, atoms());
    return byte / 512 * 512 + threadInAtom(byte % 512);
  }
  // A CTA has 32 columns, a warp each sixteenth block of them.
  if (coversK && !coversMatrix && isTurned)
    return ((matrix * ((rows + 31) / 32) + row / 32) * 16 + j % 16) * 32 +
           row % 32;
  // A warp has a row.
  if (coversK && !coversMatrix)
    return (matrix * rows + row) * 32 + j % 32;
  uint64_t tallTile = coversMatrix ? 1 : rowTile,
           longTile = coversMatrix ? 1 : tileBlocks;
  uint64_t wholeRows = std::max(tallTile, kRows),
           wholeBlocks = std::max(longTile, kBlocks);
  auto parts = [](uint64_t extent, uint64_t whole) {
    return (extent + whole - 1) / whole;
  };
  uint64_t number = matrix * parts(rows, wholeRows) + row / wholeRows;
  number = number * parts(blocks(), wholeBlocks) + j / wholeBlocks;
  row %= wholeRows;
  j %= wholeBlocks;
  number = number * (wholeRows / tallTile) + row / tallTile;
  number = number * (wholeBlocks / longTile) + j / longTile;
  number = number * tallTile + row % tallTile;
  return number * longTile + j % longTile;
}

/// The CTA that writes the scale of a block. A matrix that is quantised both
/// ways has a CTA for 128 x 128 numbers.
uint64_t QuantizationRun::ctaOf(const Part &part, Place place) const {
  constexpr uint64_t kExtent = 128;
  if (!isBothWays())
    return part.threadOf(place) / threads;
  auto tiles = [](uint64_t size) { return (size + kExtent - 1) / kExtent; };
  uint64_t row = place.row / kExtent, column = place.j * part.block / kExtent;
  if (&part == &parts.back())
    std::swap(row, column);
  const Part &matrix = parts.front();
  return (place.matrix * tiles(matrix.rows) + row) * tiles(matrix.k) + column;
}

void QuantizationRun::compare(const Part &part,
                              const std::vector<uint64_t> &sample,
                              Verdict &verdict) const {
  MemoryImage codes(data, part.operand + "_data"),
      scales(data, part.operand + "_scales");
  uint64_t blocks = part.blocks(), rows = part.rows, block = part.block;
  size_t blockBytes = packedBytes(part.quantization.element, block);
  auto isRun = [&](Place place) {
    return sample.empty() ||
           std::binary_search(sample.begin(), sample.end(), ctaOf(part, place));
  };
  bool isByte = part.quantization.scale.has_value();
  std::optional<uint64_t> lastFloat;
  reference::QuantizedBlock expected;
  auto note = [&](uint64_t number, const std::string &what) {
    if (verdict.diagnosis.empty())
      verdict.diagnosis =
          (isBothWays() ? "'" + part.operand + "', " : std::string()) +
          "matrix " + std::to_string(number / blocks / rows) + ", row " +
          std::to_string(number / blocks % rows) + ", block " +
          std::to_string(number % blocks) + ": " + what;
  };
  // Padding is 0.
  for (uint64_t i = 0; isByte && i < scales.size(); ++i)
    if (isRun(part.placeOfByte(i)))
      *scales.at(i) = 0;
  for (uint64_t number = 0; number < batch * rows * blocks; ++number) {
    uint64_t matrix = number / blocks / rows, row = number / blocks % rows,
             j = number % blocks;
    if (!isRun({matrix, row, j}))
      continue;
    uint64_t place =
        isByte ? matrix * part.matrixBytes() + scaleOffset(row, j, part.atoms())
               : part.floatOffset({matrix, row, j});
    size_t size = isByte ? 1 : sizeof(float);
    uint64_t first = number * block;
    std::optional<reference::TensorScale> factor;
    if (part.hasTensorScale)
      factor = part.tensorScales[matrix];
    // Neighbours share a float, which may be for all of a matrix.
    if (isByte || lastFloat != place)
      expected.scale = reference::scaleOf(
          part.quantization, part.valuesOfTile(matrix, row, j), factor);
    lastFloat = place;
    expected.codes =
        reference::quantizeUnder(part.quantization, expected.scale,
                                 {part.values.begin() + int64_t(first),
                                  part.values.begin() + int64_t(first + block)},
                                 factor, first);
    // The first byte of a number is its lowest.
    for (size_t i = 0; i < size; ++i) {
      auto byte = uint8_t(expected.scale >> (8 * i));
      *scales.at(place + i) = byte;
      if (scales.found(place + i) != byte)
        note(number, "expected scale " + hex(byte) + ", found " +
                         hex(scales.found(place + i)) +
                         (isByte ? "" : " in byte " + std::to_string(i)));
    }
    uint64_t at =
        matrix * part.batchPitch + row * part.linePitch + j * blockBytes;
    packElements(part.quantization.element, expected.codes.data(), block,
                 codes.at(at));
    for (uint64_t i = 0; i < blockBytes; ++i)
      if (codes.found(at + i) != *codes.at(at + i))
        note(number, "byte " + std::to_string(i) + " of the codes: expected " +
                         hex(*codes.at(at + i)) + ", found " +
                         hex(codes.found(at + i)));
    verdict.comparison.compared += block + 1;
  }
  uint64_t wrong = codes.differences() + scales.differences();
  if (part.hasTensorScale) {
    MemoryImage stored(data, part.operand + "_tensor_scale");
    for (uint64_t i = 0; i < batch; ++i) {
      float magnitude = part.tensorScales[i].decode;
      if (isRun({i, 0, 0}))
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

void QuantizationRun::compare(const std::vector<uint64_t> &sample,
                              Verdict &verdict) const {
  for (const Part &part : parts)
    compare(part, sample, verdict);
}
