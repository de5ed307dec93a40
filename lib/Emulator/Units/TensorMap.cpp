//===- TensorMap.cpp - rules of tensor maps and box addresses -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMapCopy.h"
#include "blockscale/Emulator/TensorMapBytes.h"

#include <algorithm>

namespace blockscale::emulator {

using Reason = std::optional<std::string>;

unsigned globalBits(TensorMapType type) {
  switch (type) {
  case TensorMapType::U8:
    return 8;
  case TensorMapType::U16:
  case TensorMapType::F16:
  case TensorMapType::BF16:
    return 16;
  case TensorMapType::U64:
  case TensorMapType::S64:
  case TensorMapType::F64:
    return 64;
  case TensorMapType::U4Align8:
  case TensorMapType::U4Align16:
    return 4;
  case TensorMapType::U6Align16:
    return 6;
  default:
    return 32;
  }
}

static bool isPadded(TensorMapType type) {
  return type == TensorMapType::U4Align16 || type == TensorMapType::U6Align16;
}

static bool isFloat(TensorMapType type) {
  switch (type) {
  case TensorMapType::F16:
  case TensorMapType::F32:
  case TensorMapType::F64:
  case TensorMapType::BF16:
  case TensorMapType::F32Ftz:
  case TensorMapType::TF32:
  case TensorMapType::TF32Ftz:
    return true;
  default:
    return false;
  }
}

/// Bits of one element in shared memory.
static unsigned sharedBits(TensorMapType type) {
  return isPadded(type) ? 8 : globalBits(type);
}

/// Bits of a place along the inner dimension in global memory: an element, or,
/// of interleaved tensors, 16 or 32 bytes of channels of a pixel, whatever the
/// type. These have dimensions W, H and D as far as they are there, slices of
/// channels, and images. (All of it as an H100 does.)
static unsigned placeBits(const TensorMap &map) {
  constexpr unsigned kSliceBits = 128;
  return map.interleave == Interleave::None
             ? globalBits(map.type)
             : kSliceBits * unsigned(map.interleave);
}

/// The same in shared memory.
static unsigned sharedPlaceBits(const TensorMap &map) {
  return map.interleave == Interleave::None ? sharedBits(map.type)
                                            : placeBits(map);
}

/// How often a copy steps along a dimension. It has one slice of channels,
/// whatever the box says; along the inner dimension only pixels have steps.
static uint32_t stepsOf(const TensorMap &map, unsigned dimension) {
  bool isInterleaved = map.interleave != Interleave::None;
  if (isInterleaved && dimension + 2 == map.rank)
    return 1;
  if (!isInterleaved && dimension == 0)
    return map.boxDim[0];
  uint32_t step = map.elementStrides[dimension];
  return (map.boxDim[dimension] + step - 1) / step;
}

static unsigned swizzleSpan(Swizzle swizzle) {
  switch (swizzle) {
  case Swizzle::None:
    return 0;
  case Swizzle::B32:
    return 32;
  case Swizzle::B64:
    return 64;
  case Swizzle::B96:
    return 96;
  default:
    return 128;
  }
}

static std::string number(uint64_t value) { return std::to_string(value); }

/// Of addresses and strides.
static uint64_t alignmentOf(const TensorMap &map) {
  return isPadded(map.type) || map.interleave == Interleave::B32 ? 32 : 16;
}

static Reason checkDimensions(const TensorMap &map) {
  uint64_t strideAlign = alignmentOf(map);
  unsigned multiple = isPadded(map.type)                    ? 128
                      : map.type == TensorMapType::U4Align8 ? 2
                                                            : 1;
  for (unsigned d = 0; d < map.rank; ++d) {
    uint64_t size = map.globalDim[d];
    if (size == 0 || size > uint64_t(1) << 32)
      return "globalDim[" + number(d) + "] is " + number(size) +
             ", must be in 1..2^32";
    if (map.boxDim[d] == 0 || map.boxDim[d] > 256)
      return "boxDim[" + number(d) + "] is " + number(map.boxDim[d]) +
             ", must be in 1..256";
    if (map.elementStrides[d] == 0 || map.elementStrides[d] > 8)
      return "elementStrides[" + number(d) + "] is " +
             number(map.elementStrides[d]) + ", must be in 1..8";
    if (d == 0)
      continue;
    uint64_t stride = map.globalStrides[d - 1];
    if (stride % strideAlign || stride >= uint64_t(1) << 40)
      return "globalStrides[" + number(d - 1) + "] is " + number(stride) +
             ", must be a multiple of " + number(strideAlign) + " below 2^40";
  }
  if (map.globalDim[0] % multiple)
    return "globalDim[0] is " + number(map.globalDim[0]) +
           ", must be a multiple of " + number(multiple) +
           " for this data type";
  return std::nullopt;
}

/// The rules of the two im2col encoders.
static Reason checkIm2col(const TensorMap &map) {
  if (unsigned(map.traversal) > unsigned(Traversal::Im2colW128))
    return "traversal code " + number(unsigned(map.traversal)) +
           " does not exist";
  if (map.rank < 3)
    return "rank is " + number(map.rank) + ", must be in 3..5";
  bool wide = map.traversal != Traversal::Im2col;
  unsigned axes = wide ? 1 : map.rank - 2;
  // 16 bits hold the offsets of all axes.
  int32_t limit = wide || map.rank == 3 ? 32768 : map.rank == 4 ? 128 : 16;
  for (unsigned i = 0; i < axes; ++i) {
    for (int32_t offset : {map.lowerCorner[i], map.upperCorner[i]})
      if (offset < -limit || offset >= limit)
        return "a corner's offset is " + std::to_string(offset) +
               ", must be in " + std::to_string(-limit) + ".." +
               std::to_string(limit - 1);
    if (int64_t(map.globalDim[i + 1]) + map.upperCorner[i] <=
        map.lowerCorner[i])
      return "the bounding box is empty in dimension " + number(i + 1);
  }
  if (map.pixels == 0 || map.pixels > 1024)
    return "pixelsPerColumn is " + number(map.pixels) + ", must be in 1..1024";
  bool isLegal = map.swizzle == Swizzle::None || map.swizzle == Swizzle::B64 ||
                 map.swizzle == Swizzle::B128 ||
                 map.swizzle == Swizzle::B128Atom32;
  if (wide && !isLegal)
    return std::string("the modes along W need no swizzle, the 64-byte swizzle "
                       "or the 128-byte swizzle with 16- or 32-byte atoms");
  return std::nullopt;
}

Reason whyNot(const TensorMap &map) {
  unsigned type = unsigned(map.type);
  if (type > 15)
    return "data type code " + number(type) + " does not exist";
  if (map.rank == 0 || map.rank > 5)
    return "rank is " + number(map.rank) + ", must be in 1..5";
  if (map.traversal != Traversal::Tiled)
    if (auto reason = checkIm2col(map))
      return reason;
  if (map.interleave != Interleave::None && map.rank < 3)
    return "rank is " + number(map.rank) +
           ", must be in 3..5 of interleaved tensors";
  if (unsigned(map.swizzle) > unsigned(Swizzle::B96))
    return "swizzle code " + number(unsigned(map.swizzle)) + " does not exist";
  uint64_t align = alignmentOf(map);
  if (map.globalAddress % align)
    return "globalAddress is not a multiple of " + number(align);
  if (auto reason = checkDimensions(map))
    return reason;
  if (isPadded(map.type)) {
    if (map.boxDim[0] != 128)
      return "boxDim[0] is " + number(map.boxDim[0]) +
             ", must be 128 for padded 4- and 6-bit types";
    bool legal = map.swizzle == Swizzle::None || map.swizzle == Swizzle::B128 ||
                 map.swizzle == Swizzle::B128Atom32;
    if (!legal)
      return std::string("padded 4- and 6-bit types allow no swizzle or the "
                         "128-byte swizzle with 16- or 32-byte atoms only");
  }
  if (map.oobFill == OobFill::NaN && !isFloat(map.type))
    return std::string("NaN fill needs a floating-point data type");
  uint32_t innerBits = map.boxDim[0] * sharedBits(map.type);
  if (innerBits % 128)
    return "boxDim[0] spans " + number(innerBits / 8) +
           " bytes, must be a multiple of 16";
  unsigned span = swizzleSpan(map.swizzle);
  if (span && innerBits / 8 > span && map.interleave == Interleave::None)
    return "boxDim[0] spans " + number(innerBits / 8) +
           " bytes, more than the " + number(span) + " of the swizzle";
  return std::nullopt;
}

uint64_t boxBytes(const TensorMap &map) {
  uint64_t bits = placeBits(map);
  for (unsigned d = 0; d < map.rank; ++d)
    bits *= stepsOf(map, d);
  return bits / 8;
}

uint32_t swizzleAddress(Swizzle swizzle, uint32_t a) {
  switch (swizzle) {
  case Swizzle::None:
    return a;
  case Swizzle::B32:
  case Swizzle::B96:
    return a ^ (a >> 7 & 1) << 4;
  case Swizzle::B64:
    return a ^ (a >> 7 & 3) << 4;
  case Swizzle::B128:
    return a ^ (a >> 7 & 7) << 4;
  case Swizzle::B128Atom32:
    return a ^ (a >> 7 & 3) << 5;
  case Swizzle::B128Atom32Flip8:
    return a ^ (a >> 7 & 3) << 5 ^ (a >> 7 & 1) << 3;
  case Swizzle::B128Atom64:
    return a ^ (a >> 7 & 1) << 6;
  }
  return a;
}

namespace {

/// Emits the runs of the rows of a box.
struct BoxWalker {
  const TensorMap &map;
  Box &box;
  int64_t width;       ///< elements of a row that a copy moves
  int64_t first;       ///< coordinate of the inner dimension
  uint32_t innerCount; ///< elements along the inner dimension
  uint32_t offset = 0; ///< in shared memory

