//===- GroupEnds.h - arguments that say where groups end --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EXECUTE_GROUPENDS_H
#define BLOCKSCALE_LIB_EXECUTE_GROUPENDS_H

#include "Arrays.h"
#include "DynamicSizes.h"

namespace blockscale::execute {

/// Where groups along K may end: at multiples of `step`, up to `extent`.
struct GroupEnds {
  int64_t extent = 0, step = 1;
};

/// That of the product whose groups along K the argument `value` of a function
/// separates; none for other arguments.
std::optional<GroupEnds> groupEndsOf(mlir::Value value,
                                     const ArgumentShapes &shapes);

/// Makes ends of the numbers of `array`, the same for the same `seed`: some
/// groups are empty, and the last one may end before K does.
void drawGroupEnds(HostArray &array, const GroupEnds &ends, uint64_t seed);

} // namespace blockscale::execute

#endif // BLOCKSCALE_LIB_EXECUTE_GROUPENDS_H
