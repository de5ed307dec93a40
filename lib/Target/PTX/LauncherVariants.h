//===- LauncherVariants.h - launchers that choose by rows -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_LAUNCHERVARIANTS_H
#define BLOCKSCALE_LIB_TARGET_PTX_LAUNCHERVARIANTS_H

#include "blockscale/Plan/Plan.h"
#include "llvm/Support/raw_ostream.h"

namespace blockscale {

/// A member of a kernel's arguments: "aData" of the role "a_data".
std::string launcherMember(llvm::StringRef role);

/// `kernel` with the parameters that its variants have besides, for the
/// arguments of all of them.
plan::Kernel withVariantParameters(const plan::Plan &plan,
                                   const plan::Kernel &kernel);

/// Prints functions that choose between `kernel` and its variants by the number
/// of rows, behind those of each; nothing if it has none.
void printVariantChoice(llvm::raw_ostream &os, const plan::Plan &plan,
                        const plan::Kernel &kernel);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_LAUNCHERVARIANTS_H
