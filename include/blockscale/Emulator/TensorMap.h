//===- TensorMap.h - TMA tensor maps and box copies -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor map is kept by the fields of the driver's encoders. The copies move
// one box between global memory (reached through a callback that checks
// bounds) and the shared memory of one CTA.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_TENSORMAP_H
#define BLOCKSCALE_EMULATOR_TENSORMAP_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace blockscale::emulator {

/// Data types with the driver's codes (CUtensorMapDataType). The numbers of
/// tensormap.replace differ from 8 on.
enum class TensorMapType : uint8_t {
  U8 = 0,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32,
  TF32Ftz,
  U4Align8 = 13,  ///< 16U4_ALIGN8B, packed fp4
  U4Align16 = 14, ///< 16U4_ALIGN16B, 16 fp4 in 16 bytes (8 + 8 gap)
  U6Align16 = 15, ///< 16U6_ALIGN16B, 16 fp6 in 16 bytes (12 + 4 gap)
};

enum class Interleave : uint8_t { None, B16, B32 };

/// Swizzle modes with the driver's codes, and the 96-byte mode that only
/// tensormap.replace can set.
enum class Swizzle : uint8_t {
  None = 0,
  B32,
  B64,
  B128,
  B128Atom32,
  B128Atom32Flip8,
  B128Atom64,
  B96 = 7,
};

enum class OobFill : uint8_t { Zeros, NaN };

/// How copies walk the tensor of a map: each encoder makes maps for its own
/// modes. The pixels of im2col are those of a batch of images whose dimensions
/// are channels, W, H, D (as many as there are) and the image.
enum class Traversal : uint8_t { Tiled, Im2col, Im2colW, Im2colW128 };

/// A tensor map. Dimension 0 is the innermost; `globalStrides[d]` is the
/// stride of dimension d + 1 in bytes.
struct TensorMap {
  TensorMapType type = TensorMapType::U8;
  uint32_t rank = 1;
  uint64_t globalAddress = 0;
  std::array<uint64_t, 5> globalDim{};
  std::array<uint64_t, 4> globalStrides{};
  std::array<uint32_t, 5> boxDim{};
  std::array<uint32_t, 5> elementStrides{1, 1, 1, 1, 1};
  Interleave interleave = Interleave::None;
  Swizzle swizzle = Swizzle::None;
  uint32_t l2Promotion = 0;
  OobFill oobFill = OobFill::Zeros;
  Traversal traversal = Traversal::Tiled;
  /// im2col: where the bounding box begins and ends along W, H and D, from the
  /// first and the last pixel of an image. boxDim[0] counts the channels.
  std::array<int32_t, 3> lowerCorner{}, upperCorner{};
  uint32_t pixels = 0; ///< im2col: pixels of one copy
};

/// Which rule of the encoder the map breaks; nothing if it is legal here.
std::optional<std::string> whyNot(const TensorMap &map);

/// The bytes of a map as kernels get them, 128 of them. They are the emulator's
/// own: those of a real driver are not public.
inline constexpr unsigned kTensorMapBytes = 128;
void encodeTensorMap(const TensorMap &map, uint8_t *bytes);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_EMULATOR_TENSORMAP_H
