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

#include "blockscale/Emulator/Hazards.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

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
/// Interleaved maps are refused.
std::optional<std::string> whyNot(const TensorMap &map);

/// The bytes of a map as kernels get them, 128 of them. They are the emulator's
/// own: those of a real driver are not public.
inline constexpr unsigned kTensorMapBytes = 128;
void encodeTensorMap(const TensorMap &map, uint8_t *bytes);

/// Bits of one element in global memory (4 and 6 for the packed types).
unsigned globalBits(TensorMapType type);

/// Where the byte at absolute shared address `address` (window offset) goes.
uint32_t swizzleAddress(Swizzle swizzle, uint32_t address);

/// A piece of a box: `globalBytes` consecutive bytes of global memory that go
/// to `sharedBytes` consecutive bytes of the unswizzled box.
struct BoxRun {
  uint64_t globalAddress = 0;
  uint32_t globalBytes = 0; ///< 0: the run lies outside and is filled
  uint32_t sharedOffset = 0;
  uint32_t sharedBytes = 0;
};

/// A box, resolved.
struct Box {
  std::vector<BoxRun> runs; ///< inside and outside pieces, in shared order
  uint32_t sharedBytes = 0; ///< extent in shared memory
  /// What the copy counts on its mbarrier: the whole box, outside elements
  /// included; packed bytes for the padded types.
  uint32_t transactionBytes = 0;
};

/// How the coordinates are to be read.
enum class BoxMode : uint8_t {
  Tile,
  Gather4, ///< {column, row0, row1, row2, row3}: also scatter4
  Im2col,  ///< {channel, W, H, D, image}; offsets W, H, D. Also no_offs.
  Im2colW, ///< Same along W only; offsets {wHalo, wOffset}
  Im2colW128,
};

/// Why there is no such box.
struct BoxFault {
  std::string message;
  Hazard hazard;
};

/// The offsets that im2col loads have beside coordinates.
using BoxOffsets = std::array<uint16_t, 3>;

/// Resolves the box at `coordinates` (rank of them; five for Gather4). `store`
/// adds the rules of the store direction.
std::optional<BoxFault> resolveBox(const TensorMap &map,
                                   const int32_t *coordinates, BoxMode mode,
                                   bool store, Box &box,
                                   const BoxOffsets &offsets = {});

/// The shared memory of one CTA as a copy sees it.
struct SharedSpan {
  uint8_t *data = nullptr; ///< byte at window offset `base`
  uint32_t base = 0;
  uint32_t size = 0;
};

/// Called for each range of shared addresses that was read or written.
using SharedRange = std::function<void(uint32_t address, uint32_t bytes)>;

/// Calls `visit` for the shared memory that a copy of the box touches; with
/// `insideOnly` without the parts outside the tensor, which a store skips.
void sharedRanges(const TensorMap &map, const Box &box, uint32_t sharedAddress,
                  bool insideOnly, const SharedRange &visit);

/// Gives the bytes at a global address, or null when the range is not all in
/// one buffer.
using GlobalAccess = std::function<uint8_t *(uint64_t address, uint64_t bytes)>;

/// Why a copy stopped, and the address that was at fault.
struct CopyFault {
  std::string message;
  uint64_t address = 0;
  Hazard hazard = Hazard::BadAccess;
};

/// Reduction of cp.reduce.async.bulk(.tensor).
enum class Reduction : uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor };

/// Global to shared. Gap bytes of padded types stay untouched and are not
/// reported as written. f32 types of the map are flushed or rounded to tf32.
std::optional<CopyFault> loadBox(const TensorMap &map, const Box &box,
                                 SharedSpan shared, uint32_t sharedAddress,
                                 const GlobalAccess &global,
                                 const SharedRange &written);

/// Shared to global, with an optional reduction. Not atomic: the caller
/// serialises concurrent reductions. Outside elements are skipped.
std::optional<CopyFault> storeBox(const TensorMap &map, const Box &box,
                                  SharedSpan shared, uint32_t sharedAddress,
                                  Reduction reduction,
                                  const GlobalAccess &global,
                                  const SharedRange &read);

/// Applies `reduction` to `bytes` bytes of elements of `type`, destination
/// op= source; f32 addition flushes subnormals, f16 and bf16 do not.
/// False if the combination does not exist.
bool reduceElements(Reduction reduction, TensorMapType type,
                    uint8_t *destination, const uint8_t *source,
                    uint32_t bytes);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_EMULATOR_TENSORMAP_H
