//===- PlacedScales.cpp - scales that instructions read -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlacedScales.h"
#include "OperandLines.h"
#include "blockscale/Formats/Format.h"

#include <algorithm>
#include <cstring>
#include <tuple>

using namespace blockscale;
using namespace blockscale::runtime;

/// The rows of scales of `count` rows in groups, each of which starts at a
/// whole tile. Rows behind the last end have no scales: any place is theirs.
static std::vector<uint64_t> rowsByGroups(const HostOperand &ends,
                                          uint64_t count) {
  constexpr uint64_t kTileRows = 128;
  std::vector<uint64_t> rows(count);
  uint64_t first = 0, firstOfScales = 0;
  forEachLine(ends, [&](uint64_t, const uint8_t *line) {
    for (uint64_t i = 0; i < lineElements(ends); ++i) {
      int32_t end;
      std::memcpy(&end, line + int64_t(i) * lineStep(ends), sizeof(end));
      uint64_t behind =
          std::clamp<uint64_t>(uint64_t(std::max(end, 0)), first, count);
      for (uint64_t row = first; row < behind; ++row)
        rows[row] = firstOfScales + row - first;
      firstOfScales += (behind - first + kTileRows - 1) / kTileRows * kTileRows;
      first = behind;
    }
  });
  return rows;
}

/// How far the coordinate `name` moves a place at each of `values`. In all
/// layouts a place is a sum of what each coordinate adds, and 0 for zeros.
static Result<std::vector<uint64_t>>
movesOf(const plan::ScalePacking &packing, const plan::Environment &sizes,
        const std::string &name, const std::vector<uint64_t> &values) {
  plan::Environment environment = sizes;
  for (const char *each : {"l", "r", "j"})
    environment[each] = 0;
  std::vector<uint64_t> moves;
  for (uint64_t value : values) {
    environment[name] = int64_t(value);
    Result<uint64_t> place = plan::evaluateSize(packing.offset, environment);
    if (!place)
      return place.why();
    moves.push_back(*place);
  }
  return moves;
}

static std::vector<uint64_t> upTo(uint64_t count) {
  std::vector<uint64_t> values(count);
  for (uint64_t i = 0; i < count; ++i)
    values[i] = i;
  return values;
}

static uint64_t largestOf(const std::vector<uint64_t> &moves) {
  return moves.empty() ? 0 : *std::max_element(moves.begin(), moves.end());
}

Result<PlacedScales> PlacedScales::read(const plan::ScalePacking &packing,
                                        const plan::Environment &sizes,
                                        const HostOperand &operand,
                                        const HostOperand *ends,
                                        uint64_t matrices, uint64_t rows,
                                        uint64_t k) {
  std::optional<ElementFormat> format = parseFormat(packing.format);
  if (!format || !packing.block)
    return Reason("scales of '" + packing.format + "' are not read");
  PlacedScales scales;
  for (uint32_t code = 0; code <= UINT8_MAX; ++code)
    scales.numbers.push_back(decode(*format, code));
  scales.block = packing.block;
  uint64_t blocks = k / packing.block + (k % packing.block != 0);
  for (const auto &[moves, name, values] :
       {std::tuple(&scales.ofMatrix, "l", upTo(matrices)),
        {&scales.ofRow, "r", ends ? rowsByGroups(*ends, rows) : upTo(rows)},
        {&scales.ofBlock, "j", upTo(blocks)}}) {
    Result<std::vector<uint64_t>> found = movesOf(packing, sizes, name, values);
    if (!found)
      return found.why();
    *moves = std::move(*found);
  }
  forEachLine(operand, [&](uint64_t, const uint8_t *line) {
    for (uint64_t i = 0; i < lineElements(operand); ++i)
      scales.places.push_back(line[int64_t(i) * lineStep(operand)]);
  });
  uint64_t expected = largestOf(scales.ofMatrix) + largestOf(scales.ofRow) +
                      largestOf(scales.ofBlock) + 1;
  if (scales.places.size() < expected)
    return Reason("operand '" + operand.role + "' has " +
                  std::to_string(scales.places.size()) +
                  " elements; expected " + std::to_string(expected) +
                  " or more");
  return scales;
}