  uint32_t sharedBytes(uint32_t elements) const {
    return uint32_t(uint64_t(elements) * sharedPlaceBits(map) / 8);
  }
  void fill(uint32_t elements) {
    if (elements == 0)
      return;
    box.runs.push_back({0, 0, offset, sharedBytes(elements)});
    offset += sharedBytes(elements);
  }
  /// Pixels of interleaved tensors, one by one.
  void pixels(uint64_t base, bool inside) {
    uint32_t bytes = placeBits(map) / 8;
    for (uint32_t i = 0; i < innerCount; ++i) {
      int64_t x = first + int64_t(i) * map.elementStrides[0];
      if (inside && x >= 0 && x < width) {
        box.runs.push_back({base + uint64_t(x) * bytes, bytes, offset, bytes});
        offset += bytes;
      } else {
        fill(1);
      }
    }
  }
  /// Puts the next row at a multiple of the swizzle's span.
  void row(uint64_t base, bool inside) {
    if (map.interleave != Interleave::None)
      return pixels(base, inside);
    elements(base, inside);
    uint32_t span = std::max(swizzleSpan(map.swizzle), 1u);
    offset = (offset + span - 1) / span * span;
  }
  void elements(uint64_t base, bool inside) {
    int64_t begin = std::min<int64_t>(std::max<int64_t>(-first, 0), innerCount);
    int64_t end =
        std::min<int64_t>(std::max<int64_t>(width - first, 0), innerCount);
    if (!inside || begin >= end) {
      fill(innerCount);
      return;
    }
    fill(uint32_t(begin));
    uint64_t bits = placeBits(map);
    uint32_t elements = uint32_t(end - begin);
    box.runs.push_back({base + uint64_t(first + begin) * bits / 8,
                        uint32_t(elements * bits / 8), offset,
                        sharedBytes(elements)});
    offset += sharedBytes(elements);
    fill(uint32_t(innerCount - end));
  }
};

} // namespace

/// A store and a reduction write whole units of 16 bytes, also where the tensor
/// ends inside of one: measured on an H100 and an H200. Rows are no shorter.
static int64_t widthOfRows(const TensorMap &map, bool store) {
  int64_t width = int64_t(map.globalDim[0]);
  unsigned bits = placeBits(map);
  if (!store || bits < 8)
    return width;
  int64_t unit = 16 * 8 / bits;
  return (width + unit - 1) / unit * unit;
}

static Traversal traversalOf(BoxMode mode) {
  switch (mode) {
  case BoxMode::Im2col:
    return Traversal::Im2col;
  case BoxMode::Im2colW:
    return Traversal::Im2colW;
  case BoxMode::Im2colW128:
    return Traversal::Im2colW128;
  default:
    return Traversal::Tiled;
  }
}

static std::optional<BoxFault> checkCoordinates(const TensorMap &map,
                                                const int32_t *coordinates,
                                                BoxMode mode, bool store) {
  static constexpr const char *kNames[] = {"tiled", "im2col", "im2col::w",
                                           "im2col::w::128"};
  if (traversalOf(mode) != map.traversal)
    return BoxFault{
        std::string("the copy is ") + kNames[unsigned(traversalOf(mode))] +
            ", the tensor map was made for " + kNames[unsigned(map.traversal)],
        Hazard::IllegalTensorMap};
  // Encoders take these; no text says what their copies do.
  bool isWide = map.traversal == Traversal::Im2colW ||
                map.traversal == Traversal::Im2colW128;
  if (isWide && map.swizzle == Swizzle::None)
    return BoxFault{"a copy along W without a swizzle is not documented",
                    Hazard::IllegalTensorMap};
  if (map.interleave != Interleave::None &&
      (store || map.traversal != Traversal::Tiled))
    return BoxFault{"of interleaved tensors only tiled loads are known",
                    Hazard::IllegalTensorMap};
  int64_t first = coordinates[0];
  if (isPadded(map.type) && first % 128)
    return BoxFault{"first coordinate " + std::to_string(first) +
                        " is not a multiple of 128 elements",
                    Hazard::PaddedCoordinate};
  if (first * int64_t(placeBits(map)) % 128)
    return BoxFault{"first coordinate " + std::to_string(first) +
                        " puts the box on an address that is not a multiple "
                        "of 16 bytes",
                    Hazard::UnalignedRow};
  if (store && map.type == TensorMapType::U4Align16)
    return BoxFault{"padded 4-bit tensors can only be loaded",
                    Hazard::IllegalTensorMap};
  if (mode == BoxMode::Gather4 && (map.rank != 2 || map.boxDim[1] != 1))
    return BoxFault{"gather4 and scatter4 need rank 2 and boxDim[1] 1",
                    Hazard::IllegalTensorMap};
  unsigned count = mode == BoxMode::Gather4 ? 5 : map.rank;
  for (unsigned d = 0; store && d < count; ++d)
    if (coordinates[d] < 0)
      return BoxFault{"coordinate " + std::to_string(coordinates[d]) +
                          " of a store is negative",
                      Hazard::NegativeStore};
  // Rows of narrower boxes lie as far apart as the span; with the swizzles that
  // came after sm_90 nobody has looked.
  unsigned span = swizzleSpan(map.swizzle);
  bool known = map.swizzle == Swizzle::B32 || map.swizzle == Swizzle::B64 ||
               map.swizzle == Swizzle::B128;
  if (span && !known && map.boxDim[0] * sharedBits(map.type) / 8 != span)
    return BoxFault{"the inner box dimension is narrower than the swizzle "
                    "span of " +
                        number(span) +
                        " bytes, whose row pitch is not documented",
                    Hazard::IllegalTensorMap};
  return std::nullopt;
}

namespace {

/// Walks the pixels of an im2col copy: W first, over the bounding box of an
/// image, then the next image.
struct PixelWalk {
  const TensorMap &map;
  unsigned axes; ///< W, H, D: as many as move
  std::array<int64_t, 3> low{}, high{}, at{};
  int64_t image = 0;

