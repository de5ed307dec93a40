//===- SplitK.cpp - which parts of K there are ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/Target.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

static bool isInGroups(MmaAttr mma) { return mma.getK() == hw::kK96; }

int64_t blockscale::splitUnit(MmaAttr mma) {
  return mma.getTileK() * (isInGroups(mma) ? hw::kK96GroupStages : 1);
}

std::optional<Reason> blockscale::whyNotSplit(MmaAttr mma, int64_t k,
                                              int64_t splits) {
  if (splits == 1)
    return std::nullopt;
  std::string found = "'split_k' of " + std::to_string(splits);
  if (ShapedType::isDynamic(k)) {
    // A part may lie behind K, where loads find zeros.
    if (mma.getSparse())
      return Reason(found + " needs a static K where 'a' is sparse: zeros "
                            "behind a K that only the host knows are no "
                            "metadata; nearest legal: 1");
    if (isInGroups(mma))
      return Reason(found + " needs a static K with 'mma_k' of 96: parts of a "
                            "K that only the host knows are not lowered in "
                            "groups of three stages; nearest legal: 1, or "
                            "'mma_k' of 64");
    return std::nullopt;
  }
  int64_t units = llvm::divideCeil(k, splitUnit(mma));
  if (splits > units)
    return Reason(found + " leaves parts empty: K of " + std::to_string(k) +
                  " is " + std::to_string(units) +
                  (isInGroups(mma) ? " groups of three stages" : " stages") +
                  " of " + std::to_string(splitUnit(mma)) +
                  " elements; nearest legal: " + std::to_string(units));
  return std::nullopt;
}

std::optional<Reason> blockscale::whyNotClusterK(ScheduleAttr schedule,
                                                 hw::Target target) {
  if (schedule.clusterK() == 1)
    return std::nullopt;
  // Naming a size above 8 is how the kernel asks for it.
  return hw::whyNotCluster(target, unsigned(schedule.clusterSize()),
                           /*nonPortable=*/true);
}

int64_t blockscale::ownedColumns(int64_t tileN, int64_t parts) {
  // Tensor memory is read some columns at a time.
  constexpr int64_t kLeastColumns = 8;
  int64_t columns =
      llvm::alignTo(llvm::divideCeil(tileN, parts), kLeastColumns);
  while (columns < tileN && tileN % columns != 0)
    columns += kLeastColumns;
  return std::min(columns, tileN);
}
