//===- Registers.h - how warps of an SM share its registers -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_REGISTERS_H
#define BLOCKSCALE_HW_REGISTERS_H

namespace blockscale::hw {

/// Parts of an SM, each of which has a quarter of its registers and warps.
inline constexpr unsigned kSmParts = 4;
/// Warps that execute setmaxnreg together, those of a warpgroup: one of each
/// part.
inline constexpr unsigned kWarpgroupWarps = 4;

/// The most registers of a thread where an SM has one CTA of `warps` warps, in
/// steps of 8: of the part that has most warps.
unsigned registersOfThread(unsigned warps);

/// Registers of a thread of warpgroups that take some from others, and of one
/// of those.
struct RegisterShares {
  unsigned taking, giving;
};

/// The most that `taking` warpgroups may have by setmaxnreg in a CTA that
/// starts with these and with `giving` others, which keep `least` each or what
/// is left.
RegisterShares registerShares(unsigned taking, unsigned giving, unsigned least);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_REGISTERS_H
