//===- Packing.cpp - numbers into codes, codes into memory ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Packing.h"
#include "Handles.h"
#include "blockscale/Formats/Format.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/Packing/Operand.h"
#include "blockscale/Packing/Storage.h"
#include "blockscale/Packing/Tile.h"

#include <algorithm>
#include <cstring>

using namespace blockscale;
using namespace blockscale::capi;

static constexpr uint64_t kMostBytes = uint64_t(1) << 62;

static std::vector<uint8_t> bytesOf(const void *data, size_t size) {
  const auto *bytes = static_cast<const uint8_t *>(data);
  return {bytes, bytes + size};
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static packing::OperandLayout layoutOf(const BlockscaleElements *elements) {
  requirePointer(elements, "elements");
  packing::OperandLayout layout;
  layout.bits = elements->bits;
  layout.mnMajor = elements->mnMajor;
  layout.mn = elements->rows;
  layout.k = elements->k;
  layout.batch = elements->batch;
  layout.rowPitch = elements->rowPitch;
  layout.batchPitch = elements->batchPitch;
  if (std::optional<Reason> why = packing::whyNot(layout))
    fail(BLOCKSCALE_INVALID_ARGUMENT, why->text);
  return layout;
}

static uint64_t codeBytes(const packing::OperandLayout &layout) {
  uint64_t codes = layout.batch * layout.mn * layout.k;
  uint64_t each = layout.bits <= 8 ? 1 : layout.bits / 8;
  if (codes > kMostBytes / each)
    fail(BLOCKSCALE_INVALID_ARGUMENT, "the codes do not fit 62 bits");
  return codes * each;
}

/// The layout of elements that are `codes` on one side and `memory` on the
/// other.
static packing::OperandLayout layoutOf(const BlockscaleElements *elements,
                                       const void *codes, size_t codesSize,
                                       const void *memory, size_t memorySize) {
  packing::OperandLayout layout = layoutOf(elements);
  requirePointer(codes, "codes");
  requirePointer(memory, "memory");
  requireSize(codesSize, codeBytes(layout), "codes");
  requireSize(memorySize, packing::storageBytes(layout), "memory");
  return layout;
}

BlockscaleStatus blockscaleElementsGetSize(const BlockscaleElements *elements,
                                           uint64_t *bytes) {
  return guarded([&] {
    requirePointer(bytes, "bytes");
    *bytes = packing::storageBytes(layoutOf(elements));
  });
}

BlockscaleStatus blockscalePackElements(const BlockscaleElements *elements,
                                        const void *codes, size_t codesSize,
                                        void *memory, size_t memorySize) {
  return guarded([&] {
    packing::OperandLayout layout =
        layoutOf(elements, codes, codesSize, memory, memorySize);
    auto packed = packing::packOperand(layout, bytesOf(codes, codesSize));
    if (!packed)
      fail(BLOCKSCALE_INTERNAL, "the elements have no storage");
    std::memcpy(memory, packed->data(), packed->size());
  });
}

BlockscaleStatus blockscaleUnpackElements(const BlockscaleElements *elements,
                                          const void *memory, size_t memorySize,
                                          void *codes, size_t codesSize) {
  return guarded([&] {
    packing::OperandLayout layout =
        layoutOf(elements, codes, codesSize, memory, memorySize);
    auto unpacked = packing::unpackOperand(layout, bytesOf(memory, memorySize));
    if (!unpacked)
      fail(BLOCKSCALE_INTERNAL, "the elements have no storage");
    std::memcpy(codes, unpacked->data(), unpacked->size());
  });
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

namespace {
struct ScaleStorage {
  hw::Layout layout;
  packing::ByteMatrices matrices;
  uint64_t plainBytes, bytes;
};
} // namespace

static ScaleStorage storageOf(const BlockscaleScales *scales) {
  requirePointer(scales, "scales");
  const hw::Layout layouts[] = {hw::kPlainRows, hw::kTiledScales,
                                hw::kRowTiledScales};
  hw::Layout layout =
      layouts[enumeratorOf<unsigned>(scales->layout, 3, "layout")];
  if (!scales->batch || !scales->rows || !scales->blocks)
    fail(BLOCKSCALE_INVALID_ARGUMENT,
         "scales of " + std::to_string(scales->batch) + " x " +
             std::to_string(scales->rows) + " x " +
             std::to_string(scales->blocks) + " are empty");
  auto padded = [&](uint64_t extent, hw::Dim dim) {
    uint64_t multiple = layout.multipleOf(dim);
    return extent > kMostBytes ? kMostBytes + 1
                               : hw::ceilDiv(extent, multiple) * multiple;
  };
  uint64_t bytes = scales->batch;
  if (__builtin_mul_overflow(bytes, padded(scales->rows, hw::Dim::Row),
                             &bytes) ||
      __builtin_mul_overflow(bytes, padded(scales->blocks, hw::Dim::Block),
                             &bytes) ||
      bytes > kMostBytes)
    fail(BLOCKSCALE_INVALID_ARGUMENT, "the scales do not fit 62 bits");
  packing::ByteMatrices matrices{scales->batch, scales->rows, scales->blocks};
  return {layout, matrices, scales->batch * scales->rows * scales->blocks,
          packing::storageBytes(layout, matrices)};
}

/// The storage of scales that are `plain` on one side and `memory` on the
/// other.
static ScaleStorage storageOf(const BlockscaleScales *scales, const void *plain,
                              size_t plainSize, const void *memory,
                              size_t memorySize) {
  ScaleStorage storage = storageOf(scales);
  requirePointer(plain, "plain");
  requirePointer(memory, "memory");
  requireSize(plainSize, storage.plainBytes, "plain");
  requireSize(memorySize, storage.bytes, "memory");
  return storage;
}

BlockscaleStatus blockscaleScalesGetSize(const BlockscaleScales *scales,
                                         uint64_t *bytes) {
  return guarded([&] {
    requirePointer(bytes, "bytes");
    *bytes = storageOf(scales).bytes;
  });
}

BlockscaleStatus blockscalePackScales(const BlockscaleScales *scales,
                                      const void *plain, size_t plainSize,
                                      uint8_t padding, void *memory,
                                      size_t memorySize) {
  return guarded([&] {
    ScaleStorage storage =
        storageOf(scales, plain, plainSize, memory, memorySize);
    std::memset(memory, padding, memorySize);
    packing::toStorage(storage.layout, storage.matrices,
                       static_cast<const uint8_t *>(plain),
                       static_cast<uint8_t *>(memory));
  });
}

BlockscaleStatus blockscaleUnpackScales(const BlockscaleScales *scales,
                                        const void *memory, size_t memorySize,
                                        void *plain, size_t plainSize) {
  return guarded([&] {
    ScaleStorage storage =
        storageOf(scales, plain, plainSize, memory, memorySize);
    packing::fromStorage(storage.layout, storage.matrices,
                         static_cast<const uint8_t *>(memory),
                         static_cast<uint8_t *>(plain));
  });
}

BlockscaleStatus blockscaleRepeatScales(const BlockscaleScales *scales,
                                        uint64_t rowsPerScale,
                                        uint64_t blocksPerScale,
                                        const void *own, size_t ownSize,
                                        void *plain, size_t plainSize) {
  return guarded([&] {
    ScaleStorage storage = storageOf(scales);
    requirePointer(own, "own");
    requirePointer(plain, "plain");
    if (!blocksPerScale)
      fail(BLOCKSCALE_INVALID_ARGUMENT, "a scale for 0 blocks");
    requireSize(plainSize, storage.plainBytes, "plain");
    uint64_t rows = std::min(rowsPerScale, scales->rows);
    uint64_t blocks = std::min(blocksPerScale, scales->blocks);
    requireSize(ownSize,
                scales->batch * (rows ? hw::ceilDiv(scales->rows, rows) : 1) *
                    hw::ceilDiv(scales->blocks, blocks),
                "own");
    // How long a block is does not matter.
    constexpr unsigned kBlock = 32;
    auto repeated = packing::repeatScales(
        {kBlock, scales->rows, scales->blocks * kBlock, scales->batch},
        {rows, blocks * kBlock}, bytesOf(own, ownSize));
    if (!repeated)
      fail(BLOCKSCALE_INTERNAL, "the scales have no storage");
    std::memcpy(plain, repeated->data(), repeated->size());
  });
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

static ElementFormat formatOf(BlockscaleSlice name) {
  std::string_view text = textOf(name, "format");
  std::optional<ElementFormat> format = parseFormat(text);
  if (format)
    return *format;
  std::string known;
  for (const FormatInfo &info : kFormats)
    known += (known.empty() ? "'" : ", '") + std::string(info.name) + "'";
  fail(BLOCKSCALE_INVALID_ARGUMENT,
       "no format '" + std::string(text) + "'; there are " + known);
}

/// Bytes of a code of `format`, for `count` of which there are `size`.
static size_t codeWidth(ElementFormat format, size_t count, size_t size) {
  size_t width = formatInfo(format).bits > 8 ? 2 : 1;
  if (count > SIZE_MAX / 4)
    fail(BLOCKSCALE_INVALID_ARGUMENT, "there cannot be that many numbers");
  requireSize(size, count * width, "codes");
  return width;
}

BlockscaleStatus blockscaleEncode(BlockscaleSlice name, const float *values,
                                  size_t count, void *codes, size_t codesSize) {
  return guarded([&] {
    ElementFormat format = formatOf(name);
    size_t width = codeWidth(format, count, codesSize);
    if (!count)
      return;
    requirePointer(values, "values");
    requirePointer(codes, "codes");
    auto *bytes = static_cast<uint8_t *>(codes);
    for (size_t i = 0; i < count; ++i) {
      uint32_t code = encode(format, values[i]);
      for (size_t byte = 0; byte < width; ++byte)
        bytes[i * width + byte] = static_cast<uint8_t>(code >> (8 * byte));
    }
  });
}

BlockscaleStatus blockscaleDecode(BlockscaleSlice name, const void *codes,
                                  size_t codesSize, float *values,
                                  size_t count) {
  return guarded([&] {
    ElementFormat format = formatOf(name);
    size_t width = codeWidth(format, count, codesSize);
    if (!count)
      return;
    requirePointer(values, "values");
    requirePointer(codes, "codes");
    const auto *bytes = static_cast<const uint8_t *>(codes);
    for (size_t i = 0; i < count; ++i) {
      uint32_t code = bytes[i * width];
      if (width == 2)
        code |= uint32_t(bytes[i * width + 1]) << 8;
      values[i] = decode(format, code);
    }
  });
}
