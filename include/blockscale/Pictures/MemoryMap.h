//===- MemoryMap.h - how a memory is divided, drawn -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PICTURES_MEMORYMAP_H
#define BLOCKSCALE_PICTURES_MEMORYMAP_H

#include <cstdint>
#include <string>
#include <vector>

namespace blockscale::pictures {

/// A named part of a memory, perhaps of several equal copies.
struct MemoryPart {
  std::string name;
  std::uint64_t offset = 0, size = 0;
  unsigned copies = 1;
  /// How far apart the copies begin; they overlap where that is less than one.
  std::uint64_t stride = 0;

  std::uint64_t copySize() const { return size - (copies - 1) * stride; }
};

struct MemoryMap {
  std::string title;
  std::vector<std::string> notes;
  /// "bytes", "columns", and what a copy is called: "stage", "accumulator".
  std::string unit, copyName;
  /// All that there is; more if parts end behind it.
  std::uint64_t size = 0;
  /// Distance between the numbers below the bar.
  std::uint64_t tick = 1;
  std::vector<MemoryPart> parts;
};

/// A bar to scale and below it a line for each part. Overlapping copies are
/// drawn in two rows.
std::string drawMemoryMap(const MemoryMap &map);

} // namespace blockscale::pictures

#endif // BLOCKSCALE_PICTURES_MEMORYMAP_H
