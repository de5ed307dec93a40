//===- WarpgroupOrder.h - registers that wgmma uses -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Strict mode: wgmma.mma_async runs on registers beside the other instructions
// of its warp. wgmma.fence comes before it, wgmma.wait_group after.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_ORDER_WARPGROUPORDER_H
#define BLOCKSCALE_LIB_EMULATOR_ORDER_WARPGROUPORDER_H

#include "../Program/Program.h"
#include "Clock.h"

#include <optional>

namespace blockscale::emulator::machine {

/// Of a warp.
class WarpgroupOrder {
public:
  explicit WarpgroupOrder(uint32_t registerBytes)
      : used(registerBytes / 64 + 1) {}

  /// An instruction uses a register that a multiplication at `line` still does.
  struct Use {
    uint32_t line;
    bool isD, reads;
  };
  /// Another instruction runs; says which one it meets, once for each.
  std::optional<Use> use(const Flow &flow);

  void fence();
  /// Whether a fence came after all uses of these registers by others.
  bool fenced(Slots d, Slots a) const;
  /// The line of a running multiplication that shares registers with this one
  /// in another way than by the same accumulators; 0 if there is none.
  uint32_t overlaps(Slots d, Slots a) const;
  void issue(Stamp stamp, Slots d, Slots a, uint32_t line);
  /// The first `count` multiplications are complete.
  void wait(uint32_t count);

private:
  struct Multiply {
    Stamp stamp;
    Slots d, a;
    uint32_t line;
  };
  bool wasFenced = false;
  std::vector<bool> used; ///< by slot / 64, since the last fence
  std::vector<Multiply> running;
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_ORDER_WARPGROUPORDER_H
