//===- SourceLines.h - findings in the source of a kernel -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the PTX says by `.loc` which lines it was compiled from (nvcc
// -lineinfo, Triton), findings are shown with those lines too.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_SOURCELINES_H
#define BLOCKSCALE_EMULATOR_SOURCELINES_H

#include "blockscale/Emulator/Findings.h"
#include "blockscale/Emulator/Ptx.h"

#include <string>
#include <vector>

namespace blockscale::emulator {

/// A place in the source, and the function that was inlined there.
struct SourceFrame {
  std::string file; ///< as `.file` spells it
  uint32_t line = 0, column = 0;
  /// Mangled name of the function that holds the line, if it was inlined into
  /// that of the next frame; else empty.
  std::string function;
};

/// The source of the instruction at line `ptxLine`, the innermost function
/// first; empty if the PTX does not say it.
std::vector<SourceFrame> sourceFrames(const Module &module, uint32_t ptxLine);

/// Lines to print below a finding, each with a newline: `file:line:column:` and
/// the text of the line if the file can be read, for its own place and for
/// those of other lines of PTX that its message names. Empty without `.loc`.
std::string sourceNote(const Module &module, const Finding &finding);

/// A mangled name as its source spells it, or the beginning of a long one.
std::string readableName(const std::string &mangled);

} // namespace blockscale::emulator

#endif // BLOCKSCALE_EMULATOR_SOURCELINES_H
