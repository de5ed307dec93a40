//===- SharedDescriptor.h - shared-memory matrix descriptors ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 64-bit descriptor that names a matrix in shared memory (PTX ISA, tcgen05
// shared memory descriptor), decoded from the published bit layout, and the
// address of each piece of the matrix.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNITS_SHAREDDESCRIPTOR_H
#define BLOCKSCALE_LIB_EMULATOR_UNITS_SHAREDDESCRIPTOR_H

#include <cstdint>
#include <optional>
#include <string>

namespace blockscale::emulator {

/// The descriptor's fields; addresses and offsets in bytes.
struct SharedDescriptor {
  uint32_t start = 0;      ///< 18-bit shared address, 19-bit on sm_107
  uint32_t leading = 0;    ///< offset, or absolute address in that mode
  uint32_t stride = 0;     ///< offset
  uint32_t baseOffset = 0; ///< 0..7
  bool leadingAbsolute = false;
  bool secondHalf = false;  ///< of the 48 bytes of a row of indices
  uint32_t swizzleCode = 0; ///< 0 none, 1 128B/32B atoms, 2 128B, 4 64B, 6 32B
  uint64_t bits = 0;

  /// Bytes of one swizzled row, 16 without swizzle.
  uint32_t span() const;
};

SharedDescriptor decodeSharedDescriptor(uint64_t bits);

/// What a chip and an instruction allow in a descriptor.
struct DescriptorRules {
  bool wide = false;    ///< addresses of 19 bits
  bool indices = false; ///< bit 53, of a B of `.decompress::lut::b`
};

/// What is illegal in the descriptor by itself: constant bits, swizzle code,
/// absolute mode with another swizzle or a base offset.
std::optional<std::string> whyNot(const SharedDescriptor &descriptor,
                                  DescriptorRules rules = {});

/// Same, for an operand with `rowBytes` bytes per row and MMA step (K-major) of
/// elements of `elementBits` bits.
std::optional<std::string> whyNotOperand(const SharedDescriptor &descriptor,
                                         bool mnMajor, unsigned rowBytes,
                                         unsigned elementBits,
                                         DescriptorRules rules = {});

/// Why the start address contradicts the base offset, if it does: the pattern
/// of the swizzle repeats every 1024, 512 or 256 bytes.
std::optional<std::string> whyNotPattern(const SharedDescriptor &descriptor);

/// Shared address of the byte `byte` along K of row `row`, K-major.
uint32_t addressKMajor(const SharedDescriptor &descriptor, uint32_t row,
                       uint32_t byte);

/// Shared address of the byte `mnByte` along M or N of K index `k`, MN-major.
uint32_t addressMNMajor(const SharedDescriptor &descriptor, uint32_t mnByte,
                        uint32_t k);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_SHAREDDESCRIPTOR_H
