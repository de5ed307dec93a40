//===- PtxHeader.cpp - what a module of PTX says of itself ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxHeader.h"
#include "blockscale/HW/PtxVersion.h"
#include "blockscale/HW/Target.h"
#include "blockscale/Target/PTX/Ptxas.h"

#include <algorithm>

using namespace blockscale;

/// Puts `value` behind the first directive `name`, which stands at the start of
/// a line.
static void setDirective(std::string &ptx, const std::string &name,
                         const std::string &value) {
  size_t start = ptx.find("\n" + name + " ");
  if (start == std::string::npos)
    return;
  start += name.size() + 2;
  ptx.replace(start, ptx.find('\n', start) - start, value);
}

std::string blockscale::withFittingHeader(std::string ptx,
                                          const std::string &chip) {
  unsigned written = ptxVersionOf(ptx);
  unsigned needed = hw::ptxVersionUsed(ptx);
  if (Result<hw::Target> target = hw::parseTarget(chip))
    needed = std::max(needed, hw::minPtxVersion(*target));
  if (needed > written)
    setDirective(ptx, ".version", hw::ptxVersionName(needed));
  setDirective(ptx, ".target", chip);
  return ptx;
}
