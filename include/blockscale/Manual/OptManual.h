//===- OptManual.h - manual of programs with LLVM's options -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_MANUAL_OPTMANUAL_H
#define BLOCKSCALE_MANUAL_OPTMANUAL_H

#include "blockscale/Manual/Manual.h"
#include "mlir/IR/DialectRegistry.h"

#include <optional>

namespace blockscale::manual {

/// If the only argument is --print=FORM, prints man page or completion of
/// `program`, an opt tool over `registry`, and returns the exit status. The
/// options are those that LLVM's command line knows, passes among them.
std::optional<int> printOptManual(int argc, char **argv, Program program,
                                  mlir::DialectRegistry &registry);

} // namespace blockscale::manual

#endif // BLOCKSCALE_MANUAL_OPTMANUAL_H
