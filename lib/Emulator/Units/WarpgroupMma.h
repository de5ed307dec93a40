//===- WarpgroupMma.h - the part of a warp in wgmma.mma_async ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma.mma_async multiplies 64 rows of A, 16 for each warp of a warpgroup, by
// B in shared memory (PTX ISA 9.1, "Asynchronous warpgroup level matrix
// instructions"). The parts of the warps do not depend on each other.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNITS_WARPGROUPMMA_H
#define BLOCKSCALE_LIB_EMULATOR_UNITS_WARPGROUPMMA_H

#include "SharedDescriptor.h"
#include "WarpMma.h"

#include <functional>

namespace blockscale::emulator {

/// One form of wgmma.mma_async.
struct WarpgroupForm {
  /// Types, N and K of the product, metadata; M is 16.
  WarpMmaForm product;
  bool aInRegisters = false;
  bool negateA = false, negateB = false;
  /// The matrix in shared memory lies along M or N; 16-bit elements only.
  bool transposeA = false, transposeB = false;

  unsigned registersA() const { return 4; }
  unsigned registersD() const { return product.registersD(); }
};

/// Which rule the form breaks; nothing if it is executable here.
std::optional<std::string> whyNot(const WarpgroupForm &form);

/// The matrix descriptor of wgmma, with the swizzle codes of tcgen05.
SharedDescriptor decodeWarpgroupDescriptor(uint64_t bits);

/// The operands of a warp: its number in the warpgroup, and descriptors.
struct WarpgroupOperands {
  unsigned warp = 0;
  uint64_t a = 0, b = 0;
};

/// Shared memory of a CTA from `base` on; `valid` says what was written.
struct WarpgroupMemory {
  const uint8_t *data = nullptr, *valid = nullptr;
  uint32_t base = 0, size = 0;
};

/// Visits the pieces of shared memory that a warp reads: address and bytes.
void forWarpgroupPieces(const WarpgroupForm &form,
                        const WarpgroupOperands &operands,
                        const std::function<void(uint32_t, uint32_t)> &visit);

/// What went wrong, and where.
struct WarpgroupIssue {
  enum Kind { Descriptor, OutOfRange, Uninitialised, Metadata } kind;
  std::string message;
  uint32_t address = 0;
};

/// Multiplies. `a` are the registers of A (word w of lane l at [w * 32 + l]),
/// `metadata` those of sparse A, `d` the accumulators, which are added to if
/// `addToD`.
std::optional<WarpgroupIssue>
multiplyWarpgroup(const WarpgroupForm &form, const WarpgroupOperands &operands,
                  const WarpgroupMemory &memory, const uint32_t *a,
                  const uint32_t *metadata, uint32_t *d, bool addToD,
                  OpenPointSet &openPoints);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_WARPGROUPMMA_H
