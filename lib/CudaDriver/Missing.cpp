//===- Missing.cpp - functions of the driver that are not here ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that calls one of them learns its name, once, and gets an error
// that it may handle. Signatures do not matter here.
//
//===----------------------------------------------------------------------===//

#include <cstring>
#include <string>

namespace blockscale::cuda {
// Of headers that would declare the functions below with their own types.
void sayOnce(const std::string &message);
void *findMissing(const char *name);
} // namespace blockscale::cuda

namespace {

/// CUDA_ERROR_NOT_SUPPORTED.
constexpr int kNotSupported = 801;

int missing(const char *name) {
  blockscale::cuda::sayOnce("the program calls '" + std::string(name) +
                            "', which the emulator's CUDA driver does not "
                            "have: it returns CUDA_ERROR_NOT_SUPPORTED");
  return kNotSupported;
}

} // namespace

#define MISSING(name, symbol)                                                  \
  extern "C" __attribute__((visibility("default"))) int symbol() {             \
    return missing(#symbol);                                                   \
  }
#include "Missing.def"
#undef MISSING

void *blockscale::cuda::findMissing(const char *wanted) {
  // The last symbol of a name is its newest.
  void *found = nullptr;
#define MISSING(name, symbol)                                                  \
  if (std::strcmp(wanted, #name) == 0)                                         \
    found = reinterpret_cast<void *>(symbol);
#include "Missing.def"
#undef MISSING
  return found;
}
