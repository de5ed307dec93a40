//===- RealLibrary.h - the library that we stand in for ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDASTANDINS_REALLIBRARY_H
#define BLOCKSCALE_LIB_CUDASTANDINS_REALLIBRARY_H

#include <string>

namespace blockscale::cuda {

/// A function of the real library of that name ("libnvrtc.so.13"), which is
/// loaded at the first call: from the file that `variable` of the environment
/// names, from the Python packages of a program, from CUDA's folder. Null after
/// a message if it is nowhere.
void *realFunction(const char *library, const char *variable,
                   const char *function);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDASTANDINS_REALLIBRARY_H
