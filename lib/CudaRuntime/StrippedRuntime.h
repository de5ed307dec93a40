//===- StrippedRuntime.h - a static runtime without its names ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDARUNTIME_STRIPPEDRUNTIME_H
#define BLOCKSCALE_LIB_CUDARUNTIME_STRIPPEDRUNTIME_H

#include "ElfFile.h"

namespace blockscale::cuda {

/// A function of a program: its name, its address in the file, its bytes.
struct NamedFunction {
  std::string name;
  uint64_t address = 0, bytes = 0;
};

/// The functions of the runtime in `program`, with the names that they have in
/// the archive `library` (libcudart_static.a) that it was linked with. None if
/// the program's code is not that library's: every byte is compared, but for
/// those that a linker fills in.
std::vector<NamedFunction> findStrippedRuntime(const ElfFile &program,
                                               const ElfFile &library);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDARUNTIME_STRIPPEDRUNTIME_H
