//===- MapBytes.h - tensor maps as 128 bytes --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 128 bytes of a real tensor map are opaque. These are the emulator's own:
// a mark, then the fields. Kernels may copy them and change them through
// tensormap.replace.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_ASYNC_MAPBYTES_H
#define BLOCKSCALE_LIB_EMULATOR_ASYNC_MAPBYTES_H

#include "blockscale/Emulator/TensorMap.h"

#include <cstring>

namespace blockscale::emulator::machine {

inline constexpr unsigned kMapBytes = kTensorMapBytes;
inline constexpr uint32_t kMapMark = 0x50414d54;

/// The fields of a map; dimensions are kept minus one.
struct PackedMap {
  uint32_t mark = kMapMark;
  uint8_t type = 0, rank = 1, interleave = 0, swizzle = 0;
  /// Nothing of ours: CUTLASS clears bit 21 of the second word of maps of
  /// tensors below 128 KiB when the driver is older than 13.1.
  uint64_t leftAlone = 0;
  uint64_t globalAddress = 0;
  uint64_t strides[4] = {};
  uint32_t dims[5] = {};
  uint16_t box[5] = {};
  uint8_t elementStrides[5] = {};
  uint8_t l2Promotion = 0, oobFill = 0, traversal = 0;
  uint16_t pixels = 0;
  int16_t lowerCorner[3] = {}, upperCorner[3] = {};
};
static_assert(sizeof(PackedMap) <= kMapBytes);

inline void writeMap(const TensorMap &map, uint8_t *bytes) {
  PackedMap packed;
  packed.type = uint8_t(map.type);
  packed.rank = uint8_t(map.rank);
  packed.interleave = uint8_t(map.interleave);
  packed.swizzle = uint8_t(map.swizzle);
  packed.globalAddress = map.globalAddress;
  packed.l2Promotion = uint8_t(map.l2Promotion);
  packed.oobFill = uint8_t(map.oobFill);
  packed.traversal = uint8_t(map.traversal);
  packed.pixels = uint16_t(map.pixels);
  for (unsigned i = 0; i != 3; ++i) {
    packed.lowerCorner[i] = int16_t(map.lowerCorner[i]);
    packed.upperCorner[i] = int16_t(map.upperCorner[i]);
  }
  for (unsigned i = 0; i != 5; ++i) {
    packed.dims[i] = uint32_t(map.globalDim[i] - 1);
    packed.box[i] = uint16_t(map.boxDim[i]);
    packed.elementStrides[i] = uint8_t(map.elementStrides[i]);
  }
  for (unsigned i = 0; i != 4; ++i)
    packed.strides[i] = map.globalStrides[i];
  std::memset(bytes, 0, kMapBytes);
  std::memcpy(bytes, &packed, sizeof packed);
}

/// False if the bytes are no tensor map.
inline bool readMap(const uint8_t *bytes, TensorMap &map) {
  PackedMap packed;
  std::memcpy(&packed, bytes, sizeof packed);
  if (packed.mark != kMapMark || packed.rank < 1 || packed.rank > 5)
    return false;
  map.type = TensorMapType(packed.type);
  map.rank = packed.rank;
  map.interleave = Interleave(packed.interleave);
  map.swizzle = Swizzle(packed.swizzle);
  map.globalAddress = packed.globalAddress;
  map.l2Promotion = packed.l2Promotion;
  map.oobFill = OobFill(packed.oobFill);
  map.traversal = Traversal(packed.traversal);
  map.pixels = packed.pixels;
  for (unsigned i = 0; i != 3; ++i) {
    map.lowerCorner[i] = packed.lowerCorner[i];
    map.upperCorner[i] = packed.upperCorner[i];
  }
  for (unsigned i = 0; i != 5; ++i) {
    map.globalDim[i] = uint64_t(packed.dims[i]) + 1;
    map.boxDim[i] = packed.box[i];
    map.elementStrides[i] = packed.elementStrides[i];
  }
  for (unsigned i = 0; i != 4; ++i)
    map.globalStrides[i] = packed.strides[i];
  return true;
}

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_ASYNC_MAPBYTES_H
