//===- ScheduleTopic.h - what schedules were compared --------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_SCHEDULETOPIC_H
#define BLOCKSCALE_LIB_DRIVER_SCHEDULETOPIC_H

#include "Verb.h"

namespace blockscale::driver {

/// 'explain schedule FILE.mlir': the schedules of each product that has none
/// yet, with predicted times and limits, the one that is taken, and why others
/// are not legal.
FileTopic makeScheduleTopic();

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_SCHEDULETOPIC_H
