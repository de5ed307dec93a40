//===- ProgramFacts.h - what a program was linked with ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_PROGRAMFACTS_H
#define BLOCKSCALE_LIB_DRIVER_PROGRAMFACTS_H

#include <optional>
#include <string>
#include <vector>

namespace blockscale::driver {

struct ProgramFacts {
  /// The shared libraries that it loads.
  std::vector<std::string> libraries;
};

/// Reads a 64-bit little-endian ELF file; nothing for a script, or for what
/// cannot be read.
std::optional<ProgramFacts> readProgramFacts(const std::string &path);

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_PROGRAMFACTS_H
