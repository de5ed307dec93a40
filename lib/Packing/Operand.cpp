//===- Operand.cpp - element codes into operand storage and back ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Operand.h"
#include "blockscale/Formats/Format.h"

#include <algorithm>
#include <limits>

using namespace blockscale;
using namespace blockscale::packing;

/// Sizes stay below this, so that they are valid offsets in every host type.
static constexpr uint64_t kMaxBytes = std::numeric_limits<int64_t>::max();

static uint64_t rowLength(const OperandLayout &layout) {
  return layout.mnMajor ? layout.mn : layout.k;
}

static uint64_t rowCount(const OperandLayout &layout) {
  return layout.mnMajor ? layout.k : layout.mn;
}

static bool overflows(uint64_t left, uint64_t right) {
  return left != 0 && right > kMaxBytes / left;
}

/// A format of the given width; the bulk packers look at nothing else.
static ElementFormat formatOfWidth(unsigned bits) {
  return bits == 4   ? ElementFormat::E2M1
         : bits == 6 ? ElementFormat::E2M3
                     : ElementFormat::E4M3;
}

uint64_t packing::rowBytes(const OperandLayout &layout) {
  uint64_t length = rowLength(layout);
  return length / 8 * layout.bits + (length % 8 * layout.bits + 7) / 8;
}

uint64_t packing::effectiveRowPitch(const OperandLayout &layout) {
  return layout.rowPitch ? layout.rowPitch : rowBytes(layout);
}

uint64_t packing::effectiveBatchPitch(const OperandLayout &layout) {
  return layout.batchPitch ? layout.batchPitch
                           : rowCount(layout) * effectiveRowPitch(layout);
}

uint64_t packing::storageBytes(const OperandLayout &layout) {
  return layout.batch * effectiveBatchPitch(layout);
}

std::optional<Reason> packing::whyNot(const OperandLayout &layout) {
  if (layout.bits != 4 && layout.bits != 6 && layout.bits != 8 &&
      layout.bits != 16 && layout.bits != 32)
    return "elements of " + std::to_string(layout.bits) +
           " bits; operands have 4, 6, 8, 16 or 32";
  if (layout.mnMajor && layout.bits != 8 && layout.bits != 16)
    return "elements of " + std::to_string(layout.bits) +
           " bits are stored along 'k' only; rows along 'mn' need 8 or 16 bits";
  if (layout.mn == 0 || layout.k == 0 || layout.batch == 0)
    return "an operand of " + std::to_string(layout.batch) + " x " +
           std::to_string(layout.mn) + " x " + std::to_string(layout.k) +
           " elements is empty";
  if (overflows(layout.mn, layout.k) ||
      overflows(layout.mn * layout.k, layout.batch))
    return "the number of elements does not fit 63 bits";
  if (effectiveRowPitch(layout) < rowBytes(layout))
    return "a row pitch of " + std::to_string(layout.rowPitch) +
           " bytes; a row takes " + std::to_string(rowBytes(layout));
  if (overflows(rowCount(layout), effectiveRowPitch(layout)))
    return "the storage does not fit 63 bits";
  uint64_t matrix = rowCount(layout) * effectiveRowPitch(layout);
  if (effectiveBatchPitch(layout) < matrix)
    return "a batch pitch of " + std::to_string(layout.batchPitch) +
           " bytes; a matrix takes " + std::to_string(matrix);
  if (overflows(layout.batch, effectiveBatchPitch(layout)))
    return "the storage does not fit 63 bits";
  return std::nullopt;
}

/// Bytes of a code outside of the storage.
static uint64_t codeBytes(const OperandLayout &layout) {
  return layout.bits <= 8 ? 1 : layout.bits / 8;
}

/// Stores `length` codes the way the storage has them.
static void packLine(const OperandLayout &layout, const uint8_t *codes,
                     uint64_t length, uint8_t *storage) {
  if (layout.bits <= 8)
    packElements(formatOfWidth(layout.bits), codes, length, storage);
  else
    std::copy_n(codes, length * codeBytes(layout), storage);
}

static void unpackLine(const OperandLayout &layout, const uint8_t *storage,
                       uint64_t length, uint8_t *codes) {
  if (layout.bits <= 8)
    unpackElements(formatOfWidth(layout.bits), storage, length, codes);
  else
    std::copy_n(storage, length * codeBytes(layout), codes);
}

std::optional<std::vector<uint8_t>>
packing::packOperand(const OperandLayout &layout,
                     const std::vector<uint8_t> &codes) {
  uint64_t bytes = codeBytes(layout);
  if (whyNot(layout) ||
      codes.size() != layout.batch * layout.mn * layout.k * bytes)
    return std::nullopt;
  std::vector<uint8_t> storage(storageBytes(layout));
  uint64_t rows = rowCount(layout), length = rowLength(layout);
  std::vector<uint8_t> gathered(length * bytes);
  for (uint64_t batch = 0; batch < layout.batch; ++batch)
    for (uint64_t row = 0; row < rows; ++row) {
      const uint8_t *matrix = codes.data() + batch * rows * length * bytes;
      const uint8_t *source = matrix + row * length * bytes;
      if (layout.mnMajor) {
        for (uint64_t i = 0; i < length; ++i)
          std::copy_n(matrix + (i * layout.k + row) * bytes, bytes,
                      gathered.data() + i * bytes);
        source = gathered.data();
      }
      packLine(layout, source, length,
               storage.data() + batch * effectiveBatchPitch(layout) +
                   row * effectiveRowPitch(layout));
    }
  return storage;
}

std::optional<std::vector<uint8_t>>
packing::unpackOperand(const OperandLayout &layout,
                       const std::vector<uint8_t> &storage) {
  if (whyNot(layout) || storage.size() != storageBytes(layout))
    return std::nullopt;
  uint64_t bytes = codeBytes(layout);
  std::vector<uint8_t> codes(layout.batch * layout.mn * layout.k * bytes);
  uint64_t rows = rowCount(layout), length = rowLength(layout);
  std::vector<uint8_t> line(length * bytes);
  for (uint64_t batch = 0; batch < layout.batch; ++batch)
    for (uint64_t row = 0; row < rows; ++row) {
      unpackLine(layout,
                 storage.data() + batch * effectiveBatchPitch(layout) +
                     row * effectiveRowPitch(layout),
                 length, line.data());
      uint8_t *matrix = codes.data() + batch * rows * length * bytes;
      if (!layout.mnMajor)
        std::copy(line.begin(), line.end(), matrix + row * length * bytes);
      else
        for (uint64_t i = 0; i < length; ++i)
          std::copy_n(line.data() + i * bytes, bytes,
                      matrix + (i * layout.k + row) * bytes);
    }
  return codes;
}
