//===- TensorMemory.h - one CTA's tensor memory -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 128 lanes of 512 columns of 32 bits, 576 on sm_107, with a bit per word that
// says whether it was written, and the allocation map of columns. An address
// has the lane in bits 31..16 and the column in bits 15..0.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORMEMORY_H
#define BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORMEMORY_H

#include "blockscale/Emulator/OpenPoints.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace blockscale::emulator {

/// Outcome of an allocation request.
enum class AllocStatus : uint8_t {
  Ok,
  WouldBlock,            ///< no free run of that many columns now
  IllegalCount,          ///< not a power of two in 32..512
  IllegalExclusiveCount, ///< not a multiple of 32 up to all columns
  Grows,                 ///< larger than the allocation before
  Relinquished,          ///< the CTA gave up its permit
};

std::string describe(AllocStatus status, unsigned columns);

/// Shapes of tcgen05.ld and tcgen05.st.
enum class FragmentShape : uint8_t {
  S32x32b,
  S16x64b,
  S16x128b,
  S16x256b,
  S16x32bx2,
};

/// One tcgen05.ld or tcgen05.st form.
struct Fragment {
  FragmentShape shape = FragmentShape::S32x32b;
  unsigned num = 1;       ///< the .xN
  bool pack16 = false;    ///< .pack::16b or .unpack::16b
  unsigned halfSplit = 0; ///< columns between the halves of 16x32bx2

  /// Registers per thread.
  unsigned registers() const;
  /// Legal .xN for the shape.
  bool legal() const;
};

/// Lane and column of a register, relative to the instruction's address. With
/// pack16 it is the column of the low half; the high half is one further.
void fragmentPosition(const Fragment &fragment, unsigned thread, unsigned reg,
                      unsigned &lane, unsigned &column);

/// Shapes of tcgen05.cp.
enum class CopyShape : uint8_t {
  S128x256b,
  S4x256b,
  S128x128b,
  S64x128bWarp02_13,
  S64x128bWarp01_23,
  S32x128bWarp4,
};

/// Source expansion of tcgen05.cp.
enum class CopyFormat : uint8_t { Plain, B4x16P64, B6x16P32 };

/// Rows and bytes per row (16 or 32) that a cp reads.
unsigned copyRows(CopyShape shape);
unsigned copyRowBytes(CopyShape shape);

/// Memory and allocation map of one CTA.
class TensorMemory {
public:
  static constexpr unsigned kLanes = 128;
  /// Most columns that a chip has.
  static constexpr unsigned kColumns = 576;
  /// Columns that plain allocations share.
  static constexpr unsigned kPlainColumns = 512;

  explicit TensorMemory(unsigned columns = kPlainColumns);

  /// Columns that there are.
  unsigned columns() const { return columnCount; }

  static unsigned laneOf(uint32_t address) { return address >> 16; }
  static unsigned columnOf(uint32_t address) { return address & 0xffff; }

  /// First fit from column `first` (a multiple of 32) on, else from column 0.
  /// An exclusive one begins at column 0, and none other lives beside it. On Ok
  /// sets `address`.
  AllocStatus allocate(uint32_t columns, uint32_t &address, unsigned first = 0,
                       bool exclusive = false);
  /// Whether the request would give Ok, without doing it.
  AllocStatus canAllocate(uint32_t columns, bool exclusive = false) const;
  /// Frees the allocation with exactly this address, size and qualifier; else
  /// the reason.
  std::optional<std::string> deallocate(uint32_t address, uint32_t columns,
                                        bool exclusive = false);
  void relinquish() { permit = false; }
  bool allocated(unsigned column, unsigned count) const;
  /// Number of allocations that were never freed.
  unsigned liveAllocations() const { return live.size(); }

  /// Raw row of a lane.
  uint32_t *row(unsigned lane) { return allWords() + lane * kColumns; }
  const uint32_t *row(unsigned lane) const {
    return allWords() + lane * kColumns;
  }
  bool valid(unsigned lane, unsigned column) const {
    return validBits[lane][column / 64] >> column % 64 & 1;
  }
  bool valid(unsigned lane, unsigned column, unsigned count) const;
  void markValid(unsigned lane, unsigned column, unsigned count = 1);
  /// Words count as never written again.
  void markUndefined(unsigned lane, unsigned column, unsigned count = 1);
  /// Grows with every write; equal values mean equal contents.
  uint64_t version() const { return versionNumber; }
  void touch() { ++versionNumber; }

  /// tcgen05.ld for one warp: registers are `out[reg * 32 + thread]`.
  /// `warp` is the warp's index in the CTA. A reason if refused; reads of
  /// words never written set `uninitialised` to the first such address.
  std::optional<std::string> load(const Fragment &fragment, uint32_t address,
                                  unsigned warp, uint32_t *out,
                                  std::optional<uint32_t> &uninitialised) const;
  /// tcgen05.st for one warp.
  std::optional<std::string> store(const Fragment &fragment, uint32_t address,
                                   unsigned warp, const uint32_t *in);

  /// tcgen05.cp: `source` holds copyRows x copyRowBytes bytes in row order,
  /// already gathered from shared memory through the descriptor.
  std::optional<std::string> copyIn(CopyShape shape, CopyFormat format,
                                    uint32_t address, const uint8_t *source,
                                    OpenPointSet &openPoints);

  /// tcgen05.shift.down: shiftRows of the 8 columns from the address on.
  std::optional<std::string> shiftDown(uint32_t address,
                                       OpenPointSet &openPoints);

  /// The move of tcgen05.shift.down and tcgen05.mma.ashift: in `columns`
  /// columns from `column` on, which must be allocated, every lane takes the
  /// words of the next lane; the last lane of each 32 keeps its own. Whether
  /// words were written moves too.
  void shiftRows(unsigned column, unsigned columns);

private:
  struct Allocation {
    uint32_t column, columns;
  };
  std::optional<std::string> checkFragment(const Fragment &fragment,
                                           uint32_t address,
                                           unsigned warp) const;

  /// Made when they are first needed: most kernels use no tensor memory.
  uint32_t *allWords() const {
    if (!words)
      words.reset(new uint32_t[kLanes * kColumns]());
    return words.get();
  }

  mutable std::unique_ptr<uint32_t[]> words;
  std::array<std::array<uint64_t, kColumns / 64>, kLanes> validBits{};
  std::vector<Allocation> live;
  std::array<uint64_t, kColumns / 64> used{};
  unsigned columnCount;
  uint32_t lastColumns = kColumns;
  bool permit = true;
  bool isExclusive = false; ///< of the one that lives
  uint64_t versionNumber = 0;
};

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORMEMORY_H
