//===- TensorMapCopy.h - boxes of tensor maps, copied -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORMAPCOPY_H
#define BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORMAPCOPY_H

#include "blockscale/Emulator/Hazards.h"
#include "blockscale/Emulator/TensorMap.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace blockscale::emulator {

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

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORMAPCOPY_H
