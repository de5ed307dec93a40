//===- Registers.cpp - how warps of an SM share its registers -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Registers.h"
#include "blockscale/HW/Target.h"

#include <algorithm>

using namespace blockscale::hw;

static unsigned inSteps(unsigned registers) {
  return registers / kSetMaxRegistersStep * kSetMaxRegistersStep;
}

unsigned blockscale::hw::registersOfThread(unsigned warps) {
  unsigned warpsOfPart = std::max(1u, (warps + kSmParts - 1) / kSmParts);
  unsigned registers = kRegistersPerSm / kSmParts / (warpsOfPart * kWarpSize);
  return std::min(inSteps(registers), kMaxRegistersPerThread);
}

RegisterShares blockscale::hw::registerShares(unsigned taking, unsigned giving,
                                              unsigned least) {
  unsigned warpgroups = taking + giving;
  unsigned all = warpgroups * registersOfThread(warpgroups * kWarpgroupWarps);
  unsigned most = inSteps((all - giving * least) / taking);
  most = std::min(most, kMaxSetMaxRegisters);
  return {most, inSteps((all - taking * most) / giving)};
}