  PixelWalk(const TensorMap &map, const int32_t *coordinates, bool wide,
            int64_t shift)
      : map(map), axes(wide ? 1 : map.rank - 2),
        image(coordinates[map.rank - 1]) {
    for (unsigned i = 0; i < map.rank - 2; ++i) {
      at[i] = int64_t(coordinates[i + 1]) + (i ? 0 : shift);
      low[i] = map.lowerCorner[i] + (i ? 0 : shift);
      high[i] = int64_t(map.globalDim[i + 1]) - 1 + map.upperCorner[i] +
                (i ? 0 : shift);
    }
  }
  /// Whether the first pixel is in the box; left of it is legal along W alone.
  bool startsInside(bool wide) const {
    for (unsigned i = 0; i < axes; ++i)
      if (at[i] > high[i] || (at[i] < low[i] && !wide))
        return false;
    return true;
  }
  void next() {
    for (unsigned i = 0; i < axes; ++i) {
      at[i] += map.elementStrides[i + 1];
      if (at[i] <= high[i])
        return;
      at[i] = low[i];
    }
    ++image;
  }
  /// The address of the pixel's first channel; whether it is in the tensor.
  bool place(const BoxOffsets &offsets, uint64_t &address) const {
    bool inside = image >= 0 && image < int64_t(map.globalDim[map.rank - 1]);
    address =
        map.globalAddress + uint64_t(image) * map.globalStrides[map.rank - 2];
    for (unsigned i = 0; i < map.rank - 2; ++i) {
      int64_t x = at[i] + offsets[i];
      inside &= x >= 0 && x < int64_t(map.globalDim[i + 1]);
      address += uint64_t(x) * map.globalStrides[i];
    }
    return inside;
  }
};

} // namespace

/// Emits the pixels of an im2col copy as rows; their count.
static std::optional<BoxFault> walkPixels(const TensorMap &map,
                                          const int32_t *coordinates,
                                          BoxMode mode, bool store,
                                          const BoxOffsets &offsets,
                                          BoxWalker &walker, uint32_t &rows) {
  bool wide = mode != BoxMode::Im2col;
  uint32_t halo = wide ? offsets[0] : 0;
  PixelWalk walk(map, coordinates, wide, wide ? offsets[1] : 0);
  if (!walk.startsInside(wide))
    return BoxFault{"the first pixel is outside the bounding box of the tensor "
                    "map",
                    Hazard::IllegalTensorMap};
  for (unsigned i = 0; store && i < map.rank - 2; ++i)
    if (map.lowerCorner[i] < 0 || map.upperCorner[i] > 0)
      return BoxFault{"a store needs a bounding box inside of the tensor",
                      Hazard::IllegalTensorMap};
  if (mode == BoxMode::Im2colW128 && halo)
    return BoxFault{"im2col::w::128 with a halo: where its pixels go is not "
                    "documented",
                    Hazard::IllegalTensorMap};
  rows = (mode == BoxMode::Im2colW128 ? 128 : map.pixels) + halo;
  for (uint32_t r = 0; r < rows; ++r, walk.next()) {
    uint64_t address;
    bool inside = walk.place(wide ? BoxOffsets{} : offsets, address);
    walker.row(address, inside);
  }
  return std::nullopt;
}

std::optional<BoxFault> resolveBox(const TensorMap &map,
                                   const int32_t *coordinates, BoxMode mode,
                                   bool store, Box &box,
                                   const BoxOffsets &offsets) {
  box.runs.clear();
  if (auto reason = whyNot(map))
    return BoxFault{"tensor map: " + *reason, Hazard::IllegalTensorMap};
  if (auto fault = checkCoordinates(map, coordinates, mode, store))
    return fault;
  BoxWalker walker{map, box, widthOfRows(map, store), coordinates[0],
                   stepsOf(map, 0)};
  auto finish = [&](uint32_t rows) {
    box.sharedBytes = walker.offset;
    box.transactionBytes =
        uint32_t(uint64_t(rows) * walker.innerCount * placeBits(map) / 8);
  };
  if (map.traversal != Traversal::Tiled) {
    uint32_t rows = 0;
    auto fault =
        walkPixels(map, coordinates, mode, store, offsets, walker, rows);
    finish(rows);
    return fault;
  }
  std::array<uint32_t, 5> count{1, 1, 1, 1, 1}, index{};
  for (unsigned d = 1; d < map.rank; ++d)
    count[d] = stepsOf(map, d);
  uint32_t rows = count[1] * count[2] * count[3] * count[4];
  if (mode == BoxMode::Gather4)
    rows = 4;
  for (uint32_t r = 0; r < rows; ++r) {
    uint64_t base = map.globalAddress;
    bool inside = true;
    for (unsigned d = 1; d < map.rank; ++d) {
      int64_t x = mode == BoxMode::Gather4
                      ? coordinates[1 + r]
                      : int64_t(coordinates[d]) +
                            int64_t(index[d]) * map.elementStrides[d];
      inside &= x >= 0 && x < int64_t(map.globalDim[d]);
      base += uint64_t(x) * map.globalStrides[d - 1];
    }
    walker.row(base, inside);
    for (unsigned d = 1; d < map.rank && ++index[d] == count[d]; ++d)
      index[d] = 0;
  }
  finish(rows);
  return std::nullopt;
}

} // namespace blockscale::emulator
