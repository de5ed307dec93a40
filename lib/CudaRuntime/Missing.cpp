//===- Missing.cpp - entry points that the emulator does not have ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that needs one of them starts, and learns its name when it calls
// it. The runtime's headers are not included: signatures do not matter here.
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <unistd.h>

namespace {

/// kMissingEntryPointStatus of Runtime.h.
constexpr int kStatus = 99;

[[noreturn]] void missing(const char *name) {
  std::fflush(stdout);
  std::fprintf(stderr,
               "blockscale: the program needs '%s', which the emulator's CUDA "
               "runtime does not have\n",
               name);
  _exit(kStatus);
}

} // namespace

#define MISSING(name)                                                          \
  extern "C" __attribute__((visibility("default"))) void name() {              \
    missing(#name);                                                            \
  }
#include "Missing.def"
