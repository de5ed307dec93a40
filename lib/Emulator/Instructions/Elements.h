//===- Elements.h - elements between memory and registers -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_ELEMENTS_H
#define BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_ELEMENTS_H

#include "../Run/State.h"

#include <algorithm>

namespace blockscale::emulator::machine {

/// An element of memory that other host threads may access meanwhile: a kernel
/// that races gets one value or the other, never a part of each.
template <typename T> T readElement(const uint8_t *from) {
  typedef T Shared __attribute__((may_alias));
  T value;
  if (reinterpret_cast<uintptr_t>(from) % sizeof(T) == 0)
    value = __atomic_load_n(reinterpret_cast<const Shared *>(from),
                            __ATOMIC_RELAXED);
  else // a buffer of the host that is not aligned
    std::memcpy(&value, from, sizeof(T));
  return value;
}
template <typename T> void writeElement(uint8_t *to, T value) {
  typedef T Shared __attribute__((may_alias));
  if (reinterpret_cast<uintptr_t>(to) % sizeof(T) == 0)
    __atomic_store_n(reinterpret_cast<Shared *>(to), value, __ATOMIC_RELAXED);
  else
    std::memcpy(to, &value, sizeof(T));
}

/// The same for elements of another size than the register: loads extend them
/// by zero or sign, stores cut them.
inline void extendInto(uint8_t *to, unsigned width, const uint8_t *from,
                       unsigned bytes, bool sign) {
  uint8_t value[16];
  switch (bytes) {
  case 1:
    value[0] = readElement<uint8_t>(from);
    break;
  case 2: {
    auto element = readElement<uint16_t>(from);
    std::memcpy(value, &element, 2);
    break;
  }
  case 4: {
    auto element = readElement<uint32_t>(from);
    std::memcpy(value, &element, 4);
    break;
  }
  default:
    std::memcpy(value, from, bytes);
  }
  uint8_t fill = sign && value[bytes - 1] & 0x80 ? 0xFF : 0;
  std::memcpy(to, value, std::min(bytes, width));
  if (width > bytes)
    std::memset(to + bytes, fill, width - bytes);
}
inline void storePart(uint8_t *to, const uint8_t *from, unsigned bytes) {
  switch (bytes) {
  case 1:
    return writeElement<uint8_t>(to, *from);
  case 2: {
    uint16_t element;
    std::memcpy(&element, from, 2);
    return writeElement(to, element);
  }
  case 4: {
    uint32_t element;
    std::memcpy(&element, from, 4);
    return writeElement(to, element);
  }
  default:
    std::memcpy(to, from, bytes);
  }
}

/// Moves one element per lane between memory and a register of its size.
template <typename T>
void moveLanes(uint32_t mask, uint8_t *const memory[32], unsigned offset,
               uint8_t *slot, bool isLoad) {
  T *lanes = reinterpret_cast<T *>(slot);
  if (isLoad)
    forLanes(mask, [&](unsigned lane) {
      lanes[lane] = readElement<T>(memory[lane] + offset);
    });
  else
    forLanes(mask, [&](unsigned lane) {
      writeElement<T>(memory[lane] + offset, lanes[lane]);
    });
}

/// False if there is no lane type of that size.
inline bool moveElement(unsigned bytes, uint32_t mask,
                        uint8_t *const memory[32], unsigned offset,
                        uint8_t *slot, bool isLoad) {
  switch (bytes) {
  case 1:
    moveLanes<uint8_t>(mask, memory, offset, slot, isLoad);
    return true;
  case 2:
    moveLanes<uint16_t>(mask, memory, offset, slot, isLoad);
    return true;
  case 4:
    moveLanes<uint32_t>(mask, memory, offset, slot, isLoad);
    return true;
  case 8:
    moveLanes<uint64_t>(mask, memory, offset, slot, isLoad);
    return true;
  }
  return false;
}

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_INSTRUCTIONS_ELEMENTS_H
