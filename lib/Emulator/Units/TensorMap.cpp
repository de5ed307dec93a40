//===- TensorMap.cpp - rules of tensor maps and box addresses -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/TensorMap.h"

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

static Reason checkDimensions(const TensorMap &map) {
  uint64_t strideAlign = isPadded(map.type) ? 32 : 16;
  unsigned multiple = isPadded(map.type)                      ? 128
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
             ", must be a multiple of " + number(strideAlign) +
             " below 2^40";
  }
  if (map.globalDim[0] % multiple)
    return "globalDim[0] is " + number(map.globalDim[0]) +
           ", must be a multiple of " + number(multiple) +
           " for this data type";
  return std::nullopt;
}

Reason whyNot(const TensorMap &map) {
  unsigned type = unsigned(map.type);
  if (type > 15)
    return "data type code " + number(type) + " does not exist";
  if (map.rank == 0 || map.rank > 5)
    return "rank is " + number(map.rank) + ", must be in 1..5";
  if (map.im2col)
    return std::string("im2col tensor maps are not supported");
  if (map.interleave != Interleave::None)
    return std::string("interleaved tensor maps are not supported");
  if (unsigned(map.swizzle) > unsigned(Swizzle::B96))
    return "swizzle code " + number(unsigned(map.swizzle)) + " does not exist";
  uint64_t align = isPadded(map.type) ? 32 : 16;
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
  if (span && innerBits / 8 > span)
    return "boxDim[0] spans " + number(innerBits / 8) +
           " bytes, more than the " + number(span) + " of the swizzle";
  return std::nullopt;
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

/// Walks the rows of a box and emits their runs.
struct BoxWalker {
  const TensorMap &map;
  Box &box;
  int64_t first;       ///< coordinate of the inner dimension
  uint32_t innerCount; ///< elements along the inner dimension
  uint32_t offset = 0; ///< in shared memory

  uint32_t sharedBytes(uint32_t elements) const {
    return uint32_t(uint64_t(elements) * sharedBits(map.type) / 8);
  }
  void fill(uint32_t elements) {
    if (elements == 0)
      return;
    box.runs.push_back({0, 0, offset, sharedBytes(elements)});
    offset += sharedBytes(elements);
  }
  void row(uint64_t base, bool inside) {
    int64_t size = int64_t(map.globalDim[0]);
    int64_t begin = std::min<int64_t>(std::max<int64_t>(-first, 0), innerCount);
    int64_t end = std::min<int64_t>(std::max<int64_t>(size - first, 0), innerCount);
    if (!inside || begin >= end) {
      fill(innerCount);
      return;
    }
    fill(uint32_t(begin));
    uint64_t bits = globalBits(map.type);
    uint32_t elements = uint32_t(end - begin);
    box.runs.push_back({base + uint64_t(first + begin) * bits / 8,
                        uint32_t(elements * bits / 8), offset,
                        sharedBytes(elements)});
    offset += sharedBytes(elements);
    fill(uint32_t(innerCount - end));
  }
};

} // namespace

static std::optional<BoxFault> checkCoordinates(const TensorMap &map, const int32_t *coordinates,
                               BoxMode mode, bool store) {
  int64_t first = coordinates[0];
  if (isPadded(map.type) && first % 128)
    return BoxFault{"first coordinate " + std::to_string(first) +
                        " is not a multiple of 128 elements",
                    43};
  if (first * int64_t(globalBits(map.type)) % 128)
    return BoxFault{"first coordinate " + std::to_string(first) +
                        " puts the box on an address that is not a multiple "
                        "of 16 bytes",
                    42};
  if (store && map.type == TensorMapType::U4Align16)
    return BoxFault{"padded 4-bit tensors can only be loaded", 45};
  if (mode == BoxMode::Gather4 && (map.rank != 2 || map.boxDim[1] != 1))
    return BoxFault{"gather4 and scatter4 need rank 2 and boxDim[1] 1", 45};
  unsigned count = mode == BoxMode::Gather4 ? 5 : map.rank;
  for (unsigned d = 0; store && d < count; ++d)
    if (coordinates[d] < 0)
      return BoxFault{"coordinate " + std::to_string(coordinates[d]) +
                          " of a store is negative",
                      44};
  unsigned span = swizzleSpan(map.swizzle);
  if (span && map.boxDim[0] * sharedBits(map.type) / 8 != span)
    return BoxFault{"the inner box dimension is narrower than the swizzle "
                    "span of " +
                        number(span) +
                        " bytes, whose row pitch is not documented",
                    45};
  return std::nullopt;
}

std::optional<BoxFault> resolveBox(const TensorMap &map,
                                   const int32_t *coordinates, BoxMode mode,
                                   bool store, Box &box) {
  box.runs.clear();
  if (auto reason = whyNot(map))
    return BoxFault{"tensor map: " + *reason, 45};
  if (auto fault = checkCoordinates(map, coordinates, mode, store))
    return fault;
  BoxWalker walker{map, box, coordinates[0], map.boxDim[0]};
  std::array<uint32_t, 5> count{1, 1, 1, 1, 1}, index{};
  for (unsigned d = 1; d < map.rank; ++d)
    count[d] = (map.boxDim[d] + map.elementStrides[d] - 1) /
               map.elementStrides[d];
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
  box.sharedBytes = walker.offset;
  box.transactionBytes =
      uint32_t(uint64_t(rows) * map.boxDim[0] * globalBits(map.type) / 8);
  return std::nullopt;
}

} // namespace blockscale::emulator
