//===- NamedLayouts.h - every layout by its name ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All layouts of this library behind one interface, for those who ask by name:
// what lies (row, block, ...) has a place (offset, or lane, column and byte, or
// thread and value), and a place has what lies there.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_NAMEDLAYOUTS_H
#define BLOCKSCALE_HW_NAMEDLAYOUTS_H

#include "blockscale/Formats/Result.h"
#include "blockscale/HW/Layout.h"

#include <map>

namespace blockscale::hw {

/// One coordinate of what lies, or of where.
struct LayoutAxis {
  std::string name;
  Dim dim;
  /// Its values are 0 to extent - 1.
  std::uint64_t extent;
};

/// A layout for operands of certain sizes.
class NamedLayout {
public:
  /// "tiled_128x4".
  std::string name;
  /// What lies: batch, row and block of an operand; row and column, or K.
  std::vector<LayoutAxis> contents;
  /// Where: offset in bytes; lane, column and byte of tensor memory; thread and
  /// value of registers.
  std::vector<LayoutAxis> places;

  /// Number of places, padding and unused ones included: bytes of memory.
  std::uint64_t size() const;

  /// The place of `content`, in the order of `places`; refused outside of the
  /// extents, and if it has none. `content` has as many values as `contents`.
  Result<std::vector<std::uint64_t>>
  placeOf(const std::vector<std::uint64_t> &content) const;

  /// What lies at `place`, in the order of `contents`; nothing if it is padding
  /// or not used. Refused outside of the extents.
  Result<std::optional<std::vector<std::uint64_t>>>
  contentAt(const std::vector<std::uint64_t> &place) const;

  /// A line for each term: "offset += row / 128 * 2048"; `/` rounds down.
  /// Registers are the other way round: "row += thread / 4".
  std::string formula() const;

private:
  friend class NamedLayoutBuilder;
  Coordinates toPlace(const Coordinates &content) const;
  Coordinates toContent(const Coordinates &place) const;

  /// From contents to places, or the other way round.
  Layout layout;
  bool isOfRegisters = false;
  /// Elements along K that one place is for: of registers with scales.
  std::uint64_t alongK = 1;
  /// With sizes, where the place is an offset in memory.
  std::optional<StorageLayout<std::uint64_t>> storage;
};

/// A size that a layout needs.
struct LayoutParameter {
  std::string name;
  /// "rows of the operand".
  std::string meaning;
  /// Value where none is given; a parameter without one has to be.
  std::optional<std::uint64_t> byDefault;
};

/// What there is.
struct NamedLayoutKind {
  std::string name;
  /// One sentence.
  std::string summary;
  std::vector<LayoutParameter> parameters;
};
const std::vector<NamedLayoutKind> &namedLayouts();

/// The layout of a name. Refuses unknown names and parameters, missing ones,
/// and sizes that there are not: extents are at least 1 and memory is below
/// 2^62 bytes.
Result<NamedLayout>
namedLayout(std::string_view name,
            const std::map<std::string, std::uint64_t> &parameters);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_NAMEDLAYOUTS_H
