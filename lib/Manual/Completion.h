//===- Completion.h - completion of shells ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_MANUAL_COMPLETION_H
#define BLOCKSCALE_LIB_MANUAL_COMPLETION_H

#include "blockscale/Manual/Manual.h"

namespace blockscale::manual {

/// A script each, for the folder that the shell reads such scripts from.
std::string printBash(const Program &program);
std::string printZsh(const Program &program);
std::string printFish(const Program &program);

} // namespace blockscale::manual

#endif // BLOCKSCALE_LIB_MANUAL_COMPLETION_H
