//===- FatalErrorGuard.h - survive LLVM's fatal errors ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TARGET_PTX_FATALERRORGUARD_H
#define BLOCKSCALE_TARGET_PTX_FATALERRORGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>

namespace blockscale {

/// Runs `function`. Returns the message if LLVM reported a fatal error (or
/// aborted) meanwhile: control then left `function` without running its
/// destructors, and whatever it was working on must be abandoned, not freed.
std::optional<std::string>
runCatchingFatalErrors(llvm::function_ref<void()> function);

} // namespace blockscale

#endif // BLOCKSCALE_TARGET_PTX_FATALERRORGUARD_H
