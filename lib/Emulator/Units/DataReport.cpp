//===- DataReport.cpp - what copies find in their data --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DataReport.h"

namespace blockscale::emulator {

static bool isElement(uint8_t byte, bool halfBytes) {
  return halfBytes ? byte >> 4 == 0xF || (byte & 0xF) == 0xF : byte == 0xFF;
}

/// Whether the element in the lowest bits is -0.
static bool isMinusZero(DataReport report, const uint8_t *element) {
  switch (report) {
  case DataReport::F32:
    return !element[0] && !element[1] && !element[2] && element[3] == 0x80;
  case DataReport::F16:
    return !element[0] && element[1] == 0x80;
  case DataReport::F8:
    return element[0] == 0x80;
  default:
    return (element[0] & 0xF) == 0x8;
  }
}

bool isReported(DataReport report, const uint8_t *bytes, uint64_t address,
                uint64_t count, bool halfBytes) {
  if (report == DataReport::None)
    return false;
  if (report == DataReport::Elements) {
    for (uint64_t i = 0; i < count; ++i)
      if (isElement(bytes[i], halfBytes))
        return true;
    return false;
  }
  unsigned width = report == DataReport::F32   ? 4
                   : report == DataReport::F16 ? 2
                                               : 1;
  // The sample is the first element of 16 bytes, where it is copied.
  for (uint64_t i = (16 - address % 16) % 16; i + width <= count; i += 16)
    if (isMinusZero(report, bytes + i))
      return true;
  return false;
}

} // namespace blockscale::emulator
