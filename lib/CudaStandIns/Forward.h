//===- Forward.h - functions that are handed on as they are -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of these libraries take up to six pointers and integers and return
// one, which are registers on the machines that we know; so a function can be
// handed on without its signature.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDASTANDINS_FORWARD_H
#define BLOCKSCALE_LIB_CUDASTANDINS_FORWARD_H

#include "RealLibrary.h"

#define BLOCKSCALE_API extern "C" __attribute__((visibility("default")))

/// Calls the real function with the same registers; `failure` if there is none.
#define FORWARD(name, failure)                                                 \
  BLOCKSCALE_API long name(long a, long b, long c, long d, long e, long f) {   \
    static auto *const real =                                                  \
        reinterpret_cast<decltype(&name)>(realNamed(#name));                   \
    return real ? real(a, b, c, d, e, f) : (failure);                          \
  }

#endif // BLOCKSCALE_LIB_CUDASTANDINS_FORWARD_H
