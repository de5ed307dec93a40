//===- CompileForNKI.h - compile a file for AWS's chips ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_COMPILEFORNKI_H
#define BLOCKSCALE_LIB_DRIVER_COMPILEFORNKI_H

#include <string>

namespace blockscale::driver {

/// What `compile --emit` prints in place of all files.
enum class Emit {
  All,
  Tensor,
  Kernel,
  Assigned,
  NVVM,
  LLVM,
  PTX,
  Launcher,
  HostLinalg,
  HostMemRef,
  HostLLVM,
  NKI
};

/// Compiles the file `path` for `target`, a name of NKI's. Writes NAME.nki.py
/// and NAME.plan.json into the directory `output`, or, where `emit` is not
/// `Emit::All`, the text of a stage into the file `output`; empty means '.' and
/// standard output. Returns an exit code; what is wrong is printed.
int compileForNKI(const std::string &path, const std::string &target, Emit emit,
                  const std::string &output);

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_COMPILEFORNKI_H
