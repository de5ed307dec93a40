//===- QuantizedParts.cpp - what a kernel that quantises has written ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Quantization.h"
#include "QuantizedMemory.h"
#include "QuantizedNumbers.h"

#include <algorithm>
#include <cstring>
#include <functional>

using namespace blockscale;
using namespace blockscale::verify;

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

uint64_t QuantizationRun::Part::plainOffset(Place place) const {
  auto [matrix, row, j] = place;
  uint64_t tiles = (k + tileElements() - 1) / tileElements();
  uint64_t tileRow = matrix * ((rows + rowTile - 1) / rowTile) + row / rowTile;
  return (tileRow * tiles + j / tileBlocks) * scaleBytes;
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

uint32_t QuantizationRun::Part::expectedScale(Place place) const {
  auto [matrix, row, j] = place;
  if (isScaleGiven)
    return reference::givenScale(quantization, tensorScales[matrix].decode);
  std::optional<reference::TensorScale> factor;
  if (hasTensorScale)
    factor = tensorScales[matrix];
  return reference::scaleOf(quantization, valuesOfTile(matrix, row, j), factor);
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
  if (isTiled && rowTile <= kRows &&
      (tileBlocks == 1 || (rowTile == 1 && tileBlocks <= kBlocks))) {
    uint64_t byte = matrix * matrixBytes() + scaleOffset(row, j, atoms());
    return byte / 512 * 512 + threadInAtom(byte % 512);
  }
  // A CTA has 32 columns, a warp each sixteenth block of them.
  if (coversK && !coversMatrix && isTurned)
    return ((matrix * ((rows + 31) / 32) + row / 32) * 16 + j % 16) * 32 +
           row % 32;
  // A warp has a row, or several warps.
  if (coversK && !coversMatrix)
    return (matrix * rows + row) * rowThreads + j % rowThreads;
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

bool QuantizationRun::hasLines() const {
  return std::any_of(parts.begin(), parts.end(), [](const Part &one) {
    return one.coversK && !one.coversMatrix;
  });
}

/// The CTA that writes the scale of a block. A matrix that is quantised both
/// ways has a CTA for 128 x 128 numbers, but where a scale is for all of a row
/// CTAs for each way, those of the transpose behind the others.
uint64_t QuantizationRun::ctaOf(const Part &part, Place place) const {
  constexpr uint64_t kExtent = 128;
  if (!isBothWays())
    return part.threadOf(place) / threads;
  const Part &first = parts.front();
  if (hasLines()) {
    Place last{batch - 1, first.rows - 1, first.blocks() - 1};
    uint64_t before = &part == &first ? 0 : first.threadOf(last) / threads + 1;
    return before + part.threadOf(place) / threads;
  }
  auto tiles = [](uint64_t size) { return (size + kExtent - 1) / kExtent; };
  uint64_t row = place.row / kExtent, column = place.j * part.block / kExtent;
  if (&part == &parts.back())
    std::swap(row, column);
  return (place.matrix * tiles(first.rows) + row) * tiles(first.k) + column;
}

bool QuantizationRun::isOf(const Part &part, Place place,
                           const std::vector<uint64_t> &sample) const {
  return sample.empty() ||
         std::binary_search(sample.begin(), sample.end(), ctaOf(part, place));
}

uint64_t
QuantizationRun::wrongTensorScales(const Part &part,
                                   const std::vector<uint64_t> &sample) const {
  MemoryImage stored(data, part.operand + "_tensor_scale");
  for (uint64_t i = 0; i < batch; ++i) {
    float magnitude = part.tensorScales[i].decode;
    if (isOf(part, {i, 0, 0}, sample))
      std::memcpy(stored.at(i * sizeof(float)), &magnitude, sizeof(float));
  }
  return stored.differences();
}

/// Takes a sentence on what is wrong with a block.
using TellOf = std::function<void(const std::string &)>;

/// Puts what is expected of the `size` bytes of a scale into the image, and
/// tells of those that are others.
static void compareScale(MemoryImage &scales, uint64_t place, size_t size,
                         uint32_t expected, const TellOf &tell) {
  // The first byte of a number is its lowest.
  for (size_t i = 0; i < size; ++i) {
    auto byte = uint8_t(expected >> (8 * i));
    *scales.at(place + i) = byte;
    if (scales.found(place + i) != byte)
      tell("expected scale " + hex(byte) + ", found " +
           hex(scales.found(place + i)) +
           (size == 1 ? "" : " in byte " + std::to_string(i)));
  }
}

/// The same of the codes of a block, `place` being that of its first byte.
static void compareCodes(MemoryImage &codes, uint64_t place,
                         ElementFormat element,
                         const std::vector<uint8_t> &expected,
                         const TellOf &tell) {
  packElements(element, expected.data(), expected.size(), codes.at(place));
  for (uint64_t i = 0; i < packedBytes(element, expected.size()); ++i)
    if (codes.found(place + i) != *codes.at(place + i))
      tell("byte " + std::to_string(i) + " of the codes: expected " +
           hex(*codes.at(place + i)) + ", found " +
           hex(codes.found(place + i)));
}

void QuantizationRun::compare(const Part &part,
                              const std::vector<uint64_t> &sample,
                              Verdict &verdict) const {
  MemoryImage codes(data, part.operand + "_data"),
      scales(data, part.operand + "_scales");
  uint64_t blocks = part.blocks(), rows = part.rows, block = part.block;
  size_t blockBytes = packedBytes(part.quantization.element, block);
  auto isRun = [&](Place place) { return isOf(part, place, sample); };
  std::optional<uint64_t> lastPlain;
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
  for (uint64_t i = 0; part.isTiled && i < scales.size(); ++i)
    if (isRun(part.placeOfByte(i)))
      *scales.at(i) = 0;
  for (uint64_t number = 0; number < batch * rows * blocks; ++number) {
    uint64_t matrix = number / blocks / rows, row = number / blocks % rows,
             j = number % blocks;
    if (!isRun({matrix, row, j}))
      continue;
    uint64_t place = part.isTiled ? matrix * part.matrixBytes() +
                                        scaleOffset(row, j, part.atoms())
                                  : part.plainOffset({matrix, row, j});
    uint64_t first = number * block;
    std::optional<reference::TensorScale> factor;
    if (part.hasTensorScale)
      factor = part.tensorScales[matrix];
    // Neighbours share a plain one, which may be for all of a matrix.
    if (part.isTiled || lastPlain != place)
      expected.scale = part.expectedScale({matrix, row, j});
    lastPlain = place;
    expected.codes =
        reference::quantizeUnder(part.quantization, expected.scale,
                                 {part.values.begin() + int64_t(first),
                                  part.values.begin() + int64_t(first + block)},
                                 factor, first);
    auto tell = [&](const std::string &what) { note(number, what); };
    compareScale(scales, place, part.scaleBytes, expected.scale, tell);
    uint64_t at =
        matrix * part.batchPitch + row * part.linePitch + j * blockBytes;
    compareCodes(codes, at, part.quantization.element, expected.codes, tell);
    verdict.comparison.compared += block + 1;
  }
  uint64_t wrong = codes.differences() + scales.differences();
  if (part.hasTensorScale)
    wrong += wrongTensorScales(part, sample);
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
