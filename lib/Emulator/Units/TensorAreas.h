//===- TensorAreas.h - tensor memory an instruction touches -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Known when an instruction is issued, before it executes. Both CTAs of a pair
// touch the same places of their own tensor memory.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORAREAS_H
#define BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORAREAS_H

#include "TensorCore.h"

namespace blockscale::emulator {

/// Columns column..column+count-1 in groups of 16 lanes: bit g stands for lanes
/// 16 g to 16 g + 15.
struct TensorArea {
  static constexpr uint8_t kAllLanes = 0xFF;

  unsigned column = 0, count = 0;
  uint8_t lanes = kAllLanes;
  bool read = false, write = false;
};

/// Of tcgen05.mma: accumulator first, then A, sparsity metadata and scales.
/// Places beyond the last column are left out.
std::vector<TensorArea> areasOf(const MmaRequest &request,
                                const InstructionDescriptor &idesc);
/// Of tcgen05.cp.
TensorArea areaOf(CopyShape shape, uint32_t address);
/// Of tcgen05.shift.
TensorArea areaOfShift(uint32_t address);
/// Of tcgen05.ld or st by a warp that reaches the lanes of the address.
std::vector<TensorArea> areasOf(const Fragment &fragment, uint32_t address,
                                bool store);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_LIB_EMULATOR_UNITS_TENSORAREAS_H
