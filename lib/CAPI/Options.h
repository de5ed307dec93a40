//===- Options.h - what programs ask of the compiler ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CAPI_OPTIONS_H
#define BLOCKSCALE_LIB_CAPI_OPTIONS_H

#include "blockscale-c/Compiler.h"
#include "blockscale/Compiler/Compiler.h"

namespace blockscale::capi {

/// The compiler's options but for the assembler; null stands for our defaults.
/// Fails for a chip that the compiler for NVIDIA's does not know.
CompilerOptions compilerOptions(const BlockscaleCompileOptions *given);

} // namespace blockscale::capi

#endif // BLOCKSCALE_LIB_CAPI_OPTIONS_H
