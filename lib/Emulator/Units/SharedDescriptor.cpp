//===- SharedDescriptor.cpp - shared-memory matrix descriptors ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedDescriptor.h"

namespace blockscale::emulator {

static uint32_t field(uint64_t bits, unsigned offset, unsigned width) {
  return uint32_t(bits >> offset & ((uint64_t(1) << width) - 1));
}

SharedDescriptor decodeSharedDescriptor(uint64_t bits) {
  SharedDescriptor result;
  result.bits = bits;
  result.start = field(bits, 0, 15) << 4;
  result.leading = field(bits, 16, 15) << 4;
  result.stride = field(bits, 32, 14) << 4;
  result.baseOffset = field(bits, 49, 3);
  result.leadingAbsolute = field(bits, 52, 1);
  result.secondHalf = field(bits, 53, 1);
  result.swizzleCode = field(bits, 61, 3);
  return result;
}

uint32_t SharedDescriptor::span() const {
  switch (swizzleCode) {
  case 1:
  case 2:
    return 128;
  case 4:
    return 64;
  case 6:
    return 32;
  default:
    return 16;
  }
}

std::optional<std::string> whyNot(const SharedDescriptor &descriptor,
                                  DescriptorRules rules) {
  if (field(descriptor.bits, 46, 3) != 1)
    return "bits 46-48 of the shared-memory descriptor are " +
           std::to_string(field(descriptor.bits, 46, 3)) + ", must be 1";
  unsigned zeros = rules.indices ? 54 : 53;
  if (field(descriptor.bits, zeros, 61 - zeros) != 0)
    return "bits " + std::to_string(zeros) +
           "-60 of the shared-memory descriptor must be 0";
  bool wide = rules.wide;
  unsigned free = wide ? 1 : 2;
  if (field(descriptor.bits, 16 - free, free) ||
      field(descriptor.bits, 32 - free, free))
    return wide ? std::string("reserved bit 15 or 31 of the shared-memory "
                              "descriptor is set")
                : std::string("reserved bits 14-15 or 30-31 of the "
                              "shared-memory descriptor are set; addresses of "
                              "15 bits are those of sm_107");
  unsigned code = descriptor.swizzleCode;
  if (code == 3 || code == 5 || code == 7)
    return "swizzle code " + std::to_string(code) +
           " does not exist; legal are 0, 1, 2, 4 and 6";
  if (descriptor.leadingAbsolute && (code != 2 || descriptor.baseOffset))
    return std::string("the absolute leading address needs the 128-byte "
                       "swizzle with 16-byte atoms and base offset 0");
  return std::nullopt;
}

/// Rows of 128 bytes after which the swizzle pattern repeats, less one.
static uint32_t patternMask(unsigned swizzleCode) {
  switch (swizzleCode) {
  case 2:
    return 7;
  case 1:
  case 4:
    return 3;
  case 6:
    return 1;
  default:
    return 0;
  }
}

std::optional<std::string> whyNotPattern(const SharedDescriptor &descriptor) {
  uint32_t mask = patternMask(descriptor.swizzleCode);
  uint32_t row = descriptor.start >> 7 & mask;
  if (row == (descriptor.baseOffset & mask))
    return std::nullopt;
  return "the rows start at byte " + std::to_string(row * 128) + " of the " +
         std::to_string((mask + 1) * 128) +
         "-byte swizzle pattern, the base offset says byte " +
         std::to_string((descriptor.baseOffset & mask) * 128);
}

std::optional<std::string> whyNotOperand(const SharedDescriptor &descriptor,
                                         bool mnMajor, unsigned rowBytes,
                                         unsigned elementBits,
                                         DescriptorRules rules) {
  if (auto reason = whyNot(descriptor, rules))
    return reason;
  if (mnMajor) {
    if (elementBits < 8)
      return std::string("MN-major operands of 4- or 6-bit elements do not "
                         "exist");
    if (elementBits == 32 && descriptor.swizzleCode != 1)
      return std::string("MN-major operands of 32-bit elements need the "
                         "128-byte swizzle with 32-byte atoms");
    if (elementBits != 32 && descriptor.swizzleCode == 1)
      return "MN-major operands of " + std::to_string(elementBits) +
             "-bit elements cannot use the 128-byte swizzle with 32-byte atoms";
    if (descriptor.leadingAbsolute)
      return std::string(
          "the absolute leading address needs a K-major operand");
    return std::nullopt;
  }
  uint32_t span = descriptor.span();
  if (descriptor.swizzleCode == 0 || descriptor.leadingAbsolute)
    return std::nullopt;
  uint32_t within = descriptor.start & (span - 1);
  if (within + rowBytes > span)
    return "the " + std::to_string(rowBytes) + " bytes of a row from byte " +
           std::to_string(within) + " cross the end of the " +
           std::to_string(span) + "-byte swizzle row";
  return std::nullopt;
}

static uint32_t applySwizzle(const SharedDescriptor &descriptor,
                             uint32_t address) {
  // The pattern is counted from the row that the base offset names.
  uint32_t row = (address >> 7) - descriptor.baseOffset;
  switch (descriptor.swizzleCode) {
  case 1:
    return address ^ (row & 3) << 5;
  case 2:
    return address ^ (row & 7) << 4;
  case 4:
    return address ^ (row & 3) << 4;
  case 6:
    return address ^ (row & 1) << 4;
  default:
    return address;
  }
}

uint32_t addressKMajor(const SharedDescriptor &descriptor, uint32_t row,
                       uint32_t byte) {
  uint32_t group = row / 8 * descriptor.stride;
  if (descriptor.swizzleCode == 0)
    return descriptor.start + group + row % 8 * 16 +
           byte / 16 * descriptor.leading + byte % 16;
  uint32_t span = descriptor.span();
  uint32_t start = descriptor.start;
  if (descriptor.leadingAbsolute) {
    uint32_t room = span - (start & (span - 1));
    if (byte >= room) {
      start = descriptor.leading;
      byte -= room;
    }
  } else {
    // A row longer than the swizzle goes on after the leading offset.
    start += byte / span * descriptor.leading;
    byte %= span;
  }
  return applySwizzle(descriptor, start + group + row % 8 * span + byte);
}

// As CuTe has the canonical layouts (docs/sources.md, [canonical]).
uint32_t addressMNMajor(const SharedDescriptor &descriptor, uint32_t mnByte,
                        uint32_t k) {
  if (descriptor.swizzleCode == 0)
    return descriptor.start + mnByte % 16 + k % 8 * 16 +
           mnByte / 16 * descriptor.stride + k / 8 * descriptor.leading;
  uint32_t span = descriptor.span();
  return applySwizzle(descriptor, descriptor.start + mnByte % span +
                                      k % 8 * span +
                                      mnByte / span * descriptor.leading +
                                      k / 8 * descriptor.stride);
}

} // namespace blockscale::emulator
